"""Parametric bounded pivoting: the impulse increment LCP of H eq. 72–75 in contact space.

Problem, scaled (:mod:`.delassus`): find z with w' = w + H z such that for each contact

    0 ≤ z_n ≤ cap;      z_n = 0 → w'_n ≥ 0,    0 < z_n < cap → w'_n = 0,    z_n = cap → w'_n ≤ 0        (H 73–74)
    |z_l| ≤ c z_n;      z_l = −c z_n → w'_l ≥ 0,  inside → w'_l = 0,  z_l = c z_n → w'_l ≤ 0            (H 72d)

for every friction axis l of it. Polygonal friction is a sum of segments, so (72d) separates into its axes exactly,
and β, γ and the split of λ_D of (75) are not needed.

Method: the caps are multiplied by t, and t goes from 0 (where z = 0 solves it) to 1 along the path of solutions,
which Lemke's pivots follow. Variables come as complementary pairs (x_i, y_i) of which both are ≥ 0 and one is 0:

    normal   x = z_n,           y = w'_n       side +1        x = t cap − z_n,  y = −w'_n     side −1
    axis     x = c z_n + σ z_l,  y = σ w'_l     side σ = ±1

The upper bound of x, its width (t cap, or 2 c z_n), is no row of the tableau but a test in the ratio test; when it
blocks, the pair changes its side. Axes of an open contact (z_n = 0) have width 0: they are left out of the ratio
test, and turned to the right side when the contact closes. Degenerate problems are followed for slightly perturbed
velocities w + δ, and the answer is read from the unperturbed column; since no two solutions of the perturbed path
meet, it cannot cycle and ends at t = 1 whatever the matrix. Where the LCP has several solutions it finds one.

Tableau T (p, p + 3), p = m (1 + g): basic_r = Σ_j T[r, j] nonbasic_j + (1, δ-perturbed 1) · T[r, p + 1 : p + 3].
Variables are numbered x_i = i, y_i = p + i, t = 2 p. ``place[var]`` is the row of a basic variable, or −1 − column.
"""

import math

from numba import njit

from hybrid_contact_ros.kernels.status import Status

SOLVED = int(Status.SOLVED)
RAY = int(Status.RAY)
PIVOT_LIMIT = int(Status.PIVOT_LIMIT)

BLOCK = 8  # rows are padded to whole blocks, which the compiler turns into vector instructions
_COEFFICIENT = 1e-11  # entries below count as zero in the ratio test
_TIE = 1e-13  # blocking variables this close: the one with the larger entry leaves
_TURN = 0.6180339887498949
_ATTEMPT_TURN = 0.7548776662466927
_NO_CAP = 1e-13  # relative to the largest: such contacts take no part


@njit(cache=True, nogil=True, error_model="numpy", forceinline=True)
def _fill(g, H, w, cap, c, top, size, attempt, T, side, place, basic, signs):
    """Tableau at t = 0: all y basic, approaching contacts at their cap, axes sliding against their velocity.

    δ_i is of the order of ``size``, from an irrational rotation; in odd attempts every third is negative.
    """
    p = H.shape[0]
    n = 1 + g
    over = 1.0 / top
    phase = 0.0
    for _ in range(attempt):
        phase += _ATTEMPT_TURN
        if phase >= 1.0:
            phase -= 1.0
    for i in range(p):
        for j in range(p + 3, T.shape[1]):
            T[i, j] = 0.0
        phase += _TURN
        if phase >= 1.0:
            phase -= 1.0
        delta = size * (0.5 + phase)
        if attempt % 2 == 1 and (i + attempt) % 3 == 0:
            delta = -delta
        T[i, p + 1] = w[i]
        T[i, p + 2] = w[i] + delta
        side[i] = -1 if w[i] + delta < 0.0 else 1
        place[i] = -1 - i
        place[p + i] = i
        basic[i] = p + i
    place[2 * p] = -1 - p
    for k in range(cap.shape[0]):
        if cap[k] <= _NO_CAP * top:
            side[k * n] = 1  # takes no part: open
    for i in range(p):
        signs[i] = float(side[i])
    for i in range(p):
        s = signs[i]
        for j in range(p):
            T[i, j] = s * signs[j] * H[i, j]
        rising = 0.0
        for k in range(cap.shape[0]):
            a = k * n
            along = 0.0
            for j in range(a + 1, a + n):
                along += T[i, j]
            T[i, a] -= signs[a] * c[k] * along
            if signs[a] < 0.0:
                rising -= T[i, a] * (cap[k] * over)
        T[i, p] = rising
        T[i, p + 1] *= s
        T[i, p + 2] *= s


