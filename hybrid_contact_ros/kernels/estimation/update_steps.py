"""The steps of :func:`~.update.update`, each of which reads what those before it wrote.

Their arguments are records of :mod:`.update_records` and of the rooms whose kernels they call.
"""

from __future__ import annotations

import math

from hybrid_contact_ros.codes import Status, Validity
from hybrid_contact_ros.kernels.algebra.dense import cholesky_solve
from hybrid_contact_ros.kernels.compiling import kernel
from hybrid_contact_ros.kernels.estimation.belief_step import decide_together
from hybrid_contact_ros.kernels.estimation.contact_quantities import contact_quantities, model_loads
from hybrid_contact_ros.kernels.estimation.contact_tracking import (
    BELIEVED,
    candidates,
    told_statuses,
    track_closed,
)
from hybrid_contact_ros.kernels.estimation.event_times import LINE_TIME_CONSTANT, next_events
from hybrid_contact_ros.kernels.estimation.momentum_observer import (
    begins_at_rest,
    has_settled,
    observe_momentum,
    observed_forces,
)
from hybrid_contact_ros.kernels.estimation.rate_lines import shows_slope, smooth_gaps, without_noise
from hybrid_contact_ros.kernels.estimation.rollout import rollout
from hybrid_contact_ros.kernels.estimation.sole_loads import drop_unborne, keep_borne, open_unborne
from hybrid_contact_ros.kernels.estimation.stance import MOVES
from hybrid_contact_ros.kernels.estimation.stance_loads import MOST_LOADED
from hybrid_contact_ros.kernels.estimation.update_records import (
    CRITICAL,
    FORCE_ESTIMATE,
    FORCE_MODEL,
    FORCE_VALID,
    FORCE_WEIGHT,
    FRICTION,
    FRICTION_MARGIN,
    GAP,
    GAP_ACCELERATION,
    GAP_VELOCITY,
    GROUND_OFFSET,
    GROUND_SIGMA,
    JAMMED,
    NEXT_EVENT,
    NORMAL,
    POSITION,
    STATUS,
    TANGENTIAL,
)
from hybrid_contact_ros.kernels.mechanics.contact_drift import balanced_drift
from hybrid_contact_ros.kernels.modes.forces import force_acceleration
from hybrid_contact_ros.kernels.modes.jamming import CRITICAL_PART

TANGENTS = 2
"""Of a contact in space."""
SLOW = 2.5
"""Time constants of the observer between two states, from which on its forces are not those of the second one."""
SLIP_TIME_CONSTANT = 0.01
"""s, of the low-pass of the contact points' velocities, which tells stick from slip."""
ROLLOUT_CONTACTS = 62
"""The mask of a mode is a signed integer: more contacts have no rollout."""
_WIDTH = 1 + TANGENTS
_BASE = 6  # coordinates of a floating base
# A contact whose G_nn is below this times the largest is one that no motion changes.
_IMMOVABLE = 1e-12
_BENDS = 10.0  # m/s², by which the acceleration of an open contact differs from what its rates have shown lately
_SOLVED = int(Status.SOLVED)
_ALWAYS = int(Validity.STATE | Validity.BASE)
_EFFORT, _UNIQUE, _FORCES = int(Validity.EFFORT), int(Validity.MODE_UNIQUE), int(Validity.FORCES)


