"""Uncalibrated joints and units are drawn as they say, and nothing of odometry, efforts and velocities is left."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from benchmarks.estimation_scores.rough import TILT, TURN, ZERO, Rough, rough
from helpers.estimation import gait


def test_what_an_uncalibrated_robot_measures_is_off_by_as_much_as_it_says():
    before, (after, units) = gait(), rough(gait(), Rough(), 0)
    r = after.recording
    assert r.effort is None and not r.position.any() and not r.linear.any()
    off = r.q - before.recording.q
    assert np.abs(off.mean(axis=0)).max() < ZERO + 0.01 and np.abs(off.mean(axis=0)).max() > 0.25 * ZERO
    turned = (Rotation.from_quat(before.recording.quaternion).inv() * Rotation.from_quat(r.quaternion)).as_rotvec()
    size = np.linalg.norm(turned, axis=1)
    assert TILT[0] - 0.01 < size[0] < TILT[1] + 0.01
    assert np.ptp(size) < TURN * np.ptp(r.time) + 0.01
    assert np.array_equal(after.truth, before.truth)
    assert [u.stamp_ns for u in units] == np.rint(1e9 * r.time).astype(int).tolist()


def test_draws_are_different_robots_and_the_same_draw_is_the_same_one():
    first, again, other = (rough(gait(), Rough(), draw)[0].recording.q for draw in (0, 0, 1))
    assert np.array_equal(first, again)
    assert np.abs((other - first).mean(axis=0)).max() > 0.01


def test_slow_streams_with_jitter_keep_their_order_and_their_truth():
    before, (after, units) = gait(), rough(gait(), Rough(200.0, 0.2), 0)
    steps = np.diff([u.stamp_ns for u in units])
    assert (steps > 0).all() and np.median(steps) == pytest.approx(5e6, rel=0.05) and np.std(steps) > 1e5
    k = np.searchsorted(before.recording.time, after.recording.time - 1e-3 + 1e-9)
    assert np.mean(before.truth[k] == after.truth) > 0.98
