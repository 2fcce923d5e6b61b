"""Modes of the increment LCP, Halm (72)–(75), and which of them are possible while others are undecided.

In the variables of :mod:`.pivoting` (velocities w' = w + H z after impulses z), a contact is open (z_n = 0 ≤ w'_n),
active (0 ≤ z_n ≤ cap, w'_n = 0) or at its cap (z_n = cap, w'_n ≤ 0). Unless it is open, each of its axes sticks (w'_l =
0, |z_l| ≤ c z_n) or slides at z_l = σ c z_n with σ w'_l ≤ 0, σ = ±1. A contact with g axes has 1 + 2·3^g modes, and 1 +
3^g without a cap. The contacts are decided one by one. Of the impulses that are not decided yet only the bounds are
known, and interval arithmetic tells the conditions that no such impulses can satisfy.
"""

import math

from hybrid_contact_ros.kernels.compiling import kernel

OPEN, ACTIVE, CAPPED = 0, 1, 2
"""States of a contact's normal."""

FEASIBLE = 1e-8
"""A condition, scaled, that is missed by less may still hold at the answer, whose residual is checked."""
_ZERO = 1e-9  # a pivot below is not eliminated on
_UNIT_WORK = 432.0  # multiplications in a unit of work: 3 × 12², those of a node with 12 rows and two axes a contact
_WRAP = 1 << 30
_STRIDE = 0x2545F491  # odd, so that its multiples reach every residue of _WRAP


@kernel
def effort(g, p):
    """Units of work of deciding one mode: 1 for up to four contacts in space with four friction directions."""
    return max(1.0, (1.0 + g) * p * p / _UNIT_WORK)


@kernel
def mode_count(g, cap, c):
    """How many modes a contact with these bounds has (cap, c: its entries of :class:`.IncrementProblem`)."""
    if not cap > 0.0:
        return 1
    powers = 1
    if c > 0.0:
        for _ in range(g):
            powers *= 3
    return 1 + powers if cap == math.inf else 1 + 2 * powers


@kernel
def decode(g, mode, c, states, a):
    """Write the states of mode number ``mode`` of the contact whose normal is row a, and whose bound per impulse is c.

    states[a]: OPEN, ACTIVE or CAPPED. states[a + 1 …]: 0 where the axis sticks, ±1 where it slides.
    """
    for i in range(a + 1, a + 1 + g):
        states[i] = 1
    if mode == 0:
        states[a] = OPEN
        return
    rest = mode - 1
    powers = 1
    if c > 0.0:
        for _ in range(g):
            powers *= 3
    states[a] = ACTIVE if rest < powers else CAPPED
    rest %= powers
    if c > 0.0:
        for i in range(a + 1, a + 1 + g):
            states[i] = rest % 3 - 1
            rest //= 3


@kernel
def decide(g, k, level, place, cap, c, states, S, T):
    """Eliminate the impulses of contact k, whose mode is in ``states``: T becomes S with that mode put in.

    Row i of S and T is a function of the undecided impulses (column p is its constant): w'_i of an undecided contact,
    and of a decided one whichever of z_i and w'_i its mode does not give. Only the columns of the contacts at places >
    ``level`` and the constant are meaningful.

    Args:
        k: the contact. level: its place in the order of decisions. place: (m,) int64, the places of all contacts.
        cap, c: of contact k. states: (p,) int64. S: (p, p + 1). T: out, (p, p + 1).

    Returns:
        The sign of the product of the pivots; 0 where a pivot is too small, and then T is not complete.
    """
    p = S.shape[0]
    m = place.shape[0]
    n = 1 + g
    a = k * n
    sign = 1
    for i in range(p):
        for x in range(m):
            if place[x] > level:
                for j in range(x * n, x * n + n):
                    T[i, j] = S[i, j]
        T[i, p] = S[i, p]
    if states[a] == OPEN:
        return sign
    for i in range(p):
        along = S[i, a]
        for q in range(a + 1, a + n):
            if states[q] == 0:
                T[i, q] = S[i, q]
            else:
                along += states[q] * c * S[i, q]
        if states[a] == CAPPED:
            T[i, p] += along * cap
        T[i, a] = along
    for q in range(a + n - 1, a - 1, -1):
        if q == a:
            if states[a] != ACTIVE:
                continue
        elif states[q] != 0:
            continue
        pivot = T[q, q]
        if abs(pivot) < _ZERO:
            return 0
        if pivot < 0.0:
            sign = -sign
        over = -1.0 / pivot  # row q says 0 = pivot z_q + rest: solved for z_q
        T[q, p] *= over
        for x in range(m):
            if place[x] > level:
                for j in range(x * n, x * n + n):
                    T[q, j] *= over
        for j in range(a, q):
            T[q, j] *= over
        for i in range(p):
            factor = T[i, q]
            if i != q and factor != 0.0:
                T[i, p] += factor * T[q, p]
                for x in range(m):
                    if place[x] > level:
                        for j in range(x * n, x * n + n):
                            T[i, j] += factor * T[q, j]
                for j in range(a, q):
                    T[i, j] += factor * T[q, j]
    return sign


