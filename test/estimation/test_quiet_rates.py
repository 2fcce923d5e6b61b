"""How still a contact is while it rests, learned from its rates: what tells a foot that leaves slowly."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest

from helpers.belief import Belief
from hybrid_contact_ros.kernels.estimation.unrest import (
    CLOSED_FOR,
    QUIET,
    UNREST_COLUMNS,
    note_unrest,
    quiet_rates,
)

DT, SIGMA, REST = 0.002, 0.02, 0.02  # s, m/s, m/s


def rested(rates: np.ndarray, standing: float = 1.0, weight: float = 0.0) -> np.ndarray:
    """The memory (1, UNREST_COLUMNS) of a contact that stood with these rates."""
    return followed(rates, standing, weight)[0]


def followed(rates: np.ndarray, standing: float, weight: float) -> tuple[np.ndarray, float]:
    """That memory, and the rate up to which nothing opens the contact, m/s."""
    memory = SimpleNamespace(
        unrest=np.zeros((1, UNREST_COLUMNS)), entry=[0], standing=[standing], stance_height=np.zeros(1)
    )
    tracker, settings = SimpleNamespace(closed=[1]), SimpleNamespace(velocity_tolerance=0.1)
    for rate in rates:
        here = SimpleNamespace(gap_velocity=[rate], velocity_sigmas=[0.0])
        problem, ahead = SimpleNamespace(gap=[0.0]), SimpleNamespace(rate_offs=[0.0])
        note_unrest.py_func(0, settings, DT, weight, 0.0, problem, here, tracker, memory, ahead)
    return memory.unrest, ahead.rate_offs[0]


def quiet(unrest: np.ndarray, rate: float = 0.02, weight: float = 0.0) -> float:
    found = np.full(1, np.nan)
    quiet_rates(REST, np.array([weight]), np.array([rate]), np.full(1, SIGMA), unrest, found)
    return float(found[0])


@pytest.mark.parametrize("sigma", [0.008, 0.02])
def test_four_of_five_rates_of_a_contact_that_rests_are_below_what_is_learned(sigma):
    rates = np.random.default_rng(3).normal(0.0, sigma, 6000)
    found = rested(rates)[0, QUIET]
    assert 0.7 < np.mean(np.abs(rates) < found) < 0.9


def test_the_end_of_a_stance_is_a_small_part_of_it():
    """The rates of feet that leave, 15 ms of each 0.3 s, do not become those of rest."""
    stride = np.concatenate((np.full(142, 0.002), np.linspace(0.01, 0.12, 8)))
    assert rested(np.tile(stride, 30))[0, QUIET] < 0.01


def test_a_contact_that_is_stiller_than_configured_has_less_noise():
    still = rested(np.full(3000, 0.001))
    assert 0.8 * (SIGMA**2 + REST**2) < quiet(still) < SIGMA**2 + REST**2
    assert quiet(rested(np.random.default_rng(3).normal(0.0, 0.05, 6000))) == 0.0  # never more noise than configured


def test_rest_tells_nothing_of_feet_that_come_down_or_have_landed_or_whose_forces_are_known():
    still = rested(np.full(3000, 0.001))
    assert quiet(still, rate=-0.02) == 0.0 == quiet(still, weight=1.0)
    assert quiet(np.zeros((1, UNREST_COLUMNS))) == 0.0
    still[0, CLOSED_FOR] = 0.03
    assert quiet(still) == 0.0
    still[0, CLOSED_FOR] = 0.0  # it has been opened
    assert quiet(still) > 0.0


def test_a_foot_that_leaves_slowly_is_open_earlier_where_it_was_still_before():
    rates = np.concatenate((np.zeros(100), np.arange(40) * DT * 2.5))  # m/s: 2.5 m/s²
    gaps, opened = np.cumsum(rates) * DT, []
    for less in (0.0, 0.9 * (SIGMA**2 + REST**2)):
        belief = Belief(1)
        course = [
            belief.step(dt=DT, trusted=False, observed=False, gap=gap, own=0.001, rate=rate, quiet=less, stood=1)[0, 0]
            for gap, rate in zip(gaps, rates, strict=True)
        ]
        opened.append(int(np.flatnonzero(np.array(course) < 0.4)[0]) - 100)
    assert opened[1] * DT < 0.6 * opened[0] * DT


def test_a_foot_that_rises_is_open_however_much_it_shook_along_the_surface():
    """The noise along the surface is none of a gap whose own rates were still."""
    shakes, still = 0.05**2, 0.9 * (SIGMA**2 + REST**2)  # (m/s)²
    told = {}
    for less in (0.0, still):
        belief = Belief(1)
        for _ in range(20):
            state = {"gap": 0.0, "own": 0.001, "rate": 0.1, "spread": shakes, "quiet": less, "stood": 1}
            told[less] = belief.step(dt=DT, trusted=False, observed=False, **state)[0, 0]
    assert told[still] < 0.1 < 0.5 < told[0.0]


def test_a_sole_is_opened_by_rates_that_are_small_but_many_times_those_of_its_rest():
    """The tracker decides for soles: without forces they were open once they rose at 0.1 m/s."""
    still, shakes = np.full(3000, 0.001), np.random.default_rng(3).normal(0.0, 0.03, 3000)
    assert followed(still, 1.0, weight=0.0)[1] < 0.05
    assert followed(still, 1.0, weight=1.0)[1] == 0.1  # m/s: forces tell
    assert followed(shakes, 1.0, weight=0.0)[1] >= 0.05
    assert followed(still[:20], 1.0, weight=0.0)[1] == 0.1  # it has just landed
