"""Faults of sensors change what they name, by as much as they say, and never the truth."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from benchmarks.estimation_scores.faults import (
    EFFORT_NOISE,
    FAULTS,
    FRICTION,
    GYRO,
    ROTOR,
    SCALE,
    SPIKE,
    TILT,
    efforts,
    noisy,
)
from helpers.estimation import gait

FIELDS = ("position", "quaternion", "linear", "angular", "q", "dq", "effort")
CHANGED = {
    "none": (),
    "encoder noise": ("q", "dq"),
    "positions alone": ("q", "dq"),
    "late joint velocities": ("q", "dq"),
    "IMU bias": ("quaternion", "angular"),
    "effort scale and friction": ("effort",),
    "effort noise": ("effort",),
    "rotors": ("effort",),
    "drift 1 cm/s": ("position",),
    "plane 5 mm off": ("position",),
    "plane 5 mm off, the other way": ("position",),
    "3 ms offset": ("position", "linear", "angular"),
    "efforts 3 ms late": ("effort",),
    "efforts of motor currents": ("effort",),
    "odometry of 50 Hz": ("position", "quaternion", "linear", "angular"),
    "late odometry": ("position", "quaternion", "linear", "angular"),
    "late odometry, inertial unit": ("position", "quaternion", "linear", "angular"),
    "effort spikes": ("effort",),
}


FEWER = ("5 % lost", "bursts", "busy computer", "all together", "50 Hz", "20 Hz", "10 Hz")
"""With which some states do not come."""


@pytest.mark.parametrize("name", [name for name in FAULTS if name not in FEWER])
def test_a_fault_changes_its_own_sensors_and_no_others(name):
    before, after = gait(), FAULTS[name](gait())
    changed = {f for f in FIELDS if not np.array_equal(getattr(before.recording, f), getattr(after.recording, f))}
    assert changed == set(CHANGED[name])
    assert np.array_equal(before.truth, after.truth) and np.array_equal(before.recording.time, after.recording.time)


def test_faults_are_as_large_as_they_say():
    before = gait().recording

    def after(name):
        return FAULTS[name](gait()).recording

    assert (after("drift 1 cm/s").position - before.position)[-1] == pytest.approx([0, 0, 0.01 * before.time[-1]])
    assert np.ptp(after("plane 5 mm off").position - before.position, axis=0) == pytest.approx(0.0, abs=1e-12)
    assert (after("plane 5 mm off").position - before.position)[0, 2] == pytest.approx(0.005)
    turned = Rotation.from_quat(before.quaternion).inv() * Rotation.from_quat(after("IMU bias").quaternion)
    assert np.linalg.norm(turned.as_rotvec(), axis=1) == pytest.approx(TILT)
    assert np.linalg.norm(after("IMU bias").angular - before.angular, axis=1) == pytest.approx(GYRO)
    most = np.abs(before.effort).max(axis=0)
    off = np.abs(after("effort scale and friction").effort - before.effort)
    assert (off <= SCALE * np.abs(before.effort) + FRICTION * most + 1e-12).all() and off.max() > 0.01 * most.max()
    current, late = after("efforts of motor currents").effort, 2  # states of 1 ms
    driven = efforts(gait(), seed=8, friction=0.05).recording.effort
    share = -np.expm1(-1.0 / 5.0)
    steps = driven[:-late] - current[late - 1 : -1]
    assert np.diff(current[late:], axis=0) == pytest.approx((share * steps)[1:], abs=1e-9)
    noise = after("effort noise").effort - before.effort
    largest = np.quantile(np.abs(before.effort), 0.99, axis=0)
    assert np.std(noise / largest, axis=0) == pytest.approx(EFFORT_NOISE, rel=0.1)
    turning = after("rotors").effort - before.effort
    rates = np.gradient(before.dq, before.time, axis=0)
    assert turning == pytest.approx(largest / ROTOR * rates)
    assert np.array_equal(after("3 ms offset").linear[3:], before.linear[:-3])
    assert np.array_equal(after("efforts 3 ms late").effort[3:], before.effort[:-3])
    assert np.std(after("encoder noise").q - before.q) == pytest.approx(0.002, rel=0.05)
    assert np.std(noisy(gait()).recording.linear - before.linear) == pytest.approx(0.02, rel=0.05)


def test_a_lost_message_takes_its_truth_along():
    before, after = gait(), FAULTS["5 % lost"](gait())
    kept = np.searchsorted(before.recording.time, after.recording.time)
    assert np.array_equal(before.truth[kept], after.truth) and np.array_equal(before.gap[kept], after.gap)
    assert 1.0 - kept.size / before.recording.time.size == pytest.approx(0.05, abs=0.015)


def test_the_stamps_of_a_busy_computer_leap_while_the_robot_stands_still_and_a_quarter_of_its_states_is_lost():
    before, after = gait().recording, FAULTS["busy computer"](gait())
    kept = np.array([np.flatnonzero((before.q == q).all(axis=1))[0] for q in after.recording.q])
    assert np.array_equal(gait().truth[kept], after.truth)
    assert 1.0 - kept.size / before.time.size == pytest.approx(0.25, abs=0.1)
    leaps = np.diff(after.recording.time) - np.diff(before.time[kept])
    assert ((leaps < 1e-9) | ((leaps > 0.05 - 1e-9) & (leaps < 0.12))).all()
    assert (leaps > 0.04).sum() == pytest.approx(4.0 * np.ptp(before.time), rel=0.5)


def test_spikes_are_of_single_joints_and_slow_streams_keep_their_rate():
    before, after = gait(), FAULTS["effort spikes"](gait())
    spiked = after.recording.effort != before.recording.effort
    assert spiked.any() and (spiked.sum(axis=1) <= 1).all() and (after.recording.effort[spiked] == SPIKE).all()
    for rate in (10, 20, 50):
        time = FAULTS[f"{rate} Hz"](gait()).recording.time
        assert np.diff(time) == pytest.approx(1.0 / rate, abs=0.0011)


def test_all_faults_together_are_in_it():
    """The drift, the height of the plane and the loss can be read off."""
    before, after = gait(), FAULTS["all together"](gait())
    at = np.maximum(np.searchsorted(before.recording.time, after.recording.time) - 3, 0)
    rise = after.recording.position[:, 2] - before.recording.position[at, 2]
    assert rise == pytest.approx(0.005 + 0.01 * before.recording.time[at], abs=1e-9)
    assert after.recording.time.size < before.recording.time.size
    assert not np.array_equal(after.recording.q, before.part(at + 3).recording.q)
