"""What the soak concludes from clocks and memory."""

import gc

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks.live.memory import growth, in_words
from benchmarks.live.watch import BINS_A_DECADE, Clocks, Histogram, Reader, Slowest, State, cause

NOTHING = Clocks(0, 0, 0, 0, 0, 0, 0, 0)
USUAL = 200_000.0


def state(events=0, transitions=0, changed=False, **clocks):
    spent = NOTHING._replace(**{"wall": 1_000_000, "cpu": 200_000, **clocks})
    return State(1_000_000, 0, spent, events, transitions, changed, False)


@pytest.mark.parametrize(
    ("slow", "why"),
    [
        (state(delay=700_000), "waited for a processor"),
        (state(voluntary=1), "slept or waited for a lock"),
        (state(), "the host of this virtual machine took the processor"),
        (state(cpu=950_000, collected=600_000), "garbage collection"),
        (state(cpu=950_000, minor=300), "computed longer: 300 page faults"),
        (state(cpu=950_000, events=2, changed=True), "computed longer: 2 events, contacts changed"),
        (state(cpu=950_000, transitions=8), "computed longer: a sequence of 8"),
        (state(cpu=950_000), "the processor was slower (its host, caches)"),
    ],
)
def test_the_largest_part_of_the_time_is_the_cause(slow, why):
    assert cause(slow, USUAL, waits=False) == why


def test_over_the_middleware_latency_counts_from_the_stamp():
    late = state(wall=50_000_000, delay=700_000)
    assert cause(late, USUAL, waits=True) == "waited for a processor"
    assert cause(late._replace(latency=5_000_000), USUAL, waits=True) == "on its way, or behind the state before"


@given(st.lists(st.integers(0, 50), max_size=60))
def test_the_slowest_are_kept(keys):
    slowest = Slowest(10)
    for number, key in enumerate(keys):
        if slowest.takes(key):
            slowest.add(key, state()._replace(latency=key, number=number))
    assert [x.latency for x in slowest.states()] == sorted(keys, reverse=True)[:10]


def test_the_collector_and_the_threads_clock_are_seen():
    reader = Reader()
    try:
        begin = reader.read()
        gc.collect()
        sum(range(100_000))
        spent = reader.read().since(begin)
    finally:
        reader.close()
    assert 0 < spent.collected <= spent.wall and spent.cpu > 0
    assert all(value >= 0 for value in spent)
    assert reader._on_collection not in gc.callbacks


@given(st.lists(st.floats(1.0, 1e7), min_size=1, max_size=200), st.data())
def test_percentiles_are_right_to_a_bin(values, data):
    rank = data.draw(st.integers(0, len(values) - 1))
    q = 100.0 * (rank + 0.5) / len(values)
    histogram = Histogram.empty()
    for value in values:
        histogram.add(value)
    true = sorted(values)[rank]
    width = 10.0 ** (1.0 / BINS_A_DECADE)
    assert true / width <= histogram.percentile(q) * (1 + 1e-9)
    assert histogram.percentile(q) <= true * width * (1 + 1e-9)
    rows = histogram.coarse()
    assert sum(count for _, _, count in rows) == len(values)
    assert rows[0][0] <= min(values) * (1 + 1e-9) and max(values) <= rows[-1][1] * (1 + 1e-9)


def test_what_lies_beyond_the_bins_is_counted_in_the_outermost():
    histogram = Histogram.empty()
    histogram.add(0.01)
    histogram.add(1e12)
    assert histogram.counts[0] == histogram.counts[-1] == 1


def test_a_leak_is_told_from_steps_and_noise():
    rng = np.random.default_rng(0)
    states = np.arange(0, 1_000_000, 5000.0)
    settling = 5e7 + 4e6 * (1.0 - np.exp(-states / 5e4))
    page = 4096.0
    noise = page * rng.integers(-3, 4, states.size)
    slope, low, high = growth(states, settling + noise + 2e5 * (states > 6e5))
    assert max(abs(low), abs(high)) < 1.0
    slope, low, high = growth(states, settling + noise + 8.0 * states)
    assert low < slope < high and low > 7.0 and high < 9.0


@pytest.mark.parametrize(
    ("change", "said"),
    [(-38.6, "38.6 bytes fewer a state"), (0.25, "0.25 bytes more a state"), (0.0, "0 bytes more a state")],
)
def test_a_change_of_memory_is_said_in_words(change, said):
    assert in_words(change) == said
