"""Efforts that come after the motion: how late they are is learned beside their other errors, and made up for."""

from __future__ import annotations

import numpy as np
import pytest
from estimator.test_effort_errors import JOINTS, rubbing, scaled, states
from estimator.test_effort_trust import CONFIG, MODEL

from hybrid_contact_ros import ContactEstimator, RobotState
from hybrid_contact_ros.estimation.stream_offsets import StreamOffset
from hybrid_contact_ros.estimator import Parts
from hybrid_contact_ros.kernels.estimation.effort_correction import (
    RATE,
    RATES,
    UNREST,
    EffortCorrection,
    correct_efforts,
    follow_efforts,
)

STEP = 0.002  # s, between the states of ``states``


def told(late: int, *faults, noise: float = 0.0, every: int = 1) -> tuple[StreamOffset, ContactEstimator]:
    """What is told of the efforts of a motion of 6 s that come ``late`` states after it, with other ``faults``; of
    one in ``every`` states."""
    given, rng = states(seconds=6.0), np.random.default_rng(7)
    estimator = ContactEstimator(MODEL, CONFIG)
    efforts = np.array([state.effort for state in given])
    for effort, state in zip(efforts, given, strict=True):
        for fault in faults:
            fault(effort, state.v)
    for k, state in list(enumerate(given))[::every]:
        effort, v = efforts[np.clip(k - late, 0, len(given) - 1)], state.v + noise * rng.normal(size=state.v.size)
        estimator.update(RobotState(state.stamp_ns, state.q, v, effort.copy()), Parts.MODE)
    (offset,) = (one for one in estimator.offsets() if one.stream == "efforts")
    return offset, estimator


@pytest.mark.parametrize("late", [2, 4])
def test_efforts_that_are_late_are_told_and_made_up_for(late):
    offset, estimator = told(late)
    assert offset.seconds == pytest.approx(late * STEP, rel=0.25) and offset.sigma < 0.001
    assert offset.notable and offset.made_up and offset.explained > 0.5
    assert "too late" in offset.sentence and "made up for" in offset.sentence
    applied = estimator._engine.memory.trust.correction.late
    assert np.all(applied[JOINTS] == offset.seconds) and not applied[:6].any()


def test_efforts_on_time_are_not_told_of():
    offset, estimator = told(0)
    assert abs(offset.seconds) < 0.0004 and not offset.notable and not offset.made_up
    assert not estimator._engine.memory.trust.correction.late.any()


@pytest.mark.parametrize("fault", [scaled, rubbing])
def test_how_late_efforts_are_is_found_beside_their_other_errors(fault):
    """As exactly as sines of some hertz tell it from friction and inertia."""
    for late in (0, 3):
        offset, estimator = told(late, fault)
        assert abs(offset.seconds - late * STEP) < 2.5 * offset.sigma and offset.sigma < 0.0015
        assert len(estimator.joint_errors()) == JOINTS.size
        assert late or not offset.made_up


def test_efforts_that_are_early_are_not_made_up_for():
    """They would have to be kept back; and it may be that the base, or velocities, are late."""
    offset, estimator = told(-3)
    assert -3.2 * STEP < offset.seconds < -2.0 * STEP and not offset.made_up and not offset.notable
    assert "too early" in offset.sentence
    assert not estimator._engine.memory.trust.correction.late.any()


def test_states_that_are_far_apart_do_not_tell_how_late_efforts_are():
    offset, _ = told(4, every=5)
    assert np.isnan(offset.seconds) and not offset.made_up


def test_velocities_that_are_noisy_make_right_efforts_no_late_ones():
    offset, _ = told(0, noise=0.02)
    assert not offset.made_up and (np.isnan(offset.seconds) or abs(offset.seconds) < 3.5 * offset.sigma)


def correction(nv: int, late: float) -> EffortCorrection:
    """Of efforts that are late, and of which nothing else is known."""
    return EffortCorrection(
        active=np.ones(1, np.uint8), applied=np.zeros((4, nv)), added=np.zeros(nv), drives=np.zeros(nv),
        unsure=np.zeros(nv), late=np.full(nv, late), slow=np.zeros(nv), effort_rate=np.zeros((RATES, nv)),
    )  # fmt: skip


@pytest.mark.parametrize("dt", [0.0005, 0.002, 0.01])
def test_a_ramp_of_late_efforts_is_led_by_what_it_rises_by_meanwhile(dt):
    late, rates, made = 0.006, np.array([100.0, -40.0]), correction(2, 0.006)
    for k in range(round(0.2 / dt)):
        effort, bias, mass = rates * k * dt, np.zeros(2), np.eye(2)
        measured = effort.copy()
        correct_efforts(dt if k else 0.0, np.zeros(2), effort, bias, mass, made)
        assert np.allclose(bias, measured - effort)
        follow_efforts(dt if k else 0.0, effort, made)
    np.testing.assert_allclose(effort - measured, late * rates, rtol=1e-6)
    np.testing.assert_allclose(made.effort_rate[RATE], rates, rtol=1e-6)


def test_after_a_pause_and_at_the_same_time_efforts_have_no_rate():
    made = correction(1, 0.006)
    for dt, value in ((0.0, 5.0), (0.001, 6.0), (0.0, 6.0), (0.5, 20.0)):
        effort = np.array([value])
        correct_efforts(dt, np.zeros(1), effort, np.zeros(1), np.eye(1), made)
        rate = made.effort_rate[RATE, 0]
        follow_efforts(dt, effort, made)
        assert (rate != 0.0) == (dt == 0.001)
    assert made.slow[0] == 20.0


def test_a_ramp_is_led_for_certain_and_a_step_is_not_until_it_is_forgotten():
    made, unrest = correction(1, 0.006), []
    for k in range(400):
        value = 100.0 * 0.001 * k + (5.0 if k >= 200 else 0.0)
        effort = np.array([value])
        correct_efforts(0.001 if k else 0.0, np.zeros(1), effort, np.zeros(1), np.eye(1), made)
        follow_efforts(0.001 if k else 0.0, effort, made)
        unrest.append(made.effort_rate[UNREST, 0])
    assert unrest[199] < 1.0 and unrest[399] < 1.0
    assert max(unrest[200:205]) > 5.0 / 0.006  # the step, over the time by which efforts are late
