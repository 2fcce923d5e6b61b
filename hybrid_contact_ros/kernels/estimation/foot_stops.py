"""Feet that something has stopped, where no force tells of it: an impact takes more speed in less time than a leg does.

A foot that approaches the ground loses its speed within a few milliseconds when it lands; a leg that slows it down by
itself takes several times as long. What was stopped is in contact, and the ground is where it was stopped, whatever the
configured plane and the radius of the foot say. It stays there until it has risen by more than ``gap_off``, or falls
on. Springs and drives ring after an impact: at first, a rate of the size of the impact's speed says nothing. Where
there are efforts and they do not explain the motion, something in the leg gives way that the model does not know, and
no encoder need see it: then a foot may rise further, by what the speed of the impact covers while it lasts. An impact
of one edge of a sole stops the other edge, too, which is still in the air.

Forces that are trusted tell more. But efforts that let a foot which was stopped, and has stayed where it was, carry
nothing for as long as forces need to be seen, are wrong for this contact. Where they had it carry something after that
time, they are right, and what they say of its liftoff is, too.
"""

from __future__ import annotations

import math
from typing import NamedTuple

from hybrid_contact_ros.kernels.compiling import kernel
from hybrid_contact_ros.kernels.estimation.contact_tracking import BELIEVED
from hybrid_contact_ros.kernels.estimation.met_ground import is_single
from hybrid_contact_ros.kernels.estimation.momentum_observer import LONGEST_PAUSE
from hybrid_contact_ros.kernels.estimation.records import Array, Codes

_STOPPING, _STATES = 0.01, 3  # s, within which an impact stops a foot, and states on average that it takes to see that
_LOST, _NOISES = 0.3, 6.0  # m/s, and deviations of the rate's noise: what is lost of the speed at least
_HARDER = 3.0  # times what it lost in as long a time before: a leg that brakes hard takes it by and by
_PART, _KICK = 0.5, 1.5  # and this part of it; what throws a foot up by as many times that speed is no ground
# m, m, deviations: nothing is expected to stop a foot further from where the ground is; steps are lower than the second
# one. Where efforts miss something of the motion, what gives way in a leg may stop a foot in the air.
_NEAR, _STEP, _DEVIATIONS = 0.04, 0.06, 3.0
# m, s, part of the speed: as high a step stops a foot for good, so that it rests for so long at less than that
_HIGHEST, _RESTS, _REST = 0.15, 0.008, 0.15
_RINGING, _REBOUND = 0.1, 2.0  # s, in which the motion after an impact fades, and how fast it is by what was lost
_CERTAIN = 4.0  # deviations within which a gap is none
_BOUNCING = 0.01  # s, the same of a leg of which nothing says that it gives way
_LONGEST = 1.0  # s: what stands for longer, the ground has learned, or it is no stance
_SIGMA = 0.003  # m, of the height of the ground at which a foot was stopped
# m: a point of a sole that is stopped so far above where another one of its points was has been stopped by that one
_TILT = 0.02
_KNOWN = 0.04  # s, after which the force that stops a foot is seen, and the ground that bears it
_DOUBTED, _BORNE = 1, 2
_UNKNOWN = 5.0  # times the configured noise at first;
_FIRST, _LEARNED = 10, 20.0  # states in which it is no less than any change, and in which it is learned quickly
_UP, _DOWN, _QUARTILE = 0.03, 0.01, 1.627  # of the noise's logarithm, for one of four states up, and down for three


class FootStops(NamedTuple):
    """What is remembered of m contacts."""

    stop_since: Array  # (m,), s since the contact was stopped; negative where it is not
    stop_begun: Array  # (m,), m, the measured gap then, and the lowest one since
    stop_floor: Array  # (m,), m
    stop_speed: Array  # (m,), m/s, by which the rate changed then
    stop_last: Array  # (m,), m/s, rate of the last state
    stop_noise: Array  # (m,), m/s, standard deviation of the rate from one state to the next
    stop_doubted: Codes  # (m,), whether the stop contradicts the efforts (_DOUBTED), or they have borne it out (_BORNE)


@kernel
def doubt_efforts(doubted, weight):
    """Take from a contact the ``weight`` (m,) of its efforts where a stop contradicts them."""
    for i in range(weight.shape[0]):
        if doubted[i] == _DOUBTED:
            weight[i] = 0.0


