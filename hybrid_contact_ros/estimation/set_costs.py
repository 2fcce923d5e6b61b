"""How long sets take, so that samples are as many as the rest of a set leaves time for."""

from __future__ import annotations

import time
from typing import NamedTuple, TypeVar

from hybrid_contact_ros.impacts.steps import Steps

T = TypeVar("T")

_UP, _DOWN = 1.1, 0.7  # of a cost, from set to set at most: one that was held up tells little
_GATHERED = 0.3  # of a sample's time, for what is made of it


class Cost(NamedTuple):
    """Of the sets of one choice of contacts, ns: all but the samples, and one sample."""

    rest: float
    sample: float


def _next(old: float, seen: float) -> float:
    return min(max(seen, _DOWN * old), _UP * old)


class SetCosts:
    """Learns what sets cost, by the clock; decides nothing but how many samples are taken, and which sets of a cluster
    are left out."""

    def __init__(self) -> None:
        self._known: dict[bytes, Cost] = {}

    def rest(self, key: bytes) -> float:
        """Of a set without samples, ns; 0 for one that is not known."""
        known = self._known.get(key)
        return 0.0 if known is None else known.rest

    def samples(self, key: bytes, left_ns: float) -> int | None:
        """How many samples there is time for, at least one, if the whole set has ``left_ns``; None if not known."""
        known = self._known.get(key)
        if known is None:
            return None
        return max(1, int((left_ns - known.rest) / ((1.0 + _GATHERED) * known.sample)))

    def learn(self, key: bytes, whole_ns: int, sampling_ns: int, samples: int) -> None:
        """A set took ``whole_ns``, of which ``samples`` took ``sampling_ns``."""
        sample = max(sampling_ns / max(samples, 1), 1.0)
        rest = max(whole_ns - sampling_ns - _GATHERED * sampling_ns, 1.0)
        known = self._known.get(key)
        if known is None:
            self._known[key] = Cost(rest, sample)
            return
        self._known[key] = Cost(_next(known.rest, rest), _next(known.sample, sample))


class Clock:
    """What a computation in steps takes, without the pauses between these."""

    def __init__(self) -> None:
        self._begin = time.perf_counter_ns()

    def now(self) -> int:
        """ns since it began."""
        return time.perf_counter_ns() - self._begin

    def over(self, steps: Steps[T]) -> Steps[T]:
        """The same steps, with the clock stopped between them."""
        while True:
            try:
                kind = next(steps)
            except StopIteration as end:
                result: T = end.value
                return result
            left = time.perf_counter_ns()
            yield kind
            self._begin += time.perf_counter_ns() - left
