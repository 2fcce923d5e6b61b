"""A classifier that was shown the rest of a recording says what its measured states tell, and nothing of its truth."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from benchmarks.estimation_scores.within import blocks, past, told_within
from helpers.estimation import gait


def rows(episode, shows: bool, seed: int = 0):
    """Features that show the truth with noise, or nothing."""
    rng, truth = np.random.default_rng(seed), episode.truth
    gap = (np.where(truth, 0.0, 0.03) if shows else 0.0) + 0.005 * rng.normal(size=truth.shape)
    return past(episode.recording.time, {"gap": gap, "speed": rng.normal(size=truth.shape)})


def test_what_the_states_show_is_found_and_what_they_do_not_is_not():
    one = gait(seconds=8.0)
    best = told_within([rows(one, True)], [one])
    assert min(best.closed, best.open) > 0.98 and best.brier < 0.02
    none = told_within([rows(one, False)], [one])
    share = one.truth.mean()
    assert abs(none.brier - share * (1.0 - share)) < 0.05


def test_what_is_said_of_a_block_does_not_depend_on_its_own_truth():
    """Of two episodes of which the truth of one is turned round, that one is told as the other one teaches."""
    one = gait(seconds=4.0)
    turned = replace(one, recording=replace(one.recording, closed=~one.truth))
    assert told_within([rows(one, True), rows(one, True, 1)], [one, turned]).balanced < 0.05


def test_blocks_are_parts_of_a_recording_or_its_episodes():
    one = gait(seconds=4.0)
    (parts,) = blocks([one])
    assert np.array_equal(np.unique(parts), np.arange(10)) and (np.diff(parts) >= 0).all()
    first, second = blocks([one, one])
    assert (first == 0).all() and (second == 1).all()


def test_the_past_of_a_foot_has_its_own_features_first_and_nothing_of_the_future():
    one = gait(seconds=2.0)
    x = np.cumsum(np.ones(one.truth.shape), axis=0) + np.array([0.0, 0.5])[: one.truth.shape[1]]
    found = past(one.recording.time, {"gap": x})
    assert np.array_equal(found[:, :, 0], x) and np.array_equal(found[:, 0, 1], x[:, 1])
    assert (found[:, :, :-1].max(axis=2) <= x.max(axis=1, keepdims=True)).all()
