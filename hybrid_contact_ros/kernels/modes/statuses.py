"""A solution of the force-acceleration problem put into words: open, sticking or slipping."""

from __future__ import annotations

import math

from numba import njit

from hybrid_contact_ros.kernels.modes.residual import contact_scale, problem_scale

# The values of prediction.ContactStatus
_OPEN, _STICKING, _SLIPPING = 1, 2, 3
# An acceleration below this times the scale of b counts as zero
_ZERO = 1e-6


@njit(cache=True, nogil=True)
def name_modes(d, G, b, touching, moving, slip, forces, accelerations, status):
    """Write OPEN, STICKING or SLIPPING for each contact of a solution.

    By its motion and not by the active set: a touching contact that does not accelerate away is closed, loaded or not
    (the ⪰ of J 38), and a closed one sticks when it neither slides nor starts to, though its force be at the edge of
    the cone.
    """
    w = 1 + d
    scale = problem_scale(d, b, touching)
    for i in range(status.shape[0]):
        f = i * w
        status[i] = _OPEN
        if not touching[i]:
            continue
        g = contact_scale(d, f, G)
        if accelerations[f] > _ZERO * scale and forces[f] * g <= _ZERO * scale:
            continue
        rate = 0.0
        speed = 0.0
        for k in range(d):
            rate += accelerations[f + 1 + k] ** 2
            speed += slip[i, k] ** 2
        status[i] = _STICKING
        if math.sqrt(rate) > _ZERO * scale or (moving[i] and speed > 0.5):
            status[i] = _SLIPPING
