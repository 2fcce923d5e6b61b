"""What an observed force, or that there is none, says of a contact beside the densities of :mod:`.belief_likelihoods`.

How wrong such a force is: :mod:`.landed_forces`.
"""

from __future__ import annotations

import math

from hybrid_contact_ros.kernels.compiling import kernel
from hybrid_contact_ros.kernels.estimation.contact_tracking import BELIEVED
from hybrid_contact_ros.kernels.estimation.landed_forces import (
    FELT,
    LEAST,
    NOISES,
    PRESSED,
    STOOD,
    creeps_up,
    deviation_with,
    flies,
    force_deviation,
    force_error,
    pressed_aloft,
    rate_noise,
)
from hybrid_contact_ros.kernels.estimation.met_ground import is_single
from hybrid_contact_ros.kernels.estimation.sole_loads import known_to

_PRESSES = 2.0  # deviations of a force, above which it is there
_BEFORE, _GROWN = 0.02, 0.5  # s, of the low-pass that knows what pressed before; part of a force that is new
# Shares of the weight and deviations of a force with which an arm presses firmly; m/s, of one that rests; share of the
# weight to which a force is known that would tell a tip which bears something; and deviations of a gap.
_FIRM_PART, _FIRM, _RESTS, _TOLD, _UNDER = 2.5, 5.0, 0.05, 1.0, 2.0
# s of a stance, after which a foot may be unloaded; deviations of a force that was there; least part of a stillness.
_STOOD_FOR, _BORE, _STILL = 0.05, 4.0, 0.25


@kernel
def presses(i, settings, given, memory):
    """Whether an observed force that is believed says for certain that contact i, which was open, bears something."""
    if not given.observed or given.stood[i] or given.force_weight[i] < BELIEVED:
        return False
    return given.force[i] > settings.load_limit + _PRESSES * force_deviation(i, settings, given, memory)


@kernel
def note_pressing(i, bears, given, memory):
    """Note whether contact i, which was open and ``bears`` something, began to do so just now: what a crane lowers
    presses all the time. memory: in and out (m, COLUMNS)."""
    force, before = given.force[i], memory[i, FELT]
    if not given.observed:
        memory[i, FELT] = math.inf
    elif before == math.inf:
        memory[i, FELT] = force
    else:
        memory[i, FELT] += (1.0 - math.exp(-given.dt / _BEFORE)) * (force - before)
    new = memory[i, PRESSED] > 0.0 or force - before > _GROWN * force
    memory[i, PRESSED] = 1.0 if bears and new else 0.0


@kernel
def is_unfelt(i, settings, given, memory):
    """Whether nothing seems to press on contact i, which was open, by an observed force that is believed: a mode says
    what would hold it if it were closed. How the points of a sole share its force is not known."""
    if not given.observed or given.stood[i] or given.force_weight[i] < BELIEVED or not is_single(i, given.link_of):
        return False
    return given.force[i] < force_deviation(i, settings, given, memory)


@kernel
def is_unfelt_sole(i, settings, given, memory):
    """Whether contact i is a point of a sole on which as a whole nothing seems to press, by observed forces that are
    believed: how its points share a force is not known, but how large that is. One that stands bears little before it
    rises."""
    if not given.observed or given.force_weight[i] < BELIEVED or is_single(i, given.link_of):
        return False
    if given.stood[i] and not creeps_up(i, given):
        return False
    force, part = 0.0, 0.0
    for j in range(given.link_of.shape[0]):
        if given.link_of[j] == given.link_of[i]:
            force += given.force[j]
            part += LEAST if given.stood[i] else force_error(j, settings, memory)
    _, noise = known_to(given.link_of[i], given.link_of, given.force_covariance)
    return force < math.hypot(noise, part * settings.share)


@kernel
def told_by_stillness(i, settings, given, memory):
    """The part of the stillness of contact i, which stands, that speaks for it: all of it, but where a force has ceased
    that was there for certain lately. What a controller has just unloaded is still, until its leg moves it.

    The points of a sole share a force in ways that nothing tells; they are not asked."""
    if not is_single(i, given.link_of) or memory[i, STOOD] < _STOOD_FOR or not memory[i, FELT] < math.inf:
        return 1.0
    deviation = deviation_with(i, max(math.sqrt(pressed_aloft(i, 0.0, memory)), LEAST), settings, given)
    if memory[i, FELT] < _BORE * deviation:
        return 1.0
    return min(max(max(given.force[i], given.load[i]) / deviation, _STILL), 1.0)


@kernel
def heed_force(log, i, settings, given, memory):
    """What the gap of an arm's tip says, ``log``, where its force is known.

    A table that was configured a centimetre too low or too high is one error, however many states there are; a gap
    would say again and again what no force could outweigh. So a gap does not speak against a tip that presses firmly
    and does not move along the normal, nor for one that is under the table for certain and bears nothing. And it speaks
    for a touch only as far as the force does not tell of none.
    """
    if not (given.trusted and given.observed) or given.force_weight[i] < BELIEVED:
        return log
    deviation = force_deviation(i, settings, given, memory)
    if given.force[i] > max(_FIRM_PART * settings.share, _FIRM * deviation):
        rests = abs(given.rate[i]) < _RESTS + NOISES * rate_noise(i, given)
        return max(log, 0.0) if rests and not flies(i, given, memory) else log
    if log > 0.0:
        felt = min(max(given.force[i] / deviation, 0.0), 1.0)
        log *= 1.0 - (1.0 - felt) * max(1.0 - deviation / settings.share, 0.0)
    nothing = given.force[i] < settings.load_limit + _PRESSES * deviation
    under = given.gap[i] < -_UNDER * math.hypot(given.gap_sigmas[i], given.surfaces[i])
    if under and nothing and deviation < _TOLD * settings.share:
        return min(log, 0.0)
    return log
