"""Executions of legged robots and arms of example-robot-data, and the estimator's answers along them."""

from dataclasses import replace

import numpy as np
import pinocchio as pin
import pytest

from helpers.robot_systems import ROOT, block, example, standing
from hybrid_contact_ros.codes import ContactStatus
from hybrid_contact_ros.config import EstimatorConfig
from hybrid_contact_ros.estimator import ContactEstimator, Parts
from hybrid_contact_ros.mechanics.state import RobotState
from hybrid_contact_ros.simulation.execution import EventKind, ExecutionStatus
from hybrid_contact_ros.simulation.hybrid_system import list_modes
from hybrid_contact_ros.simulation.mode import Mode
from hybrid_contact_ros.simulation.simulate import simulate
from hybrid_contact_ros.systems.robot import RobotSystem

CROUCH = np.tile([0.0, 0.9, -1.8], 4)


@pytest.fixture(scope="module")
def go2():
    return example("go2", "go2_description/urdf/go2.urdf")


def hold(time, q, v, mode):
    """The joint controller of a robot that keeps its crouch."""
    return 40.0 * (CROUCH - q[7:]) - 2.0 * v[6:]


def above_ground(model, height, tilt=(0.0, 0.0, 0.0)):
    q = model.neutral()
    q[3:7] = pin.Quaternion(pin.exp3(np.array(tilt))).coeffs()
    q[7:] = CROUCH
    q[2] += height - RobotSystem(model).gap(q).min()
    return q


def lowest(model, execution):
    return min(RobotSystem(model).gap(q).min() for q in execution.q)


@pytest.fixture(scope="module")
def landing(go2):
    """A tilted drop with a controller, to after the last foot has landed."""
    return simulate(go2, above_ground(go2, 0.05, (0.1, -0.15, 0.0)), np.zeros(18), 0.25, effort=hold)


def test_a_tilted_quadruped_lands_foot_by_foot_and_stands(go2, landing):
    assert landing.status is ExecutionStatus.FINISHED
    assert landing.word[0] == "{}"
    assert landing.modes[-1].closed == frozenset(range(4))
    arrivals = [event for event in landing.events if event.kind is EventKind.TOUCHDOWN]
    assert arrivals[0].time == pytest.approx(np.sqrt(2.0 * 0.05 / 9.81), abs=0.01)
    assert {i for event in arrivals for i in event.contacts} == {0, 1, 2, 3}
    assert lowest(go2, landing) > -1e-8
    assert landing.gap_drift < 1e-8
    assert np.abs(np.linalg.norm(landing.q[:, 3:7], axis=1) - 1.0).max() < 1e-14


def test_a_limp_quadruped_loses_energy_only(go2):
    execution = simulate(go2, above_ground(go2, 0.02), np.zeros(18), 0.11)
    assert execution.status is ExecutionStatus.FINISHED
    assert execution.events[0].kind is EventKind.TOUCHDOWN
    assert execution.events[0].contacts == {0, 1, 2, 3}
    assert np.diff(execution.energy()).max() < 1e-8
    assert lowest(go2, execution) > -1e-8


def dropped(model, seed):
    """A state above the ground, legs and base turned and moving at random."""
    rng = np.random.default_rng(seed)
    q, v = model.neutral(), np.zeros(18)
    q[3:7] = pin.Quaternion(pin.exp3(0.15 * rng.normal(size=3))).coeffs()
    q[7:] = CROUCH + 0.1 * rng.normal(size=12)
    q[2] += rng.uniform(0.0, 0.1) - RobotSystem(model).gap(q).min()
    v[:3], v[3:6] = 0.3 * rng.normal(size=3), 0.5 * rng.normal(size=3)
    return q, v


