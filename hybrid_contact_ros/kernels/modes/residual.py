"""How far forces are from an answer to the problem of :mod:`.friction`, and the scales by which that is measured."""

from __future__ import annotations

import math

from hybrid_contact_ros.kernels.compiling import kernel


@kernel
def mode_residual(scale, dynamics, touching, moving, slip, forces, accelerations):
    """Return the largest violation of the conditions over the larger of ``scale``, the largest |b|, and g_i |λ_i|.

    The residual has no unit, is 0 where ``scale`` is, and comes from the definition and not from the active set. Forces
    much larger than what moves the contacts (wedging) set the scale, as their rounding does. Of two answers that both
    fail, the one with larger forces looks better by this measure: compare such answers by :func:`mode_violation`.
    """
    if scale <= 0.0:
        return 0.0
    worst, largest = mode_violation(dynamics, touching, moving, slip, forces, accelerations)
    return worst / max(scale, largest)


@kernel
def mode_violation(dynamics, touching, moving, slip, forces, accelerations):
    """Return the largest violation of the conditions, forces times g_i, and the largest g_i |λ_i|, both in m/s².

    Both are for touching contacts only; (inf, 1) stands for forces or accelerations that are not finite.
    """
    d, G, friction = dynamics.d, dynamics.G, dynamics.friction
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


@kernel
def problem_scale(d, b, touching):
    """Return the largest |b| of a touching contact, m/s²: accelerations and g_i λ are measured against it."""
    scale = 0.0
    for i in range(touching.shape[0]):
        if touching[i]:
            for k in range(i * (1 + d), (i + 1) * (1 + d)):
                scale = max(scale, abs(b[k]))
    return scale


@kernel
def contact_scale(d, first, G):
    """Return g_i, 1/kg, the mean of the contact's own diagonal of G: g_i λ_i is of the size of accelerations."""
    total = 0.0
    for k in range(1 + d):
        total += G[first + k, first + k]
    return max(total / (1 + d), 1e-300)


@kernel
def contact_accelerations(G, b, forces, accelerations):
    """Write a = G λ + b (n,), m/s²."""
    n = b.shape[0]
    for i in range(n):
        accelerations[i] = b[i]
    for j in range(n):
        force = forces[j]
        if force != 0.0:
            for i in range(n):
                accelerations[i] += G[j, i] * force  # by rows: G is symmetric
