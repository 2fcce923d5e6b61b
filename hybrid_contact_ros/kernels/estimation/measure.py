"""What one state says of the contacts: contact space, velocities, uncertainty, and the rate of momentum.

Of what was before, only the feet that stood are heard, and only where the velocity of the base is uncertain."""

from __future__ import annotations

import math
from typing import NamedTuple

from hybrid_contact_ros.codes import Status
from hybrid_contact_ros.kernels.compiling import kernel
from hybrid_contact_ros.kernels.estimation.contact_quantities import contact_rates, write_rates
from hybrid_contact_ros.kernels.estimation.effort_correction import EffortCorrection, correct_efforts
from hybrid_contact_ros.kernels.estimation.records import Array
from hybrid_contact_ros.kernels.estimation.standing_feet import MOVED, moved_speed, steady_base
from hybrid_contact_ros.kernels.given import members
from hybrid_contact_ros.kernels.mechanics.contact_space import contact_space
from hybrid_contact_ros.kernels.mechanics.joint_motion import momentum_rate

_SOLVED = int(Status.SOLVED)
QUATERNION_TOLERANCE = 1e-3
"""A base quaternion may differ from unit length by this much: far above the rounding of float32."""
USABLE, NOT_UNIT, NOT_DEFINITE = range(3)
"""What :func:`measure` says of a state: it can be used, its base quaternion is not of unit length, or M is not positive
definite."""


class MeasureSettings(NamedTuple):
    """Constants of :func:`measure`."""

    gap_sigma: float  # m, velocity_sigma: m/s; configured standard deviations of a gap and of its rate
    velocity_sigma: float
    with_momentum: bool  # whether anybody reads the momentum and its rate
    floating_base: bool  # whether q has the base's quaternion from its fourth entry on
    share: float  # N, weight by contact
    rest_speed: float  # m/s, standard deviation of the velocity of a contact that stands


class MeasuredState(NamedTuple):
    """The problem of the state; the first members are those of ``ProblemOut`` and ``RowsOut``."""

    configuration: Array  # q of the tree (nq,)
    mass: Array  # in and out, M (nv, nv)
    bias: Array  # in and out, h − Sᵀτ (nv,)
    twist: Array  # (n, 12)
    rows: Array  # J (m, 3, nv)
    flat_rows: Array  # the same as (3 m, nv)
    velocity: Array  # v (nv,)
    effort: Array  # in and out, Sᵀτ (nv,)
    dt: float  # s since the last state that was answered, 0 without
    has_effort: bool
    has_covariance: bool  # of the base, which then has the first six coordinates
    covariance: Array  # (2, 6, 6), as of RobotState


class Measurement(NamedTuple):
    """What :func:`measure` writes; n = 3 m."""

    L: Array  # (nv, nv), Cholesky factor of M
    half: Array  # (n + 1, nv), rows L⁻¹Jᵀ, then L⁻¹ bias
    G: Array  # (n, n), Delassus matrix, 1/kg
    unforced: Array  # −J M⁻¹ bias (n,), m/s²: contact accelerations without contact forces, less the drift
    no_drift: Array  # (n,), zeros
    contact_velocity: Array  # u = J v (m, 3), m/s, normal first
    flat_velocity: Array  # the same as (n,)
    gap_velocity: Array  # φ̇ (m,), m/s, as the next two with the base's velocity that standing feet tell
    tangential: Array  # (m, 3), m/s, along the surface, world frame
    slip_speed: Array  # (m,), m/s
    gap_sigmas: Array  # (m,), m, standard deviations of φ
    velocity_sigmas: Array  # (m,), m/s, of φ̇ and of the velocity along the surface, the largest of them
    momentum: Array  # M v (nv,)
    rate: Array  # Cᵀv − g (nv,)


