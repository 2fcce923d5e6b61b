"""Chatter of several contacts at once, to first order: constant accelerations, impacts one after the other."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import nnls

Array = NDArray[np.float64]

_OVER = 1e-7  # of the first impact speed: the chatter is over when no contact is, or can become by falling, faster
_AT_REST = 1e-10  # of the first impact speed: a contact that bounces no faster is at rest
_AT_ONCE = 1e-12  # of the first time of flight: gaps that close within this time close together


@dataclass(frozen=True, slots=True)
class Chatter:
    """The end of a chatter: ``time`` (s from now) when all contacts are closed, after ``impacts`` computed ones."""

    time: float
    impacts: int


def chatter(
    gap: Array, speed: Array, free: Array, delassus: Array, restitution: Array, max_impacts: int = 5000
) -> Chatter | None:
    """Follow m gaps with φ̈ = b + G λ until all rest; None where they do not within ``max_impacts``.

    Restitution is Newton's, and there is no friction. Contacts that close together impact one at a time, the fastest
    first, over and over until none approaches. Contacts at rest push (0 ≤ λ ⊥ φ̈ ≥ 0); impacts of others knock them off,
    or are shared in the same way. The last bounces, slower than 1e-7 of the first impact, are left out.

    Args:
        gap: φ ≥ 0 (m,), m. speed: φ̇ (m,), m/s. free: b (m,), φ̈ without contact, m/s². delassus: G (m, m), 1/kg.
        restitution: e (m,). max_impacts: computed at most.
    """
    phi, rate = gap.astype(np.float64), speed.astype(np.float64)
    resting = np.zeros(phi.size, dtype=bool)
    scale = float(np.sqrt(rate**2 + 2.0 * np.abs(free) * phi).max(initial=0.0)) or 1.0
    slow = _AT_REST * scale
    moment = _AT_ONCE * scale / (float(np.abs(free).max(initial=0.0)) or 1.0)
    time, impacts = 0.0, 0
    while True:
        touching = phi <= 0.0
        hit = _impacts(rate, touching, delassus, restitution, slow, max_impacts - impacts)
        if hit is None:
            return None
        impacts += hit
        resting = touching & (np.abs(rate) <= slow)
        rate[resting] = 0.0
        acceleration = free + delassus[:, resting] @ _forces(delassus[np.ix_(resting, resting)], free[resting])
        lifting = resting & (acceleration > 1e-9 * np.abs(free).max())
        if lifting.any() and resting.all():
            return None  # what should stay closed is pulled open
        if (np.sqrt(rate**2 + 2.0 * np.abs(free) * phi) <= _OVER * scale).all():
            return Chatter(time, impacts)
        flying = ~resting | lifting
        ahead = np.where(flying, _times(phi, rate, acceleration), np.inf)
        step = float(ahead.min())
        if not np.isfinite(step) or impacts >= max_impacts:
            return None
        phi[flying] += rate[flying] * step + 0.5 * acceleration[flying] * step**2
        rate[flying] += acceleration[flying] * step
        phi[flying & (ahead <= step + moment)] = 0.0
        time += step


def _impacts(
    rate: Array, touching: NDArray[np.bool_], delassus: Array, restitution: Array, slow: float, limit: int
) -> int | None:
    """Change ``rate`` until no touching contact approaches; return the impacts made, None for more than ``limit``."""
    for count in range(limit):
        approach = np.where(touching, rate, np.inf)
        i = int(np.argmin(approach))
        if approach[i] >= -0.5 * slow:
            return count
        e = restitution[i] if -rate[i] > slow else 0.0
        rate += delassus[:, i] * (-(1.0 + e) * rate[i] / delassus[i, i])
        if e == 0.0:
            rate[i] = 0.0
    return None


def _forces(delassus: Array, free: Array) -> Array:
    """Solve 0 ≤ λ ⊥ b + G λ ≥ 0 as the least squares problem min ‖F λ + c‖ over λ ≥ 0, with G = FᵀF and Fᵀc = b."""
    if free.size == 0:
        return free
    values, vectors = np.linalg.eigh(delassus)
    roots = np.sqrt(np.maximum(values, 0.0))
    keep = roots > 1e-7 * roots.max()
    factor = roots[keep, None] * vectors[:, keep].T
    return np.asarray(nnls(factor, -(vectors[:, keep].T @ free) / roots[keep])[0])


def _times(phi: Array, rate: Array, acceleration: Array) -> Array:
    """Times t > 0 (m,) when φ + φ̇ t + φ̈ t²/2 comes down to 0; infinite where it never does."""
    found = np.full(phi.size, np.inf)
    for i, (h, s, a) in enumerate(zip(phi, rate, acceleration, strict=True)):
        inside = s**2 - 2.0 * a * h
        if a < 0.0:
            found[i] = (s + np.sqrt(inside)) / -a if s >= 0.0 else 2.0 * h / (np.sqrt(inside) - s)
        elif s < 0.0 and inside >= 0.0:
            found[i] = 2.0 * h / (np.sqrt(inside) - s)
    return found
