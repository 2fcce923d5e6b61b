"""Scale, bias and friction of efforts are learned and made up for, where that helps, and only there."""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache

import numpy as np
import pinocchio as pin
import pytest
from estimator.test_effort_trust import CONFIG, LIMB, MODEL, motion

from hybrid_contact_ros import ContactEstimator, EstimatorConfig, RobotState
from hybrid_contact_ros.estimator import Parts
from hybrid_contact_ros.kernels.estimation.error_forecasts import JUDGED, MEASURED, PUSHED
from hybrid_contact_ros.kernels.estimation.error_squares import SCALE_SIGMA
from hybrid_contact_ros.kernels.estimation.lasting_push import PARTS, PUSH

JOINTS = np.arange(6, MODEL.nv)


@lru_cache
def states(seed: int = 3, seconds: float = 3.0) -> list[RobotState]:
    return motion(MODEL, seed, seconds)


def answered(fault, estimator=None, given=None) -> tuple[ContactEstimator, list]:
    """The estimator and its modes after efforts that ``fault`` (effort, velocity) has changed in place."""
    estimator = estimator or ContactEstimator(MODEL, CONFIG)
    modes = []
    for state in given or states():
        effort = state.effort.copy()
        fault(effort, state.v)
        modes.append(estimator.update(RobotState(state.stamp_ns, state.q, state.v, effort), Parts.MODE).mode)
    return estimator, modes


def nothing(effort, v):
    pass


def scaled(effort, v):
    effort[JOINTS] *= np.random.default_rng(1).uniform(0.7, 1.3, JOINTS.size)


def rubbing(effort, v):
    effort[JOINTS] += 1.2 * np.tanh(v[JOINTS] / 0.05)


def biased(effort, v):
    effort[LIMB[1][2]] += 2.5  # of a knee


def unexplained(estimator) -> float:
    return max(limb.unexplained for limb in estimator.effort_report())


def wrong(modes, exact) -> float:
    """How far forces are from those of exact efforts, root mean square of the last second, N."""
    pairs = [(a.force_model, b.force_model) for a, b in zip(modes[-500:], exact[-500:], strict=True)]
    return float(np.sqrt(np.mean([np.square(a - b).mean() for a, b in pairs])))


@pytest.mark.parametrize("fault", [scaled, rubbing, biased])
def test_errors_that_repeat_are_made_up_for(fault):
    off = EstimatorConfig.from_mapping({**_mapping(), "trust": {"correct": False}})
    left, as_measured = answered(fault, ContactEstimator(MODEL, off))
    estimator, modes = answered(fault)
    _, exact = answered(nothing)
    assert left.joint_errors() == () and len(estimator.joint_errors()) == JOINTS.size
    assert unexplained(estimator) < 0.5 * unexplained(left)
    if fault is not scaled:  # the motion hardly tells what the legs press against each other with
        assert wrong(modes, exact) < wrong(as_measured, exact)


def _mapping():
    return {"contacts": {leg: {"link": c.link, "points": list(c.points)} for leg, c in CONFIG.contacts.items()}}


def test_the_constants_are_those_of_the_drives():
    estimator, _ = answered(rubbing)
    friction = np.array([one.friction for one in estimator.joint_errors()])
    scale = np.array([one.scale for one in estimator.joint_errors()])
    assert np.median(friction) == pytest.approx(-1.2, abs=0.3) and abs(np.median(scale) - 1.0) < 0.03


def test_a_limb_that_says_half_of_its_efforts_is_made_up_for():
    """A scale of 2 of all joints is five deviations of a single one each, and likely of what a limb has in common."""

    def halved(effort, v):
        effort[LIMB[0]] *= 0.5

    walk = motion(MODEL, 3, 3.0, rush=3.0)  # of slow motions a push explains as much
    estimator, _ = answered(halved, given=walk)
    scales = np.array([one.scale for one in estimator.joint_errors()])
    alone = ContactEstimator(MODEL, CONFIG)
    errors = alone._engine.memory.trust.errors
    errors.prior[:] = np.eye(JOINTS.size)  # as if each joint were by itself
    answered(halved, alone, walk)
    by_itself = 1.0 + SCALE_SIGMA * errors.estimate[LIMB[0] - 6].mean()
    assert 1.3 < scales[LIMB[0] - 6].mean() < 2.2 and scales[LIMB[0] - 6].mean() > by_itself + 0.05
    assert abs(np.delete(scales, LIMB[0] - 6).mean() - 1.0) < 0.15
    assert [limb.weight for limb in estimator.limbs()] == [1.0] * len(estimator.limbs())


def test_a_joint_of_the_other_sign_costs_its_limb_the_trust_and_is_made_up_for_nowhere():
    def turned(effort, v):
        effort[LIMB[1][2]] *= -1.0

    estimator, modes = answered(turned)
    assert estimator.joint_errors() == ()
    assert [limb.weight < 0.5 for limb in estimator.limbs()] == [k == 1 for k in range(len(estimator.limbs()))]
    assert modes[-1].force_weight.argmin() == 1 and modes[-1].force_weight[1] < 0.5


