"""Forces of arms are averaged for as long as it takes to know them; quiet ones, and those of feet, are not."""

import numpy as np
import pytest

from hybrid_contact_ros.kernels.estimation.averaged_forces import AVERAGED, AVERAGING, LONGEST, ROUGH, SPAN, average

DT = 0.002


class Average:
    """Of a residual with two coordinates, whose noise nothing explains; a force has 3 N for 1 m/s² of it."""

    def __init__(self, level):
        self.level, self.before = level, None
        self.averaged, self.averaging = np.zeros((AVERAGED, 2)), np.zeros(AVERAGING)

    def state(self, value, dt=DT):
        now = np.full(2, value)
        change = 0.0 if self.before is None else float(np.mean((now - self.before) ** 2))
        given = now.copy()
        average(self.before is None, self.level, dt, change, 3.0, given, self.averaged, self.averaging)
        self.before = now
        return given[0]


def derivative(size, seconds, seed=0):
    """Of white noise: what a momentum observer without a lag makes of noisy velocities."""
    noise = size * np.random.default_rng(seed).normal(size=round(seconds / DT))
    return np.diff(noise, prepend=noise[0])


def test_noise_is_averaged_to_the_level_that_is_asked_for():
    thing = Average(level=1.0)
    left = [thing.state(value) for value in derivative(3.0, 20.0)][2000:]
    assert np.sqrt(thing.averaging[ROUGH]) == pytest.approx(3.0 * np.sqrt(3.0), rel=0.3)
    assert 3.0 * np.std(left) == pytest.approx(1.0, rel=0.5)
    assert 3.0 * DT < thing.averaging[SPAN] <= LONGEST


def test_two_low_passes_know_a_force_to_the_same_in_a_third_of_the_time_of_one():
    noise = derivative(3.0, 20.0)
    thing = Average(level=0.3)
    two = np.std([thing.state(value) for value in noise][2000:])
    lag, one, kept = 3.0 * thing.averaging[SPAN], [], 0.0
    assert lag < 3.0 * LONGEST
    for value in noise:
        kept += (1.0 - np.exp(-DT / lag)) * (value - kept)
        one.append(kept)
    assert two < np.std(one[2000:])


def test_a_step_of_the_force_is_followed_by_nine_tenths_in_little_more_than_twice_the_lag():
    thing = Average(level=1.0)
    for value in derivative(3.0, 2.0):
        thing.state(value)
    lag = thing.averaging[SPAN]
    for _ in range(round(2.2 * lag / DT)):
        told = thing.state(30.0)
    assert 0.9 * 30.0 < told < 30.5


def test_what_is_known_well_enough_is_not_averaged():
    thing = Average(level=1.0)
    values = derivative(0.02, 2.0)
    assert [thing.state(value) for value in values] == pytest.approx(values)
    assert thing.averaging[SPAN] == 0.0


def test_a_constant_force_is_the_average_of_itself():
    thing = Average(level=1.0)
    for value in 5.0 + derivative(3.0, 1.0):
        told = thing.state(value)
    assert told == pytest.approx(5.0, abs=1.0)


def test_a_state_of_the_same_time_changes_nothing():
    thing = Average(level=1.0)
    for value in derivative(3.0, 1.0):
        told = thing.state(value)
    kept = thing.averaged.copy(), thing.averaging.copy()
    assert thing.state(100.0, dt=0.0) == told
    assert (thing.averaged == kept[0]).all() and (thing.averaging == kept[1]).all()
