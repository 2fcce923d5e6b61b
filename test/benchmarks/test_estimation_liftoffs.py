"""Sources of liftoffs that are measured beside what the estimator says."""

import numpy as np
import pytest

from benchmarks.estimation_scores.liftoff_sources import as_before, by_landing


def test_a_foot_is_said_to_leave_as_long_after_the_same_other_landing_as_the_last_time():
    detected = {
        "touchdown": [np.array([0.1, 0.6, 1.2]), np.array([0.4, 0.9, 1.4]), np.array([0.0])],
        "liftoff": [np.array([0.45, 0.97, 1.5]), np.array([0.15, 0.7]), np.array([])],
    }
    assert by_landing(detected, 0, 1.48, 1.45) == pytest.approx(1.4 + 0.07)
    assert np.isnan(by_landing(detected, 0, 1.48, 1.39))  # it has not landed yet
    assert np.isnan(by_landing(detected, 2, 0.5, 0.48))  # this foot never left before


def test_a_sole_is_said_to_leave_as_long_after_its_load_was_the_same_as_the_last_time():
    time = 0.001 * np.arange(1000)
    load = np.interp(time % 0.5, [0.0, 0.4, 0.5], [100.0, 100.0, 0.0])[:, None]
    assert as_before(time, load, 0.5, 960) == pytest.approx(1.0, abs=0.001)
    assert np.isnan(as_before(time, load, 0.0, 960))  # nothing is known of what came before that
