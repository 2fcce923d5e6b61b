"""Bounds of total impulses by what contacts were doing when they last pushed in a direction."""

import math

from numba import njit

from hybrid_contact_ros.kernels.impacts.linear_bound import maximum

_LIMIT = 600  # pivots
_TURNS = 4  # of a linear program and a plane that cuts its solution off
_GAIN = 1e-3  # of a bound: a plane that lowers it by less is the last
OWN_CUTS = _TURNS  # rows that a linear program may need behind those of its mode
_PROGRESS = 1e-3  # of a bound: a round whose improvements are all smaller is the last
_OUTSIDE = 1e-3  # of the ball of energy: a point further out gets a tangent plane
_BALL = 1e-8  # room for a solver's residual


@njit(cache=True, nogil=True, error_model="numpy")
def start(p, c, basis):
    """The basis of the box rows, z_k ≤ box in row k and −z_k ≤ box in row p + k, for the objective c."""
    for k in range(p):
        basis[k] = k if c[k] >= 0.0 else p + k


@njit(cache=True, nogil=True, error_model="numpy")
def _cut(A, x0, z, row, side):
    """Make ``row`` the plane that touches the ball |x0 + Aᵀ z| ≤ 1 nearest to z, if z is outside; whether it is."""
    k = x0.shape[0]
    p = A.shape[0]
    size = 0.0
    for i in range(k):
        s = x0[i]
        for a in range(p):
            s += A[a, i] * z[a]
        size += s * s
    size = math.sqrt(size)
    if not (1.0 + _OUTSIDE < size < 1e6):
        return False
    offset = 1.0 + _BALL
    for a in range(p):
        row[a] = 0.0
    for i in range(k):
        s = x0[i]
        for a in range(p):
            s += A[a, i] * z[a]
        s /= size
        offset -= s * x0[i]
        for a in range(p):
            row[a] += A[a, i] * s
    size = 0.0
    for a in range(p):
        size += row[a] * row[a]
    size = math.sqrt(size)
    if not size > 1e-9:
        return False
    for a in range(p):
        row[a] /= size
    side[0] = offset / size
    return True


@njit(cache=True, nogil=True, error_model="numpy")
def _of_mode(
    p,
    mode,
    standing,
    A,
    x0,
    first_cut,
    cuts,
    used,
    rows,
    rhs,
    c,
    box,
    conditions,
    sides,
    begin,
    best,
    basis,
    work,
    inverse,
    vectors,
):
    """Bound of c z while the contact of ``mode`` pushes as it says, best where it is no lower. Returns (it, cuts)."""
    count = standing
    for row in range(begin[mode], begin[mode + 1]):
        for k in range(p):
            rows[count, k] = conditions[row, k]
        rhs[count] = sides[row]
        count += 1
    value = math.inf
    for turn in range(_TURNS):
        now = maximum(p, count, _LIMIT, rows, rhs, c, box, basis, work, inverse, vectors)
        if now == math.inf:  # rounding made the basis singular
            start(p, c, basis)
            now = maximum(p, count, _LIMIT, rows, rhs, c, box, basis, work, inverse, vectors)
        if turn > 0 and not value - now > _GAIN * abs(value):
            value = min(value, now)
            break
        value = min(value, now)
        if turn == _TURNS - 1 or value <= best:
            break
        at = first_cut + used if used < cuts else count  # a lasting plane, or one for this program alone
        if not _cut(A, x0, vectors[1], rows[at], rhs[at : at + 1]):
            break
        if used < cuts:
            used += 1
        else:
            count += 1
    return value, used


@njit(cache=True, nogil=True, error_model="numpy")
def _mix(p, first, templates, rows, rhs, basis, y, mix):
    """The templates' part Σ y row of a dual, with its bound as mix[p]; zero where only one template is in it."""
    parts = 0
    for k in range(p + 1):
        mix[k] = 0.0
    largest = 0.0
    for k in range(p):
        if first <= basis[k] < first + templates:
            largest = max(largest, y[k])
    for k in range(p):
        if first <= basis[k] < first + templates and y[k] > 1e-5 * largest:
            parts += 1
            for i in range(p):
                mix[i] += y[k] * rows[basis[k], i]
            mix[p] += y[k] * rhs[basis[k]]
    if parts < 2:
        for k in range(p + 1):
            mix[k] = 0.0


