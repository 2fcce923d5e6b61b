"""Executions of a hybrid system by event-driven simulation (Johnson §3.2, §4.4)."""

from __future__ import annotations

import math
import time
from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from hybrid_contact_ros.mechanics.contact_sets import contact_set
from hybrid_contact_ros.simulation.adapter import AdaptedSystem
from hybrid_contact_ros.simulation.execution import Execution
from hybrid_contact_ros.simulation.guards import Guards
from hybrid_contact_ros.simulation.hybrid_state import HybridState
from hybrid_contact_ros.simulation.mode import HybridMode
from hybrid_contact_ros.simulation.options import Options, Tolerances
from hybrid_contact_ros.simulation.run import SimulationRun
from hybrid_contact_ros.systems.robot import Effort, as_system

Array = NDArray[np.float64]
_GAP_TIMES = (1e-3, 0.37, 0.71, 1.0)  # parts of the time simulated at which gaps are compared with those at the start
_START_GAP = 1e3  # times the tolerance of gaps: at the start a contact may be this deep, or this far off its surface


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
    mode: HybridMode | Iterable[int] | None = None,
    t_start: float = 0.0,
    sliding_friction: bool | None = None,
    rtol: float = 1e-9,
    atol: float = 1e-11,
    max_step: float = 0.02,
    max_events: int = 1000,
    max_steps: int = 100_000,
    gap_tolerance: float = 1e-9,
    velocity_tolerance: float = 1e-6,
    deadline: float | None = None,
) -> Execution:
    """Follow a mechanical system through its contact modes.

    In a mode the system moves by Johnson (12)-(13) (integrated by DOP853 with dense output). The mode ends where a gap
    closes, a normal force vanishes, a force reaches its friction cone or a sliding contact stops, found as a zero of
    that function. Then impacts are resolved, and what the forces no longer hold opens or slides (Johnson (79)), by the
    sign of higher derivatives where forces or accelerations vanish (Definition 1). The mode at the start is found like
    this too (Theorem 9).

    Where Johnson ends and this goes on: contacts with restitution bounce (Poisson's law along the normal; Johnson has
    e = 0); with regular M sliding contacts have Coulomb friction (Johnson's Assumption A12: none), and stick again when
    they stop (Johnson (70)); impacts of frictional contacts on heavy links slide where Johnson would drop the contact;
    and where no contact forces are possible (Painlevé), an impact without collision stops or turns the sliding contact,
    whatever the law (:func:`~.without_collision.impact_without_collision`).

    Args:
        system: a RigidBodyModel, or anything with ``problem(q, v[, time][, mode])``: see
            :class:`~.adapter.AdaptedSystem`.
        q, v: (nq,) and (nv,), at ``t_start``; of a RigidBodyModel in Pinocchio's order, otherwise v = q̇. t_final: s.
        effort: of a RigidBodyModel: (nv,) or of its joints, or a function (time, q, v, mode) -> such; None is none. See
            :class:`~hybrid_contact_ros.systems.robot.RobotSystem`.
        law: of impacts: ``"impulse-velocity"`` (Johnson (50)), ``"pseudo-impulse"`` (Johnson (58), with ``duration``
            δt, s), or ``"simultaneous"`` (Halm (31); regular M).
        truncation: cut Zeno executions of bouncing contacts where that is reliable to these tolerances (Or, Theorem 3),
            and carry on with the contact closed. Chatter of several contacts, together or in turns, and of one whose
            friction changes the speed it leaves at, is cut where that is likely to be so; such events have ``decided``
            False. Without truncation chatter ends at ``max_events`` or, where bounces get slower than
            ``velocity_tolerance`` before, comes to rest.
        mode: the one at the start, as a :class:`~.mode.HybridMode` or indices of the closed contacts; by default the
            one that the state leads to (Johnson, Theorem 9).
        sliding_friction: whether sliding contacts have friction; by default where M is regular.
        rtol, atol, max_step: of the integrator; max_step in s. max_events, max_steps: limits.
        deadline: s of computing, after which the execution ends with status DEADLINE; None: it takes as long as it
            takes, minutes for a second of a humanoid on its soles.
        gap_tolerance: m, a smaller gap is none. velocity_tolerance: m/s, a slower contact is at rest.

    Returns:
        The execution; its ``status`` says how it ended.

    Raises:
        ValueError: sizes that do not fit, numbers out of range, a contact that penetrates or a mode that does not
            touch at the start, gaps that depend on time (make the floor a coordinate), restitution or
            ``law="simultaneous"`` with singular M. Errors that the system raises at the start pass through; what it
            raises later ends the execution, with status DIVERGED and the error in ``why``.

    Example:
        A ball drops 1 m and stays on the ground.

        >>> from hybrid_contact_ros import ContactProblem, simulate
        >>> class Ball:
        ...     def problem(self, q, v):
        ...         return ContactProblem([[1.0]], v, [[1.0]], [[[0.0]]], [0.0], gap=q, bias_force=[9.81])
        >>> execution = simulate(Ball(), q=[1.0], v=[0.0], t_final=1.0)
        >>> execution.word
        ('{}', '{0}')
        >>> print(f"{execution.events[0].kind.value} at {execution.events[0].time:.4f} s")
        touchdown at 0.4515 s
        >>> bool(abs(execution.q[-1, 0]) < 1e-12)
        True
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
        until=math.inf if deadline is None else time.monotonic() + deadline,
    )
    adapted = AdaptedSystem(as_system(system, effort), q, v)
    if not (math.isfinite(t_final) and math.isfinite(t_start) and t_final > t_start):
        raise ValueError(f"t_final must be a time after t_start = {t_start}, got {t_final}")
    if not (truncation is None or isinstance(truncation, Tolerances)):
        raise ValueError(f"truncation is {truncation!r}; give Tolerances(epsilon_q, epsilon_v, epsilon_t) or None")
    start = HybridState(
        time=float(t_start),
        q=adapted.on_manifold(np.array(q, dtype=np.float64)),
        v=np.array(v, dtype=np.float64),
        mode=HybridMode(),
        directions={},
    )
    _check_start(adapted, options, start)
    times = (start.time, *(t_start + np.array(_GAP_TIMES) * (t_final - t_start)).tolist())
    adapted.check_still(start.q, start.v, times)
    if mode is not None:
        start = start._replace(mode=_checked_mode(adapted, options, start.q, mode))
    run = SimulationRun(adapted, options, truncation, float(t_final))
    return run.go(start, choose_mode=mode is None)


def _check_start(system: AdaptedSystem, options: Options, start: HybridState) -> None:
    """Refuse a state that penetrates, and what needs a regular inertia where there is none."""
    gap = system.gap(start.q)
    deepest = float(gap.min(initial=0.0))
    if deepest < -_START_GAP * options.gap_tolerance:
        name = system.contact_names[int(np.argmin(gap))]
        raise ValueError(f"contact {name!r} penetrates by {-deepest:g} at the start")
    if not Guards(system, options).regular(start):
        if options.law == "simultaneous":
            raise ValueError("law='simultaneous' needs a regular inertia; massless limbs take 'impulse-velocity'")
        if system.problem(start.q, start.v, start.time).restitution.any():
            raise ValueError("restitution needs a regular inertia; set it to 0 for massless limbs")


def _checked_mode(system: AdaptedSystem, options: Options, q: Array, mode: HybridMode | Iterable[int]) -> HybridMode:
    """The mode that the caller wants to start in; its contacts must touch."""
    found = mode if isinstance(mode, HybridMode) else HybridMode(contact_set("mode", mode, system.contacts))
    closed = sorted(found.closed)
    if not all(0 <= i < system.contacts for i in closed):
        raise ValueError(f"mode closes {closed}; contacts are numbered 0..{system.contacts - 1}")
    if (system.gap(q)[closed] > _START_GAP * options.gap_tolerance).any():
        raise ValueError(f"mode closes {closed}, and not all of these touch")
    return found
