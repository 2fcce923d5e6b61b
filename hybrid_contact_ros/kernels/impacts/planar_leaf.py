"""The end of a branch of a planar search: the last contact in closed form, and the linear system of a whole mode.

Where all contacts but one are decided, the last is a problem of two unknowns, and each of its seven modes is a formula.
What a singular matrix leaves open, and an answer that is not accurate, is left to the linear system of the whole mode
(:mod:`.increment_system`).
"""

from hybrid_contact_ros.kernels.compiling import kernel
from hybrid_contact_ros.kernels.impacts.all_solutions import add_line, is_apart, is_new
from hybrid_contact_ros.kernels.impacts.increment_modes import ACTIVE, CAPPED, decode
from hybrid_contact_ros.kernels.impacts.increment_system import may_hold, solve_mode
from hybrid_contact_ros.kernels.impacts.planar_decide import keep
from hybrid_contact_ros.kernels.impacts.planar_pieces import ACTIVE_STICKS, CAPPED_STICKS, OPEN_STATE, slide
from hybrid_contact_ros.kernels.impacts.planar_response import alone, response_of
from hybrid_contact_ros.kernels.impacts.planar_tree import MISSED, ask_nothing
from hybrid_contact_ros.kernels.impacts.residual import axes_residual

SAME_ANSWER = 1e-11
"""Residual of an answer that is not solved for again."""


@kernel(forceinline=True)
def _own_conditions(state, cap, c, z_n, z_l, w_n, w_l):
    """Whether a contact's impulses and velocities are those of its state, nearly."""
    sigma = slide(state)
    if state == OPEN_STATE:
        return w_n >= -MISSED or not cap > 0.0
    if state >= 4:
        if w_n > MISSED:
            return False
    elif z_n < -MISSED or z_n > cap + MISSED:
        return False
    if not c > 0.0:
        return True
    if sigma != 0:
        return sigma * w_l <= MISSED
    return abs(z_l) <= c * z_n + MISSED


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
        if now > most[r] + MISSED or now < least[r] - MISSED:
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
def finish(problem, limits, inside, level, chosen, tree, undecided, found, unresolved_states, z, after):
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
        a, b, d, e, regular = response_of(k, state, c[k], parent)
        chosen[k] = state
        if not regular:
            for other in range(m):
                undecided[other] = 1 if other == k else 0
            possible = keep(k, state, problem, undecided, parent, tree.T[level + 1], tree.bounds)
            ask_nothing(k, tree.bounds)
            if not possible:
                continue
        else:
            z_n, z_l, w_n, w_l = alone(k, state, cap[k], c[k], (a, b, d, e), parent)
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