# A foot that stops and slides back past a pole of its force; one that sets off under a folded leg, where friction turns
# its direction within nanoseconds; feet that jam (Painlevé), where forces end and where they grow beyond bounds.
@pytest.mark.parametrize(("seed", "time", "jams"), [(3, 0.4, 0), (14, 0.37, 0), (5, 0.31, 1), (13, 0.32, 1)])
def test_limp_legs_fold_and_feet_slide_stop_and_jam_without_end_of_the_execution(go2, seed, time, jams):
    execution = simulate(go2, *dropped(go2, seed), time, max_steps=3000)
    assert execution.status is ExecutionStatus.FINISHED, execution.why
    assert sum(event.kind is EventKind.IMPACT_WITHOUT_COLLISION for event in execution.events) >= jams
    assert all(event.decided for event in execution.events)
    assert np.diff(execution.energy()).max() < 1e-7
    assert lowest(go2, execution) > -1e-8


def test_modes_of_a_quadruped_are_all_sets_of_its_feet(go2):
    modes = list_modes(go2, above_ground(go2, 0.1), spread=0.3, searches=4)
    assert len(modes) == 3**4  # each foot open, stuck or sliding
    assert Mode.of(range(4)) in modes


def fine(config):
    """Thresholds for states without noise. Slip is smoothed over milliseconds, and keeps its own."""
    activation = replace(config.activation, gap_on=1e-6, gap_off=2e-6, velocity_tolerance=1e-4)
    return replace(config, activation=replace(activation, force_on=0.1, force_off=0.05))


def statuses(mode, contacts):
    found = np.full(contacts, ContactStatus.OPEN, dtype=np.uint8)
    found[list(mode.closed)] = ContactStatus.STICKING
    found[list(mode.sliding)] = ContactStatus.SLIPPING
    return found


def agreement(model, execution, effort, config, settle):
    """Of the estimator's statuses with the execution's modes, ``settle`` seconds and more after each event."""
    estimator, system = ContactEstimator(model, config), RobotSystem(model, effort)
    starts = np.array([part.start for part in execution.intervals])
    right = total = 0
    for time in np.arange(execution.times[0], execution.times[-1], 5e-4):
        q, v = execution.at(float(time))
        k = int(np.searchsorted(starts, time, side="right")) - 1
        mode = execution.modes[k]
        state = RobotState(round(1e9 * time), q, v, system.effort(q, v, float(time), mode.closed))
        seen = estimator.update(state, Parts.MODE).mode.status
        if time - starts[k] >= settle and execution.intervals[k].end - time >= 1e-3:
            total += 1
            right += bool((seen == statuses(mode, model.contacts)).all())
    return right, total


def test_the_estimator_finds_the_modes_of_a_landing(go2, landing):
    """Two engines, one physics: the flow's closed, sliding and open feet from the states and efforts alone."""
    config = fine(EstimatorConfig.from_file(ROOT / "config" / "go2.yaml"))
    right, total = agreement(go2, landing, hold, config, 5e-3)
    assert total > 400
    assert right == total


def test_the_estimator_finds_where_a_block_stops_sliding():
    model = block(friction=0.4)
    execution = simulate(model, *standing(0.06, (0.8, -0.6, 0.0, 0.0, 0.0, 0.0)), 0.5, max_step=2e-3)
    assert [event.kind for event in execution.events] == [EventKind.TOUCHDOWN, EventKind.STICK]
    right, total = agreement(model, execution, None, fine(EstimatorConfig()), 0.03)
    assert total > 800
    assert right >= 0.98 * total  # below 5 cm/s it is not sure any more that the block slides


def test_a_damped_arm_comes_down_on_the_table_with_both_fingertips():
    arm = example("arm", "panda_description/urdf/panda.urdf")
    q = np.array([0.0, 0.6, 0.0, -1.9, 0.0, 2.5, 0.785, 0.02])
    assert RobotSystem(arm).gap(q).min() > 0.0
    damping = np.array([8.0, 8.0, 8.0, 8.0, 2.0, 2.0, 2.0, 20.0])
    execution = simulate(arm, q, np.zeros(8), 0.3, effort=lambda t, q, v, mode: -damping * v)
    assert execution.status is ExecutionStatus.FINISHED
    names = {execution.names[i] for event in execution.events for i in event.contacts}
    assert names == {"left_fingertip", "right_fingertip"}
    assert execution.word[-1] == "{left_fingertip, right_fingertip}"
    assert lowest(arm, execution) > -1e-8
    assert np.diff(execution.energy()).max() < 1e-8
