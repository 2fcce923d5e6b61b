"""One decision of a planar search: the state of a contact is put in, and intervals tell whether the rest can hold.

Of the impulses that are undecided only the bounds are known, |z_l| ≤ c z_n ≤ c cap, and so every row lies in an
interval. A state is cut where the interval of some row lies outside of what is asked of it (:mod:`.planar_tree`).
Where the matrix of a contact is singular its impulses stay undecided, within their bounds, and its equations become
rows that must contain 0.
"""

import numpy as np

from hybrid_contact_ros.kernels.compiling import kernel
from hybrid_contact_ros.kernels.impacts.planar_pieces import slide
from hybrid_contact_ros.kernels.impacts.planar_response import column_of, constant_of, response_of
from hybrid_contact_ros.kernels.impacts.planar_tree import MISSED, ask, ask_nothing


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
            _, _, n0, n1, n2 = column_of(k, state, c[k], response, 2 * x, parent)
            _, _, l0, l1, l2 = column_of(k, state, c[k], response, 2 * x + 1, parent)
            low0 = _lower(low0, most, by, n0, l0)
            low1 = _lower(low1, most, by, n1, l1)
            low2 = _lower(low2, most, by, n2, l2)
            high0 = _upper(high0, most, by, n0, l0)
            high1 = _upper(high1, most, by, n1, l1)
            high2 = _upper(high2, most, by, n2, l2)
    least, most = bounds[0], bounds[1]
    return (
        low0 <= most[r] + MISSED
        and high0 >= least[r] - MISSED
        and low1 <= most[r + 1] + MISSED
        and high1 >= least[r + 1] - MISSED
        and low2 <= most[r + 2] + MISSED
        and high2 >= least[r + 2] - MISSED
    )


@kernel(forceinline=True)
def _outside(bounds):
    """How many rows cannot lie between their bounds."""
    least, most, low, high = bounds[0], bounds[1], bounds[2], bounds[3]
    outside = 0
    for r in range(least.shape[0]):
        if low[r] > most[r] + MISSED or high[r] < least[r] - MISSED:
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
            a_n, a_l, a0, a1, a2 = column_of(k, state, c[k], response, j, parent)
            b_n, b_l, b0, b1, b2 = column_of(k, state, c[k], response, j + 1, parent)
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
def keep(k, state, problem, undecided, parent, child, bounds):
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
    ask_nothing(k, bounds)
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
def decide_planar(k, state, problem, undecided, tree, level):
    """Put a state of contact k in: T[level + 1] becomes T[level] without its unknowns.

    undecided (m,): 1 for the contacts that keep their columns; that of k is out, 1 where its matrix is singular.
    Returns whether this can be for some impulses of the others.
    """
    parent, child, bounds = tree.T[level], tree.T[level + 1], tree.bounds
    cap, c = problem.cap[k], problem.c[k]
    a, b, d, e, regular = response_of(k, state, c, parent)
    if not regular:
        undecided[k] = 1
        return keep(k, state, problem, undecided, parent, child, bounds)
    undecided[k] = 0
    response = (a, b, d, e)
    ask(k, state, cap, c, bounds)
    constant = constant_of(k, state, cap, c, response, parent)
    if not _own_rows_may(k, state, response, constant, problem, undecided, parent, bounds):
        return False
    return _put_in(k, state, response, constant, problem, undecided, parent, child, bounds)
