"""Events of a steady gait, foretold from its last strides."""

import numpy as np
import pytest

from hybrid_contact_ros.estimation.rhythm import StrideRhythm
from hybrid_contact_ros.prediction import Event, EventKind

TOUCHDOWN, LIFTOFF = EventKind.TOUCHDOWN, EventKind.LIFTOFF
LATE = 1_700_000_000  # s: a stamp of these days, of which float64 seconds keep a quarter of a microsecond


def tell(rhythm, kind, *times, contact=0):
    for time in times:
        ns = LATE * 10**9 + round(time * 1e9)
        rhythm.note(Event(ns, contact, kind, True, ns, ns, ns, 1.0))


def ahead(rhythm, kind, now, contact=0):
    return rhythm.ahead(LATE * 10**9 + round(now * 1e9))[contact, int(kind == LIFTOFF)]


def test_two_equal_strides_foretell_the_third():
    rhythm = StrideRhythm(2, 2.0)
    tell(rhythm, LIFTOFF, 1.0, 1.5)
    assert np.isinf(ahead(rhythm, LIFTOFF, 1.6)).all()
    tell(rhythm, LIFTOFF, 2.0)
    assert ahead(rhythm, LIFTOFF, 2.3) == pytest.approx([0.2, 0.198, 0.202], abs=1e-9)
    assert np.isinf(ahead(rhythm, TOUCHDOWN, 2.3)).all() and np.isinf(ahead(rhythm, LIFTOFF, 2.3, contact=1)).all()


def test_touchdowns_and_liftoffs_have_their_own_times():
    rhythm = StrideRhythm(1, 2.0)
    for k in range(3):
        tell(rhythm, TOUCHDOWN, 0.5 * k)
        tell(rhythm, LIFTOFF, 0.5 * k + 0.35)
    assert ahead(rhythm, TOUCHDOWN, 1.4)[0] == pytest.approx(0.1) and ahead(rhythm, LIFTOFF, 1.4)[0] == pytest.approx(
        0.45
    )


def test_a_stride_may_have_several_liftoffs():
    """A foot that skims the ground in every swing."""
    rhythm = StrideRhythm(1, 2.0)
    tell(rhythm, LIFTOFF, *(0.5 * k + part for k in range(3) for part in (0.0, 0.06, 0.2)))
    assert ahead(rhythm, LIFTOFF, 1.2)[0] == pytest.approx(0.3)
    tell(rhythm, LIFTOFF, 1.5)
    assert ahead(rhythm, LIFTOFF, 1.5)[0] == pytest.approx(0.06)


def test_an_event_that_does_not_come_is_gone_by_and_one_off_the_beat_ends_the_rhythm():
    rhythm = StrideRhythm(1, 2.0)
    tell(rhythm, LIFTOFF, 0.0, 0.5, 1.0)
    assert (ahead(rhythm, LIFTOFF, 1.6) < 0.0).all()
    tell(rhythm, LIFTOFF, 1.8)
    assert np.isinf(ahead(rhythm, LIFTOFF, 1.9)).all()
    tell(rhythm, LIFTOFF, 2.3, 2.8)
    assert ahead(rhythm, LIFTOFF, 2.9)[0] == pytest.approx(0.4)


def test_flicker_is_left_out_and_what_came_first_stays():
    steady, flickering = StrideRhythm(1, 2.0), StrideRhythm(1, 2.0)
    for k in range(4):
        for rhythm in (steady, flickering):
            tell(rhythm, LIFTOFF, 0.5 * k + 0.3)
            tell(rhythm, TOUCHDOWN, 0.5 * k + 0.45)
        for part in (0.0, 0.003 + 0.002 * k):
            tell(flickering, LIFTOFF, 0.5 * k + 0.452 + part)
            tell(flickering, TOUCHDOWN, 0.5 * k + 0.453 + part)
    for kind in (TOUCHDOWN, LIFTOFF):
        np.testing.assert_allclose(ahead(flickering, kind, 2.0), ahead(steady, kind, 2.0), atol=1e-9)


def test_bounds_hold_about_as_many_of_jittering_events_as_their_sigmas_say():
    rng = np.random.default_rng(0)
    rhythm = StrideRhythm(1, 2.0)
    inside = []
    for k in range(400):
        time = 0.5 * k + 0.003 * rng.normal()
        if k > 10:
            told = ahead(rhythm, LIFTOFF, time)
            inside.append(bool(told[1] <= 0.0 <= told[2]))
        tell(rhythm, LIFTOFF, time)
    assert np.mean(inside) > 0.93


def test_strides_that_have_nothing_in_common_foretell_nothing():
    rng = np.random.default_rng(1)
    rhythm = StrideRhythm(1, 2.0)
    told = 0
    for time in np.cumsum(rng.uniform(0.2, 1.5, 300)):
        told += bool(np.isfinite(ahead(rhythm, LIFTOFF, time)).any())
        tell(rhythm, LIFTOFF, time)
    assert told < 30


def test_reset_forgets():
    rhythm = StrideRhythm(1, 2.0)
    tell(rhythm, LIFTOFF, 0.0, 0.5, 1.0)
    rhythm.reset()
    assert np.isinf(ahead(rhythm, LIFTOFF, 1.2)).all()
