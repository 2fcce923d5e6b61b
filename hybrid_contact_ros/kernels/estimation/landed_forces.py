"""How wrong the observed force of a foot is: in its swing, where it bears nothing, and just after it has landed.

An error of efforts is a force that a foot in the air seems to have. How large that is differs from robot to robot, and
from leg to leg: with right efforts it is a hundredth of a share of the weight, and a light touch is none of it; with
friction or a bias it is a fifth, and no touch. It is therefore measured, while a foot is in the air for certain. And
what seems to press on a foot that moves on above the ground is an error, however large it is.

Of a foot that has just landed efforts tell least. An impact changes the velocities of the leg at once, and the torques
of its drives with them, but measured torques often come some milliseconds late, and what they lack looks like a pull. A
mode, which knows no impacts, asks then for loads that are none. What is missing from a load does not open a foot that
has landed after a swing, until it rises from where it touched, or some time has passed.

Efforts that are late for certain (:mod:`.effort_errors`) say that a foot presses for as long after it has left. A foot
that stood, and rises, is therefore not held by them for twice that time: its motion tells.
"""

from __future__ import annotations

import math

import numpy as np

from hybrid_contact_ros.kernels.compiling import kernel
from hybrid_contact_ros.kernels.estimation.contact_tracking import BELIEVED
from hybrid_contact_ros.kernels.estimation.records import Array
from hybrid_contact_ros.kernels.estimation.stance import FLIES

COLUMNS = 11
SINCE, SQUARES, SECONDS, STOPPING, TOUCHED, RISING, STOOD, ARRIVING, PRESSED, FELT, LEFT = range(COLUMNS)
"""Of the memory of a foot: s since it opened, or minus that since it has landed; squares of the force that it seemed to
have in the air (shares of the weight), times s, and these s; whether the last state was one in which it was stopped;
m, its gap when it was seen to touch; s, for which it has risen since it stood; s, for which it stood last; m/s, how
fast it has come down at most since it is believed to touch; whether it was open and surely bears something, which it
did not before; N, its observed force, low-passed, infinite while there is none; and N, its observed force when it was
closed last."""
_LAG = 0.03  # s, for which an observed force fades
_HIGH, _SIGMAS = 0.01, 5.0  # m, and deviations of the gap: above both a foot is in the air for certain
_PRIOR = 0.05  # s of flight, which the configured deviation counts as
_RECALL = 5.0  # s of flight
_STEP = 0.02  # s: a state is a witness of so much flight at most, and of an error of one share of the weight
LEAST = 0.05  # share of the weight: no force is known better
_SWING = 0.05  # s in the air, without which a touch is a part of the last stance
_LANDED = 0.016  # s after a touch, in which missing forces tell nothing
# m/s, m, m/s: what is as fast has been thrown back, once it is so much higher than where it touched, or if it is faster
# still. What an impact presses in comes up again.
_RISES, _RISEN, _THROWN = 0.07, 0.0002, 0.15
# s of a stance, after which a foot that rises leaves; and times by which efforts are late, for which they cannot tell.
_STANDS, _UNFELT = 0.03, 2.0
_FAINT, _DOUBTED = 0.5, 0.1  # share of the weight: less is missing in a foot that has just landed, and its weight
# m, and deviations of gap and surface, above which a foot may fly; deviations of a velocity; and the weight of a force
# that seems to press on a foot that flies.
_ABOVE, _APART, NOISES, _NONE = 0.005, 3.0, 3.0, 1e-3
_LIFTED, _CREEPS = 0.012, 0.03  # m, m/s: of a foot that has left what it stood on, however slowly
_THROUGH = 0.03  # m: no ground gives way by as much and lets a foot fall on


@kernel
def note_force(i, settings, given, variance, memory):
    """Take the state of contact i. ``variance``: m², of its gap. memory: in and out (m, COLUMNS)."""
    since = memory[i, SINCE]
    opened = 0.0 < since <= _UNFELT * given.late
    stood = memory[i, RISING] > 0.0 or (memory[i, STOOD] > _STANDS and (given.stood[i] or opened))
    rises = stood and given.rate[i] > _RISES + NOISES * rate_noise(i, given)
    memory[i, RISING] = memory[i, RISING] + given.dt if rises else 0.0
    if given.stood[i]:
        if since > 0.0:
            memory[i, TOUCHED] = given.gap[i]
        if 0.0 < since < _SWING:
            since = -_LANDED
        memory[i, SINCE] = min(since, 0.0) - given.dt
        memory[i, STOOD] = -memory[i, SINCE]
        return
    memory[i, SINCE] = max(since, 0.0) + given.dt
    forced = given.trusted and given.observed and given.force_weight[i] >= BELIEVED
    aloft = given.gap[i] > max(_HIGH, _SIGMAS * math.sqrt(variance)) and memory[i, SINCE] > _LAG
    if forced and aloft:
        dt = min(given.dt, _STEP)
        keep = math.exp(-dt / _RECALL)
        part = abs(given.force[i]) / settings.share
        memory[i, SQUARES] = keep * memory[i, SQUARES] + (dt * part * part if part < 1.0 else dt)
        memory[i, SECONDS] = keep * memory[i, SECONDS] + dt


