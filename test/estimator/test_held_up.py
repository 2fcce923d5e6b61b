"""A robot that something else carries does not stand, as its efforts tell: made states of a quadruped on a crane."""

from __future__ import annotations

import numpy as np
import pinocchio as pin
import pytest
from estimator.test_effort_trust import CONFIG, MODEL

from hybrid_contact_ros import ContactEstimator, RobotState
from hybrid_contact_ros.estimator import Parts

STEP, BEND = 0.002, (0.0, 0.6, -1.2)  # s, rad
JOINTS = np.array([BEND["abc".index(name[-1])] for name in MODEL.joint_names])
STANDS = MODEL.problem(RobotState(0, np.r_[0, 0, 1.0, 0, 0, 0, 1.0, JOINTS], np.zeros(MODEL.nv))).gap.min()


def lifted(efforts: float = 1.0, speed: float = 0.01, borne: float = 0.0) -> list[tuple[bool, RobotState]]:
    """Whether the feet bear the robot, and the state: it stands for 0.6 s, is lifted at ``speed`` (m/s) for 0.8 s,
    hangs for 0.6 s, and is set down again; ``efforts``: what drives say over what they give. The last two feet bear
    the part ``borne`` of the weight each, whatever carries the rest."""
    full, found = MODEL.pinocchio_model, []
    data = full.createData()
    height = 0.0
    for i in range(round(2.8 / STEP)):
        t = i * STEP
        rate = speed if 0.6 <= t < 1.4 else -speed if 2.0 <= t < 2.8 - STEP else 0.0
        q = np.r_[0, 0, 1.0 - STANDS + height, 0, 0, 0, 1.0, JOINTS]
        v = np.zeros(MODEL.nv)
        v[2] = rate
        stands = height <= 0.0 and rate <= 0.0
        needed = pin.nonLinearEffects(full, data, q, np.zeros(MODEL.nv)).copy()
        problem = MODEL.problem(RobotState(0, q, v))
        if not stands:
            needed -= borne * needed[2] * problem.normal_jacobian[-2:].sum(axis=0)
        else:
            rows = np.concatenate([problem.normal_jacobian[:, None], problem.tangent_jacobian], axis=1)
            J = rows.reshape(-1, MODEL.nv)
            needed -= J.T @ (np.linalg.pinv(J[:, :6].T) @ needed[:6])
        found.append((stands, RobotState(round(1e9 * t), q, v, np.r_[np.zeros(6), efforts * needed[6:]])))
        height = max(height + rate * STEP, 0.0)
    return found


def test_feet_of_a_robot_that_is_lifted_as_slowly_as_odometry_drifts_open_within_0_3_s():
    estimator, since, closed, probable = ContactEstimator(MODEL, CONFIG), 0.0, [], []
    for stands, state in lifted():
        mode = estimator.update(state, Parts.MODE).mode
        since = 0.0 if stands else since + STEP
        if since > 0.3:
            closed.append(mode.closed.mean())
            probable.append(mode.probability.mean())
        if stands and state.stamp_ns > 3e8:
            assert mode.closed.all() or state.stamp_ns > 2.7e9
    assert np.mean(closed) < 0.02
    assert np.mean(probable) < 0.1  # from where they are, they might as well stand


def test_it_is_told_which_limbs_carry_nothing_and_no_longer_once_they_do():
    estimator = ContactEstimator(MODEL, CONFIG)
    told = []
    for _, state in lifted():
        estimator.update(state, Parts.MODE)
        told.append(len(estimator.held_up))
    assert told[: round(0.6 / STEP)] == [0] * round(0.6 / STEP)
    assert set(told[round(1.0 / STEP) : round(2.7 / STEP)]) == {4}


def test_limbs_without_force_hang_while_others_still_bear_a_little():
    estimator, told, closed = ContactEstimator(MODEL, CONFIG), [], []
    for _, state in lifted(borne=0.02):
        closed.append(estimator.update(state, Parts.MODE).mode.closed[:2].any())
        told.append(len(estimator.held_up))
    assert set(told[round(0.9 / STEP) : round(2.7 / STEP)]) == {2}
    assert not any(closed[round(0.9 / STEP) : round(2.7 / STEP)])