def test_right_efforts_are_not_touched_to_the_bit():
    estimator, modes = answered(nothing)
    off = EstimatorConfig.from_mapping({**_mapping(), "trust": {"correct": False}})
    _, plain = answered(nothing, ContactEstimator(MODEL, off))
    assert estimator.joint_errors() == ()
    for one, other in zip(modes, plain, strict=True):
        assert np.array_equal(one.force_model, other.force_model, equal_nan=True)
        assert np.array_equal(one.probability, other.probability)


@pytest.mark.parametrize("seed", [1, 2])
def test_right_efforts_of_legs_that_turn_quickly_explain_their_motion_step_by_step_and_are_not_touched(seed):
    """Joints at up to 7 rad/s: in the 40 ms that the filters remember, the rows of the contacts become others."""
    estimator, _ = answered(nothing, given=motion(MODEL, seed, 3.0, swing=1, rush=6.0))
    numbers = estimator._engine.memory.trust.errors.numbers
    assert numbers[MEASURED] < 0.02 * numbers[JUDGED]
    assert estimator.joint_errors() == ()


def test_what_no_drive_has_is_not_applied():
    def reversed_limb(effort, v):
        effort[LIMB[2]] *= -1.0

    def dead_limb(effort, v):
        effort[LIMB[0]] = 0.0

    for fault in (reversed_limb, dead_limb):
        estimator, modes = answered(fault)
        assert estimator.joint_errors() == ()
        assert modes[-1].force_weight.min() < 0.5


def falling(seconds: float = 2.0, step: float = 0.002, parts: int = 4) -> list[RobotState]:
    """A fall with legs that move: nothing but gravity and the efforts acts."""
    full, rng, found = MODEL.pinocchio_model, np.random.default_rng(5), []
    data, h = full.createData(), step / parts
    a, w, p = rng.uniform(0.05, 0.3, 12), rng.uniform(5.0, 15.0, 12), rng.uniform(0.0, 6.3, 12)
    middle = np.array([(0.0, 0.6, -1.2)["abc".index(name[-1])] for name in MODEL.joint_names])
    q, v = np.r_[0, 0, 50.0, 0, 0, 0, 1.0, middle], np.zeros(MODEL.nv)
    for i in range(round(seconds / h)):
        turned = w * i * h + p
        q[7:], v[6:] = middle + a * np.sin(turned), a * w * np.cos(turned)
        M = pin.crba(full, data, q)
        M = np.triu(M) + np.triu(M, 1).T
        rest, joints = pin.nonLinearEffects(full, data, q, v), -a * w**2 * np.sin(turned)
        dv = np.r_[np.linalg.solve(M[:6, :6], -(M[:6, 6:] @ joints + rest[:6])), joints]
        if i % parts == 0:
            effort = np.r_[np.zeros(6), (M @ dv + rest)[6:]]
            found.append(RobotState(1_000_000_000 + round(1e9 * i * h), q.copy(), v.copy(), effort))
        v = v + h * dv
        q = pin.integrate(full, q, h * v)
    return found


