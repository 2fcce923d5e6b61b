"""How well forces answer a force-acceleration problem of :mod:`.friction`, and the scales of that."""

from __future__ import annotations

import math

from numba import njit


@njit(cache=True, nogil=True)
def mode_residual(d, scale, G, friction, touching, moving, slip, forces, accelerations):
    """Largest violation of the conditions, forces times g_i, over the largest of |b| (``scale``) and g_i |λ_i|.

    Made from the definition and not from the active set; 0 where ``scale`` is. Forces much larger than what moves the
    contacts (wedging) set the scale, as their rounding does. Of two answers that both fail, the larger forces look
    better by this measure: compare these by :func:`mode_violation`.
    """
    if scale <= 0.0:
        return 0.0
    worst, largest = mode_violation(d, G, friction, touching, moving, slip, forces, accelerations)
    return worst / max(scale, largest)


@njit(cache=True, nogil=True)
def mode_violation(d, G, friction, touching, moving, slip, forces, accelerations):
    """(largest violation of the conditions, largest g_i |λ_i|), both m/s²; (inf, 1) for what is not finite."""
    for k in range(forces.shape[0]):
        if not (math.isfinite(forces[k]) and math.isfinite(accelerations[k])):
            return math.inf, 1.0
    worst = 0.0
    largest = 0.0
    for i in range(friction.shape[0]):
        if not touching[i]:
            continue
        f = i * (1 + d)
        g = contact_scale(d, f, G)
        normal = forces[f] * g
        for k in range(1 + d):
            largest = max(largest, abs(forces[f + k]) * g)
        worst = max(worst, abs(min(normal, accelerations[f])))
        limit = friction[i] * normal
        size = 0.0
        rate = 0.0
        for k in range(d):
            size += (g * forces[f + 1 + k]) ** 2
            rate += accelerations[f + 1 + k] ** 2
        size = math.sqrt(size)
        rate = math.sqrt(rate)
        worst = max(worst, size - max(limit, 0.0))
        against = 0.0
        for k in range(d):
            direction = slip[i, k]
            if not moving[i]:
                direction = accelerations[f + 1 + k] / rate if rate > 0.0 else 0.0
            against += (g * forces[f + 1 + k] + limit * direction) ** 2
        against = math.sqrt(against)
        if not moving[i]:
            against = min(against, rate)
        worst = max(worst, against)
    return worst, largest


@njit(cache=True, nogil=True)
def problem_scale(d, b, touching):
    """Largest |b| of a touching contact, m/s²: what accelerations and g_i λ are measured against."""
    scale = 0.0
    for i in range(touching.shape[0]):
        if touching[i]:
            for k in range(i * (1 + d), (i + 1) * (1 + d)):
                scale = max(scale, abs(b[k]))
    return scale


@njit(cache=True, nogil=True)
def contact_scale(d, first, G):
    """g_i, 1/kg: mean of the contact's own diagonal of G; between force and acceleration scales."""
    total = 0.0
    for k in range(1 + d):
        total += G[first + k, first + k]
    return max(total / (1 + d), 1e-300)


@njit(cache=True, nogil=True)
def contact_accelerations(G, b, forces, accelerations):
    n = b.shape[0]
    for i in range(n):
        accelerations[i] = b[i]
    for j in range(n):
        force = forces[j]
        if force != 0.0:
            for i in range(n):
                accelerations[i] += G[j, i] * force  # by rows: G is symmetric
