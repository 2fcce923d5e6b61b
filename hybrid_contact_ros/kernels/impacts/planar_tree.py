"""The tree of a planar search: its scratch, its root, and what the state of a contact asks of its rows.

Contacts are decided one by one. Each contact has three rows, functions of the impulses that are undecided, and what its
state asks for is that each lies between two bounds:

    state           row 3k           row 3k + 1      row 3k + 2
    undecided       w'_n             w'_l                             any
    open            w'_n ≥ 0
    active, slides  0 ≤ z_n ≤ cap    σ w'_l ≤ 0
    active, sticks  z_n ≤ cap        c z_n − z_l ≥ 0  c z_n + z_l ≥ 0
    capped, slides  w'_n ≤ 0         σ w'_l ≤ 0
    capped, sticks  w'_n ≤ 0         |z_l| ≤ c cap

so that one pass over all rows tests a mode.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from hybrid_contact_ros.kernels.compiling import kernel
from hybrid_contact_ros.kernels.impacts.planar_pieces import CAPPED_STICKS, OPEN_STATE, slide

Array = NDArray[np.float64]
Indices = NDArray[np.int64]

BLOCK = 8  # rows are padded to a multiple of this
MISSED = 1e-7
"""A condition, scaled, that is missed by less may hold at the answer, whose residual is checked."""


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
def plant(H, w, energy, tree):
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
def ask_nothing(k, bounds):
    """Ask nothing of the rows of contact k, but what holds for all velocities."""
    for r in range(3 * k, 3 * k + 3):
        bounds[0, r] = bounds[4, r]
        bounds[1, r] = bounds[5, r]


@kernel(forceinline=True)
def ask(k, state, cap, c, bounds):
    """Write what a state of contact k asks of its rows."""
    least, most = bounds[0], bounds[1]
    sigma = slide(state)
    r = 3 * k
    ask_nothing(k, bounds)
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
