"""Which contacts hold, by a measured state: hysteresis over gap, gap velocity, load and slip, one scalar a contact."""

from __future__ import annotations

import math

from numba import njit

# The values of prediction.ContactStatus
_OPEN, _STICKING, _SLIPPING = 1, 2, 3


@njit(cache=True, nogil=True)
def contact_rates(rows, velocity, normal, tangents, rate, tangential, speed):
    """Gap velocities and the contact points' velocities along the surface.

    Args:
        rows (m, 3, nv): normal and two tangents of each contact. velocity (nv,).
        normal (m, 3), tangents (m, 2, 3): world frame.
        rate: out (m,), φ̇. tangential: out (m, 3), m/s, world frame. speed: out (m,), its norm.
    """
    for i in range(rate.shape[0]):
        u = 0.0
        x = 0.0
        y = 0.0
        for k in range(velocity.shape[0]):
            u += rows[i, 0, k] * velocity[k]
            x += rows[i, 1, k] * velocity[k]
            y += rows[i, 2, k] * velocity[k]
        rate[i] = u
        speed[i] = math.sqrt(x * x + y * y)
        for k in range(3):
            tangential[i, k] = x * tangents[i, 0, k] + y * tangents[i, 1, k]


@njit(cache=True, nogil=True)
def candidates(gap_on, gap_off, velocity_tolerance, closed, gap, rate, touching):
    """Contacts near enough to the surface, and slow enough, to carry force.

    A contact that was closed stays a candidate up to ``gap_off``. One that was open becomes one below ``gap_on``; while
    it still approaches faster than ``velocity_tolerance`` nothing has stopped it, so that it has not touched unless
    its gap is gone. None grows its gap faster than ``velocity_tolerance``.

    Args:
        gap_on, gap_off: m. velocity_tolerance: m/s. closed (m,) uint8: before. gap, rate (m,).
        touching: out (m,) uint8.
    """
    for i in range(gap.shape[0]):
        limit = gap_off if closed[i] else gap_on
        near = gap[i] <= limit and rate[i] <= velocity_tolerance
        if near and not closed[i] and rate[i] < -velocity_tolerance and gap[i] > 0.0:
            near = False
        touching[i] = 1 if near else 0


@njit(cache=True, nogil=True)
def contact_statuses(
    velocity_tolerance, force_on, slip_on, slip_off, trusted, touching, rate, speed, load, closed, slipping, status
):
    """Close, keep or open each contact, and tell stick from slip; a Schmitt trigger each.

    ``load`` (m,) N is the normal force of the model, or, where that is zero, minus the force that would have to pull to
    keep the gap from opening. A candidate closes once it is loaded by ``force_on``, or is still being stopped; a
    closed one opens once it would have to be pulled by ``force_on``. Without ``trusted`` efforts the load is unknown:
    every candidate is closed.

    Args:
        velocity_tolerance: m/s. force_on: N. slip_on, slip_off: m/s. trusted: 0 or 1.
        touching (m,) uint8, rate, speed, load (m,).
        closed, slipping: in and out (m,) uint8. status: out (m,) uint8.
    """
    for i in range(load.shape[0]):
        if not touching[i]:
            closed[i] = 0
        elif not trusted:
            closed[i] = 1
        elif closed[i]:
            closed[i] = 1 if load[i] > -force_on else 0
        else:
            closed[i] = 1 if load[i] >= force_on or rate[i] < -velocity_tolerance else 0
        if not closed[i]:
            slipping[i] = 0
            status[i] = _OPEN
            continue
        slipping[i] = 1 if speed[i] > (slip_off if slipping[i] else slip_on) else 0
        status[i] = _SLIPPING if slipping[i] else _STICKING


@njit(cache=True, nogil=True)
def model_loads(width, shift, delassus, forces, accelerations, load):
    """Normal load of each contact (m,) N: λ_n, or −a_n / G_nn where nothing pushes; ``width`` = 1 + d rows a contact.

    A contact whose G_nn is below ``shift`` times the largest cannot move: its load is λ_n.
    """
    largest = 0.0
    for i in range(load.shape[0]):
        largest = max(largest, delassus[i * width, i * width])
    for i in range(load.shape[0]):
        k = i * width
        load[i] = forces[i, 0]
        if forces[i, 0] <= 0.0 and delassus[k, k] > shift * largest:
            load[i] = -accelerations[i, 0] / delassus[k, k]


@njit(cache=True, nogil=True)
def closed_scores(
    gap_limit, velocity_limit, gap_sigma, velocity_sigma, force_sigma, trusted, gap, rate, load, probability
):
    """A score (m,) in [0, 1] that a contact is closed, falling in gap and gap velocity, rising in load.

    Product of the normal probabilities that the gap is below ``gap_limit``, its rate below ``velocity_limit``, and,
    where efforts are ``trusted``, the load positive. The three are treated as independent.
    """
    root = math.sqrt(0.5)
    for i in range(gap.shape[0]):
        p = 0.5 * math.erfc(root * (gap[i] - gap_limit) / gap_sigma)
        p *= 0.5 * math.erfc(root * (rate[i] - velocity_limit) / velocity_sigma)
        if trusted:
            p *= 0.5 * math.erfc(-root * load[i] / force_sigma)
        probability[i] = p
