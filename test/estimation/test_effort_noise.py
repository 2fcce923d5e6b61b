"""Noise of measured efforts, learned from these, and what feet that bear little make of it."""

from __future__ import annotations

import numpy as np
import pinocchio
import pytest

from helpers.quadruped import CONFIG, model
from hybrid_contact_ros import ContactEstimator, RobotState
from hybrid_contact_ros.estimator import Parts
from hybrid_contact_ros.kernels.estimation.effort_noise import BEFORE, EffortNoise, learn_effort_noise

SIGMA = np.array([0.02, 0.5, 30.0])  # N m


def nothing_known(nv: int) -> EffortNoise:
    return EffortNoise(np.zeros((BEFORE, nv)), np.zeros(BEFORE), np.zeros(1, np.int64), np.zeros(nv))


def learned(times: np.ndarray, efforts: np.ndarray) -> np.ndarray:
    """Its course (n, nv)."""
    memory = nothing_known(efforts.shape[1])
    course = []
    for dt, row in zip(np.diff(times, prepend=times[0]), efforts, strict=True):
        learn_effort_noise(dt, row, memory)
        course.append(memory.jitter_sigma.copy())
    return np.array(course)


def smooth(times: np.ndarray) -> np.ndarray:
    """Efforts of a trot of 2.5 Hz."""
    return np.sin(2 * np.pi * 2.5 * times)[:, None] * 40.0 * SIGMA


@pytest.mark.parametrize("hz", [100.0, 500.0, 2000.0])
@pytest.mark.parametrize("uneven", [0.0, 0.3])
def test_white_noise_of_each_joint_is_found_beside_its_motion(hz, uneven):
    rng = np.random.default_rng(3)
    times = np.cumsum(rng.uniform(1.0 - uneven, 1.0 + uneven, 3000)) / hz
    course = learned(times, smooth(times) + SIGMA * rng.normal(size=(times.size, 3)))
    np.testing.assert_allclose(np.median(course[500:], axis=0), SIGMA, rtol=0.25)
    assert (np.abs(np.log(course[500:] / SIGMA)) < np.log(2.5)).all()


def test_a_smooth_motion_with_impacts_has_no_noise():
    """Ten a second, each of which rings for 20 ms, and steps of a controller of 100 Hz."""
    times, rng = np.arange(0.0, 4.0, 0.001), np.random.default_rng(4)
    since = times % 0.1
    ringing = np.where(since < 0.02, np.sin(2 * np.pi * 150.0 * since) * 20.0, 0.0)
    steps = np.repeat(rng.normal(size=times.size // 10), 10)
    course = learned(times, smooth(times) + (ringing + steps)[:, None] * SIGMA)
    assert (course[500:] < 0.05 * SIGMA).all()


def test_the_same_time_teaches_nothing_and_a_pause_starts_anew():
    memory = nothing_known(1)
    for dt, value in ((0.0, 0.0), (0.001, 1.0), (0.0, 9.0), (0.001, -1.0), (0.0, 9.0)):
        learn_effort_noise(dt, np.array([value]), memory)
    assert memory.jitter_count[0] == 3 and memory.jitter_sigma[0] == 0.0
    learn_effort_noise(0.2, np.array([5.0]), memory)
    assert memory.jitter_count[0] == 1 and memory.jitter_sigma[0] == 0.0


def standing(light: float, noise: float, seconds: float = 2.0) -> list[RobotState]:
    """A robot at rest, two of whose feet bear ``light`` N each; noise: N, of its efforts."""
    robot, rng = model(), np.random.default_rng(6)
    q, zero = np.r_[0.0, 0, 0, 0, 0, 0, 1.0, np.zeros(12)], np.zeros(18)
    q[2] = -robot.problem(RobotState(0, q, zero)).gap.min()
    tree, data = robot.pinocchio_model, robot.pinocchio_model.createData()
    weight = pinocchio.rnea(tree, data, q, zero, zero)
    pinocchio.computeJointJacobians(tree, data, q)
    whole, effort = 9.81 * sum(inertia.mass for inertia in tree.inertias), weight.copy()
    for frame in robot.contact_frames:
        force = light if frame[:2] in ("FL", "RR") else 0.5 * whole - light
        id_ = tree.getFrameId(frame)
        effort -= force * pinocchio.getFrameJacobian(tree, data, id_, pinocchio.LOCAL_WORLD_ALIGNED)[2]
    assert np.abs(effort[:6]).max() < 1e-9  # it is at rest
    return [
        RobotState(k * 1_000_000, q, zero, np.r_[np.zeros(6), effort[6:] + noise * rng.normal(size=12)])
        for k in range(round(1000 * seconds))
    ]


@pytest.mark.parametrize("noise", [0.0, 1.0, 3.0])
def test_feet_that_bear_4_n_of_100_stay_closed_though_efforts_have_noise(noise):
    estimator = ContactEstimator(model(), CONFIG)
    closed = np.array([estimator.update(state, Parts.MODE).mode.closed for state in standing(4.0, noise)])
    assert closed[300:].all()
    found = estimator._engine.memory.trust.jitter.jitter_sigma[6:]
    np.testing.assert_allclose(found, noise, rtol=0.5, atol=1e-6)
