"""Bounds of total impulses, from what a contact was doing when it last pushed in a direction.

The total impulse Λ (p,) grows increment by increment, and lies in a polyhedron whose rows are tightened here. Some of
its rows are *templates*: linear functions T Λ whose largest value over all outcomes is sought. Where T Λ is largest,
some contact increased it in the last increment; that contact pushed in one of a few modes
(:mod:`hybrid_contact_ros.impacts.contact_states`), and what the mode demands of the contact's velocity held at that
moment. The maximum of T Λ over the polyhedron and these demands, taken over all modes that can increase T, is an upper
bound of T Λ at any time.
"""

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from hybrid_contact_ros.kernels.compiling import kernel
from hybrid_contact_ros.kernels.impacts.linear_bound import maximum

Array = NDArray[np.float64]
Indices = NDArray[np.int64]

_PIVOTS = 600  # that one linear program may take
_PLANES = 4  # linear programs of one mode; each but the last may add a plane that cuts its solution off
_LEAST_GAIN = 1e-3  # of a bound: after a plane that lowers it by less, no other is added
OWN_CUTS = _PLANES  # rows that the linear programs of a mode may need behind the rows of the mode
_PROGRESS = 1e-3  # of a bound: after a round whose improvements are all smaller, no other is made
_OUTSIDE = 1e-3  # of the radius of the ball of energy: a point further outside is cut off by a tangent plane
_FARTHEST = 1e6  # radii: the direction of points further away says too little about where the ball is
_BALL_ROOM = 1e-8  # of the radius: room for a solver's residual
_LEAST_PART = 1e-5  # of the largest multiplier: templates with smaller ones are left out of a combination


class HullProblem(NamedTuple):
    """What impulses do, and what each mode of a pushing contact demands; velocities and impulses scaled to about 1."""

    A: Array  # (p, k): change of the velocity x (k,) per impulse; kinetic energy is |x|²
    x0: Array  # (k,): x before the impact, of length 1 at most, so that |x0 + Aᵀ Λ| ≤ 1
    box: Array  # (p,): bounds of |Λ|
    conditions: Array  # (rows of all modes, p): what a mode demands of Λ, conditions Λ ≤ sides
    sides: Array  # (rows of all modes,)
    begin: Indices  # (modes + 1,): rows begin[k] … begin[k + 1] − 1 belong to mode k


class HullRows(NamedTuple):
    """Rows of the polyhedron, rows Λ ≤ rhs; rows with an infinite rhs do not count.

    The first 2 p rows are the box, ±Λ ≤ box. All rows that always hold come before ``standing``; behind them is room
    for those of one mode and for :data:`OWN_CUTS` tangent planes of its linear programs.
    """

    first_template: int  # row of the first template
    templates: int  # how many templates there are
    standing: int  # rows that always hold
    first_cut: int  # row of the first tangent plane of the ball of energy that always holds
    cuts: int  # how many such planes there is room for
    rows: Array  # (rows, p), each of norm about 1
    rhs: Array  # (rows,)


class SimplexScratch(NamedTuple):
    """Scratch of :func:`.linear_bound.maximum`."""

    basis: Indices  # (p,)
    work: Array  # (p, p)
    inverse: Array  # (p, p)
    vectors: Array  # (4, p); after a linear program [0] is the dual of the basis and [1] the solution


@kernel
def box_basis(p, c, basis):
    """Write the rows of the box that are a basis for the objective c (p,): Λ_k ≤ box is row k, −Λ_k ≤ box is p + k."""
    for k in range(p):
        basis[k] = k if c[k] >= 0.0 else p + k


@kernel
def _tangent_plane(A, x0, z, row, side):
    """If z is outside the ball |x0 + Aᵀ z| ≤ 1, make ``row`` the plane that touches the ball nearest to z.

    row (p,), side (1,): out. Returns whether z is outside, and not so far that the plane would say nothing.
    """
    k = x0.shape[0]
    p = A.shape[0]
    size = 0.0
    for i in range(k):
        s = x0[i]
        for a in range(p):
            s += A[a, i] * z[a]
        size += s * s
    size = math.sqrt(size)
    if not (1.0 + _OUTSIDE < size < _FARTHEST):
        return False
    offset = 1.0 + _BALL_ROOM
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


@kernel
def _bound_in_mode(mode, c, enough, used, problem, hull, scratch):
    """Bound c Λ (c (p,)) at moments when a contact pushes in ``mode``.

    enough: a bound that is no higher than this need not be lowered further. used: tangent planes that always hold and
    are known already. scratch.basis: in and out, a basis for c.

    Returns (bound, tangent planes known afterwards).
    """
    A, rows, rhs, basis = problem.A, hull.rows, hull.rhs, scratch.basis
    work, inverse, vectors = scratch.work, scratch.inverse, scratch.vectors
    p = A.shape[0]
    count = hull.standing
    for row in range(problem.begin[mode], problem.begin[mode + 1]):
        for k in range(p):
            rows[count, k] = problem.conditions[row, k]
        rhs[count] = problem.sides[row]
        count += 1
    value = math.inf
    for plane in range(_PLANES):
        now = maximum(p, count, _PIVOTS, rows, rhs, c, problem.box, basis, work, inverse, vectors)
        if now == math.inf:  # rounding made the basis singular
            box_basis(p, c, basis)
            now = maximum(p, count, _PIVOTS, rows, rhs, c, problem.box, basis, work, inverse, vectors)
        if plane > 0 and not value - now > _LEAST_GAIN * abs(value):
            value = min(value, now)
            break
        value = min(value, now)
        if plane == _PLANES - 1 or value <= enough:
            break
        # A tangent plane always holds; where there is no room among the lasting ones it serves this program alone.
        at = hull.first_cut + used if used < hull.cuts else count
        if not _tangent_plane(A, problem.x0, vectors[1], rows[at], rhs[at : at + 1]):
            break
        if used < hull.cuts:
            used += 1
        else:
            count += 1
    return value, used


