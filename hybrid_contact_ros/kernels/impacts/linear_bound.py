"""Upper bounds of linear functions on a polyhedron, which rounding cannot make wrong: simplex method on the dual."""

import math

from hybrid_contact_ros.kernels.compiling import kernel

_FEASIBLE = 1e-11  # violation of a row of norm about 1 (over 1 + |z|) below which the point counts as inside
_PIVOT = 1e-10  # entries below are not pivoted on
_SINGULAR = 1e-13  # a pivot below makes a basis singular
_ROUNDING = 1e-13  # relative error of a sum of p products
_STALLED = 12  # pivots without progress, after which Bland's rule ends cycles


@kernel
def invert(p, rows, basis, work, inverse):
    """Write the inverse (p, p) of the matrix whose columns are ``rows[basis]``; return 0 if it is singular, else 1.

    work: scratch (p, p).
    """
    for i in range(p):
        for j in range(p):
            work[i, j] = rows[basis[j], i]
            inverse[i, j] = 1.0 if i == j else 0.0
    for k in range(p):
        best = k
        for i in range(k + 1, p):
            if abs(work[i, k]) > abs(work[best, k]):
                best = i
        if not abs(work[best, k]) > _SINGULAR:
            return 0
        if best != k:
            for j in range(p):
                work[k, j], work[best, j] = work[best, j], work[k, j]
                inverse[k, j], inverse[best, j] = inverse[best, j], inverse[k, j]
        over = 1.0 / work[k, k]
        for j in range(p):
            work[k, j] *= over
            inverse[k, j] *= over
        for i in range(p):
            factor = work[i, k]
            if i != k and factor != 0.0:
                for j in range(p):
                    work[i, j] -= factor * work[k, j]
                    inverse[i, j] -= factor * inverse[k, j]
    return 1


@kernel
def maximum(
    # problem:
    p,
    count,
    limit,
    rows,
    rhs,
    c,
    box,
    # in and out:
    basis,
    # scratch:
    work,
    inverse,
    vectors,
):
    """Bound max c z over {z: rows z ≤ rhs} from above, correctly whatever the simplex method made of it.

    The dual problem is min rhs y over y ≥ 0 with rowsᵀ y = c. Any y ≥ 0 bounds c z by rhs y + |c − rowsᵀ y| box where
    |z| ≤ box. Therefore neither rounding nor an early end makes the answer wrong, only larger.

    Args:
        p: unknowns. count: rows to look at. limit: pivots at most.
        rows: (≥ count, p), of norm about 1. rhs: (≥ count,); rows with an infinite one are left out.
        c: (p,), the objective. box: (p,), |z| ≤ box for every z that matters.
        basis: in and out, (p,) int64: rows with c = Σ y row for some y ≥ 0.
        work, inverse: (p, p). vectors: (4, p); at the end vectors[0] is y of the basis, and vectors[1] the point z.

    Returns:
        The bound; −∞ where it is certain that there is no such z; +∞ where the rows of ``basis`` depend on each other.
    """
    y = vectors[0]
    z = vectors[1]
    step = vectors[2]
    if invert(p, rows, basis, work, inverse) == 0:
        return math.inf
    idle = 0
    for _ in range(limit):
        for k in range(p):
            s = 0.0
            t = 0.0
            for i in range(p):
                s += inverse[k, i] * c[i]
                t += inverse[i, k] * rhs[basis[i]]
            y[k] = s if s > 0.0 else 0.0
            z[k] = t
        size = 0.0
        for k in range(p):
            size = max(size, abs(z[k]))
        entering = -1
        worst = _FEASIBLE * (1.0 + size)
        for j in range(count):
            if rhs[j] < math.inf:
                s = -rhs[j]
                for k in range(p):
                    s += rows[j, k] * z[k]
                if s > worst:
                    entering = j
                    if idle > _STALLED:
                        break
                    worst = s
        if entering < 0:
            break
        leaving = -1
        least = math.inf
        for k in range(p):
            s = 0.0
            for i in range(p):
                s += inverse[k, i] * rows[entering, i]
            step[k] = s
            if s > _PIVOT:
                ratio = y[k] / s
                if ratio < least - 1e-15 or (
                    ratio <= least + 1e-15 and (basis[k] < basis[leaving] if idle > _STALLED else s > step[leaving])
                ):
                    least = min(ratio, least)
                    leaving = k
        if leaving < 0:
            if _empty(p, rows, rhs, box, basis, entering, step):
                return -math.inf
            break
        idle = 0 if least > 1e-14 else idle + 1
        over = 1.0 / step[leaving]
        for i in range(p):
            inverse[leaving, i] *= over
        for k in range(p):
            factor = step[k]
            if k != leaving and factor != 0.0:
                for i in range(p):
                    inverse[k, i] -= factor * inverse[leaving, i]
        basis[leaving] = entering
    return _certified(p, rows, rhs, c, box, basis, inverse, y)


@kernel
def _certified(p, rows, rhs, c, box, basis, inverse, y):
    """The bound that the dual y ≥ 0 of a basis proves, its own errors included."""
    value = 0.0
    size = 0.0
    for k in range(p):
        s = 0.0
        for i in range(p):
            s += inverse[k, i] * c[i]
        y[k] = s if s > 0.0 else 0.0
        value += y[k] * rhs[basis[k]]
        size += abs(y[k] * rhs[basis[k]])
    for i in range(p):
        s = c[i]
        for k in range(p):
            s -= y[k] * rows[basis[k], i]
        value += abs(s) * box[i]
    value += _ROUNDING * size
    return value if value == value else math.inf


@kernel
def _empty(p, rows, rhs, box, basis, entering, step):
    """Whether y = 1 on the entering row and −step on the basis proves by Farkas' lemma that no z satisfies all rows."""
    value = rhs[entering]
    size = abs(value)
    for k in range(p):
        if step[k] < 0.0:
            value -= step[k] * rhs[basis[k]]
            size += abs(step[k] * rhs[basis[k]])
    for i in range(p):
        s = rows[entering, i]
        for k in range(p):
            if step[k] < 0.0:
                s -= step[k] * rows[basis[k], i]
        value += abs(s) * box[i]
    return value + _ROUNDING * size < 0.0
