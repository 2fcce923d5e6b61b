"""Executions of the self-manipulation hybrid system by event-driven simulation (J §3.2, §4.4)."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from hybrid_contact_ros.mechanics.contact_sets import contact_set
from hybrid_contact_ros.simulation.adapter import AdaptedSystem
from hybrid_contact_ros.simulation.execution import Execution
from hybrid_contact_ros.simulation.mode import Mode
from hybrid_contact_ros.simulation.options import Options, Tolerances
from hybrid_contact_ros.simulation.run import Run
from hybrid_contact_ros.systems.robot import Effort, as_system

_MOMENTS = (1e-3, 0.37, 0.71, 1.0)  # of the time simulated, when gaps are looked at for whether they move


def simulate(
    system: Any,
    q: ArrayLike,
    v: ArrayLike,
    t_final: float,
    *,
    effort: Effort = None,
    law: str = "impulse-velocity",
    duration: float = 0.03,
    truncation: Tolerances | None = None,
    mode: Mode | Iterable[int] | None = None,
    t_start: float = 0.0,
    sliding_friction: bool | None = None,
    rtol: float = 1e-9,
    atol: float = 1e-11,
    max_step: float = 0.02,
    max_events: int = 1000,
    max_steps: int = 100_000,
    gap_tolerance: float = 1e-9,
    velocity_tolerance: float = 1e-6,
) -> Execution:
    """Follow a mechanical system through its contact modes.

    In a mode the system flows by J 12–13 (DOP853 with dense output). The mode ends where a gap closes, a normal force
    vanishes, a force reaches the friction cone or a sliding contact stops, found as a zero of that function. Then
    impacts are resolved, and what the forces do not hold opens or slides (J 79), by the sign of higher derivatives
    where forces or accelerations vanish (J Definition 1). Contacts of a system closed at the start are found like this
    too (J Theorem 9).

    Where J ends and this goes on: contacts with restitution bounce (Poisson's law along the normal; J has e = 0);
    with regular M sliding contacts have Coulomb friction (J A12: none), and stick again when they stop (J 70); impacts
    of frictional contacts on heavy links slide where J would drop the contact; and where no contact forces are possible
    (Painlevé), an impact without collision stops or turns the sliding contact, whatever the law
    (:func:`~.without_collision.impact_without_collision`).

    Args:
        system: a RigidBodyModel, or anything with ``problem(q, v[, time][, mode])``: see
            :class:`~.adapter.AdaptedSystem`.
        q, v: (nq,) and (nv,), at ``t_start``; of a RigidBodyModel in Pinocchio's order, otherwise v = q̇. t_final: s.
        effort: of a RigidBodyModel: (nv,) or of its joints, or a function (time, q, v, mode) -> such; None is none. See
            :class:`~hybrid_contact_ros.systems.robot.RobotSystem`.
        law: of impacts: ``"impulse-velocity"`` (J 50), ``"pseudo-impulse"`` (J 58, with ``duration`` δt, s), or
            ``"simultaneous"`` (H 31; regular M).
        truncation: cut Zeno executions of bouncing contacts where that is reliable to these tolerances (O Theorem 3),
            and carry on with the contact closed; those of several contacts that bounce together or in turns, and of
            one whose friction changes the speed it leaves at, where it is likely to be (such events have ``decided``
            False). Without, they end at ``max_events``, or, where bounces get slower than ``velocity_tolerance``
            before, come to rest.
        mode: that is active at the start, as a :class:`~.mode.Mode` or indices of the closed contacts; by default the
            one that the state leads to (J Theorem 9).
        sliding_friction: whether sliding contacts have friction; by default where M is regular.
        rtol, atol, max_step: of the integrator. max_events, max_steps: limits. gap_tolerance: m, a smaller gap is
            none. velocity_tolerance: m/s, a slower contact is at rest.

    Returns:
        The execution; its ``status`` says how it ended.

    Raises:
        ValueError: sizes that do not fit, numbers out of range, a contact that penetrates or a mode that does not
            touch at the start, gaps that depend on time (make the floor a coordinate), restitution or
            ``law="simultaneous"`` with singular M. Errors that the system raises at the start pass through; what it
            raises later ends the execution, with status DIVERGED and the error in ``why``.
    """
    options = Options(
        law=law,
        duration=duration,
        sliding_friction=sliding_friction,
        rtol=rtol,
        atol=atol,
        max_step=max_step,
        max_events=max_events,
        max_steps=max_steps,
        gap_tolerance=gap_tolerance,
        velocity_tolerance=velocity_tolerance,
    )
    adapted = AdaptedSystem(as_system(system, effort), q, v)
    if not (math.isfinite(t_final) and math.isfinite(t_start) and t_final > t_start):
        raise ValueError(f"t_final must be a time after t_start = {t_start}, got {t_final}")
    q_, v_ = adapted.on_manifold(np.array(q, dtype=np.float64)), np.array(v, dtype=np.float64)
    if not (truncation is None or isinstance(truncation, Tolerances)):
        raise ValueError(f"truncation is {truncation!r}; give Tolerances(epsilon_q, epsilon_v, epsilon_t) or None")
    run = Run(adapted, options, truncation, float(t_final))
    deepest = float(adapted.gap(q_).min(initial=0.0))
    if deepest < -1e3 * gap_tolerance:
        i = int(np.argmin(adapted.gap(q_)))
        raise ValueError(f"contact {adapted.contact_names[i]!r} penetrates by {-deepest:g} at the start")
    if not run.transitions.guards.regular(t_start, q_, v_):
        if law == "simultaneous":
            raise ValueError("law='simultaneous' needs a regular inertia; massless limbs take 'impulse-velocity'")
        if adapted.problem(q_, v_, t_start).restitution.any():
            raise ValueError("restitution needs a regular inertia; set it to 0 for massless limbs")
    adapted.check_still(q_, v_, (float(t_start), *(t_start + np.array(_MOMENTS) * (t_final - t_start)).tolist()))
    first = mode if mode is None or isinstance(mode, Mode) else Mode(contact_set("mode", mode, adapted.contacts))
    if first is not None and not all(0 <= i < adapted.contacts for i in first.closed):
        raise ValueError(f"mode closes {sorted(first.closed)}; contacts are numbered 0..{adapted.contacts - 1}")
    if first is not None and (adapted.gap(q_)[sorted(first.closed)] > 1e3 * gap_tolerance).any():
        raise ValueError(f"mode closes {sorted(first.closed)}, and not all of these touch")
    return run.go(float(t_start), q_, v_, first)
