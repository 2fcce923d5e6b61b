"""Every solution of a planar increment of few contacts: all modes over their stored maps, those that matter first.

In x = z − w' the increment is F(x) = −w with F piecewise linear, and the signs of the determinants of F's pieces at its
solutions sum to 1 (:mod:`.orientation`). Two things follow, and save most of the work.

1. Where no mode with a determinant ≤ 0 holds, there is exactly one solution. Proof: every piece that contains a
   solution x is the piece of a mode that holds there, so that all pieces at x have positive determinants; F then keeps
   its orientation around x, and the local degree of F at x is 1 or more (also where x lies on a border of pieces). The
   local degrees of all solutions sum to the degree of F, 1.
2. Where the modes with determinants ≤ 0 that hold have negative ones and hold strictly, n of them, they are n solutions
   inside of their pieces, of degree −1 each. Every other solution has degree 1 or more, as above, so that there are at
   most 1 + n of them, and the search may end when so many were met, each strictly inside of its mode.

A mode "holds" here if none of its conditions is missed by more than a tolerance, and strictly if all are met by more
than another one, relative to the row of the condition where that is small: unknowns of different sizes (normal impulses
are small where friction is great) are eliminated with errors of their own sizes, since to scale a column changes no
pivot. A mode whose determinant is near 0 counts as one of ≤ 0, and is left to the linear system of the whole mode.
Wherever one holds that is not strictly inside of its piece, all modes are looked at. So the solutions are those of
:func:`.planar_search.search_planar`.
"""

from hybrid_contact_ros.kernels.compiling import kernel
from hybrid_contact_ros.kernels.impacts.all_solutions import is_apart
from hybrid_contact_ros.kernels.impacts.planar_leaf import SAME_ANSWER, solve_whole
from hybrid_contact_ros.kernels.impacts.planar_path import answer
from hybrid_contact_ros.kernels.impacts.planar_pieces import NOT_MADE, SINGULAR_PIECE, make, row
from hybrid_contact_ros.kernels.impacts.residual import axes_residual

_MISSED = 1e-7  # a condition, scaled, that is missed by less may hold at the answer, whose residual is checked
_STRICT = 1e-6  # conditions that are met by more put a solution inside of its piece
_RECENT = 3  # modes of earlier searches that are remembered
_MODE = 0.015  # units of work of looking at a mode
_WHOLE = 0.5  # of solving its linear system


@kernel(forceinline=True)
def _read(code, states):
    """Write the states of mode number ``code``."""
    for k in range(states.shape[0]):
        states[k] = code % 7
        code //= 7


@kernel
def prepare(H, c, states, pieces):
    """Make all matrices, and list the modes: order[0] of determinant ≤ 0 or near it, and then the others, order[1] in
    all."""
    order, signs = pieces.order, pieces.signs
    for later in range(2):
        for code in range(signs.shape[0]):
            _read(code, states)
            exists = True
            for k in range(c.shape[0]):
                exists = exists and (c[k] > 0.0 or states[k] % 3 == 0)
            if not exists:
                continue
            if signs[code] == NOT_MADE:
                make(H, c, code, states, pieces)
            if (signs[code] == 1) == (later == 1):
                order[2 + order[1]] = code
                order[1] += 1
        if later == 0:
            order[0] = order[1]


@kernel(forceinline=True)
def _holds(m, code, w, cap, pieces):
    """How far a mode's conditions are met at least; some number below −_MISSED if one is missed."""
    tests, counts = pieces.tests[code], pieces.counts
    last = counts[code, 1]
    constant, along = row(m, tests, last, w, cap)
    least = constant + along
    if least < -_MISSED:
        return least
    for i in range(counts[code, 0]):
        constant, along = row(m, tests, i, w, cap)
        if constant + along < -_MISSED:
            counts[code, 1] = i  # it is tried first the next time, which changes nothing but the time
            return constant + along
        least = min(least, constant + along)
    return least


