"""What compression leaves in contacts, and how restitution spends it: Stronge's stores of energy, Poisson's of impulse.

Everything is scaled (:mod:`.friction_axes`), on rows as in :mod:`.pivoting`. An increment z from velocities w to
w' = w + H z changes the kinetic energy by zᵀ (w + w') / 2 exactly, row by row. :mod:`.restitution` has the laws.
"""

from __future__ import annotations

import math

from hybrid_contact_ros.kernels.compiling import kernel

STRONGE = 1
POISSON = 2

CUT, SETTLED, FAR = 0, 1, 2
"""What became of an increment: to be solved again with less; done; done, and no store paid half of what it held."""

EXACT = 1e-12  # of the most that a store ever held: how far it may be overdrawn
_SPENT = 1e-3  # likewise: a store with less is given up
_PAID = 1.0 - 1e-9  # part of a store that a release is cut to, so that rounding does not overdraw it
_INELASTIC = 1e-4  # of the fastest approach: a slower one leaves nothing, so that bouncing between contacts ends
_JAMMED = 4.0  # times the impulse of compression: restitution that takes more does no work (the contact is wedged in)
_RESTING = 1e-9  # scaled: slower slip is rounding of a contact that sticks, and has no direction
_ROUNDING = 1e-14  # of the impact's energy, V²
_SWEEPS = 4  # of Gauss and Seidel, over the contacts that restitute together


@kernel(forceinline=True)
def energy_gain(now, after, push):
    """Kinetic energy gained by the increment ``push`` (p,) from velocities ``now`` to ``after`` (p,), scaled."""
    s = 0.0
    for i in range(now.shape[0]):
        s += push[i] * (now[i] + after[i])
    return 0.5 * s


@kernel(forceinline=True)
def _part_with_work(before, later, amount, energy):
    """The part t ≤ 1 of an impulse at which its work reaches ``energy``.

    The work is t amount (before + t (later − before) / 2), with the velocities before and after the whole impulse.
    """
    a = 0.5 * amount * (later - before)
    b = amount * before
    root = b + math.sqrt(max(b * b + 4.0 * a * energy, 0.0))
    return min(2.0 * energy / root, 1.0) if root > 0.0 else 0.0


@kernel(forceinline=True)
def negligible_store(law, e, fastest):
    """What is left in a store by an approach that is so slow, beside the ``fastest``, that it counts as inelastic."""
    slow = e * _INELASTIC * fastest
    return slow if law == POISSON else 0.5 * slow * slow


@kernel(forceinline=True)
def cut_to_energy(g, H, now, stores):
    """Cut ``release`` to about what the stores of energy can pay, before anything is solved.

    The cut is exact where the contacts with a release slide on as they do now, and the others take no impulse.
    ``change`` is scratch.
    """
    c, release, store, drawn = stores.c, stores.release, stores.store, stores.change
    m = c.shape[0]
    for k in range(m):
        drawn[k] = release[k]
    for sweep in range(_SWEEPS):
        for k in range(m):
            if release[k] == 0.0:
                continue
            a = k * (1 + g)
            before = now[a]
            own = 0.0
            for j in range(m):
                if release[j] == 0.0 or (sweep == 0 and j > k):
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
                release[k] = min(drawn[k], 2.0 * _PAID * store[k] / (before + math.sqrt(root)))


@kernel(forceinline=True)
def _cut_overdrawn(g, now, after, push, cuts, stores):
    """Write what restitution pays to ``change``, and cut what takes more than its store has; returns whether it did.

    ``cuts``: how often the increment was cut before. After the first time everything is cut in one proportion.
    """
    release, change = stores.release, stores.change
    m = release.shape[0]
    least = 1.0
    for k in range(m):
        a = k * (1 + g)
        if release[k] > 0.0:
            work = 0.5 * push[a] * (now[a] + after[a])
            change[k] = -max(work, 0.0)
            if work > stores.store[k] + EXACT * stores.most_held[k]:
                part = _part_with_work(now[a], after[a], push[a], _PAID * stores.store[k])
                least = min(least, part)
                if cuts == 0:
                    release[k] *= part
    if least < 1.0 and cuts > 0:  # in one proportion velocities move in that proportion, if no mode changes
        for k in range(m):
            release[k] *= least
            stores.cap[k] *= least
    return least < 1.0


@kernel(forceinline=True)
def settle_stronge(g, now, after, push, cuts, stores):
    """Settle the stores of energy after an increment, or cut ``release`` (and ``cap``) where it was too much.

    Args:
        now, after: (p,), velocities before and after the increment. push: (p,), its impulses. cuts: how often the
            increment was cut before.
        stores: in and out, :class:`.Stores`; ``change`` is scratch.

    Returns:
        CUT, SETTLED or FAR.
    """
    e, release, store, change, most_held = stores.e, stores.release, stores.store, stores.change, stores.most_held
    m = e.shape[0]
    if _cut_overdrawn(g, now, after, push, cuts, stores):
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
    owed = energy_gain(now, after, push) + gained - paid
    if owed > 0.0:
        keep = max(1.0 - owed / gained, 0.0) if gained > 0.0 else 0.0
        owed = max(owed - gained, 0.0)
        available = 0.0
        for k in range(m):
            if release[k] == 0.0:
                change[k] *= keep
            available += max(store[k] + change[k], 0.0)
        if owed > available + _ROUNDING and releasing:
            for k in range(m):
                release[k] *= 0.5
            return CUT
        for k in range(m):
            if available > 0.0:
                change[k] -= owed * max(store[k] + change[k], 0.0) / available
    best = 0.0
    for k in range(m):
        a = k * (1 + g)
        if release[k] > 0.0:
            best = max(best, -change[k] / store[k])
        store[k] = max(store[k] + change[k], 0.0)
        most_held[k] = max(most_held[k], store[k])
        stores.allowance[k] += _JAMMED * push[a] if release[k] == 0.0 else -push[a]
        if store[k] <= _SPENT * most_held[k] or stores.allowance[k] <= 0.0:
            store[k] = 0.0
    return SETTLED if best > 0.5 or not releasing else FAR


@kernel(forceinline=True)
def settle_poisson(g, now, after, push, lost, negligible, stores):
    """Settle the stores of impulse after an increment, or cut ``release`` where kinetic energy would rise.

    Arguments and return value as of :func:`settle_stronge`. ``lost``: kinetic energy lost since the impact began; where
    ``negligible`` of it or less is left, all that is stored is given up.
    """
    e, release, store = stores.e, stores.release, stores.store
    m = e.shape[0]
    gained = energy_gain(now, after, push)
    if gained > lost + _ROUNDING:
        before = 0.0
        later = 0.0
        for i in range(now.shape[0]):
            before += push[i] * now[i]
            later += push[i] * after[i]
        part = _part_with_work(before, later, 1.0, lost)
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
    if lost - gained <= negligible:
        for k in range(m):
            store[k] = 0.0
    return SETTLED
