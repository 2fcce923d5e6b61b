"""Linear systems of a robot's size, by LAPACK at once: ``numpy.linalg`` spends more around it than in it."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import lapack

Array = NDArray[np.float64]


def solved(A: Array, b: Array) -> Array:
    """A⁻¹ b. Raises LinAlgError for a singular A."""
    _, _, x, failed = lapack.dgesv(A, b)
    if failed:
        raise np.linalg.LinAlgError("singular matrix")
    return np.asarray(x)


def factor_of(mass: Array) -> Array:
    """L of M = L Lᵀ. Raises LinAlgError where M is not positive definite."""
    L, failed = lapack.dpotrf(mass, lower=1)
    if failed:
        raise np.linalg.LinAlgError("matrix is not positive definite")
    return np.asarray(L)


def after_transposed(L: Array, b: Array) -> Array:
    """L⁻ᵀ b, of a lower triangular L."""
    x, _ = lapack.dtrtrs(L, b, lower=1, trans=1)
    return np.asarray(x)


def eigen(A: Array) -> tuple[Array, Array]:
    """Eigenvalues, ascending, and eigenvectors, in columns, of a symmetric A. Raises LinAlgError without them."""
    values, vectors, failed = lapack.dsyevd(A, lower=1)
    if failed:
        raise np.linalg.LinAlgError("eigenvalues did not converge")
    return np.asarray(values), np.asarray(vectors)


def principal_axes(A: Array) -> tuple[Array, Array]:
    """Singular values of A (k, n), descending, and its right singular vectors, in rows. Raises LinAlgError without
    them."""
    _, size, axes, failed = lapack.dgesdd(A, full_matrices=0)
    if failed:
        raise np.linalg.LinAlgError("singular values did not converge")
    return np.asarray(size), np.asarray(axes)
