"""An arm learns where its table is from where it presses for certain, and unlearns what it moves through."""

from itertools import pairwise

import numpy as np
import pytest

from helpers.arms import ARMS, Arm

PRESSES = 60.0  # N


@pytest.mark.parametrize("name", ARMS)
@pytest.mark.parametrize("off", [-0.003, 0.003])
def test_a_table_that_is_3_mm_off_is_found_where_the_tip_presses(name, off):
    thing = Arm(name, off=off)
    assert thing.rest(0.1, seconds=0.1)[-1].ground_offset[0] == pytest.approx(0.0, abs=1e-6)
    mode = thing.rest(0.0, PRESSES, seconds=0.6)[-1]
    assert mode.closed[0] and mode.ground_offset[0] == pytest.approx(-off, abs=5e-4)
    assert mode.ground_sigma[0] < 1e-3
    after = thing.rest(0.005, seconds=0.3)[-1]
    assert not after.closed[0] and after.gap[0] == pytest.approx(0.005, abs=1e-3)


@pytest.mark.parametrize("name", ARMS)
def test_a_light_touch_and_a_force_far_above_the_table_teach_nothing(name):
    thing = Arm(name)
    thing.rest(0.1, seconds=0.1)
    assert thing.rest(0.002, 5.0, seconds=0.5)[-1].ground_offset[0] == pytest.approx(0.0, abs=1e-6)
    assert thing.rest(0.05, PRESSES, seconds=0.5)[-1].ground_offset[0] == pytest.approx(0.0, abs=1e-6)


def test_what_a_tip_goes_down_through_without_a_force_was_no_table():
    thing = Arm("ur5")
    thing.rest(0.1, seconds=0.1)
    pushed = thing.rest(0.004, PRESSES, seconds=0.6)[-1]  # something lay there
    assert pushed.ground_offset[0] > 0.002
    thing.rest(0.05, seconds=0.3)
    assert thing.rest(0.0005, seconds=0.5)[-1].ground_offset[0] == pytest.approx(0.0, abs=1e-3)


def test_nothing_is_learned_where_learning_is_switched_off():
    thing = Arm("ur5", off=0.003, ground={"learn": False})
    assert thing.rest(0.0, PRESSES, seconds=0.6)[-1].ground_offset[0] == 0.0


def test_a_hovering_tip_of_an_arm_with_noisy_encoders_is_told_from_one_that_rests():
    """Encoders that are off by 2 mrad and 0.05 rad/s make 60 N of noise of a state, and 1.3 mm of a gap."""
    thing = Arm("xarm", noise=0.002)
    thing.rest(0.1, seconds=0.5)
    presses = thing.rest(0.0, 20.0, seconds=1.0)[-250:]
    hovers = thing.rest(0.005, seconds=1.0)[-250:]
    assert np.mean([mode.closed[0] for mode in presses]) > 0.99
    assert np.mean([mode.closed[0] for mode in hovers]) < 0.02
    assert sum(not a.closed[0] and b.closed[0] for a, b in pairwise(hovers)) <= 1


@pytest.mark.parametrize("noise", [0.0, 0.0005])
@pytest.mark.parametrize("off", [-0.03, -0.01])
def test_a_tip_that_presses_firmly_is_closed_where_the_table_is_centimetres_higher_than_it_was_configured(off, noise):
    thing = Arm("ur5", off=off, noise=noise)
    thing.rest(0.08, seconds=0.3)
    presses = thing.rest(0.0, PRESSES, seconds=1.0)
    assert np.mean([mode.closed[0] for mode in presses[100:]]) > 0.98
    assert presses[-1].ground_offset[0] == pytest.approx(-off, abs=1e-3)  # and it is learned
    after = thing.rest(0.02, seconds=0.5)
    assert not any(mode.closed[0] for mode in after[50:])


@pytest.mark.parametrize("noise", [0.0, 0.0005])
@pytest.mark.parametrize("off", [0.01, 0.03])
def test_a_tip_that_bears_nothing_is_open_below_the_table_as_it_was_configured(off, noise):
    thing = Arm("ur5", off=off, noise=noise)
    thing.rest(0.08, seconds=0.3)
    for gap in np.arange(off - 0.008, 0.0, -0.006):  # more than two deviations below it
        rests = thing.rest(gap, seconds=0.4)
        assert np.mean([mode.closed[0] for mode in rests[100:]]) < 0.05
    presses = thing.rest(0.0, PRESSES, seconds=0.6)
    assert np.mean([mode.closed[0] for mode in presses[100:]]) > 0.98
