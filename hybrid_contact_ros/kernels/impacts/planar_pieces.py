"""The linear maps of the modes of planar increments, which depend on the configuration alone.

In one mode of all contacts (:mod:`.increment_modes`; one friction axis a contact) the impulses z and velocities w' of
an increment are linear functions of the velocities w before it and the caps. Each mode also has conditions, three a
contact at most, and they are linear in w and the caps too. So one matrix a mode, made when the mode is first met, turns
an increment into a few dot products, for all samples of a set. A matrix depends on H, c and its mode only: whether it
was stored already changes no bit of any sample.

Rows of a matrix, for contact k in its state; each is ≥ 0 where the mode holds. Row 3m + i is z_i itself.

    state           row 3k          row 3k + 1      row 3k + 2
    open            w'_n            (w'_l, no condition)
    active, slides  z_n             cap − z_n       −σ w'_l
    active, sticks  c z_n − z_l     cap − z_n       c z_n + z_l
    capped, slides                  −w'_n           −σ w'_l
    capped, sticks  c cap − z_l     −w'_n           c cap + z_l
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from hybrid_contact_ros.kernels.compiling import kernel

Array = NDArray[np.float64]
Indices = NDArray[np.int64]

MOST_CONTACTS = 3
"""With more contacts a set meets too many modes: making their matrices takes longer than pivoting."""
STATES = 7
"""Of a planar contact: those of :func:`.increment_modes.decode`, OPEN_STATE and the others."""
OPEN_STATE, ACTIVE_STICKS, CAPPED_STICKS = 0, 2, 5
"""A state < 4 is active if it is not open; the neighbours of one that sticks slide, σ = −1 and σ = 1."""
NOT_MADE, SINGULAR_PIECE = 0, 2
"""Values of ``signs`` besides ±1. Arrays of zeros hold no matrix yet."""
_SINGULAR = 1e-7  # a pivot below makes a mode unusable


class Pieces(NamedTuple):
    """The matrices that were made so far, each at the number of its mode, Σ state_k 7^k."""

    signs: Indices  # (7^m,): of the determinant of the mode's system; SINGULAR_PIECE or NOT_MADE
    maps: Array  # (7^m, 3m + p, p + m)
    tests: Array  # (7^m, 3m, p + m): the rows of maps that are conditions
    counts: Indices  # (7^m, 2): how many conditions, and which failed last
    order: Indices  # (2 + 7^m,): of :mod:`.planar_few`
    system: Array  # scratch (p, 2p + m)
    columns: Array  # scratch (p + m, p), twice
    ints: Indices  # (3 + 3m): of :mod:`.planar_few`; scratch


def piece_sizes(m: int) -> tuple[tuple[int, ...], ...]:
    """Shapes of the arrays of :class:`Pieces` for m planar contacts; there are none for more than MOST_CONTACTS."""
    p, modes = 2 * m, STATES**m if m <= MOST_CONTACTS else 0
    rows = (modes, 3 * m + p, p + m), (modes, 3 * m, p + m)
    return (modes,), *rows, (modes, 2), (2 + modes,), (p, 2 * p + m), (2 * (p + m), p), (3 + 3 * m,)


@kernel(forceinline=True)
def slide(state):
    """σ of a state: ±1 where the contact slides, 0 where it sticks or is open."""
    if state == OPEN_STATE:
        return 0
    return (state - 1) % 3 - 1


@kernel
def _solve_piece(H, c, states, pieces):
    """Write z and w' of a mode as functions of w and the caps to ``columns``.

    Returns the sign of the determinant of its system, or SINGULAR_PIECE.

    Row j of ``columns`` is z (p,) per unit of w_j, or of cap j − p; row p + m + j is w'.
    """
    A, columns, unknowns = pieces.system, pieces.columns, pieces.ints[3:]
    p = H.shape[0]
    m = c.shape[0]
    width = p + m
    count = 0
    for k in range(m):
        state = states[k]
        if 0 < state < 4:
            unknowns[count] = 2 * k
            count += 1
        if state in (ACTIVE_STICKS, CAPPED_STICKS):
            unknowns[count] = 2 * k + 1
            count += 1
    for x in range(count):
        i = unknowns[x]
        for y in range(count):
            j = unknowns[y]
            A[x, y] = H[i, j]
            if j % 2 == 0:
                A[x, y] += slide(states[j // 2]) * c[j // 2] * H[i, j + 1]
        for j in range(width):
            A[x, count + j] = 0.0
        A[x, count + i] = -1.0
        for k in range(m):
            if states[k] >= 4:
                A[x, count + p + k] = -(H[i, 2 * k] + slide(states[k]) * c[k] * H[i, 2 * k + 1])
    sign = 1
    for y in range(count):
        best = y
        for x in range(y + 1, count):
            if abs(A[x, y]) > abs(A[best, y]):
                best = x
        if not abs(A[best, y]) > _SINGULAR:
            return SINGULAR_PIECE
        if (best != y) != (A[best, y] < 0.0):
            sign = -sign
        if best != y:
            for j in range(y, count + width):
                A[y, j], A[best, j] = A[best, j], A[y, j]
        over = 1.0 / A[y, y]
        for j in range(y + 1, count + width):
            A[y, j] *= over
        for x in range(count):
            factor = A[x, y]
            if x != y and factor != 0.0:
                for j in range(y + 1, count + width):
                    A[x, j] -= factor * A[y, j]
    for j in range(width):
        for i in range(p):
            columns[j, i] = 0.0
            columns[width + j, i] = 1.0 if i == j else 0.0
    for x in range(count):
        for j in range(width):
            columns[j, unknowns[x]] = A[x, count + j]
    for k in range(m):
        if states[k] >= 4:
            columns[p + k, 2 * k] = 1.0
        sigma = slide(states[k])
        if sigma != 0:
            for j in range(width):
                columns[j, 2 * k + 1] = sigma * c[k] * columns[j, 2 * k]
    for j in range(width):
        for x in range(p):
            factor = columns[j, x]
            if factor != 0.0:
                for i in range(p):
                    columns[width + j, i] += factor * H[x, i]
    return sign


@kernel
def _write_conditions(c, states, columns, M):
    """Write the rows of the module's table to M (3m + p, p + m)."""
    m = c.shape[0]
    p = 2 * m
    width = p + m
    for k in range(m):
        state = states[k]
        sigma = slide(state)
        for j in range(width):
            z_n, z_l = columns[j, 2 * k], columns[j, 2 * k + 1]
            w_n, w_l = columns[width + j, 2 * k], columns[width + j, 2 * k + 1]
            cap = 1.0 if j == p + k else 0.0
            first, second, third = 0.0, 0.0, 0.0
            if state == OPEN_STATE:
                first, second = w_n, w_l
            elif sigma == 0:
                bound = c[k] * (cap if state == CAPPED_STICKS else z_n)
                first, third = bound - z_l, bound + z_l
            else:
                first = z_n if state < 4 else 0.0
                third = -sigma * w_l if c[k] > 0.0 else 0.0
            if state >= 4:
                second = -w_n
            elif state != OPEN_STATE:
                second = cap - z_n
            M[3 * k, j], M[3 * k + 1, j], M[3 * k + 2, j] = first, second, third
            M[3 * m + 2 * k, j], M[3 * m + 2 * k + 1, j] = z_n, z_l


