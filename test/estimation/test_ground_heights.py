"""Heights of the ground elsewhere: of smooth ground by all footholds, of treads and blocks by the one that is alike."""

import numpy as np
import pytest

from hybrid_contact_ros.estimation.ground import ground_map
from hybrid_contact_ros.kernels.estimation.ground_heights import (
    fit,
    note_surprise,
    predict,
    predict_smooth,
)
from hybrid_contact_ros.kernels.estimation.ground_map import (
    FOOTHOLDS,
    NUMBERS,
    STEPPED,
    TIME,
    GroundSettings,
    add_foothold,
    forget,
)

SETTINGS = GroundSettings(
    True, False, 0.001, 0.001, 0.01, 0.0005, 0.0005, 0.12, 0.005, 0.001, 0.05, 0.012, 0.06, 1.0
)  # fmt: skip
GROUP, ROW = np.zeros(4, np.int64), np.zeros(FOOTHOLDS)
FEET = np.array([[0.25, 0.15, 0.0], [0.25, -0.15, 0.0], [-0.25, 0.15, 0.0], [-0.25, -0.15, 0.0]])
STRIDE, TREAD, RISE = 0.13, 0.28, 0.05  # m
AHEAD = np.array([1.0, 0.0, 0.0])


def climb(known, height, strides, start=0, noise=0.0, seed=0):
    """Each foot steps ``strides`` times, on ground of ``height(place)``; the errors of what was predicted, m."""
    rng, entry, errors = np.random.default_rng(seed), np.full(4, -1), []
    for stride in range(start, start + strides):
        for foot in (0, 3, 1, 2):
            place = FEET[foot] + STRIDE * stride * AHEAD
            known.map_numbers[TIME] += 0.1
            entry[foot] = -1
            expected, variance = predict(SETTINGS, GROUP, known, foot, place, ROW)
            found = height(place) + noise * rng.normal()
            if known.map_size[0]:
                note_surprise(
                    SETTINGS, GROUP, known, foot, place, found, found - expected, variance + 1e-8, ROW
                )  # fmt: skip
            add_foothold(GROUP, known, entry, foot, place, found, 1e-8)
            fit(SETTINGS, GROUP, known)
            errors.append(found - expected)
    return np.array(errors)


def fresh():
    known = ground_map()
    forget(SETTINGS, known)
    return known


def stairs(place):
    return RISE * np.floor(max(place[0] - 0.4, 0.0) / TREAD)


def blocks(place):
    i, j = np.floor(place[0] / 0.25), np.floor(place[1] / 0.25)
    return RISE * float((3 * i + 5 * j) % 4 < 2)


@pytest.mark.parametrize("ground", [stairs, blocks])
def test_a_tread_that_another_foot_has_touched_is_as_high_as_it_was_there(ground):
    """The hind feet follow the front ones: once steps are known, their treads are known to 2 mm and less, where the
    smooth ground errs by more than twice that."""
    known = fresh()
    climb(known, ground, 8)
    assert known.map_numbers[STEPPED] > 3.0
    right, smooth = [], []
    for stride in range(8, 20):
        for foot in (2, 3):
            place = FEET[foot] + STRIDE * stride * AHEAD
            right.append(abs(predict(SETTINGS, GROUP, known, foot, place, ROW)[0] - ground(place)))
            smooth.append(abs(predict_smooth(SETTINGS, GROUP, known, foot, place, ROW)[0] - ground(place)))
        climb(known, ground, 1, start=stride)
    assert np.median(right) < min(2e-3, 0.5 * np.median(smooth))


@pytest.mark.parametrize("noise", [0.0, 0.001])
@pytest.mark.parametrize(
    "ground",
    [
        lambda place: 0.0,
        lambda place: 0.01,
        lambda place: 0.17 * place[0],
        lambda place: 0.03 * np.sin(7.0 * place[0] + place[1]),
    ],
    ids=["level", "higher", "slope of 10 degrees", "hills"],
)
def test_smooth_ground_has_no_steps(ground, noise):
    known = fresh()
    climb(known, ground, 30, noise=noise)
    assert known.map_numbers[STEPPED] < 3.0


def test_after_the_stairs_a_slope_is_a_slope_again():
    """What speaks for steps fades with new footholds."""
    top = stairs(np.array([STRIDE * 12 + 0.25, 0.0, 0.0]))
    known = fresh()
    climb(known, stairs, 12)
    assert known.map_numbers[STEPPED] > 3.0
    errors = climb(known, lambda p: top + 0.17 * (p[0] - STRIDE * 12 - 0.25), 12, start=12)
    assert known.map_numbers[STEPPED] < 3.0
    assert np.abs(errors[-8:]).max() < 0.006


def test_what_is_forgotten_knows_of_no_steps():
    known = fresh()
    climb(known, stairs, 12)
    forget(SETTINGS, known)
    assert known.map_size[0] == 0 and known.map_numbers.shape == (NUMBERS,) and known.map_numbers[STEPPED] == 0.0


def test_a_single_foothold_says_less_the_further_it_is():
    known = fresh()
    climb(known, stairs, 12)
    last = FEET[0] + STRIDE * 11 * AHEAD
    spread = [predict(SETTINGS, GROUP, known, 0, last + d * AHEAD, ROW)[1] for d in (0.0, 0.05, 0.1, 0.2)]
    assert (np.diff(spread) > 0.0).all() and spread[0] < 0.005**2
