"""What held a state up: the clocks of the thread that answers, read before and after each state."""

from __future__ import annotations

import gc
import heapq
import os
import resource
import time
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

BINS_A_DECADE = 100
_DECADES = 1.0, 8  # µs at the lower end, and how many decades
_MANY_FAULTS = 20  # page faults of one state that are worth naming
_LONG_SEQUENCE = 4  # transitions that the rollout followed


class Clocks(NamedTuple):
    """Read at one time. Times are in ns.

    Attributes:
        wall, cpu: of the clock on the wall, and of this thread on a processor. delay: that it was ready to run and had
            to wait for one. collected: that the garbage collector ran.
        minor, major: page faults without and with a disk. voluntary, involuntary: changes to another thread.
    """

    wall: int
    cpu: int
    delay: int
    collected: int
    minor: int
    major: int
    voluntary: int
    involuntary: int

    def since(self, before: Clocks) -> Clocks:
        return Clocks(*(b - a for a, b in zip(before, self, strict=True)))


class Reader:
    """Reads the clocks of the thread that makes it, which must be the main thread of its process."""

    def __init__(self) -> None:
        self._schedstat = os.open("/proc/self/schedstat", os.O_RDONLY)
        self._collected = self._began = 0
        gc.callbacks.append(self._on_collection)

    def _on_collection(self, phase: str, _: dict[str, int]) -> None:
        if phase == "start":
            self._began = time.perf_counter_ns()
        else:
            self._collected += time.perf_counter_ns() - self._began

    def read(self) -> Clocks:
        used = resource.getrusage(resource.RUSAGE_THREAD)
        delay = int(os.pread(self._schedstat, 64, 0).split()[1])
        switches = used.ru_nvcsw, used.ru_nivcsw
        now = time.perf_counter_ns()
        return Clocks(now, time.thread_time_ns(), delay, self._collected, used.ru_minflt, used.ru_majflt, *switches)

    def close(self) -> None:
        gc.callbacks.remove(self._on_collection)
        os.close(self._schedstat)


class Slowest:
    """The states with the greatest keys.

    Args:
        most: how many are kept.
    """

    def __init__(self, most: int) -> None:
        self._most = most
        self._heap: list[tuple[int, State]] = []

    def takes(self, key: int) -> bool:
        """Whether a state with this key is among them."""
        return len(self._heap) < self._most or key > self._heap[0][0]

    def add(self, key: int, state: State) -> None:
        """Keep a state that :meth:`takes` takes, in place of the one with the least key."""
        (heapq.heappush if len(self._heap) < self._most else heapq.heapreplace)(self._heap, (key, state))

    def states(self) -> list[State]:
        """Those kept, the greatest key first."""
        return [state for _, state in sorted(self._heap, reverse=True)]


class State(NamedTuple):
    """One state that was answered.

    Attributes:
        latency: ns. number: counted from 0. spent: clocks from its message, or from the state before, to its answer.
        events: that were told. transitions: of its sequence. changed: whether contacts opened or closed.
        set_due: whether a touchdown is near enough for an impact set.
    """

    latency: int
    number: int
    spent: Clocks
    events: int
    transitions: int
    changed: bool
    set_due: bool


def cause(state: State, usual_cpu: float, waits: bool) -> str:
    """The largest part of the time of a state, in words.

    Args:
        state: the state.
        usual_cpu: ns of processor time that half of the states take at most.
        waits: whether latency counts from the stamp, and the clocks from the state before.
    """
    spent = state.spent
    parts = {
        "waited for a processor": float(spent.delay),
        "garbage collection": float(spent.collected),
        "computed longer": max(0.0, spent.cpu - spent.collected - usual_cpu),
    }
    # What of the latency was neither spent on a processor nor waiting for one.
    left = (state.latency if waits else spent.wall) - spent.cpu - spent.delay
    asleep = "slept or waited for a lock" if spent.voluntary else "the host of this virtual machine took the processor"
    parts["on its way, or behind the state before" if waits else asleep] = max(0.0, float(left))
    largest = max(parts, key=parts.__getitem__)
    if largest != "computed longer":
        return largest
    faults = spent.minor + spent.major
    if faults >= _MANY_FAULTS:
        return f"computed longer: {faults} page faults"
    work = [f"{state.events} events"] if state.events else []
    work += ["contacts changed"] if state.changed else []
    work += [f"a sequence of {state.transitions}"] if state.transitions >= _LONG_SEQUENCE else []
    return f"computed longer: {', '.join(work)}" if work else "the processor was slower (its host, caches)"


