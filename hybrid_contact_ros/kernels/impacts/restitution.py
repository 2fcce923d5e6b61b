"""Impacts with restitution at arbitrary relative rates: whole samples (Stronge's and Poisson's law per contact).

The walk is that of H Algorithm 1 (:mod:`.sampling`), with a store for each contact that compression fills and
restitution empties. An increment solves H (72)–(75) once for all contacts; for each of them at its own drawn cap

    compressing or free     0 ≤ z_n ≤ cap complementary to w'_n, as in the inelastic walk;
    restituting             z_n = cap prescribed, friction as always: a contact that holds something and does not
                            approach. In the LCP its w_n is lowered so far that z_n = cap is its only solution.

Energy, scaled: an increment z changes the kinetic energy by zᵀ (w + w') / 2 exactly, contact by contact.

Stronge: the store is energy. Compression with normal work −W adds e² W; restitution pays z_n (w_n + w'_n) / 2 out of
it and ends when it is spent. After every increment  kinetic energy + Σ stores  is checked not to have risen. In the
limit of small steps that always holds: normal work is paid for, friction dissipates. A coarse step may owe something
(a neighbour reversed friction within it; where a contact does so itself the increment is cut, :mod:`.slip`); what it
owes is taken from what it stored, then from the stores. Stores are never negative, so that the kinetic energy never
exceeds its first value, for any e, μ, order and step.

Poisson: the store is impulse, e Λ_n of compression. With several contacts, where they have friction or different e,
that law can create energy; restitution is cut where the kinetic energy would exceed that before the impact, and ends.
"""

import math

import numpy as np
from numba import njit

from hybrid_contact_ros.codes import Status
from hybrid_contact_ros.kernels.impacts.increment import increment
from hybrid_contact_ros.kernels.impacts.increment_modes import effort
from hybrid_contact_ros.kernels.impacts.residual import axes_residual
from hybrid_contact_ros.kernels.impacts.restitution_stores import (
    CUT,
    EXACT,
    FAR,
    POISSON,
    SETTLED,
    STRONGE,
    aim,
    faint,
    gain,
    settle_poisson,
    settle_stronge,
)
from hybrid_contact_ros.kernels.impacts.sampling import _CHOICES, _affordable, _choose, _slowest, stream, uniform, work
from hybrid_contact_ros.kernels.impacts.slip_stop import stop_at_slip

SOLVED = int(Status.SOLVED)

_MATERIAL = np.uint64(0x8CB92BA72F3D8DD7)  # sets the stream of materials apart from that of the caps
_ENDS = 1.25  # a draw of an interval is stretched by this and clipped: each end comes up one time in ten
_CUTS = 12  # of one increment; after them its stores are given up
_STOPS = 1  # likewise, for slips that stop


@njit(cache=True, nogil=True, error_model="numpy", forceinline=True)
def _between(low, high, draw):
    """The number that a draw of [0, 1) stands for; both ends come up."""
    part = min(max(_ENDS * (draw - 0.5) + 0.5, 0.0), 1.0)
    return low + part * (high - low)


@njit(cache=True, nogil=True, error_model="numpy")
def draw_material(seed, sample, common, e_low, e_high, c_low, c_high, e, c):
    """Restitution e and friction bounds c (m,) of one sample, out; the lows and highs (m,).

    Where ``common`` is true every contact is at the same place within its interval (one material, not known exactly).
    """
    state = stream(seed, sample) ^ _MATERIAL
    state, first = uniform(state)
    state, second = uniform(state)
    for k in range(e.shape[0]):
        if not common and k > 0:
            state, first = uniform(state)
            state, second = uniform(state)
        e[k] = _between(e_low[k], e_high[k], first)
        c[k] = _between(c_low[k], c_high[k], second)


@njit(cache=True, nogil=True, error_model="numpy", forceinline=True)
def _lower(g, now, cap, release, reach, shifted):
    """Write the LCP's velocities and caps to shifted[0] and shifted[1, :m]; returns by how much w_n was lowered.

    Contacts with release > 0 get exactly that normal impulse. reach (m,) bounds |H z|_i of contact j per unit of z_n.
    """
    m = cap.shape[0]
    drop = 1.0
    for i in range(now.shape[0]):
        shifted[0, i] = now[i]
        drop = max(drop, abs(now[i]))
    for k in range(m):
        shifted[1, k] = cap[k]
        if release[k] > 0.0:
            shifted[1, k] = release[k]
        drop += 2.0 * reach[k] * shifted[1, k]
    for k in range(m):
        if release[k] > 0.0:
            shifted[0, k * (1 + g)] -= drop
    return drop


