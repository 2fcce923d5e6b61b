"""The noise of the rates of gaps: found within a factor, whatever the rate of the states, and not made of motion."""

from __future__ import annotations

import numpy as np
import pytest

from hybrid_contact_ros.kernels.estimation.rate_noise import KEPT, RateNoise, learn_rate_noise, tolerate_rate_noise


def learned(step: float, sigma: float, seconds: float = 1.0, amplitude: float = 1.0) -> np.ndarray:
    """Of three contacts that swing at 2 Hz, over the second half of the time: mean of the logarithm."""
    memory = RateNoise(np.zeros((KEPT, 3)), np.zeros(KEPT), np.zeros(2, np.int64), np.zeros(3))
    rng, found = np.random.default_rng(0), []
    for i in range(round(seconds / step)):
        smooth = amplitude * np.sin(4.0 * np.pi * i * step + np.arange(3))
        learn_rate_noise(step if i else 0.0, smooth + sigma * rng.normal(size=3), memory)
        found.append(np.log(np.maximum(memory.noise_sigma, 1e-9)))
    return np.exp(np.mean(found[len(found) // 2 :], axis=0))


@pytest.mark.parametrize("step", [0.0005, 0.001, 0.005])
@pytest.mark.parametrize("sigma", [0.02, 0.3])
def test_the_standard_deviation_is_found_within_a_third(step, sigma):
    assert learned(step, sigma, 2.0) == pytest.approx(np.full(3, sigma), rel=0.35)


def test_a_smooth_motion_is_no_noise():
    assert learned(0.001, 0.0).max() < 0.01


def test_tolerances_widen_only_without_forces_and_only_by_noise_that_is_not_configured():
    memory = RateNoise(np.zeros((KEPT, 3)), np.zeros(KEPT), np.zeros(2, np.int64), np.array([0.05, 0.4, 0.4]))
    tolerances, sigmas = np.full(3, 0.1), np.full(3, 0.02)
    tolerate_rate_noise(np.array([0.0, 1.0, 0.0]), memory, tolerances, sigmas)
    np.testing.assert_array_equal(tolerances[:2], 0.1)
    np.testing.assert_array_equal(sigmas[:2], 0.02)
    assert tolerances[2] > 1.0 and sigmas[2] > 0.3


def test_pauses_and_repeated_stamps_are_survived():
    memory = RateNoise(np.zeros((KEPT, 1)), np.zeros(KEPT), np.zeros(2, np.int64), np.zeros(1))
    for i in range(300):
        dt = (0.0, 0.001, 0.3 if i % 90 == 89 else 0.002)[i % 3]
        learn_rate_noise(dt, np.array([np.sin(i)]), memory)
        assert np.isfinite(memory.noise_sigma).all()
