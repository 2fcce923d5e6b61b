"""Stability flags of every contact from one solved contact mode, with the margin each flag was decided on.

The values of the flags are those of prediction.Flag. Or, Ames 2011 (O) treat one frictionless constraint; with several,
"released" means that the contact is taken out and the others answer by complementarity, friction included, and "held"
that it is kept closed while the others stay in their modes.
"""

from __future__ import annotations

import math

from numba import njit

from hybrid_contact_ros.kernels.modes.friction import SHIFT, hold_mode, solve_modes
from hybrid_contact_ros.kernels.modes.jamming import bounded
from hybrid_contact_ros.kernels.modes.local_friction import OPEN, SLIP, STICK

_UNDECIDED, _HOLDS, _FAILS = 0, 1, 2
_OPEN, _STICKING = 1, 2
# Robots with more contacts than FEW (soles with many points) get no more than this much work in one call, in
# multiplications, of which a core makes about one a nanosecond: what is not reached is UNDECIDED.
FEW = 16
WORK = 5e6
SYSTEMS = 20  # linear systems of a mode that is not found at once; the rest of its iterations are sweeps and steps
# Rows of flags and of margins
CONSTRAINT, BOUNDED_TIME, ZENO, GRAZING, FRICTION = 0, 1, 2, 3, 4
PSEUDO_IMPULSE = 5  # of mode_pseudo_impulse


@njit(cache=True, nogil=True)
def stability_flags(
    d,
    steps,
    force_tolerance,
    acceleration_tolerance,
    grazing_speed,
    tolerance,
    G,
    b,
    friction,
    restitution,
    gap,
    gap_velocity,
    touching,
    moving,
    jammed,
    slip,
    status,
    forces,
    accelerations,
    A,
    work,
    order,
    scope,
    glide,
    direction,
    state,
    trial_forces,
    trial_accelerations,
    flags,
    margins,
):
    """Decide constraint stability, bounded-time local stability, Zeno, grazing and friction of each contact.

    Args, n = m (1 + d):
        force_tolerance (N), acceleration_tolerance (m/s²): dead bands, inside which a flag is UNDECIDED.
        grazing_speed: m/s. steps, tolerance: of the mode solver.
        G (n, n), b (n,), friction, restitution, gap, gap_velocity (m,), touching (m,) uint8, moving (m,) uint8,
        jammed (m,) uint8 (:mod:`.jamming`), slip (m, d), status (m,) uint8, forces (n,), accelerations (n,): of
        the problem and its solved mode.
        A (2 n + mode_splitting.ROWS, n), work (2, n), order (2 n,) int64, scope (m,) uint8, glide (m,) uint8,
        direction (m, d), state (m,) int64, trial_forces (n,), trial_accelerations (n,): scratch.
        flags: out, (5, m) uint8. margins: out, (5, m): normal force of the held contact (N); gap acceleration with it
            released (m/s²); chatter end (s, NaN unless ZENO holds); touchdown speed (m/s, NaN without one); friction
            margin μ λ_n − ‖λ_t‖ (N, 0 for open contacts). The first two are NaN where the work was cut, or no mode with
            bounded forces was found.
    """
    m = friction.shape[0]
    w = 1 + d
    rows = 0
    for i in range(m):
        if touching[i]:
            rows += w
    left = WORK if m > FEW else math.inf
    for i in range(m):
        f = i * w
        elastic = restitution[i] >= 1.0
        closed = status[i] >= _STICKING
        # O Theorem 2: the gap's acceleration with the contact released
        released = accelerations[f]
        known = True
        if closed and left <= 0.0:
            known = False
            released = math.nan
        elif closed:
            _mode_of(d, touching, moving, slip, status, scope, glide, direction, state)
            scope[i] = 0
            for k in range(w * m):
                trial_forces[k] = forces[k]
                trial_accelerations[k] = accelerations[k]
            code, _, iterations = solve_modes(
                d,
                steps,
                tolerance,
                G,
                b,
                friction,
                scope,
                glide,
                direction,
                state,
                A,
                work,
                order,
                trial_forces,
                trial_accelerations,
            )
            left -= rows * rows * (min(iterations, SYSTEMS) * rows / 3.0 + iterations)
            known = code == 1 and bounded(d, G, b, trial_forces)
            released = trial_accelerations[f] if known else math.nan
        margins[BOUNDED_TIME, i] = released
        flags[BOUNDED_TIME, i] = _UNDECIDED
        if known and released > acceleration_tolerance:
            flags[BOUNDED_TIME, i] = _FAILS
        elif known and released < -acceleration_tolerance and not elastic:
            flags[BOUNDED_TIME, i] = _HOLDS
        # O Corollary 1: the force of the held contact
        held = forces[f]
        known = True
        if not closed and left <= 0.0:
            known = False
            held = math.nan
        elif not closed:
            _mode_of(d, touching, moving, slip, status, scope, glide, direction, state)
            glide[i] = 1
            for k in range(d):
                direction[i, k] = 0.0
            state[i] = SLIP
            for k in range(w * m):
                trial_forces[k] = 0.0  # slip directions stay as they are in the mode
                trial_accelerations[k] = accelerations[k]
            known = hold_mode(
                d,
                SHIFT,
                G,
                b,
                friction,
                glide,
                direction,
                state,
                A,
                work,
                order,
                trial_forces,
                trial_accelerations,
            )
            left -= rows * rows * rows / 3.0
            known = known and bounded(d, G, b, trial_forces)
            held = trial_forces[f] if known else math.nan
        margins[CONSTRAINT, i] = held
        flags[CONSTRAINT, i] = _UNDECIDED
        if known and held < -force_tolerance:
            flags[CONSTRAINT, i] = _FAILS
        elif known and held > force_tolerance and not elastic:
            flags[CONSTRAINT, i] = _HOLDS
        _touchdown(
            i, closed, acceleration_tolerance, grazing_speed, released, restitution, gap, gap_velocity, flags, margins
        )
        margins[FRICTION, i] = 0.0
        flags[FRICTION, i] = _UNDECIDED
        if closed:
            size = 0.0
            for k in range(d):
                size += forces[f + 1 + k] ** 2
            margin = friction[i] * forces[f] - math.sqrt(size)
            margins[FRICTION, i] = margin
            if jammed[i]:
                flags[FRICTION, i] = _UNDECIDED  # it slides, and is solved as if it did not
            elif status[i] != _STICKING:
                flags[FRICTION, i] = _FAILS
            elif margin > force_tolerance:
                flags[FRICTION, i] = _HOLDS
            elif margin < -force_tolerance:
                flags[FRICTION, i] = _FAILS


