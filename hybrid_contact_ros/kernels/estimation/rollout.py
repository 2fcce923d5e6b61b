"""The sequence of modes and events that the hybrid model goes through in the next moments (J Definition 5).

In contact space, with the configuration's Delassus matrix G and free accelerations b frozen: between events the contact
accelerations are those of the force-acceleration mode and constant, so that events are roots of parabolas; at a
touchdown the plastic impact with Coulomb friction is the same complementarity problem with velocities for
accelerations (u⁺ = G Λ + u⁻), and what it lets go leaves. Over tens of milliseconds the geometry hardly changes; loads
do (actuators act), which is why liftoffs that the recent course of a load foretells are given from outside.
"""

from __future__ import annotations

import math

from numba import njit

from hybrid_contact_ros.codes import Status
from hybrid_contact_ros.kernels.algebra.quadratic import first_root
from hybrid_contact_ros.kernels.modes.friction import solve_modes
from hybrid_contact_ros.kernels.modes.jamming import CRITICAL_PART, jams
from hybrid_contact_ros.kernels.modes.local_friction import SLIP, STICK
from hybrid_contact_ros.kernels.stability.constraint import FEW, SYSTEMS, WORK

# The values of prediction.EventKind
_TOUCHDOWN, _LIFTOFF, _STICK = 1, 2, 4
_LEAVES = 2e-3  # m/s, m/s²: a contact that moves away faster has left; slower ones would be back at once
_SLOWEST = 1e-6  # m/s, of a touchdown whose bounds are given
_SOLVED = int(Status.SOLVED)
_BOUNCE = 1e-3  # m/s: slower rebounds count as none


@njit(cache=True, nogil=True)
def _begin(d, slip_speed, G, friction, on, u, moving, slip, state, touching, forces, out):
    """Which contacts slide, first guesses, and zero forces; for an impact, slip_speed = inf: none slides yet.

    A slide that jams is taken for rest (:mod:`.jamming`).
    """
    w = 1 + d
    for i in range(friction.shape[0]):
        speed = 0.0
        for k in range(d):
            speed += u[i * w + 1 + k] ** 2
        speed = math.sqrt(speed)
        fast = speed > slip_speed
        moving[i] = fast or friction[i] == 0.0
        for k in range(d):
            slip[i, k] = u[i * w + 1 + k] / speed if fast else 0.0
        if fast and on[i] and jams(d, i * w, CRITICAL_PART, G, friction[i], slip[i]):
            moving[i] = False
            for k in range(d):
                slip[i, k] = 0.0
        touching[i] = on[i]
        state[i] = SLIP if moving[i] else STICK
        for k in range(w):
            forces[i * w + k] = 0.0
            out[i * w + k] = 0.0


@njit(cache=True, nogil=True)
def _work(w, iterations, touching):
    """Multiplications of a solve, about."""
    rows = 0.0
    for i in range(touching.shape[0]):
        if touching[i]:
            rows += w
    return rows * rows * (min(iterations, SYSTEMS) * rows / 3.0 + iterations)


@njit(cache=True, nogil=True)
def _tell(count, contact, kind, time, early, late, contacts, kinds, times, modes, on):
    """Append an event and the mode after it."""
    contacts[count] = contact
    kinds[count] = kind
    times[count, 0] = time
    times[count, 1] = max(time - early, 0.0)
    times[count, 2] = time + late
    mask = 0
    for i in range(on.shape[0]):
        if on[i]:
            mask |= 1 << i
    modes[count] = mask
    return count + 1


