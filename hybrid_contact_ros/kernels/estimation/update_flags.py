"""The stability flags of an update, and the pairs of contacts whose order of impact changes the outcome."""

from __future__ import annotations

import math

from hybrid_contact_ros.codes import EventKind, Flag
from hybrid_contact_ros.kernels.compiling import kernel
from hybrid_contact_ros.kernels.estimation.update_records import ENDS, FLAGS, MARGINS, STANDS
from hybrid_contact_ros.kernels.estimation.update_steps import TANGENTS
from hybrid_contact_ros.kernels.stability.chatter_bounds import chatter_bounds
from hybrid_contact_ros.kernels.stability.constraint import (
    BOUNDED_TIME,
    PSEUDO_IMPULSE,
    ZENO,
    normal_cosines,
    stability_flags,
)
from hybrid_contact_ros.kernels.stability.pseudo_impulse import pseudo_impulse_flags

_TOUCHDOWN = int(EventKind.TOUCHDOWN)
_HOLDS, _FAILS = int(Flag.HOLDS), int(Flag.FAILS)


@kernel
def flag(settings, given, solved, robot, problem, here, tracker, mode, solver, scratch, ahead, lists, out):
    """Write the flags of all contacts, and the pairs; UNDECIDED and NaN where they are not wanted, or where no mode was
    found with known actuation. Returns how many pairs there are."""
    flags, margins, ends = out.codes[FLAGS:], out.numbers[MARGINS:ENDS], out.numbers[ENDS:]
    for i in range(robot.friction.shape[0]):
        out.truths[STANDS, i] = tracker.closed[i] != 0
        for k in range(ends.shape[0]):
            ends[k, i] = math.nan
        if not (given.flags_wanted and solved):
            for k in range(flags.shape[0]):
                flags[k, i] = 0
                margins[k, i] = math.nan
    if not given.flags_wanted:
        return 0
    if solved:
        _decide_flags(settings, robot, problem, here, mode, solver, scratch, flags, margins)
        chatter_bounds(
            settings.sigmas, settings.acceleration_sigma, settings.restitution_margin, problem.gap, here.gap_velocity,
            here.gap_sigmas, here.velocity_sigmas, margins[BOUNDED_TIME], robot.restitution, flags[ZENO], ends,
        )  # fmt: skip
    normal_cosines(TANGENTS, here.G, scratch.cosines)
    return _pairs(settings.coupling_tolerance, tracker.closed, ahead.backed, scratch.cosines, lists)


@kernel
def _decide_flags(settings, robot, problem, here, mode, solver, scratch, flags, margins):
    """The flags and margins (6, m) of a mode that was found."""
    bytes, flats, state, directions = scratch.bytes, scratch.flats, scratch.integers[0], scratch.directions
    stability_flags(
        TANGENTS, settings.flag_steps, settings.force_tolerance, settings.acceleration_tolerance,
        settings.grazing_speed, settings.flag_tolerance, here.G, scratch.b, robot.friction, robot.restitution,
        problem.gap, here.gap_velocity, scratch.touching, mode.moving, mode.jammed, mode.slip, mode.status, mode.forces,
        mode.accelerations, solver.A, solver.work, solver.order, bytes[0], bytes[1], directions, state, flats[0],
        flats[1], flags, margins,
    )  # fmt: skip
    pseudo_impulse_flags(
        TANGENTS, settings.horizon, settings.duration, settings.force_tolerance, here.G, scratch.b, robot.friction,
        problem.gap, here.flat_velocity, mode.moving, mode.slip, mode.status, mode.forces, mode.accelerations, solver.A,
        solver.work, solver.order, bytes[1], directions, state, flats[0], flats[2], flats[1], flags[PSEUDO_IMPULSE],
        margins[PSEUDO_IMPULSE],
    )  # fmt: skip


@kernel
def _pairs(tolerance, closed, backed, cosines, lists):
    """List the pairs of contacts that stand or are about to touch, and whether the order of their impacts matters.

    Args:
        tolerance: cosine above which it does. cosines: between the constraints (m, m), Pace (14).

    Returns:
        How many pairs there are.
    """
    count = 0
    for i in range(closed.shape[0]):
        if not (closed[i] or backed[i] == _TOUCHDOWN):
            continue
        for j in range(i + 1, closed.shape[0]):
            if closed[j] or backed[j] == _TOUCHDOWN:
                lists.pair_contacts[0, count] = i
                lists.pair_contacts[1, count] = j
                lists.pair_couplings[count] = cosines[i, j]
                lists.pair_flags[count] = _HOLDS if abs(cosines[i, j]) > tolerance else _FAILS
                count += 1
    return count
