"""Absurd efforts: held for three states, by joint, and neither believed nor a reason to distrust."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hybrid_contact_ros.estimation.effort_spikes import EffortSpikes
from hybrid_contact_ros.mechanics.state import RobotState

SCALE = np.array([0.01, 0.01, 0.02, 0.0])  # of 100 N; levers of 1, 1 and 0.5 m, and a joint of no limb


def state(effort, stamp=0):
    return RobotState(stamp, np.zeros(4), np.zeros(4), None if effort is None else np.asarray(effort, float))


def passed(spikes, *efforts):
    """What becomes of efforts that come one after the other."""
    found = []
    for effort in efforts:
        given_state = state(effort)
        clean = spikes.cleaned(given_state)
        spikes.note(given_state, clean)
        found.append(None if clean.effort is None else clean.effort.tolist())
    return found


def test_a_spike_is_replaced_by_the_last_possible_effort_of_its_joint_alone():
    spikes = EffortSpikes(SCALE)
    assert passed(spikes, [1, 2, 3, 4], [5, 1e6, 6, 1e9], [7, 8, 9, 1]) == [[1, 2, 3, 4], [5, 2, 6, 1e9], [7, 8, 9, 1]]
    assert spikes.held == 1


def test_what_lasts_is_no_spike():
    spikes = EffortSpikes(SCALE)
    found = passed(spikes, [1, 1, 1, 1], *[[1e6, 0, 0, 0]] * 5)
    assert [effort[0] for effort in found] == [1, 1, 1, 1, 1e6, 1e6]


@pytest.mark.parametrize("first", [[], [None]], ids=["nothing", "unknown"])
def test_without_an_effort_before_it_a_spike_is_no_effort_at_all(first):
    spikes = EffortSpikes(SCALE)
    found = passed(spikes, *first, [1e7, 0, 0, 0], [1, 2, 3, 4], [1e7, 0, 0, 0])
    assert found[-3:] == [None, [1, 2, 3, 4], [1, 0, 0, 0]] and spikes.held == 2


def test_what_lasts_from_the_first_state_on_is_taken_after_three():
    assert passed(EffortSpikes(SCALE), *[[1e7, 0, 0, 0]] * 4) == [None, None, None, [1e7, 0, 0, 0]]


@given(st.lists(st.lists(st.floats(-500.0, 500.0), min_size=4, max_size=4), min_size=1, max_size=8))
def test_efforts_that_a_robot_may_have_are_not_touched(efforts):
    spikes = EffortSpikes(SCALE)
    assert passed(spikes, *efforts) == [list(map(float, effort)) for effort in efforts] and spikes.held == 0


@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_what_is_no_number_is_left_to_be_refused(bad):
    found = passed(EffortSpikes(SCALE), [1, 1, 1, 1], [bad, 0, 0, 0])
    assert not np.isfinite(found[1][0])


def test_an_arm_whose_drives_all_say_nothing_has_no_efforts_then():
    arm, leg = EffortSpikes(SCALE, held_up=True), EffortSpikes(SCALE)
    efforts = [[0, 0, 0, 0], [1, 2, 3, 4], *[[0, 0, 0, 0]] * 5, [0, 0, 1, 0], [1e7, 0, 0, 0]]
    expected = [efforts[0], efforts[1], *[None] * 5, efforts[7], [0, 0, 0, 0]]  # one that never had any may have none
    assert passed(arm, *efforts) == expected and arm.held == 6
    assert passed(leg, *efforts)[:8] == efforts[:8] and leg.held == 1


def test_it_may_be_forgotten():
    spikes = EffortSpikes(SCALE)
    passed(spikes, [1, 1, 1, 1], [1e6, 0, 0, 0])
    spikes.reset()
    assert passed(spikes, [1e6, 0, 0, 0]) == [None] and spikes.held == 1
