"""The time to an event as a density: what was foretold, with what it missed before."""

from types import SimpleNamespace
from typing import NamedTuple

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import norm

from hybrid_contact_ros.codes import EventKind
from hybrid_contact_ros.estimation.event_densities import density_memory, forget_densities, pause_densities
from hybrid_contact_ros.kernels.estimation.density_quantiles import (
    KEPT,
    LEVELS,
    PRIORS,
    SPAN,
    bound_logit,
    keep_residual,
    logistic_cdf,
    logistic_quantile,
    residual_quantiles,
)
from hybrid_contact_ros.kernels.estimation.event_density import foretell_densities, learn_densities
from hybrid_contact_ros.kernels.estimation.stride_course import DRIFT, TRACKED
from hybrid_contact_ros.kernels.estimation.stride_course import NUMBERS as LAG_NUMBERS
from hybrid_contact_ros.kernels.estimation.update_records import (
    BOUNDS_VALID,
    CODES,
    DENSITY_VALID,
    EARLIEST,
    EVENT_PROBABILITY,
    LATEST,
    NEXT_EVENT,
    NUMBERS,
    QUANTILES,
    TIME,
)
from hybrid_contact_ros.time_density import TimeDensity

MS = 1_000_000
TOUCHDOWN, LIFTOFF = int(EventKind.TOUCHDOWN), int(EventKind.LIFTOFF)
residuals = st.lists(st.floats(-20.0, 20.0), min_size=1, max_size=3 * KEPT)


class Settings(NamedTuple):
    sigmas: float = 2.0
    horizon: float = 0.1


class Given(NamedTuple):
    stamp: int
    dt: float = 0.0
    elapsed: float = 0.0


class Problem(NamedTuple):
    due: np.ndarray


class Course(NamedTuple):
    lag: np.ndarray


class Skill(NamedTuple):
    sigma: np.ndarray
    forecast: np.ndarray


class Ahead(NamedTuple):
    event_times: np.ndarray


class Out(NamedTuple):
    numbers: np.ndarray
    codes: np.ndarray


class Foretold:
    """Two contacts whose events are foretold by somebody."""

    def __init__(self, rhythm: bool = True):
        self.memory = density_memory(2)
        self.problem = Problem(np.full((2, 2, 3), np.inf))
        self.course = Course(np.zeros(LAG_NUMBERS))
        self.skill = Skill(np.full(2, np.nan), np.full((2, 4), np.inf))
        if rhythm:
            self.skill.sigma[:] = self.skill.forecast[:] = 0.001
        self.ahead = Ahead(np.full((2, 3), np.nan))
        self.out = Out(np.zeros((NUMBERS, 2)), np.zeros((CODES, 2), np.uint8))
        self.bounds, self.step = Settings(), 0.0

    def state(self, stamp: int, contact: int, kind: int, median: float, sigma: float, latest: float | None = None):
        """At a stamp (ns) an event of one contact, ``median`` s ahead, is foretold; what is published of it."""
        times, codes = self.ahead.event_times, self.out.codes[NEXT_EVENT]
        times[:], codes[:] = np.nan, 0
        times[contact] = median, median - 2.0 * sigma, median + 2.0 * sigma if latest is None else latest
        codes[contact] = kind
        foretell_densities(
            self.bounds, Given(stamp, self.step), self.problem, self.course, self.skill, self.ahead, self.memory,
            self.out,
        )  # fmt: skip
        n = self.out.numbers[:, contact]
        quantiles = np.array([*n[QUANTILES : QUANTILES + 2], n[TIME], *n[QUANTILES + 2 : QUANTILES + 4]])
        return SimpleNamespace(
            density=TimeDensity(quantiles, n[EVENT_PROBABILITY], bool(self.out.codes[BOUNDS_VALID, contact])),
            whole=bool(self.out.codes[DENSITY_VALID, contact]),
            earliest=n[EARLIEST], latest=n[LATEST], other=self.out.numbers[:, 1 - contact].copy(),
        )  # fmt: skip

    def happens(self, stamp: int, contact: int, kind: int):
        learn_densities(1, np.array([[contact, kind, stamp, stamp - MS, stamp]]), self.bounds.horizon, self.memory)

    def strides(self, count, kind=TOUCHDOWN, bias=0.0, sigma=0.002, said=0.002, seed=0, lead=60, deviates=None):
        """Events every 300 ms whose foretold times err by a bias and a normal deviate of ``sigma`` s each; ``said`` is
        the deviation that is foretold. What is published 20 ms ahead of each of them, and the true time left.
        ``deviates``: in place of normal ones, again and again."""
        rng, found = np.random.default_rng(seed), []
        for k in range(count):
            at, contact = (k + 1) * 300 * MS, k % 2
            deviate = rng.standard_normal() if deviates is None else deviates[k % len(deviates)]
            missed = bias + sigma * deviate
            for left in range(lead, 0, -1):
                median = max(1e-3 * left - missed, 1e-4)
                told = self.state(at - left * MS, contact, kind, median, said)
                if left == 20:
                    found.append((told, 0.02))
            self.happens(at, contact, kind)
        return found