@kernel
def _combined_templates(p, hull, basis, y, mix):
    """The part Σ y row that templates have in the dual y (p,) of a linear program, and its bound.

    mix (p + 1,): out, the combination and, last, its bound; zero where it consists of a single template.
    """
    first, last = hull.first_template, hull.first_template + hull.templates
    parts = 0
    for k in range(p + 1):
        mix[k] = 0.0
    largest = 0.0
    for k in range(p):
        if first <= basis[k] < last:
            largest = max(largest, y[k])
    for k in range(p):
        if first <= basis[k] < last and y[k] > _LEAST_PART * largest:
            parts += 1
            for i in range(p):
                mix[i] += y[k] * hull.rows[basis[k], i]
            mix[p] += y[k] * hull.rhs[basis[k]]
    if parts < 2:
        for k in range(p + 1):
            mix[k] = 0.0


@kernel
def lower_templates(
    # problem:
    A,
    x0,
    box,
    conditions,
    sides,
    begin,
    # rows, in and out:
    first_template,
    templates,
    standing,
    first_cut,
    cuts,
    rows,
    rhs,
    # inputs, of which order is changed:
    rounds,
    used,
    increases,
    slack,
    order,
    # scratch:
    basis,
    work,
    inverse,
    vectors,
    bases,
    # out:
    mix,
):
    """Lower the bounds of the templates as far as their last increases allow, as in this module's heading.

    T Λ is 0 before the impact. Therefore a template that no mode can increase has the bound 0, and every maximum below
    0 counts as 0.

    Args:
        A … begin: :class:`HullProblem`. first_template … rhs: :class:`HullRows`, whose right-hand sides are lowered.
        rounds: over all templates, at most. used: tangent planes known already.
        increases: (templates, modes) bool, whether a mode can increase a template.
        slack: (templates,), room for the solver's residual.
        order: in and out, (templates, modes) int64: the order in which the modes are tried for a template.
        basis … vectors: :class:`SimplexScratch`. bases: scratch (templates, p) int64, which :func:`box_basis` has
            filled.
        mix: out, (templates, p + 1), the combination of templates that bounds this one in its worst mode, and the bound
            of the combination; zero where a single template does.

    Returns:
        (rounds made, tangent planes known).
    """
    problem = HullProblem(A, x0, box, conditions, sides, begin)
    hull = HullRows(first_template, templates, standing, first_cut, cuts, rows, rhs)
    scratch = SimplexScratch(basis, work, inverse, vectors)
    p = A.shape[0]
    modes = increases.shape[1]
    done = 0
    for _ in range(rounds):
        done += 1
        moved = False
        for a in range(templates):
            now = rhs[first_template + a]
            if not now > 2.0 * slack[a]:
                continue
            c = rows[first_template + a]
            rhs[first_template + a] = math.inf  # its own row would only repeat what is known
            maximum(p, standing, _PIVOTS, rows, rhs, c, box, bases[a], work, inverse, vectors)
            best = 0.0
            for k in range(modes):
                mode = order[a, k]
                if not increases[a, mode]:
                    continue
                for i in range(p):
                    basis[i] = bases[a, i]
                value, used = _bound_in_mode(mode, c, best, used, problem, hull, scratch)
                if value > best:
                    best = value
                    _combined_templates(p, hull, basis, vectors[0], mix[a])
                if best + slack[a] >= now:  # nothing is gained: try this mode first in the next round
                    for i in range(k, 0, -1):
                        order[a, i] = order[a, i - 1]
                    order[a, 0] = mode
                    break
            rhs[first_template + a] = min(best + slack[a], now)
            if best + slack[a] < now:
                moved = moved or now - best - slack[a] > _PROGRESS * (1.0 if now == math.inf else now)
        if not moved:
            break
    return done, used


@kernel
def bound_queries(
    # problem:
    A,
    x0,
    box,
    conditions,
    sides,
    begin,
    # rows, in and out:
    first_template,
    templates,
    standing,
    first_cut,
    cuts,
    rows,
    rhs,
    # inputs:
    used,
    queries,
    # scratch:
    basis,
    work,
    inverse,
    vectors,
    first_basis,
    # out:
    mix,
    most,
):
    """Bound the queries (q, p) Λ after the impact: the largest maximum over the modes of the last increment.

    Args:
        A … rhs, used, basis … vectors: as of :func:`lower_templates`. queries: (q, p). first_basis: scratch (p,) int64.
        mix: out, (q, p + 1), the combination of templates that bounds each query, as of :func:`lower_templates`.
        most: out, (q,), the upper bounds.

    Returns:
        The tangent planes known.
    """
    problem = HullProblem(A, x0, box, conditions, sides, begin)
    hull = HullRows(first_template, templates, standing, first_cut, cuts, rows, rhs)
    scratch = SimplexScratch(basis, work, inverse, vectors)
    p = A.shape[0]
    for a in range(queries.shape[0]):
        c = queries[a]
        box_basis(p, c, first_basis)
        maximum(p, standing, _PIVOTS, rows, rhs, c, box, first_basis, work, inverse, vectors)
        best = -math.inf
        for mode in range(begin.shape[0] - 1):
            for i in range(p):
                basis[i] = first_basis[i]
            value, used = _bound_in_mode(mode, c, best, used, problem, hull, scratch)
            if value > best:
                best = value
                _combined_templates(p, hull, basis, vectors[0], mix[a])
        most[a] = best
    return used
