"""All that a set of samples needs before the first one, from the robot's matrices at the impact: one call."""

from __future__ import annotations

import math
from typing import NamedTuple

from hybrid_contact_ros.codes import Status
from hybrid_contact_ros.kernels.compiling import kernel
from hybrid_contact_ros.kernels.impacts.folding import fold
from hybrid_contact_ros.kernels.impacts.friction_axes import Array, add_impulse, expand, friction_axes, prepare
from hybrid_contact_ros.kernels.impacts.increment import TOLERANCE, simultaneous
from hybrid_contact_ros.kernels.impacts.orientation import coherent
from hybrid_contact_ros.kernels.impacts.records import Integers
from hybrid_contact_ros.kernels.impacts.residual import increment_residual

SOLVED, INACCURATE = int(Status.SOLVED), int(Status.INACCURATE)
_ROUNDING = 1e-12  # a slip slower than this part of Σ|J_t||v| is rounding of zero, and has no direction
_LARGEST_UNIT = 100.0  # the unit of increments is at most this many times the largest impulse of a contact alone
_LAST_STEP = 0.05  # ε of Algorithm 2, scaled


class PlanSettings(NamedTuple):
    """What does not depend on the state."""

    directions: int  # k, vertices of the friction polygon
    step: float  # bound of an impulse increment, in units of the largest impulse of a contact
    pieces: int  # of the map that are looked at to prove that solutions are unique
    modes: int  # that are looked at for a fold, where that was not proven


class Touching(NamedTuple):
    """The contacts of the impact."""

    corners: Integers  # (m,), their rows among those of the robot
    friction: Array  # (m,), μ
    highest: Array  # (m,), the largest μ of the samples


class Robot(NamedTuple):
    """The robot at the instant of impact, with all its contacts."""

    mass: Array  # M (n, n)
    rows: Array  # J (contacts, 1 + d, n), normal first
    velocity: Array  # v⁻ (n,)


class PlanScratch(NamedTuple):
    """Scratch; p = m (1 + g), r = m (1 + d)."""

    tableau: Array  # as of increment()
    lines: Array  # likewise
    chosen: Array  # (r, n): J of the contacts, tangents turned along the slip
    vectors: Array  # (3, ≥ max(p, r))
    impulse: Array  # (m, 1 + d)
    pieces_left: Array  # (m + 1, p, ≥ p)
    squares: Array  # (3, p, p)
    states: Integers  # (5, p)


class PlanOut(NamedTuple):
    """The walk of the samples (:class:`.records.Walk`), and the outcome of all contacts at once."""

    per_step: Array  # (m,), scaled
    last_step: Array  # (m,), scaled
    nominal: Array  # v⁺ (n,)


@kernel
def impulse_unit(largest, speed, g, scale, w):
    """The largest impulse (N s) of a contact, stopped alone or with all others; 0 if none approaches.

    A corner of a humanoid's foot that is stopped alone meets little but the foot: with steps of that size a sample took
    a hundred increments and more, and ten with the impulses of corners that stop the robot together. Where contacts
    jam, the impulses together have no bound, and the one alone limits them.

    Args:
        largest: normal impulse of a contact with all others; 0 if unknown. speed: V. scale (m,), w (p,): of
            :class:`.AxesProblem`.
    """
    alone = 0.0
    for k in range(scale.shape[0]):
        alone = max(alone, -w[k * (1 + g)] * speed / scale[k])
    return min(max(alone, largest), _LARGEST_UNIT * alone)


@kernel
def last_cap(H, friction):
    """Cap ε/(3ψ), scaled, of the increment that ends a sample of Algorithm 2 (line 5). friction: μ (m,)."""
    trace = 0.0
    for i in range(H.shape[0]):
        trace += H[i, i]
    most = 0.0
    for k in range(friction.shape[0]):
        most = max(most, friction[k])
    stretch = math.sqrt(trace)  # ≥ σ_max of L⁻¹ Jᵀ, scaled
    return _LAST_STEP / (3.0 * (stretch * friction.shape[0] * (1.0 + most) + 1.0))


