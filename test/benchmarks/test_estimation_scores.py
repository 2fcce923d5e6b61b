"""The pieces of ``./run bench estimation``: truths, events, intervals, densities, parameters that are set."""

from __future__ import annotations

import doctest
import importlib
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks.estimation_scores.ahead import extrapolated, horizons, reliability, steady_spans
from benchmarks.estimation_scores.answers import Ahead, Answers
from benchmarks.estimation_scores.blocks import binomial_interval, counts, difference, macro_f1, stride_blocks
from benchmarks.estimation_scores.chatter import chatter, tilted
from benchmarks.estimation_scores.density import density, transforms
from benchmarks.estimation_scores.episodes import Episode, override, part, states
from benchmarks.estimation_scores.scores import EventCounts, mode_scores, true_events
from benchmarks.estimation_scores.sources import shared_sources
from benchmarks.estimation_scores.tables import compare
from helpers.estimation import gait
from hybrid_contact_ros import EstimatorConfig
from hybrid_contact_ros.config import Contact


def test_a_set_parameter_reaches_its_leaf_and_a_wrong_one_is_refused():
    config = EstimatorConfig(contacts={"a": Contact("a"), "b": Contact("b")})
    changed = override(
        config, ["contacts.*.radius=0.02", "environments.ground.offset=-0.01", "prediction.rhythm=false"]
    )
    assert [c.radius for c in changed.contacts.values()] == [0.02, 0.02]
    assert changed.environments["ground"].offset == -0.01 and changed.prediction.rhythm is False
    for wrong in ("activation.gap=1", "contacts.c.radius=1", "activation.gap_on=nine", "activation.gap_on=1"):
        with pytest.raises(ValueError, match=r"gap|radius"):
            override(config, [wrong])


def test_a_part_of_a_recording_keeps_every_row_with_its_truth():
    episode = gait()
    some = episode.part(slice(10, 20))
    assert some.recording.time.size == 10 and some.truth.shape == (10, 2)
    assert np.array_equal(some.truth, episode.truth[10:20])
    assert np.array_equal(part(episode.recording, [3, 5]).q, episode.recording.q[[3, 5]])


def test_events_of_a_foot_that_skims_the_ground_need_not_be_told_but_may_be():
    closed = np.ones((100, 1), dtype=bool)
    closed[20:40] = closed[60:80] = False
    gap = np.zeros((100, 1))
    gap[20:40], gap[60:80] = 0.0005, 0.02
    episode = gait(closed=closed, gap=gap)
    ((lasting, every, _),) = true_events(episode, "touchdown")
    assert lasting.tolist() == pytest.approx([0.08]) and every.tolist() == pytest.approx([0.08, 0.04, 0.08])
    told = EventCounts()
    told.add(np.array([0.041, 0.06]), lasting, every, 0.01)
    assert (told.true, told.missed, told.false, told.errors) == (1, 1, 1, [])


def test_an_event_may_be_told_where_another_truth_has_it():
    """As a foot that takes its load slowly: but not where an event of the other truth is another event."""
    true, others = np.array([1.0, 2.0]), np.array([1.08, 2.5])
    told = EventCounts()
    told.add(np.array([1.09, 2.51]), true, np.r_[true, others], 0.03, others)
    assert (told.missed, told.false) == (1, 0) and told.errors == pytest.approx([0.01])


@given(st.lists(st.tuples(st.booleans(), st.booleans()), min_size=1, max_size=40))
def test_macro_f1_of_counted_blocks_is_that_of_the_samples(pairs):
    closed, truth = (np.array(x)[:, None] for x in zip(*pairs, strict=True))
    block = np.arange(len(pairs)) % 3
    table = counts(closed, truth, np.ones_like(truth), block).sum(axis=0)
    direct = mode_scores(closed, closed.astype(float), truth)
    both = [x for x in (direct.closed, direct.open) if np.isfinite(x)]
    assert macro_f1(table) == pytest.approx(np.mean(both))


