"""What compression leaves in contacts, and how restitution spends it: Stronge's stores of energy, Poisson's of impulse.

Everything scaled (:mod:`.delassus`), on rows as in :mod:`.pivoting`. An increment z from velocities w to w' = w + H z
changes the kinetic energy by zᵀ (w + w') / 2 exactly, row by row. See :mod:`.restitution` for the laws.
"""

import math

from numba import njit

STRONGE = 1
POISSON = 2

CUT, SETTLED, FAR = 0, 1, 2

_SPENT = 1e-3  # of the most that a store ever held: less is given up
EXACT = 1e-12  # likewise: how far a store may be overdrawn
_AIM = 1.0 - 1e-9  # of a store: so that rounding does not overdraw it
_FAINT = 1e-4  # of the fastest approach: slower ones are inelastic, so that bouncing between contacts ends
_JAMMED = 4.0  # times the impulse of compression: restitution that takes more does no work (the contact is wedged in)
_RESTING = 1e-9  # scaled: slower slip is rounding of a contact that sticks, and has no direction
_ROUNDING = 1e-14  # of the impact's energy, V²
_TURNS = 4  # of Gauss and Seidel, to aim


@njit(cache=True, nogil=True, error_model="numpy", forceinline=True)
def gain(now, after, push):
    """Kinetic energy gained by an increment, scaled."""
    s = 0.0
    for i in range(now.shape[0]):
        s += push[i] * (now[i] + after[i])
    return 0.5 * s


@njit(cache=True, nogil=True, error_model="numpy", forceinline=True)
def _part(before, later, amount, energy):
    """The part t ≤ 1 of an impulse at which its work t amount (before + t (later − before) / 2) reaches ``energy``."""
    a = 0.5 * amount * (later - before)
    b = amount * before
    root = b + math.sqrt(max(b * b + 4.0 * a * energy, 0.0))
    return min(2.0 * energy / root, 1.0) if root > 0.0 else 0.0


@njit(cache=True, nogil=True, error_model="numpy", forceinline=True)
def faint(law, e, fastest):
    """What an approach so slow that it counts as inelastic leaves in a store."""
    slow = e * _FAINT * fastest
    return slow if law == POISSON else 0.5 * slow * slow


@njit(cache=True, nogil=True, error_model="numpy", forceinline=True)
def aim(g, H, c, now, release, store, drawn):
    """Cut ``release`` (m,) to about what the stores of energy can pay, before anything is solved.

    Exact where the contacts with a release slide on as they do now, and the others take nothing. drawn (m,) is scratch.
    """
    m = c.shape[0]
    for k in range(m):
        drawn[k] = release[k]
    for turn in range(_TURNS):
        for k in range(m):
            if release[k] == 0.0:
                continue
            a = k * (1 + g)
            before = now[a]
            own = 0.0
            for j in range(m):
                if release[j] == 0.0 or (turn == 0 and j > k):
                    continue
                b = j * (1 + g)
                response = H[a, b]
                for i in range(b + 1, b + 1 + g):
                    if now[i] > _RESTING:
                        response -= c[j] * H[a, i]
                    elif now[i] < -_RESTING:
                        response += c[j] * H[a, i]
                if j == k:
                    own = response
                else:
                    before += 0.5 * response * release[j]  # half: the work takes the mean of before and after
            root = before * before + 2.0 * own * store[k]
            if root > 0.0 and before + math.sqrt(root) > 0.0:
                release[k] = min(drawn[k], 2.0 * _AIM * store[k] / (before + math.sqrt(root)))


@njit(cache=True, nogil=True, error_model="numpy", forceinline=True)
def settle_stronge(g, e, now, after, push, cut, cap, release, store, held, left, change):
    """Settle the stores of energy after an increment, or CUT ``release`` (and ``cap``) where it was too much.

    FAR instead of SETTLED: no store paid as much as half of what it held.

    held (m,): the most that a store held; left (m,): impulse that restitution may still take. change (m,) is scratch.
    """
    m = e.shape[0]
    least = 1.0
    for k in range(m):
        a = k * (1 + g)
        if release[k] > 0.0:
            work = 0.5 * push[a] * (now[a] + after[a])
            change[k] = -max(work, 0.0)
            if work > store[k] + EXACT * held[k]:
                part = _part(now[a], after[a], push[a], _AIM * store[k])
                least = min(least, part)
                if cut == 0:
                    release[k] *= part
    if least < 1.0:
        if cut > 0:  # with everything in proportion the contacts' velocities move in proportion, if no mode changes
            for k in range(m):
                release[k] *= least
                cap[k] *= least
        return CUT
    gained = 0.0
    paid = 0.0
    releasing = False
    for k in range(m):
        a = k * (1 + g)
        if release[k] > 0.0:
            releasing = True
            paid -= change[k]
        else:
            change[k] = -e[k] * e[k] * min(0.5 * push[a] * (now[a] + after[a]), 0.0)
            gained += change[k]
    owed = gain(now, after, push) + gained - paid
    if owed > 0.0:
        keep = max(1.0 - owed / gained, 0.0) if gained > 0.0 else 0.0
        owed = max(owed - gained, 0.0)
        there = 0.0
        for k in range(m):
            if release[k] == 0.0:
                change[k] *= keep
            there += max(store[k] + change[k], 0.0)
        if owed > there + _ROUNDING and releasing:
            for k in range(m):
                release[k] *= 0.5
            return CUT
        for k in range(m):
            if there > 0.0:
                change[k] -= owed * max(store[k] + change[k], 0.0) / there
    best = 0.0
    for k in range(m):
        a = k * (1 + g)
        if release[k] > 0.0:
            best = max(best, -change[k] / store[k])
        store[k] = max(store[k] + change[k], 0.0)
        held[k] = max(held[k], store[k])
        left[k] += _JAMMED * push[a] if release[k] == 0.0 else -push[a]
        if store[k] <= _SPENT * held[k] or left[k] <= 0.0:
            store[k] = 0.0
    return SETTLED if best > 0.5 or not releasing else FAR


@njit(cache=True, nogil=True, error_model="numpy", forceinline=True)
def settle_poisson(g, e, now, after, push, release, store, room, least):
    """As :func:`settle_stronge`, for stores of impulse. ``room``: kinetic energy lost since the impact began.

    Where ``least`` of it or less is left, all that is stored is given up.
    """
    m = e.shape[0]
    gained = gain(now, after, push)
    if gained > room + _ROUNDING:
        before = 0.0
        later = 0.0
        for i in range(now.shape[0]):
            before += push[i] * now[i]
            later += push[i] * after[i]
        part = _part(before, later, 1.0, room)
        for k in range(m):
            release[k] *= part
        return CUT
    for k in range(m):
        a = k * (1 + g)
        if release[k] > 0.0:
            store[k] -= release[k]
            if store[k] <= EXACT * release[k]:
                store[k] = 0.0
        else:
            store[k] += e[k] * push[a]
    if room - gained <= least:
        for k in range(m):
            store[k] = 0.0
    return SETTLED
