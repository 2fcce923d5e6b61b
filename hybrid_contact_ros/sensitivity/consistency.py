"""Whether errors have the covariance that a filter claims: NEES on its range, and what lies off it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.stats import chi2

Array = NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class Consistency:
    """N errors beside one covariance P of lower rank.

    Attributes:
        rank: of P, degrees of freedom. nees: (N,), eᵀ P⁺ e with P's pseudo-inverse: on its range.
        null: (N, d − rank), the errors along the directions without variance, in the units of ``scale``.
    """

    rank: int
    nees: Array
    null: Array

    @property
    def ratio(self) -> float:
        """Mean NEES over the degrees of freedom; 1 for errors of covariance P."""
        return float(self.nees.mean() / self.rank)

    def interval(self, confidence: float = 0.95) -> tuple[float, float]:
        """Where :attr:`ratio` lies for Gaussian errors of covariance P, by χ² of N · rank degrees of freedom."""
        low, high = chi2.interval(confidence, len(self.nees) * self.rank)
        return float(low) / len(self.nees) / self.rank, float(high) / len(self.nees) / self.rank

    def inside(self, confidence: float = 0.95) -> float:
        """The share of errors within χ²'s two-sided interval of ``rank`` degrees of freedom."""
        low, high = chi2.interval(confidence, self.rank)
        return float(((self.nees >= low) & (self.nees <= high)).mean())


def consistency(
    errors: ArrayLike, covariance: ArrayLike, scale: ArrayLike | None = None, smallest: float = 1e-6
) -> Consistency:
    """Compare errors with the covariance P that they should have (NEES; Bar-Shalom, Li and Kirubarajan 2001, §5.4).

    After an impact P has directions without variance, so that it has no inverse: NEES is taken on its range, with its
    rank as degrees of freedom, and errors along the other directions are returned for a check of their own.

    Args:
        errors: (N, d). covariance: P (d, d).
        scale: (d,) sizes, to compare metres with radians; ones by default.
        smallest: standard deviations below this share of the largest one are zero.

    Raises:
        ValueError: shapes, sizes that are not positive, numbers that are not finite, a P of rank 0.
    """
    e, sigma = np.atleast_2d(np.asarray(errors, dtype=np.float64)), np.asarray(covariance, dtype=np.float64)
    d = e.shape[1]
    size = np.ones(d) if scale is None else np.asarray(scale, dtype=np.float64)
    if sigma.shape != (d, d) or size.shape != (d,) or not len(e):
        raise ValueError(f"errors, covariance and scale have shapes {e.shape}, {sigma.shape} and {size.shape}")
    if not (np.isfinite(e).all() and np.isfinite(sigma).all() and np.isfinite(size).all() and (size > 0.0).all()):
        raise ValueError("errors and covariance must be finite, sizes positive")
    scaled = sigma / np.outer(size, size)
    values, axes = np.linalg.eigh(0.5 * (scaled + scaled.T))
    kept = values > smallest**2 * values[-1]
    if not values[-1] > 0.0:
        raise ValueError("the covariance is zero: there are no degrees of freedom")
    along = (e / size) @ axes
    return Consistency(int(kept.sum()), (along[:, kept] ** 2 / values[kept]).sum(axis=1), along[:, ~kept])
