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

from typing import NamedTuple

import numpy as np

from hybrid_contact_ros.codes import Status
from hybrid_contact_ros.kernels.compiling import kernel
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
    Array,
    IncrementProblem,
    IncrementScratch,
    MaterialRange,
    SearchLimits,
    SearchScratch,
    Stores,
    Walk,
)
from hybrid_contact_ros.kernels.impacts.restitution_release import (
    MATERIAL,
    draw_material,
    drop_negligible,
    empty_stores,
    plan_release,
    prescribe,
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
    settle_poisson,
    settle_stronge,
)
from hybrid_contact_ros.kernels.impacts.sampling import CHOICES, draw_caps, slowest, take_increment, work
from hybrid_contact_ros.kernels.impacts.slip_stop import stop_at_slip

SOLVED = int(Status.SOLVED)

_MOST_CUTS = 12  # of one increment for what its stores cannot pay; then the stores are given up
_MOST_STOPS = 1  # of one increment where slips stop


class _Walker(NamedTuple):
    """What every increment of a sample needs."""

    now: Array  # (p,): velocities before the increment
    fastest: float  # normal velocity with which the fastest contact approached before the impact
    node: float  # :func:`.effort`
    problem: IncrementProblem
    stores: Stores
    limits: SearchLimits
    scratch: IncrementScratch
    found: SearchScratch


@kernel(forceinline=True)
def _take_paid_increment(law, sample, may_stop, lost, spent, tries, choices, walker, told):
    """Take an increment, and cut it until the stores can pay for what is restituted.

    Args:
        law, sample: as of :func:`restitution_batch`. may_stop: whether it is also cut where slips stop. lost: kinetic
            energy lost so far. spent: units of work of the samples before. tries: increments solved for this sample.
            choices: state of the stream of choices.
        walker: :class:`_Walker`, whose scratch has the answer. told: in and out, (7,), as of :func:`.take_increment`.

    Returns:
        (status, residual, what became of the increment, tries, choices).
    """
    now, stores, problem = walker.now, walker.stores, walker.problem
    push, after = walker.scratch.push, walker.scratch.after
    release = stores.release
    g, H = problem.g, problem.H
    m = release.shape[0]
    cuts = 0
    stops = 0
    kept = False
    while True:
        tries += 1
        if cuts == _MOST_CUTS:
            for k in range(m):
                release[k] = 0.0
                stores.store[k] = 0.0
        searched, several, uncertain = told[SEARCHED], told[SEVERAL], told[UNCERTAIN]
        drop = prescribe(now, stores, problem)
        so_far = spent + work(tries, told[SEARCH_WORK], walker.node)
        status, residual, choices, kept = take_increment(
            kept, problem, walker.limits, sample, so_far, choices, walker.scratch, walker.found, told
        )
        for k in range(m):
            if release[k] > 0.0:
                after[k * (1 + g)] += drop
        stopped = may_stop and stops < _MOST_STOPS
        if stopped:
            stopped = stop_at_slip(g, H, stores.c, now, after, push, stores.cap, release)
        if stopped:
            settled = CUT
        elif law == POISSON:
            negligible = EXACT * walker.fastest * walker.fastest
            settled = settle_poisson(g, now, after, push, lost, negligible, stores)
        else:
            settled = settle_stronge(g, now, after, push, cuts, stores)
        if settled != CUT or cuts == _MOST_CUTS:
            return status, residual, settled, tries, choices
        if stopped:
            stops += 1
        else:
            cuts += 1
        # What is cut was not taken: an increment counts once, as its last attempt was searched
        told[SEARCHED], told[SEVERAL], told[UNCERTAIN] = searched, several, uncertain


@kernel
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
    solutions,
    velocities,
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
    found = SearchScratch(T, A, states, modes, solutions, velocities)
    fastest = 0.0
    for k in range(m):
        fastest = max(fastest, -w[k * (1 + g)])
    node = effort(g, p)
    walker = _Walker(now, fastest, node, problem, stores, limits, scratch, found)
    worst = SOLVED
    spent = 0.0
    for sample in range(first, first + count):
        told = info[sample]
        draw_material(seed, sample, material, stores)
        state = stream(seed, sample)
        choices = stream(np.uint64(seed) ^ CHOICES, sample)
        _, waiting = uniform(state ^ (MATERIAL << np.uint64(1)))
        gives_back = empty_stores(g, H, stores)
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
            holding = drop_negligible(law, g, now, separating, fastest, stores)
            last = steps == max_steps
            if not (approaching or holding) or steps > max_steps:
                break
            if last and not (approaching and last_step[0] > 0.0):
                break
            state = draw_caps(sample, steps, last, walk, state, cap)
            share = max(2.0 * waiting - 1.0, 0.0) if approaching else 1.0
            plan_release(law, g, now, separating, 0.0 if last else share, stores)
            if law == STRONGE and holding and settled != FAR:
                cut_to_energy(g, H, now, stores)
            status, residual, settled, tries, choices = _take_paid_increment(
                law, sample, gives_back and not last, lost, spent, tries, choices, walker, told
            )
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
