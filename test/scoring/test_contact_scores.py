"""Scores of tracks against slow, obvious loops; and how sure a difference of two is."""

import numpy as np
import pytest

from helpers.truth_bags import stamps, steps
from hybrid_contact_ros.codes import EventKind
from hybrid_contact_ros.scoring.blocks import interval, measures, on_common
from hybrid_contact_ros.scoring.contact_scores import CHATTER, score, self_consistency
from hybrid_contact_ros.scoring.track import Track, Truth

NAMES = ("left", "right")


def guess(closed, times, seed=0, wrong=0.02, noise=0.004):
    """A track that sees contacts late at times, and foretells the next event with an error, or not at all."""
    rng = np.random.default_rng(seed)
    said = np.roll(closed, int(rng.integers(0, 3)), axis=0) ^ (rng.random(closed.shape) < wrong)
    n, m = closed.shape
    kind, ahead = np.zeros((n, m), np.uint8), np.full((n, m), np.nan)
    for j in range(m):
        edges = np.flatnonzero(np.diff(closed[:, j].astype(int))) + 1
        for k in range(n):
            later = edges[edges > k]
            if later.size and rng.random() < 0.8:
                kind[k, j] = EventKind.LIFTOFF if said[k, j] else EventKind.TOUCHDOWN
                ahead[k, j] = max(0.0, (times[later[0]] - times[k]) * 1e-9 + rng.normal(0, noise))
    chance = np.clip(said + rng.normal(0, 0.2, said.shape), 0, 1)
    return Track(times, NAMES, NAMES, said, chance, kind, ahead, ahead - 0.005, ahead + 0.005, rng.random((n, m)) < 0.5)


def truth_of(closed, times, known=None):
    groups = tuple((name, (j,)) for j, name in enumerate(NAMES))
    return Truth(times, groups, closed, np.ones(closed.shape, bool) if known is None else known)


def slowly(track, truth, horizon):
    """The same scores by loops over states and events; no groups, and a truth at every state."""
    counts = {"tp": 0, "fp": 0, "fn": 0, "tn": 0}
    squares, errors, missed, inside, bounded = [], [], 0, 0, 0
    index = {int(stamp): k for k, stamp in enumerate(truth.stamps_ns)}
    for j in range(truth.closed.shape[1]):
        for k, stamp in enumerate(track.stamps_ns):
            if int(stamp) not in index or not truth.known[index[int(stamp)], j]:
                continue
            real, said = truth.closed[index[int(stamp)], j], track.closed[k, j]
            counts[("t" if real == said else "f") + ("p" if said else "n")] += 1
            squares.append((track.probability[k, j] - real) ** 2)
        for k in range(1, len(truth.stamps_ns)):
            if truth.closed[k, j] and not truth.closed[k - 1, j]:
                when = truth.stamps_ns[k] * 1e-9
                before = [i for i, s in enumerate(track.stamps_ns) if s * 1e-9 <= when - horizon + 1e-6]
                if not before or when - horizon - track.stamps_ns[before[-1]] * 1e-9 > 0.005:
                    continue
                i = before[-1]
                if track.next_event[i, j] != EventKind.TOUCHDOWN or track.closed[i, j]:
                    missed += 1
                    continue
                now = track.stamps_ns[i] * 1e-9
                errors.append(now + track.time_to_event[i, j] - when)
                bounded += 1
                sooner = truth.stamps_ns[k - 1] * 1e-9
                inside += now + track.earliest[i, j] <= when + 1e-6 and now + track.latest[i, j] >= sooner - 1e-6
    return counts, float(np.mean(squares)), errors, missed, (bounded, inside)


@pytest.mark.parametrize("seed", range(4))
def test_scores_are_those_of_slow_loops(seed):
    closed, times = steps(1200, seed=seed), stamps(1200)
    track, truth = guess(closed, times, seed), truth_of(closed, times)
    found = score(track, truth)
    for i, horizon in enumerate((0.01, 0.02, 0.05)):
        counts, brier, errors, missed, (bounded, inside) = slowly(track, truth, horizon)
        c, timing, bounds = found.overall, found.touchdown[i], found.touchdown_bounds[i]
        assert (c.true_positive, c.false_positive, c.false_negative, c.true_negative) == tuple(counts.values())
        assert found.brier == pytest.approx(brier)
        assert timing.missed == missed and timing.events == missed + len(errors) > 5
        np.testing.assert_allclose(np.sort(timing.errors), np.sort(errors), atol=1e-6)
        assert (bounds.events, bounds.inside) == (bounded, inside)
        assert bounds.valid_inside <= bounds.valid < bounds.events


