"""The clock of the simulated robot keeps to the time in which the robot moves."""

import numpy as np
import pytest

from hybrid_contact_ros.demo.robot_clock import BEHIND_NS, RobotClock

PERIOD, BEGIN = 2_000_000, 1_764_000_000_000_000_000  # ns


def run(costs):
    """Stamps of states 2 ms apart, and when they were published, by a loop that needs so many ns for each and otherwise
    waits until they are due."""
    clock, now, stamps, published = RobotClock(BEGIN), BEGIN, [], []
    for k, cost in enumerate(costs):
        time = 1e-9 * PERIOD * (k + 1)
        now = max(now + int(cost), clock.due(time))
        stamps.append(clock.stamp(time, now))
        published.append(now)
    return np.array(stamps), np.array(published), clock


def test_states_that_a_late_simulator_publishes_at_once_are_still_stamped_as_far_apart_as_they_are():
    stamps, published, clock = run([0, 0, 20_000_000, 500_000, 500_000, *[500_000] * 20])
    assert published[3] - published[2] == 500_000  # it catches up
    assert np.all(np.diff(stamps) == PERIOD) and clock.pauses == 0 and published[-1] == stamps[-1]


@pytest.mark.parametrize("seed", range(5))
def test_no_state_is_stamped_later_than_it_is_published_nor_much_earlier(seed):
    rng = np.random.default_rng(seed)
    costs = rng.exponential(PERIOD, 2000) * rng.choice([0.1, 10.0], 2000)
    stamps, published, _ = run(costs)
    assert np.all(np.diff(stamps) >= PERIOD)
    assert np.all(stamps <= published) and np.all(published - stamps <= BEHIND_NS)


@pytest.mark.parametrize("share", [1.2, 2.0])
def test_a_machine_that_is_too_slow_makes_pauses_that_are_counted_and_never_stretches_time(share):
    stamps, published, clock = run(np.full(2000, share * PERIOD))
    steps = np.diff(stamps)
    assert set(steps[steps < BEHIND_NS]) == {PERIOD}
    assert clock.pauses == np.count_nonzero(steps >= BEHIND_NS) > 1
    assert clock.paused_ns == (steps - PERIOD).sum()
    assert published[-1] - stamps[-1] <= BEHIND_NS
