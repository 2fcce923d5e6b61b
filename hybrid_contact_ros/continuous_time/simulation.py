"""Continuous time through impacts as one differential inclusion with time as a state (H §4, 45–53)."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from hybrid_contact_ros.codes import Status
from hybrid_contact_ros.continuous_time.continuous_path import Accumulation, ContinuousTimePath, Phase
from hybrid_contact_ros.continuous_time.mode_choice import PREFERENCES, choose
from hybrid_contact_ros.continuous_time.path_integrator import Event, FlowPiece
from hybrid_contact_ros.continuous_time.planar_flow import PlanarSystem
from hybrid_contact_ros.continuous_time.recorder import ImpactRule, PathRecorder
from hybrid_contact_ros.impacts.routh import ImpactPath, increment_path, routh_path
from hybrid_contact_ros.mechanics.problem import ContactProblem
from hybrid_contact_ros.stability.accumulation import Impact, limit_of

_INCREMENTS = 20  # of an impact that Routh's path cannot resolve


def continuous_time_path(
    system: PlanarSystem,
    q: ArrayLike,
    v: ArrayLike,
    t_final: float,
    *,
    t: float = 0.0,
    impact: ImpactRule | None = None,
    prefer: str = "solver",
    zeno_tolerance: float = 1e-7,
    rtol: float = 1e-10,
    atol: float = 1e-12,
    gap_tolerance: float = 1e-12,
    velocity_tolerance: float = 1e-8,
    max_pieces: int = 1000,
    max_steps: int = 100000,
) -> ContinuousTimePath:
    """One solution x̄(s) = (t, q, v) of the inclusion (53), from (t, q, v) until t_final.

    * Nothing touches, or all that touches separates: free motion, ds = dt (46).
    * Touching contacts that do not approach: the contact forces are those of the force-acceleration problem (the mode
      is chosen as ``force_acceleration_mode`` does, and kept until an event ends it), ds = (1 + Σ λ_n) dt (52, 63).
    * A touching contact approaches: t and q stand still and v follows an impact path (49).
    * No force-acceleration mode exists though nothing approaches, or forces grow beyond bounds (Painlevé): an impact
      without collision, started at the slipping contact whose own push would drive it in.
    * Impacts whose intervals shrink geometrically: their end is extrapolated, and the path goes on from there with the
      contacts that were struck closed (Zeno; H 69–70 and below). It is the one step that is not integrated.

    Where several motions are possible one is taken, and the state is kept in ``branches``.

    Args:
        system: planar (one tangent a contact), v = q̇, M positive definite; anything with ``problem(q, v)``.
        q, v, t: state at the beginning, not penetrating.
        impact: (problem, start) -> ImpactPath; by default ``routh_path`` with equal rates, and where that jams
            ``increment_path``. ``lambda p, start: increment_path(p, h, seed, start)`` is a random one.
        prefer: which of several motions: "solver" (that of ``force_acceleration_mode``), "open" or "closed" (fewest or
            most closed contacts), "impact" (one without collision where it is possible).
        zeno_tolerance: s; extrapolate when the last two extrapolations of an accumulation point differ by less; 0
            never does.
        rtol, atol: of the integrator (DOP853). gap_tolerance (m), velocity_tolerance (m/s): what counts as touching,
            and as not moving. A contact that separates too slowly to rise by gap_tolerance is stopped (some 1e-6 m/s).
        max_pieces, max_steps: of the whole path, at most.

    Forces of a LagrangianSystem may depend on time, and on the mode; they are those of no closed contact wherever a
    mode is being chosen. Events are looked for at points of every integration step that are so close that gaps between
    them are cubics to a per cent, and at their minima; forces only at these points, so that a contact which would lift
    off and press again, or slip and stick, within a small part of a step may not do so.

    Raises:
        ValueError: shapes or numbers out of range, a penetrating configuration, a system that is not planar or whose
            M is singular, or more than 6 contacts that touch.
    """
    run = PathRecorder(system, q, v, t, t_final, gap_tolerance, velocity_tolerance)
    if prefer not in PREFERENCES:
        raise ValueError(f"prefer is {prefer!r}; one of {', '.join(PREFERENCES)} is needed")
    for name, value in (("zeno_tolerance", zeno_tolerance), ("rtol", rtol), ("atol", atol)):
        if not 0.0 <= value < np.inf or (value == 0.0 and name != "zeno_tolerance"):
            raise ValueError(f"{name} is {value}; a positive, finite number is needed")
    if max_pieces < 1 or max_steps < 1:
        raise ValueError(f"max_pieces ({max_pieces}) and max_steps ({max_steps}) must be 1 or more")
    rule = default_impact if impact is None else impact
    status = Status.STEP_LIMIT
    impacts: list[Impact] = []
    left: Event | None = None
    while len(run.pieces) < max_pieces:
        if run.time >= t_final:
            status = Status.SOLVED
            break
        problem = run.problem()
        if run.close_hops(problem):
            problem = run.problem()
        touching, approaching, scope = run.contacts_of(problem)
        if approaching:
            struck = run.impact(problem, touching, (), rule, Phase.IMPACT)
            if not struck:
                status = Status.NONE_FOUND
                break
            impacts.append(Impact(run.time, struck, run.y.copy()))
            found = limit_of(impacts) if zeno_tolerance > 0.0 else None
            if found is not None and found.error < zeno_tolerance and found.t < t_final:
                run.accumulate(found.y, found.t, found.contacts)
                run.accumulations.append(
                    Accumulation(found.t, run.s, found.error, found.contacts, found.period, found.ratio, len(impacts))
                )
                impacts.clear()
            left = None
            continue
        choice = choose(problem, scope, velocity_tolerance, left, prefer)
        run.note(choice)
        if choice.mode is None:
            if not any(
                run.impact(problem, touching, start, rule, Phase.IMPACT_WITHOUT_COLLISION) for start in choice.starts
            ):
                status = Status.NONE_FOUND
                break
            left = None
            continue
        flow = FlowPiece(run.evaluate, choice.mode, run.nv, t_final).run(
            run.s, run.y, rtol, atol, gap_tolerance, max_steps - run.steps
        )
        left = run.follow(flow, choice.mode, t_final)
        if left is None:
            break
        if left.kind == "end":
            status = Status.SOLVED
            break
    return run.path(status)


def default_impact(problem: ContactProblem, start: tuple[int, ...]) -> ImpactPath:
    """Routh's path with equal rates; where it ends in a jam, increments of a twentieth of the impulse scale."""
    found = routh_path(problem, start)
    if found.status is Status.SOLVED or (start and found.status is Status.NONE_FOUND):
        return found
    rows = problem.jacobian()
    own = np.diag(rows @ np.linalg.solve(problem.mass, rows.T)).min()
    return increment_path(problem, float(np.abs(rows @ problem.velocity).max() / own) / _INCREMENTS, 0, start)