def test_a_perfect_track_is_perfect_and_its_blocks_say_the_same(seed=1):
    closed, times = steps(2000, seed=seed), stamps(2000)
    track = guess(closed, times, 0, wrong=0.0, noise=0.0)
    found = {name: measure.value for name, measure in measures(track, truth_of(closed, times)).items()}
    scores = score(track, truth_of(closed, times))
    assert found["accuracy"] == pytest.approx(scores.overall.accuracy)
    assert found["F1"] == pytest.approx(scores.overall.f1)
    assert found["Brier score"] == pytest.approx(scores.brier)
    for i, horizon in enumerate(("10", "20", "50")):
        for name in ("touchdown", "liftoff"):
            timing, bounds = getattr(scores, name)[i], getattr(scores, f"{name}_bounds")[i]
            assert found[f"{name} {horizon} ms ahead, missed"] == pytest.approx(timing.missed / timing.events)
            assert found[f"{name} {horizon} ms ahead, mean error"] == pytest.approx(np.abs(timing.errors).mean())
            assert found[f"{name} {horizon} ms ahead, in bounds"] == pytest.approx(bounds.coverage)


def test_what_the_truth_does_not_know_is_not_scored():
    closed, times = steps(1000), stamps(1000)
    known = np.ones(closed.shape, bool)
    known[300:700, 1] = False
    track = guess(~closed, times)
    track = Track(times, NAMES, NAMES, np.where(known, closed, ~closed))
    found = score(track, truth_of(closed, times, known))
    held = 10  # states of 20 ms, for which the last truth still holds
    assert found.overall.false_positive + found.overall.false_negative <= held
    assert found.overall.true_positive + found.overall.true_negative == known.sum()
    assert found.touchdown_false == found.liftoff_false == 0


def test_edges_of_the_mode_that_no_true_edge_comes_near_to_are_false():
    times = stamps(1000)
    closed = np.zeros((1000, 2), bool)
    closed[500:, 0] = True
    said = closed.copy()
    said[200:210, 0] = True
    found = score(Track(times, NAMES, NAMES, said), truth_of(closed, times))
    assert (found.touchdown_false, found.liftoff_false) == (1, 1)
    assert found.touchdown == () and found.touchdown_delay.tolist() == [0.0] and np.isnan(found.brier)


def test_a_truth_of_another_time_gives_no_score():
    closed, times = steps(500), stamps(500)
    assert score(guess(closed, times), truth_of(closed, times + 10**12)) is None


def test_consistency_with_itself_needs_no_truth_and_chatter_is_counted():
    closed, times = steps(1500), stamps(1500)
    said = self_consistency(guess(closed, times, wrong=0.0, noise=0.0))
    assert said["chatter"] == 0 and said["events"] > 20
    assert said["touchdown"][1]["error_median"] < 0.0045  # it sees contact up to two samples late
    noisy = self_consistency(guess(closed, times, wrong=0.02))
    assert noisy["chatter"] > 50
    assert self_consistency(Track(times, NAMES, NAMES, closed)) is None


def test_a_difference_that_is_there_is_told_and_one_that_is_not_there_is_not():
    closed, times = steps(20000, seed=3), stamps(20000)
    truth = truth_of(closed, times)
    good, same, bad = (
        measures(guess(closed, times, seed, wrong=w), truth) for seed, w in ((0, 0.02), (10, 0.02), (20, 0.05))
    )
    for paired in (True, False):
        low, high = interval(good["accuracy"], bad["accuracy"], paired, 10**9)
        assert low <= bad["accuracy"].value - good["accuracy"].value <= high < 0.0
    one, other = on_common(good["touchdown 20 ms ahead, mean error"], same["touchdown 20 ms ahead, mean error"])
    assert one.key.tolist() == other.key.tolist() and 0 < one.key.size < good["touchdown 20 ms ahead, missed"].key.size
    low, high = interval(one, other, True, 10**9)
    assert low < 0.0 < high
    short = interval(good["accuracy"], bad["accuracy"], True, 10**11)
    assert short is None


def test_intervals_hold_the_true_difference_about_as_often_as_they_say():
    """Two estimators that are wrong equally often: the intervals of 60 pairs hold 0, but for a few."""
    closed, times = steps(6000, seed=5), stamps(6000)
    truth, rng = truth_of(closed, times), np.random.default_rng(2)
    held = 0
    for _ in range(60):
        pair = [Track(times, NAMES, NAMES, closed ^ (rng.random(closed.shape) < 0.05)) for _ in range(2)]
        one, other = (measures(track, truth)["accuracy"] for track in pair)
        low, high = interval(one, other, True, 500_000_000)
        held += low <= 0.0 <= high
    assert held >= 55


def test_a_truth_that_rattles_as_a_foot_lands_has_one_touchdown_and_its_states_are_scored_as_they_are():
    times = stamps(1000)
    closed = np.zeros((1000, 2), bool)
    closed[400:800] = True
    rattling = closed.copy()
    rattling[403:406] = rattling[409:411] = False  # 6 and 4 ms
    track = Track(times, NAMES, NAMES, closed)
    plain, calm = (score(track, truth_of(rattling, times), chatter=shortest) for shortest in (0.0, CHATTER))
    assert plain.touchdown_delay.size == 6 and plain.chatter == 0
    assert calm.touchdown_delay.tolist() == [0.0, 0.0] and calm.liftoff_delay.tolist() == [0.0, 0.0]
    assert calm.chatter == 8
    assert calm.overall == plain.overall and calm.overall.false_positive == 10
    found = measures(track, truth_of(rattling, times))
    assert found["touchdown unseen"].value == 0.0 and found["touchdown unseen"].whole.sum() == 2
