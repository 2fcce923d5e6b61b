"""Landings before their first touch, while some contacts have touched, and after all have."""

import numpy as np
import pytest

from helpers.bodies import NO_DEADLINE, block, same_bits
from helpers.landing_blocks import EFFORT, SURE, falling, held
from hybrid_contact_ros.codes import LandingPhase
from hybrid_contact_ros.mechanics.state import RobotState

MS = 1_000_000
FLAT = 0.05  # m, height of the block on the ground


def level(height: float, speed: float, stamp: int) -> RobotState:
    """The block, all corners so high above the ground (m), moving up with a speed (m/s)."""
    q = np.array([0, 0, FLAT + height, 0, 0, 0, 1.0])
    return RobotState(stamp, q, np.array([0, 0, speed, 0, 0, 0]), EFFORT)


def landed(thing, fall: int = 6):
    """The block comes down with 1 m/s and lies; returns the set before the touch."""
    for k in range(fall):
        thing.update(level(0.001 * (fall - k) - 0.0005, -1.0, k * MS))
    before = thing.next_impact()
    thing.update(level(0.0, 0.0, fall * MS))
    return before


def test_after_the_touch_the_set_is_the_one_foreseen_and_complete_until_the_window_ends():
    thing = block(**NO_DEADLINE, activation=SURE)
    before = landed(thing)
    assert before.phase == LandingPhase.BEFORE and before.time_to_impact > 0.0
    for k in range(6, 16):
        found = thing.next_impact()
        assert found.phase == LandingPhase.COMPLETE and found.stamp_ns == k * MS
        assert found.contacts.tolist() == [0, 1, 2, 3] and found.after_each == ()
        assert same_bits(found.velocities, before.velocities) and same_bits(found.velocity_minus, before.velocity_minus)
        passed = 0.001 * (k - 5)
        assert found.time_to_impact == pytest.approx(before.time_to_impact - passed)
        assert (found.earliest, found.latest) == pytest.approx((before.earliest - passed, before.latest - passed))
        thing.update(level(0.0, 0.0, (k + 1) * MS))
    thing.update(level(0.0, 0.0, 17 * MS))
    assert thing.next_impact() is None


def test_who_asks_late_gets_the_same_set():
    asked, silent = (block(**NO_DEADLINE, activation=SURE) for _ in range(2))
    landed(asked)
    for k in range(6):
        level_state = level(0.001 * (6 - k) - 0.0005, -1.0, k * MS)
        silent.update(level_state)
    silent.update(level(0.0, 0.0, 6 * MS))
    for thing in (asked, silent):
        thing.update(level(0.0, 0.0, 7 * MS))
    assert same_bits(asked.next_impact(), silent.next_impact())


def test_a_reset_forgets_the_landing():
    thing = block(**NO_DEADLINE, activation=SURE)
    landed(thing)
    thing.reset()
    thing.update(level(0.0, 0.0, 7 * MS))
    assert thing.next_impact() is None


def test_a_landing_that_nobody_foresaw_has_no_set():
    thing = block(**NO_DEADLINE, activation=SURE)
    thing.update(level(0.2, 0.0, 0))
    thing.update(level(0.0, 0.0, MS))
    assert thing.next_impact() is None


def test_a_cluster_is_incomplete_until_its_last_contact_has_touched():
    thing = block(**NO_DEADLINE, activation=SURE | {"gap_sigma": 0.004})
    found = []
    for k in range(11):
        thing.update(falling(0.01 - 0.001 * k, k * MS))
        found.append(thing.next_impact())
    assert {one.phase for one in found[:9]} == {LandingPhase.BEFORE}
    for k in range(11, 14):
        thing.update(held(k * MS))
        now = thing.next_impact()
        every = (*now.after_each, now)
        under_way = [one for one in every if one.time_to_impact < 0.0 and one.contacts.size == 4]
        assert {one.phase for one in under_way} <= {LandingPhase.INCOMPLETE}
        found += under_way
    assert found[-1].phase == LandingPhase.INCOMPLETE
    for k in range(14, 17):  # the upper edge is down
        thing.update(level(0.0, 0.0, k * MS))
    now = thing.next_impact()
    assert now.phase == LandingPhase.COMPLETE and now.contacts.tolist() == [0, 1, 2, 3]
