"""What the belief makes of feet that skim the ground and of noisy velocities, and what is published of it."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from helpers.belief import CONFIG, SHARE, Belief, evidence
from hybrid_contact_ros.estimation.contact_belief import belief_record
from hybrid_contact_ros.kernels.estimation import belief_likelihoods as likelihoods
from hybrid_contact_ros.kernels.estimation import held_feet
from hybrid_contact_ros.kernels.estimation.belief_step import belief_course, calibrated, heed_tracker
from hybrid_contact_ros.kernels.estimation.landed_forces import force_memory
from hybrid_contact_ros.kernels.estimation.update_records import (
    CODES,
    NUMBERS,
    PROBABILITY,
    VECTORS,
    PredictionOut,
)


def skimming(part: float) -> float:
    """Belief in a foot that slides along the ground while it bears this part of its share of the weight."""
    belief = Belief(1, SHARE)
    for _ in range(100):
        found = belief.step(slide=0.25, load=part * SHARE, force=part * SHARE)
    return float(found[0, 0])


def test_a_foot_that_slides_under_little_load_is_less_closed_than_one_that_carries_its_share():
    found = [skimming(part) for part in (0.05, 0.15, 0.5, 1.0)]
    assert found == sorted(found) and found[0] < 0.4 and found[-1] > 0.9


def test_a_foot_that_stands_under_the_same_load_is_closed():
    belief = Belief(1, SHARE)
    for _ in range(100):
        found = belief.step(load=0.15 * SHARE, force=0.15 * SHARE)
    assert found[0, 0] > skimming(0.15) + 0.3


def test_a_foot_that_stood_and_flies_over_the_ground_is_open_though_a_mode_presses_it():
    """A rebound of some millimetres; after an impact velocities are noisy and the observer is blind."""
    found = {}
    for slide in (0.0, 2.0):
        belief = Belief(1, SHARE)
        for _ in range(50):
            belief.step(stood=1)
        for _ in range(25):
            found[slide] = belief.step(
                stood=1, gap=0.003, rate=-0.3, slide=slide, spread=0.03, load=0.16 * SHARE, force=0.0,
                covariance=np.eye(1) * SHARE**2,
            )[0, 0]  # fmt: skip
    assert found[2.0] < CONFIG.open_below < CONFIG.close_above < found[0.0]


@settings(deadline=None, max_examples=60)
@given(st.floats(-0.05, 0.05), st.floats(0.0, 0.05))
def test_velocities_that_are_noise_say_nothing(rate, slide):
    config = Belief(1).settings

    def says(noise):
        out = np.zeros(3)
        quiet = {"gap_sigmas": 1e6, "load": 0.0, "touching": 0}  # nothing but velocities speaks
        still = evidence(1, rate=0.0, slide=0.0, rate_sigmas=1e200, **quiet)
        likelihoods.single_likelihoods(0, config, still, np.zeros(1), force_memory(1), out)
        nothing = out.copy()
        moving = evidence(1, rate=rate, slide=slide, rate_sigmas=noise, **quiet)
        likelihoods.single_likelihoods(0, config, moving, np.zeros(1), force_memory(1), out)
        return float(np.abs(out - nothing).max())

    found = [says(noise) for noise in (2.0, 20.0, 200.0)]  # m/s
    assert found == sorted(found, reverse=True) and found[0] < 0.5 and found[-1] < 1e-3


@settings(deadline=None, max_examples=60)
@given(st.floats(0.02, 2.0), st.booleans())
def test_what_stands_is_not_opened_by_sinking_and_is_by_rising(speed, rises):
    config = Belief(1).settings

    def closed(rate, stood, noise=0.02):
        out = np.zeros(3)
        state = evidence(1, rate=rate, stood=stood, touching=0, rate_sigmas=noise)
        likelihoods.single_likelihoods(0, config, state, np.zeros(1), force_memory(1), out)
        return out[1] - out[0]

    rate = speed if rises else -speed
    assert closed(speed, 0) <= closed(-speed, 0)  # what sinks may do so in the ground
    if rises:  # what does not stand may be held: the same velocity says that much less
        nothing = closed(rate, 1, 200.0)  # m/s of noise
        quick = likelihoods.effective(1e-3, False, config.velocity_correlation)
        held = held_feet.held_still((closed(rate, 1) - nothing) / quick)
        assert closed(rate, 0) <= nothing + quick * held + 1e-9
    else:
        assert closed(rate, 1) == max(closed(rate, 0), closed(rate, 1)) and closed(rate, 1) >= closed(-1e9, 1) > -1e-9


def test_what_stood_and_is_still_counts_as_standing_and_a_foot_that_is_still_in_the_air_may_be_held():
    config = Belief(1).settings
    stood, held = np.zeros(3), np.zeros(3)
    still = {"gap": 0.1, "rate": 0.0, "slide": 0.0, "touching": 0}
    likelihoods.single_likelihoods(0, config, evidence(1, stood=1, **still), np.zeros(1), force_memory(1), stood)
    likelihoods.single_likelihoods(0, config, evidence(1, stood=0, **still), np.zeros(1), force_memory(1), held)
    assert held[1] < stood[1] - 1.0 and held[2] < stood[2]


@pytest.mark.parametrize("often", [200.0, 500.0, 1000.0])
def test_without_forces_a_foot_that_is_held_still_is_open_where_it_is_above_the_ground_and_closed_on_it(often):
    """That it is still is one witness and not a hundred, and so its height decides."""
    for gap, closes in ((0.03, False), (0.02, False), (0.0, True)):
        belief, p = Belief(1), 0.0
        for k in range(round(0.6 * often)):
            speed = 0.5 * max(1.0 - k / often / 0.2, 0.0)  # m/s: it comes to rest within 0.2 s
            p = belief.step(
                dt=1.0 / often, gap=gap, rate=speed, slide=speed, stood=int(p > 0.6), trusted=False, observed=False,
                touching=0, load=0.0,
            )[0, 0]  # fmt: skip
            assert closes or p < 0.6
        assert (p > 0.95) if closes else (p < 0.1)


@settings(deadline=None, max_examples=100)
@given(st.floats(0.0, 1.0), st.floats(-1e6, 1e6), st.floats(0.0, 0.1))
def test_what_is_learned_of_a_foot_that_is_held_stays_a_probability_whatever_its_velocity_says(before, log, dt):
    held = np.array([before])
    for _ in range(3):
        said = held_feet.learn_held(0, dt, log, held)
        assert math.isfinite(said) and 0.0 <= held[0] <= 1.0
        assert min(log, 0.0, -held_feet.MOST) - 1e-9 <= said <= max(min(log, held_feet.MOST), 0.0) + 1e-9


@settings(deadline=None, max_examples=100)
@given(st.floats(0.0, 1.0), st.floats(0.0, 1.0), st.floats(0.05, 5.0), st.floats(-3.0, 3.0))
def test_the_published_probability_rises_with_the_belief_and_stays_a_probability(a, b, slope, offset):
    p, q = (calibrated(slope, offset, x) for x in sorted((a, b)))
    assert 0.0 <= p <= q <= 1.0
    assert calibrated(1.0, 0.0, a) == a
    if 1e-6 < a < 1.0 - 1e-6:
        logit = math.log(a) - math.log1p(-a)
        assert calibrated(slope, offset, a) == pytest.approx(1.0 / (1.0 + math.exp(-offset - slope * logit)), rel=1e-9)


def courses(beliefs, dt=0.001):
    """What ``belief_course`` says of each of these beliefs in one contact."""
    slow = np.full(1, np.inf)
    return [belief_course(dt, k == 0, p, 0, slow) for k, p in enumerate(beliefs)]


def test_a_belief_that_rises_is_told_from_one_that_falls_and_from_one_that_stays():
    assert courses([0.3] * 20) == [0.0] * 20
    up = courses([0.001] * 20 + [0.01, 0.1, 0.5])
    down = courses([0.999] * 20 + [0.99, 0.9, 0.5])
    assert up[20:] == sorted(up[20:]) and up[-1] > 0.7
    np.testing.assert_allclose(up, -np.array(down), atol=1e-9)


def test_a_course_is_forgotten_within_its_time_and_not_within_a_burst_of_states():
    rose = [0.001] * 20 + [0.5]
    assert courses(rose + [0.5] * 30)[-1] < 0.05
    slow = np.full(1, np.inf)
    for k, p in enumerate(rose):
        last = belief_course(0.001, k == 0, p, 0, slow)
    for _ in range(30):  # states of nearly the same stamp
        last = belief_course(1e-6, False, 0.5, 0, slow)
    assert last > 0.7


def test_a_certain_belief_has_a_finite_course():
    for p in (0.0, 1.0):
        found = courses([0.5, p, 0.5, 1.0 - p])
        assert np.all(np.isfinite(found)) and np.all(np.abs(found) <= 1.0)


def test_where_the_tracker_decides_its_status_moves_the_probability_and_never_to_certainty():
    record = belief_record(["a", "b", "c", "d"], 18)
    record.probability[:, 0] = 0.3, 0.3, 0.0, 1.0
    codes, truths = np.zeros((CODES, 4), np.uint8), np.zeros((2, 4), bool)
    out = PredictionOut(np.zeros((VECTORS, 4, 3)), np.zeros((NUMBERS, 4)), codes, truths)
    status, gap, sigmas = np.array([1, 0, 1, 0], np.uint8), np.zeros(4), np.full(4, 0.003)
    heed_tracker(np.full(4, 0.006), status, np.zeros(4), gap, sigmas, np.zeros((4, 3)), record, out)
    found = out.numbers[PROBABILITY].copy()
    assert found[0] > 0.5 > 0.3 > found[1] > 0.05
    assert found[0] / (1 - found[0]) * found[1] / (1 - found[1]) == pytest.approx((0.3 / 0.7) ** 2)
    assert found[2] == 0.0 and found[3] == 1.0  # what is ruled out stays so
    heed_tracker(np.full(4, 0.006), status, np.array([1.0, 0.5, 1.0, 1.0]), gap, sigmas, np.zeros((4, 3)), record, out)
    loaded = out.numbers[PROBABILITY]  # and the more, the more the efforts are believed that it goes by
    assert loaded[0] > 0.9 > found[0] and 0.0 < loaded[1] < found[1]
