"""Where a foot touched: not where a load began to be seen, if it fell on faster after that."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import pytest

from hybrid_contact_ros.config import EstimatorConfig
from hybrid_contact_ros.estimation.ground import ground_settings, stance_memory
from hybrid_contact_ros.kernels.estimation.stance import follow_stance, note_travel

GAIN, DT = 100.0, 1e-3  # 1/s, s


class Given(NamedTuple):
    dt: float


class Problem(NamedTuple):
    gap: np.ndarray


class Here(NamedTuple):
    gap_velocity: np.ndarray
    contact_velocity: np.ndarray
    gap_sigmas: np.ndarray


class Tracker(NamedTuple):
    closed: np.ndarray


class Ahead(NamedTuple):
    under: np.ndarray
    solid_of: np.ndarray
    link_of: np.ndarray = np.zeros(1, np.int64)


def touched(gaps: np.ndarray, loaded: np.ndarray, closed: int = 1) -> tuple[float, float]:
    """Where a foot with these gaps (m) touched, and the lead of that, once it stands; 50 N press where ``loaded``, or
    those of ``loaded``, if it has numbers. ``closed``: whether it is believed to be closed before it stops."""
    memory = stance_memory(1)
    settings = ground_settings(EstimatorConfig().ground, 150.0, 4, False)
    rates = np.gradient(gaps, DT)
    for gap, rate, load in zip(gaps, rates, loaded, strict=True):
        memory.pressing[0] = load if loaded.dtype == float else 50.0 * bool(load)
        here = Here(np.array([rate]), np.array([[rate, 0.0, 0.0]]), np.array([1e-3]))
        if follow_stance(
            0, 1, GAIN, 0.0, settings, Given(DT), Problem(np.array([gap])), here,
            Tracker(np.array([closed or gap < 1e-4], np.uint8)),
            memory, Ahead(np.zeros((1, 3)), np.zeros(1, np.int64)),
        ):  # fmt: skip
            memory.entry[0] = 0  # it is in the map
    return float(memory.touched_height[0]), float(memory.touched_lead[0])


@pytest.mark.parametrize("early", [0.005, 0.02, 0.04])  # s, by which a load is seen before the touch
def test_a_foot_that_falls_on_faster_has_not_touched_where_a_load_was_seen(early):
    t = DT * np.arange(60)
    fall = 0.5 * 20.0 * (0.06**2 - t**2)  # 36 mm, from rest to 1.2 m/s
    gaps = np.concatenate((fall, np.zeros(200)))
    height, lead = touched(gaps, np.arange(gaps.size) * DT >= 0.06 - early)
    assert abs(height) < 0.005 and lead < 0.0


def slowed_down_swing() -> tuple[np.ndarray, np.ndarray]:
    """A foot that its leg lowers to the ground from 30 mm, ever more slowly, and then strikes it; and when it does."""
    t = DT * np.arange(90)
    swing = 0.33 * (0.09 - t) + 0.6 * (0.09 - t) ** 2  # m; from 0.44 to 0.33 m/s
    return np.concatenate((swing, np.zeros(200))), DT * np.arange(290) >= 0.09


@pytest.mark.parametrize("newtons", [16.0, 30.0])
def test_a_load_that_does_not_grow_while_an_open_foot_goes_down_was_an_error_and_no_soft_ground(newtons):
    """Efforts of a hexapod that did not quite explain the motion of its leg pressed on a foot 18 mm up, whose foothold
    was 21 mm too high."""
    gaps, strikes = slowed_down_swing()
    phantom = newtons * (1.0 - np.arange(gaps.size) * DT)
    height, _ = touched(gaps, np.where(strikes, 80.0, phantom), closed=0)
    assert abs(height) < 0.0025


def test_soft_ground_that_bears_more_the_deeper_an_open_foot_is_in_it_was_touched_at_its_surface():
    gaps, _ = slowed_down_swing()  # the surface is 20 mm up; 3 N a millimetre
    height, _ = touched(gaps, np.clip(3000.0 * (0.02 - gaps), 0.0, None), closed=0)
    assert 0.012 < height < 0.02


def test_a_foot_that_soft_ground_slows_down_has_touched_where_its_load_was_seen():
    t = DT * np.arange(60)
    fall = 1.0 * (0.06 - t)  # at 1 m/s
    sinking = -0.012 * (1.0 - np.exp(-t / 0.012))  # begins with 1 m/s, and ends 12 mm deeper
    gaps = np.concatenate((fall, sinking, np.full(200, sinking[-1])))
    height, lead = touched(gaps, np.arange(gaps.size) * DT >= 0.065)
    assert -0.006 < height < 0.0 and lead > 0.0


def test_a_foot_that_sinks_deeper_as_its_load_grows_has_touched_where_it_did():
    """It sinks by 18 mm from 0.15 to 0.25 s after it touched: that is not the base, which drifts by 3 mm in 0.2 s."""
    t = DT * np.arange(60)
    fall = 1.0 * (0.06 - t)
    pressed = -0.003 - 0.018 * np.clip((DT * np.arange(400) - 0.15) / 0.1, 0.0, 1.0)
    gaps = np.concatenate((fall, -0.003 * (1.0 - np.exp(-t / 0.003)), pressed))
    height, _ = touched(gaps, np.arange(gaps.size) * DT >= 0.065)
    assert -0.007 < height < 0.0


def test_where_a_foot_touched_goes_with_a_base_that_drifts():
    """The base seems to rise by 1 cm/s from 0.15 s of standing on."""
    t = DT * np.arange(60)
    drift = 0.01 * np.clip(DT * np.arange(1000) - 0.15, 0.0, None)
    gaps = np.concatenate((1.0 * (0.06 - t), drift))
    height, _ = touched(gaps, np.arange(gaps.size) * DT >= 0.065)
    assert height == pytest.approx(drift[-1], abs=0.002)


@pytest.mark.parametrize("speed", [0.02, 0.05, 0.2])  # m/s
def test_a_foot_that_is_lifted_slowly_forgets_how_far_the_base_moved_on_while_it_stood(speed):
    memory = stance_memory(1)
    settings = ground_settings(EstimatorConfig().ground, 150.0, 4, False)
    gaps = np.concatenate((np.zeros(200), speed * DT * np.arange(int(0.03 / (speed * DT)))))
    left = None
    for gap, rate in zip(gaps, np.gradient(gaps, DT), strict=True):
        here = Here(np.array([rate]), np.array([[rate, 0.0, 0.0]]), np.array([1e-3]))
        follow_stance(
            0, 0, GAIN, 0.0, settings, Given(DT), Problem(np.array([gap])), here,
            Tracker(np.ones(1, np.uint8)),
            memory, Ahead(np.zeros((1, 3)), np.zeros(1, np.int64)),
        )  # fmt: skip
        if memory.standing[0] > 0.1 and gap == 0.0:
            memory.entry[0], memory.travel[0] = 0, [0.05, 0.0, 0.0]  # it stands, and the base has moved on
        if left is None and memory.entry[0] < 0 and gap > 0.0:
            left = gap
    assert 0.0015 < left < 0.02
    assert not memory.travel.any()


def left(gaps: np.ndarray, depth: float = 0.0) -> float | None:
    """At which gap (m) a foot that pressed ``depth`` into the ground, and is called closed and seems to press all the
    while, does not stand any more."""
    memory = stance_memory(1)
    settings = ground_settings(EstimatorConfig().ground, 150.0, 4, False)
    memory.pressing[0] = 50.0
    for k, (gap, rate) in enumerate(zip(gaps, np.gradient(gaps, DT), strict=True)):
        here = Here(np.array([rate]), np.array([[rate, 0.0, 0.0]]), np.array([1e-3]))
        stands = follow_stance(
            0, 1, GAIN, 0.0, settings, Given(DT), Problem(np.array([gap])), here, Tracker(np.ones(1, np.uint8)),
            memory, Ahead(np.zeros((1, 3)), np.zeros(1, np.int64)),
        )  # fmt: skip
        if k == 300:
            assert stands
            memory.entry[0], memory.touched_height[0], memory.touched_lead[0] = 0, memory.stance_height[0] + depth, 0.0
        elif k > 300 and memory.entry[0] < 0:
            return float(gap)
    return None


@pytest.mark.parametrize("speed", [0.1, 0.4, 1.2])  # m/s
def test_the_ground_does_not_follow_a_foot_up_that_seems_to_press_on(speed):
    """The observer lags, and late efforts more: the ground rose by 60 mm with the foot of a robot that galloped."""
    rising = speed * DT * np.arange(int(0.06 / (speed * DT)))
    assert left(np.concatenate((np.zeros(310), rising))) < 0.012
    assert left(np.concatenate((np.zeros(310), rising)), depth=0.02) > 0.02  # soft ground does, as far as it gave way


def test_a_base_that_drifts_lifts_no_foot_that_presses():
    gaps = np.concatenate((np.zeros(310), 0.01 * DT * np.arange(1000)))  # drifts by 1 cm/s
    assert left(gaps) is None


@pytest.mark.parametrize(("foot", "far"), [(0.0, 0.05), (0.025, 0.025), (0.05, 0.0), (0.2, 0.0)])  # m/s, m
def test_what_moves_as_fast_as_the_base_is_carried_by_it(foot, far):
    """A crane that lifts a robot at 0.05 m/s for a second leaves no foot behind."""
    memory = stance_memory(1)
    memory.point_velocity[0] = foot, 0.0, 0.0
    for _ in range(1000):
        note_travel(0, DT, True, np.array([0.0, 0.0, 0.05, 0.0, 0.0, 0.0]), memory)
    assert np.linalg.norm(memory.travel[0]) == pytest.approx(far, abs=1e-9)


@pytest.mark.parametrize(("newtons", "stands"), [(6.0, False), (14.0, True)])
def test_a_sole_stands_that_bears_twice_what_its_points_bear_at_least(newtons, stands):
    """Efforts that are wrong by 5 % of a robot on one leg lay that part of its weight on the sole that swings."""
    memory, m = stance_memory(4), 4
    settings = ground_settings(EstimatorConfig().ground, 280.0, 8, False)
    assert settings.least_load == pytest.approx(5.25)
    memory.pressing[:] = newtons
    here = Here(np.zeros(m), np.zeros((m, 3)), np.full(m, 1e-3))
    sole = Ahead(np.zeros((m, 3)), np.arange(m), np.zeros(m, np.int64))
    told = [
        follow_stance(
            0, 1, GAIN, 0.0, settings, Given(DT), Problem(np.full(m, 0.034)), here, Tracker(np.zeros(m, np.uint8)),
            memory, sole,
        )
        for _ in range(50)
    ]  # fmt: skip
    assert told[-1] == stands


@pytest.mark.parametrize(
    ("along", "other", "noise", "stands"),
    [(0.06, 0.002, 0.0, False), (0.06, 0.05, 0.0, True), (0.02, 0.0, 0.0, True), (0.06, 0.002, 0.1, True)],
    ids=["carried", "all feet move, as on a slope", "it creeps", "noise"],
)
def test_a_foot_that_alone_moves_along_the_surface_does_not_come_to_stand(along, other, noise, stands):
    """Without efforts: a REEM-C on one leg moved the other one forward at 5 cm/s, 48 mm up, and it "stood" there."""
    memory = stance_memory(2)
    settings = ground_settings(EstimatorConfig().ground, 150.0, 4, False)
    memory.entry[1], memory.point_velocity[1, 1] = 0, other
    place = np.zeros((2, 3))
    for _ in range(200):
        place[0, 0] += along * DT
        here = Here(np.zeros(2), np.array([[0.0, along, 0.0], [0.0, other, 0.0]]), np.full(2, 1e-3))
        found = follow_stance(
            0, 0, GAIN, noise, settings, Given(DT), Problem(np.zeros(2)), here, Tracker(np.zeros(2, np.uint8)), memory,
            Ahead(place, np.arange(2), np.arange(2)),
        )  # fmt: skip
    assert bool(found) == stands
