"""Whole samples of Halm's Algorithms 1 and 2: random increments until no contact approaches."""

from __future__ import annotations

import numpy as np

from hybrid_contact_ros.codes import Status
from hybrid_contact_ros.kernels.compiling import kernel
from hybrid_contact_ros.kernels.impacts.all_solutions import search
from hybrid_contact_ros.kernels.impacts.increment import solve_increment
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
    SearchLimits,
    SearchScratch,
    Tableau,
    Walk,
)
from hybrid_contact_ros.kernels.impacts.residual import axes_residual

SOLVED = int(Status.SOLVED)

CHOICES = np.uint64(0xD1B54A32D192ED03)  # sets the stream of the choices among solutions apart from that of the caps
_UNSEARCHED = 20.0  # samples that are not searched, per unit of :func:`.effort` above the least
TURNS = 1 << 30  # places among the modes where a search may begin


@kernel
def slowest(g, w, separating):
    """Least scaled normal velocity over ``separating`` (m,): below −1 while some contact approaches."""
    least = np.inf
    for k in range(separating.shape[0]):
        least = min(least, w[k * (1 + g)] / separating[k])
    return least


@kernel(forceinline=True)
def work(increments, searched, node):
    """Units of work with which sampling is stopped in time: those of increments, and what searches spent.

    ``node`` is :func:`.effort`. A unit takes of the order of a third of a microsecond.
    """
    return 3.0 * node * increments + searched


@kernel(forceinline=True)
def draw_caps(sample, step, last, walk, state, cap):
    """Write the caps of an increment to ``cap`` (m,) and return the next state of the random stream.

    ``step`` counts the increments of the sample; ``last``: whether this is the one after max_steps.
    """
    for k in range(cap.shape[0]):
        if last:
            cap[k] = walk.last_step[k]
        elif walk.draws.shape[0] > 0:
            cap[k] = walk.draws[sample, step, k]
        else:
            state, draw = uniform(state)
            cap[k] = walk.step[k] * draw
    return state


@kernel(forceinline=True)
def _choose(problem, limits, spent, known, state, scratch, found, info):
    """Replace the solver's answer to an increment by one drawn uniformly from all solutions with different velocities.

    Args:
        problem: :class:`.IncrementProblem`. limits: :class:`.SearchLimits`. spent: units of work so far. known: 1 if
            the solver's is an answer, 0 if it failed. state: of the stream of choices.
        scratch: :class:`.IncrementScratch`, whose ``push`` and ``after`` are the solver's answer, and kept bit for bit
            if that is the only one. found: :class:`.SearchScratch`.
        info: in and out, (7,), the sample's: searches and their work are added.

    Returns:
        (state of the stream, solutions).
    """
    push, after = scratch.push, scratch.after
    p = push.shape[0]
    for i in range(p):
        found.solutions[0, i] = push[i]
        found.velocities[0, i] = after[i]
    state, draw = uniform(state)
    turn = 1 + int(draw * TURNS)
    # A little more than is left: a search that takes more belongs to a sample that is given up anyway
    afford = 1.0 + max(limits.budget - spent, 0.0)
    count, search_work, _, unresolved, complete = search(
        problem.g,
        limits.limit,
        afford,
        found.solutions.shape[0] - 3,
        turn,
        problem.H,
        problem.w,
        problem.cap,
        problem.c,
        found.T,
        found.A,
        found.states,
        found.modes,
        found.states[:0],
        known,
        found.solutions,
        found.velocities,
    )
    info[SEARCHED] += 1.0
    info[SEVERAL] += 1.0 if count > 1 else 0.0
    info[UNCERTAIN] += 0.0 if complete and unresolved == 0 else 1.0
    info[SEARCH_WORK] += search_work
    state, draw = uniform(state)
    chosen = int(draw * count)
    if chosen >= known and count > 0:
        for i in range(p):
            push[i] = found.solutions[chosen, i]
            after[i] = found.velocities[chosen, i]
    return state, count