def test_blocks_are_strides_and_a_long_stand_is_cut():
    episode = gait(seconds=4.0, period=0.5)
    block = stride_blocks(episode)
    downs = np.flatnonzero(np.diff(episode.truth[:, 0].astype(int)) == 1) + 1
    assert np.array_equal(np.flatnonzero(np.diff(block)) + 1, downs)
    standing = gait(closed=np.ones((5000, 1), dtype=bool))
    assert np.unique(stride_blocks(standing)).size == 3


def test_the_interval_of_a_difference_knows_strides_and_not_samples():
    """Equal rules differ by nothing; one that errs in one stride of ten is not told from one that errs in another."""
    right, wrong = [10.0, 0.0, 0.0, 10.0], [0.0, 10.0, 10.0, 0.0]
    ours, theirs = np.array([wrong] + 9 * [right]), np.array(9 * [right] + [wrong])
    same = difference(ours, ours)
    assert (same.value, same.low, same.high, same.verdict) == (0.0, 0.0, 0.0, "equal")
    assert difference(ours, theirs).verdict == "equal"
    assert difference(np.array(10 * [right]), np.array(5 * [wrong] + 5 * [right])).verdict == "better"
    assert difference(np.array(10 * [wrong]), theirs).verdict == "worse"


def test_the_binomial_interval_holds_the_share_as_often_as_it_says():
    """Clopper and Pearson's is never too narrow."""
    from scipy.stats import binom

    for p in (0.5, 0.9, 0.95):
        inside = [low <= p <= high for low, high in (binomial_interval(k, 60) for k in range(61))]
        assert binom.pmf(np.arange(61), 60, p)[np.array(inside)].sum() >= 0.95
    assert binomial_interval(0, 20)[0] == 0.0 and binomial_interval(20, 20)[1] == 1.0


def test_a_density_that_is_true_has_uniform_transforms_and_beats_one_of_constant_width():
    rng = np.random.default_rng(0)
    width = np.where(rng.random(3000) < 0.5, 0.0005, 0.01)
    errors = width * rng.normal(size=3000)
    true = density(errors, 2 * width, 2 * width)
    assert true.distance < 0.04 and true.score > true.constant + 0.3
    late = density(errors + 0.02, 2 * width, 2 * width)
    assert late.distance > 0.5 and late.score < late.constant
    wide = density(errors, 20 * width, 20 * width)
    assert wide.distance > 0.3 and wide.score < true.score
    endless = density([0.001, -0.001], [np.inf, np.inf], [np.inf, np.inf])  # says nothing, but no impossible event
    assert np.isfinite(endless.score) and endless.score < endless.constant - 2.0
    assert transforms(np.array([0.002]), np.array([0.002]), np.array([0.1])) == pytest.approx([0.0228], abs=1e-3)


def test_steady_are_strides_from_the_third_on_that_last_as_long_as_the_one_before():
    true = np.array([0.0, 0.5, 1.0, 1.5, 2.0, 3.5, 4.0, 4.5])
    steady, samples = steady_spans(np.arange(0.0, 5.0, 0.1) + 0.01, true)
    assert np.flatnonzero(steady).tolist() == [3, 4, 7]
    assert samples[11] and samples[16] and not samples[9] and not samples[30] and not samples[48]


def test_predictions_are_scored_at_their_horizon_and_stops_are_apart():
    """A prophet is perfect, but for what it says of a foot that never comes."""
    episode = gait(seconds=4.0, period=0.5)
    time, truth = episode.recording.time, episode.truth
    when = np.full(truth.shape, np.nan)
    for i in range(2):
        downs = time[1:][np.diff(truth[:, i].astype(int)) == 1]
        for t in downs:
            k = (time >= t - 0.06) & (time < t)
            when[k, i] = t - time[k]
    when[-80:-40, 0] = 0.005
    ahead = Ahead(when, when - 0.001, when + 0.001)
    told = Answers(time, truth, truth.astype(float), {}, {"touchdown": ahead, "liftoff": ahead})
    found = {steady: horizons([episode], [told], "touchdown", steady)[0.02] for steady in (True, False)}
    assert found[True].missed == found[False].missed == 0
    assert found[True].events + found[False].events == sum((np.diff(truth.astype(int), axis=0) == 1).sum(axis=0))
    assert max(map(abs, found[True].errors)) < 1e-9 and found[True].held == found[True].events
    assert (found[True].false, found[False].false) == (0, 1)