def weighted(level, values, weights):
    """The quantile that is linear between the middles of the weights."""
    order = np.argsort(values, kind="stable")
    w = np.asarray(weights)[order]
    middles = (np.cumsum(w) - 0.5 * w) / w.sum()
    return np.interp(level, middles, np.asarray(values)[order])


def kept(values, contacts):
    there, origins = np.zeros(KEPT), np.zeros((KEPT, 2), np.int64)
    for number, (value, contact) in enumerate(zip(values, contacts, strict=True)):
        keep_residual(value, contact, there, origins, number)
    return there, origins


@given(residuals)
def test_residuals_are_the_last_ones_in_order_of_size(values):
    there, origins = kept(values, range(len(values)))
    last = values[-KEPT:]
    assert there[: len(last)].tolist() == sorted(last)
    for value, (contact, number) in zip(there[: len(last)], origins[: len(last)], strict=True):
        assert values[number] == value and contact == number


@settings(max_examples=60)
@given(residuals, st.integers(0, 3), st.randoms(use_true_random=False))
def test_quantiles_are_those_of_weighted_residuals_and_the_prior_s_points(values, code, random):
    contacts = [random.randrange(2) for _ in values]
    there, origins = kept(values, contacts)
    found, work = np.zeros(5), np.zeros((2, KEPT + SPAN))
    mass = residual_quantiles(code, 0, there, origins, len(values), work, found)
    last = list(zip(values, contacts, strict=True))[-KEPT:]
    weights = [0.95**age * (1.0 if c == 0 else 0.5) for age, (_, c) in enumerate(reversed(last))][::-1]
    assert mass == pytest.approx(sum(weights))
    p = (np.arange(SPAN) + 0.5) / SPAN
    points = TimeDensity(np.array(PRIORS[code]), 1.0, True).quantile(p)
    points = points + weighted(0.5, [v for v, _ in last], weights) * mass / (mass + 4.0)
    prior = 64.0 / (8.0 + mass) if code < 2 else 8.0
    every, each = [*(v for v, _ in last), *points], [*weights, *[prior / SPAN] * SPAN]
    np.testing.assert_allclose(found, [weighted(p, every, each) for p in LEVELS], atol=1e-7)
    assert (np.diff(found) >= 0.0).all()


@given(st.lists(st.floats(0.0, 0.05), min_size=4, max_size=4), st.floats(-0.05, 0.2), st.floats(0.001, 0.999))
def test_kernels_and_readers_share_one_family(steps, time, p):
    """Both distribution functions are the same, each quantile is the inverse, and the density the derivative."""
    quantiles = 0.01 + np.concatenate(([0.0], np.cumsum(np.array(steps) + 1e-4)))
    density = TimeDensity(quantiles, 1.0, True)
    assert density.cdf(time) == pytest.approx(logistic_cdf(time, quantiles), abs=1e-9)
    assert density.cdf(density.quantile(p)) == pytest.approx(p, abs=1e-9)
    assert logistic_quantile(np.log(p / (1.0 - p)), quantiles) == pytest.approx(density.quantile(p), abs=1e-12)
    edges = np.linspace(0.0, 0.25, 50_001)
    smooth = np.diff(np.searchsorted(quantiles, edges)) == 0  # cells without a quantile, at which the density jumps
    within = np.exp(density.log_density(0.5 * (edges[1:] + edges[:-1]))) * np.diff(edges)
    np.testing.assert_allclose(within[smooth], np.diff(density.cdf(edges))[smooth], rtol=0.01, atol=1e-12)


def test_bounds_of_two_sigmas_are_those_of_a_normal_deviate():
    assert 1.0 / (1.0 + np.exp(-bound_logit(2.0))) == pytest.approx(0.97725, abs=1e-5)
    assert bound_logit(0.0) == 0.0
    assert np.isfinite(bound_logit(10.0))


