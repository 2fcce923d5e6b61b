"""The two steps of an update that form the belief of the contacts, and remember what the next one starts from."""

from __future__ import annotations

import math
from typing import NamedTuple

from hybrid_contact_ros.codes import EventKind
from hybrid_contact_ros.kernels.compiling import kernel
from hybrid_contact_ros.kernels.estimation.averaged_forces import SPAN
from hybrid_contact_ros.kernels.estimation.contact_belief import contact_belief
from hybrid_contact_ros.kernels.estimation.free_forces import FreeForces, free_forces
from hybrid_contact_ros.kernels.estimation.landed_forces import ARRIVING, PRESSED, take_fading
from hybrid_contact_ros.kernels.estimation.momentum_observer import has_settled
from hybrid_contact_ros.kernels.estimation.records import Array, Codes, Indices
from hybrid_contact_ros.kernels.estimation.sole_loads import doubt_unfelt_soles, soles_are_known
from hybrid_contact_ros.kernels.estimation.update_records import NEXT_EVENT, PROBABILITY

CALIBRATED = 1 << 7
"""Bit beside those of Validity: the belief decided which contacts are closed, and what it says is calibrated."""
# Probabilities between these were not frequencies on all of what was left out (docs/contact_belief.md).
_RARELY, _MOSTLY = 0.1, 0.99
# A belief against the status by more than this is when an event has begun.
_DOUBT = 0.5
# Without observed forces, a contact closes above this probability.
_CERTAIN = 0.9
_BRAKED = 0.5  # of its speed since it is believed to touch: what comes down less fast is stopped by soft ground
_COURSE_TIME, _COURSE_WIDTH = 0.005, 4.0  # s, and change of the logit within it, that tell a rise or fall from noise
_LARGEST = 14.0  # of a logit: beyond, a belief is as certain as any
_TRACKED, _LOADED = 1.5, 4.0  # logits that a status of the tracker is worth beside the belief: without and with loads
# The same of an open one whose gap is larger than _SIGMAS deviations: of a base at rest, from which it may hang, and of
# one that has moved on by _STANDS meanwhile.
_ABOVE, _MOVED, _SIGMAS = 6.0, 3.0, 3.0
_STANDS = 0.01  # m
_DIRECTIONS = 3  # of motion that show noise, at least, where the forces of soles are known
_TOUCHDOWN, _DEEP = int(EventKind.TOUCHDOWN), 3.0  # deviations
# Logit that it is worth that something else than the contacts carries the robot, and the most that is believed else.
_HELD_UP, _LOOKS = 6.0, 0.95


class BeliefUse(NamedTuple):
    """What is made of the belief."""

    lead: float  # of :func:`~.free_forces.free_forces`
    level: float  # N, of the same
    rank: int  # of the contacts' rows, in general, of the same
    close_above: float  # a contact closes above this probability
    open_below: float  # and opens below this one
    decides: bool  # whether the belief decides which contacts are closed
    apart: bool  # whether each contact has a link of its own
    observes: bool  # whether forces are observed: a single body has no joints whose efforts could be wrong or right
    slope: float  # of the published probability's logit over the belief's
    offset: float  # of the same
    course: float  # what is added to that logit where the belief rises, and taken from it where it falls


class BeliefRecord(NamedTuple):
    """What belongs to the belief of m contacts in g groups: the members of BeliefMemory, FreeForces and BeliefScratch,
    and what is carried from one state to the next."""

    members: Indices  # (g, GROUP), contacts of each group, −1 where there is none
    belief: Array  # (g, STATES)
    kind: Codes  # (m,), next event by the last state
    times: Array  # (m, 3), s
    held: Array  # (m,), of :func:`~.held_feet.learn_held`
    forces: Array  # (m, COLUMNS), of :mod:`.landed_forces`
    load: Array  # (m,), N, of the last state's mode, and touching (m,), what that was solved for
    touching: Codes
    weight: Array  # (m,), of forces and loads, in [0, 1]
    probability: Array  # (m, 2), closed and slipping
    slow: Array  # (m,), the low-passed logit of the first; :func:`belief_course`
    last: Array  # (nv,)
    noise: Array  # (1,)
    force: Array  # (m,), N, NaN where none are observed
    covariance: Array  # (m, m)
    doubt: Array  # (m,), N²
    averaged: Array  # (AVERAGED, nv)
    averaging: Array  # (AVERAGING,)
    inverse: Array  # (m, n)
    transition: Array  # (GROUP, 3, 3)
    single: Array  # (GROUP, 3)
    joint: Array  # (2^GROUP,)
    L: Array  # (GROUP, GROUP)
    x: Array  # (GROUP,)