def test_what_is_foretold_before_a_foot_bounces_is_scored_by_its_first_touchdown():
    """By another label a foot touches 30 ms before the touchdown that the truth has, and is foretold to do so."""
    episode = gait(seconds=4.0, period=0.5)
    time, truth = episode.recording.time, episode.truth
    raw, when = truth.copy(), np.full(truth.shape, np.nan)
    for i in range(2):
        for t in time[1:][np.diff(truth[:, i].astype(int)) == 1]:
            first = int(np.searchsorted(time, t - 0.03))
            raw[first : first + 3, i] = True
            when[first - 40 : first, i] = time[first] - time[first - 40 : first]
            when[first + 3 : first + 30, i] = t - time[first + 3 : first + 30]
    told = Answers(time, truth, truth.astype(float), {}, {"touchdown": Ahead(when, when - 1e-4, when + 1e-4)})
    bounced = replace(episode, labels={"raw": raw})
    for h, asked in ((0.02, True), (0.05, False)):
        steady, other = (horizons([bounced], [told], "touchdown", steady)[h] for steady in (True, False))
        assert steady.events == 0, "what follows a touch by 30 ms is of a rebound, and no stride ends there"
        assert (other.events > 0) == asked and other.missed == other.off == 0 and other.held == other.events


def test_bounds_hold_a_time_that_lies_within_them_and_no_other():
    episode = gait(seconds=4.0, period=0.5)
    time, truth = episode.recording.time, episode.truth
    when = np.full(truth.shape, np.nan)
    for i in range(2):
        for t in time[1:][np.diff(truth[:, i].astype(int)) == 1]:
            k = (time >= t - 0.06) & (time < t)
            when[k, i] = t - time[k]
    for early, held in ((0.0, True), (0.0005, False)):  # by half a sample
        ahead = Ahead(when - early, when - early - 1e-4, when - early + 1e-4)
        told = Answers(time, truth, truth.astype(float), {}, {"touchdown": ahead})
        found = horizons([episode], [told], "touchdown", True)[0.02]
        assert found.events > 0 and found.held == (found.events if held else 0)


def test_plain_extrapolation_is_exact_for_a_foot_that_falls():
    time = 0.001 * np.arange(100)
    gap = (0.04 - 0.3 * time - 0.5 * 9.81 * time**2)[:, None]
    found = extrapolated(time, gap, (-0.3 - 9.81 * time)[:, None])
    lands = (-0.3 + np.sqrt(0.09 + 2 * 9.81 * 0.04)) / 9.81
    early = (time > 0.003) & (time < lands - 1e-6)
    assert (time + found.time[:, 0])[early] == pytest.approx(lands, abs=1e-9)
    assert np.isnan(found.time[time > lands]).all()


def test_a_bin_of_probabilities_needs_twenty_separate_events():
    """However many samples are in it; and its interval is that of the events."""
    truth = np.repeat(np.arange(60) % 2 == 1, 50)[:, None]
    honest = np.where(truth, 0.95, 0.05).astype(float)
    doubtful = honest.copy()
    doubtful[100:120] = 0.55
    told = [reliability([p], [truth], [np.ones_like(truth)]) for p in (honest, doubtful)]
    assert [round(b.said, 2) for b in told[0]] == [0.05, 0.95] and [len(x) for x in told] == [2, 2]
    assert all(b.holds and b.events >= 20 for x in told for b in x)
    (wrong,) = reliability([np.full(truth.shape, 0.85)], [truth], [np.ones_like(truth)])
    assert not wrong.holds and wrong.low < 0.5 < wrong.high and wrong.true == pytest.approx(0.5)


