"""A foot that steps on ground that gives way, of a robot whose efforts nobody measures: made states."""

from __future__ import annotations

import numpy as np
import pytest
from estimator.test_effort_trust import CONFIG, MODEL
from estimator.test_slow_lift import STANDS, STEP, joints

from hybrid_contact_ros import ContactEstimator, RobotState
from hybrid_contact_ros.estimator import Parts

STRIDES, SWING, STANCE = 12, 0.2, 0.25  # s, s
FALL = 0.6  # m/s


def stride(depth: float) -> np.ndarray:
    """Heights of a foot, m: it swings 30 mm high, falls, sinks in by ``depth``, and the ground lifts it again."""
    t = np.arange(0.0, SWING, STEP)
    swings = FALL * t * (1.0 - t / SWING)
    t = np.arange(0.0, STANCE, STEP)
    sinks = -depth * (1.0 - np.exp(-t * FALL / depth)) if depth else np.zeros(t.size)
    return np.concatenate((swings, sinks * np.minimum((STANCE - t) / 0.04, 1.0)))


def walked(depth: float) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Whether the foot is closed, its ground over the plane (m) and the earliest to latest time of the touchdown (s)
    that was told 20 ms before it, of each stride."""
    course = np.concatenate((np.zeros(150), np.tile(stride(depth), STRIDES)))
    angles = np.array([joints(height) for height in course])
    rates = np.gradient(angles, STEP, axis=0)
    estimator, closed, ground, told = ContactEstimator(MODEL, CONFIG), [], [], []
    leg = next(i for i, frame in enumerate(MODEL.contact_frames) if frame.startswith("fl"))
    for i in range(course.size):
        q = np.r_[0, 0, 1.0 - STANDS, 0, 0, 0, 1.0, angles[i]]
        mode = estimator.update(RobotState(round(1e9 * i * STEP), q, np.r_[np.zeros(6), rates[i]]), Parts.MODE).mode
        closed.append(mode.closed[leg])
        ground.append(mode.ground_offset[leg])
        told.append(mode.time_to_event[leg] if mode.next_event[leg] == 1 else np.nan)
    size = stride(depth).size
    lands = 150 + size * np.arange(STRIDES) + round(SWING / STEP)
    at = np.array([np.flatnonzero(np.array(closed[k - 15 : k + 25]))[0] - 15 for k in lands]) * STEP
    return at, np.array(ground)[lands - 10], np.array(told)[lands - 10]


@pytest.mark.parametrize("depth", [0.006, 0.01])
def test_the_next_foot_is_expected_where_soft_ground_met_the_last_ones(depth):
    late, ground, told = walked(depth)
    assert np.abs(ground[-5:]).max() < 0.002 and np.abs(late[-5:]).max() <= 0.004
    assert np.abs(told[-5:] - 0.02).max() < 0.005


def test_on_rigid_ground_nothing_changes():
    late, ground, told = walked(0.0)
    assert np.abs(ground[-5:]).max() < 0.001 and np.abs(late[-5:]).max() <= 0.004
    assert np.abs(told[-5:] - 0.02).max() < 0.003
