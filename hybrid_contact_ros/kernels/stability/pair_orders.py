"""Whether the outcome depends on the order in which two contacts touch, of every state.

Both orders are followed (:mod:`.impact_chain`) with friction and restitution, together with the contacts that are
closed now, and after the impacts of those that are predicted to land before both. The kinetic distance between the
outcomes over the larger jump is the margin. In contact space that needs no inertia:
‖v_a − v_b‖²_M = (Λ_a − Λ_b)ᵀ (u_a − u_b).

Impacts are homogeneous in the velocities and in the masses. Both are scaled by powers of two, which changes no digit of
a margin, so that none over- or underflows.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from hybrid_contact_ros.codes import EventKind, Flag, Status
from hybrid_contact_ros.kernels.compiling import kernel
from hybrid_contact_ros.kernels.modes.records import Array
from hybrid_contact_ros.kernels.stability.chain_impact import leave_pulling
from hybrid_contact_ros.kernels.stability.chain_records import ChainLog, ChainProblem, ChainScratch, ChainState
from hybrid_contact_ros.kernels.stability.impact_chain import follow_chain, resting_speed, start_chain

Codes = NDArray[np.uint8]
Indices = NDArray[np.int64]

_TOUCHDOWN = int(EventKind.TOUCHDOWN)
_HOLDS, _FAILS, _CUT = int(Flag.HOLDS), int(Flag.FAILS), int(Flag.CUT)
_SOLVED, _STEP_LIMIT, _INACCURATE = int(Status.SOLVED), int(Status.STEP_LIMIT), int(Status.INACCURATE)

IMPACTS = 6
"""Impacts of a chain at most; a pair whose chain is longer is CUT."""
ORDERS_WORK = 130.0
"""Work, by :func:`_work`, after which no further pair of a state is begun; those that are left are CUT. The six pairs
of four feet that land one after the other take 139, or 129 without the least one."""
LARGEST_WORK = 4.0 * ORDERS_WORK
"""A pair that would take more is CUT."""
VECTORS = 18
"""Rows of ``PairScratch.numbers``."""
_EARLIER = 1e-6  # s; a contact whose touchdown is predicted by less than this before others lands with them
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
    times, kinds = problem.next_times, problem.next_kind
    count = 0
    for i in range(m):
        if not (problem.closed[i] or kinds[i] == _TOUCHDOWN):
            continue
        for j in range(i + 1, m):
            if problem.closed[j] or kinds[j] == _TOUCHDOWN:
                land = not problem.closed[i] and not problem.closed[j]
                either = land and times[i, 1] <= times[j, 2] and times[j, 1] <= times[i, 2]
                out.contacts[0, count], out.contacts[1, count] = i, j
                out.flags[count], out.margins[count] = (_CUT, math.nan) if either else (_FAILS, 0.0)
                count += 1
    # The work is for the pairs that land soonest: they come first, and little has landed before them.
    work_left = ORDERS_WORK
    first = _next_landing(-1, problem)
    while first >= 0 and work_left > 0.0:
        second = _next_landing(first, problem)
        while second >= 0 and work_left > 0.0:
            i, j = min(first, second), max(first, second)
            place = _place(i, j, problem)
            if out.flags[place] == _CUT:
                resting, landed = _take_part(i, j, problem, scratch.which)
                work = _work(resting, landed)
                if work <= LARGEST_WORK:
                    out.flags[place], out.margins[place] = _compare(2 + resting, landed, settings, problem, scratch)
                    work_left -= work
            second = _next_landing(second, problem)
        first = _next_landing(first, problem)
    return count


@kernel
def _next_landing(last, problem):
    """The contact that is predicted to land next after contact ``last``, of several at once in the order of their
    indices; the first one for −1, and −1 after the last one."""
    times, found = problem.next_times, -1
    for k in range(problem.friction.shape[0]):
        if problem.closed[k] or problem.next_kind[k] != _TOUCHDOWN:
            continue
        later = last < 0 or times[k, 0] > times[last, 0] or (times[k, 0] == times[last, 0] and k > last)
        if later and (found < 0 or times[k, 0] < times[found, 0]):
            found = k
    return found


@kernel
def _place(i, j, problem):
    """Where the pair (i, j), i < j, stands in the list."""
    before, between, parts = 0, 0, 0
    for k in range(problem.friction.shape[0]):
        if problem.closed[k] or problem.next_kind[k] == _TOUCHDOWN:
            parts += 1
            before += k < i
            between += i < k < j
    return before * parts - before * (before + 1) // 2 + between


@kernel
def _take_part(i, j, problem, which):
    """Write the contacts that take part in the impacts of i and j: these two, the closed ones, and those that are
    predicted to land before both, in the order of their times.

    Returns:
        How many are closed, and how many land before.
    """
    times = problem.next_times
    which[0], which[1] = i, j
    m = 2
    for k in range(problem.friction.shape[0]):
        if problem.closed[k]:
            which[m] = k
            m += 1
    resting = m - 2
    soonest = min(times[i, 0], times[j, 0]) - _EARLIER
    for k in range(problem.friction.shape[0]):
        if not problem.closed[k] and problem.next_kind[k] == _TOUCHDOWN and times[k, 0] < soonest:
            place = m
            while place > 2 + resting and times[k, 0] < times[which[place - 1], 0]:
                which[place] = which[place - 1]
                place -= 1
            which[place] = k
            m += 1
    return resting, m - 2 - resting


@kernel
def _work(resting, landed):
    """What the impacts of a pair take: the sum of their squared numbers of contacts, as of sweeps over these."""
    total = 0.0
    for k in range(1, landed + 3):
        total += (resting + k) ** 2 * (1.0 if k <= landed else 2.0)
    return total


@kernel
def _power_of_two(size):
    """The power of two that brings a size to between a half and one; 1 for a size of 0 or none that is finite."""
    if not 0.0 < size < math.inf:
        return 1.0
    _, exponent = math.frexp(size)
    return math.ldexp(1.0, -max(-1000, min(1000, exponent)))


@kernel
def _compare(first_landed, landed, settings, problem, scratch):
    """Follow both orders of the first two contacts of ``scratch.which``, after the ``landed`` ones have touched, which
    stand from ``first_landed`` on; returns (flag, margin).

    What does not take part has no rows, so that a smaller problem is solved.
    """
    d, x, bytes, G = settings.d, scratch.numbers, scratch.bytes, scratch.matrix
    m = first_landed + landed
    n = m * (1 + d)
    chain = ChainProblem(
        d, IMPACTS, settings.steps, settings.solve_tolerance, G, x[0][:n], x[1][:m], x[2][:m]
    )  # fmt: skip
    before, times, closed = x[3][:n], x[4][:m], bytes[0][:m]
    memory = ChainScratch(
        scratch.A, scratch.work, scratch.order, bytes[1][:m], bytes[2][:m], bytes[3][:m], scratch.slip[:m],
        scratch.state[:m], x[5][:n], x[6][:n], x[7][:n], x[8][:n], x[9][:n], x[10][:n], x[15][:m],
    )  # fmt: skip
    state = ChainState(bytes[4][:m], x[11][:m], x[12][:n], x[13][:n])
    first_velocity, first_impulse, gaps = x[14][:n], x[16][:n], x[17][:m]
    unlogged = ChainLog(bytes[:0], bytes[:0])
    _take_rows(m, first_landed, problem, scratch.which, chain, before, closed, memory.smooth)
    if landed > 0:
        for a in range(m):
            times[a] = float(a) if a >= first_landed else math.inf
        start_chain(d, closed, times, before, state)
        earlier = ChainProblem(
            d, IMPACTS + landed, settings.steps, settings.solve_tolerance, G, chain.b, chain.friction, chain.restitution
        )  # fmt: skip
        resting = resting_speed(before)
        code, _, _ = follow_chain(0, resting, earlier, memory, state, unlogged)
        if code != _SOLVED:
            return _CUT, math.nan
        leave_pulling(resting, earlier, memory, state)
        for k in range(n):
            before[k] = state.velocity[k]
        for a in range(m):  # the pair follows as these followed each other, one unit of time later
            closed[a], gaps[a] = state.on[a], state.gap[a] + state.velocity[a * (1 + d)]
    resting = resting_speed(before)
    jump, between = 0.0, 0.0
    status = _SOLVED
    for a in range(m):
        times[a] = math.inf
    for swapped in (False, True):
        times[0], times[1] = (1.0, 0.0) if swapped else (0.0, 1.0)
        start_chain(d, closed, times, before, state)
        for a in range(first_landed, m):  # one that has bounced may be thrown back
            if not closed[a]:
                state.gap[a] = gaps[a]
        code, _, _ = follow_chain(0, resting, chain, memory, state, unlogged)
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
        return _CUT, margin
    if status != _SOLVED:
        return _CUT, math.nan  # an impact that little work does not solve
    return _HOLDS if margin > settings.tolerance else _FAILS, margin


@kernel
def _take_rows(m, first_landed, problem, which, chain, before, closed, smooth):
    """Write the contacts ``which`` (m of them) into the problem of their impacts, scaled, with the velocities when the
    sooner one of the pair touches."""
    d, G = chain.d, chain.G
    w = 1 + d
    soonest = min(problem.next_times[which[0], 0], problem.next_times[which[1], 0])
    fastest, softest = 0.0, 0.0
    for a in range(m):
        k = which[a]
        chain.friction[a], chain.restitution[a] = problem.friction[k], problem.restitution[k]
        smooth[a] = 0.0
        closed[a] = 2 <= a < first_landed
        for c in range(w):
            r = a * w + c
            chain.b[r] = problem.b[k * w + c]
            before[r] = problem.velocity[k * w + c] + soonest * problem.accelerations[k, c]
            fastest = max(fastest, abs(before[r]))
            softest = max(softest, problem.G[k * w + c, k * w + c])
        if closed[a]:
            before[a * w] = 0.0
    fast, soft = _power_of_two(fastest), _power_of_two(softest)
    for a in range(m):
        k = which[a]
        for c in range(w):
            r = a * w + c
            before[r] *= fast
            for e in range(m):
                for f in range(w):
                    G[r, e * w + f] = soft * problem.G[k * w + c, which[e] * w + f]