@kernel
def decide(
    use, joint, surface, idle, stopped, stance, least_load, believed, settled, settings, given, decided, belief, weight,
    robot, problem, here, noise, tracker, mode, warm, solver, scratch, ground, out,
):  # fmt: skip
    """Solve for the mode of the contacts that may carry force, and decide which of them are closed.

    The rows of some contacts depend on each other, and their drifts must then agree (:mod:`.contact_drift`). What does
    not hold, although the mode gives it a force, carries nothing: the mode is solved again without it. Where the belief
    has ``decided`` which contacts are closed, the mode is theirs. Where it may decide and forces tell nothing
    (``joint``), it does so together with the tracker (:func:`~.belief_step.decide_together`; ``surface``, ``idle``: of
    that; ``stopped``: of :func:`~.contact_tracking.candidates`), which then follows each contact by itself. Where
    efforts are ``believed`` and the observer has ``settled``, observed loads keep soles closed
    (:func:`~.sole_loads.keep_borne`; ``least_load``: of that). It keeps the loads for the next state.

    Returns:
        Status and residual of the mode.
    """
    gap, rate, touching, closed = problem.gap, here.gap_velocity, scratch.touching, tracker.closed
    follows, doubt = closed, tracker.evidence  # of the tracker; where the belief has no part, that is all
    if joint:
        follows, doubt = tracker.alone, tracker.alone_evidence
    told = believed or decided or joint  # something else than the tracker tells of what seems to be at rest
    candidates(
        settings.gap_on, ground.gap_offs, told, settings.velocity_tolerance, ground.rate_offs, follows,
        gap, rate, noise, here.slip_speed, stopped, touching,
    )  # fmt: skip
    for i in range(touching.shape[0]):
        if decided and closed[i]:
            touching[i] = 1
    weighs = believed and settled and not decided and gap.shape[0] <= MOST_LOADED
    if weighs:
        drop_unborne(
            settings.gap_on, settings.force_on, 0.5 * settings.velocity_tolerance, ground.link_of, stance.pressing,
            stance.pulling, follows, gap, rate, stance.point_velocity, touching,
        )  # fmt: skip
    balanced_drift(_WIDTH, problem.rows, touching, scratch.basis, scratch.values, problem.drift)
    for i in range(touching.shape[0]):
        for k in range(_WIDTH):
            scratch.b[i * _WIDTH + k] = problem.drift[i, k] + here.unforced[i * _WIDTH + k]
    code, residual = 0, 0.0
    for attempt in range(2):
        code, residual, _ = force_acceleration(
            TANGENTS, warm[0] != 0, settings.mode_steps, CRITICAL_PART, 0.0, settings.mode_tolerance, here.L,
            problem.bias, problem.flat_rows, here.G, scratch.b, robot.friction, scratch.sliding, touching, solver.A,
            solver.work, solver.order, solver.intended, solver.other_slip, solver.found, solver.other_forces,
            mode.critical, mode.jammed, mode.moving, mode.slip, mode.state, mode.forces, mode.accelerations,
            mode.acceleration, mode.status,
        )  # fmt: skip
        warm[0] = 1 if code == _SOLVED else 0
        model_loads(_WIDTH, _IMMOVABLE, here.G, mode.forces, mode.accelerations, scratch.load)
        if attempt == 1:
            break
        for i in range(touching.shape[0]):
            belief.load[i] = scratch.load[i]
            belief.touching[i] = touching[i]
        if not decided:
            if weighs:
                keep_borne(
                    least_load, settings.force_on, settings.gain, ground.link_of, stance.pressing, stance.eased,
                    stance.pulling, gap, scratch.load, ground.rate_offs,
                )  # fmt: skip
                open_unborne(
                    least_load, settings.force_on, settings.force_off, settings.gain, ground.link_of, stance.pressing,
                    stance.eased, scratch.load,
                )  # fmt: skip
            track_closed(
                settings.gap_on, settings.velocity_tolerance, ground.rate_offs, settings.force_on, settings.force_off,
                settings.load_sigma, here.velocity_sigmas, weight, touching, gap, rate, scratch.load, follows, doubt,
            )  # fmt: skip
            if weighs:
                for i in range(touching.shape[0]):
                    scratch.load[i] = belief.load[i]  # events are foretold from the loads of the mode
            if joint:
                decide_together(
                    use.close_above, use.open_below, surface, idle, follows, weight, gap, here.gap_sigmas,
                    stance.travel, belief.probability, closed, tracker.evidence,
                )  # fmt: skip
        if not joint:  # the tracker goes on from there, should forces be lost
            for i in range(touching.shape[0]):
                tracker.alone[i] = closed[i]
                tracker.alone_evidence[i] = 0.0 if decided else tracker.evidence[i]
        told_statuses(closed, tracker.slipping, out.codes[STATUS])
        if not _differs(touching, closed, mode):
            break
        for i in range(touching.shape[0]):
            touching[i] = closed[i]
    return code, residual


@kernel
def _differs(touching, closed, mode):
    """Whether the mode gives a force to a contact that is open, or does not know one that is closed."""
    found = False
    for i in range(touching.shape[0]):
        found = found or (touching[i] and not closed[i] and mode.forces[i * _WIDTH] > 0.0)
        found = found or (closed[i] and not touching[i])
    return found


