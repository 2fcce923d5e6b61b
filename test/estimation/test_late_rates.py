"""Joint velocities that come later than positions: how late is found, and made up for where that is better."""

from dataclasses import replace

import numpy as np
import pytest

from benchmarks.estimation_scores.faults import low_passed
from hybrid_contact_ros import ContactEstimator, EstimatorConfig, RigidBodyModel, RobotState
from hybrid_contact_ros.estimation.prompt_rates import PromptRates
from hybrid_contact_ros.estimator import Parts

ARM = """<robot name="arm"><link name="base"/>
<joint name="first" type="continuous"><parent link="base"/><child link="upper"/><axis xyz="0 1 0"/>
  <limit effort="50" velocity="20"/></joint>
<link name="upper"><inertial><mass value="2"/><origin xyz="0 0 0.2"/>
  <inertia ixx="0.02" iyy="0.02" izz="0.002" ixy="0" ixz="0" iyz="0"/></inertial></link>
<joint name="second" type="revolute"><parent link="upper"/><child link="lower"/><origin xyz="0 0 0.4"/>
  <axis xyz="0 1 0"/><limit lower="-3" upper="3" effort="50" velocity="20"/></joint>
<link name="lower"><inertial><mass value="1"/><origin xyz="0 0 0.2"/>
  <inertia ixx="0.01" iyy="0.01" izz="0.001" ixy="0" ixz="0" iyz="0"/></inertial></link></robot>"""
CONFIG = EstimatorConfig.from_mapping(
    {"floating_base": False, "contacts": {"tip": {"link": "lower", "points": [0.0, 0.0, 0.4], "radius": 0.02}}}
)
STEP = 0.001


@pytest.fixture(scope="module")
def model():
    return RigidBodyModel.from_urdf(ARM, CONFIG)


def motion(seconds=2.0, step=STEP, amplitude=0.4):
    """Angles and rates (n, 2) of two joints that swing, faster and faster, with a knock in each swing."""
    time = step * np.arange(round(seconds / step))
    w = 2 * np.pi * np.array([2.3, 3.1])
    angle = amplitude * np.sin(w * time[:, None]) + 0.02 * np.sin(9.0 * w * time[:, None])
    rate = amplitude * w * np.cos(w * time[:, None]) + 0.18 * w * np.cos(9.0 * w * time[:, None])
    return time, angle, rate


def q_of(angle):
    return np.array([np.cos(angle[0]), np.sin(angle[0]), angle[1]])  # the first joint turns endlessly


def followed(model, time, angle, rate):
    """The velocities (n, 2) that are made of these, and who made them."""
    rates, found = PromptRates(model), np.zeros_like(rate)
    for k, t in enumerate(np.rint(1e9 * time).astype(np.int64).tolist()):
        found[k] = rates.prompt(t, q_of(angle[k]), rate[k])
        rates.note(t)
    return found, rates


def off(found, rate, after=1000):
    return float(np.sqrt(((found - rate)[after:] ** 2).mean()))


@pytest.mark.parametrize("over", [0.006, 0.01, 0.03])
def test_a_low_pass_is_found_and_three_quarters_of_what_it_costs_made_up_for(model, over):
    time, angle, rate = motion()
    slow = low_passed(rate, time, over)
    found, rates = followed(model, time, angle, slow)
    assert rates.offset().seconds == pytest.approx(over, rel=0.1)
    assert rates.offset().notable
    assert off(found, rate) < 0.25 * off(slow, rate)


def test_the_sentence_says_how_late_and_that_it_is_made_up_for(model):
    time, angle, rate = motion()
    _, rates = followed(model, time, angle, low_passed(rate, time, 0.01))
    late = 1e3 * rates.offset().seconds
    assert rates.offset().sentence == (
        f"joint velocities: {late:.1f} ms too late against positions; this is made up for"
    )


def test_velocities_that_are_a_delay_late_are_made_prompt(model):
    time, angle, rate = motion()
    slow = np.concatenate((np.repeat(rate[:1], 12, axis=0), rate[:-12]))
    found, rates = followed(model, time, angle, slow)
    assert 0.008 < rates.offset().seconds < 0.013
    assert off(found, rate) < 0.3 * off(slow, rate)


def test_right_velocities_are_passed_on_themselves(model):
    time, angle, rate = motion(1.0)
    rates = PromptRates(model)
    for k, t in enumerate(np.rint(1e9 * time).astype(np.int64).tolist()):
        assert rates.prompt(t, q_of(angle[k]), rate[k]) is not None
        v = rate[k]
        assert rates.prompt(t, q_of(angle[k]), v) is v
        rates.note(t)
    assert np.isnan(rates.offset().seconds) and not rates.offset().notable


def test_noise_of_positions_that_is_worse_than_the_lag_leaves_velocities_as_they_are(model):
    time, angle, rate = motion()
    noisy = angle + 0.01 * np.random.default_rng(1).normal(size=angle.shape)
    slow = low_passed(rate, time, 0.004)
    found, _ = followed(model, time, noisy, slow)
    assert off(found, rate) <= off(slow, rate)


