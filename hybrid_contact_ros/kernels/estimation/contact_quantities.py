"""Velocities, loads, forces and friction margins of the contacts, from contact space to what a user reads."""

from __future__ import annotations

import math

from hybrid_contact_ros.kernels.compiling import kernel


@kernel
def contact_rates(
    # problem:
    tangents, rows, generalised_velocity,
    # out:
    velocity, rate, tangential, speed,
):  # fmt: skip
    """Contact velocities u = J v, gap velocities, and the contact points' velocities along the surface.

    Args:
        tangents: (m, 2, 3), unit vectors, world frame.
        rows: J (m, 3, nv), normal and two tangents of each contact. generalised_velocity: v (nv,).
        velocity: out, u (m, 3), m/s. rate: out, φ̇ (m,), m/s, its normal column.
        tangential: out (m, 3), m/s, world frame. speed: out (m,), m/s, its norm.
    """
    for i in range(rate.shape[0]):
        u = 0.0
        x = 0.0
        y = 0.0
        for k in range(generalised_velocity.shape[0]):
            u += rows[i, 0, k] * generalised_velocity[k]
            x += rows[i, 1, k] * generalised_velocity[k]
            y += rows[i, 2, k] * generalised_velocity[k]
        velocity[i, 0] = u
        velocity[i, 1] = x
        velocity[i, 2] = y
        write_rates(i, u, x, y, tangents, rate, tangential, speed)


@kernel
def write_rates(i, u, x, y, tangents, rate, tangential, speed):
    """Write what :func:`contact_rates` does of contact i, whose velocity along its normal and tangents is u, x, y."""
    rate[i] = u
    speed[i] = math.sqrt(x * x + y * y)
    for k in range(3):
        tangential[i, k] = x * tangents[i, 0, k] + y * tangents[i, 1, k]


@kernel
def model_loads(
    # constants:
    width, immovable,
    # problem:
    G, forces, accelerations,
    # out:
    load,
):  # fmt: skip
    """Normal load of each contact: λ_n, or −a_n / G_nn where nothing pushes.

    Args:
        width: rows of a contact, 1 + d.
        immovable: a contact whose G_nn is below this times the largest cannot move; its load is λ_n.
        G: (m width, m width), 1/kg. forces: λ (m width,), N. accelerations: a (m width,), m/s².
        load: out (m,), N.
    """
    largest = 0.0
    for i in range(load.shape[0]):
        largest = max(largest, G[i * width, i * width])
    for i in range(load.shape[0]):
        k = i * width
        load[i] = forces[k]
        if forces[k] <= 0.0 and G[k, k] > immovable * largest:
            load[i] = -accelerations[k] / G[k, k]


@kernel
def contact_quantities(
    # problem:
    normals, tangents, friction, tangential, speed, forces, accelerations,
    # out:
    world_force, margin, slip_acceleration,
):  # fmt: skip
    """Forces in the world frame, friction margins and the rates of the slip speeds.

    Args:
        normals: (m, 3), tangents: (m, 2, 3), unit vectors, world frame. friction: μ (m,).
        tangential: (m, 3), m/s, speed: (m,), m/s, as of :func:`contact_rates`.
        forces: λ (m, 3), N, accelerations: a (m, 3), m/s²; normal and two tangents.
        world_force: out (m, 3), N. margin: out, μ λ_n − ‖λ_t‖ (m,), N.
        slip_acceleration: out, d‖u_t‖/dt (m,), m/s²; zero at rest.
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
        slip_acceleration[i] = along / speed[i] if speed[i] > 0.0 else 0.0
