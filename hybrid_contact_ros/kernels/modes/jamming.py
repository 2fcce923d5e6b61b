"""Where friction jams a contact that slides: Painlevé's case, told from the Delassus matrix and the slip direction.

A contact that slides along the unit vector s pushes with λ (1, −μ s), which changes its own normal acceleration by
λ (G_nn − μ G_nt·s). Where that is not positive a larger force presses the contact further in: no force of the sliding
mode keeps it from penetrating (inconsistent), or one does although the contact would leave by itself (indeterminate).
The coefficient at which this begins, G_nn / (G_nt·s), is the contact's critical friction (Génot, Brogliato 1999); short
of it forces grow without bound. What happens there in finite time is an impact without collision, which ends the slide:
the contact sticks, and sticking forces, which have no such singularity (Pang, Trinkle 1996), are the ones after it.
"""

from __future__ import annotations

import math

from numba import njit

from hybrid_contact_ros.codes import Jamming
from hybrid_contact_ros.kernels.modes.residual import contact_scale

FREE, HELD, LOST = int(Jamming.FREE), int(Jamming.HELD), int(Jamming.LOST)
# A part of the critical friction above which a slide counts as jammed: there forces are ten times those without
# friction, and as uncertain as the difference of two numbers that no robot knows to ten per cent.
CRITICAL_PART = 0.9
# Forces this many times those that stop the contacts' free accelerations are not believed. Soles' points and closed
# chains, which press against each other, have up to some ten times as much.
LARGEST = 1e3


@njit(cache=True, nogil=True)
def jams(d, first, part, G, friction, slip):
    """Whether a slide along the unit vector ``slip`` (d,) has more than ``part`` of its critical friction.

    ``first``: row of G that is the contact's normal; ``friction``: of the contact.
    """
    along = 0.0
    for k in range(d):
        along += G[first, first + 1 + k] * slip[k]
    return friction > 0.0 and friction * along >= part * G[first, first]


@njit(cache=True, nogil=True)
def bounded(d, G, b, forces):
    """Whether forces (n,) are finite and at most ``LARGEST`` times those that stop the free accelerations b (n,)."""
    scale = 0.0
    largest = 0.0
    for k in range(b.shape[0]):
        if not math.isfinite(forces[k]):
            return False
        scale = max(scale, abs(b[k]))
    for i in range(forces.shape[0] // (1 + d)):
        g = contact_scale(d, i * (1 + d), G)
        for k in range(i * (1 + d), (i + 1) * (1 + d)):
            largest = max(largest, abs(forces[k]) * g)
    return largest <= LARGEST * scale


@njit(cache=True, nogil=True)
def critical_frictions(d, G, moving, slip, critical):
    """Least coefficient of friction with which each contact's slide jams.

    Args:
        d: tangents per contact. G (n, n), n = m (1 + d), 1/kg. moving (m,) uint8: the contact slides along the unit
            vector ``slip`` (m, d); for the others the worst of all directions counts.
        critical: out (m,), G_nn / (G_nt·s) or G_nn / ‖G_nt‖; inf where a slide never jams.
    """
    for i in range(critical.shape[0]):
        f = i * (1 + d)
        along = 0.0
        size = 0.0
        speed = 0.0
        for k in range(d):
            along += G[f, f + 1 + k] * slip[i, k]
            size += G[f, f + 1 + k] ** 2
            speed += slip[i, k] ** 2
        coupling = along if moving[i] and speed > 0.5 else math.sqrt(size)
        critical[i] = G[f, f] / coupling if coupling > 1e-12 * G[f, f] else math.inf


@njit(cache=True, nogil=True)
def hold_jammed(part, friction, critical, touching, moving, slip, jammed):
    """Take touching contacts that slide with more than ``part`` of their critical friction to be at rest.

    Args:
        part: of the critical friction; inf holds none, 0 holds all that slide with friction.
        moving (m,) uint8, slip (m, d): in and out. jammed: in and out (m,) uint8, HELD where a contact was held.

    Returns:
        How many were held.
    """
    count = 0
    for i in range(friction.shape[0]):
        if touching[i] and moving[i] and friction[i] > 0.0 and friction[i] >= part * critical[i]:
            moving[i] = 0
            jammed[i] = HELD
            count += 1
            for k in range(slip.shape[1]):
                slip[i, k] = 0.0
    return count
