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
from hybrid_contact_ros.kernels.stability.impact_chain import (
    ChainLog,
    ChainProblem,
    ChainScratch,
    ChainState,
    follow_chain,
    resting_speed,
    start_chain,
)

Codes = NDArray[np.uint8]
Indices = NDArray[np.int64]

_TOUCHDOWN = int(EventKind.TOUCHDOWN)
_HOLDS, _FAILS, _CUT = int(Flag.HOLDS), int(Flag.FAILS), int(Flag.CUT)
_SOLVED, _STEP_LIMIT, _INACCURATE = int(Status.SOLVED), int(Status.STEP_LIMIT), int(Status.INACCURATE)

IMPACTS = 6
"""Impacts of a chain at most; a pair whose chain is longer is CUT."""
ORDERS_WORK = 16_000.0
"""Multiplications that all pairs of a state may take; pairs that are not reached then are CUT."""
VECTORS = 14
"""Rows of ``PairScratch.numbers``."""
BYTES = 5 + 2 * IMPACTS
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
    """Follow both orders of contacts i and j; returns (flag, margin, multiplications)."""
    d, numbers, bytes = settings.d, scratch.numbers, scratch.bytes
    w = 1 + d
    n = problem.velocity.shape[0]
    m = n // w
    before, times = numbers[0], numbers[1][:m]
    first_velocity, first_impulse, velocity, impulse = numbers[2], numbers[3], numbers[4], numbers[5]
    gap = numbers[6][:m]
    closed, on = bytes[0], bytes[1]
    memory = ChainScratch(
        scratch.A, scratch.work, scratch.order, bytes[2], bytes[3], bytes[4], scratch.slip, scratch.state, numbers[7],
        numbers[8], numbers[9], numbers[10:12], numbers[12], numbers[13][:m],
    )  # fmt: skip
    chain = ChainProblem(
        d, settings.steps, settings.solve_tolerance, problem.G, problem.b, problem.friction, problem.restitution
    )
    log = ChainLog(bytes[5 : 5 + IMPACTS], bytes[5 + IMPACTS : 5 + 2 * IMPACTS])
    soonest = min(problem.next_times[i, 0], problem.next_times[j, 0])
    rows = 2.0 * w
    for k in range(m):
        for c in range(w):
            before[k * w + c] = problem.velocity[k * w + c] + soonest * problem.accelerations[k, c]
        closed[k] = problem.closed[k]
        times[k] = math.inf
        numbers[13][k] = 0.0
        if problem.closed[k]:
            before[k * w] = 0.0
            rows += w
    resting = resting_speed(before)
    made = 0.0
    jump = 0.0
    status = _SOLVED
    for swapped in (False, True):
        times[i], times[j] = (1.0, 0.0) if swapped else (0.0, 1.0)
        if swapped:
            for k in range(n):
                first_velocity[k], first_impulse[k] = velocity[k], impulse[k]
        state = ChainState(on, gap, velocity, impulse)
        start_chain(d, closed, times, before, state)
        code, impacts, _ = follow_chain(0, resting, chain, memory, state, log)
        made += impacts * (n * n + 2.0 * rows * rows * rows)
        if code != _SOLVED and status != _INACCURATE:
            status = code
        size = 0.0
        for k in range(n):
            size += impulse[k] * (velocity[k] - before[k])
        jump = max(jump, size)
    between = 0.0
    for k in range(n):
        between += (impulse[k] - first_impulse[k]) * (velocity[k] - first_velocity[k])
    margin = math.sqrt(max(between, 0.0) / jump) if jump > 0.0 else 0.0
    if status == _STEP_LIMIT:
        return _CUT, margin, made
    if status != _SOLVED:
        return _CUT, math.nan, made  # an impact that little work does not solve
    return _HOLDS if margin > settings.tolerance else _FAILS, margin, made
