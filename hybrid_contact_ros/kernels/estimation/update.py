"""One update of the estimator: from what a state says of the contacts to everything that is predicted of them."""

from __future__ import annotations

from hybrid_contact_ros.codes import Status, Validity
from hybrid_contact_ros.kernels.compiling import kernel
from hybrid_contact_ros.kernels.estimation.belief_records import BeliefSettings
from hybrid_contact_ros.kernels.estimation.belief_step import (
    CALIBRATED,
    BeliefRecord,
    BeliefUse,
    are_calibrated,
    believe,
    heed_hanging,
    heed_tracker,
    remember,
)
from hybrid_contact_ros.kernels.estimation.contact_tracking import slips
from hybrid_contact_ros.kernels.estimation.effort_correction import EffortCorrection, follow_efforts, latest
from hybrid_contact_ros.kernels.estimation.effort_errors import EffortErrors, doubt_torques
from hybrid_contact_ros.kernels.estimation.effort_noise import EffortNoise, learn_effort_noise
from hybrid_contact_ros.kernels.estimation.effort_trust import TrustMemory, TrustScratch, TrustTable, check_efforts
from hybrid_contact_ros.kernels.estimation.event_density import DensityMemory, foretell_densities, learn_densities
from hybrid_contact_ros.kernels.estimation.event_skill import EventSkill
from hybrid_contact_ros.kernels.estimation.felt_surface import feel_surface
from hybrid_contact_ros.kernels.estimation.foot_stops import FootStops, doubt_efforts, hold_stopped
from hybrid_contact_ros.kernels.estimation.friction_bounds import FrictionBounds, FrictionTable, bound_friction
from hybrid_contact_ros.kernels.estimation.ground import GroundScratch, learn_ground
from hybrid_contact_ros.kernels.estimation.ground_heights import height_sigma
from hybrid_contact_ros.kernels.estimation.ground_map import SOFTNESS, GroundMap, GroundSettings
from hybrid_contact_ros.kernels.estimation.hanging import HangMemory, note_lowering
from hybrid_contact_ros.kernels.estimation.measure import Measurement
from hybrid_contact_ros.kernels.estimation.met_ground import is_soft
from hybrid_contact_ros.kernels.estimation.momentum_observer import ObserverMemory, has_settled
from hybrid_contact_ros.kernels.estimation.observed_forces import weigh_motions
from hybrid_contact_ros.kernels.estimation.own_ground import known_surfaces
from hybrid_contact_ros.kernels.estimation.pushes import note_pushes
from hybrid_contact_ros.kernels.estimation.rate_lines import follow_rates
from hybrid_contact_ros.kernels.estimation.rate_noise import RateNoise, learn_rate_noise, tolerate_rate_noise
from hybrid_contact_ros.kernels.estimation.sensor_likelihoods import SensorGiven, SensorMemory, SensorSettings, sense
from hybrid_contact_ros.kernels.estimation.stance import MOVES, StanceMemory
from hybrid_contact_ros.kernels.estimation.stream_offsets import OffsetMemory, learn_offsets
from hybrid_contact_ros.kernels.estimation.stride_course import StrideCourse
from hybrid_contact_ros.kernels.estimation.stride_step import learn_events, weigh_events
from hybrid_contact_ros.kernels.estimation.sure_events import events_to_learn
from hybrid_contact_ros.kernels.estimation.told_events import LogMemory, note_impacts, tell_events
from hybrid_contact_ros.kernels.estimation.unrest import quiet_rates
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
from hybrid_contact_ros.kernels.estimation.update_steps import (
    SLIP_TIME_CONSTANT,
    SLOW,
    believes,
    decide,
    follow,
    follow_momentum,
    foretell,
    observe,
    publish,
    weigh,
)
from hybrid_contact_ros.kernels.given import members
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
    learn, felt, nugget, plane_sigma, slope_sigma, step_sigma, foot_sigma, correlation_length, base_drift, fading,
    still_speed, still_time, still_time_unloaded, least_load,
    # belief settings:
    belief_lead, belief_level, belief_rank, belief_close_above, belief_open_below, belief_decides, belief_apart,
    belief_observes, belief_slope, belief_offset, belief_course,
    belief_gap_sigma, belief_swing_height, belief_sunk, belief_swing_speed, belief_swing_slide, belief_slip_speed,
    belief_rest_speed, belief_load_sigma, belief_load_limit, belief_slip_sigma, belief_slip_limit, belief_force_part,
    belief_share, belief_outliers, belief_gap_correlation, belief_velocity_correlation, belief_load_correlation,
    belief_force_correlation, belief_touchdown_rate, belief_liftoff_rate, belief_slip_rate, belief_stick_rate,
    belief_foresight, belief_foresight_sigma, belief_sigmas,
    # robot:
    normals, tangents, friction, restitution,
    # problem:
    bias, effort, rows, flat_rows, gap, drift, position, due,
    # measurement:
    L, half, G, unforced, no_drift, contact_velocity, flat_velocity, gap_velocity, tangential, slip_speed,
    gap_sigmas, velocity_sigmas, momentum, rate,
    # tracker memory:
    closed, slipping, evidence, seen, smooth, spread, alone, alone_evidence,
    # mode memory:
    critical, jammed, moving, slip, state, forces, accelerations, acceleration, status, warm,
    # event memory:
    lines, rate_lines,
    # observer memory:
    residual, integral, known, drives_before, age,
    # log memory:
    last_status, calm, calm_gap, begun, begun_gap, before, struck, slowed, agreed, told, waiting, landed, sure,
    # trust table:
    bandwidth, recall, floor, full, none, share, unit, contact_limb, limb, scale, is_limit,
    fixed, presses, doubt,
    # trust memory:
    trust_begun, trust_last, trust_first, trust_second, trust_unexplained, trust_rough, trust_swing, trust_energy,
    trust_time, trust_normal, trust_cross, trust_bias, trust_weight, trust_force_weight,
    # trust scratch:
    trust_basis, trust_triangle, trust_part, trust_kept, trust_step, trust_left, trust_root, trust_load,
    # effort correction and errors:
    active, applied, added, drives, unsure, late, slow, effort_rate, error_joint, error_unit, error_prior,
    error_numbers, error_sign, error_swift, error_last, error_left, error_normal, error_cross, error_estimate,
    error_factor, error_row, error_work, error_share, error_push, error_refuted,
    # hanging:
    hang_since, hang_idle, hang_sunk, hang_slow, hang_unseen, hang_light,
    # rate noise:
    noise_rates, noise_times, noise_count, noise_sigma,
    # effort noise:
    jitter_efforts, jitter_ages, jitter_count, jitter_sigma,
    # foot stops:
    stop_since, stop_begun, stop_floor, stop_speed, stop_last, stop_noise, stop_doubted,
    # friction table:
    friction_learns, friction_applies, friction_gain, friction_least_load, friction_model, friction_sigmas,
    friction_time, friction_length, friction_slide_speed, friction_margin, friction_lead, friction_link,
    # friction bounds:
    friction_begun, friction_mean, friction_last, friction_spread, friction_course, friction_slide, friction_place,
    friction_held, friction_slid, friction_expected, friction_lower, friction_upper, friction_ratio,
    friction_time_to_slip, friction_warning,
    # stance memory:
    point_velocity, point_place, point_height, point_gap, unrest, standing, stance_height, stance_variance,
    touched_height, touched_load, touched_lead, met, stance_start, travel, pressing, eased, pulling, bore, entry, shift,
    # ground map:
    map_place, map_height, map_variance, map_seen, map_contact, map_size, map_factor, map_weights, map_centre,
    map_fitted, map_numbers,
    # belief:
    belief_members, belief_belief, belief_kind, belief_times, belief_held, belief_forces, belief_load, belief_touching,
    belief_weight, belief_probability, belief_slow, belief_last, belief_noise, belief_force, belief_covariance,
    belief_doubt, belief_averaged, belief_averaging, belief_inverse, belief_transition, belief_single, belief_joint,
    belief_L, belief_x,
    # sensors:
    sensor_outliers, sensor_correlation, sensor_shock_width, sensor_shock_most, sensor_command_lag,
    sensor_command_spread, sensor_command_share, sensor_part, sensor_weight,
    sensor_present, sensor_force, sensor_axis, sensor_reading, sensor_age, sensor_acceleration,
    sensor_wanted, sensor_since, sensor_offset, sensor_level, sensor_noise, sensor_white, sensor_seen, sensor_says,
    sensor_calm, sensor_trust, sensor_load, sensor_total, sensor_before, sensor_quiet, sensor_lag, sensor_kept,
    sensor_shut, sensor_beside,
    sensors_decide,
    # offsets:
    velocity, offset_sums, offset_slow, offset_feet, offset_steps, offset_spin,
    # stride course:
    course_configuration, course_velocity, course_times, course_signals, course_heights, course_place, course_now,
    course_past, course_noise, course_lag, course_events, course_lifted, course_undone,
    # event skill:
    skill_square, skill_events, skill_share, skill_recent, skill_recent_time, skill_recent_kind, skill_recent_place,
    skill_pending, skill_path, skill_sigma, skill_forecast, skill_estimate, skill_lean, skill_recent_lean,
    skill_recent_load, skill_unloading, skill_fell, skill_pressed, skill_alone, skill_shed, skill_marks,
    # densities:
    density_stamps, density_foretold, density_classes, density_filled, density_residuals, density_origins,
    density_counts, density_transforms, density_passed, density_knots, density_support, density_made, density_last,
    density_awaited, density_came, density_times, density_work,
    # mode scratch:
    A, work, order, intended, other_slip, found, other_forces,
    # scratch:
    basis, values, touching, sliding, load, b, weighed, slip_acceleration, expected, estimates, vectors, bytes,
    integers, directions, phi, flats, chain, chain_matrix, chain_bytes, motions, products, weighing,
    # ground scratch:
    map_row, under, every, plane_of, link_of, solid_of, shift_variance, surfaces, own, quiet, rate_offs, gap_offs,
    pushes,
    # engine out:
    backed, event_times,
    # lists:
    sequence_contacts, sequence_kinds, sequence_times, sequence_modes, events, pair_contacts, pair_couplings,
    pair_flags, pair_margins,
    # input:
    dt, trusted, stamp, last_stamp, first, elapsed, averaged, flags_wanted, sequence_wanted,
    # prediction:
    out_vectors, out_numbers, out_codes, out_truths,
):  # fmt: skip
    """Answer for one state whose measurement is there (:func:`~.measure.measure`); nothing in here can refuse it.

    Args: the members of UpdateSettings, GroundSettings, BeliefUse and BeliefSettings (both prefixed with ``belief_``),
        RobotContacts, UpdateProblem, Measurement, TrackerMemory, StateOut (with ``warm``, (1,) uint8, whether the last
        mode was solved), ``lines`` of EventOut, ``rate_lines`` (m, COLUMNS), ObserverMemory, LogMemory, TrustTable,
        TrustMemory and TrustScratch (both with the prefix ``trust_``), EffortCorrection, EffortErrors (``error_``),
        HangMemory (``hang_``), RateNoise, EffortNoise, FootStops, FrictionTable and FrictionBounds (both with
        ``friction_``), StanceMemory, GroundMap, BeliefRecord (with the prefix), SensorSettings, SensorGiven and
        SensorMemory (with the prefix ``sensor_``), OffsetMemory (``offset_``), StrideCourse, EventSkill and
        DensityMemory (with the prefixes ``course_``, ``skill_`` and ``density_``), StateScratch, UpdateScratch,
        GroundScratch, EngineOut, ListsOut, UpdateInput, and PredictionOut with the prefix ``out_``.

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
        learn, felt, nugget, plane_sigma, slope_sigma, step_sigma, foot_sigma, correlation_length, base_drift, fading,
        still_speed, still_time, still_time_unloaded, least_load,
    )  # fmt: skip
    given = UpdateInput(dt, trusted, stamp, last_stamp, first, elapsed, averaged, flags_wanted, sequence_wanted)
    robot = RobotContacts(normals, tangents, friction, restitution)
    gripping = RobotContacts(normals, tangents, friction_expected, restitution)
    problem = UpdateProblem(bias, effort, rows, flat_rows, gap, drift, position, due)
    here = Measurement(
        L, half, G, unforced, no_drift, contact_velocity, flat_velocity, gap_velocity, tangential, slip_speed,
        gap_sigmas, velocity_sigmas, momentum, rate,
    )  # fmt: skip
    tracker = TrackerMemory(closed, slipping, evidence, seen, smooth, spread, alone, alone_evidence)
    mode = StateOut(critical, jammed, moving, slip, state, forces, accelerations, acceleration, status)
    observer = ObserverMemory(residual, integral, known, drives_before, age)
    log = LogMemory(
        last_status, calm, calm_gap, begun, begun_gap, before, struck, slowed, agreed, told, waiting, landed, sure,
    )  # fmt: skip
    table = TrustTable(
        bandwidth, recall, floor, full, none, share, unit, contact_limb, limb, scale, is_limit, fixed, presses,
        doubt,
    )  # fmt: skip
    trust = TrustMemory(
        trust_begun, trust_last, trust_first, trust_second, trust_unexplained, trust_rough, trust_swing, trust_energy,
        trust_time, trust_normal, trust_cross, trust_bias, trust_weight, trust_force_weight,
    )  # fmt: skip
    check = TrustScratch(
        trust_basis, trust_triangle, trust_part, trust_kept, trust_step, trust_left, trust_root, trust_load
    )  # fmt: skip
    friction_table = FrictionTable(
        friction_learns, friction_applies, friction_gain, friction_least_load, friction_model, friction_sigmas,
        friction_time, friction_length, friction_slide_speed, friction_margin, friction_lead, friction_link,
    )  # fmt: skip
    friction_bounds = FrictionBounds(
        friction_begun, friction_mean, friction_last, friction_spread, friction_course, friction_slide, friction_place,
        friction_held, friction_slid, friction_expected, friction_lower, friction_upper, friction_ratio,
        friction_time_to_slip, friction_warning,
    )  # fmt: skip
    stance = StanceMemory(
        point_velocity, point_place, point_height, point_gap, unrest, standing, stance_height, stance_variance,
        touched_height, touched_load, touched_lead, met, stance_start, travel, pressing, eased, pulling, bore, entry,
        shift,
    )  # fmt: skip
    footholds = GroundMap(
        map_place, map_height, map_variance, map_seen, map_contact, map_size, map_factor, map_weights, map_centre,
        map_fitted, map_numbers,
    )  # fmt: skip
    use = BeliefUse(
        belief_lead, belief_level, belief_rank, belief_close_above, belief_open_below, belief_decides, belief_apart,
        belief_observes, belief_slope, belief_offset, belief_course,
    )  # fmt: skip
    belief = BeliefRecord(
        belief_members, belief_belief, belief_kind, belief_times, belief_held, belief_forces, belief_load,
        belief_touching, belief_weight, belief_probability, belief_slow, belief_last, belief_noise, belief_force,
        belief_covariance, belief_doubt, belief_averaged, belief_averaging, belief_inverse, belief_transition,
        belief_single, belief_joint, belief_L, belief_x,
    )  # fmt: skip
    course = StrideCourse(
        course_configuration, course_velocity, course_times, course_signals, course_heights, course_place, course_now,
        course_past, course_noise, course_lag, course_events, course_lifted, course_undone,
    )  # fmt: skip
    skill = EventSkill(
        skill_square, skill_events, skill_share, skill_recent, skill_recent_time, skill_recent_kind,
        skill_recent_place, skill_pending, skill_path, skill_sigma, skill_forecast, skill_estimate, skill_lean,
        skill_recent_lean, skill_recent_load, skill_unloading, skill_fell, skill_pressed, skill_alone, skill_shed,
        skill_marks,
    )  # fmt: skip
    density = DensityMemory(
        density_stamps, density_foretold, density_classes, density_filled, density_residuals, density_origins,
        density_counts, density_transforms, density_passed, density_knots, density_support, density_made, density_last,
        density_awaited, density_came, density_times, density_work,
    )  # fmt: skip
    solver = StateScratch(A, work, order, intended, other_slip, found, other_forces)
    scratch = UpdateScratch(
        basis, values, touching, sliding, load, b, weighed, slip_acceleration, expected, estimates, vectors, bytes,
        integers, directions, phi, flats, chain, chain_matrix, chain_bytes, motions, products, weighing,
    )  # fmt: skip
    ground = GroundScratch(
        map_row, under, every, plane_of, link_of, solid_of, shift_variance, surfaces, own, quiet, rate_offs, gap_offs,
        pushes,
    )  # fmt: skip
    ahead = EngineOut(backed, event_times)
    lists = ListsOut(
        sequence_contacts, sequence_kinds, sequence_times, sequence_modes, events, pair_contacts, pair_couplings,
        pair_flags, pair_margins,
    )  # fmt: skip
    out = PredictionOut(out_vectors, out_numbers, out_codes, out_truths)
    weight = trust.force_weight

    # Ask how far the efforts of each limb explain its motion: trust.force_weight.
    errors = EffortErrors(
        error_joint, error_unit, error_prior, error_numbers, error_sign, error_swift, error_last, error_left,
        error_normal, error_cross, error_estimate, error_factor, error_row, error_work, error_share, error_push,
        error_refuted,
    )  # fmt: skip
    hang = HangMemory(hang_since, hang_idle, hang_sunk, hang_slow, hang_unseen, hang_light)
    correction = EffortCorrection(active, applied, added, drives, unsure, late, slow, effort_rate)
    if trusted:
        follow_efforts(dt, effort, correction)
        learn_effort_noise(dt, effort, EffortNoise(jitter_efforts, jitter_ages, jitter_count, jitter_sigma))
    check_efforts(given, problem, here, velocity, closed, jitter_sigma, table, trust, check, correction, errors, hang)
    doubt_efforts(stop_doubted, weight)
    believed = believes(given, weight)
    # Where no forces tell a contact, expect the ground as exactly as the last footholds were where they were expected.
    surface_sigma = belief_gap_sigma if believed else height_sigma(map_numbers, belief_gap_sigma)
    belief_settings = BeliefSettings(
        surface_sigma, belief_swing_height, belief_sunk, belief_swing_speed, belief_swing_slide, belief_slip_speed,
        belief_rest_speed, belief_load_sigma, belief_load_limit, belief_slip_sigma, belief_slip_limit,
        belief_force_part, belief_share, belief_outliers, belief_gap_correlation, belief_velocity_correlation,
        belief_load_correlation, belief_force_correlation, belief_touchdown_rate, belief_liftoff_rate,
        belief_slip_rate, belief_stick_rate, belief_foresight, belief_foresight_sigma, belief_sigmas,
    )  # fmt: skip
    # Ask how late base and inertial unit come against the joints.
    learn_offsets(
        dt, floating_base, velocity[3:6], rows, tangents, normals, flat_velocity, closed,
        OffsetMemory(offset_sums, offset_slow, offset_feet, offset_steps, offset_spin),
    )  # fmt: skip
    if trusted and gain > 0.0:
        weigh_motions(flat_rows.shape[0], L, half, flat_rows, doubt, weighing, motions, products)
    # Ask how still each contact was at rest: when its forces are not known, that tells when it leaves.
    quiet_rates(belief_rest_speed, weight, gap_velocity, velocity_sigmas, unrest, quiet)
    # Where forces do not explain all, ask the joints of each limb what presses on its feet.
    note_pushes(
        dt, settings, ground_settings, given, believed, weight, table, problem, observer, solver, scratch, stance,
        ground, hang,
    )  # fmt: skip
    # Learn where the ground is; gaps are over that ground from here on.
    rate_noise = RateNoise(noise_rates, noise_times, noise_count, noise_sigma)
    note_lowering(
        dt, believed or not floating_base, is_soft(map_numbers[SOFTNESS:]), plane_of, link_of, closed, point_gap,
        point_velocity, noise_sigma, hang,
    )  # fmt: skip
    moving = floating_base and velocity[0] ** 2 + velocity[1] ** 2 + velocity[2] ** 2 > MOVES * MOVES
    if learn and felt:
        feel_surface(
            settings, ground_settings, given, weight, belief_force, belief_covariance, problem, here, robot, tracker,
            stance, footholds, ground,
        )  # fmt: skip
    else:
        learn_ground(
            settings, ground_settings, given, believed, weight, velocity, hang_idle, rate_noise, stop_since, robot,
            problem, here, tracker, observer, solver, scratch, stance, footholds, ground,
        )  # fmt: skip
    known_surfaces(surface_sigma, map_contact, map_place, map_size, under, unrest, noise_sigma, own)
    for i in range(own.shape[0]):
        surfaces[i] = surface_sigma if believed else own[i]
    # Of states that are far apart, forces are those between them: they tell of the ground, and not of this state.
    if gain > 0.0 and dt * gain > SLOW:
        for i in range(weight.shape[0]):
            weight[i] = 0.0
        believed = False
    # Widen the tolerance of rates by their noise, for contacts whose forces are not known.
    learn_rate_noise(dt, gap_velocity, rate_noise)
    tolerate_rate_noise(weight, rate_noise, rate_offs, velocity_sigmas)
    # Hold in contact what an impact has stopped, and put the ground there, where no forces are known.
    hold_stopped(
        first, dt, trusted, believed and has_settled(gain, observer), weight, closed, gap_on, gap_off, gap_sigma,
        velocity_sigma, plane_of, link_of, entry, gap_velocity, rate_noise,
        FootStops(stop_since, stop_begun, stop_floor, stop_speed, stop_last, stop_noise, stop_doubted), gap, shift,
        shift_variance, rate_offs, gap_offs, gap_sigmas, velocity_sigmas,
    )  # fmt: skip
    # Tell stick from slip of the contacts that were closed at the last state.
    slips(
        slip_on, slip_off, SLIP_TIME_CONSTANT, velocity_sigma, tangents, dt, closed, weight, noise_sigma, stop_since,
        tangential, slipping, seen, smooth, spread, sliding,
    )  # fmt: skip
    # Follow the momentum, and believe in each contact as far as this state and those before it agree with it.
    settled = follow_momentum(settings, given, problem, here, velocity, drives, observer)
    # Ask foot sensors, accelerations and commanded contacts; without them nothing is done.
    sensed = sense(
        SensorSettings(
            sensor_outliers, sensor_correlation, sensor_shock_width, sensor_shock_most, sensor_command_lag,
            sensor_command_spread, sensor_command_share, sensor_part, sensor_weight,
        ),
        dt, first, moving, gap, gap_velocity, slip_speed, belief_probability,
        SensorGiven(
            sensor_present, sensor_force, sensor_axis, sensor_reading, sensor_age, sensor_acceleration,
            sensor_wanted, sensor_since,
        ),
        SensorMemory(
            sensor_offset, sensor_level, sensor_noise, sensor_white, sensor_seen, sensor_says, sensor_calm,
            sensor_trust, sensor_load, sensor_total, sensor_before, sensor_quiet, sensor_lag, sensor_kept, sensor_shut,
            sensor_beside,
        ),
    )  # fmt: skip
    doubt_torques(velocity, effort, table, error_numbers, correction)
    decided = believe(
        use, belief_settings, settings, given, believed, unsure, jitter_sigma, latest(late), surfaces, own, quiet,
        every, plane_of, link_of, stop_since, problem, here, tracker, observer, solver, scratch, belief, sensor_beside,
        sensed and sensors_decide, out,
    )  # fmt: skip
    # Solve for the contact mode, and decide which contacts are closed and which of them slide.
    joint = use.decides and use.apart and not believed and not decided and (sensors_decide or not sensed)
    code, mode_residual = decide(
        use, joint, surfaces, hang_idle, stop_since, stance, least_load, believed, settled, settings, given, decided,
        belief, weight, gripping, problem, here, noise_sigma, tracker, mode, warm, solver, scratch, ground, out,
    )  # fmt: skip
    if not decided:
        heed_tracker(surfaces, alone if joint else closed, weight, gap, gap_sigmas, travel, belief, out)
    heed_hanging(hang_idle, out)
    # Take over the forces and accelerations of that mode; derive margins and rates from them.
    note_impacts(stamp, last_stamp, first, gap_velocity, noise_sigma, rate_lines, log)
    follow_rates(dt, closed, gap, gap_sigmas, gap_velocity, rate_lines)
    weigh(settings, given, weight, jitter_sigma, robot, problem, here, tracker, mode, rate_lines, scratch, out)
    # Estimate the forces a second time, from the momentum.
    observe(settled, robot, here, tracker, observer, solver, scratch, out)
    # Bound the friction of each contact by these forces.
    bound_friction(
        dt, friction, weight, table, residual, robot, problem, here, tracker, friction_table, friction_bounds, solver,
        scratch, out,
    )  # fmt: skip
    # Foretell each contact's next event, from the extrapolated state and the rhythm of the gait.
    foretell(
        settings, given, weight, robot, problem, here, tracker, noise_sigma, rate_lines, lines, scratch, ahead, out
    )  # fmt: skip
    remember(believed, felt, surfaces, gap, gap_sigmas, ahead, belief, out)
    # Compare the course of the joints with the last stride; weigh what that, the state and the rhythm foretell.
    weigh_events(
        settings, given, weight, hang_idle, robot, problem, here, tracker, rate_lines, lines, scratch, course, skill,
        ahead, out,
    )  # fmt: skip
    # Say when it comes as a density, by what was foretold of earlier events.
    foretell_densities(settings, given, problem, course, skill, ahead, density, out)
    # Follow the hybrid model through the modes after that.
    steps, complete = follow(settings, given, believed, robot, problem, here, tracker, solver, scratch, ahead, lists)
    # Tell what is new.
    detected, told_events = tell_events(
        stamp, last_stamp, first, out.codes[STATUS], evidence, gap, out.codes[NEXT_EVENT], density_times, log, events
    )
    # Learn from what has come how good each of the forecasts was.
    known = events_to_learn(stamp, detected, events, waiting, landed, sure)
    learn_events(known, sure, course, skill)
    learn_densities(known, sure, horizon, density)
    # Decide the stability flags, and which pairs of contacts are sensitive to the order of their impacts.
    solved = trusted and code == _SOLVED
    pairs = flag(
        settings, given, solved and believed, robot, problem, here, tracker, mode, solver, scratch, ahead, lists, out
    )
    # Copy what else is published, and say what of it is valid.
    validity = publish(given, solved, weight, robot, problem, here, mode, scratch, ahead, stance, ground, out)
    if settled:
        validity |= _ESTIMATE
    if complete:
        validity |= _SEQUENCE
    forced = decided and use.apart and believed and settled and belief.noise[0] >= 0.0  # with observed forces
    if forced and are_calibrated(out):
        validity |= CALIBRATED
    return mode_residual, validity, steps, detected, told_events, pairs


@kernel
def update_given(
    given, dt, trusted, stamp, last_stamp, first, elapsed, averaged, flags_wanted, sequence_wanted, out_vectors,
    out_numbers, out_codes, out_truths,
):  # fmt: skip
    """:func:`update`; ``given`` holds all its arguments up to those that are named here."""
    return update(
        *members(given), dt, trusted, stamp, last_stamp, first, elapsed, averaged, flags_wanted, sequence_wanted,
        out_vectors, out_numbers, out_codes, out_truths,
    )  # fmt: skip
