"""The tableau of parametric bounded pivoting (:mod:`.pivoting`): its start, its exchange step, its answer.

Row i belongs to pair i: its basic variable is x_i where holds[i] is X_BASIC, and y_i elsewhere; side[i] is the side of
the pair. Once the homotopy parameter t is basic, t has the row of the pair ``out``, both of whose variables are
nonbasic. Column j belongs to the nonbasic variable of pair j, column p to the entering variable, p + 1 to the
constants, p + 2 to the perturbed constants:

    basic_i = Σ_j T[j, i] nonbasic_j + (1, δ-perturbed 1) · T[p + 1 : p + 3, i].

The array is transposed, T[column, row], because most of the work is done on whole columns, and padded to whole blocks
of rows: the compiler turns loops along the rows into vector instructions. (A vector that is read right after one of its
elements was written stalls the processor; where that mattered the ratio test reads single elements.)
"""

from __future__ import annotations

from hybrid_contact_ros.kernels.compiling import kernel

BLOCK = 4  # rows are padded to a multiple of this
LINES = 6  # vectors of scratch: all of .records.Tableau but T
X_BASIC, Y_BASIC = 1.0, 0.0  # values of holds: which variable of a pair is basic, and so not at a bound
NO_CAP = 1e-13  # of the largest cap: a contact with a smaller cap takes no part

_GOLDEN_TURN = 0.6180339887498949  # irrational: the perturbations of the pairs of one attempt are all different
_ATTEMPT_TURN = 0.7548776662466927  # irrational: and those of different attempts


@kernel(forceinline=True)
def fill(problem, top, size, attempt, tableau):
    """Set up the tableau at t = 0: all y are basic, approaching contacts at their cap, axes slide against their
    velocity.

    ``top`` is the largest cap. The perturbation δ_i is of the order of ``size`` and comes from an irrational rotation;
    in odd attempts every third is negative.
    """
    g, H, w, cap, c = problem
    T, side, holds = tableau.T, tableau.side, tableau.holds
    p = H.shape[0]
    n = 1 + g
    over = 1.0 / top
    phase = 0.0
    for _ in range(attempt):
        phase += _ATTEMPT_TURN
        if phase >= 1.0:
            phase -= 1.0
    odd = attempt % 2 == 1
    for i in range(p):
        phase += _GOLDEN_TURN
        if phase >= 1.0:
            phase -= 1.0
        delta = size * (0.5 + phase)
        if odd and (i + attempt) % 3 == 0:
            delta = -delta
        perturbed = w[i] + delta
        side[i] = -1.0 if perturbed < 0.0 else 1.0
        holds[i] = Y_BASIC
        T[p, i] = 0.0
        T[p + 1, i] = w[i]
        T[p + 2, i] = perturbed
    for k in range(cap.shape[0]):
        if cap[k] <= NO_CAP * top:
            side[k * n] = 1.0  # takes no part: open
    for i in range(p):
        T[p + 1, i] *= side[i]
        T[p + 2, i] *= side[i]
    for j in range(p):
        s = side[j]
        for i in range(p):
            T[j, i] = s * (side[i] * H[j, i])
    for k in range(cap.shape[0]):
        a = k * n
        f = -side[a] * c[k]
        for axis in range(a + 1, a + n):
            for i in range(p):
                T[a, i] += f * T[axis, i]
        if side[a] < 0.0:
            f = -cap[k] * over
            for i in range(p):
                T[p, i] += f * T[a, i]
    for j in range(p + 3):
        for i in range(p, T.shape[1]):
            T[j, i] = 0.0


@kernel(forceinline=True)
def slack(problem, over, out, own, i, tableau):
    """Write the expression of width − x_i to the tableau's ``row``, once t is basic.

    ``own``: the pair of the entering variable if that is an x, else −1; over = 1 / largest cap.
    """
    c = problem.c
    T, row, side = tableau.T, tableau.row, tableau.side
    p = problem.H.shape[0]
    n = 1 + problem.g
    k = i // n
    a = k * n
    share = problem.cap[k] * over
    if i == own:
        for j in range(p + 3):
            row[j] = 0.0
        row[p] = -1.0
    else:
        for j in range(p + 3):
            row[j] = -T[j, i]
    if i == a:
        for j in range(p + 3):
            row[j] += share * T[j, out]
        return
    by = 2.0 * c[k] * side[a]
    if side[a] < 0.0:
        by_t = 2.0 * c[k] * share
        for j in range(p + 3):
            row[j] += by_t * T[j, out]
    if a == own:
        row[p] += by
    elif tableau.holds[a] == X_BASIC:
        for j in range(p + 3):
            row[j] += by * T[j, a]
    else:
        row[a] += by


@kernel(forceinline=True)
def exchange(p, tableau):
    """Replace the entering variable everywhere but in its own column; its new expression comes from row = 0.

    ``row`` is the expression of the leaving variable. ``column`` becomes the column of the leaving variable, for the
    rows of all others. Returns 1 / pivot.
    """
    T, row, column = tableau.T, tableau.row, tableau.column
    by = 1.0 / row[p]
    for i in range(T.shape[1]):
        column[i] = T[p, i] * by
    for j in range(p + 3):
        if j != p:
            f = row[j]
            for i in range(T.shape[1]):
                T[j, i] -= f * column[i]
    return by


@kernel(forceinline=True)
def enter(pair, sign, p, tableau):
    """Let the nonbasic variable of ``pair``, times ``sign``, be the entering one; ``column`` takes its place."""
    T, column = tableau.T, tableau.column
    for i in range(T.shape[1]):
        T[p, i] = sign * T[pair, i]
        T[pair, i] = column[i]


@kernel(forceinline=True)
def turn_axes(problem, a, tableau):
    """Turn the axes of the open contact with normal pair a, which is about to close, so that their y are ≥ 0."""
    T, side = tableau.T, tableau.side
    p = problem.H.shape[0]
    n = 1 + problem.g
    width = 2.0 * problem.c[a // n]
    for i in range(a + 1, a + n):
        if tableau.holds[i] == X_BASIC or T[p + 2, i] >= 0.0:
            continue
        side[i] = -side[i]
        for j in range(p + 3):
            T[j, i] = -T[j, i]
        for r in range(T.shape[1]):
            T[p, r] += width * T[i, r]
            T[i, r] = -T[i, r]


@kernel(forceinline=True)
def read(problem, step, own, tableau, z):
    """Write the impulses at t = 1 to z (p,), from the unperturbed column; the entering variable has the value ``step``.

    The tableau's ``holds`` and ``side`` are then those of the answer's mode.
    """
    cap, c = problem.cap, problem.c
    T, side, holds, values = tableau.T, tableau.side, tableau.holds, tableau.values
    p = z.shape[0]
    n = 1 + problem.g
    for i in range(p):
        values[i] = T[p + 1, i] + step * T[p, i] if holds[i] == X_BASIC else 0.0
    if own >= 0:
        values[own] = step
        holds[own] = X_BASIC
    for k in range(cap.shape[0]):
        a = k * n
        normal = values[a] if side[a] > 0.0 else cap[k] - values[a]
        normal = min(max(normal, 0.0), cap[k])
        z[a] = normal
        bound = c[k] * normal
        for i in range(a + 1, a + n):
            z[i] = min(max(side[i] * (values[i] - bound), -bound), bound)
