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

    A contact that was closed stays a candidate up to ``gap_off``. One that was open becomes one below ``gap_off`` once
    it is at rest within ``velocity_tolerance``, since something may have stopped it where the plane is not quite where
    the map has it; below ``gap_on`` it does so while it moves away no faster than that, or while it approaches and its
    gap is gone. (While it approaches faster and has a gap, nothing has stopped it yet.) None grows its gap faster than
    ``velocity_tolerance``.

    Args:
        gap_on, gap_off: m. velocity_tolerance: m/s. closed (m,) uint8: before. gap, rate (m,).
        touching: out (m,) uint8.
    """
    for i in range(gap.shape[0]):
        near = rate[i] <= velocity_tolerance and gap[i] <= gap_off
        if near and not closed[i] and rate[i] < -velocity_tolerance:
            near = gap[i] <= min(gap_on, 0.0)
        touching[i] = 1 if near else 0


@njit(cache=True, nogil=True)
def smooth_slip(time_constant, dt, closed, tangential, tangents, smooth, glide):
    """Low-pass the velocities of closed contacts' points along the surface, as vectors.

    The noise of a contact at rest averages out and does not add up, as that of speeds would.

    Args:
        time_constant: s. dt: s since the last state. closed (m,) uint8: in that state; others start anew.
        tangential (m, 3): m/s, world frame. tangents (m, 2, 3).
        smooth: in and out (m, 3) m/s. glide: out (m, 2), its components along the tangents.
    """
    keep = math.exp(-max(dt, 0.0) / time_constant)
    for i in range(closed.shape[0]):
        for k in range(3):
            if closed[i]:
                smooth[i, k] = keep * smooth[i, k] + (1.0 - keep) * tangential[i, k]
            else:
                smooth[i, k] = tangential[i, k]
        for k in range(2):
            glide[i, k] = 0.0
            for j in range(3):
                glide[i, k] += tangents[i, k, j] * smooth[i, j]


@njit(cache=True, nogil=True)
def contact_statuses(
    velocity_tolerance,
    force_on,
    force_off,
    slip_on,
    slip_off,
    load_time_constant,
    trusted,
    dt,
    touching,
    rate,
    smooth,
    load,
    closed,
    slipping,
    mean_load,
    status,
):
    """Close, keep or open each contact, and tell stick from slip; a Schmitt trigger each.

    ``load`` (m,) N is the normal force of the model, or, where that is zero, minus the force that would have to pull to
    keep the gap from opening. A candidate closes once it is loaded by ``force_on``, or is still being stopped; a
    closed one opens once it would have to be pulled by ``force_on``, or its low-passed load is below ``force_off``.
    Without ``trusted`` efforts the load is unknown:
    every candidate is closed. Slip is told by the low-passed velocity of the contact point (:func:`smooth_slip`).

    Args:
        velocity_tolerance: m/s. force_on, force_off: N. slip_on, slip_off: m/s.
        load_time_constant: of the low-pass of the load, s.
        trusted: 0 or 1. dt: s since the last state.
        touching (m,) uint8, rate, load (m,), smooth (m, 3) m/s.
        closed, slipping: in and out (m,) uint8. mean_load: in and out (m,) N.
        status: out (m,) uint8.
    """
    keep_load = math.exp(-max(dt, 0.0) / load_time_constant)
    for i in range(load.shape[0]):
        if not touching[i]:
            closed[i] = 0
        elif not trusted:
            closed[i] = 1
        elif closed[i]:
            if rate[i] >= -velocity_tolerance:  # the forces of a mode are not those that stop a contact
                mean_load[i] += (1.0 - keep_load) * (load[i] - mean_load[i])
            closed[i] = 1 if load[i] > -force_on and mean_load[i] >= force_off else 0
        else:
            closed[i] = 1 if load[i] >= force_on or rate[i] < -velocity_tolerance else 0
            mean_load[i] = max(load[i], force_on)
        if not closed[i]:
            slipping[i] = 0
            status[i] = _OPEN
            continue
        speed = 0.0
        for k in range(3):
            speed += smooth[i, k] ** 2
        slipping[i] = 1 if math.sqrt(speed) > (slip_off if slipping[i] else slip_on) else 0
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


@njit(cache=True, nogil=True)
def contact_quantities(
    normals, tangents, friction, tangential, speed, forces, accelerations, world_force, margin, slip_rate
):
    """Forces in the world frame, friction margins and the rates of the slip speeds.

    Args:
        normals (m, 3), tangents (m, 2, 3), friction (m,). tangential (m, 3), speed (m,): of :func:`contact_rates`.
        forces, accelerations (m, 3): normal and two tangents.
        world_force: out (m, 3) N. margin: out (m,) N, μ λ_n − ‖λ_t‖. slip_rate: out (m,) m/s², d‖v_t‖/dt; zero at rest.
    """
    for i in range(friction.shape[0]):
        along = 0.0
        for k in range(3):
            world_force[i, k] = (
                forces[i, 0] * normals[i, k] + forces[i, 1] * tangents[i, 0, k] + forces[i, 2] * tangents[i, 1, k]
            )
            along += tangential[i, k] * (
                accelerations[i, 1] * tangents[i, 0, k] + accelerations[i, 2] * tangents[i, 1, k]
            )
        margin[i] = friction[i] * forces[i, 0] - math.sqrt(forces[i, 1] ** 2 + forces[i, 2] ** 2)
        slip_rate[i] = along / speed[i] if speed[i] > 0.0 else 0.0
