"""Gains of drives, from how their efforts change with the motion."""

import numpy as np
import pytest

from hybrid_contact_ros.estimation.drive_gains import Gains, gains

SIGMAS = (1e-6, 1e-4)
KP, KD = np.array([80.0, 0.0, 160.0]), np.array([2.0, 0.6, 6.0])


def motion(seed: int = 0, k: int = 60):
    """Three joints that are pushed in the middle of k milliseconds, and swing back: times, angles, velocities."""
    rng = np.random.default_rng(seed)
    t = 0.001 * np.arange(k)
    since = np.maximum(t - t[k // 2], 0.0)[:, None]
    w, push = rng.uniform(60.0, 150.0, 3), rng.uniform(0.05, 0.1, 3)
    angles = push * np.sin(w * since) * np.exp(-30.0 * since)
    return t, angles, np.gradient(angles, t, axis=0)


def test_the_gains_are_those_that_made_the_efforts():
    t, q, v = motion()
    stiffness, damping, known = gains(t, q, v, 7.0 + KP * (0.3 - q) - KD * v, SIGMAS)
    np.testing.assert_allclose(stiffness, KP, rtol=1e-3, atol=0.05)
    np.testing.assert_allclose(damping, KD, rtol=1e-3)
    assert known.all()


def test_noise_makes_gains_smaller_and_never_turns_them_round():
    rng = np.random.default_rng(4)
    for seed in range(20):
        t, q, v = motion(seed)
        effort = KP * (0.3 - q) - KD * v
        q, v = q + 0.002 * rng.normal(size=q.shape), v + 0.05 * rng.normal(size=v.shape)
        stiffness, damping, _ = gains(t, q, v, effort, (0.002, 0.05))
        assert (stiffness >= 0.0).all() and (damping >= 0.0).all()
        assert damping == pytest.approx(KD, rel=0.3)


def test_efforts_that_the_motion_does_not_explain_have_no_gains():
    t, q, v = motion()
    rng = np.random.default_rng(1)
    assert not gains(t, q, v, rng.normal(size=q.shape).cumsum(axis=0), SIGMAS)[2].any()
    assert not gains(t, q, v, np.full(q.shape, 3.0), SIGMAS)[2].any()  # held
    assert not gains(t, q, v, 2.0 * v, SIGMAS)[2].any()  # a drive that pushes along is no follower
    assert not gains(t[:3], q[:3], v[:3], -v[:3], SIGMAS)[2].any()  # too few states


def test_a_joint_that_turns_without_end_jumps_by_a_turn_and_has_the_same_gains():
    t, q, v = motion()
    effort = KP * (0.3 - q) - KD * v
    turned = (q + 2.0 * np.pi - 0.02) % (2.0 * np.pi) - np.pi
    assert np.abs(np.diff(turned, axis=0)).max() > 6.0
    for one, other in zip(gains(t, q, v, effort, SIGMAS), gains(t, turned, v, effort, SIGMAS), strict=True):
        np.testing.assert_allclose(one, other, atol=1e-9)


def test_what_drives_seem_to_be_told_is_what_they_do_at_the_state():
    found = Gains(KP, KD, np.array([True, True, False])).as_commanded(*np.eye(3))
    told = found.command
    np.testing.assert_allclose(told.position + told.velocity + told.effort, [1.0, 1.0, 0.0])
    assert not (found.position_rate.any() or found.effort_rate.any())
