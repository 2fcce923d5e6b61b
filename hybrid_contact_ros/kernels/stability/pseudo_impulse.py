"""Whether each contact stays closed after its impact, by the pseudo-impulse, Johnson (55)–(58)."""

from __future__ import annotations

import math

from hybrid_contact_ros.codes import ContactStatus, Flag, FrictionState
from hybrid_contact_ros.kernels.algebra.quadratic import first_root
from hybrid_contact_ros.kernels.compiling import kernel
from hybrid_contact_ros.kernels.modes.jamming import bounded
from hybrid_contact_ros.kernels.modes.linear_system import hold_mode
from hybrid_contact_ros.kernels.modes.records import ContactDynamics, ModeIterate, ModeScratch
from hybrid_contact_ros.kernels.stability.constraint import CONTACTS_WITHOUT_LIMIT, WORK_LIMIT
from hybrid_contact_ros.kernels.stability.records import SteadyMode

_UNDECIDED, _HOLDS, _FAILS, _CUT = int(Flag.UNDECIDED), int(Flag.HOLDS), int(Flag.FAILS), int(Flag.CUT)
_STICKING = int(ContactStatus.STICKING)
_OPEN, _STICK, _SLIP = int(FrictionState.OPEN), int(FrictionState.STICK), int(FrictionState.SLIP)


@kernel
def pseudo_impulse_flags(
    # settings:
    d,
    horizon,
    duration,
    force_tolerance,
    # problem:
    G,
    b,
    friction,
    gap,
    velocity,
    # solved mode:
    moving,
    slip,
    status,
    forces,
    accelerations,
    # scratch:
    A,
    work,
    order,
    glide,
    direction,
    state,
    trial,
    at_impact,
    unused,
    # out:
    flags,
    margins,
):
    """Decide by P̂ + δt λ, Johnson (56) and (58): a contact's normal impulse in its next impact, and its steady force.

    An open contact's next impact is its touchdown within ``horizon``, a closed one's the first touchdown of another.
    Both are taken with the touching contact and the closed contacts held. A contact HOLDS where the sum pushes, even if
    the impact alone would throw it off: the bounce would end within about δt. Where no impact comes, δt λ alone decides
    for a closed contact. What Johnson asks of the friction cone is left out: on a link with mass a contact whose
    impulse leaves the cone slides and stays.

    Args:
        d … force_tolerance: :class:`.PseudoImpulseSettings`. G … velocity: :class:`.PseudoImpulseProblem`.
        moving … accelerations: :class:`.SteadyMode`. A … unused: :class:`.ImpactScratch`.
        flags, margins: out, :class:`.PseudoImpulseOut`; UNDECIDED and NaN where no impact comes to an open contact, or
            NaN and CUT where the work ends before, which is bounded for more than ``CONTACTS_WITHOUT_LIMIT`` contacts.
    """
    solved = SteadyMode(moving, slip, status, forces, accelerations)
    iterate = ModeIterate(direction, state, trial, unused)
    memory = ModeScratch(A, work, order)
    m = friction.shape[0]
    w = 1 + d
    first = math.inf
    rows = w
    work_left = WORK_LIMIT if m > CONTACTS_WITHOUT_LIMIT else math.inf
    for i in range(m):
        margins[i] = math.nan
        flags[i] = _UNDECIDED
        if status[i] >= _STICKING:
            margins[i] = duration * forces[i * w]
            rows += w
    for i in range(m):
        if status[i] >= _STICKING:
            continue
        t = first_root(max(gap[i], 0.0), velocity[i * w], accelerations[i * w])
        if not t <= horizon:
            continue
        if work_left <= 0.0:
            flags[i] = _CUT
            continue
        work_left -= 2.0 * rows * rows * rows / 3.0
        for k in range(m * w):
            at_impact[k] = velocity[k] + t * accelerations[k]
        for j in range(m):
            if status[j] >= _STICKING:
                at_impact[j * w] = 0.0
        known = True
        for steady in (False, True):
            dynamics = ContactDynamics(d, G, b if steady else at_impact, friction)
            known = _hold_through_impact(i, solved, dynamics, glide, iterate, memory)
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
        if margins[i] > band:
            flags[i] = _HOLDS
        elif margins[i] < -band:
            flags[i] = _FAILS


@kernel
def _hold_through_impact(i, solved, dynamics, glide, iterate, memory):
    """Solve for the impulses (or forces) that hold contact i and the closed contacts; False where none bounded do.

    The closed contacts stay in their modes, and contact i sticks if it has friction. The answer is in ``iterate``.
    """
    moving, status, friction = solved.moving, solved.status, dynamics.friction
    for j in range(friction.shape[0]):
        glide[j] = moving[j] if j != i else friction[i] == 0.0
        for k in range(dynamics.d):
            iterate.slip[j, k] = solved.slip[j, k] if j != i else 0.0
        iterate.state[j] = _OPEN
        if j == i or status[j] >= _STICKING:
            iterate.state[j] = _SLIP if glide[j] or (j != i and status[j] != _STICKING) else _STICK
    for k in range(iterate.forces.shape[0]):
        iterate.forces[k] = 0.0
        iterate.accelerations[k] = solved.accelerations[k]
    found = hold_mode(dynamics, glide, iterate, memory)
    return found and bounded(dynamics.d, dynamics.G, dynamics.b, iterate.forces)
