"""Bounds of all outcomes of the landing law with its parameters in their intervals: one call.

The law is that of :mod:`~hybrid_contact_ros.kernels.impacts.landing_law`. With ũ = J v⁺ − w, N = M + diag k at the middle
of a piece of the interval of k, and Γ = (J N⁻¹ Jᵀ)⁻¹, its equation of motion is

    v⁺ − v⁻ = H p + Γ-response of (w − J v⁻) + back ũ,    λ = λ_s + Γ ũ,    H = N⁻¹ − N⁻¹JᵀΓJN⁻¹

where p = −s (h − Sᵀτ) − κ E (v⁺ − v⁻) is the impulse of what is no contact, κ = k − (middle). Whatever the parameters do,
they do linearly through λ_s and v⁺ at ũ = 0, but for κ (v⁺ − v⁻), of which the middle of the bounds is taken out: what is
left of it is of second order, and lies in the bounds. Only ũ knows of contacts. Let ũ*, λ* be one solution (the
reference). Where contact i is closed in both,

    Δλ_tᵀ Δũ_t ≤ (μ*λ*_n − μλ_n)(‖ũ_t‖ − ‖ũ*_t‖),    ‖ũ_t‖ − ‖ũ*_t‖ = Δũ_tᵀũ*_t/‖ũ*_t‖ + [0, ‖Δũ_t‖²/2‖ũ*_t‖],

since ‖λ_t‖ ≤ μλ_n and λ_tᵀũ_t = −μλ_n ‖ũ_t‖. With Δλ = Δλ_s + Γ Δũ follows, for yᵢ = ‖Δũᵢ‖,

    (λmin(Γ_tt,ii) − μ‖Γ_nt,ii‖) yᵢ ≤ eᵢ + Σ_j≠i (‖Γ_ti,j‖ + μ‖Γ_ni,j‖) y_j,

where eᵢ is the largest ‖λ_t‖ − μλ_n at ũ = ũ* if the contact sticks in the reference, negative where it always sticks,
and else ‖Δλ_st + μ Δλ_sn ũ*_t/‖ũ*_t‖‖ with what μ and the turning of the slip add. A contact that is open has λᵢ = 0, which gives Δũᵢ by itself, and is possible only if its ũ_n may be positive. Together
y ≤ a + B y with B ≥ 0; where 1 − B is an M-matrix, y ≤ (1 − B)⁻¹ a, and then every row may be used again to narrow the
others. Contacts that stick for all parameters get yᵢ = 0: where all do, the bounds are exact but for κ.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from hybrid_contact_ros.codes import Status
from hybrid_contact_ros.kernels.algebra.dense import cholesky_factor, cholesky_solve
from hybrid_contact_ros.kernels.compiling import kernel

Array = NDArray[np.float64]

_SOLVED, _SINGULAR, _NONE = int(Status.SOLVED), int(Status.SINGULAR), int(Status.NONE_FOUND)
_MASS_PIVOT, _CONTACT_PIVOT = 1e-13, 1e-9
_CLEAN = 1e-7  # of the largest speed: a reference that slips less sticks
_ROOM = 1e-9  # of sizes, for rounding
_NARROWINGS = 12


class BoundScratch(NamedTuple):
    """Scratch; make it by :func:`bound_scratch`."""

    N: Array  # (n, n)
    L: Array  # (n, n)
    inverse: Array  # N⁻¹ (n, n)
    R: Array  # N⁻¹Jᵀ as rows (r, n)
    G: Array  # (r, r)
    gamma: Array  # Γ (r, r)
    back: Array  # Γ R (r, n)
    H: Array  # (n, n)
    own: Array  # (Γ_ii)⁻¹ Γ_ij, in blocks (r, r)
    block: Array  # (1 + d, 1 + d)
    blocks: Array  # (Γ_ii)⁻¹ (r, 1 + d)
    row: Array  # (max(n, r),)
    n_vectors: Array  # (8, n)
    r_vectors: Array  # (8, r)
    m_vectors: Array  # (12, m)
    coupling: Array  # (4, m, m)
    B: Array  # (m, m)
    table: Array  # (5, m, n + r + 2)


def bound_scratch(m: int, d: int, n: int) -> BoundScratch:
    """Scratch for m contacts of d tangents and n coordinates."""
    r = m * (1 + d)
    shapes = [
        *[(n, n)] * 3, (r, n), (r, r), (r, r), (r, n), (n, n), (r, r), (1 + d, 1 + d), (r, 1 + d), (max(n, r, 1),), (8, n), (8, r),
        (12, m), (4, m, m), (m, m), (5, m, n + r + 2),
    ]  # fmt: skip
    return BoundScratch(*(np.zeros(shape) for shape in shapes))


@kernel
def _inverse(n, tolerance, A, L, column, out):
    """Write A⁻¹ of a symmetric A, whose lower triangle is read. Returns whether A is positive definite."""
    if cholesky_factor(n, tolerance, A, L) < n:
        return False
    for j in range(n):
        for i in range(n):
            column[i] = 1.0 if i == j else 0.0
        cholesky_solve(n, L, column)
        for i in range(n):
            out[i, j] = column[i]
    return True


@kernel
def _maps(drive, driven, mass, rows, s):
    """N, its inverse, Γ, back and H at the middle of a piece. Returns whether all of them exist."""
    n, r = mass.shape[0], rows.shape[0]
    for i in range(n):
        for j in range(n):
            s.N[i, j] = mass[i, j]
        s.N[i, i] += drive * driven[i]
    if not _inverse(n, _MASS_PIVOT, s.N, s.L, s.row, s.inverse):
        return False
    for a in range(r):
        for j in range(n):
            total = 0.0
            for k in range(n):
                total += s.inverse[j, k] * rows[a, k]
            s.R[a, j] = total
    for a in range(r):
        for c in range(r):
            total = 0.0
            for k in range(n):
                total += rows[a, k] * s.R[c, k]
            s.G[a, c] = total
    # The factor of G takes the place of ``own``, which is written later.
    if not _inverse(r, _CONTACT_PIVOT, s.G, s.own, s.row, s.gamma):
        return False
    for a in range(r):
        for j in range(n):
            total = 0.0
            for c in range(r):
                total += s.gamma[a, c] * s.R[c, j]
            s.back[a, j] = total
    for i in range(n):
        for j in range(n):
            total = s.inverse[i, j]
            for a in range(r):
                total -= s.R[a, i] * s.back[a, j]
            s.H[i, j] = total
    return True


@kernel
def _norm(A, i, j, w, first_row, last_row, first_column):
    """Frobenius norm of rows first_row … last_row of the block (i, j), from a column on."""
    total = 0.0
    for a in range(first_row, last_row + 1):
        for c in range(first_column, w):
            total += A[i * w + a, j * w + c] ** 2
    return math.sqrt(total)


@kernel
def _least(A, i, w):
    """The least eigenvalue of the tangential block of contact i."""
    if w == 2:
        return A[2 * i + 1, 2 * i + 1]
    a, b, c = A[3 * i + 1, 3 * i + 1], A[3 * i + 1, 3 * i + 2], A[3 * i + 2, 3 * i + 2]
    return 0.5 * (a + c) - math.sqrt(0.25 * (a - c) ** 2 + b * b)


@kernel
def _own_blocks(w, s):
    """``blocks`` = (Γ_ii)⁻¹ and ``own`` = (Γ_ii)⁻¹ Γ_ij of all contacts."""
    r = s.gamma.shape[0]
    for i in range(r // w):
        for a in range(w):
            for c in range(w):
                s.block[a, c] = s.gamma[i * w + a, i * w + c]
        cholesky_factor(w, 0.0, s.block, s.block)  # a block of a definite matrix
        for c in range(w):
            for a in range(w):
                s.row[a] = 1.0 if a == c else 0.0
            cholesky_solve(w, s.block, s.row)
            for a in range(w):
                s.blocks[i * w + a, c] = s.row[a]
        for a in range(w):
            for c in range(r):
                s.own[i * w + a, c] = _of_block(i, a, w, s.gamma[:, c], s)


@kernel
def _of_block(i, a, w, vector, s):
    """Component a of (Γ_ii)⁻¹ times the part of ``vector`` (r,) that belongs to contact i."""
    total = 0.0
    for c in range(w):
        total += s.blocks[i * w + a, c] * vector[i * w + c]
    return total


@kernel
def _reference(w, mu, rows, reference, middle, s):
    """ũ* and λ* of the reference, so that λ* = λ_s + Γ ũ* exactly, and what they miss of the law.

    r_vectors: 0 λ_s, 1 ũ*, 2 λ*. m_vectors: 0 whether closed, 2 η, by which λ*_tᵀũ*_t is above −μλ*_n‖ũ*_t‖, 3 by which
    ‖λ*_t‖ is above μλ*_n, or, of an open one, ‖λ*‖.
    """
    still, u, push = s.r_vectors[0], s.r_vectors[1], s.r_vectors[2]
    r, n = rows.shape
    fastest, largest = 0.0, 0.0
    for a in range(r):
        total = -middle[a]
        for j in range(n):
            total += rows[a, j] * reference[j]
        u[a] = total
        fastest = max(fastest, abs(total), abs(middle[a]), abs(s.r_vectors[4, a]))
    for a in range(r):
        total = still[a]
        for c in range(r):
            total += s.gamma[a, c] * u[c]
        push[a] = total
        largest = max(largest, abs(total))
    for i in range(r // w):
        closed = push[i * w] > _CLEAN * largest
        s.m_vectors[0, i] = 1.0 if closed else 0.0
        slip = 0.0
        for t in range(1, w):
            slip += u[i * w + t] ** 2
        if closed:
            u[i * w] = 0.0
            if math.sqrt(slip) <= _CLEAN * fastest:
                for t in range(1, w):
                    u[i * w + t] = 0.0
        else:
            u[i * w] = max(u[i * w], 0.0)
    for a in range(r):
        total = still[a]
        for c in range(r):
            total += s.gamma[a, c] * u[c]
        push[a] = total
    for i in range(r // w):
        friction, slip, along = 0.0, 0.0, 0.0
        for t in range(1, w):
            friction += push[i * w + t] ** 2
            slip += u[i * w + t] ** 2
            along += push[i * w + t] * u[i * w + t]
        friction, slip = math.sqrt(friction), math.sqrt(slip)
        load = mu[i] * push[i * w]
        s.m_vectors[2, i] = max(along + load * slip, 0.0)
        s.m_vectors[3, i] = max(friction - load, 0.0)
        if s.m_vectors[0, i] == 0.0:
            s.m_vectors[3, i] = math.sqrt(friction**2 + push[i * w] ** 2)


@kernel
def _measure(w, mu, mu_high, impulse, which, s):
    """Write what a parameter that changes λ_s by ``impulse`` (r,) is to each contact: column ``which`` of the table.

    Rows: 0 ‖t + μ n ũ*/‖ũ*‖‖ where the reference slips, else ‖t‖ + μ|n|, 1 ‖t‖, 2 |(Γ_ii⁻¹ ·)_n|, 3 ‖Γ_ii⁻¹ ·‖, 4 |n|.
    """
    for i in range(impulse.shape[0] // w):
        normal, tangent, slip, both, size = impulse[i * w], 0.0, 0.0, 0.0, 0.0
        for t in range(1, w):
            tangent += impulse[i * w + t] ** 2
            slip += s.r_vectors[1, i * w + t] ** 2
        tangent, slip = math.sqrt(tangent), math.sqrt(slip)
        if slip > 0.0:
            for t in range(1, w):
                both += (impulse[i * w + t] + mu[i] * normal * s.r_vectors[1, i * w + t] / slip) ** 2
            s.table[0, i, which] = math.sqrt(both)
        else:
            s.table[0, i, which] = tangent + mu_high[i] * abs(normal)
        for a in range(w):
            size += _of_block(i, a, w, impulse, s) ** 2
        s.table[1, i, which], s.table[2, i, which] = tangent, abs(_of_block(i, 0, w, impulse, s))
        s.table[3, i, which], s.table[4, i, which] = math.sqrt(size), abs(normal)


@kernel
def _measure_all(w, driven, mu, mu_high, radius, s):
    """The table for an impulse 1 at each driven coordinate, and for each w by its radius."""
    n, r, push = driven.size, radius.size, s.r_vectors[3]
    for j in range(n + r):
        for a in range(r):
            push[a] = s.back[a, j] * driven[j] if j < n else s.gamma[a, j - n] * radius[j - n]
        _measure(w, mu, mu_high, push, j, s)
    for i in range(n):  # what all w together change of v⁺
        s.n_vectors[5, i] = 0.0
        for c in range(r):
            s.n_vectors[5, i] += abs(s.back[c, i]) * radius[c]


@kernel
def _excess(i, w, mu_low, mu_high, s):
    """The largest ‖λ_t‖ − μλ_n of contact i, which sticks in the reference, while nothing slips."""
    push, by_time, by_drive = s.r_vectors[2], s.r_vectors[5], s.r_vectors[6]
    most = -math.inf
    for corner in range(4):
        one, other = 1.0 - 2.0 * (corner % 2), 1.0 - 2.0 * (corner // 2)
        tangent = 0.0
        for t in range(1, w):
            k = i * w + t
            tangent += (push[k] + one * by_time[k] + other * by_drive[k]) ** 2
        normal = push[i * w] + one * by_time[i * w] + other * by_drive[i * w]
        load = min(mu_low[i] * normal, mu_high[i] * normal)
        most = max(most, math.sqrt(tangent) - load)
    return most + s.m_vectors[4, i]


@kernel
def _vary(w, half, alone, duration, driven, bias, mu, mu_high, s):
    """Sum what the parameters change: v⁺ (n_vectors[3]) and along the contacts (m_vectors 4 to 7 and 11: rows 0 to 4 of
    the table), while v⁺ − v⁻ is between n_vectors[1] and n_vectors[2]."""
    n = bias.size
    m, q = s.table.shape[1], s.table.shape[2] - 2
    low, high, spread, size = s.n_vectors[1], s.n_vectors[2], s.n_vectors[3], s.n_vectors[6]
    for j in range(n):
        spread[j] = s.n_vectors[5, j]
        size[j] = driven[j] * (half * 0.5 * (high[j] - low[j]) + alone * max(high[j], -low[j]))
    for which in range(2):  # the duration; the part of the drives that is known
        p, push = s.n_vectors[4], s.r_vectors[5 + which]
        for j in range(n):
            p[j] = bias[j] * duration if which == 0 else half * driven[j] * 0.5 * (low[j] + high[j])
        for i in range(n):
            total = 0.0
            for j in range(n):
                total += s.H[i, j] * p[j]
            spread[i] += abs(total)
        for a in range(push.size):
            total = 0.0
            for j in range(n):
                total += s.back[a, j] * p[j]
            push[a] = total
        _measure(w, mu, mu_high, push, q + which, s)
    for i in range(n):
        for j in range(n):
            spread[i] += abs(s.H[i, j]) * size[j]
    for row in range(5):
        for i in range(m):
            total = 0.0
            for j in range(n):
                total += s.table[row, i, j] * size[j]
            for j in range(n, q):
                total += s.table[row, i, j]
            if row > 0 or _slip(i, w, s) > 0.0:  # those that stick look at the corners instead
                total += s.table[row, i, q] + s.table[row, i, q + 1]
            s.m_vectors[11 if row == 4 else 4 + row, i] = total


@kernel
def _slip(i, w, s):
    """‖ũ*_t‖ of contact i."""
    total = 0.0
    for t in range(1, w):
        total += s.r_vectors[1, i * w + t] ** 2
    return math.sqrt(total)


@kernel
def _closed(i, w, mu_low, mu_high, own, y, s):
    """Bound of yᵢ where contact i is closed; y (m,) of the others; ``own`` bounds it already. Infinite where nothing
    follows."""
    m = y.shape[0]
    if s.m_vectors[0, i] > 0.0:
        stiff = _least(s.gamma, i, w) - mu_high[i] * _norm(s.gamma, i, i, w, 0, 0, 1)
        if not stiff > 0.0:
            return math.inf
        slip = _slip(i, w, s)
        if slip == 0.0:
            total = _excess(i, w, mu_low, mu_high, s)
        else:
            unsure = 0.5 * (mu_high[i] - mu_low[i])
            total = s.m_vectors[4, i] + unsure * (max(s.r_vectors[2, i * w], 0.0) + s.m_vectors[11, i])
            turn = min(2.0, 0.5 * own / slip)  # how much slower than along ũ* it slips, over yᵢ
            total += s.m_vectors[3, i] + turn * mu_high[i] * s.m_vectors[11, i]
        for j in range(m):
            total += s.coupling[0, i, j] * y[j]
        return max(total, 0.0) / stiff + math.sqrt(s.m_vectors[2, i] / stiff)
    stiff = _least(s.gamma, i, w)
    forced = 0.0
    for t in range(1, w):
        total = 0.0
        for c in range(w):
            total += s.gamma[i * w + t, i * w + c] * s.r_vectors[1, i * w + c]
        forced += total * total
    total = math.sqrt(forced) + s.m_vectors[5, i] + s.m_vectors[3, i]
    for j in range(m):
        total += s.coupling[1, i, j] * y[j]
    return total / stiff + _slip(i, w, s) + abs(s.r_vectors[1, i * w])


@kernel
def _open(i, w, y, s):
    """Bound of yᵢ where contact i is open, and whether it may be."""
    m = y.shape[0]
    size = 0.0
    for a in range(w):
        size += _of_block(i, a, w, s.r_vectors[2], s) ** 2
    most = s.r_vectors[1, i * w] - _of_block(i, 0, w, s.r_vectors[2], s) + s.m_vectors[6, i]
    total = math.sqrt(size) + s.m_vectors[7, i]
    for j in range(m):
        if j != i:
            most += s.coupling[3, i, j] * y[j]
            total += s.coupling[2, i, j] * y[j]
    return total, most >= -_ROOM * (total + abs(s.r_vectors[1, i * w]))


@kernel
def _couple(w, mu_high, s):
    """coupling: 0 of a closed contact to a closed reference, 1 to an open one, 2 of an open contact, 3 its normal."""
    m = mu_high.size
    for i in range(m):
        for j in range(m):
            apart = i != j
            tangent = _norm(s.gamma, i, j, w, 1, w - 1, 0) if apart else 0.0
            normal = _norm(s.gamma, i, j, w, 0, 0, 0) if apart else 0.0
            s.coupling[0, i, j] = tangent + mu_high[i] * normal
            s.coupling[1, i, j] = tangent
            s.coupling[2, i, j] = _norm(s.own, i, j, w, 0, w - 1, 0) if apart else 0.0
            s.coupling[3, i, j] = _norm(s.own, i, j, w, 0, 0, 0) if apart else 0.0


@kernel
def _slips(w, mu_low, mu_high, s):
    """Bound y (m_vectors[8]), and say which contacts may be open (m_vectors[9]). Returns whether 1 − B is an
    M-matrix."""
    m = mu_high.size
    y, opens, still = s.m_vectors[8], s.m_vectors[9], s.m_vectors[10]
    for i in range(m):
        y[i] = still[i] = 0.0
    for i in range(m):
        closed = _closed(i, w, mu_low, mu_high, math.inf, still, s)
        away, _ = _open(i, w, still, s)
        if not closed < math.inf:
            return False
        y[i] = max(closed, away)
        stiff = _least(s.gamma, i, w)
        if s.m_vectors[0, i] > 0.0:
            stiff -= mu_high[i] * _norm(s.gamma, i, i, w, 0, 0, 1)
        for j in range(m):
            of_closed = s.coupling[0, i, j] if s.m_vectors[0, i] > 0.0 else s.coupling[1, i, j]
            s.B[i, j] = -max(of_closed / stiff, s.coupling[2, i, j]) if i != j else 1.0
    for k in range(m):  # elimination without pivoting: all pivots are positive exactly for an M-matrix
        if not s.B[k, k] > 1e-6:
            return False
        for i in range(k + 1, m):
            factor = s.B[i, k] / s.B[k, k]
            for j in range(k + 1, m):
                s.B[i, j] -= factor * s.B[k, j]
            y[i] -= factor * y[k]
    for k in range(m - 1, -1, -1):
        for j in range(k + 1, m):
            y[k] -= s.B[k, j] * y[j]
        y[k] *= (1.0 + _ROOM) / s.B[k, k]
    for _ in range(_NARROWINGS):
        for i in range(m):
            bound = _closed(i, w, mu_low, mu_high, y[i], y, s)
            away, may = _open(i, w, y, s)
            opens[i] = 1.0 if may or s.m_vectors[0, i] == 0.0 else 0.0
            if may:
                bound = max(bound, away)
            y[i] = min(y[i], bound)
    return True


@kernel
def _first_bounds(half, duration, driven, bias, target, radius, s):
    """Bound v⁺ − v⁻ (n_vectors[1] and [2]) by energy, for all k of the piece: (N a − p)ᵀ(a − (v_w − v⁻)) ≤ 0 for
    a = v⁺ − v⁻ and J v_w = w. Returns whether that bounds anything."""
    n, r = bias.size, radius.size
    share = 0.0  # at least the largest eigenvalue of N⁻¹ E, times half the piece
    for i in range(n):
        total = 0.0
        for j in range(n):
            total += abs(s.inverse[i, j]) * driven[j]
        share = max(share, half * driven[i] * total)
    if not share < 0.9:
        return False
    apart, pull, work = 0.0, 0.0, 0.0
    for a in range(r):
        total = 0.0
        for c in range(r):
            total += s.gamma[a, c] * target[c]
        apart += total * target[a]
    apart = math.sqrt(max(apart, 0.0))
    for a in range(r):
        apart += radius[a] * math.sqrt(s.gamma[a, a])
        total = 0.0
        for j in range(n):
            total += s.back[a, j] * bias[j]
        work += total * target[a]
    work = abs(work)
    for a in range(r):
        total = 0.0
        for j in range(n):
            total += s.back[a, j] * bias[j]
        work += abs(total) * radius[a]
    for i in range(n):
        for j in range(n):
            pull += bias[i] * s.inverse[i, j] * bias[j]
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
def landing_bounds(
    # constants:
    rounds,
    # landing:
    d, mass, bias, rows, velocity,
    # terms:
    duration, drives, alone, driven, mu_low, mu_high, left, radius,
    # reference:
    middle_friction, references,
    # scratch:
    N, L, inverse, R, G, gamma, back, H, own, block, blocks, row, n_vectors, r_vectors, m_vectors, coupling, B, table,
    # out:
    lower, upper,
):  # fmt: skip
    """Bound every outcome v⁺ of the landing law, component by component.

    Args:
        rounds: of narrowing, 3 or so. d, mass (n, n), bias (n,), rows (r, n), velocity (n,): as of Landing.
        duration: (least, greatest) s. drives: (pieces + 1,) ends of the pieces of k, kg m², rising; two equal ones for a
            k that is known. alone: kg m², by which the k of each drive may be above or below. driven: (n,) 1 for coordinates with a drive, else 0. mu_low, mu_high: (m,).
        left, radius: (r,) m/s, middle and half of the intervals of w.
        middle_friction: (m,), and references: (pieces, n) outcomes of the law with it, ``left``, the middle of the
            durations and of each piece: any solutions, as exact as they may be.
        lower, upper: out, (n,).

    Returns:
        SOLVED; SINGULAR where M or the contacts' J N⁻¹ Jᵀ has no inverse, NONE_FOUND where the interval of k is too long
        for its pieces: then the bounds are infinite. Where friction couples contacts so strongly that 1 − B is no
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
    )
    n, r, w = velocity.size, rows.shape[0], 1 + d
    for j in range(n):
        lower[j], upper[j] = math.inf, -math.inf
    target, still, middle_duration = s.r_vectors[4], s.r_vectors[0], 0.5 * (duration[0] + duration[1])
    status = _SOLVED
    for a in range(r):
        total = left[a]
        for j in range(n):
            total -= rows[a, j] * velocity[j]
        target[a] = total
    for piece in range(drives.size - 1):
        half = 0.5 * (drives[piece + 1] - drives[piece])
        if not _maps(0.5 * (drives[piece] + drives[piece + 1]), driven, mass, rows, s):
            status = _SINGULAR
            break
        _own_blocks(w, s)
        _couple(w, mu_high, s)
        if not _first_bounds(half + alone, duration[1], driven, bias, target, radius, s):
            status = _NONE
            break
        for a in range(r):
            total = 0.0
            for c in range(r):
                total += s.gamma[a, c] * target[c]
            for j in range(n):
                total += middle_duration * s.back[a, j] * bias[j]
            still[a] = total
        _reference(w, middle_friction, rows, references[piece], left, s)
        for j in range(n):
            total = 0.0
            for k in range(n):
                total -= middle_duration * s.H[j, k] * bias[k]
            for a in range(r):
                total += s.back[a, j] * (target[a] + s.r_vectors[1, a])
            s.n_vectors[0, j] = total
        _measure_all(w, driven, middle_friction, mu_high, radius, s)
        for _ in range(rounds):
            _vary(w, half, alone, 0.5 * (duration[1] - duration[0]), driven, bias, middle_friction, mu_high, s)
            if not _slips(w, mu_low, mu_high, s):
                break
            _narrow(w, s)
        for j in range(n):
            lower[j] = min(lower[j], velocity[j] + s.n_vectors[1, j])
            upper[j] = max(upper[j], velocity[j] + s.n_vectors[2, j])
    if status != _SOLVED:
        for j in range(n):
            lower[j], upper[j] = -math.inf, math.inf
    return status
