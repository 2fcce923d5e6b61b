"""A normal distribution cut to a polyhedron: probability, mean and covariance, by quadrature in few dimensions."""

from __future__ import annotations

from collections.abc import Callable
from itertools import combinations

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr

Array = NDArray[np.float64]

_FAR = 10.0  # standard deviations; beyond lie 1e-23
_NODES, _WEIGHTS = np.polynomial.legendre.leggauss(10)
_TOLERANCE = (1e-11, 1e-9)  # of each piece of the moments: with one integral, and with two within each other
_ROUNDS = 30  # of halving
_FLAT = 1e-12  # rows of length 1 whose remaining part is shorter do not bound what remains


def truncated_normal(rows: Array, offsets: Array) -> tuple[float, Array, Array]:
    """Probability, mean (d,) and covariance (d, d) of s ~ N(0, 1_d) where ``rows s + offsets ≥ 0``.

    Only the directions that the rows bound matter, which are as few as touchdowns less one. In one of them moments are
    closed forms of Φ and its density. Each further one adds an integral by Gauss and Legendre between the vertices of
    the polyhedron, with pieces halved until they agree to 1e-11, or 1e-9 where
    there are two such integrals.

    Args:
        rows: (r, d), none of them zero. offsets: (r,).

    Returns:
        The conditional moments; of a set without probability, 0 and those of the whole.
    """
    d = rows.shape[1]
    length = np.linalg.norm(rows, axis=1)
    unit, limit = rows / length[:, None], offsets / length
    _, size, axes = np.linalg.svd(unit, full_matrices=False)
    basis = axes[: int((size > 1e-10).sum())].T
    r = basis.shape[1]
    if r > 1:  # turned, so that no facet lies along an axis unless by chance
        basis = basis @ np.linalg.qr(np.random.default_rng(7).normal(size=(r, r)))[0]
    moments = _moments(unit @ basis, limit)
    probability = float(moments[0, 0])
    if not probability > 0.0:
        return 0.0, np.zeros(d), np.eye(d)
    mean = moments[0, 1:] / probability
    change = moments[1:, 1:] / probability - np.outer(mean, mean) - np.eye(r)
    return min(probability, 1.0), basis @ mean, np.eye(d) + basis @ change @ basis.T


def _moments(rows: Array, offsets: Array) -> Array:
    """∫ (1, t)(1, t)ᵀ dN (r + 1, r + 1) over {t: rows t + offsets ≥ 0}."""
    r = rows.shape[1]
    if r == 0:
        return np.full((1, 1), float((offsets >= 0.0).all()))
    if r == 1:
        return _segments(rows[:, 0], offsets[None, :])[0]

    def section(at: Array) -> Array:
        """The moments of the sections at values of the first coordinate."""
        left = offsets + np.outer(at, rows[:, 0])
        rest = rows[:, 1:]
        inner = _segments(rest[:, 0], left) if r == 2 else np.array([_moments(rest, limit) for limit in left])
        found = np.empty((len(at), r + 1, r + 1))
        keep = np.r_[0, 2 : r + 1]
        found[np.ix_(np.arange(len(at)), keep, keep)] = inner
        found[:, 1, keep] = found[:, keep, 1] = at[:, None] * inner[:, 0]
        found[:, 1, 1] = at**2 * inner[:, 0, 0]
        return np.asarray(found * (np.exp(-0.5 * at**2) / np.sqrt(2.0 * np.pi))[:, None, None])

    return _integral(section, _breaks(rows, offsets), _TOLERANCE[min(r - 2, 1)])


def _breaks(rows: Array, offsets: Array) -> Array:
    """Where sections across the first coordinate change their facets: at the vertices."""
    found = [-_FAR, -4.0, -1.5, 1.5, 4.0, _FAR]
    r = rows.shape[1]
    for chosen in combinations(range(len(rows)), r):
        matrix = rows[list(chosen)]
        if abs(np.linalg.det(matrix)) > _FLAT:
            found.append(float(np.linalg.solve(matrix, -offsets[list(chosen)])[0]))
    return np.unique(np.clip(found, -_FAR, _FAR))


def _integral(function: Callable[[Array], Array], breaks: Array, tolerance: float) -> Array:
    """The integral of a function of many values over pieces, each halved until its halves agree with it."""

    def parts(left: Array, right: Array) -> Array:
        half = 0.5 * (right - left)
        at = 0.5 * (right + left)[:, None] + half[:, None] * _NODES
        values = function(at.ravel())
        values = values.reshape(*at.shape, *values.shape[1:])
        return np.asarray(np.einsum("k,pk...->p...", _WEIGHTS, values) * half.reshape(-1, *[1] * (values.ndim - 2)))

    left, right = breaks[:-1], breaks[1:]
    whole = parts(left, right)
    total = np.zeros(whole.shape[1:])
    for _ in range(_ROUNDS):
        middle = 0.5 * (left + right)
        first, second = parts(left, middle), parts(middle, right)
        error = np.abs(first + second - whole).reshape(len(left), -1).max(axis=1)
        done = error <= tolerance
        total += (first + second)[done].sum(axis=0)
        if done.all():
            return np.asarray(total)
        again = ~done
        left, right = np.r_[left[again], middle[again]], np.r_[middle[again], right[again]]
        whole = np.concatenate((first[again], second[again]))
    return np.asarray(total + whole.sum(axis=0))


def _segments(slopes: Array, offsets: Array) -> Array:
    """∫ (1, t)(1, t)ᵀ dN over {t: slopes t + offsets ≥ 0}, (p, 2, 2) for offsets (p, r)."""
    flat = np.abs(slopes) <= _FLAT
    rising, falling = (slopes > 0.0) & ~flat, (slopes < 0.0) & ~flat
    low = (-offsets[:, rising] / slopes[rising]).max(axis=1, initial=-40.0)
    high = (-offsets[:, falling] / slopes[falling]).min(axis=1, initial=40.0)
    empty = (high <= low) | (offsets[:, flat] < 0.0).any(axis=1)
    low, high = np.where(empty, 0.0, low), np.where(empty, 0.0, high)
    below, above = (np.exp(-0.5 * x**2) / np.sqrt(2.0 * np.pi) for x in (low, high))
    # The upper tail from above, where a difference of numbers near 1 would have no digits.
    mass = np.where(low > 0.0, ndtr(-low) - ndtr(-high), ndtr(high) - ndtr(low))
    found = np.empty((len(offsets), 2, 2))
    found[:, 0, 0] = mass
    found[:, 0, 1] = found[:, 1, 0] = below - above
    found[:, 1, 1] = mass + low * below - high * above
    return found
