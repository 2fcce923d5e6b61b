"""Polyhedral cones {z : A z ≥ 0} of few dimensions: whether they have an interior, and their Gaussian measure."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import nnls
from scipy.stats import multivariate_normal, norm

Array = NDArray[np.float64]

_THIN = 1e-9  # a cone whose widest ball about a point at distance 1 is smaller has no interior
_SAME = 1e-9  # rows of a cone that differ by less, relative to their length, are one
_POINTS = 200_000  # of the quasi-Monte Carlo integral of more than two rows
_CERTAIN = 1e-6  # of its terms: an inequality of a cone that varies less is certain
_STEPS = 30  # of non-negative least squares for each row; three are the rule


def has_interior(rows: Array) -> bool:
    """Whether {z : rows z ≥ 0} has an interior. ``rows`` (r, k)."""
    kept = _unit(rows)
    if not len(kept):
        return True
    r, k = kept.shape
    # Gordan: there is none where some y ≥ 0 of sum 1 has rowsᵀ y = 0. The least |rowsᵀ y|, d, is the radius of the
    # widest ball about a point at distance 1, and d / √(1 + d²) is what is left here.
    missed = nnls(np.vstack((kept.T, np.ones(r))), np.r_[np.zeros(k), 1.0], maxiter=_STEPS * r)[1]
    return bool(missed > _THIN)


def irredundant(rows: Array) -> Array:
    """The rows that bound {z : rows z ≥ 0}, of length 1; none twice."""
    kept = list(_unit(rows))
    i = 0
    while i < len(kept):
        others = np.array(kept[:i] + kept[i + 1 :])
        # Farkas: the others imply a row that is a sum of multiples ≥ 0 of them.
        if len(others) and nnls(others.T, kept[i], maxiter=_STEPS * len(others))[1] <= _SAME:
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


def certain_rows(rows: Array, mean: Array, covariance: Array, factor: Array) -> NDArray[np.bool_]:
    """Which of the inequalities rows z ≥ 0 (r, k) hold surely, or surely not, for z ~ N(mean, covariance).

    Args:
        mean: (k,). covariance: (k, k). factor: L (k, k), L Lᵀ the covariance.

    Raises:
        ValueError: the mean lies in the cone's border, and the covariance leaves no doubt of it.
    """
    slopes, offsets = rows @ factor, rows @ mean
    terms = np.abs(rows) @ (np.sqrt(np.diag(covariance).clip(0.0)) + np.abs(mean))
    sure = np.asarray(np.linalg.norm(slopes, axis=1) <= _CERTAIN * terms)
    outside = sure & (offsets < -_CERTAIN * terms)
    if not outside.any() and (sure & (np.abs(offsets) <= _CERTAIN * terms)).any():
        raise ValueError("the mean lies on the border of two words, and the covariance leaves no doubt of it")
    return sure


def _unit(rows: Array) -> Array:
    """The rows with length 1, without those that are zero; none twice."""
    length = np.linalg.norm(rows, axis=1)
    large = length > _SAME * length.max(initial=0.0)
    kept: list[Array] = []
    for row in rows[large] / length[large, None]:
        if all(np.abs(row - other).max() > _SAME for other in kept):
            kept.append(row)
    return np.array(kept).reshape(-1, rows.shape[1])
