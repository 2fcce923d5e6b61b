"""Impacts with restitution at arbitrary relative rates: whole samples (Stronge's and Poisson's law per contact).

A sample proceeds as in Halm's Algorithm 1 (:mod:`.sampling`). Besides, every contact has a store, which compression
fills and restitution empties. An increment solves Halm (72)–(75) once for all contacts, for each at its own drawn cap:

    compressed or free      0 ≤ z_n ≤ cap complementary to w'_n, as without restitution;
    restituting             z_n = cap prescribed, friction as always: a contact whose store is not empty and which does
                            not approach. In the LCP its w_n is lowered so far that z_n = cap is the only solution.

Energy, scaled: an increment z changes the kinetic energy by zᵀ (w + w') / 2 exactly, contact by contact.

Stronge: the store is energy. Compression with normal work −W adds e² W; restitution pays z_n (w_n + w'_n) / 2 out of
the store and ends when that is spent. After every increment it is checked that kinetic energy + Σ stores has not risen.
In
the limit of small steps that always holds: normal work is paid for, and friction dissipates. A coarse step may owe
something (a neighbour reversed the friction within it; where a contact does so itself the increment is cut,
:mod:`.slip_stop`); what it owes is taken from what it stored, then from the stores. Stores are never negative, so that
the kinetic energy never exceeds its first value, for any e, μ, order and step.

Poisson: the store is impulse, e Λ_n of compression. With several contacts that have friction, or different e, this law
can create energy; restitution is cut where the kinetic energy would exceed that before the impact, and ends there.
"""

from __future__ import annotations

import math

import numpy as np
from numba import njit

from hybrid_contact_ros.codes import Status
from hybrid_contact_ros.kernels.impacts.increment_modes import effort
from hybrid_contact_ros.kernels.impacts.random_stream import stream, uniform
from hybrid_contact_ros.kernels.impacts.records import (
    RESIDUAL,
    SAMPLE_COLUMNS,
    SEARCH_WORK,
    SEARCHED,
    SEVERAL,
    STEPS,
    TERMINATED,
    UNCERTAIN,
    IncrementProblem,
    IncrementScratch,
    MaterialRange,
    SearchLimits,
    SearchScratch,
    Stores,
    Walk,
)
from hybrid_contact_ros.kernels.impacts.restitution_stores import (
    CUT,
    EXACT,
    FAR,
    POISSON,
    SETTLED,
    STRONGE,
    cut_to_energy,
    energy_gain,
    negligible_store,
    settle_poisson,
    settle_stronge,
)
from hybrid_contact_ros.kernels.impacts.sampling import CHOICES, draw_caps, slowest, take_increment, work
from hybrid_contact_ros.kernels.impacts.slip_stop import stop_at_slip

SOLVED = int(Status.SOLVED)

_MATERIAL = np.uint64(0x8CB92BA72F3D8DD7)  # sets the stream of materials apart from that of the caps
_ENDS = 1.25  # a draw of an interval is stretched by this and clipped: each end comes up one time in ten
_MOST_CUTS = 12  # of one increment for what its stores cannot pay; then the stores are given up
_MOST_STOPS = 1  # of one increment where slips stop


@njit(cache=True, nogil=True, error_model="numpy", forceinline=True)
def _between(low, high, draw):
    """The number that a draw of [0, 1) stands for; both ends come up."""
    part = min(max(_ENDS * (draw - 0.5) + 0.5, 0.0), 1.0)
    return low + part * (high - low)


@njit(cache=True, nogil=True, error_model="numpy", forceinline=True)
def _draw_material(seed, sample, material, stores):
    """Draw restitution e and friction bounds c of one sample into ``stores``."""
    state = stream(seed, sample) ^ _MATERIAL
    state, first = uniform(state)
    state, second = uniform(state)
    for k in range(stores.e.shape[0]):
        if not material.common and k > 0:
            state, first = uniform(state)
            state, second = uniform(state)
        stores.e[k] = _between(material.e_low[k], material.e_high[k], first)
        stores.c[k] = _between(material.c_low[k], material.c_high[k], second)