@kernel
def believe(
    use, belief_settings, settings, given, believed, unsure, jitter, late, surfaces, own, quiet, every, plane_of,
    link_of, stopped, problem, here, tracker, observer, solver, scratch, belief, beside, sensed, out,
):  # fmt: skip
    """Form the belief of this state, before a mode is solved for: nothing here depends on which contacts are thought to
    be closed, except the load of the last state's mode.

    Args: use: BeliefUse. belief_settings: BeliefSettings. unsure, jitter: of :func:`~.free_forces.free_forces`.
        late: s, by which efforts are for certain.
        surfaces, own: (m,), m, quiet: (m,), (m/s)², of GroundScratch. plane_of: (m,) int64, negative for a joint limit.
        link_of: (m,) int64, of BeliefInput.
        stopped: (m,), s since an impact stopped the contact, negative where none has. belief: in and out, BeliefRecord.
        beside: (m, COLUMNS), of :func:`~.sensor_likelihoods.sense`, and ``sensed``, whether foot sensors say enough
        without forces.

    Returns:
        Whether the belief decided which contacts are closed, which it does once there are observed forces, of efforts
        that are ``believed``, and those of soles are known (:func:`~.sole_loads.soles_are_known`), or where foot
        sensors say enough. Where contacts explain every motion (a leg on a rail: nv is the rank of their rows), forces
        are never observed; there it decides as well, but asks for more certainty to close.
    """
    s, b = belief_settings, belief
    observed = use.observes and has_settled(settings.gain, observer)
    if observed:
        observed = free_forces(
            use.lead, use.level, use.rank, s.share, settings.gain, given.dt, scratch.weighing, scratch.motions,
            scratch.products, observer.residual, every, unsure, jitter,
            FreeForces(b.last, b.noise, b.force, b.covariance, b.doubt, b.averaged, b.averaging, b.inverse), solver.A,
            scratch.vectors, scratch.weighed[0],
        )  # fmt: skip
    else:
        b.noise[0] = -1.0
        b.averaging[SPAN] = 0.0
    if observed:
        take_fading(b.averaging[SPAN], tracker.closed, b.forces, b.force)
    else:
        for i in range(b.force.shape[0]):
            b.force[i] = math.nan  # those of before tell nothing of this state
            b.doubt[i] = 0.0
    # Who hears the same for longer, and is told less by each state, forgets as much more slowly.
    lasts = max(s.force_correlation, b.averaging[SPAN])
    pace = s.force_correlation / lasts if lasts > 0.0 else 1.0
    contact_belief(
        s.gap_sigma, s.swing_height, s.sunk, s.swing_speed, s.swing_slide, s.slip_speed, s.rest_speed, s.load_sigma,
        s.load_limit, s.slip_sigma, s.slip_limit, s.force_part, s.share, s.outliers,
        s.gap_correlation / pace, max(s.velocity_correlation, given.averaged),
        s.load_correlation, lasts, pace * s.touchdown_rate,
        pace * s.liftoff_rate, s.slip_rate, s.stick_rate, s.foresight, s.foresight_sigma, s.sigmas, b.members, given.dt,
        given.first, given.trusted, observed, b.touching, problem.gap, here.gap_sigmas, surfaces, own,
        here.gap_velocity, here.velocity_sigmas, tracker.spread, here.slip_speed, quiet, b.load, b.force,
        b.covariance, b.doubt, b.weight, tracker.closed, late, link_of, b.belief, b.kind, b.times, b.held, b.forces,
        b.transition, b.single, b.joint, b.L, b.x, beside, b.probability,
    )  # fmt: skip
    shown = problem.bias.shape[0] - use.rank >= _DIRECTIONS
    told = observed and (use.apart or (shown and soles_are_known(link_of, s.share, b.covariance)))
    if told and not use.apart:
        doubt_unfelt_soles(
            settings.gap_on, 0.5 * settings.velocity_tolerance, settings.force_on, link_of, stopped,
            tracker.closed, problem.gap, here.gap_velocity, b.force, b.covariance, b.probability,
        )  # fmt: skip
    for i in range(b.load.shape[0]):
        course = belief_course(given.dt, given.first, b.probability[i, 0], i, b.slow)
        out.numbers[PROBABILITY, i] = calibrated(use.slope, use.offset + use.course * course, b.probability[i, 0])
    few = use.observes and use.apart and problem.bias.shape[0] <= use.rank
    for i in range(b.load.shape[0]):
        few = few and plane_of[i] >= 0
    if use.decides and ((believed and (told or few)) or (sensed and use.apart)):
        decide_closed(
            use.close_above if told or sensed else max(use.close_above, _CERTAIN), use.open_below,
            settings.velocity_tolerance, problem.gap, here.gap_velocity, stopped, b.probability, b.forces,
            tracker.closed, tracker.evidence,
        )  # fmt: skip
        return True
    return False


