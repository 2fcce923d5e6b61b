"""A foot that is lifted slowly by some millimetres, of a robot whose efforts nobody measures: made states."""

from __future__ import annotations

import numpy as np
import pytest
from estimator.test_effort_trust import CONFIG, LEGS, MODEL

from hybrid_contact_ros import ContactEstimator, RobotState
from hybrid_contact_ros.estimator import Parts

STEP, LINK, BACK = 0.002, 0.25, 0.06  # s, m, m: by which the trunk is behind the middle of the feet
DEPTH = 2 * LINK * np.cos(0.6)  # m, of the feet below the hips
UP, HELD, DOWN = 1.0, 1.6, 2.4  # s, when a foot is lifted, is up, and is set down


def joints(height: float, shaken: float = 0.0) -> np.ndarray:
    """Of a robot on flat ground whose first leg's foot is ``height`` m above it."""
    found = {}
    for leg, _, _ in LEGS:
        z = DEPTH - (height if leg == "fl" else 0.0) + shaken
        knee = -2.0 * np.arccos(np.hypot(BACK, z) / (2 * LINK))
        found[leg] = (0.0, -0.5 * knee - np.arctan2(BACK, z), knee)
    return np.array([found[name[:2]]["abc".index(name[-1])] for name in MODEL.joint_names])


STANDS = MODEL.problem(RobotState(0, np.r_[0, 0, 1.0, 0, 0, 0, 1.0, joints(0.0)], np.zeros(MODEL.nv))).gap.min()


def lifted(most: float, noise: float = 0.0) -> list[tuple[float, RobotState]]:
    """Heights of the foot, m, and states."""
    rng, found = np.random.default_rng(1), []
    course = np.interp(np.arange(0.0, 3.4, STEP), [0, UP, HELD, DOWN, DOWN + 0.6], [0, 0, most, most, 0])
    angles = np.array([joints(height) for height in course])
    rates = np.gradient(angles, STEP, axis=0)
    for i, height in enumerate(course):
        q = np.r_[0, 0, 1.0 - STANDS, 0, 0, 0, 1.0, angles[i] + noise * rng.normal(size=angles.shape[1])]
        v = np.r_[np.zeros(6), rates[i] + 10.0 * noise * rng.normal(size=angles.shape[1])]
        found.append((float(height), RobotState(round(1e9 * i * STEP), q, v)))
    return found


@pytest.mark.parametrize(("most", "noise"), [(0.008, 0.0), (0.012, 0.0), (0.012, 0.001)])
def test_a_foot_that_is_lifted_by_8_mm_where_it_stood_is_open_without_efforts(most, noise):
    estimator, first, others = ContactEstimator(MODEL, CONFIG), [], []
    lifted_leg = next(i for i, frame in enumerate(MODEL.contact_frames) if frame.startswith("fl"))
    for height, state in lifted(most, noise):
        closed = estimator.update(state, Parts.MODE).mode.closed
        if state.stamp_ns > 3e8:
            others.append(np.delete(closed, lifted_leg).all())
        if height > 0.9 * most:
            first.append(closed[lifted_leg])
    assert np.mean(first) < 0.05 and np.mean(others) > 0.99
    assert closed.all()  # it is set down