@njit(cache=True, nogil=True, error_model="numpy", forceinline=True)
def _blocks(value, rate, best, strength):
    """Whether value + rate × step ≥ 0 ends the step before ``best``, or with it and with a larger pivot."""
    if rate > -_COEFFICIENT:
        return False
    room = max(value, 0.0)
    return room < (best - _TIE) * -rate or (room < (best + _TIE) * -rate and -rate > strength)


@njit(cache=True, nogil=True, error_model="numpy", forceinline=True)
def _slack(T, place, side, c, share, a, i, out):
    """out = expression of width − x_i, for a pair of the contact whose normal pair is a; t is basic.

    c and share = cap / largest cap of that contact.
    """
    t_row = place[2 * T.shape[0]]
    row = place[i]
    if row >= 0:
        for j in range(out.shape[0]):
            out[j] = -T[row, j]
    else:
        for j in range(out.shape[0]):
            out[j] = 0.0
        out[-1 - row] = -1.0
    by_t = share
    by_normal = 0.0
    if i != a:
        by_normal = 2.0 * c
        by_t = 0.0
        if side[a] < 0:
            by_normal = -2.0 * c
            by_t = 2.0 * c * share
    if by_t != 0.0:
        for j in range(out.shape[0]):
            out[j] += by_t * T[t_row, j]
    if by_normal != 0.0:
        row = place[a]
        if row >= 0:
            for j in range(out.shape[0]):
                out[j] += by_normal * T[row, j]
        else:
            out[-1 - row] += by_normal


@njit(cache=True, nogil=True, error_model="numpy", forceinline=True)
def _exchange(T, column, row, pivot):
    """Solve the leaving variable's expression ``pivot`` for the entering one and put it in everywhere.

    ``row`` holds the leaving variable and gets the entering one; −1 where the leaving variable has no row.
    """
    width = T.shape[1]
    by = pivot[column]
    for j in range(width):
        pivot[j] = -pivot[j] / by
    pivot[column] = 1.0 / by
    for r in range(T.shape[0]):
        if r != row:
            factor = T[r, column]
            if factor != 0.0:
                T[r, column] = 0.0
                for block in range(0, width, BLOCK):
                    for j in range(block, block + BLOCK):
                        T[r, j] += factor * pivot[j]
    if row >= 0:
        for j in range(width):
            T[row, j] = pivot[j]


