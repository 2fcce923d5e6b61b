"""One solution of a planar increment: the path of :mod:`.pivoting`, walked over the stored maps of its modes.

The path, its start and its perturbation are those of :func:`.pivoting.solve`, and so is the solution that it ends in.
But where a pivot there updates a tableau, a step here goes from a mode to the neighbour across the condition that ends
it, and reads the neighbour's matrix (:mod:`.planar_pieces`): with the caps multiplied by t the conditions are a + t b,
with a from w and b from the caps. The direction in which t goes on is the one that makes the neighbour's condition,
which is 0 where they meet, positive.
"""

from hybrid_contact_ros.kernels.compiling import kernel
from hybrid_contact_ros.kernels.impacts.planar_pieces import (
    ACTIVE_STICKS,
    CAPPED_STICKS,
    NOT_MADE,
    OPEN_STATE,
    SINGULAR_PIECE,
    make,
    row,
    slide,
)
from hybrid_contact_ros.kernels.impacts.tableau import NO_CAP

_PERTURBATION = 1e-11  # of the velocities, scaled: it resolves degeneracy
_GOLDEN_TURN = 0.6180339887498949
_COEFFICIENT = 1e-11  # rates below count as zero
_TIE = 1e-13  # of two conditions that end a mode this close, the one that falls faster counts
_STEPS_PER_ROW = 20  # most steps, over p + 2


@kernel(forceinline=True)
def _start(w, cap, c, perturbed, share, states):
    """Set up the path at t = 0: approaching contacts at their cap, axes slide against their velocity.

    Returns (the mode's number, whether any contact has a cap).
    """
    m = cap.shape[0]
    top = 0.0
    for k in range(m):
        top = max(top, cap[k])
    phase = 0.0
    for i in range(2 * m):
        phase += _GOLDEN_TURN
        if phase >= 1.0:
            phase -= 1.0
        perturbed[i] = w[i] + _PERTURBATION * (0.5 + phase)
    code = 0
    power = 1
    over = 1.0 / top if top > 0.0 else 0.0
    for k in range(m):
        share[k] = cap[k] * over
        states[k] = OPEN_STATE
        if share[k] <= NO_CAP:
            share[k] = 0.0  # takes no part
        elif perturbed[2 * k] < 0.0:
            states[k] = 4 if perturbed[2 * k + 1] >= 0.0 and c[k] > 0.0 else 6
        code += states[k] * power
        power *= 7
    return code, top


@kernel(forceinline=True)
def _first_to_fail(m, M, t, forward, perturbed, share, states):
    """The condition that fails first when t goes on: (its row or −1, how far t goes until then)."""
    best = 1e300
    fall = 1.0
    found = -1
    for k in range(m):
        if not share[k] > 0.0:
            continue
        rows = 1 if states[k] == OPEN_STATE else 3
        for i in range(3 * k, 3 * k + rows):
            constant, rate = row(m, M, i, perturbed, share)
            down = -forward * rate
            if down < _COEFFICIENT:
                continue
            value = max(constant + t * rate, 0.0)
            if value < (best - _TIE) * down or (value < (best + _TIE) * down and down > fall):
                best = value / down
                fall = down
                found = i
    return found, best


@kernel(forceinline=True)
def _neighbour(state, which, sliding):
    """The state across condition ``which`` (0, 1, 2) of a contact's state, and the condition there that begins at 0.

    sliding: σ with which an open contact closes.
    """
    if which == 1:
        return (state - 3 if state >= 4 else state + 3), 1
    if state == OPEN_STATE:
        return 2 + sliding, 0
    if state in (ACTIVE_STICKS, CAPPED_STICKS):
        return (state + 1 if which == 0 else state - 1), 2
    if which == 0:
        return OPEN_STATE, 0
    sigma = slide(state)
    return state - sigma, (0 if sigma > 0 else 2)


@kernel(forceinline=True)
def answer(m, M, cap, c, w, states, z):
    """Write the impulses of a mode, at its bounds or within them, for unperturbed velocities."""
    for k in range(m):
        state = states[k]
        a = 2 * k
        z[a] = 0.0
        z[a + 1] = 0.0
        if state == OPEN_STATE:
            continue
        if state >= 4:
            z[a] = cap[k]
        else:
            constant, along = row(m, M, 3 * m + a, w, cap)
            z[a] = min(max(constant + along, 0.0), cap[k])
        bound = c[k] * z[a]
        sigma = slide(state)
        if sigma != 0:
            z[a + 1] = sigma * bound
        else:
            constant, along = row(m, M, 3 * m + a + 1, w, cap)
            z[a + 1] = min(max(constant + along, -bound), bound)


@kernel(forceinline=True)
def follow(problem, perturbed, share, states, pieces, z):
    """Find a solution of an increment in the plane, g = 1.

    Args:
        problem: :class:`.IncrementProblem`. perturbed (p,), share (m,), states (m,) int64: scratch.
        pieces: :class:`.planar_pieces.Pieces`. z: out, (p,).

    Returns:
        The number of its mode; −1 where the path meets a singular one, and :func:`.increment.increment` is needed.
    """
    _, H, w, cap, c = problem
    m = cap.shape[0]
    code, top = _start(w, cap, c, perturbed, share, states)
    t = 0.0
    forward = 1.0
    entered = -1  # the condition that began at 0
    limit = _STEPS_PER_ROW * (2 * m + 2)
    for _ in range(limit):
        sign = pieces.signs[code]
        if sign == NOT_MADE:
            sign = make(H, c, code, states, pieces)
        if sign == SINGULAR_PIECE:
            return -1
        M = pieces.maps[code]
        if entered >= 0:
            _, rate = row(m, M, entered, perturbed, share)
            if abs(rate) < _COEFFICIENT:
                return -1
            forward = 1.0 if rate > 0.0 else -1.0
        failing, step = _first_to_fail(m, M, t, forward, perturbed, share, states)
        if forward > 0.0 and step >= top - t:
            answer(m, M, cap, c, w, states, z)
            return code
        t += forward * step
        if failing < 0 or t <= 0.0:
            return -1
        k = failing // 3
        sliding = 1
        if states[k] == OPEN_STATE and c[k] > 0.0:
            constant, rate = row(m, M, failing + 1, perturbed, share)
            sliding = 1 if constant + t * rate < 0.0 else -1
        state, entered = _neighbour(states[k], failing - 3 * k, sliding)
        entered += 3 * k
        power = 1
        for _ in range(k):
            power *= 7
        code += (state - states[k]) * power
        states[k] = state
    return -1
