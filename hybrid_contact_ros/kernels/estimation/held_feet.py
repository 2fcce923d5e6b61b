"""Feet in the air that are held as still as those that stand: by a robot that stands and lifts one, by a crane, or at
the apex of a swing. What their stillness says for a contact is bounded."""

from __future__ import annotations

import math

from hybrid_contact_ros.kernels.compiling import kernel

HELD = 0.01
"""Share of open contacts whose foot is held still, by a robot that stands, or at an apex."""
_HOLDS = 0.1  # s, for which it is
MOST = 50.0
"""A log ratio of densities is at most this: neither a width near zero nor a share of outliers of zero makes it
infinite."""


@kernel
def held_still(log):
    """The logarithm of a ratio of velocities, given that some feet in the air are held as still as those that stand.

    Example:
        >>> round(held_still(10.0), 2), round(held_still(-5.0), 2)
        (4.6, -4.99)
    """
    return -math.log((1.0 - HELD) * math.exp(-log) + HELD)


@kernel
def learn_held(i, dt, log, held):
    """The logarithm of how likely the velocity of open contact i is, by that of one that swings; learn from it whether
    the contact is held still.

    Args:
        log: of the ratio of this velocity's densities at a contact that touches and at one that swings.
        held: in and out (m,), the probability that the contact, if it is open, does not swing but is held as still as
            one that touches. A foot that is held is so for some time: the states of that time are one witness.

    Example:
        >>> import numpy as np
        >>> held = np.array([0.01])
        >>> [round(learn_held(0, 0.0, 2.0, held), 2) for _ in range(4)], round(float(held[0]), 2)
        ([0.06, 0.37, 1.19, 1.81], 0.97)
    """
    before = held[i] + (1.0 - math.exp(-max(dt, 0.0) / _HOLDS)) * (HELD - held[i])
    still = before * math.exp(min(max(log, -MOST), MOST))
    held[i] = still / (1.0 - before + still)
    return math.log(1.0 - before + still)
