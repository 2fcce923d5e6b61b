"""Johnson (73), the edges whose guards hold states, and Theorem 9, that the mode at the start does not matter."""

import numpy as np
import pytest
import sympy

from hybrid_contact_ros.simulation.guard_search import guarded_edges
from hybrid_contact_ros.simulation.hybrid_system import Edge, hybrid_system
from hybrid_contact_ros.simulation.mode import HybridMode
from hybrid_contact_ros.simulation.simulate import simulate
from hybrid_contact_ros.systems.ceiling import ceiling
from hybrid_contact_ros.systems.lagrangian import Constraint, LagrangianSystem
from hybrid_contact_ros.systems.planar_rhex import PlanarRHex
from hybrid_contact_ros.systems.point_and_hill import point_and_hill, stopping_speed
from hybrid_contact_ros.systems.settling_block import leaning, settling_block


def edge(before, after):
    return Edge(HybridMode.of(before), HybridMode.of(after))


def test_johnson_eq_73_a_floor_is_never_left_and_a_ceiling_is():
    y = sympy.Symbol("y")
    contacts = [Constraint("floor", y), Constraint("ceiling", 1 - y)]
    room = hybrid_system(LagrangianSystem("room", [y], sympy.eye(1), 9.81 * y, contacts), [0.5])
    assert len(room.edges) == 4  # Johnson (72)
    # gravity holds the point on the floor: no state of {floor} is in a guard
    assert set(guarded_edges(room)) == {edge([], [0]), edge([], [1]), edge([1], [])}


@pytest.mark.parametrize(
    ("system", "start"), [(point_and_hill(0.5), [0.0, 1.0]), (ceiling(), [0.0]), (settling_block(), leaning(0.2))]
)
def test_johnson_eq_73_is_a_part_of_72_and_its_states_are_in_their_guards(system, start):
    hybrid = hybrid_system(system, start)
    found = guarded_edges(hybrid, draws=8)
    assert found and set(found) <= set(hybrid.edges)
    for taken, (q, v) in found.items():
        assert hybrid.in_guard(taken, q, v)


def test_johnson_eq_73_of_the_point_and_hill():
    found = set(guarded_edges(hybrid_system(point_and_hill(0.5), [0.0, 1.0]), draws=64))
    # from both surfaces at once, gravity and no velocity, nothing is left; nothing leaves the level ground by itself
    assert not any(e.before == HybridMode.of([0, 1]) for e in found)
    assert edge([0], []) not in found
    assert {edge([], [0]), edge([], [1]), edge([0], [1])} <= found


def test_the_search_refuses_nonsense():
    hybrid = hybrid_system(ceiling(), [0.0])
    with pytest.raises(ValueError, match="draws"):
        guarded_edges(hybrid, draws=-1)
    with pytest.raises(ValueError, match="speed"):
        guarded_edges(hybrid, speed=0.0)


def hill_state():
    return point_and_hill(0.5), [0.0, 0.0], [2.0 * stopping_speed(0.5, 0.03), 0.0]


def block_flat():
    return settling_block(), [0.0, 0.05, 0.0], np.zeros(3)


def block_landing():
    return settling_block(), [0.0, 0.05, 0.0], [0.05, -0.025, -1.0]  # turns about l, and r arrives


def robot_crouching():
    robot = PlanarRHex(start=10.0)
    return robot, robot.crouch(), np.zeros(5)


STATES = {"hill": hill_state, "flat": block_flat, "landing": block_landing, "robot": robot_crouching}


@pytest.mark.parametrize("law", ["impulse-velocity", "pseudo-impulse"])
@pytest.mark.parametrize("state", STATES)
def test_johnson_theorem_9_from_any_consistent_mode_the_execution_is_the_same_after_one_transition(state, law):
    system, q, v = STATES[state]()
    domains = hybrid_system(system, q).domains.values()
    consistent = [domain.mode for domain in domains if domain.contains(q, v)]
    assert len(consistent) > 1
    t_final = 0.1
    runs = [simulate(system, q, v, t_final, law=law, mode=mode) for mode in consistent]
    sample = np.linspace(1e-3, t_final, 40)
    for run in runs:
        # what is left after the first transition at t0 is the word of every other execution
        later = [part.mode for part in run.intervals if part.end > 0.0]
        first = [part.mode for part in runs[0].intervals if part.end > 0.0]
        assert later == first
        at_start = [event for event in run.events if event.time == 0.0]
        assert len(at_start) <= 1
        for time in sample:
            for mine, other in zip(run.at(float(time)), runs[0].at(float(time)), strict=True):
                np.testing.assert_allclose(mine, other, atol=1e-8)
