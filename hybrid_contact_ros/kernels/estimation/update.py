"""One update of the estimator: from what a state says of the contacts to everything that is predicted of them."""

from __future__ import annotations

from hybrid_contact_ros.codes import Status, Validity
from hybrid_contact_ros.kernels.compiling import kernel
from hybrid_contact_ros.kernels.estimation.ground import GroundScratch, StanceMemory, learn_ground
from hybrid_contact_ros.kernels.estimation.ground_map import GroundMap, GroundSettings
from hybrid_contact_ros.kernels.estimation.measure import Measurement
from hybrid_contact_ros.kernels.estimation.momentum_observer import ObserverMemory
from hybrid_contact_ros.kernels.estimation.told_events import LogMemory, tell_events
from hybrid_contact_ros.kernels.estimation.update_flags import flag
from hybrid_contact_ros.kernels.estimation.update_records import (
    NEXT_EVENT,
    STATUS,
    EngineOut,
    ListsOut,
    PredictionOut,
    RobotContacts,
    TrackerMemory,
    UpdateInput,
    UpdateProblem,
    UpdateScratch,
    UpdateSettings,
)
from hybrid_contact_ros.kernels.estimation.update_steps import decide, follow, foretell, observe, publish, weigh
from hybrid_contact_ros.kernels.modes.records import StateOut, StateScratch

_SOLVED = int(Status.SOLVED)
_ESTIMATE, _SEQUENCE = int(Validity.FORCE_ESTIMATE), int(Validity.SEQUENCE)


