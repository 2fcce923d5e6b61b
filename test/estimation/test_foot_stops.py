"""Feet that something has stopped: an impact is told from a leg that slows down, wherever the ground is."""

from __future__ import annotations

import numpy as np
import pytest

from hybrid_contact_ros.estimation.effort_trust import KEPT, RateNoise
from hybrid_contact_ros.estimation.ground import foot_stops
from hybrid_contact_ros.kernels.estimation.foot_stops import doubt_efforts, hold_stopped
from hybrid_contact_ros.kernels.estimation.rate_noise import learn_rate_noise

GAP_ON, GAP_OFF, GAP_SIGMA, RATE_SIGMA = 0.003, 0.008, 0.001, 0.02


def follow(heights, step=0.001, weight=0.0, believed=False, closed=False, noise=0.0, entry=-1, known=True):
    """Show one contact a series of measured gaps, m. Returns which states held it stopped, the gaps that are told, the
    weights of its efforts, and the memory. ``closed``: of each state, or of all."""
    rng = np.random.default_rng(3)
    stops, rates = foot_stops(1), RateNoise(np.zeros((KEPT, 1)), np.zeros(KEPT), np.zeros(2, np.int64), np.zeros(1))
    heights = np.asarray(heights, dtype=float)
    speeds = np.gradient(heights, step) + noise * rng.normal(size=heights.size)
    held, told, weights = [], [], []
    closed = np.broadcast_to(closed, heights.shape)
    for k, (height, speed) in enumerate(zip(heights, speeds, strict=True)):
        dt, first, rate = (0.0, True, np.array([speed])) if k == 0 else (step, False, np.array([speed]))
        learn_rate_noise(dt, rate, rates)
        gap, shift, variance, trust = np.array([height]), np.zeros(1), np.array([1e-6]), np.array([weight])
        doubt_efforts(stops.stop_doubted, trust)
        offs = np.array([0.1]), np.array([GAP_OFF])
        sigmas = np.array([GAP_SIGMA]), np.array([RATE_SIGMA])
        hold_stopped(
            first, dt, known, believed, trust, np.array([closed[k]], np.uint8), GAP_ON, GAP_OFF, GAP_SIGMA, RATE_SIGMA,
            np.zeros(1, np.int64), np.zeros(1, np.int64), np.array([entry]), rate, rates, stops, gap, shift, variance,
            *offs, *sigmas,
        )  # fmt: skip
        assert gap[0] + shift[0] == pytest.approx(height, abs=1e-12)  # only the ground moves
        held.append(stops.stop_since[0] >= 0.0)
        told.append(gap[0])
        weights.append(trust[0])
    return np.array(held), np.array(told), np.array(weights), stops


def landing(ground=0.0, speed=1.0, fall=0.06, stopping=0.004, rest=0.06, step=0.001):
    """Heights of a foot that falls at a speed and is stopped at ``ground`` in a time, evenly."""
    t = np.arange(0.0, fall + stopping + rest, step)
    v = np.interp(t, [0.0, fall, fall + stopping], [-speed, -speed, 0.0])
    heights = np.concatenate(([0.0], np.cumsum(0.5 * (v[1:] + v[:-1]) * step)))
    return heights - heights[-1] + ground, round(fall / step), round((fall + stopping) / step)


@pytest.mark.parametrize(("ground", "known"), [(-0.03, True), (0.0, True), (0.03, True), (-0.05, False), (0.05, False)])
@pytest.mark.parametrize(("step", "speed"), [(0.0005, 0.7), (0.001, 1.0), (0.001, 3.0), (0.002, 1.0)])
def test_a_foot_is_stopped_once_it_has_landed_wherever_the_ground_is(ground, known, step, speed):
    heights, before, after = landing(ground, speed, step=step)
    held, told, _, _ = follow(heights, step, known=known)
    assert not held[: before + 1].any()
    assert held[after + 2 :].all()
    assert np.abs(told[after + 2 :]).max() < 0.002


@pytest.mark.parametrize("speed", [0.3, 1.0, 1.5])
def test_a_leg_that_slows_down_by_itself_is_not_stopped(speed):
    heights, _, _ = landing(0.005, speed, stopping=0.06)
    assert not follow(heights)[0].any()


