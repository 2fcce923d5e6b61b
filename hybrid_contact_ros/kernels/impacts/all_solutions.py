"""Every solution of an increment LCP, Halm (72)–(75), by depth-first search over the modes of the contacts.

A mode of all contacts (:mod:`.increment_modes`) leaves a linear system (:mod:`.increment_system`), so that the
solutions are those of the modes whose system has a feasible solution. The search decides contact by contact and
eliminates what is decided; interval arithmetic on the decided conditions cuts most branches near the root. It loses
nothing: a completed search has seen every solution whose system is regular, and both ends of every line of solutions.
Consistent systems with more freedom than a line are counted as unresolved, for the solutions may form continua there.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from hybrid_contact_ros.kernels.compiling import kernel
from hybrid_contact_ros.kernels.impacts.increment_modes import (
    FEASIBLE,
    decide,
    decode,
    effort,
    possible,
    root_modes,
)
from hybrid_contact_ros.kernels.impacts.increment_system import may_hold, segment, solve_mode
from hybrid_contact_ros.kernels.impacts.records import IncrementProblem
from hybrid_contact_ros.kernels.impacts.residual import axes_residual

Array = NDArray[np.float64]
Indices = NDArray[np.int64]

_ACCEPT = 1e-9  # residual of a solution
_SAME = 1e-8  # scaled velocities closer than this are one outcome
_FARTHEST = 1e3  # scaled impulse beyond which lines of solutions are not followed
_GOLDEN = 0.6180339887498949  # its multiples, modulo 1, spread evenly
_BEGINNINGS = 1024  # different points inside of lines that ``turn`` can ask for


class SearchBudget(NamedTuple):
    """When a search ends, and where it begins."""

    limit: float  # units of work (:func:`.effort`), half of which the modes that a contact may have at all can take
    afford: float  # units at which the caller gives its sample up; a search that ends before does not depend on it
    most: int  # solutions to stop at
    turn: int  # ≥ 0: where the search begins among the modes; unless it is 0, one point inside each line is taken too


class SearchTree(NamedTuple):
    """Scratch of a search: the expressions after each decision, one system, and what was decided."""

    T: Array  # (m + 1, p, p + 1)
    A: Array  # (p + 1, p + 1); its last row is the direction of a line of solutions
    ints: Indices  # (5, p)
    modes: Indices  # (m, any; 2 + 2·3^g for all of a contact's modes)


class SearchOut(NamedTuple):
    """Solutions found."""

    unresolved_states: Indices  # (any, p): the states of the first unresolved modes
    known: int  # solutions that z and after hold already
    z: Array  # (> most + 2, p): impulses
    after: Array  # (> most + 2, p): velocities w' = w + H z


@kernel(forceinline=True)
def is_apart(count, after):
    """Whether velocity after[count] is none of the first ``count``."""
    for other in range(count):
        apart = 0.0
        for i in range(after.shape[1]):
            apart = max(apart, abs(after[other, i] - after[count, i]))
        if apart <= _SAME:
            return False
    return True


@kernel
def is_new(g, H, w, cap, c, count, z, after):
    """Whether z[count] is a solution with a velocity that the first ``count`` do not have; after[count]: out."""
    if not axes_residual(g, H, w, cap, c, z[count], after[count]) <= _ACCEPT:
        return False
    return is_apart(count, after)


@kernel
def add_line(problem, states, limits, inside, count, line, z, after):
    """Add the ends, and perhaps a point inside, of the line of solutions z[count] + t line to the solutions.

    inside: where between the ends that point is, from 0 to 1. Returns (solutions, whether the velocity changes along
    the line).
    """
    g, H, w, cap, c = problem.g, problem.H, problem.w, problem.cap, problem.c
    p = w.shape[0]
    lo, hi, moving = segment(g, H, w, cap, c, states, z[count], line)
    if lo > hi + FEASIBLE:
        return count, False
    lo = max(lo, -_FARTHEST)
    hi = min(hi, _FARTHEST)
    points = 1
    continuum = moving and hi - lo > FEASIBLE
    if continuum:
        points = 2 if limits.turn == 0 else 3
    base = z.shape[0] - 1
    for i in range(p):
        z[base, i] = z[count, i]
    for point in range(points):
        along = lo if point == 0 else (hi if point == 1 else lo + inside * (hi - lo))
        if points == 1:
            along = 0.5 * (lo + hi)
        for i in range(p):
            z[count, i] = z[base, i] + along * line[i]
        if count < limits.most and is_new(g, H, w, cap, c, count, z, after):
            count += 1
    return count, continuum


@kernel
def search(
    g,
    # limits:
    limit,
    afford,
    most,
    turn,
    # problem:
    H,
    w,
    cap,
    c,
    # scratch:
    T,
    A,
    ints,
    modes,
    # in and out:
    unresolved_states,
    known,
    z,
    after,
):
    """Find all solutions with different velocities w' = w + H z.

    Args:
        g, H, w, cap, c: :class:`.IncrementProblem`. limit, afford, most, turn: :class:`SearchBudget`; what a search
            that reaches its limit has seen, and the points inside of lines, depend on ``turn``.
        T, A, ints, modes: :class:`SearchTree`. unresolved_states, known, z, after: :class:`SearchOut`.

    Returns:
        (solutions, units of work, continua, unresolved, complete): ``continua`` counts the lines along which the
        velocity changes, whose ends are among the solutions; ``unresolved`` the consistent systems with more freedom.
    """
    problem = IncrementProblem(g, H, w, cap, c)
    limits = SearchBudget(limit, afford, most, turn)
    p = w.shape[0]
    m = cap.shape[0]
    n = 1 + g
    states = ints[0]
    rows = ints[1]
    at = ints[2]  # which of its modes the contact at each level is in
    order = ints[3]
    place = ints[4, :m]
    line = A[p]
    count = known
    continua = 0
    unresolved = 0
    inside = 0.0
    for _ in range(turn % _BEGINNINGS):
        inside += _GOLDEN
        if inside >= 1.0:
            inside -= 1.0
    for i in range(p):
        for j in range(p):
            T[0, i, j] = H[i, j]
        T[0, i, p] = w[i]
    node = effort(g, p)
    leaf = max(1.0, node * p / (3.0 * n))
    share = 1 + int(min(0.5 * limit / (node * max(m, 1)), modes.shape[1] - 2.0))  # so that every contact has some
    looked, whole = root_modes(turn, share, problem, T, states, place, order, modes)
    spent = node * looked
    blind = m  # level of the first small pivot; behind it the expressions are not known
    level = 0
    at[0] = 0
    while level >= 0 and m > 0:
        k = order[level]
        if at[level] == modes[k, 0]:
            level -= 1
            if level >= 0:
                at[level] += 1
            continue
        if spent >= limit or spent >= afford or count >= most:
            return count, spent, continua, unresolved, False
        spent += node
        decode(g, modes[k, 1 + at[level]], c[k], states, k * n)
        if blind >= level:
            blind = m
        if blind == m and decide(g, k, level, place, cap[k], c[k], states, T[level], T[level + 1]) == 0:
            blind = level
        dead = False
        if blind == m:
            for q in range(level, -1, -1):
                if not possible(g, order[q], level, place, cap, c, states, T[level + 1]):
                    dead = True
                    break
        if dead:
            at[level] += 1
            continue
        if level < m - 1:
            level += 1
            at[level] = 0
            continue
        at[level] += 1
        spent += leaf
        free = solve_mode(g, H, w, cap, c, states, rows, A, z[count])
        if free == 0:
            if is_new(g, H, w, cap, c, count, z, after):
                count += 1
        elif free == 1:
            count, continuum = add_line(problem, states, limits, inside, count, line, z, after)
            continua += 1 if continuum else 0
        elif free > 1 and may_hold(g, H, w, cap, c, states, z[count], line, after[count]):
            if unresolved < unresolved_states.shape[0]:
                for i in range(p):
                    unresolved_states[unresolved, i] = states[i]
            unresolved += 1
    return count, spent, continua, unresolved, whole
