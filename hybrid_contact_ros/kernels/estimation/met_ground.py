"""Where ground that gives way met a foot, by its motion alone.

Ground that gives way stops a foot by and by, some millimetres lower than where it met it, and the next foot meets the
ground where this one did. A force that begins tells where that was, and motion tells it better: a leg that swings
changes its acceleration smoothly; the ground does so at once. A foot that falls, and is within a few milliseconds
slower than a straight line through its rates before them says, has met something where it began to be.

A sole has several points, and one edge that strikes the ground slows the others down in the air: soles are left out.
"""

from __future__ import annotations

import math

from hybrid_contact_ros.kernels.compiling import kernel

HEIGHT, SINCE, SPEED, DEPTH = range(4)
"""Columns of ``StanceMemory.met``: m, where the contact met the ground; s since it did, negative where that is not
known; m/s, how fast it fell; and m, how deep it has sunk in since."""
MET_COLUMNS = 4
GIVES_WAY = 0.003
"""m: ground in which a foot sinks deeper than this is soft."""
_RECENT, _BEFORE, _STATES = 0.005, 0.02, 4  # s, s: the line is that of the rates before the last ones; states at least
_FALLS, _LOST, _PART, _NOISES = 0.1, 0.1, 0.25, 6.0  # m/s, m/s, part of the speed, deviations: what is lost at least
# part of the speed that rigid ground takes at once, and times what was lost in the same time before: what gives way,
# or a leg that slows its foot down, takes it by and by
_AT_ONCE, _HARDER = 0.5, 2.0
_BEGUN = 0.25  # part of what is lost, which is lost once it begins
_RECOVERS, _SINKS, _SPRINGS, _SPRUNG = 0.04, 0.02, 0.01, 0.04  # s
_PRESSED_IN = 0.005  # m: an impact presses a rubber foot in by no more
_STOPS, _FALLS_ON = 0.02, 0.7  # s, part of the speed: what has fallen on for so long has met nothing
# s, after which a foot has sunk in if it ever does; how much that tells of the next; a share that makes ground soft
_TELLS, _LEARNS, _SOFT = 0.06, 0.2, 0.4
_TIMING = 0.002  # s, by which streams may be apart: where a fast foot met the ground is not known then
_LEFT, _DEEPEST, _LONGEST = 0.005, 0.05, 0.4  # m above, m below, and s, until which the ground is where it was met


@kernel
def meet_ground(i, dt, height, rate, noise, closed, stays, rates, met, softness):
    """Follow contact i, whose measured gap is ``height``, m, and whose rate has this ``noise``, m/s.

    Args:
        closed: whether it was closed at the state before. stays: whether it stands on a known foothold.
        rates: those of the states before, RateNoise.
        met: (m, MET_COLUMNS), softness: (1,), in and out: the share of the last footholds on which feet sank in.
    """
    if met[i, SINCE] >= 0.0:
        before = met[i, SINCE]
        met[i, SINCE] += dt
        met[i, DEPTH] = max(met[i, DEPTH], met[i, HEIGHT] - height)
        left = height > met[i, HEIGHT] + _LEFT or height < met[i, HEIGHT] - _DEEPEST
        late = not stays and met[i, SINCE] > _LONGEST
        falls = met[i, SINCE] > _STOPS and -rate > _FALLS_ON * met[i, SPEED]
        falls = falls and met[i, HEIGHT] - height > _FALLS_ON * met[i, SPEED] * met[i, SINCE]
        if before <= _TELLS < met[i, SINCE]:
            soft = met[i, HEIGHT] - height > GIVES_WAY  # what an impact presses in comes up again
            if closed and _TIMING * met[i, SPEED] < GIVES_WAY:
                softness[0] += _LEARNS * ((1.0 if soft else 0.0) - softness[0])
            late = late or not soft
        if left or late or falls:
            met[i, SINCE] = -1.0
            return
        sinks = met[i, HEIGHT] - height > GIVES_WAY and met[i, SINCE] > 2.0 * _RECENT
        speed = _lost_at_once(i, dt, rate, noise, rates) if sinks and not stays else 0.0
        if speed > 0.0:  # what it met above was no ground: its leg slowed it down
            met[i, HEIGHT], met[i, SINCE], met[i, SPEED], met[i, DEPTH] = height, 0.0, speed, 0.0
        return
    if rate > 0.0 or stays:
        return
    value, slope, spread = _line(i, dt, rates)
    lost = rate - value
    least = max(_LOST, _PART * -value, _NOISES * noise * math.sqrt(1.0 + spread))
    if not lost > least or value > -_FALLS:
        return
    kept, count = rates.noise_rates.shape[0], rates.noise_count
    here = (count[1] - 1) % kept
    later, later_age = rate, 0.0
    for back in range(count[0]):
        k = (here - back) % kept
        earlier, age = rates.noise_rates[k, i], dt + rates.noise_times[here] - rates.noise_times[k]
        height -= 0.5 * (age - later_age) * (earlier + later)
        if earlier - (value - slope * age) < _BEGUN * lost:
            met[i, HEIGHT], met[i, SINCE], met[i, SPEED], met[i, DEPTH] = height, age, -earlier, 0.0
            return
        later, later_age = earlier, age