@pytest.mark.parametrize("bits", [12, 14])
def test_steps_of_encoders_cost_less_than_the_lag(model, bits):
    time, angle, rate = motion()
    step = 2 * np.pi / 2**bits
    slow = low_passed(rate, time, 0.01)
    found, _ = followed(model, time, step * np.round(angle / step), slow)
    assert off(found, rate) < 0.7 * off(slow, rate)


def test_whole_turns_of_a_joint_are_no_motion(model):
    time, angle, rate = motion(amplitude=3.0)
    slow = low_passed(rate, time, 0.01)
    found, _ = followed(model, time, angle, slow)  # cosine and sine jump by nothing where the angle does
    turned = angle.copy()
    turned[:, 1] = (angle[:, 1] + np.pi) % (2 * np.pi) - np.pi
    again, _ = followed(model, time, turned, slow)
    np.testing.assert_allclose(again, found, atol=1e-9)


def test_lost_states_and_uneven_stamps_do_no_harm(model):
    time, angle, rate = motion(3.0)
    slow = low_passed(rate, time, 0.01)
    kept = np.random.default_rng(2).random(time.size) > 0.2
    found, rates = followed(model, time[kept], angle[kept], slow[kept])
    assert rates.offset().seconds == pytest.approx(0.01, rel=0.15)
    assert off(found, rate[kept], 1200) < 0.35 * off(slow[kept], rate[kept], 1200)


def test_a_pause_begins_a_new_integral_and_keeps_what_was_learned(model):
    time, angle, rate = motion()
    slow = low_passed(rate, time, 0.01)
    later = time + np.where(time > 1.0, 0.5, 0.0)  # the robot has moved on by nobody knows how much
    moved = angle + np.where(time > 1.0, 0.3, 0.0)[:, None]
    found, rates = followed(model, later, moved, slow)
    first = int(np.flatnonzero(time > 1.0)[0])
    np.testing.assert_array_equal(found[first], slow[first])
    assert np.abs(found - rate)[first:].max() < 1.5 * np.abs(slow - rate)[first:].max()
    assert off(found, rate, first + 5) < 0.3 * off(slow, rate, first + 5)
    assert rates.offset().notable


def test_a_state_that_is_not_noted_changes_nothing(model):
    time, angle, rate = motion(1.5)
    slow = low_passed(rate, time, 0.01)
    rates, others = PromptRates(model), PromptRates(model)
    for k, t in enumerate(np.rint(1e9 * time).astype(np.int64).tolist()):
        others.prompt(t, q_of(angle[k] + 1.0), slow[k] - 3.0)  # refused
        np.testing.assert_array_equal(
            others.prompt(t, q_of(angle[k]), slow[k]), rates.prompt(t, q_of(angle[k]), slow[k])
        )
        rates.note(t)
        others.note(t)


def test_what_is_refused_is_refused_for_what_was_measured_and_is_forgotten(model):
    time, angle, rate = motion(1.2)
    slow = low_passed(rate, time, 0.01)
    estimator, other = ContactEstimator(model, CONFIG), ContactEstimator(model, CONFIG)
    for k, t in enumerate(np.rint(1e9 * time).astype(np.int64).tolist()):
        state = RobotState(t, q_of(angle[k]), slow[k])
        if k % 100 == 99:
            bad = replace(state, q=np.array([np.nan, 0.0, 0.0]))
            with pytest.raises(ValueError, match=r"q\[0\] is nan"):
                other.update(bad, Parts.MODE)
        mine, theirs = estimator.update(state, Parts.MODE).mode, other.update(state, Parts.MODE).mode
        np.testing.assert_array_equal(mine.gap_velocity, theirs.gap_velocity)
    names = [one.stream for one in estimator.offsets() if one.notable]
    assert names == ["joint velocities"]
    estimator.reset()
    assert not any(one.notable for one in estimator.offsets())


def test_the_estimator_answers_with_prompt_velocities(model):
    time, angle, rate = motion(1.5)
    slow = low_passed(rate, time, 0.01)
    late, right = ContactEstimator(model, CONFIG), ContactEstimator(model, CONFIG)
    errors = np.zeros((len(time), 2))
    for k, t in enumerate(np.rint(1e9 * time).astype(np.int64).tolist()):
        truth = right.update(RobotState(t, q_of(angle[k]), rate[k]), Parts.MODE).mode.gap_velocity[0]
        state = RobotState(t, q_of(angle[k]), slow[k])
        raw = float(model.problem(state).normal_jacobian[0] @ slow[k])
        errors[k] = late.update(state, Parts.MODE).mode.gap_velocity[0] - truth, raw - truth
    mine, theirs = np.sqrt((errors[800:] ** 2).mean(axis=0))
    assert mine < 0.25 * theirs
