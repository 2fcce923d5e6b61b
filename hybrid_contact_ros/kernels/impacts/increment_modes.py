"""Modes of the increment LCP (H 72–75), and which of them are possible while others are undecided.

In the variables of :mod:`.pivoting`, a contact is open (z_n = 0 ≤ w'_n), active (0 ≤ z_n ≤ cap, w'_n = 0) or at its cap
(w'_n ≤ 0), and unless it is open each of its axes sticks (w'_l = 0, |z_l| ≤ c z_n) or slides at z_l = σ c z_n with
σ w'_l ≤ 0: 1 + 2·3^g modes a contact, 1 + 3^g without cap. Contacts are decided one by one; of the impulses that are
not decided yet only the bounds are known, and interval arithmetic says which conditions they can not mend.
"""

import math

from numba import njit

OPEN, ACTIVE, CAPPED = 0, 1, 2

FEASIBLE = 1e-8  # scaled: a condition missed by less may still hold at the answer, which is checked by its residual
_ZERO = 1e-9  # a pivot below is not eliminated on
_UNIT = 432.0  # multiplications: 3 × 12², of a node with 12 rows and two axes a contact
_WRAP = 1 << 30
_STRIDE = 0x2545F491  # odd


@njit(cache=True, nogil=True, error_model="numpy")
def effort(g, p):
    """Units of work of one mode that is decided, 1 for up to four contacts in space with four friction directions."""
    return max(1.0, (1.0 + g) * p * p / _UNIT)


@njit(cache=True, nogil=True, error_model="numpy")
def mode_count(g, cap, c):
    """How many modes a contact with bound ``c`` per normal impulse has."""
    if not cap > 0.0:
        return 1
    powers = 1
    if c > 0.0:
        for _ in range(g):
            powers *= 3
    return 1 + powers if cap == math.inf else 1 + 2 * powers


@njit(cache=True, nogil=True, error_model="numpy")
def decode(g, mode, c, states, a):
    """states[a] of the normal (OPEN, ACTIVE, CAPPED), states[a + 1 …] of the axes (0 sticks, ±1 slides)."""
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


@njit(cache=True, nogil=True, error_model="numpy")
def decide(g, k, level, place, cap, c, states, S, T):
    """T = S with contact k's mode put in; the columns of the contacts at places > level and the constant remain.

    Row i of S and T: w'_i of an undecided contact, and of a decided one whichever of z_i and w'_i is not given by its
    mode, as a function of the undecided impulses. Returns the sign of the product of the pivots, 0 where one is too
    small: then T is not complete.
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


@njit(cache=True, nogil=True, error_model="numpy", forceinline=True)
def _least(g, level, place, cap, c, T, sign, i, by, other):
    """Lower bound of sign × row i + by × row ``other`` of T over the impulses of the contacts at places > level."""
    p = T.shape[0]
    n = 1 + g
    least = sign * T[i, p] + by * T[other, p]
    for k in range(cap.shape[0]):
        if place[k] > level and cap[k] > 0.0:
            a = k * n
            rate = sign * T[i, a] + by * T[other, a]
            for q in range(a + 1, a + n):
                rate -= c[k] * abs(sign * T[i, q] + by * T[other, q])
            if rate < 0.0:
                least += rate * cap[k]
    return least


@njit(cache=True, nogil=True, error_model="numpy")
def possible(g, k, level, place, cap, c, states, T):
    """Whether the conditions of contact k, decided, can hold for some impulses of the contacts at places > level.

    Each is sign × row i + by × normal row ≤ bound, at most two a row.
    """
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
            if _least(g, level, place, cap, c, T, sign, i, by, a) > bound:
                return False
    return True


@njit(cache=True, nogil=True, error_model="numpy")
def root_modes(g, turn, limit, cap, c, T, states, place, order, modes):
    """Modes that each contact may have whatever the others do, and an order of the contacts: fewest modes first.

    T (≥ 2, …) with T[0] at no decisions; limit: modes of a contact to look at, at most. Out: modes (m, 1 + most) the
    number and then the modes of each contact, starting somewhere that depends on ``turn``; order, place (m,). Returns
    how many modes were looked at, and whether these were all.
    """
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
