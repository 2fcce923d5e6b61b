"""Which contacts hold, by the evidence of the measured states: gaps, gap velocities, loads and slip."""

from __future__ import annotations

import math

from numba import njit

# The values of prediction.ContactStatus
_OPEN, _STICKING, _SLIPPING = 1, 2, 3
# Log-likelihood ratio at which a contact changes: noise alone reaches it about once in e^6 = 400 states (Page 1954).
ENOUGH = 6.0
UNKNOWN = -1.0  # evidence before the first state
_IDLE = 1e-6  # of force_on: a smaller force is the rounding of none
_LONG = 0.1  # of a low-pass's gain: noise is averaged over ten times as long as velocities
_SURE = 4.0  # standard deviations of a mean velocity, below which a contact that just closed is not said to slip


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

    A contact that was closed stays a candidate up to ``gap_off``, however fast: one state does not open it. One that
    was open becomes one below ``gap_off`` once it is at rest within ``velocity_tolerance``, since something may have
    stopped it where the plane is not quite where the map has it; below ``gap_on`` it does so while it moves away no
    faster than that, or while it approaches and its gap is gone. (While it approaches faster and has a gap, nothing has
    stopped it yet.)

    Args:
        gap_on, gap_off: m. velocity_tolerance: m/s. closed (m,) uint8: before. gap, rate (m,).
        touching: out (m,) uint8.
    """
    for i in range(gap.shape[0]):
        near = gap[i] <= gap_off and (closed[i] or rate[i] <= velocity_tolerance)
        if near and not closed[i] and rate[i] < -velocity_tolerance:
            near = gap[i] <= min(gap_on, 0.0)
        touching[i] = 1 if near else 0


@njit(cache=True, nogil=True)
def slips(
    slip_on,
    slip_off,
    time_constant,
    velocity_sigma,
    dt,
    closed,
    tangential,
    tangents,
    slipping,
    seen,
    smooth,
    spread,
    sliding,
):
    """Tell stick from slip, before forces are known.

    By the low-passed velocity of the contact point: as a vector, so that the noise of a contact at rest averages out
    and does not add up. A contact that has just closed has not been averaged over much: it slips only if it is faster
    than ``slip_on`` by what its mean is uncertain.

    Args:
        slip_on, slip_off, velocity_sigma: m/s. time_constant: s. dt: s since the last state.
        closed (m,) uint8: before this state. tangential (m, 3): m/s, world frame. tangents (m, 2, 3).
        slipping (m,) uint8, seen (m,) (states averaged), smooth (m, 3) m/s: in and out; those of open contacts are what
            they would be if they closed now. spread (m,): in and out, mean square of what single states differ by from
            the mean, of closed contacts, per direction, (m/s)²: noise of this robot that ``velocity_sigma`` misses.
        sliding: out (m, 2), the low-passed velocity along the tangents, zero where a contact does not slip.
    """
    lag = math.exp(-max(dt, 0.0) / time_constant)
    for i in range(closed.shape[0]):
        if not closed[i]:
            seen[i] = 0.0
            slipping[i] = 0
        seen[i] = 1.0 + lag * seen[i]
        speed = 0.0
        apart = 0.0
        for k in range(3):
            apart += (tangential[i, k] - smooth[i, k]) ** 2
            smooth[i, k] += (tangential[i, k] - smooth[i, k]) / seen[i]
            speed += smooth[i, k] ** 2
        if closed[i]:
            spread[i] += (1.0 - lag) * _LONG * (0.5 * apart - spread[i])
        doubt = _SURE * math.sqrt(max(velocity_sigma * velocity_sigma, spread[i]) / (2.0 * seen[i] - 1.0))
        slipping[i] = 1 if math.sqrt(speed) > (slip_off if slipping[i] else max(slip_on, doubt)) else 0
        for k in range(2):
            total = 0.0
            for j in range(3):
                total += tangents[i, k, j] * smooth[i, j]
            sliding[i, k] = total if slipping[i] else 0.0


@njit(cache=True, nogil=True)
def contact_statuses(
    gap_on,
    velocity_tolerance,
    force_on,
    force_off,
    force_sigma,
    velocity_sigma,
    trusted,
    touching,
    slipping,
    gap,
    rate,
    load,
    closed,
    evidence,
    status,
):
    """Close, keep or open each contact: a sequential test of closed against open (Page's cumulative sum).

    ``load`` (m,) N is the normal force of the model, or, where that is zero, minus the force that would have to pull to
    keep the gap from opening. Each state adds the logarithm of the likelihood ratio, of what the contact is not to what
    it is, to ``evidence``, which never falls below zero; the contact changes where it passes a threshold. A closed
    contact is contradicted by a load below ``force_off`` and by a gap that grows faster than ``velocity_tolerance``; an
    open one that is a candidate by a load above ``force_off``, and it closes at once where it is still being stopped.
    (The two alternatives of the ratio are loads above and below ``force_off`` by ``force_on``, or ``force_sigma`` if
    that is more.) Plain states decide in one step, noisy ones in as many as they need; one alone never does if it
    could be
    noise. A contact that is no candidate is open. Without ``trusted`` efforts the load is unknown: every candidate is
    closed until its gap grows.

    Of several points on one body that is at rest the others can carry all: the model's forces are then not unique,
    and a
    point that gets none and has nowhere to go either is *idle*. Nothing speaks against an idle contact that is closed,
    and one that is open closes below ``gap_on``, where no sensor could tell it from those that hold its body.

    Args:
        gap_on: m. velocity_tolerance: m/s. force_on, force_off: N. force_sigma: N, velocity_sigma: m/s, of one state.
        trusted: 0 or 1. touching, slipping (m,) uint8, gap, rate, load (m,).
        closed (m,) uint8, evidence (m,): in and out; evidence is that against the status of before until the next call,
            and ``UNKNOWN`` before the first state, of which a load of ``force_on`` alone decides.
        status: out (m,) uint8.
    """
    for i in range(load.shape[0]):
        fast = rate[i] - velocity_tolerance
        push = max(force_on, force_sigma) / (force_sigma * force_sigma)
        idle = abs(load[i]) < _IDLE * force_on
        if closed[i]:
            gain = 0.0
            if not touching[i]:
                gain = ENOUGH
            elif fast > 0.0:
                gain = 2.0 * fast * velocity_tolerance / (velocity_sigma * velocity_sigma)
            elif trusted and rate[i] >= -velocity_tolerance:  # the forces of a mode are not those that stop a contact
                gain = -ENOUGH if idle else 2.0 * (force_off - load[i]) * push
        elif not touching[i]:
            gain = -ENOUGH
        elif not trusted or rate[i] < -velocity_tolerance:
            gain = ENOUGH
        elif idle:
            gain = ENOUGH if gap[i] <= gap_on else 0.0
        else:
            gain = 2.0 * (load[i] - force_off) * push
        if evidence[i] < 0.0:  # the first state: nothing is known yet that evidence would have to outweigh
            evidence[i] = 0.0
            loaded = gain >= ENOUGH or (trusted and not idle and load[i] >= force_on)
            closed[i] = 1 if touching[i] and loaded else 0
        else:
            if evidence[i] >= ENOUGH:  # it changed: what comes now speaks for or against the new status
                evidence[i] = 0.0
            evidence[i] = min(max(evidence[i] + gain, 0.0), ENOUGH)
            if evidence[i] >= ENOUGH:
                closed[i] = 0 if closed[i] else 1
        if not closed[i]:
            slipping[i] = 0
            status[i] = _OPEN
        else:
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
