"""How much the gap of a contact moves while it stands: by noise of the velocities, or on soft ground."""

from __future__ import annotations

import math

from hybrid_contact_ros.kernels.compiling import kernel
from hybrid_contact_ros.kernels.estimation.contact_tracking import BELIEVED

ALL, UP, DOWN, CLOSED_FOR, QUIET = range(5)
"""Columns of ``StanceMemory.unrest``: mean squares of the gap's rate while the contact stands, (m/s)²: of all rates, of
those that are positive, and, from its touchdown on, of those that are negative; for how long it has been closed, s;
and the size that four of five rates are below, m/s, zero until some were seen."""
UNREST_COLUMNS = 5
_TIME = 0.2  # s
_LANDED = 0.05  # s, after which the ringing of an impact is over
_STOPPED, _SUNK = 0.02, 0.12  # s after a touchdown: a foot on rigid ground has stopped, one on soft ground has sunk
_RISEN = 0.002  # m: what comes down from higher had left
_BELOW, _SIZE, _STILLEST = 0.8, 1.28, 0.005  # of rates, deviations, m/s: four of five normal rates are below these
_CALM = 1.5  # times the measured size: not all rates are normal
_LEAVES = 8.0  # times the size of a resting rate, with which a foot leaves
_RESTLESS = 2.0  # deviations of a rate that speaks for nothing


@kernel
def note_unrest(i, settings, dt, weight, follows, problem, here, tracker, memory, ahead):
    """Learn how much the gap of contact i moves while it stands, where it should not; a rate of that size speaks for
    nothing.

    A contact that is thought to be closed may have left: its rate is that of a swing then, and to learn it would keep
    all later ones closed. Only motions to and fro are unrest: twice the smaller one of the mean squares up and down. A
    foot that leaves has gone up, and one that sinks in soft ground goes down after its touchdown. What comes down from
    above where it stood does not. ``weight``: of the force on it. ``follows``: m/s, how fast a foot moves in ground
    that gives way.
    """
    unrest, rate = memory.unrest[i], here.gap_velocity[i]
    lag = 1.0 - math.exp(-dt / _TIME)
    unrest[CLOSED_FOR] = unrest[CLOSED_FOR] + dt if tracker.closed[i] else 0.0
    if memory.entry[i] >= 0 and memory.standing[i] > _LANDED and tracker.closed[i]:
        unrest[ALL] += lag * (rate * rate - unrest[ALL])
        unrest[UP] += lag * (max(rate, 0.0) ** 2 - unrest[UP])
        size = unrest[QUIET] if unrest[QUIET] > 0.0 else settings.velocity_tolerance
        step = _BELOW if abs(rate) > size else _BELOW - 1.0
        unrest[QUIET] = min(max(size * math.exp(dt / _TIME * step), _STILLEST), settings.velocity_tolerance)
    low = memory.entry[i] >= 0 and problem.gap[i] - memory.stance_height[i] < _RISEN
    if unrest[CLOSED_FOR] > _STOPPED and (unrest[CLOSED_FOR] < _SUNK or low):
        unrest[DOWN] += lag * (min(rate, 0.0) ** 2 - unrest[DOWN])
    square = min(unrest[ALL], 2.0 * min(unrest[UP], unrest[DOWN]))
    square = max(square, follows * follows)
    here.velocity_sigmas[i] = math.sqrt(here.velocity_sigmas[i] ** 2 + square)
    leaves = settings.velocity_tolerance
    if _rest_tells(weight, unrest):
        leaves = min(leaves, _LEAVES * unrest[QUIET])
    ahead.rate_offs[i] = max(leaves, _RESTLESS * math.sqrt(square))


@kernel
def _rest_tells(weight, unrest):
    """Whether how still a contact was tells when it leaves: forces do not, by their ``weight``, some of its rates at
    rest were seen, and it has not just landed. ``unrest``: (UNREST_COLUMNS,), of the contact."""
    return weight < BELIEVED and unrest[QUIET] > 0.0 and not 0.0 < unrest[CLOSED_FOR] <= _LANDED


@kernel
def quiet_rates(rest_speed, weight, rate, sigmas, unrest, quiet):
    """Write by how much the variance of a ``rate`` (m,), m/s, is less, at a contact that rests, than that of its noise,
    ``sigmas`` (m,), m/s, as it is configured, and of ``rest_speed``, m/s: quiet (m,), (m/s)². It tells when a foot
    leaves, where forces do not, by their ``weight`` (m,): zero of one that comes down, or has just landed."""
    for i in range(quiet.shape[0]):
        quiet[i] = 0.0
        if rate[i] > 0.0 and _rest_tells(weight[i], unrest[i]):
            measured = (_CALM * unrest[i, QUIET] / _SIZE) ** 2
            quiet[i] = max(sigmas[i] ** 2 + rest_speed * rest_speed - measured, 0.0)