@njit(cache=True, nogil=True, error_model="numpy", forceinline=True)
def _begin(g, H, stores):
    """Empty the stores of a sample, whose e and c are drawn; returns whether any contact restitutes."""
    gives_back = False
    for k in range(stores.e.shape[0]):
        gives_back = gives_back or stores.e[k] > 0.0
        stores.store[k] = 0.0
        stores.most_held[k] = 0.0
        stores.allowance[k] = 0.0
        stores.reach[k] = 1.0
        for i in range(k * (1 + g) + 1, (k + 1) * (1 + g)):
            stores.reach[k] += stores.c[k] * math.sqrt(max(H[i, i], 0.0))  # rounding where nothing can move
    return gives_back


@njit(cache=True, nogil=True, error_model="numpy", forceinline=True)
def _drop_negligible(law, g, now, separating, fastest, stores):
    """Empty the stores of contacts that do not approach and have next to nothing; returns whether any store is left."""
    holding = False
    for k in range(separating.shape[0]):
        negligible = negligible_store(law, stores.e[k], fastest)
        if now[k * (1 + g)] >= -separating[k] and stores.store[k] <= negligible:
            stores.store[k] = 0.0
        holding = holding or stores.store[k] > 0.0
    return holding


@njit(cache=True, nogil=True, error_model="numpy", forceinline=True)
def _release(law, g, now, separating, share, stores):
    """Write the impulses that restitution is to take in this increment: ``share`` of e times the caps at most."""
    release = stores.release
    for k in range(separating.shape[0]):
        release[k] = 0.0
        if share > 0.0 and stores.store[k] > 0.0 and now[k * (1 + g)] >= -separating[k]:
            release[k] = stores.e[k] * stores.cap[k] * share
            if law == POISSON:
                release[k] = min(release[k], stores.store[k])


@njit(cache=True, nogil=True, error_model="numpy", forceinline=True)
def _prescribe(now, stores, problem):
    """Write velocities and caps of the LCP to ``problem``, so that contacts with a release get exactly that impulse.

    Returns by how much their w_n was lowered.
    """
    w, cap, release = problem.w, problem.cap, stores.release
    m = cap.shape[0]
    drop = 1.0
    for i in range(now.shape[0]):
        w[i] = now[i]
        drop = max(drop, abs(now[i]))
    for k in range(m):
        cap[k] = stores.cap[k]
        if release[k] > 0.0:
            cap[k] = release[k]
        drop += 2.0 * stores.reach[k] * cap[k]
    for k in range(m):
        if release[k] > 0.0:
            w[k * (1 + problem.g)] -= drop
    return drop