@njit(cache=True, nogil=True)
def rollout(
    d,
    steps,
    horizon,
    slip_speed,
    tolerance,
    sigmas,
    gap_sigma,
    velocity_sigma,
    acceleration_sigma,
    G,
    b,
    friction,
    restitution,
    gap,
    velocity,
    closed,
    next_kind,
    next_times,
    A,
    work,
    order,
    flags,
    state,
    slip,
    lines,
    contacts,
    kinds,
    times,
    modes,
):
    """Follow the hybrid model for ``horizon`` s, or until the arrays for events are full.

    Args, n = m (1 + d):
        steps: of splitting at most, where an active set fails.
        sigmas, gap_sigma (m,), velocity_sigma (m,), acceleration_sigma: of the bounds, as for
            :func:`~.event_times.next_events`, whose answers next_kind (m,) and next_times (m, 3) are used for liftoffs,
            for the first touchdown, and for the bounds of each contact's first event.
        G (n, n), b (n,), friction, restitution, gap (m,), velocity (n,) of the contacts, normal first;
        closed (m,) uint8: the mode now, of fewer than 64 contacts.
        A (2 n + mode_splitting.ROWS, n), work (2, n), order (2 n,): scratch.
        flags (4, m) uint8, state (m,) int64, slip (m, d), lines (5, n): scratch.
        contacts, modes (k,) int64, kinds (k,) uint8, times (k, 3): out; times are time, earliest, latest, s; modes the
            bit masks of the closed contacts after each event.

    Returns:
        How many events were written, and whether they are all: False where a mode was not found, or where there was no
        time to look for one (of more than ``FEW`` contacts, see :mod:`~.constraint`).
    """
    m = friction.shape[0]
    w = 1 + d
    most = kinds.shape[0]
    on = flags[0]
    moving = flags[1]
    touching = flags[2]
    fresh = flags[3]  # 1: no event yet; 2: lifted by its load, whose return is not foretold
    phi = lines[0]
    u = lines[1]
    forces = lines[2]
    a = lines[3]
    after = lines[4]
    for i in range(m):
        on[i] = closed[i]
        fresh[i] = 1
        phi[i] = max(gap[i], 0.0)
        for k in range(w):
            u[i * w + k] = velocity[i * w + k]
        if on[i]:
            phi[i] = 0.0
            u[i * w] = 0.0
    count = 0
    now = 0.0
    early = 0.0  # than its time the latest event may be, and what it causes at the same instant
    late = 0.0
    whole = False
    left = WORK if m > FEW else math.inf
    for _ in range(4 * most):
        if count == most:
            whole = True
            break
        if left <= 0.0:
            break
        _begin(d, slip_speed, G, friction, on, u, moving, slip, state, touching, forces, a)
        code, _, made = solve_modes(
            d, steps, tolerance, G, b, friction, touching, moving, slip, state, A, work, order, forces, a
        )
        if code != _SOLVED:
            break  # nobody knows how it goes on
        left -= _work(w, made, touching)
        for i in range(m):
            if on[i] and forces[i * w] <= 0.0 and a[i * w] > _LEAVES:
                on[i] = 0
                if now > 0.0 and count < most:
                    count = _tell(count, i, _LIFTOFF, now, early, late, contacts, kinds, times, modes, on)
        step = math.inf
        which = -1
        event = 0
        for i in range(m):
            if not on[i]:
                if fresh[i] == 2:
                    continue
                if now == 0.0 and next_kind[i] == _TOUCHDOWN:
                    t = next_times[i, 0]  # may know more than the parabola; after an event it would know less
                else:
                    t = first_root(phi[i], u[i * w], a[i * w])
                if t < step:
                    step, which, event = t, i, _TOUCHDOWN
                continue
            if fresh[i] == 1 and next_kind[i] == _LIFTOFF and next_times[i, 0] - now < step:
                step, which, event = max(next_times[i, 0] - now, 0.0), i, _LIFTOFF
            if moving[i] and friction[i] > 0.0:
                speed = 0.0
                slowing = 0.0
                for k in range(d):
                    speed += slip[i, k] * u[i * w + 1 + k]
                    slowing -= slip[i, k] * a[i * w + 1 + k]
                if slowing > 0.0 and speed / slowing < step:
                    step, which, event = speed / slowing, i, _STICK
        if which < 0 or now + step > horizon or count == most:
            whole = True
            break
        for i in range(m):
            if not on[i]:
                phi[i] = max(phi[i] + (u[i * w] + 0.5 * a[i * w] * step) * step, 0.0)
            for k in range(w):
                u[i * w + k] += a[i * w + k] * step
            if on[i]:
                u[i * w] = 0.0
        now += step
        if event == _LIFTOFF:
            on[which] = 0
            early = next_times[which, 0] - next_times[which, 1]
            late = next_times[which, 2] - next_times[which, 0]
            fresh[which] = 2
            count = _tell(count, which, event, now, early, late, contacts, kinds, times, modes, on)
            continue
        if event == _STICK:
            for k in range(d):
                u[which * w + 1 + k] = 0.0
            count = _tell(count, which, event, now, early, late, contacts, kinds, times, modes, on)
            fresh[which] = 0
            continue
        approach = -u[which * w]
        drift = velocity_sigma[which] * now
        bend = 0.5 * acceleration_sigma * now * now
        early = sigmas * math.sqrt(gap_sigma[which] ** 2 + drift * drift + bend * bend) / max(approach, _SLOWEST)
        late = early
        if fresh[which] == 1 and next_kind[which] == _TOUCHDOWN and abs(next_times[which, 0] - now) < 1e-9:
            early = now - next_times[which, 1]
            late = next_times[which, 2] - now
        phi[which] = 0.0
        on[which] = 1
        count = _tell(count, which, event, now, early, late, contacts, kinds, times, modes, on)
        fresh[which] = 0
        _begin(d, math.inf, G, friction, on, u, moving, slip, state, touching, forces, after)
        code, _, made = solve_modes(
            d, steps, tolerance, G, u, friction, touching, moving, slip, state, A, work, order, forces, after
        )
        if code != _SOLVED:
            break
        left -= _work(w, made, touching)
        bounce = restitution[which] if restitution[which] * approach > _BOUNCE else 0.0
        for k in range(m * w):
            u[k] = after[k]
        if bounce > 0.0:  # Poisson: what the impact took up comes back, of the contact that struck
            for k in range(m * w):
                for j in range(w):
                    u[k] += G[k, which * w + j] * bounce * forces[which * w + j]
        for i in range(m):
            if not touching[i]:
                continue
            if u[i * w] > _LEAVES:
                on[i] = 0
                if count < most:
                    count = _tell(count, i, _LIFTOFF, now, early, late, contacts, kinds, times, modes, on)
            else:
                u[i * w] = 0.0
    return count, whole