def test_feet_of_a_robot_that_is_lifted_open_where_states_come_in_bursts_of_40_ms():
    estimator, closed = ContactEstimator(MODEL, CONFIG), []
    for stands, state in lifted():
        if 1e-9 * state.stamp_ns % 0.21 < 0.04:
            mode = estimator.update(state, Parts.MODE).mode
            if 1.1e9 < state.stamp_ns < 2.7e9:
                assert not stands
                closed.append(mode.closed.mean())
    assert np.mean(closed) < 0.02


@pytest.mark.parametrize(("pause", "hangs"), [(0.5, True), (1.5, False)])
def test_a_robot_that_hung_before_a_pause_hangs_on_unless_the_pause_was_longer_than_a_second(pause, hangs):
    estimator = ContactEstimator(MODEL, CONFIG)
    hung = [state for _, state in lifted() if 1.6e9 <= state.stamp_ns < 2.0e9]
    for state in hung:
        estimator.update(state, Parts.MODE)
    assert len(estimator.held_up) == 4
    later = hung[0].stamp_ns + round(1e9 * pause) + hung[-1].stamp_ns - hung[0].stamp_ns
    estimator.update(RobotState(later, hung[0].q, hung[0].v, hung[0].effort), Parts.MODE)
    assert len(estimator.held_up) == (4 if hangs else 0)


def test_drives_that_say_nothing_do_not_tell_that_a_robot_hangs():
    for part in (0.0, -1.0):
        estimator = ContactEstimator(MODEL, CONFIG)
        for _, state in lifted(part):
            estimator.update(state, Parts.MODE)
            assert estimator.held_up == ()


def test_a_fall_is_not_hanging():
    estimator, full = ContactEstimator(MODEL, CONFIG), MODEL.pinocchio_model
    data = full.createData()
    for i in range(200):
        t = i * STEP
        v = np.zeros(MODEL.nv)
        v[2] = -9.81 * t
        q = np.r_[0, 0, 2.0 - 4.905 * t * t, 0, 0, 0, 1.0, JOINTS]
        falling = np.zeros(MODEL.nv)
        falling[2] = -9.81
        effort = pin.rnea(full, data, q, v, falling)
        estimator.update(RobotState(round(1e9 * t), q, v, np.r_[np.zeros(6), effort[6:]]), Parts.MODE)
        assert estimator.held_up == ()


def lowered(speed: float) -> list[tuple[float, RobotState]]:
    """Height (m) of the feet, and the state without efforts: the robot hangs 8 cm up for 0.4 s, is let down at
    ``speed`` (m/s), and stands for 0.4 s."""
    found, height, t = [], 0.08, 0.0
    while t < 0.8 + 0.08 / speed:
        v = np.zeros(MODEL.nv)
        v[2] = -speed if t >= 0.4 and height > 0.0 else 0.0
        found.append((height, RobotState(round(1e9 * t), np.r_[0, 0, 1.0 - STANDS + height, 0, 0, 0, 1.0, JOINTS], v)))
        height, t = max(height + STEP * v[2], 0.0), t + STEP
    return found


@pytest.mark.parametrize("speed", [0.1, 0.2])
def test_without_efforts_feet_that_go_on_down_through_what_they_seemed_to_stand_on_hang_and_land(speed):
    estimator, hung, landed = ContactEstimator(MODEL, CONFIG), [], []
    for height, state in lowered(speed):
        mode = estimator.update(state, Parts.MODE).mode
        if 0.002 < height < 0.03:
            hung.append(mode.closed.any())
        landed.append(mode.closed.all())
    assert np.mean(hung) < 0.05
    assert np.mean(landed[-round(0.3 / STEP) :]) == 1.0
    assert np.abs(mode.ground_offset).max() < 2e-3  # where they hung is forgotten


def test_without_efforts_feet_of_a_base_that_drifts_down_go_on_standing():
    estimator = ContactEstimator(MODEL, CONFIG)
    for k in range(2000):
        q = np.r_[0, 0, 1.0 - STANDS - 1e-5 * k, 0, 0, 0, 1.0, JOINTS]
        v = np.zeros(MODEL.nv)
        v[2] = -0.01
        assert estimator.update(RobotState(k * 1_000_000, q, v), Parts.MODE).mode.closed.all()
