"""Bounds of all outcomes of the landing law with its parameters in their intervals: one call.

The law is that of :mod:`~hybrid_contact_ros.kernels.impacts.landing_law`. With ũ = J v⁺ − w, N = M + diag k at the
middle of a piece of the interval of k, and Γ = (J N⁻¹ Jᵀ)⁻¹, its equation of motion is

    v⁺ − v⁻ = H p + N⁻¹JᵀΓ (w − J v⁻ + ũ),    λ = λ_s + Γ ũ,    H = N⁻¹ − N⁻¹JᵀΓJN⁻¹

where p = −s (h − Sᵀτ) − κ (v⁺ − v⁻) is the impulse of what is no contact, κ = diag k − (middle). Whatever the
parameters do, they do linearly through λ_s and v⁺ at ũ = 0, but for κ (v⁺ − v⁻), of which the middle of the bounds is
taken out: what is left of it is of second order, and lies in the bounds (first those of energy, then narrower ones).
Only ũ knows of contacts; :mod:`~hybrid_contact_ros.kernels.impacts.slip_bounds` bounds it. Where all contacts stick
for all parameters it is 0, and the bounds are exact but for κ.
"""

from __future__ import annotations

import math

from hybrid_contact_ros.codes import Status
from hybrid_contact_ros.kernels.compiling import kernel
from hybrid_contact_ros.kernels.impacts.bound_maps import (
    BoundScratch,
    inner,
    measure_all,
    own_blocks,
    refer,
    response_maps,
    vary,
)
from hybrid_contact_ros.kernels.impacts.cap_bounds import narrow_by_cap, prepare_cap
from hybrid_contact_ros.kernels.impacts.slip_bounds import couple, slip_bounds

_SOLVED, _SINGULAR, _NONE = int(Status.SOLVED), int(Status.SINGULAR), int(Status.NONE_FOUND)
_ROOM = 1e-9  # of sizes, for rounding
_LITTLE = 0.95  # of the width of all bounds: a round that leaves more has narrowed little, and is the last


@kernel
def _first_bounds(half, alone, duration, driven, bias, target, radius, s):
    """Bound v⁺ − v⁻ (n_vectors[1] and [2]) by energy, for all k of the piece: (N a − p)ᵀ(a − (v_w − v⁻)) ≤ 0 for
    a = v⁺ − v⁻ and J v_w = w. Returns whether that bounds anything."""
    n, r = bias.size, radius.size
    share = 0.0  # at least the largest eigenvalue of N⁻¹ κ
    for i in range(n):
        total = 0.0
        for j in range(n):
            total += abs(s.inverse[i, j]) * driven[j]
        share = max(share, (half[i] + alone[i]) * total)
    if not share < 0.9:
        return False
    apart, pull, work, unsure = 0.0, 0.0, 0.0, 0.0
    for a in range(r):
        apart += inner(s.gamma[a], target) * target[a]
    apart = math.sqrt(max(apart, 0.0))
    for a in range(r):
        apart += radius[a] * math.sqrt(s.gamma[a, a])
        pushed = inner(s.back[a], bias)
        work += pushed * target[a]
        unsure += abs(pushed) * radius[a]
    work = abs(work) + unsure
    for i in range(n):
        pull += bias[i] * inner(s.inverse[i], bias)
    size = math.sqrt(1.0 + share) * apart + duration * math.sqrt(max(pull, 0.0) / (1.0 - share))
    size += math.sqrt(duration * work)
    for j in range(n):
        most = (1.0 + _ROOM) * size * math.sqrt(s.inverse[j, j] / (1.0 - share))
        s.n_vectors[1, j], s.n_vectors[2, j] = -most, most
    return True


@kernel
def _narrow(w, s):
    """Narrow the bounds of v⁺ − v⁻ by the reference, what the parameters change, and y."""
    n, m = s.H.shape[0], s.coupling.shape[1]
    centre, low, high, spread = s.n_vectors[0], s.n_vectors[1], s.n_vectors[2], s.n_vectors[3]
    for j in range(n):
        more = spread[j]
        for i in range(m):
            total = 0.0
            for a in range(0 if s.m_vectors[9, i] > 0.0 else 1, w):
                total += s.back[i * w + a, j] ** 2
            more += s.m_vectors[8, i] * math.sqrt(total)
        more += _ROOM * (more + abs(centre[j]))
        low[j], high[j] = max(low[j], centre[j] - more), min(high[j], centre[j] + more)