@kernel
def weigh(settings, given, weight, jitter, robot, problem, here, tracker, mode, rate_lines, scratch, out):
    """Write the forces and accelerations of the mode, or those that hold without known actuation; between the two
    accelerations where efforts have a weight between 0 and 1, or are noisy.

    Args: jitter: (nv,), N m (N), standard deviations of the efforts' noise. rate_lines: (m, COLUMNS), of
        :mod:`.rate_lines`."""
    forces, accelerations = scratch.weighed[0], scratch.weighed[1]
    least = 1.0 if given.trusted else 0.0
    for i in range(weight.shape[0]):
        least = min(least, weight[i])
        for k in range(_WIDTH):
            forces[i, k] = mode.forces[i * _WIDTH + k] if given.trusted else 0.0
            accelerations[i, k] = mode.accelerations[i * _WIDTH + k] if given.trusted else 0.0
    if least < 1.0:
        _withdraw(settings, weight, least, problem, here, tracker, mode, rate_lines, scratch)
    if given.trusted and settings.gain > 0.0:
        _without_jitter(jitter, tracker.closed, scratch.motions, rate_lines, accelerations)
    contact_quantities(
        robot.normals, robot.tangents, robot.friction, here.tangential, here.slip_speed, forces, accelerations,
        out.vectors[FORCE_MODEL], out.numbers[FRICTION_MARGIN], scratch.slip_acceleration,
    )  # fmt: skip


@kernel
def _without_jitter(jitter, closed, motions, rate_lines, accelerations):
    """Move the accelerations along the normals of open contacts, (m, 3), towards those that their rates have shown, as
    far as noise of the efforts, (nv,), is more than these may be off. motions: M⁻¹ Jᵀ, as rows (3 m, nv)."""
    for i in range(closed.shape[0]):
        if closed[i] or not shows_slope(rate_lines[i]):
            continue
        noise = 0.0
        for k in range(jitter.shape[0]):
            noise += (motions[i * _WIDTH, k] * jitter[k]) ** 2
        accelerations[i, 0] += noise / (noise + _BENDS * _BENDS) * (rate_lines[i, 1] - accelerations[i, 0])


@kernel
def _withdraw(settings, weight, least, problem, here, tracker, mode, rate_lines, scratch):
    """Move accelerations towards those without known actuation: free fall of a floating base with its joints locked
    where no contact is closed, and none with. How fast an open contact's gap changes has shown its own after some
    time: a robot on a crane does not fall. ``least``: weight of the acceleration of the robot as a whole."""
    accelerations, free = scratch.weighed[1], scratch.vectors[0]
    nv, closed = mode.acceleration.shape[0], 0
    for i in range(weight.shape[0]):
        closed += tracker.closed[i]
    falls = settings.floating_base and closed == 0
    for k in range(nv):
        free[k] = -problem.bias[k] if falls and k < _BASE else 0.0
    if falls:
        cholesky_solve(_BASE, here.L, free)  # the first rows of L are the factor of the base's part
    for k in range(nv):
        mode.acceleration[k] = least * mode.acceleration[k] + (1.0 - least) * free[k] if least > 0.0 else free[k]
    for i in range(weight.shape[0]):
        for k in range(_WIDTH):
            other = 0.0
            if falls:
                other = problem.drift[i, k]
                for c in range(_BASE):
                    other += problem.rows[i, k, c] * free[c]
            if k == 0 and shows_slope(rate_lines[i]):
                other = rate_lines[i, 1]
            known = weight[i] * accelerations[i, k] if weight[i] > 0.0 else 0.0
            accelerations[i, k] = known + (1.0 - weight[i]) * other


@kernel
def follow_momentum(settings, given, problem, here, velocity, drives, observer):
    """Let the momentum observer take this state; it starts anew without known actuation. Returns whether it has
    settled."""
    if settings.gain <= 0.0 or not given.trusted:
        observer.age[0] = -1.0
    else:
        observe_momentum(settings.gain, given.dt, here.momentum, here.rate, problem.effort, velocity, drives, observer)
        square = 0.0  # of all together: of noisy velocities single ones are off
        for u in here.contact_velocity:
            square += u[0] ** 2 + u[1] ** 2 + u[2] ** 2
        if square < here.contact_velocity.shape[0] * MOVES * MOVES:
            begins_at_rest(settings.gain, observer)
    return has_settled(settings.gain, observer)


@kernel
def observe(settled, robot, here, tracker, observer, solver, scratch, out):
    """Write the forces that the momentum observer lays to the closed contacts; NaN without known actuation, for open
    contacts, and until the observer has settled."""
    estimate = out.vectors[FORCE_ESTIMATE]
    if settled:
        observed_forces(
            robot.normals, robot.tangents, tracker.closed, scratch.weighing, scratch.motions, scratch.products,
            observer, scratch.integers[0], solver.A, scratch.vectors, estimate,
        )  # fmt: skip
    else:
        for i in range(estimate.shape[0]):
            for k in range(3):
                estimate[i, k] = math.nan