def test_the_shared_recordings_make_states_that_their_models_take(shared, monkeypatch):
    """Cassie and the iCub: joints in the model's order, locked wrists, and feet on the ground within centimetres."""
    sources = shared_sources()
    for name, low, high in (("cassie", -0.05, 0.4), ("icub_walking", -0.03, 0.08), ("trot_slippery", -0.01, 0.12)):
        source = sources[name]
        if source.missing:
            pytest.skip(source.missing)
        model, episode = source.model(source.config), source.load()[0]
        assert isinstance(episode, Episode) and sum(map(len, source.members)) == model.contacts
        gaps = [model.problem(s).gap for s in states(model, episode.part(slice(0, None, 50)).recording)]
        assert low < np.min(gaps) and np.max(gaps) < high


def test_what_is_worse_than_before_is_said_and_noise_of_scores_is_not(capsys):
    def table(closed, false):
        counts = {"touchdown": {"missed": 0, "false": false}, "liftoff": {"missed": 1, "false": 0}}
        return {"trot": {"recorded": {"certain": {"closed": closed, "open": None, "brier": 0.02}, **counts}}}

    assert compare(table(0.95, 3), table(0.949, 3)) == []
    assert compare(table(0.95, 3), table(0.99, 2)) == []
    assert len(compare(table(0.95, 3), table(0.94, 4))) == 2
    assert compare({}, table(0.5, 9)) == [] and "0.9500 → 0.9400" in capsys.readouterr().out


@pytest.mark.parametrize("name", ["baselines", "blocks", "boosting", "chatter", "density", "episodes", "scores"])
def test_the_examples_in_docstrings_are_right(name):
    module = importlib.import_module(f"benchmarks.estimation_scores.{name}")
    found = doctest.testmod(module)
    assert found.attempted > 0 and found.failed == 0


def test_a_foot_that_touches_every_few_milliseconds_is_not_scored_as_open_between():
    touched = np.zeros((60, 1), dtype=bool)
    touched[[10, 13, 17, 40]] = True  # it skims from 10 to 17, swings, and lands
    closed = np.zeros((60, 1), dtype=bool)
    closed[41:] = True
    skims = np.flatnonzero(chatter(touched, closed)[:, 0])
    assert skims.tolist() == [*range(10, 18), 40]
    assert not chatter(touched, np.ones_like(closed)).any()  # what the truth calls closed is left as it is
    assert not chatter(np.zeros_like(touched), closed).any()


def test_a_part_of_a_recording_keeps_its_chatter():
    episode = gait()
    skims = np.zeros_like(episode.truth)
    skims[12] = True
    assert np.flatnonzero(replace(episode, chatter=skims).part(slice(10, 20)).chatter[:, 0]).tolist() == [2]


def test_the_higher_point_of_a_sole_that_has_tilted_is_left_out_without_chatter():
    height = np.array([[0.000, 0.004, 0.05], [0.002, 0.025, 0.05], [0.030, 0.001, 0.05], [0.030, 0.001, 0.05]])
    closed = np.array([[1, 1, 0], [1, 1, 0], [1, 1, 0], [0, 1, 0]], dtype=bool)
    found = tilted(height, closed, [(0, 1), (2,)])
    assert found.tolist() == [[False] * 3, [False, True, False], [True, False, False], [False] * 3]
    made = replace(gait(), chatter=np.ones_like(gait().certain))
    assert not made.without_chatter().certain.any() and gait().without_chatter().certain.all()


def test_samples_after_some_seconds_may_be_scored_alone():
    episode = gait(seconds=4.0)
    later, time = episode.scored_after(3.0), episode.recording.time
    assert np.array_equal(later.certain, np.repeat((time >= 3.0)[:, None], later.certain.shape[1], axis=1))
    assert np.array_equal(later.truth, episode.truth)
