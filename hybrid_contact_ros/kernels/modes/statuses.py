"""A solution of the force-acceleration problem put into words: open, sticking or slipping."""

from __future__ import annotations

import math

from hybrid_contact_ros.codes import ContactStatus
from hybrid_contact_ros.kernels.compiling import kernel
from hybrid_contact_ros.kernels.modes.residual import contact_scale, problem_scale

_OPEN, _STICKING, _SLIPPING = int(ContactStatus.OPEN), int(ContactStatus.STICKING), int(ContactStatus.SLIPPING)
_ZERO = 1e-6  # an acceleration below this part of the largest |b| counts as zero


@kernel
def name_modes(dynamics, touching, moving, iterate, status):
    """Write into ``status`` (m,) whether each contact of a solution is open, sticking or slipping.

    The motion decides and not the active set: a touching contact that does not accelerate away is closed, loaded or not
    (the ⪰ of Johnson (38)), and a closed one sticks when it neither slides nor starts to, though its force be at the
    edge of the cone.
    """
    d, G = dynamics.d, dynamics.G
    slip, forces, accelerations = iterate.slip, iterate.forces, iterate.accelerations
    w = 1 + d
    scale = problem_scale(d, dynamics.b, touching)
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
