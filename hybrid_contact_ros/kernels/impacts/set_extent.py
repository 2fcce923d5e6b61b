"""How far a set of velocities after an impact reaches from v⁻: along coordinates, and along an invariant basis."""

from __future__ import annotations

import math

from hybrid_contact_ros.kernels.algebra.dense import forward_solve
from hybrid_contact_ros.kernels.compiling import kernel


@kernel
def _dual_norm(n, L, row):
    """‖L⁻¹ rowᵀ‖, the most that ``row`` (n,), which is overwritten, makes of a velocity of kinetic norm 1."""
    forward_solve(n, L, row)
    total = 0.0
    for k in range(n):
        total += row[k] * row[k]
    return math.sqrt(total)


@kernel
def set_extent(
    # terms:
    duration, drive, own, margin, first,
    # impact:
    mass, bias, velocity, L, basis, caps,
    # set:
    velocities, generators,
    # scratch:
    row, pulled,
    # out:
    change, jump,
):  # fmt: skip
    """Largest |Δv| of each coordinate, and of each component B M v, over a set and in the landing model.

    The set is hull(velocities) + {Σ aᵢ gᵢ, |aᵢ| ≤ 1} + a ball of radius ``margin``; its largest |B M Δv| is exact. A
    landing on all contacts at once obeys (M + K) Δv = −s b + Jᵀλ with K = diag(k + k_own) on the joints. B takes the
    impulses out, B M Δv = −s B b − B K Δv, and for any s, k and k_own of their intervals and Δv in the set this is
    at most s |Bᵢb| + max |Bᵢ K Δv| + Σ k_own |Bᵢⱼ| |Δvⱼ|. K = min(k, caps) on the joints bends where k is a cap: its
    maximum, convex between, is at one of these k or at the end. The larger one is told; the margin adds its own size,
    since a row of B has the norm 1.

    Args:
        duration: the largest s, s. drive, own: the largest k of all joints and k_own of each, kg m². margin: √J.
        first: number of the first joint's coordinate.
        mass: M (n, n). bias: b = h − Sᵀτ (n,). velocity: v⁻ (n,). L: M = L Lᵀ. basis: B (r, n).
        caps: (n,), kg m², the most that K adds to a coordinate; k_own ends there, too.
        velocities: (p, n), p ≥ 1. generators: (g, n).
        row, pulled: scratch (n,). change: out (r,), √J. jump: out (n,).
    """
    n = velocity.shape[0]
    for j in range(n):
        most = 0.0
        for p in range(velocities.shape[0]):
            most = max(most, abs(velocities[p, j] - velocity[j]))
        for g in range(generators.shape[0]):
            most += abs(generators[g, j])
        if margin > 0.0:
            for k in range(n):
                row[k] = 1.0 if k == j else 0.0
            most += margin * _dual_norm(n, L, row)
        jump[j] = most
    for i in range(basis.shape[0]):
        pushed = 0.0
        for k in range(n):
            pushed += basis[i, k] * bias[k]
        total = duration * abs(pushed)
        if drive > 0.0:
            total += _pull(first, margin, drive, velocity, L, basis[i], caps, velocities, generators, row, pulled)
        if own > 0.0:
            for j in range(first, n):
                total += min(own, caps[j]) * abs(basis[i, j]) * jump[j]
        for k in range(n):
            pushed = 0.0
            for j in range(n):
                pushed += basis[i, j] * mass[j, k]
            row[k] = pushed
        change[i] = margin + max(total, _reach(0, 0.0, velocity, L, row, velocities, generators, row))


@kernel
def _pull(first, margin, drive, velocity, L, direction, caps, velocities, generators, row, pulled):
    """The largest |Σ directionⱼ min(k, capⱼ) Δvⱼ| over the set and k up to ``drive``."""
    n = velocity.shape[0]
    most = 0.0
    for end in range(first - 1, n):  # the end of the interval, then caps within it
        k = drive if end < first else caps[end]
        if k > drive or (end >= first and k == drive):
            continue
        for j in range(n):
            pulled[j] = min(k, caps[j]) * direction[j]
        most = max(most, _reach(first, margin, velocity, L, pulled, velocities, generators, row))
    return most


@kernel
def _reach(first, margin, velocity, L, direction, velocities, generators, row):
    """The largest |Σ directionⱼ Δvⱼ| of the coordinates from ``first`` on over the set."""
    n = velocity.shape[0]
    most = 0.0
    for p in range(velocities.shape[0]):
        total = 0.0
        for j in range(first, n):
            total += direction[j] * (velocities[p, j] - velocity[j])
        most = max(most, abs(total))
    for g in range(generators.shape[0]):
        total = 0.0
        for j in range(first, n):
            total += direction[j] * generators[g, j]
        most += abs(total)
    if margin > 0.0:
        for j in range(n):
            row[j] = direction[j] if j >= first else 0.0
        most += margin * _dual_norm(n, L, row)
    return most
