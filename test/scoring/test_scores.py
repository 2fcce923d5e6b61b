"""Scores of predictions whose worth is known by construction."""

from __future__ import annotations

import numpy as np
import pytest

from hybrid_contact_ros.codes import EventKind
from hybrid_contact_ros.scoring import scores

T = np.arange(0.0, 1.0, 0.001)


def clairvoyant(true_times, late: float = 0.0, horizon: float = 0.1):
    """Next event and time to it of one that knows, and is ``late`` by so much."""
    ahead = np.array(true_times)[None, :] + late - T[:, None]
    ahead[(ahead <= 0) | (ahead > horizon)] = np.inf
    time = ahead.min(axis=1)
    kind = np.where(np.isfinite(time), EventKind.TOUCHDOWN, EventKind.NONE).astype(np.uint8)
    return kind, np.where(np.isfinite(time), time, np.nan)


def test_f1_and_accuracy_of_a_table_by_hand():
    predicted = np.array([1, 1, 1, 0, 0, 0, 0, 0], bool)
    truth = np.array([1, 1, 0, 1, 0, 0, 0, 0], bool)
    c = scores.classify(predicted, truth)
    assert (c.true_positive, c.false_positive, c.false_negative, c.true_negative) == (2, 1, 1, 4)
    assert c.f1 == pytest.approx(2 / 3) and c.accuracy == 0.75 and c.precision == c.recall == pytest.approx(2 / 3)
    assert np.isnan(scores.classify(truth & False, truth & False).f1)


def test_the_truth_in_force_is_the_newest_not_later_and_not_too_old():
    truth = np.array([[False], [True]])
    values, known = scores.at_stamps(np.array([0.0, 0.1, 0.11, 0.2, 0.215, 0.3]), np.array([0.1, 0.2]), truth)
    assert known.tolist() == [False, True, True, True, True, False]
    assert values[known, 0].tolist() == [False, False, True, True]


def test_edges_are_stamped_with_the_first_sample_of_the_new_state():
    down, up = scores.edges(np.arange(6.0), np.array([0, 1, 1, 0, 1, 1], bool))
    assert (down.tolist(), up.tolist()) == ([1.0, 4.0], [3.0])


@pytest.mark.parametrize("horizon", [0.01, 0.02, 0.05])
@pytest.mark.parametrize("late", [-0.004, 0.0, 0.003])
def test_event_times_that_are_late_by_so_much_are_scored_as_that(horizon, late):
    true = np.array([0.3, 0.7])
    timing = scores.event_timing(T, *clairvoyant(true, late), true, EventKind.TOUCHDOWN, horizon)
    assert (timing.events, timing.missed, timing.false) == (2, 0, 0)
    np.testing.assert_allclose(timing.errors, late, atol=1e-9)
    assert timing.bias == pytest.approx(late, abs=1e-9) and timing.median == pytest.approx(abs(late), abs=1e-9)


def test_events_that_nobody_foresaw_are_missed_and_those_that_did_not_come_are_false():
    foreseen = clairvoyant([0.3, 0.5])
    timing = scores.event_timing(T, *foreseen, np.array([0.3, 0.8]), EventKind.TOUCHDOWN, 0.05)
    assert (timing.events, timing.missed, timing.false) == (2, 1, 1)


def test_an_event_before_there_were_predictions_is_not_asked_for():
    timing = scores.event_timing(T, *clairvoyant([0.02]), np.array([0.02]), EventKind.TOUCHDOWN, 0.05)
    assert (timing.events, timing.missed) == (0, 0) and np.isnan(timing.median)


def test_a_gap_in_the_predictions_before_an_event_is_not_held_against_them():
    keep = (T < 0.2) | (T > 0.29)
    kind, time = clairvoyant([0.3])
    timing = scores.event_timing(T[keep], kind[keep], time[keep], np.array([0.3]), EventKind.TOUCHDOWN, 0.05)
    assert timing.events == 0


def test_detection_delays_are_signed_and_nan_where_nothing_was_seen():
    closed = ((T >= 0.304) & (T < 0.5)) | (T >= 0.698)
    delays = scores.detection_delays(T, closed, np.array([0.3, 0.6, 0.7]))
    np.testing.assert_allclose(delays, [0.004, np.nan, -0.002], atol=1e-9)


def test_brier_score_and_calibration_of_honest_probabilities():
    rng = np.random.default_rng(0)
    p = rng.uniform(size=20000)
    truth = rng.uniform(size=p.size) < p
    assert scores.brier(p, truth) == pytest.approx(1 / 6, abs=0.01)  # E[p(1-p)] of uniform p
    table = scores.calibration(p, truth)
    assert len(table) == 10 and sum(b.count for b in table) == p.size
    assert all(abs(b.frequency - b.mean_probability) < 0.05 for b in table)
    assert scores.calibration(np.array([1.0]), np.array([True]))[0].low == 0.9


def test_containment_is_measured_in_the_kinetic_norm_relative_to_the_jump():
    mass = np.diag([4.0, 1.0])
    v_minus, v_plus = np.array([-1.0, 0.0]), np.array([0.0, 0.0])  # a jump of length 2
    outcomes = np.array([[0.1, 0.0], [0.0, 1.0]])
    c = scores.containment(outcomes, np.array([0.0, 0.5]), np.zeros(2), np.ones(2), v_minus, v_plus, mass)
    assert c.distance == pytest.approx(0.1) and c.nominal_distance == pytest.approx(0.25)
    assert not c.within(0.05) and c.within(0.15) and c.within_bounds
    assert c.radius == pytest.approx(0.5 * np.sqrt(4 * 0.1**2 + 1) / 2)


def test_without_a_jump_there_is_nothing_to_contain():
    zero = np.zeros(2)
    with pytest.raises(ValueError, match="does not jump"):
        scores.containment(np.zeros((1, 2)), zero, zero, zero, zero, zero, np.eye(2))
