"""Every solution of a planar increment: the search of :mod:`.all_solutions`, with vectors in place of loops over rows.

It visits the same tree (:mod:`.planar_tree`): contacts are decided one by one, and intervals of what is undecided cut
branches (:mod:`.planar_decide`); where one contact is left, each of its modes is a formula (:mod:`.planar_leaf`). No
branch is cut for any reason but that a condition cannot hold, so that a completed search has seen every solution.
"""

from hybrid_contact_ros.kernels.compiling import kernel
from hybrid_contact_ros.kernels.impacts.all_solutions import SearchBudget
from hybrid_contact_ros.kernels.impacts.increment_modes import mode_count
from hybrid_contact_ros.kernels.impacts.planar_decide import decide_planar
from hybrid_contact_ros.kernels.impacts.planar_leaf import finish, solve_whole
from hybrid_contact_ros.kernels.impacts.planar_tree import PlanarTree, ask_nothing, plant
from hybrid_contact_ros.kernels.impacts.records import IncrementProblem

_NODE = 0.15  # units of work (:func:`.increment_modes.effort`) of a node, for each pair of contacts or more
_GOLDEN = 0.6180339887498949
_BEGINNINGS = 1024


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
                possible = decide_planar(k, state, problem, undecided, tree, 0)
                ask_nothing(k, tree.bounds)
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
    plant(H, w, energy, tree)
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
            count, continua, unresolved = finish(
                problem, limits, inside, level, chosen, tree, at[m], (count, continua, unresolved),
                unresolved_states, z, after,
            )  # fmt: skip
            level -= 1
            continue
        k = order[level]
        if place[level] == modes[k, 0]:
            ask_nothing(k, bounds)
            level -= 1
            continue
        place[level] += 1
        state = modes[k, place[level]]
        for x in range(m):
            at[level + 1, x] = at[level, x]
        if not decide_planar(k, state, problem, at[level + 1], tree, level):
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
