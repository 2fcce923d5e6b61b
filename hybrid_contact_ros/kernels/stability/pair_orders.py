"""Whether the outcome depends on the order in which two contacts touch, of every state.

Both orders are followed (:mod:`.impact_chain`) with the contacts that are closed now, friction and restitution; the
kinetic distance between the outcomes over the larger jump is the margin. In contact space that needs no inertia:
‖v_a − v_b‖²_M = (Λ_a − Λ_b)ᵀ (u_a − u_b).
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from hybrid_contact_ros.codes import EventKind, Flag, Status
from hybrid_contact_ros.kernels.compiling import kernel
from hybrid_contact_ros.kernels.modes.records import Array
from hybrid_contact_ros.kernels.stability.chain_records import ChainLog, ChainProblem, ChainScratch, ChainState
from hybrid_contact_ros.kernels.stability.impact_chain import follow_chain, resting_speed, start_chain

Codes = NDArray[np.uint8]
Indices = NDArray[np.int64]

_TOUCHDOWN = int(EventKind.TOUCHDOWN)
_HOLDS, _FAILS, _CUT = int(Flag.HOLDS), int(Flag.FAILS), int(Flag.CUT)
_SOLVED, _STEP_LIMIT, _INACCURATE = int(Status.SOLVED), int(Status.STEP_LIMIT), int(Status.INACCURATE)

IMPACTS = 6
"""Impacts of a chain at most; a pair whose chain is longer is CUT."""
ORDERS_WORK = 16_000.0
"""Multiplications that all pairs of a state may take; pairs that are not reached then are CUT."""
VECTORS = 17
"""Rows of ``PairScratch.numbers``."""
BYTES = 5
"""Rows of ``PairScratch.bytes``."""


class PairSettings(NamedTuple):
    """How pairs are decided."""

    d: int  # tangents per contact
    steps: int  # of operator splitting in an impact at most
    solve_tolerance: float  # of the scaled residual of an impact
    tolerance: float  # margin above which the order matters


class PairProblem(NamedTuple):
    """The contacts of one state: m of them, n = m (1 + d) rows."""

    G: Array  # (n, n), 1/kg: Delassus matrix
    b: Array  # (n,), m/s²: accelerations without contact forces
    friction: Array  # μ (m,)
    restitution: Array  # e (m,)
    velocity: Array  # J v (n,), m/s
    accelerations: Array  # (m, 1 + d), m/s²
    closed: Codes  # (m,)
    next_kind: Codes  # (m,), values of EventKind
    next_times: Array  # (m, 3), s: when the next event comes, earliest, latest


class PairScratch(NamedTuple):
    """Scratch of the chains."""

    A: Array  # (2 n + SPLITTING_ROWS, n), work and order: ModeScratch of the mode solvers
    work: Array  # (2, n)
    order: Indices  # (2 n,)
    slip: Array  # (m, d)
    state: Indices  # (m,)
    which: Indices  # (m,): contacts that take part
    matrix: Array  # (n, n): their part of G, in its first rows and columns
    numbers: Array  # (VECTORS, n)
    bytes: Codes  # (BYTES, m)


class PairsOut(NamedTuple):
    """The list of pairs."""

    contacts: NDArray[np.uint32]  # (2, m (m − 1) / 2)
    margins: Array  # (m (m − 1) / 2,)
    flags: Codes  # (m (m − 1) / 2,), values of Flag


@kernel
def pair_orders(settings, problem, scratch, out):
    """List the pairs of contacts that are closed or about to touch, and decide whether their order matters.

    That is decided for pairs of touchdowns whose bounds overlap. Of other pairs only one order is possible: they have
    margin 0, and FAIL.

    Returns:
        How many pairs there are.
    """
    m = problem.friction.shape[0]
    times = problem.next_times
    count = 0
    work_left = ORDERS_WORK
    for i in range(m):
        if not (problem.closed[i] or problem.next_kind[i] == _TOUCHDOWN):
            continue
        for j in range(i + 1, m):
            if not (problem.closed[j] or problem.next_kind[j] == _TOUCHDOWN):
                continue
            flag, margin = _FAILS, 0.0
            land = not problem.closed[i] and not problem.closed[j]
            if land and times[i, 1] <= times[j, 2] and times[j, 1] <= times[i, 2]:
                flag, margin = _CUT, math.nan
                if work_left > 0.0:
                    flag, margin, made = _compare(i, j, settings, problem, scratch)
                    work_left -= made
            out.contacts[0, count], out.contacts[1, count] = i, j
            out.flags[count], out.margins[count] = flag, margin
            count += 1
    return count


@kernel
def _compare(i, j, settings, problem, scratch):
    """Follow both orders of contacts i and j; returns (flag, margin, multiplications).

    What is neither of the two nor closed takes no part, so that a problem of fewer rows is solved.
    """
    d, x, bytes, which, G = settings.d, scratch.numbers, scratch.bytes, scratch.which, scratch.matrix
    w = 1 + d
    which[0], which[1] = i, j
    m = 2
    for k in range(problem.friction.shape[0]):
        if problem.closed[k]:
            which[m] = k
            m += 1
    n = m * w
    chain = ChainProblem(
        d, IMPACTS, settings.steps, settings.solve_tolerance, G, x[0][:n], x[1][:m], x[2][:m]
    )  # fmt: skip
    before, times, closed = x[3][:n], x[4][:m], bytes[0][:m]
    soonest = min(problem.next_times[i, 0], problem.next_times[j, 0])
    for a in range(m):
        k = which[a]
        chain.friction[a], chain.restitution[a] = problem.friction[k], problem.restitution[k]
        times[a], closed[a] = math.inf, a > 1
        x[15][a] = 0.0
        for c in range(w):
            r = a * w + c
            chain.b[r] = problem.b[k * w + c]
            before[r] = problem.velocity[k * w + c] + soonest * problem.accelerations[k, c]
            for e in range(m):
                for f in range(w):
                    G[r, e * w + f] = problem.G[k * w + c, which[e] * w + f]
        if closed[a]:
            before[a * w] = 0.0
    memory = ChainScratch(
        scratch.A, scratch.work, scratch.order, bytes[1][:m], bytes[2][:m], bytes[3][:m], scratch.slip[:m],
        scratch.state[:m], x[5][:n], x[6][:n], x[7][:n], x[8][:n], x[9][:n], x[10][:n], x[15][:m],
    )  # fmt: skip
    state = ChainState(bytes[4][:m], x[11][:m], x[12][:n], x[13][:n])
    first_velocity, first_impulse = x[14][:n], x[16][:n]
    unlogged = ChainLog(bytes[:0], bytes[:0])
    resting = resting_speed(before)
    made, jump, between = 0.0, 0.0, 0.0
    status = _SOLVED
    for swapped in (False, True):
        times[0], times[1] = (1.0, 0.0) if swapped else (0.0, 1.0)
        start_chain(d, closed, times, before, state)
        code, impacts, _ = follow_chain(0, resting, chain, memory, state, unlogged)
        made += impacts * (n * n + 2.0 * n * n * n)
        if code != _SOLVED and status != _INACCURATE:
            status = code
        size = 0.0
        for k in range(n):
            size += state.impulse[k] * (state.velocity[k] - before[k])
            if swapped:
                between += (state.impulse[k] - first_impulse[k]) * (state.velocity[k] - first_velocity[k])
            else:
                first_velocity[k], first_impulse[k] = state.velocity[k], state.impulse[k]
        jump = max(jump, size)
    margin = math.sqrt(max(between, 0.0) / jump) if jump > 0.0 else 0.0
    if status == _STEP_LIMIT:
        return _CUT, margin, made
    if status != _SOLVED:
        return _CUT, math.nan, made  # an impact that little work does not solve
    return _HOLDS if margin > settings.tolerance else _FAILS, margin, made