@kernel
def foretell(settings, given, weight, robot, problem, here, tracker, noise, rate_lines, lines, scratch, ahead, out):
    """Write the next event of each contact. ``noise``: (m,), m/s, of the rates, as it was measured."""
    m = weight.shape[0]
    expected, rates, gaps = scratch.expected, scratch.vectors[0][:m], scratch.vectors[1][:m]
    without_noise(noise, here.velocity_sigmas, here.gap_velocity, rate_lines, rates)
    smooth_gaps(tracker.closed, problem.gap, rate_lines, gaps)
    for i in range(expected.shape[0]):
        for side in range(2):
            for k in range(3):
                expected[i, side, k] = problem.due[i, side, k] - given.elapsed
    next_events(
        settings.sigmas, here.gap_sigmas, here.velocity_sigmas, settings.acceleration_sigma, settings.force_sigma,
        settings.horizon, LINE_TIME_CONSTANT, weight, given.dt, tracker.closed, tracker.slipping,
        robot.friction, gaps, rates, here.slip_speed, scratch.load, out.numbers[FRICTION_MARGIN],
        scratch.weighed[1], scratch.slip_acceleration, expected, scratch.estimates[0], scratch.estimates[1], lines,
        out.codes[NEXT_EVENT], ahead.backed, ahead.event_times,
    )  # fmt: skip


@kernel
def follow(settings, given, believed, robot, problem, here, tracker, solver, scratch, ahead, lists):
    """Write the sequence of events after that, where it is wanted, and the actuation is known and believed.

    Returns how many events, and whether they are all.
    """
    m = robot.friction.shape[0]
    on = settings.rollout_horizon > 0.0 and 0 < m <= ROLLOUT_CONTACTS
    if not (on and given.sequence_wanted and believed):
        return 0, False
    bytes, flats = scratch.bytes, scratch.flats
    return rollout(
        settings.sigmas, here.gap_sigmas, here.velocity_sigmas, settings.acceleration_sigma, TANGENTS,
        settings.rollout_steps, settings.rollout_horizon, settings.slip_on, settings.mode_tolerance, here.G, scratch.b,
        robot.friction, robot.restitution, problem.gap, here.flat_velocity, tracker.closed, ahead.backed,
        ahead.event_times, solver.A, solver.work, solver.order, bytes[0], bytes[1], bytes[2], bytes[3],
        scratch.integers[0], scratch.directions, scratch.phi, flats[0], flats[1], flats[2], flats[3],
        lists.sequence_contacts, lists.sequence_kinds, lists.sequence_times, lists.sequence_modes,
    )  # fmt: skip


@kernel
def believes(given, weight):
    """Whether the actuation is known, and the efforts of all limbs are rather right than wrong."""
    believed = bool(given.trusted)
    for i in range(weight.shape[0]):
        believed = believed and weight[i] >= BELIEVED
    return believed


@kernel
def publish(given, solved, weight, robot, problem, here, mode, scratch, ahead, stance, ground, out):
    """Copy to the prediction what is remembered elsewhere, and withdraw forces that no contact law holds for.

    The force of a contact is valid where the contact does not touch, or where a mode was found with known actuation.
    Returns the validity bits that do not depend on the observer and on the sequence.
    """
    numbers, vectors = out.numbers, out.vectors
    all_known, touches = True, False
    for i in range(robot.friction.shape[0]):
        known = solved or scratch.touching[i] == 0
        all_known = all_known and known
        touches = touches or scratch.touching[i] != 0
        out.truths[FORCE_VALID, i] = known
        for k in range(3):
            vectors[POSITION, i, k] = problem.position[i, k]
            vectors[NORMAL, i, k] = robot.normals[i, k]
            vectors[TANGENTIAL, i, k] = here.tangential[i, k]
            if not known:
                vectors[FORCE_MODEL, i, k] = math.nan
        if not known:
            numbers[FRICTION_MARGIN, i] = math.nan
        numbers[GAP, i] = problem.gap[i]
        numbers[GAP_VELOCITY, i] = here.gap_velocity[i]
        numbers[GAP_ACCELERATION, i] = scratch.weighed[1, i, 0]
        numbers[FRICTION, i] = robot.friction[i]
        numbers[CRITICAL, i] = mode.critical[i]
        numbers[FORCE_WEIGHT, i] = weight[i]
        numbers[GROUND_OFFSET, i] = stance.shift[i]
        numbers[GROUND_SIGMA, i] = math.sqrt(ground.shift_variance[i])
        out.codes[JAMMED, i] = mode.jammed[i]
    validity = _ALWAYS
    if given.trusted:
        validity |= _EFFORT
    if solved and not touches:
        validity |= _UNIQUE
    if all_known:
        validity |= _FORCES
    return validity
