"""How well one state agrees with each contact being open, sticking or slipping.

Every likelihood is a ratio to the density of the same measurement at an open contact, so that units cancel and a
measurement that is far off every density says nothing. Each density has a share of outliers, which bounds what a single
state can say, however extreme it is. A noise that is correlated in time does not average out over states that follow
each other quickly: a logarithm counts dt/τ, where τ is the time over which its errors are correlated.
"""

from __future__ import annotations

import math

from hybrid_contact_ros.kernels.compiling import kernel
from hybrid_contact_ros.kernels.estimation.contact_tracking import BELIEVED
from hybrid_contact_ros.kernels.estimation.felt_forces import (
    heed_force,
    is_unfelt,
    is_unfelt_sole,
    note_pressing,
    presses,
    told_by_stillness,
)
from hybrid_contact_ros.kernels.estimation.held_feet import HELD, MOST, held_still, learn_held
from hybrid_contact_ros.kernels.estimation.landed_forces import (
    STOPPING,
    falls_through,
    flies,
    force_error,
    has_landed,
    leaves_unfelt,
    load_doubt,
    note_force,
    weight_of_force,
)

_ROOT = math.sqrt(0.5)
# The standard deviation of a closed contact's gap is at most this part of the mean gap of open ones.
_NARROWER = 0.7
# A force with the weight w adds this many times (1 − w)/w to its variance, in squares of a share of the weight.
_MISTRUST = 1.0
# A velocity whose noise has this many times the variance of a swing says nothing.
_DROWNED = 4.0
# What did not stand, and slides by more than this many deviations, does not stick: its load counts as that of a slip,
# however many states are outliers.
_SLIDES = 2.5
# Nor does what stood, and slides by more than this many deviations, and times the deviation of a slip.
_STOOD, _FAST = 5.0, 4.0
# Deviations above the ground from which on a foot that stood has been lifted, and its stillness is that of any foot.
_LIFTED = 3.0
# Deviations above the ground on which it has stood itself, from which on an open foot is held, whatever little it seems
# to bear.
_RAISED = 2.0
# In this share of the states of an open contact nothing changes that the observer could lag behind, and its force is
# zero but for the noise, and for this part of a share of the weight.
_STEADY, _STEADY_PART = 0.15, 0.05
# s: a state that soon follows another is a witness of this time at most, whatever τ, so that what it says by forces,
# loads, rates and gaps weighs against each other at 200 Hz as it does at 1 kHz.
_WITNESSED = 0.002
# s: a state that comes so much later than the one before is a witness of more time by its gap and rates, since what was
# believed then is half forgotten: of this part of the rest, which counts as long at most.
_APART, _LATER = 0.01, 0.5
_IDLE = 1e-9  # A load below this part of a contact's share of the weight is the rounding of none.


@kernel
def effective(dt, first, correlation):
    """The weight of a state's logarithm: dt/τ, of dt up to ``_WITNESSED``, and of a part of it where states are further
    apart; the first state counts whole.

    Example:
        >>> effective(0.001, False, 0.004), effective(0.005, False, 0.004), effective(0.005, False, 0.001)
        (0.25, 0.5, 2.0)
        >>> effective(0.1, False, 0.004), effective(0.1, False, math.inf)
        (1.75, 0.0)
    """
    if first or correlation <= 0.0:
        return 1.0
    later = min(max(dt - _APART, 0.0), _APART)
    return (min(max(dt, 0.0), _WITNESSED) + _LATER * later) / correlation


@kernel
def effective_force(dt, first, correlation):
    """The same of observed forces and of loads, which are of the time since the state before: a longer one makes them
    no better witnesses of this state."""
    return effective(min(dt, _WITNESSED), first, correlation)


@kernel
def is_arm(settings):
    """Whether force and gap alone decide, and no velocity does: of the tip of an arm."""
    return settings.velocity_correlation == math.inf


@kernel
def bounded_log(ratio):
    """The logarithm of a ratio of densities, within ± ``MOST``; 0 where the ratio is not a number."""
    if not ratio >= 0.0:
        return 0.0
    return min(max(math.log(max(ratio, 1e-300)), -MOST), MOST)