@kernel
def _is_inside(m, tests, count, w, cap):
    """Whether ``count`` conditions are met by more than _STRICT, relative to their rows where these are small."""
    for i in range(count):
        constant, along = row(m, tests, i, w, cap)
        size = 0.0
        for j in range(tests.shape[1]):
            size += abs(tests[i, j])
        if not constant + along > _STRICT * min(size, 1.0):
            return False
    return True


@kernel(forceinline=True)
def _try_recent(problem, mode, pieces, count, z, after):
    """Whether one of the modes that ended earlier searches has a solution strictly inside; if so it is in z[count].

    Where one solution alone may be missing, it does not matter in which order modes are looked at.
    """
    g, H, w, cap, c = problem
    m = cap.shape[0]
    states = pieces.ints[_RECENT:]
    for x in range(_RECENT):
        code = pieces.ints[x]
        if code != mode and pieces.signs[code] == 1 and _holds(m, code, w, cap, pieces) > _STRICT:
            _read(code, states)
            answer(m, pieces.maps[code], cap, c, w, states, z[count])
            return axes_residual(g, H, w, cap, c, z[count], after[count]) <= SAME_ANSWER
    return False


@kernel(forceinline=True)
def search_few(problem, limits, mode, states, pieces, tree, unresolved_states, known, z, after):
    """Find all solutions with different velocities, of up to three contacts with caps > 0.

    Args:
        problem: :class:`.IncrementProblem`, g = 1. limits: :class:`.all_solutions.SearchBudget`, of which ``most`` and
            ``turn`` count.
        mode: the number of the mode of the solution z[0], where one is known; −1 for none.
        states (m,): scratch. pieces: :class:`.planar_pieces.Pieces`. tree: :class:`.planar_tree.PlanarTree`.
        unresolved_states … after: :class:`.all_solutions.SearchOut`.

    Returns:
        As :func:`.all_solutions.search`.
    """
    g, H, w, cap, c = problem
    order, signs, recent = pieces.order, pieces.signs, pieces.ints
    m = cap.shape[0]
    if order[1] == 0:
        prepare(H, c, states, pieces)
    inside = limits.turn * 0.6180339887498949 % 1.0
    count = known
    continua = 0
    unresolved = 0
    strict = True
    more = 1  # solutions of positive determinant that may not be known yet
    first = 0
    if known == 1 and mode >= 0 and signs[mode] == 1 and _holds(m, mode, w, cap, pieces) > _STRICT:
        more = 0
    else:
        mode = -1
    work = 0.0
    for x in range(order[1]):
        if x == order[0] and strict:
            if more == 1 and count < limits.most and _try_recent(problem, mode, pieces, count, z, after):
                count += 1 if is_apart(count, after) else 0
                more = 0
            if more == 0:
                return count, work, continua, unresolved, True
        code = order[2 + x]
        work += _MODE
        if code == mode:
            continue
        if signs[code] != SINGULAR_PIECE:
            least = _holds(m, code, w, cap, pieces)
            if least < -_MISSED:
                continue
        else:
            least = 0.0
        if count >= limits.most:
            return count, work, continua, unresolved, False
        _read(code, states)
        first = count
        if signs[code] != SINGULAR_PIECE:
            answer(m, pieces.maps[code], cap, c, w, states, z[count])
        if signs[code] != SINGULAR_PIECE and axes_residual(g, H, w, cap, c, z[count], after[count]) <= SAME_ANSWER:
            count += 1 if is_apart(count, after) else 0
            met = True
        else:
            work += _WHOLE
            before = unresolved
            count, lines, unresolved = solve_whole(
                problem, limits, inside, states, tree, unresolved_states, unresolved, count, z, after
            )
            continua += lines
            met = count > first or unresolved > before
            least = 0.0
        if met:
            if least <= _STRICT:
                strict = strict and least > 0.0 and _is_inside(m, pieces.tests[code], pieces.counts[code, 0], w, cap)
            more += 1 if x < order[0] else -1
            if strict and x >= order[0] and more == 0:
                for at in range(_RECENT - 1, 0, -1):
                    recent[at] = recent[at - 1]
                recent[0] = code
                break
    return count, work, continua, unresolved, True