@njit(cache=True, nogil=True, error_model="numpy")
def restitution_batch(
    law,
    g,
    first,
    count,
    seed,
    common,
    step,
    last_step,
    max_steps,
    chance,
    limit,
    budget,
    H,
    w,
    e_low,
    e_high,
    c_low,
    c_high,
    speed,
    given,
    tableau,
    lines,
    contacts,
    vectors,
    T,
    A,
    states,
    modes,
    found,
    ends,
    z,
    info,
):
    """As :func:`.sampling.sample_batch`, with restitution ``law`` (STRONGE or POISSON); see the module.

    e_low, e_high, c_low, c_high (m,) bound restitution and friction, drawn per sample. A sample ends when no contact
    approaches and every store is empty. Per sample a share s of the restitution waits for compression: while contacts
    approach, restituting ones get s times their cap, s drawn from [0, 1] with 0 (all compress before any restitutes)
    having half the probability. With e = 0 and points for intervals the samples are those of sample_batch, bit by bit.
    Scratch and ``info`` as there, but contacts (9, m) and vectors (5, p). Increments of which something is restituted
    are searched for other solutions like the rest. Returns as there.
    """
    p = H.shape[0]
    m = c_low.shape[0]
    worst = SOLVED
    spent = 0.0
    node = effort(g, p)
    now, after, push, shifted = vectors[0], vectors[1], vectors[2], vectors[3:5]
    cap, release, store, held = contacts[0], contacts[1], contacts[2], contacts[3]
    change, reach, left, e, c = contacts[4], contacts[5], contacts[6], contacts[7], contacts[8]
    fastest = 0.0
    for k in range(m):
        fastest = max(fastest, -w[k * (1 + g)])
    for sample in range(first, first + count):
        draw_material(seed, sample, common, e_low, e_high, c_low, c_high, e, c)
        state = stream(seed, sample)
        choices = stream(np.uint64(seed) ^ _CHOICES, sample)
        _, waiting = uniform(state ^ (_MATERIAL << np.uint64(1)))
        share = max(2.0 * waiting - 1.0, 0.0)
        for i in range(p):
            now[i] = w[i]
            z[sample, i] = 0.0
        gives_back = False
        for k in range(m):
            gives_back = gives_back or e[k] > 0.0
            store[k] = 0.0
            held[k] = 0.0
            left[k] = 0.0
            reach[k] = 1.0
            for i in range(k * (1 + g) + 1, (k + 1) * (1 + g)):
                reach[k] += c[k] * math.sqrt(max(H[i, i], 0.0))  # rounding where nothing can move
        for i in range(3, 7):
            info[sample, i] = 0.0
        room = 0.0
        largest = 0.0
        steps = 0
        tries = 0
        holding = False
        settled = SETTLED
        while True:
            approaching = _slowest(g, now, speed) < -1.0
            holding = False
            for k in range(m):
                if now[k * (1 + g)] >= -speed[k] and store[k] <= faint(law, e[k], fastest):
                    store[k] = 0.0
                holding = holding or store[k] > 0.0
            if not (approaching or holding) or steps > max_steps:
                break
            last = steps == max_steps
            if last:
                if not (approaching and last_step[0] > 0.0):
                    break
                for k in range(m):
                    cap[k] = last_step[k]
            elif given.shape[0] > 0:
                for k in range(m):
                    cap[k] = given[sample, steps, k]
            else:
                for k in range(m):
                    state, draw = uniform(state)
                    cap[k] = step[k] * draw
            for k in range(m):
                release[k] = 0.0
                if holding and not last and store[k] > 0.0 and now[k * (1 + g)] >= -speed[k]:
                    release[k] = e[k] * cap[k] * (share if approaching else 1.0)
                    if law == POISSON:
                        release[k] = min(release[k], store[k])
            if law == STRONGE and holding and settled != FAR:
                aim(g, H, c, now, release, store, change)
            status = SOLVED
            residual = 0.0
            cut = 0
            stops = 0
            while True:
                tries += 1
                if cut == _CUTS:
                    for k in range(m):
                        release[k] = 0.0
                        store[k] = 0.0
                searches, several_found, uncertain = info[sample, 3], info[sample, 4], info[sample, 5]
                drop = _lower(g, now, cap, release, reach, shifted)
                caps = shifted[1, :m]
                # As in sample_batch, and written out: as a function of both it made samples 30–40 % slower, since numba
                # counts the references of every array that it passes on.
                status, residual, _ = increment(g, H, shifted[0], caps, c, tableau, lines, push, after)
                if chance >= 1.0 or (chance > 0.0 and sample > 0):
                    choices, draw = uniform(choices)
                    if draw < chance:
                        known = 1 if status == SOLVED else 0
                        choices, several = _choose(
                            g,
                            limit,
                            _affordable(budget - spent - work(tries, info[sample, 6], node)),
                            choices,
                            H,
                            shifted[0],
                            caps,
                            c,
                            T,
                            A,
                            states,
                            modes,
                            found,
                            ends,
                            known,
                            push,
                            after,
                            info[sample, 3:7],
                        )
                        if several > known:
                            residual = axes_residual(g, H, shifted[0], caps, c, push, after)
                            status = SOLVED
                for k in range(m):
                    if release[k] > 0.0:
                        after[k * (1 + g)] += drop
                stopped = gives_back and stops < _STOPS and not last and stop_at_slip(g, H, c, now, push, cap, release)
                if stopped:
                    settled = CUT
                elif law == POISSON:
                    settled = settle_poisson(g, e, now, after, push, release, store, room, EXACT * fastest * fastest)
                else:
                    settled = settle_stronge(g, e, now, after, push, cut, cap, release, store, held, left, change)
                if settled != CUT or cut == _CUTS:
                    break
                if stopped:
                    stops += 1
                else:
                    cut += 1
                # what is cut was not taken: an increment counts once, as its last attempt was searched
                info[sample, 3], info[sample, 4], info[sample, 5] = searches, several_found, uncertain
            if status != SOLVED:
                worst = status
            largest = max(largest, residual)
            room -= gain(now, after, push)
            for i in range(p):
                z[sample, i] += push[i]
                now[i] = after[i]
            steps += 1
            if spent + work(tries, info[sample, 6], node) > budget:
                return worst, sample, spent + work(tries, info[sample, 6], node)
        info[sample, 0] = steps
        info[sample, 1] = 1.0 if not holding and _slowest(g, now, speed) >= -1.0 else 0.0
        info[sample, 2] = largest
        spent += work(tries, info[sample, 6], node)
    return worst, first + count, spent
