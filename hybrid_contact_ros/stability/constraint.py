"""Constraint stability of each contact (Or and Ames), with friction, grazing and Zeno flags beside it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from hybrid_contact_ros.codes import ContactStatus, Flag, Status
from hybrid_contact_ros.kernels.stability.constraint import (
    BOUNDED_TIME,
    CONSTRAINT,
    FRICTION,
    GRAZING,
    PSEUDO_IMPULSE,
    ZENO,
)
from hybrid_contact_ros.mechanics.contact_sets import contact_set, not_negative, touching_contacts
from hybrid_contact_ros.mechanics.problem import ContactProblem
from hybrid_contact_ros.modes.workspace import OFFLINE_STEPS, ModeWorkspace
from hybrid_contact_ros.stability.workspace import StabilityWorkspace

Array = NDArray[np.float64]
Codes = NDArray[np.uint8]


@dataclass(frozen=True, slots=True, eq=False)
class ConstraintStability:
    """Tri-state flags of each contact (values of :class:`~hybrid_contact_ros.codes.Flag`) and their margins.

    Attributes, (m,) where nothing else is said:
        closed: bool, the contact is closed in the force-acceleration mode.
        constraint_stability: after any small bounce the contact returns, bounces ever less, and carries load (Or,
            Definition 7). Its margin ``constraint_force`` is the normal force with the contact held, N (Or, Corollary
            1).
        bounded_time_stability: bounces near this state end in bounded time (Or, Definition 4). Its margin
            ``gap_acceleration`` is φ̈ with the contact released, m/s² (Or, Theorem 2: negative is stable).
        zeno: an open contact is heading into infinitely many bounces in finite time. ``chatter_end``: s from now until
            they are over, NaN where the flag does not hold.
        grazing: the next touchdown is slower than the grazing speed; UNDECIDED for a miss as narrow. Its margin
            ``touchdown_speed`` is in m/s, NaN where no touchdown is coming.
        friction: the force is inside the friction cone; FAILS for a slipping contact, UNDECIDED for an open one. Its
            margin ``friction_margin`` is μ λ_n − ‖λ_t‖, N.
        pseudo_impulse: the contact stays closed after its next impact, if bounces shorter than about ``duration`` count
            as none, Johnson (58); UNDECIDED where no impact comes. Its margin ``pseudo_impulse_margin`` is in N s.
        cosines: (m, m) between the constraints, Pace (14).
        status, residual: of the mode on which all flags rest. Unless it is SOLVED all flags are UNDECIDED and all
            margins NaN: SINGULAR with massless limbs, INACCURATE where no mode was found (there is none where friction
            jams a slide).
    """

    closed: NDArray[np.bool_]
    constraint_stability: Codes
    constraint_force: Array
    bounded_time_stability: Codes
    gap_acceleration: Array
    zeno: Codes
    chatter_end: Array
    grazing: Codes
    touchdown_speed: Array
    friction: Codes
    friction_margin: Array
    pseudo_impulse: Codes
    pseudo_impulse_margin: Array
    cosines: Array
    status: Status
    residual: float


def constraint_stability(
    problem: ContactProblem,
    closed: Iterable[int] | None = None,
    force_tolerance: float = 1e-6,
    acceleration_tolerance: float = 1e-6,
    grazing_speed: float = 1e-3,
    slip_speed: float = 1e-6,
    horizon: float = 0.1,
    duration: float = 0.03,
) -> ConstraintStability:
    """Decide the flags of :class:`ConstraintStability` for one state.

    Or's Theorem 2 and Corollary 1 prove the two stability flags for one contact without friction and e < 1; λ > 0 and
    φ̈ < 0 are the same condition then. With several contacts or friction the flags are a necessary check rather than a
    proof: the released contact's φ̈ is that of the force-acceleration problem of the others, and an open contact's
    force is the normal force that would hold it, without friction, while the others stay in their modes. With e = 1
    bounces
    do not die out, so that neither flag HOLDS: both are UNDECIDED where they would hold otherwise, and FAILS where
    φ̈ > 0, as the contact then leaves whatever e is. Bounces with e = 0 end at once, so that ``zeno`` fails there.

    With the present φ̈ < 0 the bounces of a gap are a geometric series, which ends

        t₁ + 2 e v₁ / (|φ̈| (1 − e)),  v₁ = √(φ̇² + 2 |φ̈| φ),  t₁ = (φ̇ + v₁) / |φ̈|

    from now. That is exact for constant φ̈ and an independent contact, and an estimate otherwise.

    Args:
        problem: the contacts at the state. closed: indices of those that touch and may carry load, by default those
            with no gap that do not separate, Johnson (33). They decide the mode; one of them may come out open.
        force_tolerance (N), acceleration_tolerance (m/s²): dead bands. grazing_speed: m/s.
        slip_speed: m/s; faster contact points slide.
        horizon: s, of touchdowns for which the pseudo-impulse is found. duration: its δt, s (0.03 in Johnson,
            section 3.5).

    Raises:
        ValueError: an index out of range, or a negative tolerance.

    >>> ball = ContactProblem([[2.0]], [0.0], [[1.0]], [[[0.0]]], [0.0], restitution=[0.5], bias_force=[2.0 * 9.81])
    >>> flags = constraint_stability(ball, [0])
    >>> Flag(flags.constraint_stability[0]).name, round(float(flags.constraint_force[0]), 3)
    ('HOLDS', 19.62)
    """
    not_negative(
        force_tolerance=force_tolerance,
        acceleration_tolerance=acceleration_tolerance,
        grazing_speed=grazing_speed,
        slip_speed=slip_speed,
        horizon=horizon,
        duration=duration,
    )
    scope = touching_contacts(problem) if closed is None else contact_set("closed", closed, problem.contacts)
    m, d = problem.contacts, problem.tangents
    touching = np.zeros(m, dtype=np.uint8)
    touching[sorted(scope)] = 1
    mode = ModeWorkspace(problem.nv, m, d, OFFLINE_STEPS)
    code, residual, _ = mode.solve(problem, touching, slip_speed)
    flags = StabilityWorkspace(m, d, OFFLINE_STEPS)
    if code == Status.SINGULAR:
        flags.cosines[:] = np.nan
    else:
        flags.evaluate(
            problem,
            (problem.jacobian() @ problem.velocity).reshape(m, 1 + d),
            touching,
            mode,
            force_tolerance,
            acceleration_tolerance,
            grazing_speed,
            horizon,
            duration,
        )
    if code != Status.SOLVED:  # flags of a mode that was not found mean nothing
        flags.flags[:] = Flag.UNDECIDED
        flags.margins[:] = np.nan
    return ConstraintStability(
        closed=mode.contact_status >= ContactStatus.STICKING,
        constraint_stability=flags.flags[CONSTRAINT],
        constraint_force=flags.margins[CONSTRAINT],
        bounded_time_stability=flags.flags[BOUNDED_TIME],
        gap_acceleration=flags.margins[BOUNDED_TIME],
        zeno=flags.flags[ZENO],
        chatter_end=flags.margins[ZENO],
        grazing=flags.flags[GRAZING],
        touchdown_speed=flags.margins[GRAZING],
        friction=flags.flags[FRICTION],
        friction_margin=flags.margins[FRICTION],
        pseudo_impulse=flags.flags[PSEUDO_IMPULSE],
        pseudo_impulse_margin=flags.margins[PSEUDO_IMPULSE],
        cosines=flags.cosines,
        status=Status(code),
        residual=float(residual),
    )
