"""Checks of what a user hands in: real numbers, deviations of the state, covariances."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

Array = NDArray[np.float64]

_INDEFINITE = 1e-9  # of the largest eigenvalue of the correlations: what a covariance may have below zero by rounding
_ROUNDING = 1e-13  # of the largest eigenvalue of the covariance itself


def real_numbers(given: ArrayLike, name: str) -> Array:
    """A new array of the numbers as they are, finite or not.

    Raises:
        ValueError: complex numbers, rows of different lengths, or what is no number.
    """
    try:
        found = np.asarray(given)
        if found.dtype.kind != "c":
            return np.array(found, dtype=np.float64)
    except (TypeError, ValueError):
        pass
    raise ValueError(f"{name} must be an array of real numbers, got {given!r}")


def checked_vector(given: ArrayLike, name: str, size: int | None = None) -> Array:
    """A row of finite numbers, (size,) where a size is given.

    Raises:
        ValueError: its shape, or numbers that are complex or not finite.
    """
    found = real_numbers(given, name)
    if found.ndim != 1 or not np.isfinite(found).all() or (size is not None and found.size != size):
        needed = "one row of finite numbers is needed" if size is None else f"finite numbers of ({size},) are needed"
        raise ValueError(f"{name} has shape {found.shape}; {needed}")
    return found


def checked_covariance(given: ArrayLike, size: int, name: str) -> tuple[Array, Array]:
    """A covariance as it is, and a factor L (size, size) of it, L Lᵀ.

    Raises:
        ValueError: its shape, numbers that are not finite, not symmetric, or indefinite.
    """
    sigma = real_numbers(given, name)
    if sigma.shape != (size, size) or not np.isfinite(sigma).all():
        raise ValueError(f"{name} has shape {sigma.shape}; finite numbers of {(size, size)} are needed")
    if size == 0:
        return sigma, np.zeros((0, 0))
    if np.abs(sigma - sigma.T).max() > _INDEFINITE * np.abs(sigma).max():
        raise ValueError(f"{name} is not symmetric")
    deviations = np.sqrt(np.diag(sigma).clip(0.0))
    # In units of its deviations, so that metres and radians compare; as it is, where some of these are rounding alone.
    for scale, least in ((np.where(deviations > 0.0, deviations, 1.0), _INDEFINITE), (np.ones(size), _ROUNDING)):
        values, axes = np.linalg.eigh(0.5 * (sigma + sigma.T) / np.outer(scale, scale))
        if values[0] >= -least * max(float(values[-1]), 0.0):
            return sigma, scale[:, None] * axes * np.sqrt(values.clip(0.0))
    raise ValueError(f"{name} is indefinite: its least eigenvalue is {values[0]:.2g}, its largest {values[-1]:.2g}")
