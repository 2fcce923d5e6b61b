"""The prototype of a landing: inelastic impacts with friction, in the order of touch, with what acts between and after.

    (M + diag k) (v⁺ − v⁻) = −s (h − Sᵀτ) + Jᵀλ,    0 ≤ λ_n ⊥ J_n v⁺ + e min(J_n v⁻, 0) ≥ 0,    ‖λ_t‖ ≤ μ λ_n

at once (``simultaneous``), or one touch after the other with the flow between them (``in_order``): between touches the
contacts that have landed act with the same law, without rebound. Mass, Jacobians and bias stay those of v⁻.
"""

from __future__ import annotations

import numba
import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
_SWEEPS, _TOLERANCE = 400, 1e-9


@numba.njit(cache=False)
def _impulses(G, b, mu, target):  # type: ignore[no-untyped-def]
    """Projected Gauss-Seidel: λ (3m,) of velocities b + G λ; ``target`` (m,): normal velocity to leave with."""
    m = mu.size
    z = np.zeros(3 * m)
    scale = np.abs(b).max() + 1e-12
    for _ in range(_SWEEPS):
        change = 0.0
        for i in range(m):
            n = 3 * i
            u = b[n] - target[i] + G[n] @ z
            new = max(0.0, z[n] - u / G[n, n])
            change = max(change, abs(new - z[n]) * G[n, n])
            z[n] = new
            stiff = 0.5 * (G[n + 1, n + 1] + G[n + 2, n + 2]) + abs(G[n + 1, n + 2])
            t1 = z[n + 1] - (b[n + 1] + G[n + 1] @ z) / stiff
            t2 = z[n + 2] - (b[n + 2] + G[n + 2] @ z) / stiff
            size, most = np.sqrt(t1 * t1 + t2 * t2), mu[i] * new
            if size > most:
                t1, t2 = t1 * most / size, t2 * most / size
            change = max(change, max(abs(t1 - z[n + 1]), abs(t2 - z[n + 2])) * stiff)
            z[n + 1], z[n + 2] = t1, t2
        if change <= _TOLERANCE * scale:
            break
    return z


@numba.njit(cache=False)
def simultaneous(M, bias, J, v, mu, e, k, s):  # type: ignore[no-untyped-def]
    """v⁺ (nv,) and λ (3m,); J (3m, nv), mu, e (m,), k (nv,) kg m², s in s."""
    inverse = np.linalg.inv(M + np.diag(k))
    W = J @ inverse
    G = W @ J.T
    free = v - s * (inverse @ bias)
    approach = np.minimum((J @ v)[::3].copy(), 0.0)
    z = _impulses(G, J @ free, mu, -e * approach)
    return free + W.T @ z, z


@numba.njit(cache=False)
def in_order(M, bias, J, v, mu, e, k, s, delays, hitting):  # type: ignore[no-untyped-def]
    """v⁺ (nv,): contacts that hit act from their ``delays`` (m, s) on; ``s`` is what follows the last touch."""
    m = mu.size
    landed = ~hitting
    now = 0.0
    last = 0.0
    for i in range(m):
        if hitting[i]:
            last = max(last, delays[i])
    for _ in range(m + 1):
        when, which = np.inf, -1
        for i in range(m):
            if not landed[i] and delays[i] < when:
                when, which = delays[i], i
        if which < 0:
            when = last + s
        v = _flow(M, bias, J, v, mu, landed, when - now)
        if which < 0:
            break
        now = when
        landed[which] = True
        approach = (J @ v)[3 * which]
        if approach < 0.0:
            rows = np.flatnonzero(landed)
            v = _impact(M, J, v, mu, e, k, rows, which)
    return v


@numba.njit(cache=False)
def _rows(J, chosen):  # type: ignore[no-untyped-def]
    A = np.empty((3 * chosen.size, J.shape[1]))
    for j in range(chosen.size):
        A[3 * j : 3 * j + 3] = J[3 * chosen[j] : 3 * chosen[j] + 3]
    return A


@numba.njit(cache=False)
def _flow(M, bias, J, v, mu, landed, dt):  # type: ignore[no-untyped-def]
    chosen = np.flatnonzero(landed)
    inverse = np.linalg.inv(M)
    free = v - dt * (inverse @ bias)
    if chosen.size == 0 or dt <= 0.0:
        return free
    A = _rows(J, chosen)
    W = A @ inverse
    z = _impulses(W @ A.T, A @ free, mu[chosen], np.zeros(chosen.size))
    return free + W.T @ z


@numba.njit(cache=False)
def _impact(M, J, v, mu, e, k, chosen, which):  # type: ignore[no-untyped-def]
    A = _rows(J, chosen)
    inverse = np.linalg.inv(M + np.diag(k))
    W = A @ inverse
    u = A @ v
    target = np.zeros(chosen.size)
    for j in range(chosen.size):
        if chosen[j] == which:
            target[j] = -e[which] * min(u[3 * j], 0.0)
    z = _impulses(W @ A.T, u, mu[chosen], target)
    return v + W.T @ z
