"""Every solution of a planar increment: the search of :mod:`.all_solutions`, with vectors in place of loops over rows.

It visits the same tree: contacts are decided one by one, and intervals of what is undecided cut branches. Each contact
has three rows, and what its state asks for is that each lies between two bounds:

    state           row 3k           row 3k + 1      row 3k + 2
    undecided       w'_n             w'_l                             any
    open            w'_n ≥ 0
    active, slides  0 ≤ z_n ≤ cap    σ w'_l ≤ 0
    active, sticks  z_n ≤ cap        c z_n − z_l ≥ 0  c z_n + z_l ≥ 0
    capped, slides  w'_n ≤ 0         σ w'_l ≤ 0
    capped, sticks  w'_n ≤ 0         |z_l| ≤ c cap

so that one pass over all rows tests a mode. Where all contacts but one are decided, the last is a problem of two
unknowns, and each of its seven modes is a formula. Where the matrix of a contact is singular its impulses stay
undecided, within their bounds, and its equations become rows that must contain 0; what survives is left to the linear
system of the whole mode (:mod:`.increment_system`), as is an answer that is not accurate. No branch is cut for any
other reason, so that a completed search has seen every solution.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from hybrid_contact_ros.kernels.compiling import kernel
from hybrid_contact_ros.kernels.impacts.all_solutions import SearchBudget, add_line, is_apart, is_new
from hybrid_contact_ros.kernels.impacts.increment_modes import ACTIVE, CAPPED, decode, mode_count
from hybrid_contact_ros.kernels.impacts.increment_system import may_hold, solve_mode
from hybrid_contact_ros.kernels.impacts.planar_pieces import ACTIVE_STICKS, CAPPED_STICKS, OPEN_STATE, slide
from hybrid_contact_ros.kernels.impacts.records import IncrementProblem
from hybrid_contact_ros.kernels.impacts.residual import axes_residual

Array = NDArray[np.float64]
Indices = NDArray[np.int64]

BLOCK = 8  # rows are padded to a multiple of this
_MISSED = 1e-7  # a condition, scaled, that is missed by less may hold at the answer, whose residual is checked
_SINGULAR = 1e-7  # pivots and determinants below are not divided by
SAME_ANSWER = 1e-11
"""Residual of an answer that is not solved for again."""
_NODE = 0.15  # units of work (:func:`.increment_modes.effort`) of a node, for each pair of contacts or more
_GOLDEN = 0.6180339887498949
_BEGINNINGS = 1024


class PlanarTree(NamedTuple):
    """Scratch of a planar search."""

    T: Array  # (m + 1, p + 1, rows): T[level, column, row]; the last column is the constant
    bounds: Array  # (6, rows): least and most asked of a row; least and most that it can be; that a velocity can be
    A: Array  # (p + 1, p + 1), as of :class:`.all_solutions.SearchTree`
    rows: Indices  # (2, p)
    modes: Indices  # (m, 8): how many states a contact may have, and these
    at: Indices  # (m + 5, m): which contacts are undecided at each level; order, place in a list, states, singular ones


def tree_sizes(m: int) -> tuple[tuple[int, ...], ...]:
    """Shapes of the arrays of :class:`PlanarTree` for m contacts."""
    p, rows = 2 * m, -(-3 * m // BLOCK) * BLOCK
    return (m + 1, p + 1, rows), (6, rows), (p + 1, p + 1), (2, p), (m, 8), (m + 5, m)


@kernel(forceinline=True)
def _root(H, w, energy, tree):
    """Write the rows of undecided contacts, w' = w + H z, to T[0], and what velocities can be."""
    root, bounds = tree.T[0], tree.bounds
    p = w.shape[0]
    for r in range(root.shape[1]):
        for x in range(0, 6, 2):
            bounds[x, r] = -np.inf
            bounds[x + 1, r] = np.inf
        for j in range(p + 1):
            root[j, r] = 0.0
    for i in range(p):
        r = 3 * (i // 2) + i % 2
        root[p, r] = w[i]
        reach = 0.5 * np.sqrt(energy * H[i, i])
        bounds[4, r] = 0.5 * w[i] - reach
        bounds[5, r] = 0.5 * w[i] + reach
        for j in range(p):
            root[j, r] = H[j, i]


@kernel(forceinline=True)
def _ask_nothing(k, bounds):
    """Ask nothing of the rows of contact k, but what holds for all velocities."""
    for r in range(3 * k, 3 * k + 3):
        bounds[0, r] = bounds[4, r]
        bounds[1, r] = bounds[5, r]


@kernel(forceinline=True)
def _ask(k, state, cap, c, bounds):
    """Write what a state of contact k asks of its rows."""
    least, most = bounds[0], bounds[1]
    sigma = slide(state)
    r = 3 * k
    _ask_nothing(k, bounds)
    if not cap > 0.0:
        return
    if state == OPEN_STATE:
        least[r] = 0.0
        return
    if state >= 4:
        most[r] = 0.0
    else:
        most[r] = cap
        least[r] = 0.0 if sigma != 0 else -np.inf
    if sigma == 0:
        most[r + 1] = np.inf
    if not c > 0.0:
        return
    if sigma > 0:
        most[r + 1] = 0.0
    elif sigma < 0:
        least[r + 1] = 0.0
    elif state == CAPPED_STICKS:
        least[r + 1] = -c * cap
        most[r + 1] = c * cap
    else:
        least[r + 1] = 0.0
        least[r + 2] = 0.0


@kernel(forceinline=True)
def _response(k, state, c, parent):
    """How the impulses of contact k follow from its rows in a state: ((a, b, d, e), whether they do).

    z_n = a w_n + b w_l and z_l = d w_n + e w_l, with w' of the other contacts' impulses; cap comes on top. A matrix
    that is nearly singular is not inverted.
    """
    n, t = 2 * k, 2 * k + 1
    r = 3 * k
    if state == OPEN_STATE or (state >= 4 and state != CAPPED_STICKS):
        return 0.0, 0.0, 0.0, 0.0, True
    if state == CAPPED_STICKS:
        pivot = parent[t, r + 1]
        if abs(pivot) < _SINGULAR:
            return 0.0, 0.0, 0.0, 0.0, False
        return 0.0, 0.0, 0.0, -1.0 / pivot, True
    if state == ACTIVE_STICKS:
        nn, nl, ln, ll = parent[n, r], parent[t, r], parent[n, r + 1], parent[t, r + 1]
        determinant = nn * ll - nl * ln
        size = max(max(abs(nn), abs(ll)), max(abs(nl), abs(ln)))
        if not abs(determinant) > _SINGULAR * max(size, 1e-3):
            return 0.0, 0.0, 0.0, 0.0, False
        over = -1.0 / determinant
        return over * ll, -over * nl, -over * ln, over * nn, True
    sigma = slide(state)
    pivot = parent[n, r] + sigma * c * parent[t, r]
    if abs(pivot) < _SINGULAR:
        return 0.0, 0.0, 0.0, 0.0, False
    over = -1.0 / pivot
    return over, 0.0, sigma * c * over, 0.0, True


@kernel(forceinline=True)
def _own_rows(state, c, z_n, z_l, w_n, w_l):
    """The rows of a contact in a state, or of one column of them, from its impulses and velocities."""
    if state == ACTIVE_STICKS:
        return z_n, c * z_n - z_l, c * z_n + z_l
    if state == CAPPED_STICKS:
        return w_n, z_l, 0.0
    if state == OPEN_STATE or state >= 4:
        return w_n, w_l, 0.0
    return z_n, w_l, 0.0


@kernel(forceinline=True)
def _column(k, state, c, response, j, parent):
    """The impulses of contact k per unit of unknown j, and the contact's rows: (z_n, z_l, three rows)."""
    a, b, d, e = response
    n, t = 2 * k, 2 * k + 1
    r = 3 * k
    w_n, w_l = parent[j, r], parent[j, r + 1]
    z_n = a * w_n + b * w_l
    z_l = d * w_n + e * w_l
    w_n += parent[n, r] * z_n + parent[t, r] * z_l
    w_l += parent[n, r + 1] * z_n + parent[t, r + 1] * z_l
    first, second, third = _own_rows(state, c, z_n, z_l, w_n, w_l)
    return z_n, z_l, first, second, third


@kernel(forceinline=True)
def _alone(k, state, cap, c, response, parent):
    """Impulses and velocities of contact k in a state while all undecided impulses are 0: (z_n, z_l, w'_n, w'_l)."""
    a, b, d, e = response
    n, t, p = 2 * k, 2 * k + 1, parent.shape[0] - 1
    r = 3 * k
    z_n, z_l = 0.0, 0.0
    if state >= 4:
        z_n = cap
        z_l = slide(state) * c * cap
    w_n = parent[p, r] + parent[n, r] * z_n + parent[t, r] * z_l
    w_l = parent[p, r + 1] + parent[n, r + 1] * z_n + parent[t, r + 1] * z_l
    add_n = a * w_n + b * w_l
    add_l = d * w_n + e * w_l
    w_n += parent[n, r] * add_n + parent[t, r] * add_l
    w_l += parent[n, r + 1] * add_n + parent[t, r + 1] * add_l
    return z_n + add_n, z_l + add_l, w_n, w_l


@kernel(forceinline=True)
def _constant(k, state, cap, c, response, parent):
    """As :func:`_column`, of the constant column, with what the cap gives."""
    z_n, z_l, w_n, w_l = _alone(k, state, cap, c, response, parent)
    first, second, third = _own_rows(state, c, z_n, z_l, w_n, w_l)
    return z_n, z_l, first, second, third


@kernel(forceinline=True)
def _lower(value, cap, c, normal, axis):
    """The least of value + z_n normal + z_l axis within a contact's bounds."""
    return value + cap * min(normal - c * abs(axis), 0.0)


@kernel(forceinline=True)
def _upper(value, cap, c, normal, axis):
    """The most of it."""
    return value + cap * max(normal + c * abs(axis), 0.0)


@kernel(forceinline=True)
def _own_rows_may(k, state, response, constant, problem, undecided, parent, bounds):
    """Whether the rows of contact k can lie between their bounds for some impulses of the undecided contacts."""
    cap, c = problem.cap, problem.c
    r = 3 * k
    _, _, first, second, third = constant
    low0, low1, low2 = first, second, third
    high0, high1, high2 = first, second, third
    for x in range(undecided.shape[0]):
        if undecided[x] > 0 and x != k:
            most, by = cap[x], c[x]
            _, _, n0, n1, n2 = _column(k, state, c[k], response, 2 * x, parent)
            _, _, l0, l1, l2 = _column(k, state, c[k], response, 2 * x + 1, parent)
            low0 = _lower(low0, most, by, n0, l0)
            low1 = _lower(low1, most, by, n1, l1)
            low2 = _lower(low2, most, by, n2, l2)
            high0 = _upper(high0, most, by, n0, l0)
            high1 = _upper(high1, most, by, n1, l1)
            high2 = _upper(high2, most, by, n2, l2)
    least, most = bounds[0], bounds[1]
    return (
        low0 <= most[r] + _MISSED
        and high0 >= least[r] - _MISSED
        and low1 <= most[r + 1] + _MISSED
        and high1 >= least[r + 1] - _MISSED
        and low2 <= most[r + 2] + _MISSED
        and high2 >= least[r + 2] - _MISSED
    )


@kernel(forceinline=True)
def _outside(bounds):
    """How many rows cannot lie between their bounds."""
    least, most, low, high = bounds[0], bounds[1], bounds[2], bounds[3]
    outside = 0
    for r in range(least.shape[0]):
        if low[r] > most[r] + _MISSED or high[r] < least[r] - _MISSED:
            outside += 1
    return outside


@kernel(forceinline=True)
def _put_in(k, state, response, constant, problem, undecided, parent, child, bounds):
    """Write ``parent`` with a state of contact k put in to ``child``; returns whether all rows can be as is asked."""
    cap, c = problem.cap, problem.c
    n, t, p = 2 * k, 2 * k + 1, parent.shape[0] - 1
    r = 3 * k
    low, high = bounds[2], bounds[3]
    z_n, z_l, first, second, third = constant
    for i in range(parent.shape[1]):
        value = parent[p, i] + z_n * parent[n, i] + z_l * parent[t, i]
        child[p, i] = value
        low[i] = value
        high[i] = value
    child[p, r], child[p, r + 1], child[p, r + 2] = first, second, third
    for x in range(undecided.shape[0]):
        if undecided[x] > 0 and x != k:
            most, by = cap[x], c[x]
            j = 2 * x
            a_n, a_l, a0, a1, a2 = _column(k, state, c[k], response, j, parent)
            b_n, b_l, b0, b1, b2 = _column(k, state, c[k], response, j + 1, parent)
            for i in range(parent.shape[1]):
                normal = parent[j, i] + a_n * parent[n, i] + a_l * parent[t, i]
                axis = parent[j + 1, i] + b_n * parent[n, i] + b_l * parent[t, i]
                child[j, i] = normal
                child[j + 1, i] = axis
                across = by * abs(axis)
                low[i] += most * min(normal - across, 0.0)
                high[i] += most * max(normal + across, 0.0)
            child[j, r], child[j, r + 1], child[j, r + 2] = a0, a1, a2
            child[j + 1, r], child[j + 1, r + 1], child[j + 1, r + 2] = b0, b1, b2
    for i in range(r, r + 3):  # tested before
        low[i] = -np.inf
        high[i] = np.inf
    return _outside(bounds) == 0


@kernel
def _keep(k, state, problem, undecided, parent, child, bounds):
    """As :func:`_put_in`, where the matrix of contact k is singular, so that its unknowns stay undecided.

    Its column n is that of the normal, with the axis that follows it, and its column t that of an axis that sticks.
    """
    cap, c = problem.cap, problem.c
    n, t, p = 2 * k, 2 * k + 1, parent.shape[0] - 1
    r = 3 * k
    least, most, low, high = bounds[0], bounds[1], bounds[2], bounds[3]
    sigma = slide(state)
    base = cap[k] if state >= 4 else 0.0
    for i in range(parent.shape[1]):
        along = parent[n, i] + sigma * c[k] * parent[t, i]
        child[p, i] = parent[p, i] + base * along
        child[n, i] = 0.0 if state >= 4 else along
        child[t, i] = parent[t, i] if sigma == 0 else 0.0
        low[i] = child[p, i]
        high[i] = child[p, i]
    _ask_nothing(k, bounds)
    most[r] = 0.0
    least[r] = 0.0 if state < 4 else -np.inf
    if sigma >= 0:
        most[r + 1] = 0.0
    if sigma <= 0:
        least[r + 1] = 0.0
    for x in range(undecided.shape[0]):
        if undecided[x] > 0:
            by = c[x]
            for i in range(parent.shape[1]):
                if x != k:
                    child[2 * x, i] = parent[2 * x, i]
                    child[2 * x + 1, i] = parent[2 * x + 1, i]
                across = by * abs(child[2 * x + 1, i])
                low[i] += cap[x] * min(child[2 * x, i] - across, 0.0)
                high[i] += cap[x] * max(child[2 * x, i] + across, 0.0)
    return _outside(bounds) == 0


@kernel(forceinline=True)
def _decide(k, state, problem, undecided, tree, level):
    """Put a state of contact k in: T[level + 1] becomes T[level] without its unknowns.

    undecided (m,): 1 for the contacts that keep their columns; that of k is out, 1 where its matrix is singular.
    Returns whether this can be for some impulses of the others.
    """
    parent, child, bounds = tree.T[level], tree.T[level + 1], tree.bounds
    cap, c = problem.cap[k], problem.c[k]
    a, b, d, e, regular = _response(k, state, c, parent)
    if not regular:
        undecided[k] = 1
        return _keep(k, state, problem, undecided, parent, child, bounds)
    undecided[k] = 0
    response = (a, b, d, e)
    _ask(k, state, cap, c, bounds)
    constant = _constant(k, state, cap, c, response, parent)
    if not _own_rows_may(k, state, response, constant, problem, undecided, parent, bounds):
        return False
    return _put_in(k, state, response, constant, problem, undecided, parent, child, bounds)


@kernel(forceinline=True)
def _own_conditions(state, cap, c, z_n, z_l, w_n, w_l):
    """Whether a contact's impulses and velocities are those of its state, nearly."""
    sigma = slide(state)
    if state == OPEN_STATE:
        return w_n >= -_MISSED or not cap > 0.0
    if state >= 4:
        if w_n > _MISSED:
            return False
    elif z_n < -_MISSED or z_n > cap + _MISSED:
        return False
    if not c > 0.0:
        return True
    if sigma != 0:
        return sigma * w_l <= _MISSED
    return abs(z_l) <= c * z_n + _MISSED


@kernel(forceinline=True)
def _within(last, z_n, z_l, parent, bounds):
    """Whether all rows are within their bounds once the last contact's impulses are known; bounds[2]: out, the rows."""
    least, most, value = bounds[0], bounds[1], bounds[2]
    p = parent.shape[0] - 1
    n, t = 2 * last, 2 * last + 1
    outside = 0
    for r in range(value.shape[0]):
        now = parent[p, r] + z_n * parent[n, r] + z_l * parent[t, r]
        value[r] = now
        if now > most[r] + _MISSED or now < least[r] - _MISSED:
            outside += 1
    return outside == 0


@kernel(forceinline=True)
def _impulses(problem, chosen, last, z_n, z_l, value, z):
    """Write the impulses of all contacts to z, from the rows of those decided before the last one."""
    for k in range(chosen.shape[0]):
        state = chosen[k]
        normal, axis = 0.0, 0.0
        if k == last:
            normal, axis = z_n, z_l
        elif state >= 4:
            normal = problem.cap[k]
            axis = value[3 * k + 1] if state == CAPPED_STICKS else slide(state) * problem.c[k] * normal
        elif state == ACTIVE_STICKS:
            normal = value[3 * k]
            axis = 0.5 * (value[3 * k + 2] - value[3 * k + 1])
        elif state != OPEN_STATE:
            normal = value[3 * k]
            axis = slide(state) * problem.c[k] * normal
        z[2 * k] = normal
        z[2 * k + 1] = axis


@kernel
def solve_whole(problem, limits, inside, chosen, tree, unresolved_states, unresolved, count, z, after):
    """Solve the linear system of a whole mode, and add what it has of solutions.

    Returns (solutions, continua: 0 or 1, unresolved).
    """
    g, H, w, cap, c = problem
    states, rows, A = tree.rows[0], tree.rows[1], tree.A
    line = A[w.shape[0]]
    for k in range(chosen.shape[0]):
        decode(g, chosen[k], c[k], states, 2 * k)
        if not c[k] > 0.0 and chosen[k] != OPEN_STATE:
            states[2 * k] = CAPPED if chosen[k] >= 4 else ACTIVE
            states[2 * k + 1] = 1
    free = solve_mode(g, H, w, cap, c, states, rows, A, z[count])
    if free == 0:
        return count + (1 if is_new(g, H, w, cap, c, count, z, after) else 0), 0, unresolved
    if free == 1:
        count, continuum = add_line(problem, states, limits, inside, count, line, z, after)
        return count, 1 if continuum else 0, unresolved
    if free > 1 and may_hold(g, H, w, cap, c, states, z[count], line, after[count]):
        if unresolved < unresolved_states.shape[0]:
            for i in range(w.shape[0]):
                unresolved_states[unresolved, i] = states[i]
        unresolved += 1
    return count, 0, unresolved


@kernel(forceinline=True)
def _list_states(turn, limit, problem, tree, order, undecided):
    """List the states that each contact may have whatever the others do, and order the contacts, fewest first.

    With two contacts or one nothing is tested: the search itself does it as fast. Returns modes looked at.
    """
    cap, c = problem.cap, problem.c
    modes = tree.modes
    m = cap.shape[0]
    looked = 0
    rest = turn
    for k in range(m):
        size = mode_count(1, cap[k], c[k])
        first = rest % size
        rest //= size
        if turn > 0 and rest == 0:  # used up: every contact must be able to begin anywhere
            rest = turn + k
        count = 0
        for x in range(size):
            state = (first + x) % size
            if not c[k] > 0.0:
                state *= 3
            if m > 2:
                looked += 1
                for other in range(m):
                    undecided[other] = 1
                possible = _decide(k, state, problem, undecided, tree, 0)
                _ask_nothing(k, tree.bounds)
                if not possible:
                    continue
            count += 1
            modes[k, count] = state
        modes[k, 0] = count
        at = k
        while at > 0 and modes[order[at - 1], 0] > count:
            order[at] = order[at - 1]
            at -= 1
        order[at] = k
    return looked


@kernel(forceinline=True)
def _finish(problem, limits, inside, level, chosen, tree, undecided, found, unresolved_states, z, after):
    """Try all states of the last contact, where the others are decided and no matrix was singular.

    found: (solutions, continua, unresolved) so far; returned with what is new.
    """
    g, H, w, cap, c = problem
    count, continua, unresolved = found
    m = cap.shape[0]
    k = tree.at[m + 1, level]
    parent = tree.T[level]
    for x in range(1, 1 + tree.modes[k, 0]):
        state = tree.modes[k, x]
        a, b, d, e, regular = _response(k, state, c[k], parent)
        chosen[k] = state
        if not regular:
            for other in range(m):
                undecided[other] = 1 if other == k else 0
            possible = _keep(k, state, problem, undecided, parent, tree.T[level + 1], tree.bounds)
            _ask_nothing(k, tree.bounds)
            if not possible:
                continue
        else:
            z_n, z_l, w_n, w_l = _alone(k, state, cap[k], c[k], (a, b, d, e), parent)
            if not _own_conditions(state, cap[k], c[k], z_n, z_l, w_n, w_l):
                continue
            if not _within(k, z_n, z_l, parent, tree.bounds):
                continue
            _impulses(problem, chosen, k, z_n, z_l, tree.bounds[2], z[count])
            if axes_residual(g, H, w, cap, c, z[count], after[count]) <= SAME_ANSWER:
                count += 1 if is_apart(count, after) else 0
                continue
        count, more, unresolved = solve_whole(
            problem, limits, inside, chosen, tree, unresolved_states, unresolved, count, z, after
        )
        continua += more
        if count >= limits.most:
            break
    return count, continua, unresolved


@kernel
def search_planar(
    g,
    # limits:
    limit,
    afford,
    most,
    turn,
    # problem:
    H,
    w,
    cap,
    c,
    energy,
    # scratch:
    T,
    bounds,
    A,
    rows,
    modes,
    at,
    # in and out:
    unresolved_states,
    known,
    z,
    after,
):
    """Find all solutions with different velocities w' = w + H z, with finite caps and g = 1.

    Args and return values as of :func:`.all_solutions.search`, but:
        energy: not less than wᵀ H⁺ w, twice the kinetic energy that contacts can take; inf where it is not known.
        T … at: :class:`PlanarTree`.
    """
    problem = IncrementProblem(g, H, w, cap, c)
    limits = SearchBudget(limit, afford, most, turn)
    tree = PlanarTree(T, bounds, A, rows, modes, at)
    m = cap.shape[0]
    order, place, chosen, singular = at[m + 1], at[m + 2], at[m + 3], at[m + 4]
    inside = 0.0
    for _ in range(turn % _BEGINNINGS):
        inside += _GOLDEN
        if inside >= 1.0:
            inside -= 1.0
    _root(H, w, energy, tree)
    node = _NODE * max(1.0, m * m / 25.0)
    spent = node * _list_states(turn, limit, problem, tree, order, at[0])
    count = known
    continua = 0
    unresolved = 0
    for k in range(m):
        at[0, k] = 1
        singular[k] = 0
    level = 0
    place[0] = 0
    while level >= 0 and m > 0:
        if spent >= limit or spent >= afford or count >= most:
            return count, spent, continua, unresolved, False
        spent += node
        blind = False
        for x in range(level):
            blind = blind or singular[x] > 0
        if level == m - 1 and not blind:
            count, continua, unresolved = _finish(
                problem, limits, inside, level, chosen, tree, at[m], (count, continua, unresolved),
                unresolved_states, z, after,
            )  # fmt: skip
            level -= 1
            continue
        k = order[level]
        if place[level] == modes[k, 0]:
            _ask_nothing(k, bounds)
            level -= 1
            continue
        place[level] += 1
        state = modes[k, place[level]]
        for x in range(m):
            at[level + 1, x] = at[level, x]
        if not _decide(k, state, problem, at[level + 1], tree, level):
            continue
        chosen[k] = state
        singular[level] = at[level + 1, k]
        if level < m - 1:
            level += 1
            place[level] = 0
            continue
        count, more, unresolved = solve_whole(
            problem, limits, inside, chosen, tree, unresolved_states, unresolved, count, z, after
        )
        continua += more
    return count, spent, continua, unresolved, True
