"""Margins hold the share of outcomes that they state, over many calibrations."""

from __future__ import annotations

import math

import numpy as np
import pytest

from hybrid_contact_ros.identification.calibration import jackknife, landings_needed, quantile_of_next, split

SPLITS = 10_000


@pytest.mark.parametrize(("level", "count"), [(0.95, 19), (0.9, 9), (0.8, 19), (0.95, 40)])
def test_split_margins_hold_what_they_state_over_ten_thousand_splits(level, count):
    """The mean coverage is k/(n + 1) with k = ⌈level (n + 1)⌉: at least the level, and no more than 1/(n + 1) above."""
    rng = np.random.default_rng(0)
    scores = rng.gamma(0.7, 1.0, (SPLITS, count + 1))  # skewed, as distances are
    held = [
        next_one <= split(calibration, level).margin
        for calibration, next_one in zip(scores[:, :-1], scores[:, -1], strict=True)
    ]
    expected = math.ceil(level * (count + 1) - 1e-9) / (count + 1)
    error = 3.5 * math.sqrt(expected * (1.0 - expected) / SPLITS)
    assert level <= expected <= level + 1.0 / (count + 1)
    assert abs(np.mean(held) - expected) < error


def test_coverage_is_not_promised_for_episodes_unlike_the_calibrated_ones():
    rng = np.random.default_rng(1)
    margins = np.array([split(rng.gamma(0.7, 1.0, 19), 0.95).margin for _ in range(2000)])
    assert np.mean(2.0 * rng.gamma(0.7, 1.0, 2000) <= margins) < 0.9


def test_one_calibration_may_hold_less_than_the_level():
    """Its own coverage is Beta distributed: with 19 landings the largest score holds less than 0.9 in 0.9¹⁹ = 14 %."""
    rng = np.random.default_rng(2)
    own = 1.0 - np.exp(-rng.exponential(size=(SPLITS, 19)).max(axis=1))
    assert np.mean(own < 0.9) == pytest.approx(0.9**19, abs=0.02)


def test_with_too_few_landings_the_level_that_is_reached_is_stated():
    found = split(np.array([0.3, 0.1, 0.2]), 0.95)
    assert (found.margin, found.level, found.count, found.method) == (0.3, 0.75, 3, "split")
    assert quantile_of_next(np.array([0.3, 0.1, 0.2]), 0.95) == math.inf
    with pytest.raises(ValueError, match="no landings to calibrate"):
        split(np.empty(0), 0.95)


@pytest.mark.parametrize("level", [0.0, 1.0, -0.5, float("nan")])
def test_levels_that_are_no_shares_are_refused(level):
    with pytest.raises(ValueError, match="a number between 0 and 1"):
        landings_needed(level)


def test_the_set_of_all_fits_without_one_holds_what_jackknife_states():
    """A fit that is an interval around the mean: the hull of those without one landing, wider by the quantile."""
    rng = np.random.default_rng(3)
    n, held, narrow = 12, 0, 0
    trials = 4000
    for _ in range(trials):
        y = rng.standard_t(4, n + 1)
        seen, next_one = y[:-1], y[-1]
        low, high, scores = np.inf, -np.inf, []
        for i in range(n):
            others = np.delete(seen, i)
            middle, half = others.mean(), 0.25 * np.ptp(others)
            scores.append(max(0.0, abs(seen[i] - middle) - half))
            low, high = min(low, middle - half), max(high, middle + half)
        found = jackknife(np.array(scores), n, 0.8)
        held += low - found.margin <= next_one <= high + found.margin
        narrow += low <= next_one <= high
    assert found.level == pytest.approx(0.6) and found.method == "jackknife+"
    assert held / trials >= found.level
    assert narrow < held  # the margin is what does it


def test_jackknife_states_less_where_episodes_have_several_landings():
    """Barber et al., Theorem 4: CV+ with K folds of n/K."""
    scores = np.linspace(0.0, 0.1, 40)
    alone, few = jackknife(scores, 40, 0.95), jackknife(scores, 5, 0.95)
    assert alone.level == pytest.approx(0.9)
    assert few.level == pytest.approx(0.9 - min(2 * 0.8 / 9, (1 - 5 / 40) / 6))
    assert alone.margin == few.margin
    with pytest.raises(ValueError, match="2 landings of 2 episodes give no guarantee"):
        jackknife(scores[:2], 2, 0.5)
