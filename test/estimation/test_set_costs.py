"""How many samples there is time for, and what a clock of steps counts."""

import time

import pytest

from hybrid_contact_ros.estimation.set_costs import Clock, SetCosts
from hybrid_contact_ros.impacts.steps import SHORT, without_pauses

KEY = b"two feet"


def test_samples_are_as_many_as_the_rest_of_a_set_leaves_time_for_and_at_least_one():
    costs = SetCosts()
    assert costs.samples(KEY, 1e6) is None and costs.rest(KEY) == 0.0  # nothing is known
    costs.learn(KEY, 913_000, 240_000, 80)  # 80 samples of 3 µs, whose gathering is 0.9 µs each
    assert costs.rest(KEY) == pytest.approx(601_000)
    assert costs.samples(KEY, 1e6) == 102  # 399 µs of 3.9 µs each
    assert costs.samples(KEY, 6e5) == 1 and costs.samples(KEY, -1e6) == 1
    assert costs.samples(b"others", 1e6) is None


def test_one_set_that_is_held_up_changes_costs_by_a_tenth_and_steady_costs_are_learned():
    costs = SetCosts()
    costs.learn(KEY, 500_000, 0, 1)
    costs.learn(KEY, 50_000_000, 0, 1)
    assert costs.rest(KEY) == pytest.approx(550_000)
    for _ in range(10):
        costs.learn(KEY, 200_000, 0, 1)
    assert costs.rest(KEY) == pytest.approx(200_000)


def test_the_clock_of_steps_stands_still_in_pauses(monkeypatch):
    now = [0]
    monkeypatch.setattr(time, "perf_counter_ns", lambda: now[0])
    clock, seen = Clock(), []

    def steps():
        now[0] += 5
        yield SHORT
        now[0] += 6
        seen.append(clock.now())
        return 7

    paused = clock.over(steps())
    next(paused)
    now[0] += 1000
    with pytest.raises(StopIteration) as end:
        next(paused)
    assert end.value.value == 7 and seen == [11]
    assert without_pauses(Clock().over(steps())) == 7
