"""What the diagnostics are told of states that were answered (monitoring/state_notes.py)."""

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest

from helpers.recordings import WALKER
from hybrid_contact_ros.estimator import ContactEstimator, Parts
from hybrid_contact_ros.mechanics.model import RigidBodyModel
from hybrid_contact_ros.mechanics.state import RobotState
from hybrid_contact_ros.monitoring.state_notes import Notes, StateNotes
from hybrid_contact_ros.monitoring.verdict import odd_states


@pytest.mark.parametrize(("period_ms", "efforts", "told"), [(50, True, True), (5, True, False), (50, False, False)])
def test_efforts_that_come_too_seldom_to_tell_forces_are_told_with_what_to_do(walker, period_ms, efforts, told):
    estimator = ContactEstimator(RigidBodyModel.from_urdf(WALKER, walker), walker)
    said = []
    monitor = SimpleNamespace(note=lambda kind, words: said.append((kind, words)), ground=lambda words: None)
    notes = StateNotes(estimator, walker, monitor)
    q = estimator.model.neutral()
    q[2] = 0.5
    effort = np.array([0.0, 0, 0, 0, 0, 0, -24.5, -24.5]) if efforts else None
    for k in range(1, 6):
        state = RobotState(k * period_ms * 10**6, q, np.zeros(8), effort)
        notes.take(state, estimator.update(state, Parts.MODE).mode)
    found = [words for kind, words in said if kind == "apart"]
    assert len(found) == (4 if told else 0)
    assert not told or found[0] == "50 ms; efforts tell of the ground alone, publish more than 40 Hz"


def told_of(estimator, config, states):
    notes = Notes()
    watching = StateNotes(estimator, config, notes)
    for state in states:
        watching.take(state, estimator.update(state, Parts.MODE).mode)
    return odd_states(notes.noted, len(states), config.diagnostics)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda effort: effort, ""),
        (lambda effort: -effort, "do not explain their motion, and would with the other sign: weight 0.0"),
        (lambda effort: 0.0 * effort, "do not explain their motion: weight 0.0"),
    ],
)
def test_efforts_that_explain_no_motion_are_told_and_those_of_the_wrong_sign_as_such(walker, change, words):
    estimator = ContactEstimator(RigidBodyModel.from_urdf(WALKER, walker), walker)
    states = []
    for k in range(1, 700):  # up and down on both legs: joints at 0.05 sin 9 t, feet at rest
        t, q, v, effort = 0.002 * k, estimator.model.neutral(), np.zeros(8), np.zeros(8)
        knees, rate, push = 0.05 * np.sin(9.0 * t), 0.45 * np.cos(9.0 * t), 4.05 * np.sin(9.0 * t)
        q[2], q[7:] = 0.5 - knees, knees
        v[2], v[6:] = -rate, rate
        effort[6:] = change(-0.5 * 5.0 * (9.81 + push) * np.ones(2))
        states.append(RobotState(2_000_000 * k, q, v, effort))
    told = told_of(estimator, walker, states)
    if not words:
        assert told == []
        return
    (said,) = told
    assert said.endswith(words)
    assert "the efforts of the limbs of left_foot and right_foot" in said


@pytest.mark.parametrize("learn", [True, False])
def test_ground_that_has_been_learned_is_not_told_to_be_far_above_the_feet(walker, learn):
    """A robot that stands 5 cm below the plane that is configured, as it does after some steps downhill."""
    config = replace(walker, ground=replace(walker.ground, learn=learn))
    estimator = ContactEstimator(RigidBodyModel.from_urdf(WALKER, config), config)
    q = estimator.model.neutral()
    q[2] = 0.45
    effort = np.array([0.0, 0, 0, 0, 0, 0, -24.5, -24.5])
    told = told_of(estimator, config, [RobotState(2_000_000 * k, q, np.zeros(8), effort) for k in range(1, 2000)])
    assert told == [] if learn else "left by 0.050 m" in told[0]


@pytest.mark.parametrize(("height", "words"), [(0.5, ""), (3.0, ""), (500.0, "the lowest by 500 m; is the")])
def test_a_robot_that_stays_hundreds_of_metres_above_its_planes_is_told(walker, height, words):
    estimator = ContactEstimator(RigidBodyModel.from_urdf(WALKER, walker), walker)
    q = estimator.model.neutral()
    q[2] = height
    told = told_of(estimator, walker, [RobotState(10_000_000 * k, q, np.zeros(8)) for k in range(1, 400)])
    assert [text for text in told if "far above" in text] == [text for text in told if words and words in text]
    assert bool(words) == any("far above" in text for text in told)


def test_a_fall_from_a_height_is_not_told(walker):
    estimator = ContactEstimator(RigidBodyModel.from_urdf(WALKER, walker), walker)
    states = []
    for k in range(120):  # 7 m deep
        q, v, t = estimator.model.neutral(), np.zeros(8), 0.01 * k
        q[2], v[2] = 10.0 - 4.905 * t * t, -9.81 * t
        states.append(RobotState(10**9 + 10_000_000 * k, q, v))
    assert not [text for text in told_of(estimator, walker, states) if "far above" in text]
