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

_COEFFICIENT = 1e-11  # entries below count as zero in the ratio test
_TIE = 1e-13  # blocking variables this close: the one with the larger entry leaves
_NO_CAP = 1e-13  # relative to the largest: such contacts take no part


@njit(cache=True, nogil=True, error_model="numpy")
def _perturbation(i, size, attempt):
    """δ_i, from an irrational rotation; from the second attempt on of either sign."""
    phase = (i + 1) * 0.6180339887498949 + attempt * 0.7548776662466927
    phase -= math.floor(phase)
    if attempt % 2 == 1 and (i * 7 + attempt) % 3 == 0:
        return -size * (0.5 + phase)
    return size * (0.5 + phase)


@njit(cache=True, nogil=True, error_model="numpy")
def _fill(g, H, w, cap, c, top, size, attempt, T, side, place, basic):
    """Tableau at t = 0: all y basic, approaching contacts at their cap, axes sliding against their velocity."""
    p = H.shape[0]
    n = 1 + g
    for i in range(p):
        delta = _perturbation(i, size, attempt)
        T[i, p + 1] = w[i]
        T[i, p + 2] = w[i] + delta
        approaching = w[i] + delta < 0.0
        if i % n == 0 and cap[i // n] <= _NO_CAP * top:
            approaching = False
        side[i] = -1 if approaching else 1
        place[i] = -1 - i
        place[p + i] = i
        basic[i] = p + i
    place[2 * p] = -1 - p
    for i in range(p):
        s = side[i]
        rising = 0.0
        for k in range(cap.shape[0]):
            a = k * n
            normal = H[i, a]
            for l in range(1, n):
                normal -= side[a + l] * c[k] * H[i, a + l]
                T[i, a + l] = s * side[a + l] * H[i, a + l]
            T[i, a] = s * side[a] * normal
            if side[a] < 0:
                rising += normal * (cap[k] / top)
        T[i, p] = s * rising
        T[i, p + 1] *= s
        T[i, p + 2] *= s


@njit(cache=True, nogil=True, error_model="numpy")
def _entry(T, place, variable, entering, column):
    """Entry of a variable's expression in a column of the tableau that is entering (1 for the entering itself)."""
    r = place[variable]
    if r >= 0:
        return T[r, column]
    return 1.0 if variable == entering else 0.0


@njit(cache=True, nogil=True, error_model="numpy")
def _value(T, place, variable, column):
    """Present value of a variable, from a constant column; a nonbasic one is 0."""
    r = place[variable]
    return T[r, column] if r >= 0 else 0.0


@njit(cache=True, nogil=True, error_model="numpy")
def _width(T, place, side, cap, c, top, n, i, entering, column, constant):
    """Width of x_i: its entry in the entering column (constant < 0) or its value in a constant column."""
    p = T.shape[0]
    k = i // n
    a = k * n
    if i == a:
        if constant < 0:
            return (cap[k] / top) * _entry(T, place, 2 * p, entering, column)
        return (cap[k] / top) * _value(T, place, 2 * p, constant)
    if side[a] > 0:
        if constant < 0:
            return 2.0 * c[k] * _entry(T, place, a, entering, column)
        return 2.0 * c[k] * _value(T, place, a, constant)
    if constant < 0:
        t = _entry(T, place, 2 * p, entering, column)
        x = _entry(T, place, a, entering, column)
    else:
        t = _value(T, place, 2 * p, constant)
        x = _value(T, place, a, constant)
    return 2.0 * c[k] * ((cap[k] / top) * t - x)


@njit(cache=True, nogil=True, error_model="numpy")
def _add(T, place, variable, factor, out):
    """out += factor × expression of a variable in the nonbasic ones and the constants."""
    r = place[variable]
    if r >= 0:
        for j in range(out.shape[0]):
            out[j] += factor * T[r, j]
    else:
        out[-1 - r] += factor


@njit(cache=True, nogil=True, error_model="numpy")
def _slack(T, place, side, cap, c, top, n, i, out):
    """out = expression of width − x_i."""
    p = T.shape[0]
    k = i // n
    a = k * n
    for j in range(out.shape[0]):
        out[j] = 0.0
    if i == a:
        _add(T, place, 2 * p, cap[k] / top, out)
    elif side[a] > 0:
        _add(T, place, a, 2.0 * c[k], out)
    else:
        _add(T, place, 2 * p, 2.0 * c[k] * (cap[k] / top), out)
        _add(T, place, a, -2.0 * c[k], out)
    _add(T, place, i, -1.0, out)


@njit(cache=True, nogil=True, error_model="numpy")
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
                for j in range(width):
                    T[r, j] += factor * pivot[j]
    if row >= 0:
        for j in range(width):
            T[row, j] = pivot[j]


@njit(cache=True, nogil=True, error_model="numpy")
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


@njit(cache=True, nogil=True, error_model="numpy")
def solve(g, limit, H, w, cap, c, size, attempt, T, pivot, side, place, basic, x, z):
    """Solve one increment LCP; see the module.

    g axes a contact, at most ``limit`` pivots; H (p, p), w (p,), cap (m,), c (m,), size of the perturbation and
    number of the attempt; scratch T (p, p + 3), pivot (p + 3,), side, basic (p,) and place (2 p + 1,)
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
    _fill(g, H, w, cap, c, top, size, attempt, T, side, place, basic)
    t = 2 * p
    exact = p + 1
    bent = p + 2
    entering = t
    column = p
    for pivots in range(limit):
        best = math.inf
        strength = 0.0
        leaving = -1  # row; −2: the entering variable's own bound
        opposite = False
        done = False
        if entering == t:
            best = top
            strength = 1.0
            done = True
        elif entering < p:
            falling = _width(T, place, side, cap, c, top, n, entering, entering, column, -1) - 1.0
            if falling < -_COEFFICIENT:
                room = _width(T, place, side, cap, c, top, n, entering, entering, column, bent)
                best = max(room, 0.0) / -falling
                strength = -falling
                leaving = -2
        for r in range(p):
            variable = basic[r]
            rate = T[r, column]
            if variable >= p and variable < t:
                if rate > -_COEFFICIENT:
                    continue
                i = variable - p
                k = i // n
                a = k * n
                if i == a:
                    if cap[k] <= _NO_CAP * top:
                        continue
                elif c[k] == 0.0 or (side[a] > 0 and place[a] < 0 and entering != a):
                    continue
                ratio = max(T[r, bent], 0.0) / -rate
                if ratio < best - _TIE or (ratio < best + _TIE and -rate > strength):
                    best, strength, leaving, opposite, done = ratio, -rate, r, False, False
                continue
            if rate < -_COEFFICIENT:
                ratio = max(T[r, bent], 0.0) / -rate
                if ratio < best - _TIE or (ratio < best + _TIE and -rate > strength):
                    best, strength, leaving, opposite, done = ratio, -rate, r, False, False
            if variable == t:
                if rate > _COEFFICIENT:
                    ratio = max(top - T[r, bent], 0.0) / rate
                    if ratio < best - _TIE or (ratio < best + _TIE and rate > strength):
                        best, strength, leaving, opposite, done = ratio, rate, r, False, True
                continue
            falling = _width(T, place, side, cap, c, top, n, variable, entering, column, -1) - rate
            if falling < -_COEFFICIENT:
                room = _width(T, place, side, cap, c, top, n, variable, entering, column, bent) - T[r, bent]
                ratio = max(room, 0.0) / -falling
                if ratio < best - _TIE or (ratio < best + _TIE and -falling > strength):
                    best, strength, leaving, opposite, done = ratio, -falling, r, True, False
        if done:
            step = top if entering == t else (top - T[leaving, exact]) / T[leaving, column]
            _read(g, cap, c, top, step, entering, column, T, side, place, x, z)
            return SOLVED, pivots
        if leaving == -1:
            return RAY, pivots
        if leaving == -2:
            i = entering
            _slack(T, place, side, cap, c, top, n, i, pivot)
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
            _slack(T, place, side, cap, c, top, n, i, pivot)
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


@njit(cache=True, nogil=True, error_model="numpy")
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