@kernel
def hold_stopped(
    first, dt, known, believed, weight, closed, gap_on, gap_off, gap_sigma, velocity_sigma, plane_of, link_of, entry,
    rate, rates, memory, gap, shift, shift_variance, rate_offs, gap_offs, gap_sigmas, velocity_sigmas,
):  # fmt: skip
    """Note which contacts something has stopped, and put the ground there, for contacts without trusted forces.

    A contact that the learned ground bears (``entry``) is held there, and not here.

    Args:
        dt: s since the last state. known: whether there are efforts. believed: whether the efforts of all limbs are.
        weight: in and out (m,), of the contact's forces. closed: (m,) uint8, of the last state.
        gap_on, gap_off, gap_sigma: m, velocity_sigma: m/s, of ActivationConfig.
        plane_of: (m,) int64, negative for a joint limit. link_of: (m,) int64, the first contact of the same link
            and plane.
        entry: (m,) int64, foothold or −1.
        rate: φ̇ (m,), m/s. rates: those of the last states, RateNoise, which has this one.
        memory: in and out, FootStops.
        gap, shift: in and out (m,), m; the measured gap is their sum. shift_variance: in and out (m,), m².
        rate_offs, gap_offs: in and out (m,), m/s and m, rates and gaps up to which nothing opens a contact.
        gap_sigmas, velocity_sigmas: in and out (m,), m, m/s, of gap and rate.
    """
    anew = first or dt > LONGEST_PAUSE
    for i in range(gap.shape[0]):
        if first:
            memory.stop_noise[i] = _UNKNOWN * velocity_sigma
        if anew:
            memory.stop_since[i] = -1.0
            memory.stop_doubted[i] = 0
        elif dt > 0.0:
            quick = max(1.0, _LEARNED / rates.noise_count[0])
            change = abs(rate[i] - memory.stop_last[i])
            if rates.noise_count[0] <= _FIRST:
                memory.stop_noise[i] = max(memory.stop_noise[i], change)
            up = change > _QUARTILE * memory.stop_noise[i]
            found = memory.stop_noise[i] * math.exp(quick * (_UP if up else -_DOWN))
            memory.stop_noise[i] = max(found, 0.5 * velocity_sigma)
        memory.stop_last[i] = rate[i]
        if plane_of[i] < 0:
            continue
        measured = gap[i] + shift[i]
        _follow(
            i, dt, known, measured, gap_on, gap_off, gap_sigma, link_of, entry, gap, shift_variance, rate, rates, memory
        )
        stays = memory.stop_since[i] >= 0.0 and measured - memory.stop_floor[i] <= gap_on
        if memory.stop_since[i] < 0.0:
            memory.stop_doubted[i] = 0
        elif memory.stop_since[i] > _KNOWN and memory.stop_doubted[i] != _BORNE:
            if closed[i] and weight[i] >= BELIEVED:
                memory.stop_doubted[i] = _BORNE
            elif stays and not closed[i]:
                memory.stop_doubted[i] = _DOUBTED
        # Where the efforts of another limb are wrong, those of this one wait until they could be seen.
        waits = weight[i] < BELIEVED or (not believed and memory.stop_since[i] <= _KNOWN)
        if memory.stop_since[i] < 0.0 or not waits or entry[i] >= 0:
            continue
        weight[i] = 0.0
        shift[i] = memory.stop_floor[i]
        gap[i] = measured - shift[i]
        shift_variance[i] = _SIGMA * _SIGMA
        gap_sigmas[i] = math.sqrt(gap_sigma * gap_sigma + _SIGMA * _SIGMA)
        rings = _REBOUND * _fading(i, _RINGING if known else _BOUNCING, memory)
        rate_offs[i] = max(rate_offs[i], rings)
        gap_offs[i] = _rise(i, known, gap_on, gap_off, gap_sigma, link_of, memory)
        velocity_sigmas[i] = math.sqrt(velocity_sigmas[i] ** 2 + rings * rings)


