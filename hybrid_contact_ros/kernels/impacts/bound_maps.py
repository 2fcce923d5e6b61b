"""What bounds of a landing are made of: maps at one inertia of the drives, a reference, what each parameter changes.

Symbols are those of :mod:`~hybrid_contact_ros.kernels.impacts.landing_bounds`.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from hybrid_contact_ros.kernels.algebra.dense import cholesky_factor, cholesky_solve
from hybrid_contact_ros.kernels.compiling import kernel

Array = NDArray[np.float64]

_MASS_PIVOT, _CONTACT_PIVOT = 1e-13, 1e-9
_CLEAN = 1e-7  # of the largest speed: a reference that slips less sticks


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
    n_vectors: Array  # (9, n)
    r_vectors: Array  # (10, r)
    m_vectors: Array  # (20, m)
    coupling: Array  # (4, m, m)
    B: Array  # (m, m)
    table: Array  # (5, m, n + r + 2)
    K: Array  # G_nn⁻¹ (m, m)
    cap_square: Array  # (m, m)
    cap_rows: Array  # K J_n N⁻¹ (m, n)
    cap_m: Array  # (5, m)


def bound_scratch(m: int, d: int, n: int) -> BoundScratch:
    """Scratch for m contacts of d tangents and n coordinates."""
    w, r = 1 + d, m * (1 + d)
    square, contacts = (n, n), (r, r)
    shapes = [
        *(square, square, square, (r, n), contacts, contacts, (r, n), square, contacts, (w, w), (r, w)),
        *((max(n, r, 1),), (9, n), (10, r), (20, m), (4, m, m), (m, m), (5, m, n + r + 2)),
        *((m, m), (m, m), (m, n), (5, m)),
    ]
    return BoundScratch(*(np.zeros(shape) for shape in shapes))


@kernel
def _add(factor, x, y):
    """y += factor x. Sums of rows are fast, because their entries do not wait for each other."""
    for j in range(y.shape[0]):
        y[j] += factor * x[j]


@kernel
def inner(a, b):
    """Σ aⱼ bⱼ, in four sums that do not wait for each other."""
    n = a.shape[0]
    one = two = three = four = 0.0
    for block in range(n // 4):
        j = 4 * block
        one += a[j] * b[j]
        two += a[j + 1] * b[j + 1]
        three += a[j + 2] * b[j + 2]
        four += a[j + 3] * b[j + 3]
    for j in range(n - n % 4, n):
        one += a[j] * b[j]
    return (one + two) + (three + four)


@kernel
def invert(n, tolerance, A, L, out):
    """Write A⁻¹ of a symmetric A, whose lower triangle is read. Returns whether A is positive definite."""
    if cholesky_factor(n, tolerance, A, L) < n:
        return False
    for i in range(n):
        row = out[i]
        for j in range(n):
            row[j] = 0.0
        row[i] = 1.0
        for k in range(i):
            _add(-L[i, k], out[k, : k + 1], row[: k + 1])
        size = 1.0 / L[i, i]
        for j in range(i + 1):
            row[j] *= size
    for i in range(n - 1, -1, -1):
        row, size = out[i], 1.0 / L[i, i]
        for j in range(n):
            row[j] *= size
        for k in range(i):
            _add(-L[i, k], row, out[k])
    return True


@kernel
def response_maps(drive, mass, rows, s):
    """N, its inverse, Γ, back and H at the middle of a piece. Returns whether all of them exist."""
    n, r = mass.shape[0], rows.shape[0]
    for i in range(n):
        for j in range(n):
            s.N[i, j] = mass[i, j]
        s.N[i, i] += drive[i]
    if not invert(n, _MASS_PIVOT, s.N, s.L, s.inverse):
        return False
    s.R[:] = 0.0
    s.back[:] = 0.0
    for a in range(r):
        for k in range(n):
            if rows[a, k] != 0.0:
                _add(rows[a, k], s.inverse[k], s.R[a])
        for c in range(a + 1):
            s.G[a, c] = s.G[c, a] = inner(rows[a], s.R[c])
    # The factor of G takes the place of ``own``, which is written later.
    if not invert(r, _CONTACT_PIVOT, s.G, s.own, s.gamma):
        return False
    for i in range(n):
        for j in range(n):
            s.H[i, j] = s.inverse[i, j]
    for a in range(r):
        for c in range(r):
            _add(s.gamma[a, c], s.R[c], s.back[a])
        for i in range(n):
            _add(-s.R[a, i], s.back[a], s.H[i])
    return True


@kernel
def own_blocks(w, s):
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
                s.own[i * w + a, c] = of_block(i, a, w, s.gamma[:, c], s)


@kernel
def of_block(i, a, w, vector, s):
    """Component a of (Γ_ii)⁻¹ times the part of ``vector`` (r,) that belongs to contact i."""
    total = 0.0
    for c in range(w):
        total += s.blocks[i * w + a, c] * vector[i * w + c]
    return total


@kernel
def slip_speed(i, w, s):
    """‖ũ*_t‖ of contact i."""
    total = 0.0
    for t in range(1, w):
        total += s.r_vectors[1, i * w + t] ** 2
    return math.sqrt(total)


@kernel
def refer(w, mu, rows, reference, middle, s):
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
        s.m_vectors[3, i] = max(friction - load, 0.0)
        s.m_vectors[2, i] = max(along + load * slip, 0.0) + s.m_vectors[3, i] * slip
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
            size += of_block(i, a, w, impulse, s) ** 2
        s.table[1, i, which], s.table[2, i, which] = tangent, abs(of_block(i, 0, w, impulse, s))
        s.table[3, i, which], s.table[4, i, which] = math.sqrt(size), abs(normal)


@kernel
def measure_all(w, driven, mu, mu_high, radius, s):
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
def vary(w, half, alone, duration, bias, mu, mu_high, s):
    """Sum what the parameters change: v⁺ (n_vectors[3]) and along the contacts (m_vectors 4 to 7 and 11: rows 0 to 4 of
    the table), while v⁺ − v⁻ is between n_vectors[1] and n_vectors[2]."""
    n = bias.size
    m, q = s.table.shape[1], s.table.shape[2] - 2
    low, high, spread, size = s.n_vectors[1], s.n_vectors[2], s.n_vectors[3], s.n_vectors[6]
    for j in range(n):
        spread[j] = s.n_vectors[5, j]
        size[j] = half[j] * 0.5 * (high[j] - low[j]) + alone[j] * max(high[j], -low[j])
    for which in range(2):  # the duration; the part of the drives that is known
        p, push, moved = s.n_vectors[4], s.r_vectors[5 + which], s.n_vectors[7]
        for j in range(n):
            p[j] = bias[j] * duration if which == 0 else half[j] * 0.5 * (low[j] + high[j])
            moved[j] = 0.0
        for j in range(n):
            _add(p[j], s.H[j], moved)  # H is symmetric
        for i in range(n):
            spread[i] += abs(moved[i])
        for a in range(push.size):
            push[a] = inner(s.back[a], p)
        _measure(w, mu, mu_high, push, q + which, s)
    for j in range(n):
        for i in range(n):
            spread[i] += abs(s.H[j, i]) * size[j]
    for row in range(5):
        for i in range(m):
            total = inner(s.table[row, i, :n], size)
            for j in range(n, q):
                total += s.table[row, i, j]
            if row > 0 or slip_speed(i, w, s) > 0.0:  # those that stick look at the corners instead
                total += s.table[row, i, q] + s.table[row, i, q + 1]
            s.m_vectors[11 if row == 4 else 4 + row, i] = total
