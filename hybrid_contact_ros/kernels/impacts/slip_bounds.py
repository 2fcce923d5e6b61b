"""How far the slip of contacts may be from that of a reference, whatever the parameters of a landing are.

Symbols are those of :mod:`~hybrid_contact_ros.kernels.impacts.landing_bounds`; ũ*, λ* are those of the reference. Where
contact i is closed in both,

    Δλ_tᵀ Δũ_t ≤ (μ*λ*_n − μλ_n)(‖ũ_t‖ − ‖ũ*_t‖),    ‖ũ_t‖ − ‖ũ*_t‖ = Δũ_tᵀũ*_t/‖ũ*_t‖ + [0, ‖Δũ_t‖²/2‖ũ*_t‖],

since ‖λ_t‖ ≤ μλ_n and λ_tᵀũ_t = −μλ_n ‖ũ_t‖. With Δλ = Δλ_s + Γ Δũ follows, for yᵢ = ‖Δũᵢ‖,

    (λmin(Γ_tt,ii) − μ‖Γ_nt,ii‖) yᵢ ≤ eᵢ + Σ_j≠i (‖Γ_ti,j‖ + μ‖Γ_ni,j‖) y_j,

where eᵢ is the largest ‖λ_t‖ − μλ_n at ũ = ũ* if the contact sticks in the reference, negative where it always sticks,
and else ‖Δλ_st + μ Δλ_sn ũ*_t/‖ũ*_t‖‖ with what μ and the turning of the slip add. A contact that is open has λᵢ = 0,
which gives Δũᵢ by itself, and is possible only if its ũ_n may be positive. Together y ≤ a + B y with B ≥ 0; where 1 − B
is an M-matrix, y ≤ (1 − B)⁻¹ a, and then every row may be used again to narrow the others.
"""

from __future__ import annotations

import math

from hybrid_contact_ros.kernels.compiling import kernel
from hybrid_contact_ros.kernels.impacts.bound_maps import of_block, slip_speed

_ROOM = 1e-9  # of sizes, for rounding
_NARROWINGS = 12


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
def _alone(i, w, mu_low, mu_high, s):
    """What the bounds of yᵢ have without the others' y, m_vectors: 12 the stiffness, 13 to 15 of a closed contact (the
    sum, what is added to it by the turn of the slip, and what is added at the end), 16 and 17 of an open one (how much
    it may open, the sum), 18 and 19 ‖ũ*_t‖ and |ũ*_n|. Returns whether a closed contact is bounded."""
    slip, opening = slip_speed(i, w, s), abs(s.r_vectors[1, i * w])
    stiff, turns, size = _least(s.gamma, i, w), 0.0, 0.0
    for a in range(w):
        size += of_block(i, a, w, s.r_vectors[2], s) ** 2
    s.m_vectors[16, i] = s.r_vectors[1, i * w] - of_block(i, 0, w, s.r_vectors[2], s) + s.m_vectors[6, i]
    s.m_vectors[17, i] = math.sqrt(size) + s.m_vectors[7, i]
    if s.m_vectors[0, i] > 0.0:
        stiff -= mu_high[i] * _norm(s.gamma, i, i, w, 0, 0, 1)
        if slip == 0.0:
            total = _excess(i, w, mu_low, mu_high, s)
        else:
            unsure = 0.5 * (mu_high[i] - mu_low[i])
            total = s.m_vectors[4, i] + unsure * (max(s.r_vectors[2, i * w], 0.0) + s.m_vectors[11, i])
            total += s.m_vectors[3, i]
            turns = mu_high[i] * s.m_vectors[11, i]
        last = math.sqrt(s.m_vectors[2, i] / max(stiff, 1e-300))
    else:
        forced = 0.0
        for t in range(1, w):
            total = 0.0
            for c in range(w):
                total += s.gamma[i * w + t, i * w + c] * s.r_vectors[1, i * w + c]
            forced += total * total
        total = math.sqrt(forced) + s.m_vectors[5, i] + s.m_vectors[3, i]
        last = slip + opening
    s.m_vectors[12, i], s.m_vectors[13, i], s.m_vectors[14, i], s.m_vectors[15, i] = stiff, total, turns, last
    s.m_vectors[18, i], s.m_vectors[19, i] = slip, opening
    return stiff > 0.0


@kernel
def _closed(i, own, y, s):
    """Bound of yᵢ where contact i is closed; y (m,) of the others; ``own`` bounds it already."""
    total, which = s.m_vectors[13, i], 0 if s.m_vectors[0, i] > 0.0 else 1
    if s.m_vectors[14, i] > 0.0:
        total += min(2.0, 0.5 * own / s.m_vectors[18, i]) * s.m_vectors[14, i]  # how much slower than along ũ* it slips
    for j in range(y.shape[0]):
        total += s.coupling[which, i, j] * y[j]
    return max(total, 0.0) / s.m_vectors[12, i] + s.m_vectors[15, i]


@kernel
def _open(i, y, s):
    """Bound of yᵢ where contact i is open, and whether it may be."""
    most, total = s.m_vectors[16, i], s.m_vectors[17, i]
    for j in range(y.shape[0]):
        if j != i:
            most += s.coupling[3, i, j] * y[j]
            total += s.coupling[2, i, j] * y[j]
    return total, most >= -_ROOM * (total + s.m_vectors[19, i])


@kernel
def couple(w, mu_high, s):
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
def slip_bounds(w, mu_low, mu_high, s):
    """Bound y (m_vectors[8]), and say which contacts may be open (m_vectors[9]). Returns whether 1 − B is an
    M-matrix."""
    m = mu_high.size
    y, opens, still = s.m_vectors[8], s.m_vectors[9], s.m_vectors[10]
    for i in range(m):
        y[i] = still[i] = 0.0
    for i in range(m):
        if not _alone(i, w, mu_low, mu_high, s):
            return False
        closed = _closed(i, math.inf, still, s)
        away, _ = _open(i, still, s)
        if not closed < math.inf:
            return False
        y[i] = max(closed, away)
        stiff = s.m_vectors[12, i]
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
        narrower = False
        for i in range(m):
            bound = _closed(i, y[i], y, s)
            away, may = _open(i, y, s)
            opens[i] = 1.0 if may or s.m_vectors[0, i] == 0.0 else 0.0
            if may:
                bound = max(bound, away)
            if bound < y[i]:
                y[i], narrower = bound, True
        if not narrower:
            break
    return True