@kernel
def _choose(touching, robot, chosen):
    """Write the rows of the contacts that touch to ``chosen``, the first tangent of each turned along its slip."""
    rows, v = robot.rows, robot.velocity
    height = rows.shape[1]
    n = v.shape[0]
    for k in range(touching.corners.shape[0]):
        i = touching.corners[k]
        a = k * height
        for x in range(height):
            for y in range(n):
                chosen[a + x, y] = rows[i, x, y]
        if height < 3:
            continue
        one = two = size_one = size_two = 0.0
        for y in range(n):
            part = rows[i, 1, y] * v[y]
            one += part
            size_one += abs(part)
            part = rows[i, 2, y] * v[y]
            two += part
            size_two += abs(part)
        slip = math.sqrt(one * one + two * two)
        if slip > _ROUNDING * math.sqrt(size_one * size_one + size_two * size_two):
            one /= slip
            two /= slip
            for y in range(n):
                chosen[a + 1, y] = one * rows[i, 1, y] + two * rows[i, 2, y]
                chosen[a + 2, y] = one * rows[i, 2, y] - two * rows[i, 1, y]


@kernel
def plan_set(
    # settings:
    directions, step, pieces, modes,
    # touching:
    corners, friction, highest,
    # robot:
    mass, rows, velocity,
    # response:
    L, Y, R, G, u,
    # axes problem:
    A, scale, H, w, c,
    # scratch:
    tableau, lines, chosen, vectors, impulse, pieces_left, squares, states,
    # out:
    per_step, last_step, nominal,
):  # fmt: skip
    """Prepare the samples of one impact, whose velocity is v⁻.

    The tangents of each contact are turned so that the first is along its slip
    (:func:`hybrid_contact_ros.mechanics.slip_axes.along_slip`), the problem is brought on friction axes, the impact of
    all contacts at once without restitution is solved (Halm (31)) and checked by its residual, and it is looked into
    whether increments may have several solutions.

    Args:
        The members of :class:`PlanSettings`, :class:`Touching`, :class:`Robot`, :class:`.Response` (out),
        :class:`.AxesProblem` (out, with the bounds c of the highest friction), :class:`PlanScratch` and
        :class:`PlanOut`.

    Returns:
        (status of M, status of the nominal outcome, its residual, V (√J), unit of the increments (N s), the answer of
        :func:`.coherent`, that of :func:`.fold`).
    """
    _choose(Touching(corners, friction, highest), Robot(mass, rows, velocity), chosen)
    status, speed = prepare(directions, mass, chosen, velocity, friction, L, Y, R, G, u, A, scale, H, w, c)
    m = friction.shape[0]
    g = A.shape[0]
    p = w.shape[0]
    for i in range(velocity.shape[0]):
        nominal[i] = velocity[i]
    for k in range(m):
        per_step[k] = 0.0
        last_step[k] = 0.0
    if status != SOLVED:
        return status, status, 0.0, 0.0, 0.0, -1, -1
    code = status
    residual = 0.0
    largest = 0.0
    if m > 0 and speed > 0.0:
        z, after, cap = vectors[0, :p], vectors[1, :p], vectors[2, :m]
        code, residual, _ = simultaneous(g, H, w, cap, c, tableau, lines, z, after)
        expand(A, scale, speed, z, impulse)
        add_impulse(R, impulse, nominal)
        for k in range(m):
            cap[k] = math.inf
        residual = increment_residual(directions, G, u, friction, cap, speed, impulse, vectors[1, : u.shape[0]])
        if code == SOLVED and not residual <= 10 * TOLERANCE:
            code = INACCURATE
        if code == SOLVED:
            for k in range(m):
                largest = max(largest, impulse[k, 0])
    half = friction_axes(directions, A)
    for k in range(m):
        c[k] = highest[k] * half
    unit = impulse_unit(largest, speed, g, scale, w)
    if m > 0 and speed > 0.0:
        increment = (step * unit if unit > 0.0 else 1.0) / speed
        closing = last_cap(H, highest)
        for k in range(m):
            per_step[k] = scale[k] * increment
            last_step[k] = closing
    unique = coherent(g, pieces, H, c, pieces_left, states)
    folds = fold(g, 0 if unique == 1 else modes, H, c, squares[0], squares[1], squares[2], states)
    return status, code, residual, speed, unit, unique, folds
