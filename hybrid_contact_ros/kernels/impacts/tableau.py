"""The tableau of parametric bounded pivoting (:mod:`.pivoting`): its start, its exchange step, its answer.

Row i belongs to pair i: its basic variable is x_i where lines[HOLDS, i] = 1, else y_i; lines[SIDE, i] is its side. Once
the homotopy parameter t is basic it has the row of the pair ``out``, both of whose variables are nonbasic. Column j
belongs to the nonbasic variable of pair j, column p to the entering variable, p + 1 to the constants, p + 2 to the
perturbed ones:

    basic_i = Σ_j T[j, i] nonbasic_j + (1, δ-perturbed 1) · T[p + 1 : p + 3, i].

The array is transposed, T[column, row], since most of the work is done on whole columns, and padded to whole blocks of
rows: the compiler turns loops along them into vector instructions. (Reading a vector right after one of its elements
was written stalls the processor; where it mattered the ratio test reads single elements.)
"""

from numba import njit

BLOCK = 4  # rows are padded to a multiple of this
LINES = 5  # vectors of scratch, with the names that follow
ROW, COLUMN, SIDE, HOLDS, X = range(LINES)
NO_CAP = 1e-13  # relative to the largest cap: contacts below take no part

_TURN = 0.6180339887498949
_ATTEMPT_TURN = 0.7548776662466927


@njit(cache=True, nogil=True, error_model="numpy", forceinline=True)
def fill(g, H, w, cap, c, top, size, attempt, T, lines):
    """Tableau at t = 0: all y basic, approaching contacts at their cap, axes sliding against their velocity.

    H is symmetric. δ_i is of the order of ``size``, from an irrational rotation; in odd attempts every third is
    negative. T (≥ p + 3, padded p) out.
    """
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
        phase += _TURN
        if phase >= 1.0:
            phase -= 1.0
        delta = size * (0.5 + phase)
        if odd and (i + attempt) % 3 == 0:
            delta = -delta
        bent = w[i] + delta
        lines[SIDE, i] = -1.0 if bent < 0.0 else 1.0
        lines[HOLDS, i] = 0.0
        T[p, i] = 0.0
        T[p + 1, i] = w[i]
        T[p + 2, i] = bent
    for k in range(cap.shape[0]):
        if cap[k] <= NO_CAP * top:
            lines[SIDE, k * n] = 1.0  # takes no part: open
    for i in range(p):
        T[p + 1, i] *= lines[SIDE, i]
        T[p + 2, i] *= lines[SIDE, i]
    for j in range(p):
        s = lines[SIDE, j]
        for i in range(p):
            T[j, i] = s * (lines[SIDE, i] * H[j, i])
    for k in range(cap.shape[0]):
        a = k * n
        f = -lines[SIDE, a] * c[k]
        for axis in range(a + 1, a + n):
            for i in range(p):
                T[a, i] += f * T[axis, i]
        if lines[SIDE, a] < 0.0:
            f = -cap[k] * over
            for i in range(p):
                T[p, i] += f * T[a, i]
    for j in range(p + 3):
        for i in range(p, T.shape[1]):
            T[j, i] = 0.0


@njit(cache=True, nogil=True, error_model="numpy", forceinline=True)
def slack(g, cap, c, over, out, own, i, p, T, lines):
    """lines[ROW] = expression of width − x_i, once t is basic.

    own: the pair of the entering variable if that is an x, else −1; over = 1 / largest cap.
    """
    n = 1 + g
    k = i // n
    a = k * n
    share = cap[k] * over
    if i == own:
        for j in range(p + 3):
            lines[ROW, j] = 0.0
        lines[ROW, p] = -1.0
    else:
        for j in range(p + 3):
            lines[ROW, j] = -T[j, i]
    if i == a:
        for j in range(p + 3):
            lines[ROW, j] += share * T[j, out]
        return
    by = 2.0 * c[k] * lines[SIDE, a]
    if lines[SIDE, a] < 0.0:
        by_t = 2.0 * c[k] * share
        for j in range(p + 3):
            lines[ROW, j] += by_t * T[j, out]
    if a == own:
        lines[ROW, p] += by
    elif lines[HOLDS, a] == 1.0:
        for j in range(p + 3):
            lines[ROW, j] += by * T[j, a]
    else:
        lines[ROW, a] += by


@njit(cache=True, nogil=True, error_model="numpy", forceinline=True)
def exchange(p, T, lines):
    """Replace the entering variable everywhere but in its own column; its new expression comes from lines[ROW] = 0.

    lines[ROW]: expression of the leaving variable; lines[COLUMN] out: column of the leaving variable, for the rows of
    all others. Returns 1 / pivot.
    """
    by = 1.0 / lines[ROW, p]
    for i in range(T.shape[1]):
        lines[COLUMN, i] = T[p, i] * by
    for j in range(p + 3):
        if j != p:
            f = lines[ROW, j]
            for i in range(T.shape[1]):
                T[j, i] -= f * lines[COLUMN, i]
    return by


@njit(cache=True, nogil=True, error_model="numpy", forceinline=True)
def enter(pair, sign, p, T, lines):
    """The nonbasic variable of ``pair``, times ``sign``, becomes the entering one; lines[COLUMN] takes its place."""
    for i in range(T.shape[1]):
        T[p, i] = sign * T[pair, i]
        T[pair, i] = lines[COLUMN, i]


@njit(cache=True, nogil=True, error_model="numpy", forceinline=True)
def turn_axes(g, c, a, p, T, lines):
    """Turn the axes of an open contact that is about to close so that their complements are non-negative."""
    width = 2.0 * c[a // (1 + g)]
    for i in range(a + 1, a + 1 + g):
        if lines[HOLDS, i] == 1.0 or T[p + 2, i] >= 0.0:
            continue
        lines[SIDE, i] = -lines[SIDE, i]
        for j in range(p + 3):
            T[j, i] = -T[j, i]
        for r in range(T.shape[1]):
            T[p, r] += width * T[i, r]
            T[i, r] = -T[i, r]


@njit(cache=True, nogil=True, error_model="numpy", forceinline=True)
def read(g, cap, c, step, own, p, T, lines, z):
    """Impulses at t = 1, the entering variable at ``step``, from the unperturbed column. z (p,) out.

    lines[HOLDS] and lines[SIDE] are then those of the answer's mode.
    """
    for i in range(p):
        lines[X, i] = T[p + 1, i] + step * T[p, i] if lines[HOLDS, i] == 1.0 else 0.0
    if own >= 0:
        lines[X, own] = step
        lines[HOLDS, own] = 1.0
    for k in range(cap.shape[0]):
        a = k * (1 + g)
        normal = lines[X, a] if lines[SIDE, a] > 0.0 else cap[k] - lines[X, a]
        normal = min(max(normal, 0.0), cap[k])
        z[a] = normal
        bound = c[k] * normal
        for i in range(a + 1, a + 1 + g):
            z[i] = min(max(lines[SIDE, i] * (lines[X, i] - bound), -bound), bound)
