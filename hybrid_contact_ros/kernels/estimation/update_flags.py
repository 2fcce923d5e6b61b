"""The stability flags of an update, and the pairs of contacts whose order of impact changes the outcome."""

from __future__ import annotations

import math

from hybrid_contact_ros.kernels.compiling import kernel
from hybrid_contact_ros.kernels.estimation.update_records import ENDS, FLAGS, MARGINS, STANDS
from hybrid_contact_ros.kernels.estimation.update_steps import TANGENTS
from hybrid_contact_ros.kernels.stability.chain_impact import LITTLE
from hybrid_contact_ros.kernels.stability.chatter_bounds import chatter_bounds
from hybrid_contact_ros.kernels.stability.constraint import (
    BOUNDED_TIME,
    PSEUDO_IMPULSE,
    ZENO,
    largest_normal,
    normal_cosine,
    stability_flags,
)
from hybrid_contact_ros.kernels.stability.pair_orders import (
    PairProblem,
    PairScratch,
    PairSettings,
    PairsOut,
    pair_orders,
)
from hybrid_contact_ros.kernels.stability.pseudo_impulse import pseudo_impulse_flags


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
    return _pairs(settings, given, robot, here, tracker, solver, scratch, ahead, lists)


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
def _pairs(settings, given, robot, here, tracker, solver, scratch, ahead, lists):
    """List the pairs of contacts that stand or are about to touch, and whether the order of their impacts matters.

    Returns:
        How many pairs there are.
    """
    # Without known actuation the forces between two impacts are unknown: none counts.
    b = scratch.b if given.trusted else here.no_drift
    count = pair_orders(
        PairSettings(TANGENTS, LITTLE, settings.mode_tolerance, settings.coupling_tolerance),
        PairProblem(
            here.G, b, robot.friction, robot.restitution, here.flat_velocity, scratch.weighed[1], tracker.closed,
            ahead.backed, ahead.event_times,
        ),
        PairScratch(
            solver.A, solver.work, solver.order, scratch.directions, scratch.integers[0], scratch.integers[1],
            scratch.chain_matrix, scratch.chain, scratch.chain_bytes,
        ),
        PairsOut(lists.pair_contacts, lists.pair_margins, lists.pair_flags),
    )  # fmt: skip
    largest = largest_normal(TANGENTS, here.G)
    for pair in range(count):
        i, j = int(lists.pair_contacts[0, pair]), int(lists.pair_contacts[1, pair])
        lists.pair_couplings[pair] = normal_cosine(TANGENTS, i, j, largest, here.G)
    return count
