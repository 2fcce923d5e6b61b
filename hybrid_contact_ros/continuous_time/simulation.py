"""Continuous time through impacts as one differential inclusion with time as a state (Halm §4, (45)-(53))."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from hybrid_contact_ros.codes import Status
from hybrid_contact_ros.continuous_time.continuous_path import Accumulation, ContinuousTimePath, Phase
from hybrid_contact_ros.continuous_time.mode_choice import choose
from hybrid_contact_ros.continuous_time.options import PathOptions
from hybrid_contact_ros.continuous_time.path_integrator import PathIntegrator, PieceEnd
from hybrid_contact_ros.continuous_time.planar_mode import PlanarSystem
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
    """Find one solution x̄(s) = (t, q, v) of the differential inclusion of Halm (53), from (t, q, v) until t_final.

    * Nothing touches, or all that touches separates: free motion, ds = dt (Halm (46)).
    * Touching contacts that do not approach: the contact forces are those of the force-acceleration problem (the mode
      is chosen as ``force_acceleration_mode`` does, and kept until an event ends it), ds = (1 + Σ λ_n) dt (Halm (52),
      (63)).
    * A touching contact approaches: t and q stand still and v follows an impact path (Halm (49)).
    * No force-acceleration mode exists though nothing approaches, or forces grow beyond bounds (Painlevé): an impact
      without collision, started at the slipping contact whose own push would drive it in.
    * Impacts whose intervals shrink geometrically: their end is extrapolated, and the path goes on from there with the
      contacts that were struck closed (Zeno; Halm (69)-(70)). It is the one step that is not integrated.

    Where several motions are possible one is taken, and the state is kept in ``branches``.

    Args:
        system: planar (one tangent a contact), v = q̇, M positive definite; anything with ``problem(q, v)``.
        q, v, t: state at the beginning, not penetrating.
        impact: (problem, start) -> ImpactPath; by default ``routh_path`` with equal rates, and where that jams
            ``increment_path``. ``lambda p, start: increment_path(p, step, seed, start)`` is a random one.
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

    Example:
        A box falls flat on the ground: s runs on through the impact, in which t stands still.

        >>> from hybrid_contact_ros.systems.planar_box import Corner, PlanarBox
        >>> corners = [Corner("left", -0.5, -0.5, (0.0, 1.0)), Corner("right", 0.5, -0.5, (0.0, 1.0))]
        >>> box = PlanarBox(1.0, 1.0, 1.0, 0.5, corners)
        >>> path = continuous_time_path(box, q=[0.0, 1.5, 0.0], v=[0.0, 0.0, 0.0], t_final=1.0)
        >>> [piece.ended for piece in path.pieces]
        ['touchdown left', 'separation', 'end']
        >>> print(f"{path.t[path.pieces[1].stop] - path.t[path.pieces[1].start]:.1f} s")
        0.0 s
    """
    options = PathOptions(
        prefer=prefer,
        zeno_tolerance=zeno_tolerance,
        rtol=rtol,
        atol=atol,
        gap_tolerance=gap_tolerance,
        velocity_tolerance=velocity_tolerance,
        max_pieces=max_pieces,
        max_steps=max_steps,
    )
    recorder = PathRecorder(system, q, v, t, t_final, options)
    return _Path(recorder, default_impact if impact is None else impact, options, t_final).follow()


class _Path:
    """A path that is followed piece by piece."""

    def __init__(self, recorder: PathRecorder, rule: ImpactRule, options: PathOptions, t_final: float) -> None:
        self.recorder, self.rule, self.options, self.t_final = recorder, rule, options, t_final
        self._impacts: list[Impact] = []
        self._ended: PieceEnd | None = None  # why the piece before ended, if it was one of a contact mode

    def follow(self) -> ContinuousTimePath:
        """Add pieces until t_final, or until one is missing."""
        status: Status | None = None
        while status is None and len(self.recorder.pieces) < self.options.max_pieces:
            status = Status.SOLVED if self.recorder.time >= self.t_final else self._add_piece()
        return self.recorder.path(Status.STEP_LIMIT if status is None else status)

    def _add_piece(self) -> Status | None:
        """Add an impact or a piece of a contact mode; how the path ends, if it ends with it."""
        recorder, options = self.recorder, self.options
        problem = recorder.problem()
        if recorder.close_hops(problem):
            problem = recorder.problem()
        touching, approaching, scope = recorder.contacts_of(problem)
        if approaching:
            return self._collide(problem, touching)
        choice = choose(problem, scope, options.velocity_tolerance, self._ended, options.prefer)
        recorder.note(choice)
        if choice.mode is None:
            self._ended = None
            phase = Phase.IMPACT_WITHOUT_COLLISION
            found = any(recorder.impact(problem, touching, start, self.rule, phase) for start in choice.starts)
            return None if found else Status.NONE_FOUND
        integrator = PathIntegrator(recorder.evaluate, choice.mode, recorder.nv, self.t_final)
        steps = options.max_steps - recorder.steps
        piece = integrator.run(recorder.s, recorder.y, options.rtol, options.atol, options.gap_tolerance, steps)
        self._ended = recorder.add(piece, choice.mode, self.t_final)
        if self._ended is None:
            return Status.STEP_LIMIT
        return Status.SOLVED if self._ended.kind == "end" else None

    def _collide(self, problem: ContactProblem, touching: list[int]) -> Status | None:
        """Add an impact, and what follows infinitely many of them if that can be told."""
        recorder, tolerance = self.recorder, self.options.zeno_tolerance
        struck = recorder.impact(problem, touching, (), self.rule, Phase.IMPACT)
        if not struck:
            return Status.NONE_FOUND
        self._ended = None
        self._impacts.append(Impact(recorder.time, struck, recorder.y.copy()))
        limit = limit_of(self._impacts) if tolerance > 0.0 else None
        if limit is not None and limit.error < tolerance and limit.t < self.t_final:
            recorder.accumulate(limit.y, limit.t, limit.contacts)
            found = Accumulation(
                t=limit.t,
                s=recorder.s,
                error=limit.error,
                contacts=limit.contacts,
                period=limit.period,
                ratio=limit.ratio,
                impacts=len(self._impacts),
            )
            recorder.accumulations.append(found)
            self._impacts.clear()
        return None


def default_impact(problem: ContactProblem, start: tuple[int, ...]) -> ImpactPath:
    """Routh's path with equal rates; where it ends in a jam, increments of a twentieth of the impulse scale."""
    found = routh_path(problem, start)
    if found.status is Status.SOLVED or (start and found.status is Status.NONE_FOUND):
        return found
    rows = problem.jacobian()
    own = np.diag(rows @ np.linalg.solve(problem.mass, rows.T)).min()
    return increment_path(problem, float(np.abs(rows @ problem.velocity).max() / own) / _INCREMENTS, 0, start)
