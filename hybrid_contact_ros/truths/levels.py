"""From a series of loads to contact: two levels, found in the series itself, with hysteresis between them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
Bools = NDArray[np.bool_]

_FEWEST, _BINS = 10, 256
_APART = 0.7  # of the variance, that two levels must explain; a constant with noise has 0.64, a ramp 0.75
_ON, _OFF = 0.2, 0.1  # of the way from the level without load to that with load
_STEP = 0.25  # of the height above it: a step of this size within the class without load is a level
_PART = 0.02  # of its class, that a level has at least
_NOISE = 5.0  # standard deviations of the level without load that OFF is above it at least


@dataclass(frozen=True, slots=True)
class Levels:
    """A contact that was open is closed from ``on`` upward, and one that was closed is open below ``off``."""

    on: float
    off: float

    def __post_init__(self) -> None:
        if not self.off <= self.on:
            raise ValueError(f"the load at which a contact closes, {self.on:g}, is below that at which it opens")


def find_levels(load: Array) -> Levels:
    """The levels of a series of loads (k,).

    Otsu's division gives the two classes with the least variance in them; their medians are the levels without and with
    load. A contact closes a fifth of the way up, so that a touchdown is not told late, and opens at a tenth; both are
    beyond the noise of the level without load. Where the class without load has two levels itself, as of the soles of a
    biped, which bear nothing, half of the weight, and all of it, the lower ones are these levels.

    Raises:
        ValueError: the series does not have two levels.
    """
    load = load[np.isfinite(load)]
    if load.size < _FEWEST or not np.ptp(load) > 0.0:
        raise ValueError("it is constant or too short")
    low, high = np.percentile(load, (0.5, 99.5))  # a single spike must not take all bins
    if not high > low:
        raise ValueError("it is constant but for a few values")
    found = _divide(np.clip(load, low, high))
    while (below := _within(found)) is not None:
        found = below
    if found.levels is None:
        raise ValueError("it does not go up and down between two levels")
    return found.levels


@dataclass(frozen=True, slots=True, eq=False)
class _Division:
    """``free``: the loads of the lower class. ``height``: between the medians of both classes; ``clear``: whether that
    is beyond all noise about them. ``levels``: None where the classes are none."""

    free: Array
    height: float
    clear: bool
    levels: Levels | None


def _within(found: _Division) -> _Division | None:
    """The division of the class without load, where that is two levels itself: the sole of a walking biped bears
    nothing, half of the weight, and all of it."""
    free = found.free
    if free.size < _FEWEST or not np.ptp(free) > 0.0:
        return None
    below = _divide(free)
    parts = min(below.free.size, free.size - below.free.size) >= _PART * free.size
    step = found.levels is None or (below.clear and below.height > _STEP * found.height)
    return below if below.levels is not None and parts and step else None


def _divide(load: Array) -> _Division:
    """Otsu's division of loads, which are not all the same."""
    counts, edges = np.histogram(load, _BINS)
    middle = 0.5 * (edges[1:] + edges[:-1])
    below, moment = np.cumsum(counts)[:-1], np.cumsum(counts * middle)[:-1]
    above, total = load.size - below, float((counts * middle).sum())
    good = (below > 0) & (above > 0)
    between = np.zeros(below.size)
    between[good] = (moment[good] / below[good] - (total - moment[good]) / above[good]) ** 2 * below[good] * above[good]
    best = np.flatnonzero(between >= between.max() * (1 - 1e-12))
    border = 0.5 * (edges[best[0] + 1] + edges[best[-1] + 1])  # the middle of an empty stretch
    free, loaded = load[load < border], load[load >= border]
    explained = float(between.max()) / load.size**2 / float(np.var(load))
    rest, height = float(np.median(free)), float(np.median(loaded) - np.median(free))
    noise, loaded_noise = (1.4826 * float(np.median(np.abs(part - np.median(part)))) for part in (free, loaded))
    off = rest + max(_OFF * height, _NOISE * noise)
    on = max(rest + _ON * height, off + _NOISE * noise)
    clear = height > 2.0 * _NOISE * (noise + loaded_noise)  # of a third level the variance is explained by no two
    fits = (explained >= _APART or clear) and on <= rest + 0.6 * height
    return _Division(free, height, clear, Levels(on, off) if fits else None)


def touching(load: Array, levels: Levels) -> Bools:
    """Which samples of a series of loads (k,) touch. It begins open below ``on``; NaN changes nothing."""
    sure = np.where(load >= levels.on, 1, np.where(load < levels.off, 0, -1))
    sure[np.isnan(load)] = -1
    last = np.maximum.accumulate(np.where(sure >= 0, np.arange(load.size), -1)) if load.size else np.empty(0, int)
    return np.where(last >= 0, sure[np.maximum(last, 0)], 0).astype(bool)