@kernel
def _follow(
    i, dt, known, measured, gap_on, gap_off, gap_sigma, link_of, entry, gap, shift_variance, rate, rates, memory
):
    """Begin, keep or end the stop of contact i."""
    if memory.stop_since[i] >= 0.0:
        memory.stop_since[i] += dt
        memory.stop_floor[i] = min(memory.stop_floor[i], measured)
        risen = measured - memory.stop_floor[i] > _rise(i, known, gap_on, gap_off, gap_sigma, link_of, memory)
        # What falls on, deeper than an impact presses a foot in, was not stopped: its leg shook, or it left an edge.
        deep = memory.stop_begun[i] - measured > gap_off + 0.5 * _STOPPING * memory.stop_speed[i]
        falls = deep and rate[i] < -_LOST
        tilts = _tilts(i, memory.stop_floor[i], link_of, memory)
        if risen or falls or tilts or entry[i] >= 0 or memory.stop_since[i] > _LONGEST:
            memory.stop_since[i] = -1.0
        return
    peak = _peak(i, 0.0, link_of, rates)
    lost = peak + rate[i]
    near = max(_NEAR if known else _STEP, _DEVIATIONS * math.sqrt(max(shift_variance[i], 0.0)))
    least = _LOST + _NOISES * memory.stop_noise[i]
    struck = lost > least and peak > _PART * _LOST and lost > _PART * peak and abs(gap[i]) < near
    before = _peak(i, _STOPPING, link_of, rates) - peak
    if not struck and near <= abs(gap[i]) < _HIGHEST:  # no leg holds its foot that still so soon after
        lost = _peak(i, _RESTS, link_of, rates)
        struck = lost > least and _fastest(i, rates) < _REST * lost
        before = _peak(i, _RESTS + _STOPPING, link_of, rates) - lost
    if struck and lost > _HARDER * before and not _tilts(i, measured, link_of, memory):
        memory.stop_since[i] = 0.0
        memory.stop_begun[i] = memory.stop_floor[i] = measured
        memory.stop_speed[i] = lost


@kernel
def _tilts(i, height, link_of, memory):
    """Whether contact i, at ``height`` (m), is a point of a sole that strikes the ground with another one, tilted."""
    for j in range(link_of.shape[0]):
        stopped = link_of[j] == link_of[i] and memory.stop_since[j] >= 0.0
        if stopped and height - memory.stop_floor[j] > _TILT:
            return True
    return False


@kernel
def _fading(i, time, memory):
    """What is left of the speed of the impact of contact i, m/s."""
    return memory.stop_speed[i] * math.exp(-memory.stop_since[i] / time)


@kernel
def _rise(i, known, gap_on, gap_off, gap_sigma, link_of, memory):
    """How far contact i may rise over where it was stopped, m: as far as its gap is noisy, or, where efforts miss
    something of the motion, ``gap_off`` and what the speed of the impact covers in half of the time in which it stops a
    foot. Of the points of a link the fastest counts: its leg is what gives way."""
    if not known:
        return min(gap_off, max(gap_on, _CERTAIN * gap_sigma))
    speed = 0.0
    for j in range(link_of.shape[0]):
        if link_of[j] == link_of[i] and memory.stop_since[j] >= 0.0:
            speed = max(speed, _fading(j, _RINGING, memory))
    return gap_off + 0.5 * _STOPPING * speed


@kernel
def _peak(i, until, link_of, rates):
    """The fastest approach of contact i within the time in which an impact stops a foot, ``until`` (s) ago, m/s; 0
    where states follow each other more slowly than that: a leg stops a foot in that time, too. And 0 where the foot was
    kicked up meanwhile: by its leg, for no other edge of a sole has done it."""
    kept, count = rates.noise_rates.shape[0], rates.noise_count
    here = (count[1] - 1) % kept
    span = rates.noise_times[here] - rates.noise_times[(count[1] - count[0]) % kept]
    if span * _STATES > _STOPPING * (count[0] - 1):
        return 0.0
    peak, up = 0.0, rates.noise_rates[here, i]
    for back in range(1, count[0]):
        k = (here - back) % kept
        age = rates.noise_times[here] - rates.noise_times[k]
        if age > until + _STOPPING:
            break
        up = max(up, rates.noise_rates[k, i])
        if age >= until:
            peak = max(peak, -rates.noise_rates[k, i])
    return 0.0 if up > _KICK * peak and is_single(i, link_of) else peak


@kernel
def _fastest(i, rates):
    """The largest speed of contact i, m/s, in the last ``_RESTS`` s."""
    kept, count = rates.noise_rates.shape[0], rates.noise_count
    here = (count[1] - 1) % kept
    fastest = 0.0
    for back in range(count[0]):
        k = (here - back) % kept
        if rates.noise_times[here] - rates.noise_times[k] >= _RESTS:
            break
        fastest = max(fastest, abs(rates.noise_rates[k, i]))
    return fastest
