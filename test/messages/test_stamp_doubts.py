"""Stamps in another unit of time are told by positions and velocities, and right ones are not."""

from dataclasses import replace

import numpy as np
import pytest

from helpers.quadruped import Gait, model, states, walk
from hybrid_contact_ros.messages.stamp_doubts import StampDoubts

MODEL = model()


def said(hz, factor, noise=0.0, seconds=6.0, change=lambda state: state):
    doubts, rng, found = StampDoubts(MODEL), np.random.default_rng(0), []
    for state in states(MODEL, walk(Gait(seconds=max(seconds, 250.0 / hz), hz=hz))):
        stamp = 10**9 + round(factor * (state.stamp_ns - 10**9))
        seen = replace(state, stamp_ns=stamp, v=state.v + noise * rng.normal(size=state.v.shape))
        found.append(doubts.add(change(seen)))
    return {words for words in found if words}


@pytest.mark.parametrize("noise", [0.0, 0.1])
@pytest.mark.parametrize("hz", [100.0, 500.0, 1000.0])
@pytest.mark.parametrize("factor", [1e3, 1e-3, 1e6])
def test_milliseconds_for_seconds_and_the_like_are_told(hz, factor, noise):
    found = said(hz, factor, noise)
    assert found
    for words in found:
        assert f"in {200.0 / hz * factor:.3g} s of the stamps" in words, words
        truly = float(words.split(" go in ")[1].split(" s:")[0])
        assert truly == pytest.approx(200.0 / hz, rel=0.3)


@pytest.mark.parametrize("hz", [3.0, 8.0, 100.0, 1000.0])
def test_right_stamps_are_not_doubted_however_seldom_they_come(hz):
    assert said(hz, 1.0) == set() and said(hz, 1.0, 0.1) == set()


def test_a_robot_that_stands_tells_nothing_of_its_stamps():
    def still(state):
        return replace(state, q=MODEL.neutral(), v=0.01 * state.v)

    assert said(500.0, 1e3, change=still) == set()


def test_what_was_told_is_forgotten_when_stamps_are_those_of_robots_again():
    doubts = StampDoubts(MODEL)
    wrong = states(MODEL, walk(Gait(seconds=1.0)))
    told = [doubts.add(replace(state, stamp_ns=1000 * state.stamp_ns)) for state in wrong]
    assert told[-1]
    assert doubts.add(replace(wrong[-1], stamp_ns=1000 * wrong[-1].stamp_ns + 2_000_000)) == ""