@pytest.mark.parametrize("brakes", [90.0, 120.0])
@pytest.mark.parametrize("lands", [0.1, 0.25])
def test_a_leg_that_brakes_hard_above_the_ground_is_not_stopped(brakes, lands):
    """A trot took 0.8 m/s off its feet within the last 10 ms before they were 4 mm over the ground, with a deceleration
    that grew evenly to 90 m/s²; they were told to stand there, for 20 ms until they landed."""
    time = np.arange(0.0, 0.03, 0.0025)
    slows = -lands + 0.5 * brakes / 0.03 * (time**2 - 0.03**2)
    rates = np.concatenate((np.full(40, slows[0]), slows, np.full(6, -lands), np.zeros(20)))
    heights = np.cumsum(rates) * 0.0025
    held = follow(heights - heights[-1], 0.0025)[0]
    assert not held[: 40 + slows.size + 6].any()


def test_a_foot_that_is_stopped_far_from_the_ground_touches_nothing():
    heights, _, _ = landing(0.2, 2.0)
    assert not follow(heights)[0].any()


@pytest.mark.parametrize("ground", [0.08, 0.12])
@pytest.mark.parametrize("known", [True, False])
def test_a_high_step_has_stopped_a_foot_that_rests_at_once(ground, known):
    """A step of 8 cm that nobody had stepped on was told 86 ms late, of a foot at rest."""
    heights, _, after = landing(ground, 1.0, rest=0.1)
    held, told, _, _ = follow(heights, known=known)
    assert not held[: after + 6].any() and held[after + 12 :].all()
    assert np.abs(told[after + 12 :]).max() < 0.001


@pytest.mark.parametrize("rises", [0.5, 0.2])
def test_a_foot_that_turns_round_high_above_the_ground_was_stopped_by_its_leg(rises):
    heights, _, after = landing(0.1, 1.0, rest=0.1)
    heights[after:] += rises * 0.001 * np.arange(heights.size - after)
    smooth, _, _ = landing(0.1, 1.0, stopping=0.04, rest=0.1)
    assert not follow(heights)[0].any() and not follow(smooth)[0].any()


def test_what_throws_a_foot_up_faster_than_it_fell_is_its_leg_and_no_ground():
    """A drive that switched kicked feet up by 3 mm just above the ground: these were called closed 12 ms early."""
    falls, falls_again = 0.0008 * np.arange(60, 0, -1), 0.0006 * np.arange(8)
    kicked = np.concatenate((falls, 0.006 - falls_again))  # within a millisecond
    bounced = np.concatenate((falls, 0.0006 * np.arange(3), 0.0012 - falls_again))
    assert not follow(kicked)[0].any()
    assert follow(bounced)[0].any()


def test_white_noise_of_the_rate_stops_nothing():
    for noise in (0.02, 0.1, 0.3):
        assert not follow(np.full(3000, 0.01), noise=noise)[0].any()


def test_states_that_follow_each_other_as_slowly_as_an_impact_tell_of_none():
    heights, _, _ = landing(0.0, 1.0, fall=0.2, stopping=0.01, rest=0.2, step=0.01)
    assert not follow(heights, 0.01)[0].any()


def test_a_foot_that_has_risen_is_let_go_and_one_that_rings_is_not():
    heights, _, after = landing(0.0, 2.0, rest=0.2)
    ring = heights.copy()
    n = np.arange(heights.size - after)
    ring[after:] += 0.004 * np.sin(2.0 * np.pi * 60.0 * 0.001 * n) * np.exp(-n / 30.0)
    assert follow(ring)[0][after + 2 :].all()
    rise = heights.copy()
    rise[after + 100 :] += 0.3 * 0.001 * np.arange(heights.size - after - 100)
    held = follow(rise)[0]
    let_go = after + 100 + round((GAP_OFF + 0.005) / 0.3 / 0.001)
    assert held[after + 2 : after + 100].all() and not held[let_go + 2 :].any()


