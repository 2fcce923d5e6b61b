"""Zeno points of a sequence of impacts, extrapolated from its last ones (H §4.3, 68–70)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

_LONGEST = 4  # impacts in a period
_SHRINKS = 0.98  # intervals that shrink more slowly are not taken for a geometric sequence


@dataclass(frozen=True, slots=True, eq=False)
class Impact:
    """The state at the end of one impact: time, contacts struck, and y = (q, v, t, Λ)."""

    t: float
    struck: tuple[int, ...]
    y: Array


@dataclass(frozen=True, slots=True, eq=False)
class Limit:
    """Where a sequence of impacts accumulates: y extrapolated, and how far that is to be trusted (s)."""

    t: float
    y: Array
    error: float
    contacts: tuple[int, ...]
    period: int
    ratio: float


def limit_of(impacts: list[Impact]) -> Limit | None:
    """Extrapolate by Aitken's Δ² over whole periods of struck contacts, or None if nothing contracts.

    Needs 3 p + 1 impacts for a period of p ≤ 4. The error is the difference to the extrapolation one period before,
    which for a geometric sequence with corrections that are geometric too is larger than the true one.
    """
    for p in range(1, _LONGEST + 1):
        last = impacts[-3 * p - 1 :]
        if len(last) < 3 * p + 1:
            return None
        words = [x.struck for x in last[1:]]
        if any(words[i] != words[i + p] for i in range(2 * p)):
            continue
        times = [last[i].t for i in range(0, 3 * p + 1, p)]
        gaps = np.diff(times)
        if not (gaps > 0.0).all() or not (gaps[1:] < _SHRINKS * gaps[:-1]).all():
            return None
        y3, y2, y1 = (last[i].y for i in (p, 2 * p, 3 * p))
        y = _aitken(y3, y2, y1)
        ends = [float(_aitken(*(np.array([t]) for t in times[i : i + 3]))[0]) for i in (0, 1)]
        ratio = float((gaps[-1] / gaps[-2]) ** (1.0 / p))
        contacts = tuple(sorted(set().union(*map(set, words[-p:]))))
        return Limit(ends[1], y, abs(ends[1] - ends[0]), contacts, p, ratio)
    return None


def _aitken(a: Array, b: Array, c: Array) -> Array:
    """Limit of sequences a, b, c, … component by component; c where it does not contract or has arrived."""
    first, second = b - a, c - b
    shrinks = (first * second > 0.0) & (np.abs(second) < _SHRINKS * np.abs(first))
    shrinks &= np.abs(second) > 1e-13 * (1.0 + np.abs(c))
    rest = np.zeros_like(c)
    rest[shrinks] = second[shrinks] ** 2 / (first[shrinks] - second[shrinks])
    return np.asarray(c + rest, dtype=np.float64)