@kernel(forceinline=True)
def take_increment(again, problem, limits, sample, spent, state, scratch, found, info):
    """Solve an increment, and draw one of its solutions if it is searched for others.

    Arguments as of :func:`_choose`; the answer goes to ``push`` and ``after`` of ``scratch``. ``again``: whether it is
    like the last one but for velocities and caps, and that was kept. Sample 0 is searched only
    where searches are cheap (chance ≥ 1), so that it is there soon. With more than four contacts the same holds for the
    samples that a deadline of a millisecond leaves time for: one search of theirs would take all of it.

    Returns:
        (status, residual, state of the stream of choices, whether the answer is kept as a guess of another one).
    """
    g, H, w, cap, c = problem
    push, after = scratch.push, scratch.after
    lines = scratch.lines
    tableau = Tableau(scratch.tableau, lines[0], lines[1], lines[2], lines[3], lines[4], lines[5])
    status, residual, _, kept = solve_increment(again, problem, tableau, push, after)
    unsearched = _UNSEARCHED * (effort(g, push.shape[0]) - 1.0)
    if limits.chance >= 1.0 or (limits.chance > 0.0 and sample > unsearched):
        state, draw = uniform(state)
        if draw < limits.chance:
            known = 1 if status == SOLVED else 0
            state, count = _choose(problem, limits, spent, known, state, scratch, found, info)
            if count > known:
                residual = axes_residual(g, H, w, cap, c, push, after)
                status = SOLVED
            kept = False
    return status, residual, state, kept


@kernel
def sample_batch(
    first,
    count,
    seed,
    # problem:
    g,
    H,
    w,
    c,
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
    cap,
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
    """Run samples first … first + count − 1 of Halm's Algorithm 1, and the last step of Algorithm 2 (its line 5).

    Everything is scaled. When more than ``budget`` units of :func:`work` were done, the sample under way is given up.

    Args:
        first, count: which samples. seed: of all samples.
        g, H, w, c: the impact, as of :class:`.IncrementProblem`. step … draws: :class:`.Walk`.
        chance … budget: :class:`.SearchLimits`.
        tableau, lines: scratch, as of :func:`.increment.increment`. cap: scratch, (m,). vectors: scratch, (3, p).
        T … velocities: :class:`.SearchScratch`.
        z: out, (samples, p), total impulses. info: out, (samples, 7), STEPS … SEARCH_WORK of :mod:`.records`. Rows
            ``first`` and following are written.

    Returns:
        (worst status, first sample that was not finished, units of work).
    """
    now, after, push = vectors[0], vectors[1], vectors[2]
    problem = IncrementProblem(g, H, now, cap, c)
    walk = Walk(step, last_step, max_steps, separating, draws)
    limits = SearchLimits(chance, limit, budget)
    scratch = IncrementScratch(tableau, lines, push, after)
    found = SearchScratch(T, A, states, modes, solutions, velocities)
    p = w.shape[0]
    node = effort(g, p)
    worst = SOLVED
    spent = 0.0
    for sample in range(first, first + count):
        told = info[sample]
        state = stream(seed, sample)
        choices = stream(np.uint64(seed) ^ CHOICES, sample)
        for i in range(p):
            now[i] = w[i]
            z[sample, i] = 0.0
        for i in range(SAMPLE_COLUMNS):
            told[i] = 0.0
        steps = 0
        while slowest(g, now, separating) < -1.0 and steps <= max_steps:
            last = steps == max_steps
            if last and not last_step[0] > 0.0:
                break
            state = draw_caps(sample, steps, last, walk, state, cap)
            so_far = spent + work(steps, told[SEARCH_WORK], node)
            status, residual, choices, _ = take_increment(
                False, problem, limits, sample, so_far, choices, scratch, found, told
            )
            if status != SOLVED:
                worst = status
            told[RESIDUAL] = max(told[RESIDUAL], residual)
            for i in range(p):
                z[sample, i] += push[i]
                now[i] = after[i]
            steps += 1
            so_far = spent + work(steps, told[SEARCH_WORK], node)
            if so_far > budget:
                return worst, sample, so_far
        told[STEPS] = steps
        told[TERMINATED] = 1.0 if slowest(g, now, separating) >= -1.0 else 0.0
        spent += work(steps, told[SEARCH_WORK], node)
    return worst, first + count, spent
