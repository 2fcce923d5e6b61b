"""A norm in which several matrices contract: the method of centres for a quadratic one."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import cho_solve, cholesky, solve_triangular

Array = NDArray[np.float64]
_CONDITION = 1e10  # of P: between 1 and this in the first coordinates
_ROUNDS, _STEPS = 200, 30
_CENTRED = 0.1  # Newton decrement at which a centre is good enough
_PULL = 0.3  # of the way from the bound of a centre to its own factor that the next bound keeps


def induced_norm(norm: Array, matrix: Array) -> float:
    """‖A‖_P = max ‖A x‖_P / ‖x‖_P with ‖x‖²_P = xᵀ P x, by the Cholesky factor of P and singular values.

    Raises:
        numpy.linalg.LinAlgError: P is not positive definite.
    """
    lower = cholesky(norm, lower=True)
    turned = solve_triangular(lower, (lower.T @ matrix).T, lower=True).T
    return float(np.linalg.norm(turned, 2))


def common_norm(matrices: Sequence[Array], goal: float = 0.0) -> tuple[Array, float]:
    """A positive definite P (n, n) for which the largest ‖A_i‖_P is as small as a quadratic norm makes it.

    The factor ρ is minimised subject to ρ² P − A_iᵀ P A_i ≻ 0 and 1 ≼ P ≼ 1e10, a generalised eigenvalue problem. The
    method of centres (Boyd and El Ghaoui, Linear Algebra and its Applications 188, 1993) lowers ρ from a start,
    and each time finds the analytic centre of what is left by Newton's method, in coordinates in which P is the
    identity. The answer is never trusted: :func:`induced_norm` of the P that is returned is the factor.

    Args:
        matrices: (n, n) each. goal: a factor that is small enough.

    Returns:
        (P, factor): the smallest factor is found to some 1e-4 of itself; it is an upper bound of the joint spectral
        radius.
    """
    n = len(matrices[0])
    norm, bound = _start(matrices)
    factor = max(induced_norm(norm, a) for a in matrices)
    best, least = norm, factor
    for _ in range(_ROUNDS):
        bound = float(np.sqrt((1.0 - _PULL) * factor**2 + _PULL * bound**2))
        if factor <= goal or bound - factor < 1e-5 * bound:
            break
        half = cholesky(norm).astype(np.float64)  # norm = halfᵀ half
        back = solve_triangular(half, np.eye(n))
        turned = [half @ a @ back for a in matrices]
        floor = back.T @ back
        centre = _centre(turned, bound, floor)
        norm = half.T @ centre @ half
        norm = 0.5 * (norm + norm.T)
        try:
            factor = max(induced_norm(norm, a) for a in matrices)
        except np.linalg.LinAlgError:
            break
        if factor < least:
            best, least = norm, factor
    return best, least


def _start(matrices: Sequence[Array]) -> tuple[Array, float]:
    """A feasible (P, ρ): P = 1 + Σ (A_i/ρ)ᵀ P (A_i/ρ), for a ρ with which this series converges."""
    n = len(matrices[0])
    lifted = sum(np.kron(a.T, a.T) for a in matrices)
    radius = float(np.abs(np.linalg.eigvals(lifted)).max())  # of P ↦ Σ Aᵀ P A
    square = 1.1 * radius + 1e-12 * max(float(np.linalg.norm(a, 2)) for a in matrices) ** 2 + 1e-300
    norm = np.linalg.solve(np.eye(n * n) - lifted / square, np.eye(n).reshape(-1)).reshape(n, n)
    return 1.5 * (norm + norm.T), 1.5 * float(np.sqrt(square))


def _centre(matrices: Sequence[Array], bound: float, floor: Array) -> Array:
    """X, from the identity, that maximises Σ log det(ρ² X − AᵀXA) + log det(X − F) + log det(κF − X)."""
    n = len(floor)
    rows, columns = np.triu_indices(n)
    units = np.zeros((len(rows), n, n))
    units[np.arange(len(rows)), rows, columns] = 1.0
    units[np.arange(len(rows)), columns, rows] = 1.0
    moves = [bound**2 * units - a.T @ units @ a for a in matrices] + [units, -units]
    x = np.eye(n)
    for _ in range(_STEPS):
        slack = [bound**2 * x - a.T @ x @ a for a in matrices] + [x - floor, _CONDITION * floor - x]
        slope, curvature = np.zeros(len(rows)), np.zeros((len(rows), len(rows)))
        try:
            for value, move in zip(slack, moves, strict=True):
                whole = cholesky(value, lower=True)
                half = solve_triangular(whole, np.swapaxes(move, 0, 1).reshape(n, -1), lower=True)
                half = np.swapaxes(half.reshape(n, -1, n), 0, 1)
                both = solve_triangular(whole, np.moveaxis(half, 2, 0).reshape(n, -1), lower=True)
                flat = np.moveaxis(both.reshape(n, -1, n), 1, 0).reshape(len(rows), -1)
                slope += flat @ np.eye(n).reshape(-1)
                curvature += flat @ flat.T
            step = cho_solve((cholesky(curvature, lower=True), True), slope)
        except np.linalg.LinAlgError:
            return x
        decrement = float(np.sqrt(max(slope @ step, 0.0)))
        # a self-concordant barrier: this step stays feasible
        x = x + np.tensordot(step / (1.0 + decrement) if decrement > 0.25 else step, units, 1)
        if decrement < _CENTRED:
            break
    return np.asarray(x)