@njit(cache=True, nogil=True, error_model="numpy")
def restitution_batch(
    first,
    count,
    seed,
    law,
    # problem:
    g,
    H,
    w,
    # material:
    common,
    e_low,
    e_high,
    c_low,
    c_high,
    # walk:
    step,
    last_step,
    max_steps,
    separating,
    draws,
    # limits:
    chance,
    limit,
    budget,
    # scratch:
    tableau,
    lines,
    contacts,
    vectors,
    # found:
    T,
    A,
    states,
    modes,
    found_z,
    found_after,
    # out:
    z,
    info,
):
    """As :func:`.sampling.sample_batch`, with restitution; see the module.

    Restitution and friction are drawn per sample. A sample ends when no contact approaches and every store is empty. A
    share s of the restitution waits for compression: while contacts approach, restituting ones get s times their cap.
    s is drawn from [0, 1] per sample, where 0 (all compress before any restitutes) has half the probability. With e = 0
    and points for intervals the samples are those of sample_batch, bit by bit. Increments in which something is
    restituted are searched for other solutions like the rest.

    Args:
        law: STRONGE or POISSON. common … c_high: :class:`.MaterialRange`.
        contacts: scratch, (9, m), :class:`.Stores`. vectors: scratch, (5, p).
        The others, and the return values, as of sample_batch.
    """
    p = w.shape[0]
    m = c_low.shape[0]
    now, after, push = vectors[0], vectors[1], vectors[2]
    cap, release, store, most_held = contacts[0], contacts[1], contacts[2], contacts[3]
    change, reach, allowance, e, c = contacts[4], contacts[5], contacts[6], contacts[7], contacts[8]
    stores = Stores(cap, release, store, most_held, change, reach, allowance, e, c)
    material = MaterialRange(common, e_low, e_high, c_low, c_high)
    problem = IncrementProblem(g, H, vectors[3], vectors[4, :m], c)
    walk = Walk(step, last_step, max_steps, separating, draws)
    limits = SearchLimits(chance, limit, budget)
    scratch = IncrementScratch(tableau, lines, push, after)
    found = SearchScratch(T, A, states, modes, found_z, found_after)
    node = effort(g, p)
    worst = SOLVED
    spent = 0.0
    fastest = 0.0
    for k in range(m):
        fastest = max(fastest, -w[k * (1 + g)])
    for sample in range(first, first + count):
        told = info[sample]
        _draw_material(seed, sample, material, stores)
        state = stream(seed, sample)
        choices = stream(np.uint64(seed) ^ CHOICES, sample)
        _, waiting = uniform(state ^ (_MATERIAL << np.uint64(1)))
        gives_back = _begin(g, H, stores)
        for i in range(p):
            now[i] = w[i]
            z[sample, i] = 0.0
        for i in range(SAMPLE_COLUMNS):
            told[i] = 0.0
        lost = 0.0  # kinetic energy
        steps = 0
        tries = 0
        settled = SETTLED
        while True:
            approaching = slowest(g, now, separating) < -1.0
            holding = _drop_negligible(law, g, now, separating, fastest, stores)
            last = steps == max_steps
            if not (approaching or holding) or steps > max_steps:
                break
            if last and not (approaching and last_step[0] > 0.0):
                break
            state = draw_caps(sample, steps, last, walk, state, cap)
            share = max(2.0 * waiting - 1.0, 0.0) if approaching else 1.0
            _release(law, g, now, separating, 0.0 if last else share, stores)
            if law == STRONGE and holding and settled != FAR:
                cut_to_energy(g, H, now, stores)
            status = SOLVED
            residual = 0.0
            cuts = 0
            stops = 0
            while True:
                tries += 1
                if cuts == _MOST_CUTS:
                    for k in range(m):
                        release[k] = 0.0
                        store[k] = 0.0
                searched, several, uncertain = told[SEARCHED], told[SEVERAL], told[UNCERTAIN]
                drop = _prescribe(now, stores, problem)
                so_far = spent + work(tries, told[SEARCH_WORK], node)
                status, residual, choices = take_increment(
                    problem, limits, sample, so_far, choices, scratch, found, told
                )
                for k in range(m):
                    if release[k] > 0.0:
                        after[k * (1 + g)] += drop
                may_stop = gives_back and stops < _MOST_STOPS and not last
                stopped = may_stop and stop_at_slip(g, H, c, now, push, cap, release)
                if stopped:
                    settled = CUT
                elif law == POISSON:
                    settled = settle_poisson(g, now, after, push, lost, EXACT * fastest * fastest, stores)
                else:
                    settled = settle_stronge(g, now, after, push, cuts, stores)
                if settled != CUT or cuts == _MOST_CUTS:
                    break
                if stopped:
                    stops += 1
                else:
                    cuts += 1
                # What is cut was not taken: an increment counts once, as its last attempt was searched
                told[SEARCHED], told[SEVERAL], told[UNCERTAIN] = searched, several, uncertain
            if status != SOLVED:
                worst = status
            told[RESIDUAL] = max(told[RESIDUAL], residual)
            lost -= energy_gain(now, after, push)
            for i in range(p):
                z[sample, i] += push[i]
                now[i] = after[i]
            steps += 1
            so_far = spent + work(tries, told[SEARCH_WORK], node)
            if so_far > budget:
                return worst, sample, so_far
        told[STEPS] = steps
        told[TERMINATED] = 1.0 if not holding and slowest(g, now, separating) >= -1.0 else 0.0
        spent += work(tries, told[SEARCH_WORK], node)
    return worst, first + count, spent