@pytest.mark.parametrize("known", [True, False])
def test_a_foot_that_falls_on_was_not_stopped(known):
    """Legs of stiff drives shake, and a foot may leave an edge that it struck; soft ground gives way more slowly."""
    heights, _, after = landing(0.03, 2.0, rest=0.2)
    fall = heights.copy()
    fall[after + 10 :] -= 1.0 * 0.001 * np.arange(heights.size - after - 10)
    held = follow(fall, known=known)[0]
    let_go = after + 10 + round((GAP_OFF + 0.5 * 0.01 * 2.0) / 1.0 / 0.001)
    assert held[after + 2 : after + 10].all() and not held[let_go + 3 :].any()
    sinks = heights.copy()
    sinks[after + 10 :] -= 0.2 * 0.001 * np.arange(heights.size - after - 10)
    assert follow(sinks, known=known)[0][after + 2 :].all()


def test_trusted_efforts_are_heard_until_a_stop_contradicts_them():
    heights, _, after = landing(0.02, 1.0)
    _, told, weights, _ = follow(heights, weight=1.0, believed=True, closed=True)
    assert (weights == 1.0).all() and told[-1] == pytest.approx(0.02)
    _, told, weights, stops = follow(heights, weight=1.0, believed=True, closed=False)
    assert (weights[: after + 30] == 1.0).all()  # a force is not seen at once
    assert stops.stop_doubted[0] and weights[-1] == 0.0
    assert abs(told[-1]) < 0.002


def test_efforts_that_had_a_stopped_foot_carry_something_are_believed_when_they_say_that_it_lifts_off():
    heights, _, after = landing(0.02, 1.0, rest=0.12)
    carries = np.arange(heights.size) < after + 60
    _, told, weights, stops = follow(heights, weight=1.0, believed=True, closed=carries)
    assert (weights == 1.0).all() and stops.stop_doubted[0] != 1
    assert told[-1] == pytest.approx(0.02)


def test_a_contact_that_the_learned_ground_bears_is_left_to_it():
    heights, _, _ = landing(0.02, 1.0)
    _, told, _, _ = follow(heights, entry=0)
    np.testing.assert_allclose(told, heights)


def sole(front, rear, step=0.0005, plane=(0, 0), link=(0, 0)):
    """Which states hold the two points of a foot stopped, (n, 2), of which efforts do not explain the motion."""
    stops = foot_stops(2)
    rates = RateNoise(np.zeros((KEPT, 2)), np.zeros(KEPT), np.zeros(2, np.int64), np.zeros(2))
    heights = np.column_stack([front, rear])
    speeds, held = np.gradient(heights, step, axis=0), []
    for k, (height, rate) in enumerate(zip(heights, speeds, strict=True)):
        learn_rate_noise(step if k else 0.0, rate, rates)
        hold_stopped(
            k == 0, step if k else 0.0, True, False, np.zeros(2), np.zeros(2, np.uint8), GAP_ON, GAP_OFF, GAP_SIGMA,
            RATE_SIGMA, np.array(plane), np.array(link), np.full(2, -1), rate, rates, stops, height.copy(), np.zeros(2),
            np.full(2, 1e-6), np.full(2, 0.1), np.full(2, GAP_OFF), np.full(2, GAP_SIGMA), np.full(2, RATE_SIGMA),
        )  # fmt: skip
        held.append(stops.stop_since >= 0.0)
    return np.array(held)


def test_what_strikes_the_ground_with_one_edge_of_a_sole_stops_the_other_edge_that_is_in_the_air_and_does_not_touch():
    """Cassie: a toe whose rear is struck is stopped at its front, too, 30 to 55 mm up."""
    rear, _, after = landing(0.0, 2.5, rest=0.03, step=0.0005)
    front, _, _ = landing(0.035, 2.5, rest=0.03, step=0.0005)
    held = sole(front, rear)
    assert held[after + 4 :, 1].all() and not held[after + 4 :, 0].any()
    assert sole(front, rear, link=(0, 1))[after + 4 :].all()  # another foot, on a step
    assert sole(front, rear, plane=(0, 1), link=(0, 1))[after + 4 :].all()


def test_a_sole_that_lands_nearly_flat_is_stopped_at_both_of_its_edges():
    rear, _, after = landing(0.0, 2.5, rest=0.03, step=0.0005)
    front, _, _ = landing(0.015, 2.5, rest=0.03, step=0.0005)
    assert sole(front, rear)[after + 4 :].all()
