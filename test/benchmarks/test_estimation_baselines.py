"""Rules that are tuned on one half of a recording, and what is fitted on other recordings."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks.estimation_scores.baselines import RULES, Seen, gap_histogram, halves, hysteresis, tuned
from benchmarks.estimation_scores.blocks import counts, macro_f1, stride_blocks
from benchmarks.estimation_scores.boosting import boost
from benchmarks.estimation_scores.ceilings import ceiling, history
from benchmarks.estimation_scores.features import _averaged
from helpers.estimation import gait


def seen(episode):
    """Features that show the truth with a little noise."""
    rng, truth = np.random.default_rng(0), episode.truth
    gap = np.where(truth, 0.0, 0.03) + 0.002 * rng.normal(size=truth.shape)
    force = np.where(truth, 80.0, 0.0) + 5.0 * rng.normal(size=truth.shape)
    share = np.maximum(force, 0) / np.maximum(force, 0).sum(axis=1, keepdims=True)
    found = {"gap": gap, "height": gap - gap.min(axis=1, keepdims=True), "speed": np.abs(gap)}
    found |= {"force": force, "share": share, "observer": force}
    return Seen(episode, found, stride_blocks(episode), halves([episode])[0])


def macro(one, said):
    return float(macro_f1(counts(said, one.episode.truth, one.episode.certain, one.block).sum(axis=0)))


@pytest.mark.parametrize("name", list(RULES))
def test_a_rule_finds_the_feet_that_what_it_looks_at_shows(name):
    one = seen(gait(seconds=8.0))
    said = tuned(RULES[name], [one])
    assert said is not None and macro(one, said[0]) > (0.8 if name == "load share" else 0.98)


@pytest.mark.parametrize("name", ["gap", "Schmitt on leg force", "gait schedule"])
def test_what_is_said_of_a_half_does_not_depend_on_its_own_truth(name):
    one = seen(gait())
    told = tuned(RULES[name], [one])
    later = one.half == 1
    changed = one.episode.truth.copy()
    changed[later] = ~changed[later]
    other = replace(one, episode=replace(one.episode, recording=replace(one.episode.recording, closed=changed)))
    again = tuned(RULES[name], [other])
    assert np.array_equal(told[0][later], again[0][later])


def test_a_rule_without_what_it_looks_at_says_nothing():
    one = seen(gait())
    assert tuned(RULES["load share"], [replace(one, features={"gap": one.features["gap"]})]) is None
    standing = seen(gait(closed=np.ones((2000, 2), dtype=bool)))
    assert tuned(RULES["gait schedule"], [standing]) is None


@given(st.lists(st.floats(-1, 4, allow_nan=False), min_size=1, max_size=30), st.floats(1, 3), st.floats(0, 1))
def test_hysteresis_is_a_schmitt_trigger(values, on, off):
    says, expected = values[0] > 0.5 * (on + off), []
    for k, x in enumerate(values):
        if k:
            says = True if x > on else False if x < off else says
        expected.append(says)
    assert hysteresis(np.array(values)[:, None], on, off).ravel().tolist() == expected


def test_a_histogram_of_the_gap_says_how_often_such_a_foot_was_closed_in_the_other_half():
    one = seen(gait())
    rng = np.random.default_rng(1)
    level = rng.integers(0, 3, one.episode.truth.shape)
    truth = rng.random(level.shape) < np.array([0.1, 0.5, 0.9])[level]
    recording = replace(one.episode.recording, closed=truth)
    other = replace(one, episode=replace(one.episode, recording=recording), features={"gap": level.astype(float)})
    (told,) = gap_histogram([other])
    assert [told[level == i].mean() for i in range(3)] == pytest.approx([0.1, 0.5, 0.9], abs=0.05)


def test_several_episodes_are_halved_by_turns_and_one_by_time():
    three = halves([gait(), gait(), gait()])
    assert [np.unique(x).tolist() for x in three] == [[0], [1], [0]]
    (one,) = halves([gait()])
    assert (np.diff(one) >= 0).all() and one.mean() == pytest.approx(0.5, abs=0.01)


def test_means_are_of_the_past():
    x = np.arange(6.0)[:, None]
    assert _averaged(x, 3).ravel().tolist() == [0.0, 0.5, 1.0, 2.0, 3.0, 4.0]


def test_boosted_trees_learn_what_no_threshold_can_and_their_probabilities_are_frequencies():
    rng = np.random.default_rng(3)
    x = rng.uniform(-1, 1, size=(4000, 3))
    p = np.where((x[:, 0] > 0) != (x[:, 1] > 0), 0.9, 0.2)
    y = rng.random(4000) < p
    fitted = boost(x[:3000], y[:3000])
    told = fitted.probability(x[3000:])
    assert np.abs(told - p[3000:]).mean() < 0.06
    assert np.array_equal(told, fitted.probability(x[3000:])) and 0.0 < told.min() < told.max() < 1.0


def test_a_ceiling_sees_the_past_alone():
    episode, k = gait(), 700
    later = np.arange(episode.recording.time.size) > k
    changed = replace(episode, gap=np.where(later[:, None], 9.0, episode.gap),
                      force=np.where(later[:, None, None], 7.0, episode.force))  # fmt: skip
    rows = (k + 1) * 2
    assert np.array_equal(history(episode, 100.0)[:rows], history(changed, 100.0)[:rows])
    assert not np.array_equal(history(episode, 100.0)[rows:], history(changed, 100.0)[rows:])


def test_a_ceiling_that_is_given_the_truth_finds_it_on_another_recording():
    found = ceiling([gait(period=0.5)], [gait(), gait(period=0.7)], 100.0)
    assert found["certain"].closed > 0.999 and found["certain"].brier < 0.001
