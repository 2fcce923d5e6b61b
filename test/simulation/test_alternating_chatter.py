"""Contacts that chatter in turns, truncated by how their sequence contracts: a heuristic, seen to hold on blocks."""

import numpy as np
import pytest

from hybrid_contact_ros.simulation.execution import EventKind, ExecutionStatus
from hybrid_contact_ros.simulation.options import Tolerances
from hybrid_contact_ros.simulation.simulate import simulate
from hybrid_contact_ros.systems.planar_box import Corner, PlanarBox
from hybrid_contact_ros.systems.settling_block import leaning, settling_block
from hybrid_contact_ros.systems.zeno_block import zeno_block, zeno_state

BLOCKS = {
    "settling": (settling_block(), leaning(0.2), [0.0, 0.0, 0.0], 0.6),
    "zeno": (zeno_block(), *zeno_state(), 2.8),
}


def truncations(execution):
    return [event for event in execution.events if event.kind is EventKind.TRUNCATION]


@pytest.fixture(scope="module", params=BLOCKS)
def block(request):
    return BLOCKS[request.param], simulate(*BLOCKS[request.param])


@pytest.mark.parametrize("epsilon", [0.1, 1e-2, 1e-3])
def test_a_rocking_block_is_put_on_both_corners_within_the_tolerances(block, epsilon):
    (system, q, v, t_final), whole = block
    cut = simulate(system, q, v, t_final, truncation=Tolerances(epsilon, epsilon, epsilon))
    (event,) = truncations(cut)
    assert event.contacts == {0, 1} and not event.decided  # nothing is proved
    ((lower, upper),) = cut.zeno_times
    assert lower <= whole.zeno_times[0][0] <= upper
    assert upper - lower < epsilon
    assert len(cut.events) < len(whole.events)
    assert np.abs(cut.at(event.time)[0] - whole.q[-1]).max() < epsilon
    np.testing.assert_allclose(cut.q[-1], whole.q[-1], atol=1e-9)
    assert cut.word[-1] == whole.word[-1]


def test_the_tolerances_of_position_and_velocity_count_too():
    system, q, v, t_final = BLOCKS["zeno"]
    times = []
    for tolerances in (Tolerances(1.0, 1.0, 0.1), Tolerances(1e-4, 1.0, 0.1), Tolerances(1.0, 1e-2, 0.1)):
        (event,) = truncations(simulate(system, q, v, t_final, truncation=tolerances))
        times.append(event.time)
    assert times[0] < times[1] and times[0] < times[2]


def test_a_block_on_a_slope_whose_half_cycles_differ_has_its_zeno_time():
    """Every second interval between impacts is the longer one, and still the sequence is seen to end."""
    slope = 0.1
    ground = (-np.sin(slope), np.cos(slope))
    box = PlanarBox(0.55, 1.09, 1.0, 5.0, [Corner(n, s * 0.275, -0.545, ground) for n, s in (("A", -1), ("B", 1))])
    q = np.array([0.0, 1.0, slope + 0.08])
    q[1] -= box.problem(q, np.zeros(3)).gap.min() / ground[1]
    whole = simulate(box, q, np.zeros(3), 2.0)
    cut = simulate(box, q, np.zeros(3), 2.0, truncation=Tolerances(1e-2, 1e-2, 1e-2))
    assert whole.status is cut.status is ExecutionStatus.FINISHED
    ((lower, upper),) = cut.zeno_times
    assert lower <= whole.zeno_times[0][0] <= upper
    np.testing.assert_allclose(cut.q[-1], whole.q[-1], atol=1e-6)


def test_a_block_that_is_pushed_over_is_not_held_down():
    """Its impacts shrink as long as the push is small, and it rests where both corners push; then the push grows."""
    system, q, v, _ = BLOCKS["zeno"]

    class Pushed:
        def problem(self, q, v, time=0.0):
            problem = system.problem(q, v)
            force = np.array([0.0, 0.0, 4.0 * max(0.0, time - 2.7)])
            return type(problem).trusted(
                problem.mass,
                problem.velocity,
                problem.normal_jacobian,
                problem.tangent_jacobian,
                problem.friction,
                problem.restitution,
                problem.gap,
                problem.bias_force - force,
                problem.jacobian_drift,
                problem.names,
            )

    cut = simulate(Pushed(), q, v, 4.5, truncation=Tolerances(1e-2, 1e-2, 1e-2))
    assert len(truncations(cut)) == 1
    lifted = next(event for event in cut.events if event.kind is EventKind.LIFTOFF)
    assert lifted.contacts == {1}
    assert lifted.time == pytest.approx(2.7 + 0.5 * 9.81 / 4.0, abs=1e-6)  # its torque about the other corner