@kernel
def update(
    # settings:
    mode_steps, rollout_steps, flag_steps, gap_on, gap_off, velocity_tolerance, slip_on, slip_off, force_on, force_off,
    load_sigma, gap_sigma, velocity_sigma, acceleration_sigma, force_sigma, sigmas, horizon, rollout_horizon, gain,
    force_tolerance, acceleration_tolerance, grazing_speed, duration, coupling_tolerance, restitution_margin,
    mode_tolerance, flag_tolerance, floating_base,
    # ground settings:
    learn, plane_sigma, slope_sigma, step_sigma, foot_sigma, correlation_length, base_drift, fading, still_speed,
    still_time, still_time_unloaded, least_load,
    # robot:
    normals, tangents, friction, restitution,
    # problem:
    bias, effort, rows, flat_rows, gap, drift, position, due,
    # measurement:
    L, half, G, unforced, no_drift, contact_velocity, flat_velocity, gap_velocity, tangential, slip_speed,
    gap_sigmas, velocity_sigmas, momentum, rate,
    # tracker memory:
    closed, slipping, evidence, seen, smooth, spread,
    # mode memory:
    critical, jammed, moving, slip, state, forces, accelerations, acceleration, status, warm,
    # event memory:
    lines,
    # observer memory:
    residual, integral, known, age,
    # log memory:
    last_status, calm, calm_gap, begun, begun_gap, agreed, told,
    # stance memory:
    point_velocity, point_place, point_height, unrest, standing, stance_height, stance_variance, touched_height,
    touched_lead, stance_start, pressing, pulling, entry, shift,
    # ground map:
    map_place, map_height, map_variance, map_seen, map_contact, map_size, map_factor, map_weights, map_centre,
    map_numbers,
    # mode scratch:
    A, work, order, intended, other_slip, found, other_forces,
    # scratch:
    basis, values, touching, sliding, load, b, weighed, slip_acceleration, expected, estimates, vectors, bytes,
    integers, directions, phi, flats, chain, chain_matrix,
    chain_bytes,
    # ground scratch:
    map_row, under, every, plane_of, shift_variance, rate_offs, gap_offs,
    # engine out:
    backed, event_times,
    # lists:
    sequence_contacts, sequence_kinds, sequence_times, sequence_modes, events, pair_contacts, pair_couplings,
    pair_flags, pair_margins,
    # input:
    dt, trusted, stamp, last_stamp, first, elapsed, flags_wanted, sequence_wanted,
    # prediction:
    out_vectors, out_numbers, out_codes, out_truths,
):  # fmt: skip
    """Answer for one state whose measurement is there (:func:`~.measure.measure`); nothing in here can refuse it.

    Args: the members of UpdateSettings, GroundSettings, RobotContacts, UpdateProblem, Measurement, TrackerMemory,
        StateOut (with ``warm``, (1,) uint8, whether the last mode was solved), ``lines`` of EventOut, ObserverMemory,
        LogMemory, StanceMemory, GroundMap, StateScratch, UpdateScratch, GroundScratch, EngineOut, ListsOut,
        UpdateInput, and PredictionOut with the prefix ``out_``.

    Returns:
        The residual of the mode, validity bits, and how much was written of the lists: events of the sequence, events
        detected, events told, pairs.
    """
    settings = UpdateSettings(
        mode_steps, rollout_steps, flag_steps, gap_on, gap_off, velocity_tolerance, slip_on, slip_off, force_on,
        force_off, load_sigma, gap_sigma, velocity_sigma, acceleration_sigma, force_sigma, sigmas, horizon,
        rollout_horizon, gain, force_tolerance, acceleration_tolerance, grazing_speed, duration, coupling_tolerance,
        restitution_margin, mode_tolerance, flag_tolerance, floating_base,
    )  # fmt: skip
    ground_settings = GroundSettings(
        learn, plane_sigma, slope_sigma, step_sigma, foot_sigma, correlation_length, base_drift, fading, still_speed,
        still_time, still_time_unloaded, least_load,
    )  # fmt: skip
    given = UpdateInput(dt, trusted, stamp, last_stamp, first, elapsed, flags_wanted, sequence_wanted)
    robot = RobotContacts(normals, tangents, friction, restitution)
    problem = UpdateProblem(bias, effort, rows, flat_rows, gap, drift, position, due)
    here = Measurement(
        L, half, G, unforced, no_drift, contact_velocity, flat_velocity, gap_velocity, tangential, slip_speed,
        gap_sigmas, velocity_sigmas, momentum, rate,
    )  # fmt: skip
    tracker = TrackerMemory(closed, slipping, evidence, seen, smooth, spread)
    mode = StateOut(critical, jammed, moving, slip, state, forces, accelerations, acceleration, status)
    observer = ObserverMemory(residual, integral, known, age)
    log = LogMemory(last_status, calm, calm_gap, begun, begun_gap, agreed, told)
    stance = StanceMemory(
        point_velocity, point_place, point_height, unrest, standing, stance_height, stance_variance,
        touched_height, touched_lead, stance_start, pressing, pulling, entry, shift,
    )  # fmt: skip
    footholds = GroundMap(
        map_place, map_height, map_variance, map_seen, map_contact, map_size, map_factor, map_weights, map_centre,
        map_numbers,
    )  # fmt: skip
    solver = StateScratch(A, work, order, intended, other_slip, found, other_forces)
    scratch = UpdateScratch(
        basis, values, touching, sliding, load, b, weighed, slip_acceleration, expected, estimates, vectors, bytes,
        integers, directions, phi, flats, chain, chain_matrix,
        chain_bytes,
    )  # fmt: skip
    ground = GroundScratch(map_row, under, every, plane_of, shift_variance, rate_offs, gap_offs)
    ahead = EngineOut(backed, event_times)
    lists = ListsOut(
        sequence_contacts, sequence_kinds, sequence_times, sequence_modes, events, pair_contacts, pair_couplings,
        pair_flags, pair_margins,
    )  # fmt: skip
    out = PredictionOut(out_vectors, out_numbers, out_codes, out_truths)

    # Learn where the ground is; gaps are over that ground from here on.
    learn_ground(
        settings, ground_settings, given, robot, problem, here, tracker, observer, solver, scratch, stance, footholds,
        ground,
    )  # fmt: skip
    # Solve for the contact mode, and decide which contacts are closed and which of them slide.
    code, mode_residual = decide(
        settings, given, robot, problem, here, tracker, mode, warm, solver, scratch, ground, out
    )
    # Take over the forces and accelerations of that mode; derive margins and rates from them.
    weigh(settings, given, robot, problem, here, tracker, mode, scratch, out)
    # Estimate the forces a second time, from the momentum.
    settled = observe(settings, given, robot, problem, here, tracker, observer, solver, scratch, out)
    # Foretell each contact's next event, from the extrapolated state and the rhythm of the gait.
    foretell(settings, given, robot, problem, here, tracker, lines, scratch, ahead, out)
    # Follow the hybrid model through the modes after that.
    steps, complete = follow(settings, given, robot, problem, here, tracker, solver, scratch, ahead, lists)
    # Tell what is new.
    detected, told_events = tell_events(
        stamp, last_stamp, first, out.codes[STATUS], evidence, gap, out.codes[NEXT_EVENT], event_times, log, events
    )
    # Decide the stability flags, and which pairs of contacts are sensitive to the order of their impacts.
    solved = trusted and code == _SOLVED
    pairs = flag(settings, given, solved, robot, problem, here, tracker, mode, solver, scratch, ahead, lists, out)
    # Copy what else is published, and say what of it is valid.
    validity = publish(given, solved, robot, problem, here, mode, scratch, ahead, stance, ground, out)
    if settled:
        validity |= _ESTIMATE
    if complete:
        validity |= _SEQUENCE
    return mode_residual, validity, steps, detected, told_events, pairs
