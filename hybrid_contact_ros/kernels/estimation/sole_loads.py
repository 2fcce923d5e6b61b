"""What observed forces say of a sole as a whole, which forces at its single points do not."""

from __future__ import annotations

import math

from hybrid_contact_ros.kernels.compiling import kernel
from hybrid_contact_ros.kernels.estimation.stance import borne_by_sole, borne_of_late

_NONE = 0.25  # of what a sole that stands bears at least: less is nothing
_KNOWN = 0.1  # of what the points of a sole carry, a deviation to which its force is known
_UNFELT = 0.05  # is believed in a sole that seems to bear nothing, at most
_SURELY = 2.0  # times what a closed contact carries: a load that is missing by that decides within some states


@kernel
def drop_unborne(gap_on, force_on, falling, link_of, pressing, pulling, closed, gap, rate, velocity, touching):
    """Let no point of a sole be a candidate that falls on, or is open above ``gap_on``, while its sole is observed to
    bear nothing.

    What arrives below the ground is taken for closed at once, since something must be stopping it. Where the ground is
    lower than it was learned to be nearby, nothing is. And efforts that are a little wrong press a sole that swings low
    onto the ground in the model.

    Args: those of :func:`keep_borne`, and gap_on: m. falling: m/s, of what does not rest. closed: (m,) uint8, of the
        state before. rate: (m,), m/s, of the gaps. velocity: (m, 3), m/s, of the points, low-passed, normal first: an
        impact ends the one at once, and noise the other one never. touching: in and out (m,) uint8.
    """
    for i in range(closed.shape[0]):
        falls = max(rate[i], velocity[i, 0]) < -falling
        if touching[i] and (falls or (gap[i] > gap_on and not closed[i])):
            points, borne = borne_by_sole(i, link_of, pressing, pulling)
            if points > 1 and not borne > (0.0 if closed[i] else force_on):
                touching[i] = 0


@kernel
def keep_borne(least_load, force_on, gain, link_of, pressing, eased, pulling, gap, load, rate_offs):
    """Let no velocity and no mode open the lowest point of a sole that is observed to bear load.

    A mode on rigid ground lays the weight to the points whose accelerations ask for it. Where the ground gives way,
    that can leave a sole without any load that presses with half of the weight, and its dent moves it up as it gives
    back. What the momentum tells of the points of a sole together needs no mode; which of them bear it, it does not
    tell, but the lowest one does. The observer lags: a force that falls as it does where there is none any more has
    ceased.

    Args:
        least_load: N, what a point that stands bears at least. force_on: N, load of a closed contact. gain: 1/s, of the
            observer.
        link_of: (m,) int64, the first contact of the same link and plane.
        pressing, eased, pulling: (m,), N, of :class:`~.stance.StanceMemory`, of this state.
        gap: (m,), m. load: in and out (m,), N, of the mode. rate_offs: in and out (m,), m/s.
    """
    m = gap.shape[0]
    for i in range(m):
        points, borne = borne_by_sole(i, link_of, pressing, pulling)
        lowest = True
        for j in range(m):
            lowest = lowest and (link_of[j] != link_of[i] or gap[i] <= gap[j])
        least = points * least_load
        stands = points > 1 and lowest and borne > least
        if stands and borne_of_late(i, gain, link_of, pressing, eased) > _NONE * least:
            load[i] = max(load[i], force_on)
            rate_offs[i] = math.inf


@kernel
def open_unborne(least_load, force_on, force_off, gain, link_of, pressing, eased, load):
    """Let a sole be open that bears nothing, by the mode and by what is observed of it.

    A sole is set down and lifted without a jerk: for some hundredths of a second it bears nothing, and has not moved
    yet. What its points lack of a load is little against what a mode's load may be wrong by; but what the mode lays to
    a sole as a whole, and what the momentum tells of it, are two witnesses.

    Args: those of :func:`keep_borne`, and force_off: N, load of an open contact.
    """
    m = load.shape[0]
    for i in range(m):
        if link_of[i] != i:
            continue
        points, laid = 0, 0.0
        for j in range(m):
            if link_of[j] == i:
                points += 1
                laid += load[j]
        if points < 2 or laid >= 0.5 * force_off:
            continue
        if borne_of_late(i, gain, link_of, pressing, eased) < _NONE * points * least_load:
            for j in range(m):
                if link_of[j] == i:
                    load[j] = min(load[j], -_SURELY * force_on)


@kernel
def soles_are_known(link_of, share, covariance):
    """Whether the force of each sole is known to ``_KNOWN`` of what its points carry.

    The points of a sole share its force in ways that nothing tells; where its resultant is noisy as well, the belief in
    each point is no better than its gap, and what gaps, rates and the mode say of the sole together decides.
    link_of: (m,) int64. share: N, of a point. covariance: (m, m), N², of normal forces.
    """
    for i in range(link_of.shape[0]):
        if link_of[i] == i:
            points, deviation = known_to(i, link_of, covariance)
            if points > 1 and deviation > _KNOWN * share * points:
                return False
    return True


@kernel
def doubt_unfelt_soles(
    gap_on, falling, force_on, link_of, stopped, closed, gap, rate, force, covariance, probability
):  # fmt: skip
    """Do not believe in soles that come down, or are above ``gap_on``, and seem to bear nothing.

    A sole is set down without a jerk. It has met nothing until it bears more than ``force_on`` and two deviations,
    unless an impact has stopped it, of which the observer will know some milliseconds later.

    Args:
        gap_on: m. falling: m/s, of what does not rest. force_on: N. link_of: (m,) int64.
        stopped: (m,), s since an impact stopped the contact; negative without. closed: (m,) uint8, before this state.
        gap: (m,), m. rate: (m,), m/s. force: (m,), N. covariance: (m, m), N². probability: in and out (m, 2).
    """
    m = link_of.shape[0]
    for i in range(m):
        if link_of[i] != i:
            continue
        borne, stood = 0.0, False
        for j in range(m):
            if link_of[j] == i:
                borne += force[j]
                stood = stood or closed[j] or stopped[j] >= 0.0
        points, deviation = known_to(i, link_of, covariance)
        if points < 2 or stood or borne > max(force_on, 2.0 * deviation):
            continue
        for j in range(m):
            if link_of[j] == i and (rate[j] < -falling or gap[j] > gap_on):
                for k in range(2):
                    probability[j, k] = min(probability[j, k], _UNFELT)


@kernel
def known_to(i, link_of, covariance):
    """How many points the sole has whose first one is i, and the standard deviation of its force, N."""
    points, square = 0, 0.0
    for j in range(link_of.shape[0]):
        if link_of[j] == i:
            points += 1
            for k in range(link_of.shape[0]):
                if link_of[k] == i:
                    square += covariance[j, k]
    return points, math.sqrt(max(square, 0.0))