@njit(cache=True, nogil=True)
def _touchdown(
    i, closed, acceleration_tolerance, grazing_speed, acceleration, restitution, gap, gap_velocity, flags, margins
):
    """Next touchdown and end of the bouncing after it, exact while the gap's acceleration stays what it is now.

    Bounces last 2 e v₁/|φ̈|, 2 e² v₁/|φ̈|, …: with v₁ the speed of the first touchdown they end 2 e v₁/(|φ̈| (1 − e))
    after it.
    """
    flags[ZENO, i] = _FAILS
    margins[ZENO, i] = math.nan
    flags[GRAZING, i] = _FAILS
    margins[GRAZING, i] = math.nan
    if closed:
        return
    height = max(gap[i], 0.0)
    rate = gap_velocity[i]
    e = restitution[i]
    square = rate * rate - 2.0 * acceleration * height
    touches = False
    speed = math.sqrt(max(square, 0.0))
    if acceleration < -acceleration_tolerance:
        touches = True
        if 0.0 < e < 1.0:
            flags[ZENO, i] = _HOLDS
            first = (rate + speed) / -acceleration
            margins[ZENO, i] = first + 2.0 * e * speed / (-acceleration * (1.0 - e))
    elif acceleration > acceleration_tolerance:
        touches = rate < 0.0 and square >= 0.0
        if rate < 0.0 and -grazing_speed * grazing_speed <= square < 0.0:
            flags[GRAZING, i] = _UNDECIDED  # a near miss
    else:
        touches = rate < 0.0
        speed = -rate
        if 0.0 < e < 1.0:
            flags[ZENO, i] = _UNDECIDED
    if touches:
        margins[GRAZING, i] = speed
        if speed < grazing_speed:
            flags[GRAZING, i] = _HOLDS


@njit(cache=True, nogil=True)
def _mode_of(d, touching, moving, slip, status, scope, glide, direction, state):
    """Copy the solved mode into scratch, as the first guess of another solve."""
    for i in range(status.shape[0]):
        scope[i] = touching[i]
        glide[i] = moving[i]
        for k in range(d):
            direction[i, k] = slip[i, k]
        state[i] = OPEN
        if status[i] >= _STICKING:
            state[i] = STICK if status[i] == _STICKING and not moving[i] else SLIP


@njit(cache=True, nogil=True)
def normal_cosines(d, G, cosines):
    """Cosines (m, m) between the constraints in the metric of M⁻¹ (P 14), from the Delassus matrix."""
    m = cosines.shape[0]
    w = 1 + d
    largest = 0.0
    for i in range(m):
        largest = max(largest, G[i * w, i * w])
    for i in range(m):
        for j in range(m):
            product = G[i * w, i * w] * G[j * w, j * w]
            small = G[i * w, i * w] <= 1e-14 * largest or G[j * w, j * w] <= 1e-14 * largest
            cosines[i, j] = 0.0
            if not small and product > 0.0:
                cosines[i, j] = min(1.0, max(-1.0, G[i * w, j * w] / math.sqrt(product)))
