"""Johnson, Definitions 2 and 5: modes, edges, domains, guards and resets of systems."""

from io import StringIO

import numpy as np
import pytest
import sympy
from rich.console import Console

from helpers.execution_systems import GRAVITY, bouncing_ball, tumbling_box
from hybrid_contact_ros.mechanics.problem import ContactProblem
from hybrid_contact_ros.simulation.hybrid_system import Edge, hybrid_system, list_modes
from hybrid_contact_ros.simulation.mode import HybridMode
from hybrid_contact_ros.simulation.simulate import simulate
from hybrid_contact_ros.systems.ceiling import ceiling
from hybrid_contact_ros.systems.lagrangian import Constraint, LagrangianSystem
from hybrid_contact_ros.systems.planar_rhex import PlanarRHex
from hybrid_contact_ros.systems.point_and_hill import point_and_hill
from hybrid_contact_ros.systems.settling_block import leaning, settling_block


def closed_sets(modes):
    return {mode.closed for mode in modes}


def test_modes_of_two_contacts_that_can_both_close():
    hill = hybrid_system(point_and_hill(0.5), [0.0, 1.0])
    assert hill.modes == (HybridMode(), HybridMode.of([0]), HybridMode.of([1]), HybridMode.of([0, 1]))
    assert len(hill.edges) == 12  # Johnson (72): all pairs
    assert Edge(HybridMode.of([0]), HybridMode.of([1])) in hill.edges


def test_johnson_eq_71_and_72_contacts_that_cannot_touch_together_are_no_mode_and_make_no_edge():
    y = sympy.Symbol("y")
    between = LagrangianSystem(
        "between", [y], sympy.eye(1), GRAVITY * y, [Constraint("floor", y), Constraint("ceiling", 1 - y)]
    )
    system = hybrid_system(between, [0.5])
    assert closed_sets(system.modes) == {frozenset(), frozenset({0}), frozenset({1})}
    assert Edge(HybridMode.of([0]), HybridMode.of([1])) not in system.edges  # their union is not a mode
    assert Edge(HybridMode(), HybridMode.of([1])) in system.edges


def test_opposite_corners_of_a_box_are_never_closed_together():
    modes = closed_sets(list_modes(tumbling_box(0.0), [0.0, 1.0, 0.3], searches=32, spread=2.0))
    assert frozenset({0, 2}) not in modes
    assert {frozenset({i, (i + 1) % 4}) for i in range(4)} <= modes
    assert len(modes) == 9  # open, four corners, four sides


def test_contacts_with_friction_stick_or_slide():
    modes = list_modes(settling_block(), leaning(0.2))
    assert len(modes) == 9
    assert HybridMode.of([0, 1], [1]) in modes
    assert set(list_modes(settling_block())) == set(modes)  # whatever the search starts from
    with pytest.raises(ValueError, match="size"):
        list_modes(object())
    with pytest.raises(ValueError, match="not all closed"):
        HybridMode.of([0], [1])


def test_massless_robot_has_a_mode_for_every_set_of_its_contacts():
    robot = PlanarRHex()
    assert len(closed_sets(list_modes(robot, robot.crouch()))) == 16


def test_every_state_of_an_execution_is_in_its_domain_and_every_event_in_its_guard():
    block = settling_block()
    system = hybrid_system(block, leaning(0.2))
    execution = simulate(block, leaning(0.2), np.zeros(3), 0.35)
    for part in execution.intervals:
        domain = system.domains[part.mode]
        assert all(domain.contains(q, v, 1e-6) for q, v in zip(part.q, part.v, strict=True))
    assert len(execution.events) >= 3
    for event in execution.events:
        edge = Edge(event.before, event.after)
        assert edge in system.edges
        assert edge.by_impact()
        assert system.in_guard(edge, event.q, event.velocity_before)
        others = [e for e in system.edges if e.before == event.before and e.after != event.after]
        assert not any(system.in_guard(e, event.q, event.velocity_before) for e in others)  # Johnson, Theorem 5
        _, velocity = system.reset(edge, event.q, event.velocity_before)  # Johnson (80)
        np.testing.assert_allclose(velocity, event.velocity_after, atol=1e-9)
        assert system.domains[event.after].contains(event.q, velocity)  # Johnson, Theorem 4, part 6


