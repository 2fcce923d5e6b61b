"""When a touchdown that was detected happened: where the foot was struck (:mod:`.told_events`)."""

import numpy as np
import pytest

from helpers.steps import Log
from hybrid_contact_ros.codes import ContactStatus, EventKind

OPEN, STICKING = int(ContactStatus.OPEN), int(ContactStatus.STICKING)
PERIOD = 2_000_000
"""ns, between two states."""


def dated(touch, speed=0.6, doubted=1, closed=2, ground=0.0, period=PERIOD, softness=2e-3, noise=0.0, seed=0):
    """States after the one before the touch by which the detected touchdown is dated, and its bounds.

    The foot falls and touches ``touch`` states after state 0 (in 0 to 1); from then on its speed decays with
    ``softness``, s. The gap is over a ground that is thought to be ``ground`` (m) higher than it is. Evidence begins at
    state ``doubted``, and the contact is closed at ``closed``.
    """
    log, rng = Log(), np.random.default_rng(seed)
    dt = 1e-9 * period
    for k in range(-12, closed + 1):
        late = max((k - touch) * dt, 0.0)
        rate = -speed * np.exp(-late / softness) if softness else -speed * (late == 0.0)
        gap = (touch - k) * dt * speed if k <= touch else -speed * softness * (1.0 - np.exp(-late / softness))
        events = log.update(
            (k + 100) * period, STICKING if k >= closed else OPEN, gap=gap - ground + noise * rng.normal(),
            rate=rate, doubted=k >= doubted,
        )  # fmt: skip
        assert bool(events) == (k == closed)
    (event,) = events
    assert event.detected and event.kind == EventKind.TOUCHDOWN
    return [stamp / period - 100 for stamp in (event.time_ns, event.earliest_ns, event.latest_ns)]


@pytest.mark.parametrize("touch", [0.1, 0.3, 0.5, 0.7, 0.9])
def test_an_impact_whose_force_is_seen_a_state_late_is_dated_to_the_state_in_which_the_foot_was_struck(touch):
    time, earliest, latest = dated(touch, doubted=2, closed=3)
    assert time == pytest.approx(touch, abs=0.36)  # 1.5 by the evidence alone
    assert earliest <= touch <= latest and earliest <= time


@pytest.mark.parametrize("doubted", [-3, -2, -1, 0])
def test_evidence_of_a_noisy_gap_before_the_impact_does_not_date_the_touchdown_earlier(doubted):
    assert dated(0.5, doubted=doubted)[0] == pytest.approx(0.5, abs=0.26)


@pytest.mark.parametrize("ground", [-0.01, -0.002, 0.002, 0.01])
def test_a_ground_that_is_not_where_it_was_expected_moves_a_struck_foot_by_less_than_a_state(ground):
    assert dated(0.5, ground=ground)[0] == pytest.approx(0.5, abs=0.76)


def test_noise_of_the_gap_by_half_of_its_step_moves_a_touchdown_by_a_quarter_of_a_state():
    times = [dated(0.5, noise=0.0006, seed=seed)[0] for seed in range(60)]
    assert np.mean(times) == pytest.approx(0.5, abs=0.1)
    assert np.std(times) < 0.25


def test_a_leg_that_slows_its_foot_down_by_itself_strikes_nothing():
    """A foot that comes down with 15 m/s² against its fall, and touches without any impact."""
    log, dt = Log(), 1e-9 * PERIOD
    for k in range(20):
        fall = 0.6 - 15.0 * k * dt
        events = log.update((k + 1) * PERIOD, OPEN, gap=0.01 - 0.0002 * k, rate=-fall)
        assert not events
    log.update(21 * PERIOD, OPEN, gap=0.001, rate=-0.01)
    (event,) = log.update(22 * PERIOD, STICKING, gap=-0.001, rate=0.0, doubted=True)
    assert event.time_ns == 21.5 * PERIOD  # the zero of its gap


def test_noise_of_a_rate_is_no_impact():
    log = Log()
    for k in range(20):
        log.update((k + 1) * PERIOD, OPEN, gap=0.012 - 0.0006 * k, rate=-0.3 + 0.1 * (-1) ** k, rate_sigma=0.1)
    (event,) = log.update(21 * PERIOD, STICKING, gap=-0.0006, rate=-0.3, rate_sigma=0.1, doubted=True)
    assert event.time_ns == 20 * PERIOD + PERIOD // 2


def test_an_impact_that_closed_nothing_dates_no_later_touchdown():
    """A foot that hits a twig, falls on, and touches 40 ms later."""
    log = Log()
    log.update(PERIOD, OPEN, gap=0.02, rate=-0.6)
    log.update(2 * PERIOD, OPEN, gap=0.019, rate=-0.1)
    for k in range(3, 20):
        log.update(k * PERIOD, OPEN, gap=0.019 - 0.001 * (k - 2), rate=-0.5)
    (event,) = log.update(20 * PERIOD, STICKING, gap=-0.001, rate=-0.48, doubted=True)
    assert event.time_ns > 19 * PERIOD


def test_states_that_are_far_apart_show_no_impact():
    """At 20 Hz a foot that comes down at 3 m/s is still at the next state, and so would be one that its leg stopped."""
    period = 50_000_000
    log = Log()
    for k in range(4):
        log.update((k + 1) * period, OPEN, gap=0.5 - 0.15 * k, rate=-3.0)
    (event,) = log.update(5 * period, STICKING, gap=-0.02, rate=0.0, doubted=True)
    assert event.time_ns == pytest.approx(4 * period + period * 0.05 / 0.07, abs=2)