@njit(cache=True, nogil=True, error_model="numpy", forceinline=True)
def _turn_axes(T, place, side, c, g, a):
    """Turn the axes of an open contact that is about to close so that their complements are non-negative."""
    p = T.shape[0]
    closing = -1 - place[a]
    for i in range(a + 1, a + 1 + g):
        r = place[p + i]
        if r < 0 or place[i] >= 0 or T[r, p + 2] >= 0.0:
            continue
        side[i] = -side[i]
        for j in range(T.shape[1]):
            T[r, j] = -T[r, j]
        j = -1 - place[i]
        width = 2.0 * c[a // (1 + g)]
        for q in range(p):
            T[q, closing] += width * T[q, j]
            T[q, j] = -T[q, j]


@njit(cache=True, nogil=True, error_model="numpy", forceinline=True)
def solve(g, limit, H, w, cap, c, size, attempt, T, pivot, side, place, basic, x, z):
    """Solve one increment LCP; see the module.

    g axes a contact, at most ``limit`` pivots; H (p, p), w (p,), cap (m,), c (m,), size of the perturbation and
    number of the attempt; scratch T (p, s) and pivot (s,) with s = p + 3
    rounded up to whole blocks, side, basic (p,) and place (2 p + 1,)
    int64, x (p,); z (p,) out. Returns (status, pivots).
    """
    p = H.shape[0]
    m = cap.shape[0]
    n = 1 + g
    for i in range(p):
        z[i] = 0.0
    top = 0.0
    for k in range(m):
        top = max(top, cap[k])
    if not top > 0.0:
        return SOLVED, 0
    _fill(g, H, w, cap, c, top, size, attempt, T, side, place, basic, x)
    t = 2 * p
    exact = p + 1
    bent = p + 2
    over = 1.0 / top
    entering = t
    column = p
    for pivots in range(limit):
        # The ratio test. leaving: a row, or −2 for the entering variable's own bound; opposite: its width blocks.
        best = math.inf
        strength = 0.0
        leaving = -1
        opposite = False
        done = False
        t_row = place[t]
        if t_row >= 0:
            t_rate = T[t_row, column]
            t_value = T[t_row, bent]
            if _blocks(t_value, t_rate, best, strength):
                best, strength, leaving = max(t_value, 0.0) / -t_rate, -t_rate, t_row
            if _blocks(top - t_value, -t_rate, best, strength):
                best, strength, leaving, done = max(top - t_value, 0.0) / t_rate, t_rate, t_row, True
        else:
            t_rate = 1.0
            t_value = 0.0
            best, strength, done = top, 1.0, True
        for k in range(m):
            share = cap[k] * over
            if share <= _NO_CAP:
                continue
            a = k * n
            r = place[a]
            span_rate = share * t_rate  # of z_n's width, t cap
            span = share * t_value
            rate = 0.0
            value = 0.0
            is_open = False
            if r >= 0:
                rate = T[r, column]
                value = T[r, bent]
                if _blocks(value, rate, best, strength):
                    best, strength, leaving = max(value, 0.0) / -rate, -rate, r
                    opposite = done = False
                if _blocks(span - value, span_rate - rate, best, strength):
                    best, strength, leaving = max(span - value, 0.0) / (rate - span_rate), rate - span_rate, r
                    opposite, done = True, False
            elif entering == a:
                rate = 1.0
                if _blocks(span, span_rate - 1.0, best, strength):
                    best, strength, leaving = max(span, 0.0) / (1.0 - span_rate), 1.0 - span_rate, -2
                    opposite = done = False
            else:
                is_open = side[a] > 0
                r = place[p + a]
                if r >= 0 and _blocks(T[r, bent], T[r, column], best, strength):
                    best, strength, leaving = max(T[r, bent], 0.0) / -T[r, column], -T[r, column], r
                    opposite = done = False
            if c[k] == 0.0:
                continue
            if side[a] < 0:
                rate = span_rate - rate
                value = span - value
            wide_rate = 2.0 * c[k] * rate  # of the axes' width, 2 c z_n
            wide = 2.0 * c[k] * value
            for i in range(a + 1, a + n):
                r = place[i]
                if r >= 0:
                    rate = T[r, column]
                    value = T[r, bent]
                    if _blocks(value, rate, best, strength):
                        best, strength, leaving = max(value, 0.0) / -rate, -rate, r
                        opposite = done = False
                    if _blocks(wide - value, wide_rate - rate, best, strength):
                        best, strength, leaving = max(wide - value, 0.0) / (rate - wide_rate), rate - wide_rate, r
                        opposite, done = True, False
                elif entering == i:
                    if _blocks(wide, wide_rate - 1.0, best, strength):
                        best, strength, leaving = max(wide, 0.0) / (1.0 - wide_rate), 1.0 - wide_rate, -2
                        opposite = done = False
                elif not is_open:
                    r = place[p + i]
                    if r >= 0 and _blocks(T[r, bent], T[r, column], best, strength):
                        best, strength, leaving = max(T[r, bent], 0.0) / -T[r, column], -T[r, column], r
                        opposite = done = False
        if done:
            step = top if entering == t else (top - T[leaving, exact]) / T[leaving, column]
            _read(g, cap, c, top, step, entering, column, T, side, place, x, z)
            return SOLVED, pivots
        if leaving == -1:
            return RAY, pivots
        if leaving == -2:
            i = entering
            k = i // n
            _slack(T, place, side, c[k], cap[k] * over, k * n, i, pivot)
            _exchange(T, column, -1, pivot)
            side[i] = -side[i]
            other = -1 - place[p + i]
            for r in range(p):
                T[r, other] = -T[r, other]
            entering = p + i
            column = other
            continue
        variable = basic[leaving]
        if variable == t:
            return RAY, pivots  # back at t = 0
        if opposite:
            i = variable
            k = i // n
            _slack(T, place, side, c[k], cap[k] * over, k * n, i, pivot)
            _exchange(T, column, leaving, pivot)
            side[i] = -side[i]
            other = -1 - place[p + i]
            for r in range(p):
                T[r, other] = -T[r, other]
        else:
            for j in range(T.shape[1]):
                pivot[j] = T[leaving, j]
            _exchange(T, column, leaving, pivot)
        basic[leaving] = entering
        place[entering] = leaving
        place[variable] = -1 - column
        entering = variable + p if variable < p else variable - p
        column = -1 - place[entering]
        if entering < p and entering % n == 0 and side[entering] > 0:
            _turn_axes(T, place, side, c, g, entering)
    return PIVOT_LIMIT, limit


@njit(cache=True, nogil=True, error_model="numpy", forceinline=True)
def _read(g, cap, c, top, step, entering, column, T, side, place, x, z):
    """Impulses at t = 1, the entering variable at ``step``, from the unperturbed column."""
    p = T.shape[0]
    exact = p + 1
    for i in range(p):
        r = place[i]
        if r >= 0:
            x[i] = T[r, exact] + step * T[r, column]
        else:
            x[i] = step if i == entering else 0.0
    for k in range(cap.shape[0]):
        a = k * (1 + g)
        normal = x[a] if side[a] > 0 else cap[k] - x[a]
        normal = min(max(normal, 0.0), cap[k])
        z[a] = normal
        bound = c[k] * normal
        for i in range(a + 1, a + 1 + g):
            z[i] = min(max(side[i] * (x[i] - bound), -bound), bound)