@kernel
def gap_ratio(gap, sigma, height, sunk, outliers):
    """Density of a gap (1/m) at a closed contact by that at an open one.

    Closed: normal with ``sigma``, or sunk by an exponential depth. Open: exponential with the mean ``height``, above
    the surface but for the noise. Both have outliers of the same width on both sides.
    """
    z = gap / sigma
    shape = math.exp(-min(abs(gap) / height, 600.0)) / height
    closed = math.exp(-min(0.5 * z * z, 700.0)) * 0.3989422804014327 / sigma
    below = 0.5 * math.erfc(_ROOT * z)
    odd = 0.5 * outliers
    closed = (1.0 - outliers) * ((1.0 - sunk) * closed / shape + sunk * below) + odd
    return closed / ((1.0 - outliers) * (1.0 - below) + odd)


@kernel
def normal_log(square, narrow, wide, dimensions):
    """The logarithm of the density of a velocity with this ``square`` at a closed contact, normal with the variance
    ``narrow`` per direction, by that at an open one, normal with ``wide``."""
    narrow = min(narrow, wide)
    return 0.5 * dimensions * math.log(wide / narrow) - 0.5 * square * (1.0 / narrow - 1.0 / wide)


@kernel
def velocity_log(leaves, rises, slides, outliers):
    """The logarithm of a ratio of densities of a velocity, of the logarithms of those of its two parts.

    Either part may be an outlier, and two are rarer than one: their ratios are bounded one by one. But what ``leaves``,
    rising by more than an outlier allows, does not stand because it rises straight. What sinks straight may do so in
    the ground, and what stood until now, and forces say presses, may stand on.

    Example:
        >>> found = [velocity_log(True, *logs, 0.01) for logs in ((-1.0, 6.7), (-40.0, 6.7), (-40.0, -40.0))]
        >>> [round(log, 1) for log in found], round(velocity_log(False, -40.0, 6.7, 0.01), 1)
        ([5.7, -4.6, -9.2], 2.1)
    """
    apart = _with_outliers(rises, outliers) + _with_outliers(slides, outliers)
    return min(apart, _with_outliers(rises + slides, outliers)) if leaves else apart


@kernel
def _with_outliers(log, outliers):
    return bounded_log((1.0 - outliers) * math.exp(min(max(log, -700.0), 700.0)) + outliers)


@kernel
def load_ratio(load, sigma, outliers):
    """Probability that the true load behind a measured one pushes, by that it does not."""
    push = 0.5 * math.erfc(-_ROOT * load / sigma)
    return ((1.0 - outliers) * push + outliers) / ((1.0 - outliers) * (1.0 - push) + outliers)


@kernel
def unforced(i, settings, given, memory):
    """How much more likely than :func:`joint_likelihoods` has it contact i is open, by an observed force that is nearly
    zero: the logarithm, at least 0. A force that has just ceased still fades, and one of a foot that hovers is none.

    memory: (m, COLUMNS), of :mod:`.landed_forces`."""
    s = settings
    trust = weight_of_force(i, s, given, memory)
    noise = given.force_covariance[i, i] + s.share * s.share * _MISTRUST * (1.0 - trust) / trust
    part = force_error(i, s, memory)
    wide = noise + (part * s.share) ** 2
    narrow = noise + (min(_STEADY_PART, part) * s.share) ** 2
    exponent = 0.5 * given.force[i] * given.force[i] * (1.0 / narrow - 1.0 / wide)
    ratio = math.sqrt(wide / narrow) * math.exp(-min(exponent, 700.0))
    weight = effective_force(given.dt, given.first, s.force_correlation)
    return weight * max(bounded_log(1.0 + _STEADY * (ratio - 1.0)), 0.0)


@kernel
def sinking_load(ratio, sinks):
    """The logarithm of a ratio of loads at a contact that stood, and moves at so many deviations of its rate.

    A mode is solved for rigid ground, and says no load where the ground gives way and is still to stop a foot. What
    stands leaves by rising: a load that is missing speaks against a contact as far as that may be no sinking one.

    Example:
        >>> sinking_load(0.5, 0.0) == sinking_load(0.5, 1.0) == math.log(0.5), round(sinking_load(0.5, -2.0), 3)
        (True, -0.032)
    """
    log = bounded_log(ratio)
    return log * math.erfc(-_ROOT * sinks) if log < 0.0 and sinks < 0.0 else log


@kernel
def is_raised(i, given):
    """Whether contact i, which is open, is above the ground that it has stood on itself."""
    return not given.stood[i] and given.gap[i] > _RAISED * math.hypot(given.gap_sigmas[i], given.own[i])


