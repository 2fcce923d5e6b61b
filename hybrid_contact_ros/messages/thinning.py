"""Fewer outcomes of a set, so that a message stays bounded: the rows that keep its hull."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

_HULL_DIRECTIONS = 512


def thin(velocities: NDArray[np.float64], rows: int) -> NDArray[np.float64]:
    """At most ``rows`` rows of ``velocities`` (n, nv), in their order, chosen to keep the set's convex hull.

    First those that attain the least and the greatest value of each coordinate, so that with ``rows`` ≥ 2 nv the
    bounding box stays as it is. Then, one by one, the row that reaches farthest beyond those chosen in one of 512 fixed
    directions, relative to the set's width in it, until in all of them the hull is as wide as it was or the rows are
    used up; what is left of them is spaced evenly. About 2·512·n·nv multiplications and 512 a row, no randomness.
    """
    n = velocities.shape[0]
    if n <= rows:
        return velocities
    kept = list(dict.fromkeys(np.stack((velocities.argmin(axis=0), velocities.argmax(axis=0)), axis=1).ravel()))[:rows]
    directions = _hull_directions(velocities)
    ends = np.concatenate([_ends(velocities, part) for part in np.array_split(directions, 16)])
    points = np.unique(np.concatenate((ends, kept)))  # what may be chosen
    reach = np.concatenate((velocities[points] @ directions.T, velocities[points] @ -directions.T), axis=1)
    farthest = reach.max(axis=0)
    width = np.tile((farthest[: len(directions)] + farthest[len(directions) :]), 2)
    reached = reach[np.searchsorted(points, kept)].max(axis=0, initial=-np.inf)
    while len(kept) < rows and width.size:
        beyond = farthest - reached - 1e-9 * width
        worst = int(np.argmax(np.divide(beyond, width, out=np.zeros_like(width), where=width > 0.0)))
        if not beyond[worst] > 0.0:
            break
        best = int(reach[:, worst].argmax())
        kept.append(points[best])
        reached = np.maximum(reached, reach[best])
    others = np.setdiff1d(np.arange(n), kept)
    spaced = others[np.linspace(0, others.size - 1, rows - len(kept)).round().astype(np.intp)]
    return velocities[np.sort(np.concatenate((np.array(kept, np.intp), spaced)))]


def _hull_directions(velocities: NDArray[np.float64]) -> NDArray[np.float64]:
    """(512, nv): directions spread over those that the set extends in, in units of its standard deviations."""
    spread = velocities - velocities.mean(axis=0)
    size = np.abs(spread).max(axis=0)
    scale = np.divide(1.0, size, out=np.zeros_like(size), where=size > 0.0)
    values, axes = np.linalg.eigh((spread * scale).T @ (spread * scale) / len(spread))
    wide = values > 1e-12 * values.max(initial=0.0)
    if not wide.any():
        return np.zeros((0, velocities.shape[1]))
    draws = np.random.default_rng(0).normal(size=(_HULL_DIRECTIONS, int(wide.sum())))
    draws /= np.linalg.norm(draws, axis=1, keepdims=True)
    return (draws / np.sqrt(values[wide])) @ axes[:, wide].T * scale


def _ends(velocities: NDArray[np.float64], directions: NDArray[np.float64]) -> NDArray[np.intp]:
    """Rows that reach farthest along each direction, and against it."""
    along = directions @ velocities.T
    return np.concatenate((along.argmin(axis=1), along.argmax(axis=1)))