@kernel(forceinline=True)
def is_condition(state, c, which):
    """Whether row 3k + ``which`` of a contact's state is one."""
    if state == OPEN_STATE:
        return which == 0
    if which == 1:
        return True
    if slide(state) == 0:
        return True
    return state < 4 if which == 0 else c > 0.0


@kernel
def make(H, c, code, states, pieces):
    """Make the matrix of a mode that was not made yet; returns its sign.

    code: Σ state_k 7^k. states (m,) int64: the same, contact by contact.
    """
    sign = _solve_piece(H, c, states, pieces)
    pieces.signs[code] = sign
    if sign == SINGULAR_PIECE:
        return sign
    M = pieces.maps[code]
    _write_conditions(c, states, pieces.columns, M)
    count = 0
    for k in range(c.shape[0]):
        for which in range(3):
            if is_condition(states[k], c[k], which):
                for j in range(M.shape[1]):
                    pieces.tests[code, count, j] = M[3 * k + which, j]
                count += 1
    pieces.counts[code, 0] = count
    pieces.counts[code, 1] = 0
    return sign


@kernel(forceinline=True)
def row(m, M, i, w, share):
    """Row i of a mode's matrix: (its part from w (2m,), its part from the caps (m,))."""
    if m == 2:
        along = (M[i, 0] * w[0] + M[i, 1] * w[1]) + (M[i, 2] * w[2] + M[i, 3] * w[3])
        return along, M[i, 4] * share[0] + M[i, 5] * share[1]
    normal = 0.0
    axis = 0.0
    caps = 0.0
    for k in range(m):
        normal += M[i, 2 * k] * w[2 * k]
        axis += M[i, 2 * k + 1] * w[2 * k + 1]
        caps += M[i, 2 * m + k] * share[k]
    return normal + axis, caps
