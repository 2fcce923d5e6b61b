"""Stability flags of every contact from one solved contact mode, with the margin on which each flag was decided.

Or and Ames treat one frictionless constraint. With several contacts, a contact is *released* by taking it out of the
mode: the others answer by complementarity, friction included. A contact is *held* by keeping it closed without friction
while the others stay in their modes.
"""

from __future__ import annotations

import math

from hybrid_contact_ros.codes import ContactStatus, Flag, FrictionState, Status
from hybrid_contact_ros.kernels.compiling import kernel
from hybrid_contact_ros.kernels.modes.friction import solve_modes
from hybrid_contact_ros.kernels.modes.jamming import bounded
from hybrid_contact_ros.kernels.modes.linear_system import hold_mode
from hybrid_contact_ros.kernels.modes.records import ContactDynamics, ModeIterate, ModeScratch
from hybrid_contact_ros.kernels.stability.records import (
    SolvedMode,
    StabilityOut,
    StabilityProblem,
    StabilitySettings,
)

_SOLVED = int(Status.SOLVED)
_UNDECIDED, _HOLDS, _FAILS, _CUT = int(Flag.UNDECIDED), int(Flag.HOLDS), int(Flag.FAILS), int(Flag.CUT)
_STICKING, _SLIPPING = int(ContactStatus.STICKING), int(ContactStatus.SLIPPING)
_OPEN, _STICK, _SLIP = int(FrictionState.OPEN), int(FrictionState.STICK), int(FrictionState.SLIP)

CONTACTS_WITHOUT_LIMIT = 12
"""Contacts up to which the work of a state is not limited. Robots with more have soles of many points."""
WORK_LIMIT = 3.5e6
"""Multiplications that the flags of a state, or its rollout, may take with more contacts than that: half a millisecond.
Flags that are not reached by then are CUT."""
SLIDING = 4.0
"""How much longer a linear system takes where a contact slides: it has no symmetry, and more columns."""
SYSTEMS_COUNTED = 20
"""Iterations of a mode that count as linear systems where it is not found at once; the others are sweeps and steps."""

CONSTRAINT, BOUNDED_TIME, ZENO, GRAZING, FRICTION, PSEUDO_IMPULSE = range(6)
"""Rows of flags and of margins; the last one is :mod:`.pseudo_impulse`'s."""
FLAGS = 6
"""How many rows there are."""