@kernel
def points_of(i, link_of):
    """How many points the link of contact i has."""
    points = 0
    for j in range(link_of.shape[0]):
        points += link_of[j] == link_of[i]
    return points


@kernel
def is_single(i, link_of):
    """Whether contact i is the only point of its link; link_of: (m,) int64, the first contact of the same link."""
    return points_of(i, link_of) == 1


@kernel
def is_soft(softness):
    """Whether the ground gives way under most feet; softness: (1,)."""
    return softness[0] > _SOFT


@kernel
def below(i, height, met, softness):
    """How far the ground has given way under contact i, at ``height``, m, since it met it; less than nothing where that
    is unknown, or ground does not do that here."""
    return met[i, HEIGHT] - height if met[i, SINCE] >= 0.0 and is_soft(softness) else -1.0


@kernel
def follows(i, height, springs, met, softness):
    """How fast contact i, at ``height``, m, may move in ground that gives way and bears it, m/s: as fast as what is
    left of the speed with which it met it, and as fast as the ground comes up again. What an impact presses in of a
    rubber foot on rigid ground ``springs`` back at once."""
    if met[i, SINCE] < 0.0:
        return 0.0
    depth = met[i, HEIGHT] - height
    if depth <= 0.0:
        return 0.0
    if not is_soft(softness):
        springs = springs and depth < _PRESSED_IN and met[i, SINCE] < _SPRUNG
        return depth / _SPRINGS if springs else 0.0
    comes_up = depth / _RECOVERS if met[i, DEPTH] > GIVES_WAY else 0.0
    return max(comes_up, met[i, SPEED] * math.exp(-met[i, SINCE] / _SINKS))


@kernel
def _lost_at_once(i, dt, rate, noise, rates):
    """The speed, m/s, of which contact i loses most within some milliseconds, as on rigid ground; zero where it does
    not."""
    kept, count = rates.noise_rates.shape[0], rates.noise_count
    here = (count[1] - 1) % kept
    peak, before = 0.0, 0.0
    for back in range(count[0]):
        k = (here - back) % kept
        age = rates.noise_times[here] - rates.noise_times[k] + 0.5 * dt
        if age < _RECENT:
            peak = max(peak, -rates.noise_rates[k, i])
        elif age < 2.0 * _RECENT:
            before = max(before, -rates.noise_rates[k, i])
        else:
            break
    lost = peak + rate
    least = max(_LOST, _AT_ONCE * peak, _NOISES * noise, _HARDER * (before - peak))
    return peak if lost > least else 0.0


@kernel
def _line(i, dt, rates):
    """The straight line through the rates of contact i before the last ones: its value now, its slope, and the variance
    of the value by that of a rate; a value of zero where there are too few."""
    kept, count = rates.noise_rates.shape[0], rates.noise_count
    here = (count[1] - 1) % kept
    n, age_sum, square_sum, rate_sum, cross_sum = 0, 0.0, 0.0, 0.0, 0.0
    for back in range(count[0]):
        k = (here - back) % kept
        age = dt + rates.noise_times[here] - rates.noise_times[k]
        if age > _RECENT + _BEFORE:
            break
        if age >= _RECENT:
            n += 1
            age_sum += age
            square_sum += age * age
            rate_sum += rates.noise_rates[k, i]
            cross_sum += age * rates.noise_rates[k, i]
    det = n * square_sum - age_sum * age_sum
    if n < _STATES or det <= 0.0:
        return 0.0, 0.0, 0.0
    value = (square_sum * rate_sum - age_sum * cross_sum) / det
    slope = -(n * cross_sum - age_sum * rate_sum) / det
    return value, slope, square_sum / det
