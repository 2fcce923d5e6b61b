"""Whether each contact stays closed after its impact, by the pseudo-impulse (J 55–58), from one solved contact mode."""

from __future__ import annotations

import math

from numba import njit

from hybrid_contact_ros.kernels.algebra.quadratic import first_root
from hybrid_contact_ros.kernels.modes.friction import SHIFT, hold_mode
from hybrid_contact_ros.kernels.modes.jamming import bounded
from hybrid_contact_ros.kernels.modes.local_friction import OPEN, SLIP, STICK
from hybrid_contact_ros.kernels.stability.constraint import FEW, WORK

_UNDECIDED, _HOLDS, _FAILS = 0, 1, 2
_STICKING = 2


@njit(cache=True, nogil=True)
def pseudo_impulse_flags(
    d,
    horizon,
    duration,
    force_tolerance,
    G,
    b,
    friction,
    gap,
    velocity,
    moving,
    slip,
    status,
    forces,
    accelerations,
    A,
    work,
    order,
    glide,
    direction,
    state,
    trial,
    at_impact,
    unused,
    flags,
    margins,
):
    """Normal impulse of each contact in its next impact, plus ``duration`` times its steady force: P̂ + δt λ (J 56, 58).

    An open contact's next impact is its touchdown within ``horizon`` s, a closed one's the first touchdown of another;
    both are taken with it and the closed contacts held. A contact HOLDS where the sum pushes, even if the impact alone
    would throw it off: the bounce would end within about δt. Where no impact comes δt λ alone decides for a closed
    contact. What J asks of the friction cone is left out: on a link with mass a contact whose impulse leaves the cone
    slides and stays.

    Args, n = m (1 + d): horizon, duration (s); force_tolerance (N): the dead band is this times ``duration``;
        G (n, n), b (n,), friction, gap (m,), velocity (n,), moving (m,) uint8, slip (m, d), status (m,) uint8,
        forces, accelerations (n,): of the problem and its solved mode. A (n, n), work (2, n), order (2 n,),
        glide (m,) uint8, direction (m, d), state (m,) int64, trial, at_impact, unused (n,): scratch.
        flags (m,) uint8, margins (m,), N s: out, UNDECIDED and NaN where no impact comes, or the work is cut
        (:mod:`.constraint`).
    """
    m = friction.shape[0]
    w = 1 + d
    first = math.inf
    rows = w
    left = WORK if m > FEW else math.inf
    for i in range(m):
        margins[i] = math.nan
        if status[i] >= _STICKING:
            margins[i] = duration * forces[i * w]
            rows += w
    for i in range(m):
        if status[i] >= _STICKING:
            continue
        t = first_root(max(gap[i], 0.0), velocity[i * w], accelerations[i * w])
        if not t <= horizon or left <= 0.0:
            continue
        left -= 2.0 * rows * rows * rows / 3.0
        for k in range(m * w):
            at_impact[k] = velocity[k] + t * accelerations[k]
        known = True
        for steady in (False, True):
            for j in range(m):
                glide[j] = moving[j] if j != i else friction[i] == 0.0
                for k in range(d):
                    direction[j, k] = slip[j, k] if j != i else 0.0
                state[j] = OPEN
                if j == i or status[j] >= _STICKING:
                    state[j] = SLIP if glide[j] or (j != i and status[j] != _STICKING) else STICK
                if status[j] >= _STICKING:
                    at_impact[j * w] = 0.0
            for k in range(m * w):
                trial[k] = 0.0
                unused[k] = accelerations[k]
            known = known and hold_mode(
                d,
                SHIFT,
                G,
                b if steady else at_impact,
                friction,
                glide,
                direction,
                state,
                A,
                work,
                order,
                trial,
                unused,
            )
            known = known and bounded(d, G, b if steady else at_impact, trial)
            if not known:
                break
            part = duration if steady else 1.0
            for j in range(m):
                if j == i or (status[j] >= _STICKING and t < first):
                    margins[j] = part * trial[j * w] + (margins[j] if steady else 0.0)
        if known:
            first = min(first, t)
        else:
            margins[i] = math.nan
    band = force_tolerance * duration
    for i in range(m):
        flags[i] = _UNDECIDED
        if margins[i] > band:
            flags[i] = _HOLDS
        elif margins[i] < -band:
            flags[i] = _FAILS
