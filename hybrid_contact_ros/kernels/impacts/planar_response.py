"""How the impulses of one planar contact follow from its velocities in a state, and which rows they make.

``parent`` is T of one level of :class:`.planar_tree.PlanarTree`: rows w' of the contacts that are undecided there, as
functions of their impulses. With contact k in a state, its impulses z and velocities w' become functions of the
impulses of the others, and the rows of the table in :mod:`.planar_tree` are combinations of these.
"""

from hybrid_contact_ros.kernels.compiling import kernel
from hybrid_contact_ros.kernels.impacts.planar_pieces import ACTIVE_STICKS, CAPPED_STICKS, OPEN_STATE, slide

SINGULAR = 1e-7
"""Pivots and determinants below are not divided by."""


@kernel(forceinline=True)
def response_of(k, state, c, parent):
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
        if abs(pivot) < SINGULAR:
            return 0.0, 0.0, 0.0, 0.0, False
        return 0.0, 0.0, 0.0, -1.0 / pivot, True
    if state == ACTIVE_STICKS:
        nn, nl, ln, ll = parent[n, r], parent[t, r], parent[n, r + 1], parent[t, r + 1]
        determinant = nn * ll - nl * ln
        size = max(max(abs(nn), abs(ll)), max(abs(nl), abs(ln)))
        if not abs(determinant) > SINGULAR * max(size, 1e-3):
            return 0.0, 0.0, 0.0, 0.0, False
        over = -1.0 / determinant
        return over * ll, -over * nl, -over * ln, over * nn, True
    sigma = slide(state)
    pivot = parent[n, r] + sigma * c * parent[t, r]
    if abs(pivot) < SINGULAR:
        return 0.0, 0.0, 0.0, 0.0, False
    over = -1.0 / pivot
    return over, 0.0, sigma * c * over, 0.0, True


@kernel(forceinline=True)
def own_rows(state, c, z_n, z_l, w_n, w_l):
    """The rows of a contact in a state, or of one column of them, from its impulses and velocities."""
    if state == ACTIVE_STICKS:
        return z_n, c * z_n - z_l, c * z_n + z_l
    if state == CAPPED_STICKS:
        return w_n, z_l, 0.0
    if state == OPEN_STATE or state >= 4:
        return w_n, w_l, 0.0
    return z_n, w_l, 0.0


@kernel(forceinline=True)
def column_of(k, state, c, response, j, parent):
    """The impulses of contact k per unit of unknown j, and the contact's rows: (z_n, z_l, three rows)."""
    a, b, d, e = response
    n, t = 2 * k, 2 * k + 1
    r = 3 * k
    w_n, w_l = parent[j, r], parent[j, r + 1]
    z_n = a * w_n + b * w_l
    z_l = d * w_n + e * w_l
    w_n += parent[n, r] * z_n + parent[t, r] * z_l
    w_l += parent[n, r + 1] * z_n + parent[t, r + 1] * z_l
    first, second, third = own_rows(state, c, z_n, z_l, w_n, w_l)
    return z_n, z_l, first, second, third


@kernel(forceinline=True)
def alone(k, state, cap, c, response, parent):
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
def constant_of(k, state, cap, c, response, parent):
    """As :func:`column_of`, of the constant column, with what the cap gives."""
    z_n, z_l, w_n, w_l = alone(k, state, cap, c, response, parent)
    first, second, third = own_rows(state, c, z_n, z_l, w_n, w_l)
    return z_n, z_l, first, second, third
