"""Keeps a continuous-time path as it grows: knots, pieces, impacts, projections."""

from __future__ import annotations

from collections.abc import Callable, Iterable

import numpy as np
from numpy.typing import ArrayLike, NDArray

from hybrid_contact_ros.codes import ContactStatus, Status
from hybrid_contact_ros.continuous_time.continuous_path import Accumulation, Branch, ContinuousTimePath, Phase, Piece
from hybrid_contact_ros.continuous_time.mode_choice import Choice
from hybrid_contact_ros.continuous_time.path_integrator import Event, Flow
from hybrid_contact_ros.continuous_time.planar_flow import OPEN, FlowMode, PlanarSystem, evaluator
from hybrid_contact_ros.impacts.routh import ImpactPath
from hybrid_contact_ros.mechanics.problem import ContactProblem

Array = NDArray[np.float64]
ImpactRule = Callable[[ContactProblem, tuple[int, ...]], ImpactPath]
"""From the problem of the touching contacts, and those that start an impact without collision, to a path."""


class PathRecorder:
    """The path so far: its knots and pieces, and the present state y = (q, v, t, Λ)."""

    def __init__(
        self,
        system: PlanarSystem,
        q: ArrayLike,
        v: ArrayLike,
        t: float,
        t_final: float,
        gap_tolerance: float,
        velocity_tolerance: float,
    ) -> None:
        if not (np.isfinite([t, t_final]).all() and t_final >= t):
            raise ValueError(f"t is {t} and t_final {t_final}; both must be finite, and t_final ≥ t")
        for name, value in (("gap_tolerance", gap_tolerance), ("velocity_tolerance", velocity_tolerance)):
            if not 0.0 < value < np.inf:
                raise ValueError(f"{name} is {value}; a positive, finite number is needed")
        if hasattr(system, "pinocchio_model") or hasattr(system, "configuration_rate"):
            raise ValueError("continuous-time paths are for planar systems with v = q̇; a robot in space has neither")
        q_, v_ = (np.array(x, dtype=np.float64) for x in (q, v))
        if q_.ndim != 1 or q_.shape != v_.shape or not (np.isfinite(q_).all() and np.isfinite(v_).all()):
            raise ValueError(f"q and v must be finite and of one length, got shapes {q_.shape} and {v_.shape}")
        self.evaluate = evaluator(system)
        problem = self.evaluate(q_, v_, t, frozenset())
        if problem.nv != q_.size:
            raise ValueError(f"the system has {problem.nv} velocities and q {q_.size} coordinates; v = q̇ is needed")
        if problem.tangents != 1:
            raise ValueError(f"the system has {problem.tangents} tangents a contact; planar ones have 1")
        try:
            np.linalg.cholesky(problem.mass)
        except np.linalg.LinAlgError:
            raise ValueError("the system's mass is singular; every limb needs mass here") from None
        deepest = float(problem.gap.min(initial=0.0))
        if deepest < -gap_tolerance:
            worst = int(np.argmin(problem.gap))
            label = problem.names[worst] if problem.names else worst
            raise ValueError(f"contact {label} penetrates by {-deepest:g} m; start from a configuration that does not")
        self.nv, self.m, self.names = problem.nv, problem.contacts, problem.names
        self.gap_tolerance, self.velocity_tolerance = gap_tolerance, velocity_tolerance
        self.s, self.y = float(t), np.concatenate([q_, v_, [t], np.zeros(2 * self.m)])
        self.knots, self.states = [self.s], [self.y]
        self.pieces: list[Piece] = []
        self.accumulations: list[Accumulation] = []
        self.branches: list[Branch] = []
        self.steps, self.drift = 0, 0.0

    @property
    def time(self) -> float:
        """t, s."""
        return float(self.y[2 * self.nv])

    def problem(self) -> ContactProblem:
        """The contact problem of the present state."""
        return self.evaluate(self.y[: self.nv], self.y[self.nv : 2 * self.nv], self.time, frozenset())

    def contacts_of(self, problem: ContactProblem) -> tuple[list[int], bool, frozenset[int]]:
        """Touching contacts, whether one approaches, and those that neither approach nor separate."""
        rate = problem.normal_jacobian @ problem.velocity
        touching = problem.gap <= self.gap_tolerance
        scope = touching & (np.abs(rate) <= self.velocity_tolerance)
        approaching = bool((touching & (rate < -self.velocity_tolerance)).any())
        return np.flatnonzero(touching).tolist(), approaching, frozenset(np.flatnonzero(scope).tolist())

    def close_hops(self, problem: ContactProblem) -> bool:
        """Stop contacts that separate too slowly to rise by ``gap_tolerance``; whether there were such.

        Their flights could not be resolved. In free fall a contact rises by φ̇²/(2 |φ̈|).
        """
        rate = problem.normal_jacobian @ problem.velocity
        free = np.linalg.solve(problem.mass, -problem.bias_force)
        second = problem.normal_jacobian @ free + problem.jacobian_drift[:, 0]
        touching = problem.gap <= self.gap_tolerance
        hops = touching & (rate > self.velocity_tolerance) & (rate**2 <= -2.0 * second * self.gap_tolerance)
        if not hops.any():
            return False
        fastest = float(rate[hops].max())
        slow = touching & (np.abs(rate) <= fastest)
        side = np.abs(problem.tangent_jacobian[:, 0] @ problem.velocity)
        held = np.column_stack([slow, slow & (side <= fastest)]).reshape(-1)
        self.project([], np.flatnonzero(held).tolist(), count=False)
        return True

    def note(self, choice: Choice) -> None:
        """Keep a choice among several."""
        if len(choice.modes) + choice.impact_possible > 1:
            modes = tuple(mode.status for mode in choice.modes)
            self.branches.append(Branch(self.time, self.s, modes, choice.impact_possible, choice.taken))

    def impact(
        self, problem: ContactProblem, touching: list[int], start: Iterable[int], rule: ImpactRule, phase: Phase
    ) -> tuple[int, ...]:
        """Follow an impact path; the contacts that it struck, none if there is no such path."""
        begun = tuple(touching.index(i) for i in start)
        found = rule(problem.select(touching), begun)
        if found.status not in (Status.SOLVED, Status.INACCURATE) or found.s[-1] <= 0.0:
            return ()
        nv, first = self.nv, len(self.knots) - 1
        ys = np.tile(self.y, (found.s.size, 1))
        ys[:, nv : 2 * nv] = found.velocities
        pushed = ys[:, 2 * nv + 1 :].reshape(-1, self.m, 2)
        pushed[:, touching] += found.impulses
        knots = self.s + found.s
        self._append(knots[1:], ys[1:])
        self._piece(phase, first, (int(ContactStatus.UNKNOWN),) * self.m, "separation", _linear(knots, ys))
        return tuple(touching[i] for i in np.flatnonzero(found.impulses[-1, :, 0] > 0.0))

    def follow(self, flow: Flow, mode: FlowMode, t_final: float) -> Event | None:
        """Take over a flow piece; the event that ended it."""
        first, event = len(self.knots) - 1, flow.event
        self.steps += flow.steps
        if flow.s.size > 1:
            self._append(flow.s[1:], flow.y[1:])
            phase = Phase.CONTACT if any(x != OPEN for x in mode.status) else Phase.FREE
            ended = "step limit" if event is None else event.kind if event.contact < 0 else self._label(event)
            self._piece(phase, first, mode.status, ended, flow.interpolant)
        if event is None:
            return None
        if event.kind == "end":
            self.y[2 * self.nv] = self.states[-1][2 * self.nv] = t_final
        rows = mode.rows()
        gaps = mode.closed
        if event.kind == "touchdown":
            gaps = [*gaps, event.contact]
        if event.kind == "stick":
            rows = sorted([*rows, 2 * event.contact + 1])
        self.project(gaps, rows)
        return event

    def project(self, gaps: list[int], rows: list[int], count: bool = True) -> None:
        """Remove what is left of the gaps of closed contacts, and of the velocities along held rows."""
        y, nv = self.y.copy(), self.nv
        if gaps:
            for _ in range(3):
                problem = self.evaluate(y[:nv], y[nv : 2 * nv], float(y[2 * nv]), frozenset())
                y[:nv] -= _least(problem.mass, problem.normal_jacobian[gaps], problem.gap[gaps])
                worst = float(np.abs(problem.gap[gaps]).max())
                self.drift = max(self.drift, worst) if count else self.drift
                if worst < 1e-15:
                    break
        if rows:
            problem = self.evaluate(y[:nv], y[nv : 2 * nv], float(y[2 * nv]), frozenset())
            held = problem.jacobian()[rows]
            excess = held @ problem.velocity
            self.drift = max(self.drift, float(np.abs(excess).max())) if count else self.drift
            y[nv : 2 * nv] -= _least(problem.mass, held, excess)
        self.y = self.states[-1] = y

    def accumulate(self, y: Array, t: float, contacts: tuple[int, ...]) -> None:
        """Jump to an extrapolated accumulation point, where the struck contacts are closed."""
        before, nv = self.y, self.nv
        first = len(self.knots) - 1
        changed = float(np.abs(y[nv : 2 * nv] - before[nv : 2 * nv]).max())
        end = y.copy()
        end[2 * nv] = t
        s = self.s + (t - self.time) + float((end - before)[2 * nv + 1 :: 2].sum())
        self._append(np.array([s]), end[None])
        problem = self.problem()
        speed = np.abs(problem.tangent_jacobian[:, 0] @ problem.velocity)
        rows = sorted([2 * i for i in contacts] + [2 * i + 1 for i in contacts if speed[i] <= 0.01 * changed])
        self.project(list(contacts), rows, count=False)
        status = (int(ContactStatus.UNKNOWN),) * self.m
        ys = np.array([before, self.y])
        self._piece(Phase.ACCUMULATION, first, status, "accumulation", _linear(np.array([self.knots[first], s]), ys))

    def _label(self, event: Event) -> str:
        return f"{event.kind} {self.names[event.contact] if self.names else event.contact}"

    def _append(self, s: Array, y: Array) -> None:
        self.knots.extend(s.tolist())
        self.states.extend(y)
        self.s, self.y = self.knots[-1], np.array(y[-1])

    def _piece(
        self, phase: Phase, first: int, status: tuple[int, ...], ended: str, interpolant: Callable[[float], Array]
    ) -> None:
        self.pieces.append(Piece(phase, first, len(self.knots) - 1, status, ended, interpolant))

    def path(self, status: Status) -> ContinuousTimePath:
        """What was recorded."""
        nv, y = self.nv, np.array(self.states)
        return ContinuousTimePath(
            np.array(self.knots),
            y[:, 2 * nv].copy(),
            y[:, :nv].copy(),
            y[:, nv : 2 * nv].copy(),
            y[:, 2 * nv + 1 :].reshape(-1, self.m, 2).copy(),
            tuple(self.pieces),
            tuple(self.accumulations),
            tuple(self.branches),
            self.drift,
            status,
        )


def _least(mass: Array, rows: Array, excess: Array) -> Array:
    """The least change (in the norm of the mass) that takes ``excess`` away along ``rows``."""
    response = np.linalg.solve(mass, rows.T)
    return np.asarray(response @ np.linalg.lstsq(rows @ response, excess, rcond=1e-10)[0], dtype=np.float64)


def _linear(s: Array, y: Array) -> Callable[[float], Array]:
    def interpolant(point: float) -> Array:
        k = min(max(int(np.searchsorted(s, point)), 1), s.size - 1)
        part = (point - s[k - 1]) / (s[k] - s[k - 1])
        return np.asarray((1.0 - part) * y[k - 1] + part * y[k], dtype=np.float64)

    return interpolant