@kernel
def take_fading(lag, closed, memory, force):
    """Take from the ``force`` (m,), N, of open contacts what an average that lags by ``lag`` (s) has kept of the one
    with which they opened. closed: (m,) uint8, with the state before. memory: in and out (m, COLUMNS)."""
    for i in range(force.shape[0]):
        if closed[i]:
            memory[i, LEFT] = max(force[i], 0.0)
        elif lag > 0.0:
            poles = 2.0 * max(memory[i, SINCE], 0.0) / lag  # of two low-passes
            force[i] -= memory[i, LEFT] * (1.0 + poles) * math.exp(-poles)


@kernel
def force_error(i, settings, memory):
    """The standard deviation of the observed force of contact i beside its noise, in shares of the weight: as
    configured where it stands or, at least, has just stood, and else what it was in the air."""
    if memory[i, SINCE] <= 0.0:
        return settings.force_part
    least = settings.force_part if memory[i, SINCE] < _LAG else min(LEAST, settings.force_part)
    return max(math.sqrt(pressed_aloft(i, settings.force_part, memory)), least)


@kernel
def load_doubt(i, settings, given, memory):
    """The variance of the load of contact i that efforts are wrong by, N²: as their covariance says, and, where it
    moves along the surface as a foot in its swing does, no less than what seemed to press in the air."""
    if not _swings(i, given.slide[i], given):
        return given.doubt[i]
    return max(given.doubt[i], pressed_aloft(i, 0.0, memory) * settings.share * settings.share)


@kernel
def pressed_aloft(i, part, memory):
    """The mean square of the force that contact i seemed to have in the air, in shares of the weight; ``part``: what it
    is expected to be before that is known."""
    return (_PRIOR * part**2 + memory[i, SQUARES]) / (_PRIOR + memory[i, SECONDS])


@kernel
def has_landed(i, given, memory):
    """Whether contact i has landed so lately that a force that is missing tells nothing, and has not been thrown
    back."""
    if not given.stood[i] or memory[i, SINCE] <= -_LANDED:
        return False
    pressed_in = given.gap[i] - memory[i, TOUCHED] < _RISEN and given.rate[i] < _THROWN
    return pressed_in or given.rate[i] < _RISES


@kernel
def force_deviation(i, settings, given, memory):
    """The standard deviation of the observed force of contact i, N."""
    return deviation_with(i, force_error(i, settings, memory), settings, given)


@kernel
def deviation_with(i, part, settings, given):
    """The standard deviation (N) of the observed force of contact i that is wrong by a ``part`` of a share, too."""
    error = part * settings.share
    return math.sqrt(given.force_covariance[i, i] + error * error)


@kernel
def flies(i, given, memory):
    """Whether contact i moves so far above the ground that no force presses on it, whatever is observed: the observer
    lags, late efforts do so more, and what something else does to a robot on one leg seems to press on the other."""
    far = given.gap[i] - _APART * math.hypot(given.gap_sigmas[i], given.own[i])
    if far <= _ABOVE:
        return False
    return _swings(i, math.hypot(given.rate[i], given.slide[i]), given) or _is_lifted(i, far, given, memory)


@kernel
def _is_lifted(i, far, given, memory):
    """Whether contact i, which has stood, rises and is so ``far`` (m) above the ground by now that no ground follows:
    what carries its leg elsewhere seems to press on it."""
    stood = given.stood[i] and -memory[i, SINCE] > _STANDS
    return stood and far > _LIFTED and creeps_up(i, given)


@kernel
def creeps_up(i, given):
    """Whether contact i rises, however slowly, and that is no noise."""
    return given.rate[i] > _CREEPS + NOISES * rate_noise(i, given)


@kernel
def falls_through(i, given):
    """Whether contact i, which is open, goes on down so fast, and so deep below where the ground was expected, that
    there is none, however uncertain its height was: a step down."""
    return not given.stood[i] and given.gap[i] < -_THROUGH and _swings(i, -given.rate[i], given)


@kernel
def _swings(i, speed, given):
    """Whether a ``speed`` (m/s) of contact i is that of a swing, and no noise."""
    return speed > FLIES + NOISES * rate_noise(i, given)


@kernel
def rate_noise(i, given):
    return max(given.rate_sigmas[i], math.sqrt(given.spread[i]))


@kernel
def leaves_unfelt(i, given, memory):
    """Whether contact i rises, and efforts that are late for certain cannot have told yet that it has left."""
    return 0.0 < memory[i, RISING] <= _UNFELT * given.late


@kernel
def weight_of_force(i, settings, given, memory):
    """``given.force_weight``, but less of a foot that has just landed where it lacks a force, and of one that flies
    where it has one."""
    trust = min(max(given.force_weight[i], 1e-6), 1.0)
    if given.force[i] > 0.0 and (flies(i, given, memory) or leaves_unfelt(i, given, memory)):
        return min(trust, _NONE)
    if given.force[i] < _FAINT * settings.share and has_landed(i, given, memory):
        return min(trust, _DOUBTED)
    return trust


def force_memory(m: int) -> Array:
    """Nothing is known of m contacts."""
    memory = np.zeros((m, COLUMNS))
    memory[:, FELT] = math.inf
    return memory
