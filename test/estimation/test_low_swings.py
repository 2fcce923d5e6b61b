"""Feet that swing low, of robots whose efforts nobody measures: what leaves is not taken for noise, and where feet have
met the ground as expected, the next ground is expected there, too."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest

from helpers.quadruped import CONFIG, Gait, model, states, walk
from hybrid_contact_ros import ContactEstimator
from hybrid_contact_ros.codes import EventKind
from hybrid_contact_ros.estimator import Parts
from hybrid_contact_ros.kernels.estimation.belief_step import remember
from hybrid_contact_ros.kernels.estimation.ground_heights import height_sigma, note_miss
from hybrid_contact_ros.kernels.estimation.ground_map import MISSED, NEW, NUMBERS
from hybrid_contact_ros.kernels.estimation.unrest import UNREST_COLUMNS, note_unrest

DT = 0.001


def test_a_foot_that_swings_12_mm_over_the_ground_is_open_at_6_mm():
    """At the apex of a slow swing it stands still for an instant, and slides no faster than a foot that slips."""
    record, robot = walk(Gait(seconds=3.0, lift=0.012, speed=0.05, sway=0.05, stride=0.6, duty=0.6)), model()
    estimator, wrong, count = ContactEstimator(robot, CONFIG), 0, 0
    for time, state in zip(record.time, states(robot, record), strict=True):
        closed, gap = estimator.update(state, Parts.MODE).mode.closed, robot.problem(state).gap
        if time > 1.0:
            wrong, count = wrong + int(closed[gap > 0.006].sum()), count + int((gap > 0.006).sum())
    assert count > 500 and wrong <= 0.02 * count


@pytest.mark.parametrize(("missed", "expected"), [(0.0, 0.5), (0.5, 0.66), (1.0, 1.0), (3.0, 1.0)])
def test_the_height_is_as_certain_as_the_last_footholds_were_where_expected(missed, expected):
    """In parts of what is expected where nobody has stepped: twelve footholds, and four of that; never more."""
    ground = SimpleNamespace(map_numbers=np.zeros(NUMBERS))
    assert height_sigma(ground.map_numbers, 0.006) == 0.006
    for _ in range(30):
        note_miss.py_func(ground, 0.006 * missed)
    assert height_sigma(ground.map_numbers, 0.006) == pytest.approx(0.006 * expected, rel=0.01)


def test_ground_that_becomes_uneven_is_as_uncertain_again_after_a_few_steps():
    ground = SimpleNamespace(map_numbers=np.zeros(NUMBERS))
    for _ in range(30):
        note_miss.py_func(ground, 0.0)
    note_miss.py_func(ground, 0.02)
    assert height_sigma(ground.map_numbers, 0.006) > 0.0055
    assert ground.map_numbers[NEW] == pytest.approx(12.0) and ground.map_numbers[MISSED] == pytest.approx(0.0004)


@pytest.mark.parametrize(
    ("believed", "gap", "kept"), [(False, -0.036, False), (False, -0.005, True), (True, -0.036, True)]
)
def test_a_foot_that_is_open_deep_in_the_expected_ground_does_not_meet_it_now(believed, gap, kept):
    """Else it closes and opens in turns. Forces tell what deep ground is."""
    out = SimpleNamespace(codes=np.full((32, 1), EventKind.TOUCHDOWN, np.uint8))
    belief = SimpleNamespace(load=np.zeros(1), kind=np.zeros(1, np.uint8), times=np.ones((1, 3)))
    ahead = SimpleNamespace(event_times=np.zeros((1, 3)))
    remember.py_func(believed, False, np.array([0.003]), np.array([gap]), np.array([0.002]), ahead, belief, out)
    assert (belief.kind[0] == EventKind.TOUCHDOWN) == kept and not belief.times.any()


@pytest.mark.parametrize(("gap", "kept"), [(-0.001, False), (0.001, True)])
def test_a_tip_of_an_arm_that_is_open_below_its_table_does_not_meet_it_now_though_forces_tell(gap, kept):
    out = SimpleNamespace(codes=np.full((32, 1), EventKind.TOUCHDOWN, np.uint8))
    belief = SimpleNamespace(load=np.zeros(1), kind=np.zeros(1, np.uint8), times=np.ones((1, 3)))
    ahead = SimpleNamespace(event_times=np.zeros((1, 3)))
    remember.py_func(True, True, np.array([0.003]), np.array([gap]), np.array([0.002]), ahead, belief, out)
    assert (belief.kind[0] == EventKind.TOUCHDOWN) == kept


def rest(rates, heights, weight, age=1.0):
    """The deviation of the rate after a contact moved so while it was thought to be closed."""
    memory = SimpleNamespace(
        unrest=np.zeros((1, UNREST_COLUMNS)), entry=[0], standing=[age], stance_height=np.zeros(1)
    )  # fmt: skip
    memory.unrest[0, 3] = age
    tracker, settings = SimpleNamespace(closed=[1]), SimpleNamespace(velocity_tolerance=0.1)
    for rate, height in zip(rates, heights, strict=True):
        here = SimpleNamespace(gap_velocity=[rate], velocity_sigmas=[0.0])
        problem, ahead = SimpleNamespace(gap=[height]), SimpleNamespace(rate_offs=[0.0])
        note_unrest.py_func(0, settings, DT, weight, 0.0, problem, here, tracker, memory, ahead)
    return here.velocity_sigmas[0]


def test_noise_to_and_fro_is_unrest_whether_forces_are_known_or_not():
    rates = 0.1 * np.random.default_rng(0).normal(size=2000)
    for weight in (0.0, 1.0):
        assert rest(rates, np.zeros(2000), weight) == pytest.approx(0.1, rel=0.2)


@pytest.mark.parametrize("weight", [0.0, 1.0])
def test_a_foot_that_has_left_is_no_unrest_whatever_forces_say(weight):
    """Forces of wrong efforts hold a foot that has left, and its rate would hold it the longer at each later step."""
    up = np.full(100, 0.1)
    assert rest(up, np.cumsum(up) * DT, weight) == 0.0
    rates, heights = np.r_[up, -up], np.cumsum(np.r_[up, -up]) * DT  # 10 mm up, and down again: its last 2 mm count
    assert rest(rates, heights, weight) < 0.05


def test_soft_ground_that_gives_way_and_lifts_a_foot_is_unrest():
    rates = np.r_[np.full(60, -0.15), np.zeros(100), np.full(60, 0.15)]
    assert rest(rates, np.cumsum(rates) * DT, 0.0, age=0.06) > 0.05
