"""Polyhedral cones {z : A z ≥ 0} of few dimensions: whether they have an interior, and their Gaussian measure."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import linprog
from scipy.stats import multivariate_normal, norm

Array = NDArray[np.float64]

_THIN = 1e-9  # a cone that contains no ball of this radius within the unit cube has no interior
_SAME = 1e-9  # rows of a cone that differ by less, relative to their length, are one
_POINTS = 200_000  # of the quasi-Monte Carlo integral of more than two rows


def has_interior(rows: Array) -> bool:
    """Whether {z : rows z ≥ 0} has an interior. ``rows`` (r, k)."""
    kept = _unit(rows)
    if kept is None:
        return False
    if not len(kept):
        return True
    r, k = kept.shape
    # largest t with rows z ≥ t, |z| ≤ 1
    found = linprog(
        np.r_[np.zeros(k), -1.0],
        A_ub=np.hstack((-kept, np.ones((r, 1)))),
        b_ub=np.zeros(r),
        bounds=[(-1.0, 1.0)] * k + [(None, 1.0)],
        method="highs",
    )
    return bool(found.status == 0 and -found.fun > _THIN)


def irredundant(rows: Array) -> Array:
    """The rows that bound {z : rows z ≥ 0}, of length 1; none twice."""
    unit = _unit(rows)
    kept = [] if unit is None else list(unit)
    i = 0
    while i < len(kept):
        others = np.array(kept[:i] + kept[i + 1 :])
        if len(others):
            k = others.shape[1]
            least = linprog(kept[i], A_ub=-others, b_ub=np.zeros(len(others)), bounds=[(-1.0, 1.0)] * k, method="highs")
            if least.status == 0 and least.fun >= -_SAME:  # the others imply it
                del kept[i]
                continue
        i += 1
    return np.array(kept).reshape(-1, rows.shape[1])


def gaussian_measure(rows: Array, mean: Array, covariance: Array) -> float:
    """P(rows z ≥ 0) for z ~ N(mean, covariance); rows (r, k), mean (k,), covariance (k, k).

    Two rows or fewer, which is all that up to three touchdowns need, are exact to some 1e-8; more take a quasi-Monte
    Carlo integral with an error of some 1e-4.
    """
    bounds = irredundant(rows)
    centre, spread = bounds @ mean, bounds @ covariance @ bounds.T
    scale = float(np.trace(covariance)) if covariance.size else 0.0
    sizes = np.sqrt(np.diag(spread).clip(0.0))
    certain = sizes <= 1e-12 * np.sqrt(scale) if scale > 0.0 else np.ones(len(bounds), dtype=bool)
    if (centre[certain] < 0.0).any():
        return 0.0
    centre, spread, sizes = centre[~certain], spread[np.ix_(~certain, ~certain)], sizes[~certain]
    if not len(centre):
        return 1.0
    if len(centre) == 1:
        return float(norm.cdf(centre[0] / sizes[0]))
    correlation = spread / np.outer(sizes, sizes)
    np.fill_diagonal(correlation, 1.0)
    law = multivariate_normal(np.zeros(len(centre)), correlation, allow_singular=True, seed=1, maxpts=_POINTS)
    return float(law.cdf(centre / sizes))


def _unit(rows: Array) -> Array | None:
    """The rows with length 1, without those that are zero; None where two are opposite, so that nothing is inside."""
    length = np.linalg.norm(rows, axis=1)
    kept: list[Array] = []
    for row in rows[length > _SAME * length.max(initial=0.0)] / length[length > _SAME * length.max(initial=0.0), None]:
        if all(np.abs(row - other).max() > _SAME for other in kept):
            kept.append(row)
        if any(np.abs(row + other).max() <= _SAME for other in kept):
            return None
    return np.array(kept).reshape(-1, rows.shape[1])