@kernel
def possible(g, k, level, place, cap, c, states, T):
    """Whether the conditions of contact k, which is decided, can hold for some impulses of the contacts undecided.

    These are the contacts at places > ``level``; T is as :func:`decide` left it. Each condition has the form
    sign × row i + by × normal row ≤ bound, and there are at most two for a row.
    """
    p = T.shape[0]
    n = 1 + g
    a = k * n
    if not cap[k] > 0.0:
        return True
    for i in range(a, a + n):
        if i > a and (states[a] == OPEN or not c[k] > 0.0):
            return True
        sides = 2 if (states[i] == 0 if i > a else states[a] == ACTIVE) else 1
        for side in range(sides):
            sign = -1.0 if side == 0 else 1.0
            by = 0.0
            bound = FEASIBLE
            if i == a:  # w'_n ≥ 0 of an open contact, 0 ≤ z_n ≤ cap of an active one
                if states[a] == CAPPED:
                    sign = 1.0
                elif side == 1:
                    bound += cap[k]
            elif states[i] != 0:
                sign = float(states[i])
            elif states[a] == CAPPED:
                bound += c[k] * cap[k]
            else:  # |z_l| ≤ c z_n
                by = -c[k]
            least = sign * T[i, p] + by * T[a, p]  # over the impulses that are undecided
            for x in range(cap.shape[0]):
                if place[x] > level and cap[x] > 0.0:
                    b = x * n
                    rate = sign * T[i, b] + by * T[a, b]
                    for q in range(b + 1, b + n):
                        rate -= c[x] * abs(sign * T[i, q] + by * T[a, q])
                    if rate < 0.0:
                        least += rate * cap[x]
            if least > bound:
                return False
    return True


@kernel
def root_modes(turn, limit, problem, T, states, place, order, modes):
    """List the modes that each contact may have whatever the others do, and order the contacts, fewest modes first.

    Args:
        turn: any integer ≥ 0, on which it depends where each contact's list begins.
        limit: modes of a contact to look at, at most. problem: :class:`.IncrementProblem`.
        T: (≥ 2, p, p + 1) with T[0] = (H, w), which is no decision; T[1] is scratch. states: scratch (p,) int64.
        place, order: out, (m,) int64: the place of each contact in the order, and the contact at each place.
        modes: out, (m, ≥ 1 + limit) int64: how many modes a contact may have, and then these modes.

    Returns:
        (modes looked at, whether these were all that there are).
    """
    g, cap, c = problem.g, problem.cap, problem.c
    m = cap.shape[0]
    n = 1 + g
    rest = turn
    looked = 0
    whole = True
    for k in range(m):
        for x in range(m):
            place[x] = 1
        place[k] = 0
        size = mode_count(g, cap[k], c[k])
        count = 0
        whole = whole and size <= limit
        for mode in range(min(size, limit)):
            looked += 1
            decoded = (mode + rest) % size
            decode(g, decoded, c[k], states, k * n)
            known = decide(g, k, 0, place, cap[k], c[k], states, T[0], T[1]) != 0
            if known and not possible(g, k, 0, place, cap, c, states, T[1]):
                continue
            count += 1
            modes[k, count] = decoded
        modes[k, 0] = count
        rest //= size
        if turn > 0 and rest == 0:  # used up: every contact must be able to begin anywhere
            rest = turn * _STRIDE * (k + 1) % _WRAP
    for k in range(m):
        at = k
        while at > 0 and modes[order[at - 1], 0] > modes[k, 0]:
            order[at] = order[at - 1]
            at -= 1
        order[at] = k
    for at in range(m):
        place[order[at]] = at
    return looked, whole