@kernel
def stability_flags(
    # settings:
    d,
    steps,
    force_tolerance,
    acceleration_tolerance,
    grazing_speed,
    tolerance,
    # problem:
    G,
    b,
    friction,
    restitution,
    gap,
    gap_velocity,
    # solved mode:
    touching,
    moving,
    jammed,
    slip,
    status,
    forces,
    accelerations,
    # scratch:
    A,
    work,
    order,
    scope,
    glide,
    direction,
    state,
    trial_forces,
    trial_accelerations,
    # out:
    flags,
    margins,
):
    """Decide constraint stability, bounded-time local stability, Zeno, grazing and friction of each contact.

    Args:
        d … tolerance: :class:`.StabilitySettings`. G … gap_velocity: :class:`.StabilityProblem`.
        touching … accelerations: :class:`.SolvedMode`. A … trial_accelerations: :class:`.TrialScratch`.
        flags, margins: out, the first five rows of :class:`.StabilityOut`. The margins are the normal force of the held
            contact (N); the gap acceleration with the contact released (m/s²); the end of the chatter (s from now, NaN
            unless ZENO holds); the speed of touchdown (m/s, NaN without one); the friction margin μ λ_n − ‖λ_t‖ (N, 0
            for open contacts). The first two are NaN where the work was cut (flags then say CUT; only with ``steps``
            of 0), or where no mode with bounded forces was found.
    """
    settings = StabilitySettings(d, steps, force_tolerance, acceleration_tolerance, grazing_speed, tolerance)
    problem = StabilityProblem(G, b, friction, restitution, gap, gap_velocity)
    solved = SolvedMode(touching, moving, jammed, slip, status, forces, accelerations)
    dynamics = ContactDynamics(d, G, b, friction)
    iterate = ModeIterate(direction, state, trial_forces, trial_accelerations)
    memory = ModeScratch(A, work, order)
    out = StabilityOut(flags, margins)
    m = friction.shape[0]
    w = 1 + d
    rows = 0
    system = 1.0 / 3.0
    for i in range(m):
        if touching[i]:
            rows += w
            if status[i] == _SLIPPING:
                system = SLIDING / 3.0
    limited = steps == 0
    work_left = WORK_LIMIT if limited else math.inf
    for i in range(m):
        elastic = restitution[i] >= 1.0
        closed = status[i] >= _STICKING
        known, unknown = True, _UNDECIDED
        released = accelerations[i * w]
        if closed:
            known = work_left > 0.0
            if known:
                known, iterations = _release(i, settings, solved, dynamics, scope, glide, iterate, memory)
                work_left -= rows * rows * (min(iterations, SYSTEMS_COUNTED) * rows * system + iterations)
            unknown = _CUT if limited else _UNDECIDED
            released = trial_accelerations[i * w] if known else math.nan
        margins[BOUNDED_TIME, i] = released
        # Or, Theorem 2: a gap that accelerates towards closing again ends its bounces in bounded time
        flags[BOUNDED_TIME, i] = _decide(-released, acceleration_tolerance, elastic) if known else unknown
        known, unknown = True, _UNDECIDED
        held_force = forces[i * w]
        if not closed:
            if work_left > 0.0:
                known = _hold(i, solved, dynamics, scope, glide, iterate, memory)
                work_left -= rows * rows * rows * system
            else:
                known, unknown = False, _CUT
            held_force = trial_forces[i * w] if known else math.nan
        margins[CONSTRAINT, i] = held_force
        # Or, Corollary 1: a contact that pushes while it is held is stable
        flags[CONSTRAINT, i] = _decide(held_force, force_tolerance, elastic) if known else unknown
        _touchdown(i, closed, released, settings, problem, out)
        _friction_flag(i, closed, force_tolerance, friction[i], solved, out)


@kernel
def _decide(margin, tolerance, elastic):
    """The flag of a margin that is positive for stability; bounces with e = 1 do not die out, so that none HOLDS."""
    if margin < -tolerance:
        return _FAILS
    if margin > tolerance and not elastic:
        return _HOLDS
    return _UNDECIDED


@kernel
def _release(i, settings, solved, dynamics, scope, glide, iterate, memory):
    """Solve for the mode without contact i, from the mode with it; the answer is in ``iterate``.

    Returns (whether a mode with bounded forces was found, iterations of the solver).
    """
    _copy_mode(solved, scope, glide, iterate)
    scope[i] = 0
    for k in range(solved.forces.shape[0]):
        iterate.forces[k] = solved.forces[k]
        iterate.accelerations[k] = solved.accelerations[k]
    code, _, iterations = solve_modes(settings.steps, settings.tolerance, dynamics, scope, glide, iterate, memory)
    return code == _SOLVED and bounded(dynamics.d, dynamics.G, dynamics.b, iterate.forces), iterations


@kernel
def _hold(i, solved, dynamics, scope, glide, iterate, memory):
    """Solve for the forces that hold contact i, without friction, in the mode of the others; False where none do."""
    _copy_mode(solved, scope, glide, iterate)
    glide[i] = 1
    for k in range(dynamics.d):
        iterate.slip[i, k] = 0.0
    iterate.state[i] = _SLIP
    for k in range(solved.forces.shape[0]):
        iterate.forces[k] = 0.0  # slip directions stay as they are in the mode
        iterate.accelerations[k] = solved.accelerations[k]
    found = hold_mode(dynamics, glide, iterate, memory)
    return found and bounded(dynamics.d, dynamics.G, dynamics.b, iterate.forces)