@kernel
def _middle(w, duration, bias, target, mu, rows, reference, left, s):
    """λ_s (r_vectors[0]), the reference (r_vectors 1 and 2), and its v⁺ − v⁻ (n_vectors[0]) in the middle of all
    intervals."""
    n, r = bias.size, target.size
    for a in range(r):
        total = 0.0
        for c in range(r):
            total += s.gamma[a, c] * target[c]
        for j in range(n):
            total += duration * s.back[a, j] * bias[j]
        s.r_vectors[0, a] = total
    refer(w, mu, rows, reference, left, s)
    for j in range(n):
        total = 0.0
        for k in range(n):
            total -= duration * s.H[j, k] * bias[k]
        for a in range(r):
            total += s.back[a, j] * (target[a] + s.r_vectors[1, a])
        s.n_vectors[0, j] = total


@kernel
def landing_bounds(
    # constants:
    rounds,
    # landing:
    d, mass, bias, rows, velocity,
    # terms:
    duration, drives, halves, alone, driven, mu_low, mu_high, left, radius,
    # reference:
    middle_friction, references,
    # scratch:
    N, L, inverse, R, G, gamma, back, H, own, block, blocks, row, n_vectors, r_vectors, m_vectors, coupling, B, table,
    K, cap_square, cap_rows, cap_m,
    # out:
    lower, upper,
):  # fmt: skip
    """Bound every outcome v⁺ of the landing law, component by component.

    Args:
        rounds: of narrowing, 3 or so. d, mass (n, n), bias (n,), rows (r, n), velocity (n,): as of Landing.
        duration: (least, greatest) s. drives: k in the middle of the pieces of its interval. halves: by how much all k
            may be above or below it together, each by its own. alone: and each by itself, beside that. These are
            (pieces, n), kg m², and 0 without a drive. driven: (n,) 1 for coordinates with a drive, else 0.
            mu_low, mu_high: (m,).
        left, radius: (r,) m/s, middle and half of the intervals of w.
        middle_friction: (m,), and references: (pieces, n) outcomes of the law with it, ``left``, the middle of the
            durations and of each piece: any solutions, as exact as they may be.
        lower, upper: out, (n,).

    Returns:
        SOLVED; SINGULAR where M or the contacts' J N⁻¹ Jᵀ has no inverse, NONE_FOUND where the interval of k is too
        long for its pieces: then the bounds are infinite. Where friction couples contacts so strongly that 1 − B is no
        M-matrix they are those of the energy alone.
    """
    s = BoundScratch(
        N,
        L,
        inverse,
        R,
        G,
        gamma,
        back,
        H,
        own,
        block,
        blocks,
        row,
        n_vectors,
        r_vectors,
        m_vectors,
        coupling,
        B,
        table,
        K,
        cap_square,
        cap_rows,
        cap_m,
    )
    n, r, w = velocity.size, rows.shape[0], 1 + d
    for j in range(n):
        lower[j], upper[j] = math.inf, -math.inf
    target, middle_duration = s.r_vectors[4], 0.5 * (duration[0] + duration[1])
    status = _SOLVED
    for a in range(r):
        total = left[a]
        for j in range(n):
            total -= rows[a, j] * velocity[j]
        target[a] = total
    for piece in range(drives.shape[0]):
        if not response_maps(drives[piece], mass, rows, s):
            status = _SINGULAR
            break
        own_blocks(w, s)
        couple(w, mu_high, s)
        if not _first_bounds(halves[piece], alone[piece], duration[1], driven, bias, target, radius, s):
            status = _NONE
            break
        _middle(w, middle_duration, bias, target, middle_friction, rows, references[piece], left, s)
        measure_all(w, driven, middle_friction, mu_high, radius, s)
        duration_half = 0.5 * (duration[1] - duration[0])
        rest, changes = prepare_cap(w, duration_half, bias, radius, s)
        width = math.inf
        for _ in range(rounds):
            vary(w, halves[piece], alone[piece], duration_half, bias, middle_friction, mu_high, s)
            if rest < math.inf:
                narrow_by_cap(w, halves[piece], rest, changes, s)
            if slip_bounds(w, mu_low, mu_high, s):
                _narrow(w, s)
            now = 0.0
            for j in range(n):
                now += s.n_vectors[2, j] - s.n_vectors[1, j]
            if now > _LITTLE * width:
                break
            width = now
        for j in range(n):
            lower[j] = min(lower[j], velocity[j] + s.n_vectors[1, j])
            upper[j] = max(upper[j], velocity[j] + s.n_vectors[2, j])
    if status != _SOLVED:
        for j in range(n):
            lower[j], upper[j] = -math.inf, math.inf
    return status
