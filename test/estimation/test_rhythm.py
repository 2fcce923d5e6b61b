"""Events of a steady gait, foretold from its last strides."""

import numpy as np
import pytest

from helpers.steps import Log, Predictor
from hybrid_contact_ros.codes import EventKind
from hybrid_contact_ros.config import ActivationConfig, PredictionConfig
from hybrid_contact_ros.estimation.rhythm import StrideRhythm
from hybrid_contact_ros.kernels.estimation.event_rhythm import agree, not_yet
from hybrid_contact_ros.prediction import Event

TOUCHDOWN, LIFTOFF = EventKind.TOUCHDOWN, EventKind.LIFTOFF
LATE = 1_700_000_000  # s: a stamp of these days, of which float64 seconds keep a quarter of a microsecond


def tell(rhythm, kind, *times, contact=0):
    for time in times:
        ns = LATE * 10**9 + round(time * 1e9)
        rhythm.note(Event(ns, contact, kind, True, ns, ns, ns, 1.0))


def ahead(rhythm, kind, now, contact=0):
    stamp = LATE * 10**9 + round(now * 1e9)
    return (rhythm.due - rhythm.elapsed(stamp))[contact, int(kind == LIFTOFF)]


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


def test_bounds_hold_after_only_two_strides_too():
    """Two strides that happen to be equal to the millisecond do not say that a gait keeps time so well."""
    rng = np.random.default_rng(2)
    inside = []
    for _ in range(1500):
        rhythm = StrideRhythm(1, 2.0)
        times = 0.5 * np.arange(4) + 0.003 * rng.normal(size=4)
        tell(rhythm, LIFTOFF, *times[:3])
        told = ahead(rhythm, LIFTOFF, times[3])
        if np.isfinite(told).all():
            inside.append(bool(told[1] <= 0.0 <= told[2]))
    assert len(inside) > 1000 and np.mean(inside) > 0.9


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


def fused(other, found):
    other, found = np.array(other, dtype=np.float64), np.array(found, dtype=np.float64)
    return agree(other, found), found


def test_what_agrees_counts_by_its_bounds_and_what_does_not_leaves_the_extrapolation():
    alone, found = fused([0.05, 0.04, 0.06], [np.inf] * 3)
    assert alone and found.tolist() == [0.05, 0.04, 0.06]
    alone, found = fused([0.05, 0.04, 0.06], [0.02, 0.01, 0.03])
    assert not alone and found.tolist() == [0.02, 0.01, 0.03]
    alone, found = fused([0.05, 0.04, 0.06], [0.056, 0.046, 0.066])
    assert not alone and found[0] == pytest.approx(0.053)
    assert found[2] - found[0] > 0.01  # not narrower than either: their errors need not be independent
    _, found = fused([0.05, 0.01, 0.09], [0.04, 0.039, 0.041])
    assert found[0] == pytest.approx(0.04, abs=1e-4)


def test_an_extrapolation_that_may_miss_still_counts():
    """A foot that slows down near the ground has no latest time; 20 ms before it touches it is right to 2 ms."""
    _, found = fused([0.001, 0.0, 0.04], [0.02, 0.018, np.inf])
    assert abs(found[0] - 0.02) < 0.001 and found[2] >= 0.04
    _, found = fused([0.01, 0.0, 0.02], [0.0, 0.0, np.inf])
    assert found[0] == 0.0 and found[2] >= 0.02  # it may be there; or not, as both say


def test_a_beat_that_jitters_much_leaves_the_extrapolation_nearly_as_it_is():
    """On uneven ground, 50 ms ahead, errors of 6 ms became 25."""
    _, found = fused([0.02, 0.0, 0.07], [0.05, 0.03, 0.07])
    assert found[0] > 0.045 and found[2] - found[1] > 0.04


def test_what_is_due_and_has_not_come_is_still_ahead():
    out = np.zeros(3)
    not_yet(np.array([-0.01, -0.03, 0.01]), out)
    assert 0.0 < out[0] < 0.01 and out[1] == 0.0 and out[2] == 0.01
    not_yet(np.array([0.05, 0.04, 0.06]), out)
    assert out.tolist() == [0.05, 0.04, 0.06]
    for gone in ([-0.02, -0.03, -0.01], [np.inf] * 3):
        not_yet(np.array(gone), out)
        assert np.isinf(out).all()


def predicted(gap, rate, expected, closed=0):
    """(kind, backed, times) of one contact; ``expected`` of touchdown and liftoff."""
    predictor = Predictor(ActivationConfig(gap_sigma=1e-3, velocity_sigma=0.02), PredictionConfig())
    kind, times, backed = predictor.update(np.array([expected]), gap, rate, closed, load=40.0, margin=28.0)
    return kind, backed, times


def test_a_foot_that_is_still_too_far_up_does_not_touch_by_rhythm_alone():
    never = [np.inf] * 3
    kind, backed, times = predicted(0.05, 0.0, [[0.04, 0.03, 0.05], never])
    assert kind == TOUCHDOWN and backed == EventKind.NONE and times[0] == pytest.approx(0.04)
    assert predicted(0.05, 0.0, [[0.001, -0.008, 0.01], never])[0] == EventKind.NONE


def test_a_liftoff_by_rhythm_that_does_not_come_is_told_once():
    log, told = Log(), []
    rhythm = StrideRhythm(1, 2.0)
    tell(rhythm, LIFTOFF, *(0.5 * k + 0.004 * (-1) ** k for k in range(6)))
    for ms in range(2700, 3300):
        stamp = LATE * 10**9 + ms * 1_000_000
        expected = (rhythm.due - rhythm.elapsed(stamp))[0]
        kind, _, times = predicted(0.0, 0.0, expected, closed=1)
        told += log.update(stamp, 2, probability=1.0, kind=kind, times=times)
    assert [event.kind for event in told] == [LIFTOFF]
