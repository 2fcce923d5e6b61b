"""Where friction jams a contact that slides (Painlevé's case), told from the Delassus matrix and the slip direction.

A contact that slides along the unit vector s pushes with λ (1, −μ s), which changes its own normal acceleration by λ
(G_nn − μ G_nt·s). Where that is not positive a larger force presses the contact further in: no force of the sliding
mode keeps it from penetrating (inconsistent), or one does although the contact would leave by itself (indeterminate).
The coefficient at which this begins, G_nn / (G_nt·s), is the contact's critical friction (Génot, Brogliato 1999); as
the friction approaches it the forces grow without bound. In reality an impact without collision ends such a slide in
finite time: the contact sticks, and the forces after that are sticking forces, which have no such singularity (Pang,
Trinkle 1996).
"""

from __future__ import annotations

import math

from hybrid_contact_ros.codes import Jamming
from hybrid_contact_ros.kernels.compiling import kernel
from hybrid_contact_ros.kernels.modes.residual import contact_scale

_HELD = int(Jamming.HELD)
CRITICAL_PART = 0.9
"""Part of the critical friction above which a slide counts as jammed. Forces there are ten times those without
friction, and as uncertain as the difference of two numbers that no robot knows to ten per cent."""
LARGEST_FORCES = 1e3
"""Forces this many times those that stop the contacts' free accelerations are not believed. The points of soles and of
closed chains, which press against each other, have up to some ten times as much."""


@kernel
def jams(d, first, part, G, friction, slip):
    """Return whether a slide along the unit vector ``slip`` (d,) has more than ``part`` of its critical friction.

    ``first`` is the row of G of the contact's normal, and ``friction`` the contact's coefficient.
    """
    return friction > 0.0 and friction * _slip_coupling(d, first, G, slip) >= part * G[first, first]


@kernel
def _slip_coupling(d, first, G, slip):
    """Return G_nt·s: the normal acceleration that a force of 1 N along the slip causes, 1/kg."""
    along = 0.0
    for k in range(d):
        along += G[first, first + 1 + k] * slip[k]
    return along


@kernel
def bounded(d, G, b, forces):
    """Return whether the forces (n,) are finite and at most ``LARGEST_FORCES`` times those that stop b (n,)."""
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
    return largest <= LARGEST_FORCES * scale


@kernel
def critical_frictions(d, G, moving, slip, critical):
    """Write the least coefficient of friction with which each contact's slide jams.

    Args:
        d: tangents per contact. G: (n, n), n = m (1 + d), 1/kg.
        moving: (m,) uint8, the contact slides along the unit vector ``slip`` (m, d). For a contact that does not, the
            worst of all directions counts.
        critical: out, (m,), G_nn / (G_nt·s) or G_nn / ‖G_nt‖; inf where a slide never jams.
    """
    for i in range(critical.shape[0]):
        f = i * (1 + d)
        size = 0.0
        speed = 0.0
        for k in range(d):
            size += G[f, f + 1 + k] ** 2
            speed += slip[i, k] ** 2
        coupling = _slip_coupling(d, f, G, slip[i]) if moving[i] and speed > 0.5 else math.sqrt(size)
        critical[i] = G[f, f] / coupling if coupling > 1e-12 * G[f, f] else math.inf


@kernel
def hold_jammed(part, friction, critical, touching, moving, slip, jammed):
    """Take touching contacts that slide with more than ``part`` of their critical friction to be at rest.

    Args:
        part: of the critical friction; inf holds no contact, 0 holds all that slide with friction.
        friction, critical: (m,). touching: (m,) uint8.
        moving: in and out, (m,) uint8. slip: in and out, (m, d). jammed: in and out, (m,) uint8, HELD where a contact
            was held.

    Returns:
        The number of contacts that were held.
    """
    count = 0
    for i in range(friction.shape[0]):
        if touching[i] and moving[i] and friction[i] > 0.0 and friction[i] >= part * critical[i]:
            moving[i] = 0
            jammed[i] = _HELD
            count += 1
            for k in range(slip.shape[1]):
                slip[i, k] = 0.0
    return count
