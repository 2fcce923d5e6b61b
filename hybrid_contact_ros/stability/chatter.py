"""Chatter of several contacts at once, to first order: constant accelerations, impacts one after the other."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import nnls

from hybrid_contact_ros.mechanics.contact_sets import counts

Array = NDArray[np.float64]

# All of these are parts of a size that the chatter has at its beginning.
_END_SPEED = 1e-7  # of the first impact speed: the chatter is over when no contact is, or can become by falling, faster
_REST_SPEED = 1e-10  # of the first impact speed: a contact that bounces no faster is at rest
_SAME_TIME = 1e-12  # of the first time of flight: gaps that close within this time close together
_LIFTING = 1e-9  # of the largest φ̈ without contact: a resting contact lifts off with a greater φ̈; the rest is rounding
# Of the largest singular value of F, where G = FᵀF: smaller ones are rounding, since eigenvalues of G that should be
# zero come out near 1e-16 of the largest, and their roots near 1e-8.
_INDEPENDENT = 1e-7


@dataclass(frozen=True, slots=True)
class Chatter:
    """The end of a chatter.

    Attributes:
        time: s from now, when all contacts are closed.
        impacts: number of impacts that were computed until then.
    """

    time: float
    impacts: int


def chatter(
    gap: Array, speed: Array, free: Array, delassus: Array, restitution: Array, max_impacts: int = 5000
) -> Chatter | None:
    """Follow m gaps with φ̈ = b + G λ until all rest; None where they do not within ``max_impacts``.

    Restitution is Newton's, and there is no friction. Contacts that close together impact one at a time, the fastest
    first, over and over until none approaches. A contact at rest pushes (0 ≤ λ ⊥ φ̈ ≥ 0). Where the impact of another
    contact makes a contact at rest approach, this contact takes its part of the impact as the next one in that order;
    where the impact makes it separate, it flies again. Bounces slower than 1e-7 of the first impact are left out.

    Args:
        gap: φ ≥ 0 (m,), m.
        speed: φ̇ (m,), m/s.
        free: b (m,), m/s², which is φ̈ without contact forces.
        delassus: G (m, m), 1/kg, of the normals.
        restitution: e (m,).
        max_impacts: the number of impacts after which the chatter is given up.
    """
    counts(max_impacts=max_impacts)
    phi, rate = gap.astype(np.float64), speed.astype(np.float64)
    resting = np.zeros(phi.size, dtype=bool)
    scale = float(np.sqrt(rate**2 + 2.0 * np.abs(free) * phi).max(initial=0.0)) or 1.0
    slow = _REST_SPEED * scale
    same_time = _SAME_TIME * scale / (float(np.abs(free).max(initial=0.0)) or 1.0)
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
        lifting = resting & (acceleration > _LIFTING * np.abs(free).max())
        if lifting.any() and resting.all():
            return None  # what should stay closed is pulled open
        if (np.sqrt(rate**2 + 2.0 * np.abs(free) * phi) <= _END_SPEED * scale).all():
            return Chatter(time, impacts)
        flying = ~resting | lifting
        ahead = np.where(flying, _times(phi, rate, acceleration), np.inf)
        step = float(ahead.min())
        if not np.isfinite(step) or impacts >= max_impacts:
            return None
        phi[flying] += rate[flying] * step + 0.5 * acceleration[flying] * step**2
        rate[flying] += acceleration[flying] * step
        phi[flying & (ahead <= step + same_time)] = 0.0
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
    keep = roots > _INDEPENDENT * roots.max()
    factor = roots[keep, None] * vectors[:, keep].T
    return np.asarray(nnls(factor, -(vectors[:, keep].T @ free) / roots[keep])[0])


def _times(phi: Array, rate: Array, acceleration: Array) -> Array:
    """Times t > 0 (m,) when φ + φ̇ t + φ̈ t²/2 comes down to 0; infinite where it never does."""
    found = np.full(phi.size, np.inf)
    for i, (gap, speed, second) in enumerate(zip(phi, rate, acceleration, strict=True)):
        impact_squared = speed**2 - 2.0 * second * gap
        if second < 0.0 and speed >= 0.0:
            found[i] = (speed + np.sqrt(impact_squared)) / -second
        elif second < 0.0 or (speed < 0.0 and impact_squared >= 0.0):
            found[i] = 2.0 * gap / (np.sqrt(impact_squared) - speed)
    return found
