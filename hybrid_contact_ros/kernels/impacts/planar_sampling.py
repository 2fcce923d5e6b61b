"""Whole samples of Halm's Algorithms 1 and 2 in the plane: those of :mod:`.sampling`, faster.

Contacts in the plane have one friction axis, and few modes. Up to three contacts, an increment is solved over the
stored maps of its modes (:mod:`.planar_path`); beyond, and where that fails, by :func:`.increment.increment`, and the
answer is the same but for rounding. Other solutions are searched for by :mod:`.planar_search`. Draws, choices and what
is told of the samples are those of :func:`.sampling.sample_batch`.
"""

from __future__ import annotations

import numpy as np

from hybrid_contact_ros.codes import Status
from hybrid_contact_ros.kernels.compiling import kernel
from hybrid_contact_ros.kernels.impacts.all_solutions import SearchBudget
from hybrid_contact_ros.kernels.impacts.increment import FEW_ROWS, FIRST_PERTURBATION, increment
from hybrid_contact_ros.kernels.impacts.increment_modes import effort
from hybrid_contact_ros.kernels.impacts.pivoting import solve
from hybrid_contact_ros.kernels.impacts.planar_few import search_few
from hybrid_contact_ros.kernels.impacts.planar_path import follow
from hybrid_contact_ros.kernels.impacts.planar_pieces import Pieces
from hybrid_contact_ros.kernels.impacts.planar_search import search_planar
from hybrid_contact_ros.kernels.impacts.planar_tree import PlanarTree
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
    SearchLimits,
    Tableau,
    Walk,
)
from hybrid_contact_ros.kernels.impacts.residual import axes_residual
from hybrid_contact_ros.kernels.impacts.sampling import CHOICES, TURNS, draw_caps, slowest, work

SOLVED = int(Status.SOLVED)

_ROUNDING = 1e-9  # of energies, relative and absolute
_GOOD = 1e-10  # residual of an answer that is not solved for again


@kernel
def planar_batch(
    first,
    count,
    seed,
    # problem:
    H,
    w,
    c,
    energy,
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
    # pieces:
    signs,
    maps,
    tests,
    counts,
    order,
    system,
    columns,
    ints,
    # tree:
    T,
    bounds,
    A,
    rows,
    modes,
    at,
    # found:
    solutions,
    velocities,
    # out:
    z,
    info,
):
    """Run samples first … first + count − 1 of an impact in the plane (g = 1), as :func:`.sampling.sample_batch` does.

    Args:
        energy: not less than wᵀ H⁺ w (:mod:`.planar_search`).
        signs … ints: :class:`.planar_pieces.Pieces`, kept from call to call; empty for more contacts than these hold.
        T … at: :class:`.planar_tree.PlanarTree`.
        contacts: scratch, (2, m). vectors: scratch, (4, p). solutions, velocities: scratch, (> most + 2, p).
        The others, and the return values, as of sample_batch.
    """
    now, after, push, perturbed = vectors[0], vectors[1], vectors[2], vectors[3]
    cap, share = contacts[0], contacts[1]
    problem = IncrementProblem(1, H, now, cap, c)
    walk = Walk(step, last_step, max_steps, separating, draws)
    limits = SearchLimits(chance, limit, budget)
    pieces = Pieces(signs, maps, tests, counts, order, system, columns, ints)
    tree = PlanarTree(T, bounds, A, rows, modes, at)
    pivots = Tableau(tableau, lines[0], lines[1], lines[2], lines[3], lines[4], lines[5])
    p = w.shape[0]
    node = effort(1, p)
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
        left = energy
        while slowest(1, now, separating) < -1.0 and steps <= max_steps:
            last = steps == max_steps
            if last and not last_step[0] > 0.0:
                break
            state = draw_caps(sample, steps, last, walk, state, cap)
            status = SOLVED
            residual = 1.0
            mode = -1
            if signs.shape[0] > 0:
                mode = follow(problem, perturbed, share, at[0], pieces, push)
                if mode >= 0:
                    residual = axes_residual(1, H, now, cap, c, push, after)
            elif p <= FEW_ROWS:  # the first attempt of increment, compiled for one axis a contact
                solve(problem, FIRST_PERTURBATION, 0, pivots, push)
                residual = axes_residual(1, H, now, cap, c, push, after)
            if not residual <= _GOOD:
                mode = -1
                status, residual, _ = increment(1, H, now, cap, c, tableau, lines, push, after)
            if limits.chance >= 1.0 or (limits.chance > 0.0 and sample > 0):
                choices, draw = uniform(choices)
                if draw < limits.chance:
                    so_far = spent + work(steps, told[SEARCH_WORK], node)
                    known = 1 if status == SOLVED else 0
                    choices, found = _choose(
                        problem, left, limits, so_far, known, mode, choices, push, after, pieces, tree, solutions,
                        velocities, told,
                    )  # fmt: skip
                    if found > known:
                        residual = axes_residual(1, H, now, cap, c, push, after)
                        status = SOLVED
            if status != SOLVED:
                worst = status
            told[RESIDUAL] = max(told[RESIDUAL], residual)
            for i in range(p):
                left += push[i] * (now[i] + after[i])
                z[sample, i] += push[i]
                now[i] = after[i]
            steps += 1
            so_far = spent + work(steps, told[SEARCH_WORK], node)
            if so_far > budget:
                return worst, sample, so_far
        told[STEPS] = steps
        told[TERMINATED] = 1.0 if slowest(1, now, separating) >= -1.0 else 0.0
        spent += work(steps, told[SEARCH_WORK], node)
    return worst, first + count, spent


@kernel(forceinline=True)
def _choose(problem, energy, limits, spent, known, mode, state, push, after, pieces, tree, solutions, velocities, info):
    """Replace an answer by one drawn uniformly from all solutions with different velocities.

    Arguments and return values as of the function of this name in :mod:`.sampling`; mode: of the answer, or −1.
    """
    for i in range(push.shape[0]):
        solutions[0, i] = push[i]
        velocities[0, i] = after[i]
    state, draw = uniform(state)
    turn = 1 + int(draw * TURNS)
    afford = 1.0 + max(limits.budget - spent, 0.0)
    most = solutions.shape[0] - 3
    least = 1.0
    for k in range(problem.cap.shape[0]):
        least = min(least, problem.cap[k])
    if least > 0.0 and pieces.signs.shape[0] > 0:
        count, search_work, _, unresolved, complete = search_few(
            problem, SearchBudget(limits.limit, afford, most, turn), mode, tree.at[0], pieces, tree, tree.rows[:0],
            known, solutions, velocities,
        )  # fmt: skip
    else:
        count, search_work, _, unresolved, complete = search_planar(
            1,
            limits.limit,
            afford,
            most,
            turn,
            problem.H,
            problem.w,
            problem.cap,
            problem.c,
            energy * (1.0 + _ROUNDING) + _ROUNDING,
            tree.T,
            tree.bounds,
            tree.A,
            tree.rows,
            tree.modes,
            tree.at,
            tree.rows[:0],
            known,
            solutions,
            velocities,
        )
    info[SEARCHED] += 1.0
    info[SEVERAL] += 1.0 if count > 1 else 0.0
    info[UNCERTAIN] += 0.0 if complete and unresolved == 0 else 1.0
    info[SEARCH_WORK] += search_work
    state, draw = uniform(state)
    chosen = int(draw * count)
    if chosen >= known and count > 0:
        for i in range(push.shape[0]):
            push[i] = solutions[chosen, i]
            after[i] = velocities[chosen, i]
    return state, count