@njit(cache=True, nogil=True, error_model="numpy")
def descend(
    rounds,
    first,
    templates,
    standing,
    first_cut,
    cuts,
    used,
    A,
    x0,
    box,
    increases,
    conditions,
    sides,
    begin,
    slack,
    order,
    rows,
    rhs,
    bases,
    mix,
    basis,
    work,
    inverse,
    vectors,
):
    """Lower the bounds of the template rows as far as their last increases allow.

    A template's value T Λ begins at 0. Where it is largest, it increased in the increment before, so that some contact
    pushed in a mode whose impulses can increase it; what that mode demands of the velocity held then, and so did all
    bounds known so far. The largest of these maxima bounds it for ever.

    Args:
        first, templates: where their rows are, how many. standing: rows in all; conditions are put behind these.
        first_cut, cuts, used: tangent planes of the ball |x0 + Aᵀ Λ| ≤ 1. box (p,).
        increases (templates, modes): whether a mode can increase a template. conditions (·, p), sides (·,), begin
            (modes + 1,): rows that a mode demands. slack (templates,): room for a solver's residual.
        order (templates, modes): in which modes are tried, in and out. mix (templates, p + 1) out: the combination of
            templates that bounds this one in its worst mode, and its bound. rows, rhs: in and out. bases (templates, p)
            scratch that has been started; others scratch.

    Returns:
        (rounds, cuts used).
    """
    p = A.shape[0]
    modes = increases.shape[1]
    done = 0
    for _ in range(rounds):
        done += 1
        moved = False
        for a in range(templates):
            now = rhs[first + a]
            if not now > 2.0 * slack[a]:
                continue
            c = rows[first + a]
            rhs[first + a] = math.inf  # its own row would only repeat what is known
            maximum(p, standing, _LIMIT, rows, rhs, c, box, bases[a], work, inverse, vectors)
            best = 0.0
            for k in range(modes):
                mode = order[a, k]
                if not increases[a, mode]:
                    continue
                for i in range(p):
                    basis[i] = bases[a, i]
                value, used = _of_mode(
                    p, mode, standing, A, x0, first_cut, cuts, used, rows, rhs, c, box, conditions, sides, begin,
                    best, basis, work, inverse, vectors,
                )  # fmt: skip
                if value > best:
                    best = value
                    _mix(p, first, templates, rows, rhs, basis, vectors[0], mix[a])
                if best + slack[a] >= now:
                    for i in range(k, 0, -1):
                        order[a, i] = order[a, i - 1]
                    order[a, 0] = mode
                    break
            rhs[first + a] = min(best + slack[a], now)
            if best + slack[a] < now:
                moved = moved or now - best - slack[a] > _PROGRESS * (1.0 if now == math.inf else now)
        if not moved:
            break
    return done, used


@njit(cache=True, nogil=True, error_model="numpy")
def extremes(
    first,
    templates,
    standing,
    first_cut,
    cuts,
    used,
    A,
    x0,
    box,
    queries,
    conditions,
    sides,
    begin,
    rows,
    rhs,
    mix,
    base,
    basis,
    work,
    inverse,
    vectors,
    most,
):
    """Bounds of queries (q, p) Λ in the end: ``most`` (q,) out, the largest over the modes of the last increment.

    mix (q, p + 1) out: the templates that bound it, as in :func:`descend`. Returns the cuts used.
    """
    p = A.shape[0]
    for a in range(queries.shape[0]):
        c = queries[a]
        start(p, c, base)
        maximum(p, standing, _LIMIT, rows, rhs, c, box, base, work, inverse, vectors)
        best = -math.inf
        for mode in range(begin.shape[0] - 1):
            for i in range(p):
                basis[i] = base[i]
            value, used = _of_mode(
                p, mode, standing, A, x0, first_cut, cuts, used, rows, rhs, c, box, conditions, sides, begin,
                best, basis, work, inverse, vectors,
            )  # fmt: skip
            if value > best:
                best = value
                _mix(p, first, templates, rows, rhs, basis, vectors[0], mix[a])
        most[a] = best
    return used