def test_what_sure_forecasts_missed_does_not_bring_on_what_is_far_away_and_unsure():
    """First steps on a slope come three deviations of 2 ms early: the next one, foretold for 90 ± 40 ms, is not now."""
    thing = Foretold()
    thing.strides(12, bias=-0.006, sigma=0.0002, lead=90)
    for median, said, least in ((0.09, 0.04, 0.045), (0.09, 0.002, 0.08)):
        told = thing.state(13 * 300 * MS, 0, TOUCHDOWN, median, said)
        assert least <= told.density.quantiles[2] < 0.09 and (np.diff(told.density.quantiles) >= 0.0).all()


def test_without_history_the_median_is_what_was_foretold_and_nothing_is_calibrated():
    thing = Foretold(rhythm=False)
    told = thing.state(0, 0, TOUCHDOWN, 0.03, 0.002)
    assert told.density.quantiles[2] == 0.03
    assert told.earliest < told.density.quantiles[0] < 0.026  # wider than the noise of sensors alone: unknown ground
    assert told.latest > 0.034 and not told.density.valid
    assert 0.8 < told.density.probability < 0.9
    assert np.isnan(told.other[[TIME, EARLIEST, LATEST, EVENT_PROBABILITY, *range(QUANTILES, QUANTILES + 4)]]).all()
    wide = thing.state(MS, 0, TOUCHDOWN, 0.03, 0.008)  # ground that is not known
    assert wide.latest - wide.earliest > 1.5 * (told.latest - told.earliest)
    assert thing.state(2 * MS, 0, TOUCHDOWN, 0.03, 0.002, np.inf).latest == np.inf  # it may not happen


@pytest.mark.parametrize(
    ("kind", "bias", "said"),
    [
        (TOUCHDOWN, 0.0, 0.002), (TOUCHDOWN, 0.004, 0.002), (TOUCHDOWN, 0.0, 0.008), (TOUCHDOWN, -0.001, 0.0008),
        (LIFTOFF, 0.0, 0.002),
    ],
)  # fmt: skip
def test_quantiles_become_those_of_the_errors_whatever_was_said(kind, bias, said):
    """400 events with errors of 2 ms: widths that were foretold four times too wide, too narrow, or late."""
    found = Foretold().strides(460, kind, bias, 0.002, said)[60:]
    u = np.sort([told.density.cdf(left) for told, left in found])
    steps = np.arange(u.size + 1) / u.size
    distance = max((steps[1:] - u).max(), (u - steps[:-1]).max())
    assert distance <= (0.1 if kind == TOUCHDOWN else 0.15)  # detections date liftoffs less well: wider on one side
    held = np.mean([told.earliest <= left <= told.latest for told, left in found])
    assert 0.9 <= held <= 0.995
    logs = np.mean([told.density.log_density(left) for told, left in found])
    best = -0.5 * np.log(2.0 * np.pi * np.e * 0.002**2)  # the normal density that errors are drawn from
    assert best - 0.35 < logs < best + 0.1


def test_it_is_valid_after_enough_events_that_were_where_they_should_be_and_for_touchdowns_alone():
    assert not any(told.density.valid for told, _ in Foretold().strides(24))
    valid = [told.density.valid for told, _ in Foretold().strides(200)]
    assert np.mean(valid[60:]) > 0.5
    assert not any(told.density.valid for told, _ in Foretold().strides(200, LIFTOFF))


def test_a_whole_density_is_valid_after_more_events_of_touchdowns_alone_and_never_without_its_bounds():
    told = [told for told, _ in Foretold().strides(400)]
    assert not any(one.whole for one in told[:64])
    assert np.mean([one.whole for one in told[64:]]) > 0.2
    assert all(one.density.valid for one in told if one.whole)
    assert not any(one.whole for one, _ in Foretold().strides(400, LIFTOFF))


def test_a_density_is_not_valid_where_one_error_tells_the_next_however_uniform_they_are_on_the_whole():
    """The same 16 errors, every eight strides, in turns up and down, or as a die throws them."""
    errors = norm.ppf((np.arange(16) + 0.5) / 16)
    slowly = np.concatenate([errors[::2], errors[::-2]])
    thrown = np.random.default_rng(2).permutation(errors)
    valid = [
        np.mean([told.whole for told, _ in Foretold().strides(240, deviates=each)[100:]]) for each in (slowly, thrown)
    ]
    assert valid[0] == 0.0 and valid[1] > 0.5


@pytest.mark.parametrize("kind", [TOUCHDOWN, LIFTOFF])
def test_an_event_is_expected_half_a_step_later_than_foretold_because_states_date_it(kind):
    medians = []
    for step in (0.0, 0.001, 0.01, 1.0):
        thing = Foretold()
        thing.step = step
        medians.append(thing.state(0, 0, kind, 0.03, 0.002).density.quantiles[2])
    assert medians == pytest.approx([0.03, 0.0305, 0.035, 0.04])  # of states that are rare no more is known


