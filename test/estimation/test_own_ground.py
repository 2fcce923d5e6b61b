"""The ground where a foot has stood is where it was: a foot that is lifted slowly above it is open, without efforts."""

from __future__ import annotations

import math

import numpy as np
import pytest

from hybrid_contact_ros.kernels.estimation.own_ground import known_surfaces, roughness
from hybrid_contact_ros.kernels.estimation.unrest import DOWN, UNREST_COLUMNS, UP

SIGMA = 0.006  # m


def footholds(*places, contacts=None):
    place = np.zeros((24, 3))
    place[: len(places)] = np.reshape(places, (-1, 3))
    contact = np.full(24, -1, np.int64)
    contact[: len(places)] = contacts if contacts is not None else 0
    return contact, place, np.array([len(places)], np.int64)


def surface(under, held=(), unrest=(0.0, 0.0), noise=0.0, contacts=None):
    found, rates = np.zeros(1), np.zeros((1, UNREST_COLUMNS))
    rates[0, UP], rates[0, DOWN] = unrest
    held = footholds(*held, contacts=contacts)
    known_surfaces(SIGMA, *held, np.array([under], dtype=float), rates, np.array([noise]), found)
    return found[0]


def test_nothing_is_known_where_the_foot_has_not_stood():
    assert surface((0, 0, 0)) == SIGMA
    assert surface((0, 0, 0), [(0, 0, 0)], contacts=[1]) == SIGMA  # where another one did
    assert surface((0.2, 0, 0), [(0, 0, 0)]) == pytest.approx(SIGMA)


def test_the_surface_is_known_at_the_own_foothold_and_less_so_further_away():
    away = [surface((x, 0, 0), [(0, 0, 0), (1, 0, 0)]) for x in (0.0, 0.01, 0.02, 0.04, 0.08)]
    assert away[0] == 0.0 and away == sorted(away) and away[2] == pytest.approx(SIGMA * math.sqrt(1 - math.exp(-0.5)))


def test_soft_ground_follows_a_foot_that_leaves_it_and_noise_of_rates_is_no_soft_ground():
    soft = surface((0, 0, 0), [(0, 0, 0)], unrest=(1e-3, 0.4e-3))
    assert soft == pytest.approx(0.1 * math.sqrt(0.8e-3))  # both ways, and the smaller of them
    assert surface((0, 0, 0), [(0, 0, 0)], unrest=(1.0, 0.0)) == 0.0  # what leaves goes up alone
    assert surface((0, 0, 0), [(0, 0, 0)], unrest=(1.0, 1.0)) == SIGMA  # no less is known than before
    assert surface((0, 0, 0), [(0, 0, 0)], unrest=(2e-4, 2e-4), noise=0.02) == 0.0


def test_roughness_is_a_part():
    held = footholds((0, 0, 0))
    parts = [roughness(0, np.array([x, 0.0, 0.0]), *held) for x in np.linspace(0, 0.5, 20)]
    assert parts[0] == 0.0 and max(parts) <= 1.0
