"""Every solution of an increment LCP (H 72–75), by depth-first search over the contacts' modes.

A mode of all contacts (:mod:`.increment_modes`) leaves a linear system, so that the solutions are the modes whose
system has a feasible solution. The search decides contact by contact and eliminates what is decided; interval
arithmetic on the decided conditions cuts most branches near the root. Nothing is lost by it: a completed search has
seen every solution whose system is regular, and both ends of every line of solutions. Consistent systems with more
freedom than that are counted as unresolved: there the solutions may form continua.
"""

from numba import njit

from hybrid_contact_ros.kernels.impacts.increment_modes import FEASIBLE, decide, decode, effort, possible, root_modes
from hybrid_contact_ros.kernels.impacts.increment_system import may_hold, segment, solve_mode
from hybrid_contact_ros.kernels.impacts.residual import axes_residual

_ACCEPT = 1e-9  # residual of a solution
_SAME = 1e-8  # scaled velocities closer than this are one outcome
_FAR = 1e3  # impulses beyond are not looked for on lines of solutions, scaled
_TURN = 0.6180339887498949


@njit(cache=True, nogil=True, error_model="numpy")
def _is_new(H, w, cap, c, g, count, z, after):
    """Whether z[count] is a solution with a velocity that the first ``count`` do not have; after[count] out."""
    if not axes_residual(g, H, w, cap, c, z[count], after[count]) <= _ACCEPT:
        return False
    for other in range(count):
        apart = 0.0
        for i in range(w.shape[0]):
            apart = max(apart, abs(after[other, i] - after[count, i]))
        if apart <= _SAME:
            return False
    return True


@njit(cache=True, nogil=True, error_model="numpy")
def search(g, limit, afford, most, turn, H, w, cap, c, T, A, ints, modes, loose, known, z, after):
    """All solutions with different velocities w' = w + H z.

    limit: units of work (:func:`.effort`, one a node of small problems) to spend at most, half of them on what modes a
    contact may have at all; afford: units at which the caller gives its sample up, so that the search may stop as well
    (one that ends before is the same for any ``afford``); most: solutions to stop at; turn, any integer ≥ 0: where the
    search begins among the modes (what a search that reaches its limit has seen depends on it); if it is not 0, one
    more point inside of every line of solutions is taken, which depends on it too. H (p, p), w (p,), cap (m,) ≥ 0 or
    inf, c (m,); scratch T (m + 1, p, p + 1), A (p + 1, p + 1), ints (5, p), modes (m, any; 2 + 2·3^g for all of them).
    In and out: z, after (> most + 2, p), of which the first ``known`` hold solutions already. Out: loose (any, p)
    int64, the states of the first unresolved
    modes.

    Returns (solutions, units of work, continua, unresolved, complete): continua counts the lines along which the
    velocity changes, whose ends are among the solutions; unresolved the consistent systems with more freedom.
    """
    p = w.shape[0]
    m = cap.shape[0]
    n = 1 + g
    states = ints[0]
    rows = ints[1]
    at = ints[2]
    order = ints[3]
    place = ints[4, :m]
    line = A[p]
    count = known
    continua = 0
    unresolved = 0
    inside = 0.0
    for _ in range(turn % 1024):
        inside += _TURN
        if inside >= 1.0:
            inside -= 1.0
    for i in range(p):
        for j in range(p):
            T[0, i, j] = H[i, j]
        T[0, i, p] = w[i]
    node = effort(g, p)
    leaf = max(1.0, node * p / (3.0 * n))
    share = 1 + int(min(0.5 * limit / (node * max(m, 1)), modes.shape[1] - 2.0))  # so that every contact has some
    looked, whole = root_modes(g, turn, share, cap, c, T, states, place, order, modes)
    spent = node * looked
    blind = m  # contacts decided before the first small pivot: the expressions after it are not known
    level = 0
    at[0] = 0
    while level >= 0 and m > 0:
        k = order[level]
        if at[level] == modes[k, 0]:
            level -= 1
            if level >= 0:
                at[level] += 1
            continue
        if spent >= limit or spent >= afford or count >= most:
            return count, spent, continua, unresolved, False
        spent += node
        decode(g, modes[k, 1 + at[level]], c[k], states, k * n)
        if blind >= level:
            blind = m
        if blind == m and decide(g, k, level, place, cap[k], c[k], states, T[level], T[level + 1]) == 0:
            blind = level
        dead = False
        if blind == m:
            for q in range(level, -1, -1):
                if not possible(g, order[q], level, place, cap, c, states, T[level + 1]):
                    dead = True
                    break
        if dead:
            at[level] += 1
            continue
        if level < m - 1:
            level += 1
            at[level] = 0
            continue
        at[level] += 1
        spent += leaf
        free = solve_mode(g, H, w, cap, c, states, A, rows, z[count], line)
        if free == 0:
            if _is_new(H, w, cap, c, g, count, z, after):
                count += 1
        elif free == 1:
            lo, hi, moving = segment(g, H, w, cap, c, states, z[count], line)
            if lo > hi + FEASIBLE:
                continue
            lo = max(lo, -_FAR)
            hi = min(hi, _FAR)
            points = 1
            if moving and hi - lo > FEASIBLE:
                continua += 1
                points = 2 if turn == 0 else 3
            base = z.shape[0] - 1
            for i in range(p):
                z[base, i] = z[count, i]
            for point in range(points):
                along = lo if point == 0 else (hi if point == 1 else lo + inside * (hi - lo))
                if points == 1:
                    along = 0.5 * (lo + hi)
                for i in range(p):
                    z[count, i] = z[base, i] + along * line[i]
                if count < most and _is_new(H, w, cap, c, g, count, z, after):
                    count += 1
        elif free > 1 and may_hold(g, H, w, cap, c, states, z[count], line, after[count]):
            if unresolved < loose.shape[0]:
                for i in range(p):
                    loose[unresolved, i] = states[i]
            unresolved += 1
    return count, spent, continua, unresolved, whole