def test_a_clock_that_leaps_in_a_fall_says_nothing_about_efforts():
    """Stamps go on by 55 ms in which the robot does not: for so long gravity seems not to have pulled."""
    given, estimator = falling(), ContactEstimator(MODEL, CONFIG)
    for k, state in enumerate(given):
        estimator.update(replace(state, stamp_ns=state.stamp_ns + 55_000_000 * (k // 35)), Parts.MODE)
        assert estimator.joint_errors() == ()
    numbers = estimator._engine.memory.trust.errors.numbers
    assert numbers[MEASURED] <= 0.1 * numbers[JUDGED]


def pushed(given: list[RobotState], force: float = 25.0) -> list[RobotState]:
    """The same motion under a push on the trunk, sideways, that all four feet bear: efforts are right."""
    found = []
    for state in given:
        problem = MODEL.problem(state)
        rows = np.concatenate([problem.normal_jacobian[:, None], problem.tangent_jacobian], axis=1)
        J, push = rows.reshape(-1, MODEL.nv), np.zeros(MODEL.nv)
        push[:3] = pin.Quaternion(*state.q[[6, 3, 4, 5]]).toRotationMatrix().T @ [0.0, force, 0.0]
        borne = np.linalg.pinv(J[:, :6].T) @ push[:6]
        effort = state.effort.copy()
        effort[JOINTS] += (J.T @ borne)[JOINTS]
        found.append(replace(state, effort=effort))
    return found


@pytest.mark.parametrize("rush", [0.15, 0.4])
def test_a_push_on_the_trunk_that_lasts_while_the_robot_moves_slowly_is_none_of_the_joints_errors(rush):
    estimator = ContactEstimator(MODEL, CONFIG)
    for state in pushed(motion(MODEL, 2, 5.0, rush=rush)):
        estimator.update(state, Parts.MODE)
        assert estimator.joint_errors() == ()
    numbers = estimator._engine.memory.trust.errors.numbers
    assert numbers[PUSHED] < 0.2 * numbers[MEASURED]  # a push explains what is left
    push = estimator._engine.memory.trust.errors.push[0, PUSH]
    weight = pin.computeTotalMass(MODEL.pinocchio_model) * 9.81
    np.testing.assert_allclose(push[:3], [0.0, 25.0 / weight, 0.0], atol=0.01)


def loaded(given: list[RobotState], since: float, mass: float = 2.5, place=(0.1, 0.05, 0.06)) -> list[RobotState]:
    """The same motion with a load on the trunk from a time on, that the model does not know: efforts are right."""
    time = np.array([1e-9 * (s.stamp_ns - given[0].stamp_ns) for s in given])
    turns = [pin.Quaternion(*s.q[[6, 3, 4, 5]]).toRotationMatrix() for s in given]
    moves = np.array([R @ (s.v[:3] + np.cross(s.v[3:6], place)) for R, s in zip(turns, given, strict=True)])
    needed = mass * (np.gradient(moves, time, axis=0) + np.array([0.0, 0.0, 9.81]))
    found = []
    for k, state in enumerate(given):
        problem = MODEL.problem(state)
        rows = np.concatenate([problem.normal_jacobian[:, None], problem.tangent_jacobian], axis=1)
        J, force = rows.reshape(-1, MODEL.nv), -turns[k].T @ needed[k]
        borne = np.linalg.pinv(J[:, :6].T) @ np.r_[force, np.cross(place, force)]
        effort = state.effort.copy()
        effort[JOINTS] += (time[k] >= since) * (J.T @ borne)[JOINTS]
        found.append(replace(state, effort=effort))
    return found


def test_a_load_that_the_robot_takes_up_is_none_of_the_joints_errors():
    """From outside: 2.5 kg on a trotting robot of 13 kg; efforts were "corrected" by a half, and feet that swung were
    closed with p = 1.00 for seconds."""
    estimator = ContactEstimator(MODEL, CONFIG)
    for state in loaded(states(3, 6.0), since=2.5):
        estimator.update(state, Parts.MODE)
        assert estimator.joint_errors() == ()
    errors = estimator._engine.memory.trust.errors
    assert errors.numbers[MEASURED] > errors.numbers[JUDGED]  # more than the check of efforts passes over,
    assert errors.numbers[PUSHED] < 0.1 * errors.numbers[MEASURED]  # and a load explains it
    carried = errors.push[0, PUSH, 2] + errors.push[0, PUSH, PARTS - 4]  # a push downwards and a load are much alike
    assert carried == pytest.approx(-2.5 * 9.81 / (pin.computeTotalMass(MODEL.pinocchio_model) * 9.81), abs=0.05)


def test_what_was_learned_of_the_joints_is_kept_where_the_robot_takes_up_a_load():
    after, _ = answered(rubbing, given=loaded(states(3, 6.0), since=2.5))
    friction = np.array([one.friction for one in after.joint_errors()])
    scale = np.array([one.scale for one in after.joint_errors()])
    assert np.median(friction) == pytest.approx(-1.2, abs=0.3) and abs(np.median(scale) - 1.0) < 0.06


def test_wrong_efforts_are_corrected_no_further_where_the_robot_takes_up_a_load():
    after, _ = answered(scaled, given=loaded(states(3, 6.0), since=2.5))
    scales = np.array([one.scale for one in after.joint_errors()])  # none, where it is given up
    assert scales.size == 0 or np.abs(scales - 1.0).max() < 0.45


def test_errors_are_found_although_a_fifth_of_the_states_is_lost_in_runs():
    kept = [state for k, state in enumerate(states()) if k % 150 >= 30]
    estimator, _ = answered(rubbing, given=kept)
    friction = np.array([one.friction for one in estimator.joint_errors()])
    assert np.median(friction) == pytest.approx(-1.2, abs=0.3)


def test_a_reset_forgets_the_correction_and_a_pause_keeps_it():
    estimator, first = answered(rubbing)
    pause = 1_000_000_000 + states()[-1].stamp_ns - states()[0].stamp_ns
    later = [RobotState(s.stamp_ns + pause, s.q, s.v, s.effort) for s in states()[:20]]
    answered(rubbing, estimator, later)
    assert estimator.joint_errors()
    estimator.reset()
    assert estimator.joint_errors() == ()
    _, again = answered(rubbing, estimator)
    assert all(np.array_equal(a.probability, b.probability) for a, b in zip(first, again, strict=True))


def test_states_without_efforts_between_and_single_bodies_are_as_before():
    estimator, _ = answered(rubbing)
    last = states()[-1]
    found = estimator.update(RobotState(last.stamp_ns + 2_000_000, last.q, last.v), Parts.MODE).mode
    assert np.isnan(found.force_estimate).all() and (found.force_weight == 0.0).all()