@kernel
def measure(
    # settings:
    gap_sigma, velocity_sigma, with_momentum, floating_base, share, rest_speed, tangents,
    # tree:
    parent, first, size, lead, ratio,
    # bodies:
    inertia, gravity,
    # Pinocchio:
    columns, placement,
    # correction:
    active, applied, added, drives, unsure, late, slow, effort_rate,
    # feet:
    stood, pressed, pressed_weight, believed, stands, base,
    # state:
    configuration, mass, bias, twist, rows, flat_rows, velocity, effort, dt, has_effort, has_covariance, covariance,
    # scratch:
    carried,
    # out:
    L, half, G, unforced, no_drift, contact_velocity, flat_velocity, gap_velocity, tangential, slip_speed,
    gap_sigmas, velocity_sigmas, momentum, rate,
):  # fmt: skip
    """Correct efforts and mass as far as their errors are known, factor M, and write everything of the contacts that
    depends on this state alone, but for the velocity of an uncertain base (:mod:`.standing_feet`).

    Args: the members of MeasureSettings, JointTree, BodyInertia, EffortCorrection, StandingFeet, MeasuredState and
        Measurement;
        ``columns`` and ``placement`` of JointState.
        tangents: (m, 2, 3), world frame. carried: scratch, (n, 10).

    Returns:
        USABLE, or why the state is not; nothing but scratch was written then.
    """
    if floating_base:
        square = 0.0
        for k in range(3, 7):
            square += configuration[k] * configuration[k]
        if not abs(math.sqrt(square) - 1.0) <= QUATERNION_TOLERANCE:
            return NOT_UNIT
    for k in range(drives.shape[0]):
        drives[k] = 0.0
    if active[0] and has_effort:
        correction = EffortCorrection(active, applied, added, drives, unsure, late, slow, effort_rate)
        correct_efforts(dt, velocity, effort, bias, mass, correction)
    if contact_space(mass, bias, flat_rows, no_drift, L, half, G, unforced) != _SOLVED:
        return NOT_DEFINITE
    contact_rates(tangents, rows, velocity, contact_velocity, gap_velocity, tangential, slip_speed)
    if has_covariance:
        steady_base(
            share, rest_speed, rows, contact_velocity, covariance[1], stood, pressed, pressed_weight, believed, stands,
            base,
        )  # fmt: skip
    for i in range(gap_sigmas.shape[0]):
        gap_sigmas[i] = gap_sigma
        velocity_sigmas[i] = velocity_sigma
        if has_covariance:
            gap_sigmas[i] = math.sqrt(gap_sigma * gap_sigma + _variance(rows[i, 0], covariance[0]))
            most = max(_variance(rows[i, 0], base), _variance(rows[i, 1], base), _variance(rows[i, 2], base))
            velocity_sigmas[i] = math.sqrt(velocity_sigma * velocity_sigma + most)
            u, x, y = (
                moved_speed(rows[i, 0], contact_velocity[i, 0], base[MOVED]),
                moved_speed(rows[i, 1], contact_velocity[i, 1], base[MOVED]),
                moved_speed(rows[i, 2], contact_velocity[i, 2], base[MOVED]),
            )
            write_rates(i, u, x, y, tangents, gap_velocity, tangential, slip_speed)
    if with_momentum:
        for i in range(momentum.shape[0]):
            momentum[i] = 0.0
            for j in range(momentum.shape[0]):
                momentum[i] += mass[i, j] * velocity[j]
        momentum_rate(parent, first, size, lead, ratio, inertia, gravity, columns, placement, twist, carried, rate)
    return USABLE


@kernel
def measure_given(before, dt, has_effort, has_covariance, covariance, after):
    """:func:`measure`; ``before`` and ``after`` hold its arguments before and after those that are named here."""
    return measure(*members(before), dt, has_effort, has_covariance, covariance, *members(after))


@kernel
def _variance(row, covariance):
    """The variance that the base's covariance (≥ 6, 6) gives to a contact with the row (nv,), to first order."""
    total = 0.0
    for i in range(6):
        for j in range(6):
            total += row[i] * covariance[i, j] * row[j]
    return max(total, 0.0)