@kernel
def is_borne(i, given):
    """Whether another point of the link of contact i was closed: a sole that stands on one edge holds the other one."""
    for j in range(given.link_of.shape[0]):
        if j != i and given.link_of[j] == given.link_of[i] and given.stood[j]:
            return True
    return False


@kernel
def single_likelihoods(i, settings, given, held, forces, out):
    """Write the log-likelihoods of contact i open, sticking and slipping: out (3,). held: in and out, as of
    :func:`~.held_feet.learn_held`. forces: in and out, of :mod:`.landed_forces`."""
    s = settings
    variance = given.gap_sigmas[i] * given.gap_sigmas[i] + given.surfaces[i] * given.surfaces[i]
    note_force(i, s, given, variance, forces)
    sigma = min(math.sqrt(variance), _NARROWER * s.swing_height)
    gap = effective(given.dt, given.first, s.gap_correlation)
    closed = gap * bounded_log(gap_ratio(given.gap[i], sigma, s.swing_height, s.sunk, s.outliers))
    if falls_through(i, given):
        closed = min(closed, 0.0)
    if is_arm(s):
        closed = heed_force(closed, i, s, given, forces)
    quick = effective(given.dt, given.first, s.velocity_correlation)
    measured = max(given.rate_sigmas[i] * given.rate_sigmas[i], given.spread[i])  # what moves has this noise as well
    noise = max(measured + s.rest_speed * s.rest_speed - given.quiet[i], given.spread[i])
    slip = measured + s.slip_speed * s.slip_speed
    rate, slide = given.rate[i] * given.rate[i], given.slide[i] * given.slide[i]
    wide, along = measured + s.swing_speed * s.swing_speed, measured + s.swing_slide * s.swing_slide
    if noise > _DROWNED * s.swing_speed * s.swing_speed:
        quick = 0.0  # a foot that an impact has stopped still rings: its velocity says nothing
    # How still the gap was at rest tells when a foot leaves, however much it shakes along the surface.
    calm = given.rate_sigmas[i] * given.rate_sigmas[i] + s.rest_speed * s.rest_speed - given.quiet[i]
    moves = normal_log(rate, calm if given.quiet[i] > 0.0 else noise, wide, 1)
    # What stands leaves the ground by rising. Where it seems to sink, the ground gives way, or its velocity is a few
    # milliseconds old, as those of filters are after an impact.
    if given.trusted and given.stood[i] and given.rate[i] < 0.0:
        moves = max(moves, 0.0)
    # The forces of a mode are not those that stop a contact, and an idle contact may hold as well as not. The mode is
    # that of the last state.
    stopping = given.rate[i] < -3.0 * math.sqrt(noise)
    stopped = stopping or forces[i, STOPPING] > 0.0
    forces[i, STOPPING] = 1.0 if stopping else 0.0
    idle = abs(given.load[i]) <= _IDLE * s.share
    stick = slips = closed
    moving = flies(i, given, forces) or leaves_unfelt(i, given, forces)
    bears = given.trusted and not moving and presses(i, s, given, forces)
    note_pressing(i, bears, given, forces)
    if given.trusted and given.touching[i] and not stopped and not idle:
        weight = given.force_weight[i] * effective_force(given.dt, given.first, s.load_correlation)
        sinks = given.rate[i] / math.sqrt(noise) if given.stood[i] else 0.0
        doubt = load_doubt(i, s, given, forces)
        sigma, slip_sigma = math.sqrt(s.load_sigma**2 + doubt), math.sqrt(s.slip_sigma**2 + doubt)
        rests = sinking_load(load_ratio(given.load[i] - s.load_limit, sigma, s.outliers), sinks)
        # Rigid feet that slide under little load chatter: they touch for a part of the time alone.
        slides = sinking_load(load_ratio(given.load[i] - s.slip_limit, slip_sigma, s.outliers), sinks)
        if has_landed(i, given, forces) or bears:
            rests, slides = max(rests, 0.0), max(slides, 0.0)
        if moving or is_unfelt(i, s, given, forces) or is_unfelt_sole(i, s, given, forces):
            rests, slides = min(rests, 0.0), min(slides, 0.0)
        most = _SLIDES * _SLIDES * noise
        if given.stood[i]:
            most = max(_STOOD * _STOOD * noise, _FAST * _FAST * slip)
        stick += weight * (min(rests, slides) if slide > most else rests)
        slips += weight * slides
    forced = given.trusted and given.observed
    out[0] = unforced(i, s, given, forces) if forced and not has_landed(i, given, forces) else 0.0
    # While the observed force of a foot that has left fades, its velocity must not speak for it; and nothing else
    # speaks for a foot that rises where no force that is believed is observed.
    pressed = forced and given.force_weight[i] >= BELIEVED and not moving
    leaves = given.rate[i] > 0.0 and not (given.stood[i] and pressed)
    sticks = velocity_log(leaves, moves, normal_log(slide, noise, along, 2), s.outliers)
    slides = velocity_log(leaves, moves, normal_log(slide, slip, along, 2), s.outliers)
    if pressed and not given.stood[i]:  # what stood, and has not moved, has not been lifted
        sticks, slides = held_still(sticks), held_still(slides)
    sticks, slides = quick * sticks, quick * slides
    if pressed and given.stood[i] and not idle:
        told = told_by_stillness(i, s, given, forces)
        sticks, slides = min(sticks, told * sticks), min(slides, told * slides)
    lifted = given.gap[i] > _LIFTED * math.sqrt(variance)
    if pressed and is_borne(i, given):
        out[0] += max(sticks, slides, 0.0)
    elif (pressed and not is_raised(i, given)) or (given.stood[i] and not lifted):
        held[i] = HELD
    else:  # Stillness alone must not tell again and again what a foot that is held has as well.
        out[0] += learn_held(i, given.dt, max(sticks, slides), held)
    out[1] = stick + sticks
    out[2] = slips + slides