@kernel
def belief_course(dt, first, p, i, slow):
    """Whether the belief in contact i rises, 1, or falls, −1, and anything between.

    States that follow each other quickly are no independent witnesses, and are not counted as such. A belief that
    changes is therefore behind what it will be: while it rises, more contacts are closed than it says, and while it
    falls, fewer (docs/contact_belief.md).

    Args: p: the belief of this state. slow: in and out (m,), the logit, low-passed over 5 ms.
    """
    p = min(max(p, 1e-12), 1.0 - 1e-12)
    logit = min(max(math.log(p) - math.log1p(-p), -_LARGEST), _LARGEST)
    if first or not abs(slow[i]) <= _LARGEST:
        slow[i] = logit
    else:
        slow[i] += (1.0 - math.exp(-max(dt, 0.0) / _COURSE_TIME)) * (logit - slow[i])
    return math.tanh((logit - slow[i]) / _COURSE_WIDTH)


@kernel
def calibrated(slope, offset, p):
    """The frequency with which contacts that are believed to be closed with ``p`` are: logistic in the logit of p.

    Example:
        >>> calibrated(1.0, 0.0, 0.25), round(calibrated(0.5, 0.0, 0.9), 3)
        (0.25, 0.75)
    """
    if (slope == 1.0 and offset == 0.0) or p <= 0.0 or p >= 1.0:
        return p
    odds = math.exp(-(offset + slope * (math.log(p) - math.log1p(-p))))
    return 1.0 / (1.0 + odds)


@kernel
def together(surface, closed, weight, gap, sigma, travel, p):
    """The probability of a contact in which is believed with ``p``, where forces are not observed, and of which the
    tracker says whether it is ``closed``.

    The tracker knows what the belief does not: stops, stillness, and the noise of rates; and, with the ``weight`` of
    the efforts, what the points of a sole bear together (docs/contact_belief.md). What is certainly above the ground
    does not stand, however still it is: it hangs, unless the base moves on meanwhile. gap, its deviation ``sigma``,
    and that of the ``surface``: m. travel: (3,), m, of the base since the contact is still.
    """
    worth = _TRACKED + (_LOADED - _TRACKED) * weight
    if closed:
        return calibrated(1.0, worth, p)
    if gap > _SIGMAS * math.sqrt(sigma * sigma + surface * surface):
        far = math.sqrt(travel[0] ** 2 + travel[1] ** 2 + travel[2] ** 2)
        hangs = max(1.0 - far / _STANDS, 0.0)
        worth = max(worth, _MOVED + hangs * (_ABOVE - _MOVED))
    return calibrated(1.0, -worth, p)


@kernel
def heed_tracker(surface, closed, weight, gap, sigmas, travel, belief, out):
    """Publish what belief and tracker say together, where the tracker calls contacts ``closed`` (m,); ``weight`` of
    their efforts, gap and its deviations ``sigmas``: (m,), ``surface``: (m,), its own, m. ``travel``: (m, 3), m, of the
    base since the contact is still."""
    for i in range(closed.shape[0]):
        p = belief.probability[i, 0]
        out.numbers[PROBABILITY, i] = together(surface[i], closed[i], weight[i], gap[i], sigmas[i], travel[i], p)