def test_events_that_err_as_never_before_end_validity():
    thing = Foretold()
    thing.strides(100)
    thing.memory.stamps[:] -= 100 * 300 * MS
    thing.memory.last[:] = -(10**18)
    assert not thing.strides(20, bias=0.02)[-1][0].density.valid


def test_announcements_that_nothing_follows_lower_the_probability_and_their_settling_is_bounded():
    thing = Foretold()
    first = thing.state(0, 0, TOUCHDOWN, 0.03, 0.002).density.probability
    for k in range(1, 2000):
        told = thing.state(k * MS, 0, TOUCHDOWN, 0.03, 0.002)
    assert told.density.probability < 0.5 * first
    came = Foretold()
    came.strides(60)
    assert came.state(10**12, 0, TOUCHDOWN, 0.03, 0.002).density.probability > 0.95


def test_a_bounce_teaches_nothing():
    thing = Foretold()
    thing.strides(3)
    counts = thing.memory.counts.copy()
    thing.happens(3 * 300 * MS + 20 * MS, 0, TOUCHDOWN)
    assert counts.sum() > 0 and (thing.memory.counts == counts).all()


def test_what_was_foretold_before_the_first_touch_of_a_bounce_is_not_compared_with_the_second():
    """A foot that is to touch in 5 ms touches, leaves, and touches again 40 ms later, as foretold 10 ms before that."""
    counts = []
    for bounces in (False, True):
        thing = Foretold()
        for left in range(60, 0, -1):
            median = 1e-3 * (left - 40 if bounces and left > 40 else left)
            thing.state((100 - left) * MS, 0, TOUCHDOWN, median, 0.002)
            if bounces and left in (40, 38):
                thing.happens((100 - left) * MS, 0, TOUCHDOWN if left == 40 else LIFTOFF)
        before = thing.memory.counts[1].copy()
        thing.happens(100 * MS, 0, TOUCHDOWN)
        counts.append((thing.memory.counts[1] - before).tolist())
    assert counts[0] == [1, 1, 1, 1, 1, 0] and counts[1] == [1, 1, 1, 1, 0, 0]


@pytest.mark.parametrize("drift", [0.1, -0.1])
def test_nothing_is_called_valid_where_strides_become_longer_or_shorter(drift):
    thing = Foretold()
    valid = [told for told, _ in thing.strides(300) if told.whole]
    at = 301 * 300 * MS
    told = [thing.state(at, k % 2, TOUCHDOWN, 0.02, 0.002) for k in range(2)]
    assert valid and all(one.density.valid for one in told)
    thing.course.lag[[TRACKED, DRIFT]] = 1.0, drift
    uneven = [thing.state(at, k % 2, TOUCHDOWN, 0.02, 0.002) for k in range(2)]
    assert not any(one.density.valid or one.whole for one in uneven)
    assert all((a.density.quantiles == b.density.quantiles).all() for a, b in zip(told, uneven, strict=True))


def test_reset_forgets_all_and_a_pause_what_was_foretold():
    thing, fresh = Foretold(), Foretold()
    thing.strides(30)
    learned = thing.state(10**11, 0, TOUCHDOWN, 0.03, 0.002).density.quantiles
    pause_densities(thing.memory)
    np.testing.assert_array_equal(thing.state(10**11, 0, TOUCHDOWN, 0.03, 0.002).density.quantiles, learned)
    forget_densities(thing.memory)
    told, expected = (x.state(10**11, 0, TOUCHDOWN, 0.03, 0.002) for x in (thing, fresh))
    np.testing.assert_array_equal(told.density.quantiles, expected.density.quantiles)
    assert told.density.probability == expected.density.probability


def test_an_event_whose_bounds_are_anywhere_has_a_time_all_the_same():
    """A load that falls by next to nothing ends between now and some years, and those before it ended late."""
    thing = Foretold(rhythm=False)
    thing.strides(20, LIFTOFF, bias=0.01, sigma=0.0)
    told = thing.state(10**11, 0, LIFTOFF, 0.03, 1e6)
    assert 0.03 <= told.density.quantiles[2] <= 1.0 and told.latest < 10.0


def test_slips_and_sticks_have_bounds_and_no_density():
    thing = Foretold()
    told = thing.state(0, 1, int(EventKind.SLIP), 0.03, 0.002)
    assert (told.earliest, told.latest) == pytest.approx((0.026, 0.034))
    assert told.density.quantiles[2] == 0.03 and np.isnan(told.density.quantiles[[0, 1, 3, 4]]).all()
    assert np.isnan(told.density.probability)