@dataclass
class Histogram:
    """Counts in logarithmic bins."""

    counts: NDArray[np.int64]

    @classmethod
    def empty(cls) -> Histogram:
        return cls(np.zeros(BINS_A_DECADE * _DECADES[1] + 1, np.int64))

    def add(self, microseconds: float) -> None:
        at = int(BINS_A_DECADE * np.log10(max(microseconds, _DECADES[0]) / _DECADES[0]))
        self.counts[min(at, len(self.counts) - 1)] += 1

    def percentile(self, q: float) -> float:
        """µs, the upper end of the bin that it lies in."""
        rank = max(1, int(np.ceil(q / 100.0 * self.counts.sum())))
        at = int(np.searchsorted(np.cumsum(self.counts), rank))
        return float(_DECADES[0] * 10.0 ** ((at + 1) / BINS_A_DECADE))

    def coarse(self, bins: int = 5) -> list[tuple[float, float, int]]:
        """Lower end, upper end (µs) and count, ``bins`` a decade, from the first that is not empty to the last."""
        width = BINS_A_DECADE // bins
        sums = np.add.reduceat(self.counts, np.arange(0, len(self.counts), width))
        there = np.flatnonzero(sums)
        ends = [_DECADES[0] * 10.0 ** (k / bins) for k in range(len(sums) + 1)]
        return [(ends[k], ends[k + 1], int(sums[k])) for k in range(there[0], there[-1] + 1)] if there.size else []


class Watch:
    """Looks at every state that a node answers.

    Args:
        node: a node of the suite, in this process. It is watched until :meth:`close`.
        stamped: latency counts from the stamp of the state, and not from :meth:`begin`.
        worst: how many states are kept.

    Attributes:
        latency, cpu: times and processor times of all states. answered: how many there were.
        slowest: the states with the greatest latency. own: those with the greatest latency without the wait for a
            processor: what is left is the suite's own, or its garbage collection, locks and page faults.
    """

    def __init__(self, node: Any, stamped: bool, worst: int = 10) -> None:
        self.latency, self.cpu = Histogram.empty(), Histogram.empty()
        self.answered = 0
        self.slowest, self.own = Slowest(worst), Slowest(worst)
        self._node, self._stamped = node, stamped
        self._closed: bytes | None = None
        self._horizon = node.stream.estimator.config.impact.horizon
        self._reader = Reader()
        self._publish = node.publish
        node.publish = self._published
        self.begin()

    def begin(self) -> None:
        """The message of a state comes now."""
        self._begin = self._reader.read()

    def _published(self, prediction: Any, compute_ns: int, age_ns: int) -> None:
        self._publish(prediction, compute_ns, age_ns)
        spent = self._reader.read().since(self._begin)
        mode = prediction.mode
        latency = time.time_ns() - int(mode.stamp_ns) if self._stamped else spent.wall
        self.latency.add(1e-3 * latency)
        self.cpu.add(1e-3 * spent.cpu)
        closed = mode.closed.tobytes()
        changed, self._closed = self._closed not in (None, closed), closed
        own = spent.cpu if self._stamped else spent.wall - spent.delay
        if self.slowest.takes(latency) or self.own.takes(own):
            due = bool(((mode.next_event == 1) & (mode.time_to_event <= self._horizon)).any())
            transitions = len(mode.sequence.times)
            state = State(latency, self.answered, spent, len(prediction.events), transitions, changed, due)
            for kept, key in ((self.slowest, latency), (self.own, own)):
                if kept.takes(key):
                    kept.add(key, state)
        self.answered += 1
        if self._stamped:
            self.begin()

    def cause(self, state: State, waiting: bool = True) -> str:
        """Why a state took long; without ``waiting``, beside the wait for a processor."""
        if not waiting:
            state = state._replace(spent=state.spent._replace(wall=state.spent.wall - state.spent.delay, delay=0))
        return cause(state, 1e3 * self.cpu.percentile(50.0), self._stamped)

    def close(self) -> None:
        del self._node.publish
        self._reader.close()