@kernel
def _doubt(a, members, k, settings, given, forces):
    """Variance of the observed force of member ``a`` beside its noise, in squares of a share of the weight; 0 beyond
    the ``k`` members of a group."""
    if a >= k:
        return 0.0
    i = members[a]
    trust, part = weight_of_force(i, settings, given, forces), force_error(i, settings, forces)
    return part * part + _MISTRUST * (1.0 - trust) / trust


@kernel
def joint_likelihoods(members, k, settings, given, forces, L, x, out):
    """Write the log-likelihoods of each set of closed contacts among the ``k`` members of a group: out (2^k,).

    The observed normal forces of the group are normal with their covariance; a closed contact adds to it a force of its
    own, with mean and standard deviation of one share of the weight. No contact pulls: an observed pull is an error,
    and speaks for a contact no more than no force. Bit j of a set is member j.

    Args:
        members: (k,) int64. forces: (m, COLUMNS), of :mod:`.landed_forces`. L: (4, 4), x: (4,), scratch.
    """
    s = settings
    weight = effective_force(given.dt, given.first, s.force_correlation)
    doubts = (
        _doubt(0, members, k, s, given, forces), _doubt(1, members, k, s, given, forces),
        _doubt(2, members, k, s, given, forces), _doubt(3, members, k, s, given, forces),
    )  # fmt: skip
    count = 1 << k
    best = -math.inf
    for turn in range(count):
        # The first member changes most seldom: what the sets share of factor and logarithm is computed once.
        chosen, first = 0, k - 1
        for a in range(k):
            chosen |= (turn >> (k - 1 - a) & 1) << a
        while first > 0 and not turn >> (k - 1 - first) & 1:
            first -= 1
        log = 0.0 if first == 0 else L[first - 1, first]  # above the diagonal: of the members before
        for a in range(first, k):
            i = members[a]
            closed = (chosen >> a) & 1
            x[a] = max(given.force[i], 0.0) - s.share * closed
            for b in range(a + 1):
                L[a, b] = given.force_covariance[i, members[b]]
            L[a, a] += s.share * s.share * (doubts[a] + closed)
            # Cholesky by rows, and the forward substitution with it
            for b in range(a + 1):
                total = L[a, b]
                for c in range(b):
                    total -= L[a, c] * L[b, c]
                L[a, b] = math.sqrt(max(total, 1e-300)) if b == a else total / L[b, b]
            for b in range(a):
                x[a] -= L[a, b] * x[b]
            x[a] /= L[a, a]
            log -= 0.5 * x[a] * x[a] + math.log(L[a, a])
            if a + 1 < k:
                L[a, a + 1] = log
        out[chosen] = log if log > -1e300 else -1e300
        best = max(best, out[chosen])
    for chosen in range(count):
        ratio = math.exp(max(out[chosen] - best, -700.0))
        out[chosen] = weight * bounded_log((1.0 - s.outliers) * ratio + s.outliers)