def test_liftoff_resets_are_the_identity():
    system = hybrid_system(ceiling(), [0.0])
    edge = Edge(HybridMode.of([0]), HybridMode())
    assert not edge.by_impact()
    assert system.in_guard(edge, [1.0], [0.0])
    _, velocity = system.reset(edge, [1.0], [0.0])
    np.testing.assert_array_equal(velocity, [0.0])
    assert system.next_mode(HybridMode(), [0.5], [1.0]) == HybridMode()


def test_vector_field_of_a_mode():
    system = hybrid_system(point_and_hill(0.5), [0.0, 1.0])
    np.testing.assert_allclose(system.vector_field(HybridMode(), [-1, 1], [2, 3]), [2, 3, 0, -GRAVITY])
    np.testing.assert_allclose(system.vector_field(HybridMode.of([0]), [-1, 0], [2, 0]), [2, 0, 0, 0], atol=1e-12)


def test_systems_can_be_looked_at():
    system = hybrid_system(point_and_hill(0.5), [0.0, 1.0])
    assert "{G, H}" in str(system)
    assert "φ_G = 0, φ_H ≥ 0, φ̇_G = 0" in str(system)
    console = Console(width=120, record=True, file=StringIO())
    console.print(system.table())
    assert "4 modes, 12 edges" in console.export_text()


def test_too_many_contacts_are_not_listed():
    y = sympy.Symbol("y")
    many = LagrangianSystem("many", [y], sympy.eye(1), y, [Constraint(str(i), y + i) for i in range(11)])
    with pytest.raises(ValueError, match="11 contacts"):
        hybrid_system(many, [0.0])


def test_a_bounce_is_an_edge_from_a_mode_to_itself_and_its_guard_holds_the_impacts():
    h = hybrid_system(bouncing_ball(0.5), [1.0])
    air = h.modes[0]
    (bounce,) = [edge for edge in h.edges if edge.before == edge.after]
    assert bounce.before == air and bounce.by_impact()
    assert h.in_guard(bounce, [0.0], [-1.0])
    assert not h.in_guard(bounce, [0.0], [1.0]) and not h.in_guard(bounce, [0.1], [-1.0])
    np.testing.assert_allclose(h.reset(bounce, [0.0], [-1.0])[1], [0.5])
    with pytest.raises(ValueError, match="nothing bounces"):
        h.reset(bounce, [0.1], [-1.0])
    plastic = hybrid_system(bouncing_ball(0.0), [1.0])
    assert all(edge.before != edge.after for edge in plastic.edges)
    closing = next(edge for edge in h.edges if edge.by_impact() and edge != bounce)
    assert not h.in_guard(closing, [0.0], [-1.0]) and h.in_guard(closing, [0.0], [0.0])
    assert plastic.in_guard(closing, [0.0], [-1.0])


class Bead:
    """A bead of 1 kg on a unit circle above a floor through the centre: q = (cos θ, sin θ) and v = θ̇."""

    def problem(self, q, v):
        return ContactProblem(
            mass=[[1.0]],
            velocity=v,
            normal_jacobian=[[q[0]]],
            tangent_jacobian=[[[0.0]]],
            friction=[0.0],
            restitution=[0.0],
            gap=[q[1]],
            bias_force=[0.0],
            jacobian_drift=[[-q[1] * v[0] ** 2, 0.0]],
            names=["floor"],
        )

    def configuration_rate(self, q, v):
        return v[0] * np.array([-q[1], q[0]])

    def integrate(self, q, step):
        turn = np.array([[np.cos(step[0]), -np.sin(step[0])], [np.sin(step[0]), np.cos(step[0])]])
        return turn @ q / np.linalg.norm(q)


class SizedBead(Bead):
    nv = 1


class NeutralBead(Bead):
    def neutral(self):
        return [0.0, 1.0]


@pytest.mark.parametrize("system", [Bead(), SizedBead()])
def test_a_system_with_more_coordinates_than_velocities_needs_a_configuration(system):
    with pytest.raises(ValueError, match="give q"):
        hybrid_system(system)
    assert len(list_modes(system, [0.0, 1.0])) == 2


def test_the_search_of_a_system_with_more_coordinates_than_velocities_starts_at_its_neutral_configuration():
    found = hybrid_system(NeutralBead())
    assert found.system.nq == 2 and found.system.nv == 1
    assert found.modes == (HybridMode(), HybridMode.of([0]))
    touching = found.domains[HybridMode.of([0])].witness
    assert touching.shape == (2,) and abs(touching[1]) < 1e-8 and np.linalg.norm(touching) == pytest.approx(1.0)