@kernel
def _copy_mode(solved, scope, glide, iterate):
    """Copy the solved mode, but for its forces and accelerations, as the first guess of another solve."""
    for i in range(solved.status.shape[0]):
        scope[i] = solved.touching[i]
        glide[i] = solved.moving[i]
        for k in range(solved.slip.shape[1]):
            iterate.slip[i, k] = solved.slip[i, k]
        iterate.state[i] = _OPEN
        if solved.status[i] >= _STICKING:
            iterate.state[i] = _STICK if solved.status[i] == _STICKING and not solved.moving[i] else _SLIP


@kernel
def _touchdown(i, closed, acceleration, settings, problem, out):
    """Flags of the next touchdown and of the end of the bouncing after it.

    Both are exact while the gap's ``acceleration`` stays what it is now. The bounces last 2 e v₁/|φ̈|, 2 e² v₁/|φ̈|, …
    with v₁ the speed of the first touchdown, and so end 2 e v₁/(|φ̈| (1 − e)) after it.
    """
    flags, margins = out.flags, out.margins
    grazing_speed = settings.grazing_speed
    flags[ZENO, i] = _FAILS
    margins[ZENO, i] = math.nan
    flags[GRAZING, i] = _FAILS
    margins[GRAZING, i] = math.nan
    if closed:
        return
    height = max(problem.gap[i], 0.0)
    rate = problem.gap_velocity[i]
    e = problem.restitution[i]
    square = rate * rate - 2.0 * acceleration * height
    touches = False
    speed = math.sqrt(max(square, 0.0))
    if acceleration < -settings.acceleration_tolerance:
        touches = True
        if 0.0 < e < 1.0:
            flags[ZENO, i] = _HOLDS
            first = (rate + speed) / -acceleration
            margins[ZENO, i] = first + 2.0 * e * speed / (-acceleration * (1.0 - e))
    elif acceleration > settings.acceleration_tolerance:
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


@kernel
def _friction_flag(i, closed, force_tolerance, friction, solved, out):
    """Whether the force of contact i is inside its friction cone, and by how much (N)."""
    flags, margins = out.flags, out.margins
    margins[FRICTION, i] = 0.0
    flags[FRICTION, i] = _UNDECIDED
    if not closed:
        return
    d = solved.slip.shape[1]
    f = i * (1 + d)
    size = 0.0
    for k in range(d):
        size += solved.forces[f + 1 + k] ** 2
    margin = friction * solved.forces[f] - math.sqrt(size)
    margins[FRICTION, i] = margin
    if solved.jammed[i]:
        flags[FRICTION, i] = _UNDECIDED  # it slides, and is solved as if it did not
    elif solved.status[i] != _STICKING:
        flags[FRICTION, i] = _FAILS
    elif margin > force_tolerance:
        flags[FRICTION, i] = _HOLDS
    elif margin < -force_tolerance:
        flags[FRICTION, i] = _FAILS


@kernel
def normal_cosines(d, G, cosines):
    """Cosines (m, m), out, between the constraints in the metric of M⁻¹, Pace (14), from the Delassus matrix G (n, n).

    A constraint that hardly any impulse moves has zeros, on the diagonal too.
    """
    m = cosines.shape[0]
    largest = largest_normal(d, G)
    for i in range(m):
        for j in range(m):
            cosines[i, j] = normal_cosine(d, i, j, largest, G)


@kernel
def normal_cosine(d, i, j, largest, G):
    """One of :func:`normal_cosines`; ``largest``: :func:`largest_normal`."""
    a, b = i * (1 + d), j * (1 + d)
    product = G[a, a] * G[b, b]
    small = G[a, a] <= 1e-14 * largest or G[b, b] <= 1e-14 * largest
    if small or not product > 0.0:
        return 0.0
    return min(1.0, max(-1.0, G[a, b] / math.sqrt(product)))


@kernel
def largest_normal(d, G):
    """The largest diagonal entry of G that belongs to a normal, 1/kg."""
    largest = 0.0
    for i in range(G.shape[0] // (1 + d)):
        largest = max(largest, G[i * (1 + d), i * (1 + d)])
    return largest