@kernel
def decide_together(
    close_above, open_below, surface, idle, alone, weight, gap, sigmas, travel, probability, closed, evidence
):  # fmt: skip
    """Close and open contacts by what belief and tracker say together, where forces tell nothing.

    Args:
        surface: (m,), m, standard deviations of its height. idle: (m,) uint8, contacts of which efforts say that they
            do not press (:mod:`.hanging`): these are open. alone: (m,) uint8, what the tracker says. weight: (m,), of
            efforts.
        gap, sigmas: (m,), m. travel: (m, 3), m, of the base since the contact is still.
        probability: (m, 2), its first column. closed: in and out (m,) uint8.
        evidence: out (m,), positive where it is against the status that the contact had before this state.
    """
    for i in range(closed.shape[0]):
        p = 0.0
        if not idle[i]:
            p = together(surface[i], alone[i], weight[i], gap[i], sigmas[i], travel[i], probability[i, 0])
        evidence[i] = max((1.0 - p if closed[i] else p) - _DOUBT, 0.0)
        closed[i] = p >= open_below if closed[i] else p > close_above


@kernel
def heed_hanging(idle, out):
    """Publish less for contacts of which efforts say that they do not press (:mod:`.hanging`), ``idle`` (m,): from
    where it is, a foot that hangs looks like one that stands."""
    for i in range(idle.shape[0]):
        if idle[i]:
            out.numbers[PROBABILITY, i] = calibrated(1.0, -_HELD_UP, min(out.numbers[PROBABILITY, i], _LOOKS))


@kernel
def are_calibrated(out):
    """Whether all published probabilities are of the size that was measured to be calibrated."""
    between = 0
    for i in range(out.numbers.shape[1]):
        between += _RARELY < out.numbers[PROBABILITY, i] < _MOSTLY
    return between == 0


@kernel
def decide_closed(
    close_above, open_below, velocity_tolerance, gap, rate, stopped, probability, forces, closed, evidence
):
    """Close contacts that are believed to be closed with more than ``close_above``, open them below ``open_below``.

    A contact that has a gap and approaches faster than ``velocity_tolerance`` (m/s) stays open: nothing has stopped it
    yet, however certain it is that something will. What an impact did stop may still seem to sink, where the base comes
    later than the joints. Ground that gives way stops a foot by and by: what is believed to touch, and has lost half of
    its speed since, has met it, and so has what surely presses, and did not before.

    Args:
        gap: φ (m,), m. rate: φ̇ (m,), m/s. stopped: (m,), s since an impact stopped the contact; negative without.
        probability: (m, 2), its first column. forces: in and out (m, COLUMNS), of :mod:`.landed_forces`.
        closed: in and out (m,) uint8.
        evidence: out (m,), positive where the belief is against the status that the contact had before this state: also
            of a contact that would close, if it had not to wait, for that is when it touched.
    """
    for i in range(closed.shape[0]):
        p = probability[i, 0]
        if closed[i]:
            evidence[i] = max(1.0 - p - _DOUBT, 0.0)
            closed[i] = 0 if p < open_below else 1
            forces[i, ARRIVING] = 0.0
        else:
            arriving = gap[i] > 0.0 and rate[i] < -velocity_tolerance and stopped[i] < 0.0
            closes = p > close_above
            forces[i, ARRIVING] = max(forces[i, ARRIVING], -rate[i]) if closes and arriving else 0.0
            arriving = arriving and -rate[i] >= _BRAKED * forces[i, ARRIVING] and forces[i, PRESSED] == 0.0
            evidence[i] = max(p - _DOUBT, 0.0) if closes or not arriving else 0.0
            closed[i] = 1 if closes and not arriving else 0


@kernel
def remember(believed, felt, surface, gap, gap_sigmas, ahead, belief, out):
    """Keep the events that this state foretells: the next belief starts from them. Where no forces tell a contact,
    what is open deep in the expected ground has not met it there, and does not meet it now; nor does the tip of an arm,
    whose table is ``felt``, that is open below where it was expected."""
    deviations = 0.0 if felt else math.inf if believed else _DEEP
    for i in range(belief.load.shape[0]):
        belief.kind[i] = out.codes[NEXT_EVENT, i]
        deep = gap[i] < -deviations * math.hypot(surface[i], gap_sigmas[i])
        if deep and belief.kind[i] == _TOUCHDOWN and ahead.event_times[i, 0] <= 0.0:
            belief.kind[i] = 0
        for k in range(3):
            belief.times[i, k] = ahead.event_times[i, k]
