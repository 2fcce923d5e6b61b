"""Where ground that gives way met a foot, of its motion alone."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hybrid_contact_ros.kernels.estimation.met_ground import (
    DEPTH,
    GIVES_WAY,
    HEIGHT,
    MET_COLUMNS,
    SINCE,
    below,
    follows,
    is_single,
    meet_ground,
)
from hybrid_contact_ros.kernels.estimation.rate_noise import KEPT, RateNoise, learn_rate_noise

DT = 0.002  # s
LANDS = 0.1  # s
SOFT = np.ones(1)


def landing(speed: float, brakes: float, depth: float, tail: float = 0.2) -> np.ndarray:
    """Heights (m) of a foot that lands at :data:`LANDS` with this speed (m/s), which its leg has slowed down by
    ``brakes`` (m/s²), and sinks in by ``depth`` (m), ever more slowly; it comes up by 1 mm within ``tail`` (s)."""
    t = np.arange(0.0, LANDS + tail, DT)
    falls = speed * (LANDS - t) + 0.5 * brakes * (LANDS - t) ** 2
    sinks = -depth * (1.0 - np.exp(-np.maximum(t - LANDS, 0.0) * speed / depth)) + 0.005 * np.maximum(t - LANDS, 0.0)
    return np.where(t < LANDS, falls, sinks)


def follow(heights: np.ndarray, noise=0.0, softness: np.ndarray = SOFT, closed=True) -> np.ndarray:
    """The memory (n, MET_COLUMNS) after each of the heights (m), with ``noise`` (m/s) of the rates."""
    rates = RateNoise(np.zeros((KEPT, 1)), np.zeros(KEPT), np.zeros(2, np.int64), np.zeros(1))
    rng, met, found = np.random.default_rng(0), np.full((1, MET_COLUMNS), -1.0), []
    speeds = np.gradient(heights, DT) + noise * rng.normal(size=heights.size)
    for height, rate, touches in zip(heights, speeds, np.broadcast_to(closed, heights.shape), strict=True):
        meet_ground(0, DT, height, rate, noise, touches, False, rates, met, softness)
        learn_rate_noise(DT, np.array([rate]), rates)
        found.append(met[0].copy())
    return np.array(found)


@given(speed=st.floats(0.4, 1.2), brakes=st.floats(0.0, 8.0), rigid=st.floats(60.0, 200.0))
def test_the_ground_is_where_the_foot_lost_speed_at_once_and_not_where_it_came_to_rest(speed, brakes, rigid):
    """``rigid``: m/s², with which the ground stops the foot at first."""
    depth = max(speed * speed / rigid, 0.004)
    met = follow(landing(speed, brakes, depth))
    at_rest = met[-1]
    assert at_rest[SINCE] > 0.0
    assert abs(at_rest[HEIGHT]) < speed * DT + 5e-4 and at_rest[DEPTH] > 0.8 * depth
    seen = np.flatnonzero(met[:, SINCE] >= 0.0)[0]
    assert LANDS - DT < seen * DT <= LANDS + 0.25 * depth / speed + 5 * DT


@pytest.mark.parametrize("speed", [0.7, 1.0])
def test_noise_of_encoders_moves_the_ground_by_millimetres_at_most(speed):
    assert abs(follow(landing(speed, 5.0, 0.01), 0.015)[-1, HEIGHT]) < speed * 2 * DT + 1e-3


@given(time=st.floats(0.1, 0.5), height=st.floats(0.02, 0.12))
def test_a_leg_that_puts_its_foot_down_smoothly_meets_nothing(time, height):
    """A course of minimum jerk: its acceleration changes by at most 60 h/T³ in a second."""
    s = np.arange(0.0, time + 0.1, DT) / time
    s = np.minimum(s, 1.0)
    met = follow(height * (1.0 - (10.0 * s**3 - 15.0 * s**4 + 6.0 * s**5)))
    assert (met[:, SINCE] < 0.0).all() or met[met[:, SINCE] >= 0.0, HEIGHT].max() < 0.12 * height


def test_what_falls_on_has_met_nothing():
    t = np.arange(0.0, 0.2, DT)
    heights = np.where(t < 0.05, 0.12 - 1.0 * t, 0.07 - 0.7 * (t - 0.05))  # it loses a third of its speed, and goes on
    met = follow(heights)
    assert (met[:, SINCE] >= 0.0).any() and met[-1, SINCE] < 0.0


def test_a_foot_that_has_left_the_ground_has_not_met_it():
    up = 0.4 * np.arange(0.0, 0.1, DT)
    heights = np.concatenate((landing(0.6, 0.0, 0.01), -0.009 + up))
    met = follow(heights)
    assert met[landing(0.6, 0.0, 0.01).size - 1, SINCE] > 0.0 and met[-1, SINCE] < 0.0


def test_ground_is_soft_where_feet_sink_in_more_often_than_not():
    """A leg that stops its foot in the air, and goes on, looks like soft ground, once."""
    softness = np.zeros(1)
    for depth, soft in [(0.01, False), (0.0005, False), (0.01, False), *[(0.01, True)] * 3]:
        met = follow(landing(0.6, 0.0, depth), softness=softness)
        assert (below(0, -0.5 * depth, met[-1:], softness) > 0.0) == soft, softness
        if depth < GIVES_WAY:
            assert met[-1, SINCE] < 0.0  # a foot that does not sink in needs no other ground
    before = softness[0]
    follow(landing(0.6, 0.0, 0.01), softness=softness, closed=False)
    assert softness[0] == before  # a foot in the air tells nothing


@pytest.mark.parametrize(("speed", "learned"), [(0.6, True), (2.4, False)])
def test_the_ground_of_a_foot_that_fell_fast_is_known_no_better_than_streams_agree(speed, learned):
    """A base that comes 3 ms after the joints seems to sink by 7 mm after a landing at 2.4 m/s."""
    softness = np.zeros(1)
    follow(landing(speed, 0.0, 0.008), softness=softness)
    assert (softness[0] > 0.0) == learned


def test_rates_tell_little_while_a_foot_sinks_in_and_comes_up():
    met = follow(landing(0.6, 0.0, 0.01))
    early, late = met[int(LANDS / DT) + 3][None], met[-1][None]
    assert follows(0, early[0, HEIGHT] - 0.001, False, early, SOFT) > 0.4  # m/s: as fast as it met the ground
    assert 0.15 < follows(0, -0.009, False, late, SOFT) < 0.3
    assert follows(0, 0.001, False, late, SOFT) == 0.0  # above the ground
    assert below(0, -0.009, late, SOFT) > 0.007
    assert below(0, -0.009, late, np.zeros(1)) < 0.0 == follows(0, -0.009, False, late, np.zeros(1))


@pytest.mark.parametrize(("depth", "speed"), [(-0.001, 0.0), (0.0, 0.0), (0.001, 0.1), (0.004, 0.4), (0.008, 0.0)])
def test_what_an_impact_pressed_in_of_a_foot_on_rigid_ground_springs_back_within_10_ms(depth, speed):
    """Rubber feet of 35 kg came up by 2 mm at 0.1 to 0.2 m/s, under 400 N, and were called open."""
    met = follow(landing(0.6, 0.0, 0.002))[int(LANDS / DT) + 3][None]
    height, rigid = met[0, HEIGHT] - depth, np.zeros(1)
    assert follows(0, height, True, met, rigid) == pytest.approx(speed)
    assert follows(0, height, False, met, rigid) == 0.0  # forces are known, or the foot is in the air
    met[0, SINCE] = -1.0
    assert follows(0, height, True, met, rigid) == 0.0


def test_soles_have_several_points():
    """One edge that strikes the ground slows the other one down in the air, which is no soft ground."""
    link_of = np.array([0, 0, 2])
    assert [bool(is_single(i, link_of)) for i in range(3)] == [False, False, True]


@pytest.mark.parametrize("above", [0.006, 0.02])
def test_where_a_leg_brakes_above_rigid_ground_is_no_ground_once_the_foot_has_landed(above):
    """A trot braked its feet to 0.2 m/s above the ground: they were taken to have met it there and to sink in, and the
    next feet were expected to land up to 41 mm too high."""
    t = np.arange(0.0, 0.06, DT)
    fast, slow = above + 0.9 * (0.06 - t), np.arange(above, 0.0, -0.2 * DT)
    softness = np.zeros(1)
    heights = np.concatenate((fast, slow, np.zeros(60)))
    for _ in range(8):
        met = follow(heights, softness=softness, closed=heights == 0.0)
    braked, landed = met[fast.size + 6], met[-1]
    assert braked[SINCE] > 0.0 and abs(braked[HEIGHT] - above) < 0.003  # so it looks until it lands
    assert softness[0] == 0.0 and (landed[SINCE] < 0.0 or abs(landed[HEIGHT]) < 1e-3)
