"""What observed forces say of a sole as a whole, which forces at its single points do not."""

from __future__ import annotations

import math

from hybrid_contact_ros.kernels.compiling import kernel
from hybrid_contact_ros.kernels.estimation.stance import borne_by_sole


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
def keep_borne(least_load, force_on, link_of, pressing, pulling, gap, load, rate_offs):
    """Let no velocity and no mode open the lowest point of a sole that is observed to bear load.

    A mode on rigid ground lays the weight to the points whose accelerations ask for it. Where the ground gives way,
    that can leave a sole without any load that presses with half of the weight, and its dent moves it up as it gives
    back. What the momentum tells of the points of a sole together needs no mode; which of them bear it, it does not
    tell, but the lowest one does.

    Args:
        least_load: N, what a point that stands bears at least. force_on: N, load of a closed contact.
        link_of: (m,) int64, the first contact of the same link and plane.
        pressing, pulling: (m,), N, of :class:`~.stance.StanceMemory`, of this state.
        gap: (m,), m. load: in and out (m,), N, of the mode. rate_offs: in and out (m,), m/s.
    """
    m = gap.shape[0]
    for i in range(m):
        points, borne = borne_by_sole(i, link_of, pressing, pulling)
        lowest = True
        for j in range(m):
            lowest = lowest and (link_of[j] != link_of[i] or gap[i] <= gap[j])
        if points > 1 and lowest and borne > points * least_load:
            load[i] = max(load[i], force_on)
            rate_offs[i] = math.inf
