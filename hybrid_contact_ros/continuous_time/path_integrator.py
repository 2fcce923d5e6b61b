"""Integration of one contact mode along s until something happens."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.integrate import DOP853, OdeSolution
from scipy.optimize import brentq

from hybrid_contact_ros.continuous_time.planar_flow import OPEN, SLIPPING, FlowMode, margins, mode_forces
from hybrid_contact_ros.mechanics.problem import ContactProblem

Array = NDArray[np.float64]
Evaluate = Callable[[Array, Array, float, frozenset[int]], ContactProblem]

_PARTS, _DEPTH = 4, 8  # of a step in which events are looked for, and how often each is halved, at most
_CUBIC = 1e-2  # relative: a gap that fits its cubic through both ends this well has no more than one minimum between
_JAM = 1e-9  # dt/ds: contact forces that are this large do not exist any more
_POLE = 1e-6
_ARMED, _WRONG = 1e-14, 1e-9  # an event that starts at zero counts once it was above the first, or falls below −second


@dataclass(frozen=True, slots=True)
class Event:
    """What ended a piece: "touchdown", "liftoff", "slip", "stick", "jam" or "end", and of which contact (−1: none)."""

    kind: str
    contact: int = -1


@dataclass(frozen=True, slots=True, eq=False)
class Flow:
    """A piece: knots s (k,) and y (k, 2 nv + 1 + 2 m) = (q, v, t, Λ), their interpolant, the event that ended it."""

    s: Array
    y: Array
    interpolant: Callable[[float], Array]
    event: Event | None
    steps: int


class FlowPiece:
    """The motion of one mode as an equation in s: dy/ds = (v, v̇, 1, λ) / (1 + Σ λ_n) (H 52).

    The right-hand side stays bounded where the forces do not (λ → ∞ at the edge of Painlevé's region).
    """

    def __init__(self, evaluate: Evaluate, mode: FlowMode, nv: int, t_final: float) -> None:
        self.evaluate, self.mode, self.nv, self.t_final = evaluate, mode, nv, t_final
        self._closed = frozenset(mode.closed)
        m = len(mode.status)
        self.events = [Event("end")]
        self.events += [Event("touchdown", i) for i in range(m) if mode.status[i] == OPEN]
        self.events += [Event("margin", i) for i in mode.closed]
        self._watched: list[int] = []

    def problem(self, y: Array) -> ContactProblem:
        """The contact problem at y."""
        nv = self.nv
        return self.evaluate(y[:nv], y[nv : 2 * nv], float(y[2 * nv]), self._closed)

    def rate(self, s: float, y: Array) -> Array:
        """dy/ds."""
        problem = self.problem(y)
        forces, acceleration = mode_forces(problem, self.mode)
        dtds = 1.0 / (1.0 + float(forces[:, 0].sum()))
        return dtds * np.concatenate([y[self.nv : 2 * self.nv], acceleration, [1.0], forces.reshape(-1)])

    def values(self, y: Array) -> Array:
        """Event functions, ≥ 0 on a piece: remaining time, gaps of open contacts, force margins, slip speeds, dt/ds."""
        problem = self.problem(y)
        forces, _ = mode_forces(problem, self.mode)
        speed = problem.tangent_jacobian[:, 0] @ problem.velocity
        mode = self.mode
        open_ = [i for i, status in enumerate(mode.status) if status == OPEN]
        slips = [i for i in mode.closed if mode.status[i] == SLIPPING and problem.friction[i] > 0.0]
        self._watched = slips
        return np.concatenate(
            [
                [self.t_final - y[2 * self.nv]],
                problem.gap[open_],
                margins(problem, mode, forces),
                [mode.slip[i] * speed[i] for i in slips],
                [1.0 / (1.0 + float(forces[:, 0].sum())) - _JAM],
            ]
        )

    def named(self, index: int, y: Array) -> Event:
        """What it means that event function ``index`` reached zero at y."""
        if index < len(self.events):
            event = self.events[index]
            if event.kind != "margin":
                return event
            i = event.contact
            forces, _ = mode_forces(self.problem(y), self.mode)
            largest = float(np.abs(forces).max(initial=1.0))
            if 1.0 / (1.0 + float(forces[:, 0].sum())) < _POLE:  # λ changes its sign through ∞
                return Event("jam", i)
            lifts = self.mode.status[i] == SLIPPING or forces[i, 0] <= 1e-9 * largest
            return Event("liftoff" if lifts else "slip", i)
        index -= len(self.events)
        if index < len(self._watched):
            return Event("stick", self._watched[index])
        forces, _ = mode_forces(self.problem(y), self.mode)
        return Event("jam", int(np.argmax(np.abs(forces[:, 0]))))

    def grid(self, dense: Callable[[float], Array], low: float, high: float) -> list[float]:
        """Points of a step, the last one ``high``, so close that no gap closes and opens again between two.

        A body may turn far in a step, as free motion is easy to integrate; gaps are not as smooth as that.
        """
        open_ = [i for i, status in enumerate(self.mode.status) if status == OPEN]

        def look(s: float) -> tuple[float, float, Array, Array]:
            y = dense(s)
            problem = self.problem(y)
            return s, float(y[2 * self.nv]), problem.gap[open_], problem.normal_jacobian[open_] @ problem.velocity

        marks = np.linspace(low, high, _PARTS + 1)
        if not open_:
            return [float(s) for s in marks[1:]]
        points: list[float] = []
        known = [look(float(s)) for s in marks]
        todo = [(known[i], known[i + 1], 0) for i in reversed(range(_PARTS))]
        while todo:
            a, b, depth = todo.pop()
            middle = look(0.5 * (a[0] + b[0]))
            if depth < _DEPTH and not _cubic(a[1:], middle[1:], b[1:]):
                todo += [(middle, b, depth + 1), (a, middle, depth + 1)]
                continue
            for x, y in ((a, middle), (middle, b)):
                for k in np.flatnonzero((x[3] < 0.0) & (y[3] > 0.0)):
                    points.append(float(brentq(lambda s, k=k: float(look(s)[3][k]), x[0], y[0])))
                points.append(y[0])
        return sorted(set(points))

    def first_step(self, y: Array, gap_tolerance: float) -> float:
        """A step in s that no contact that has just opened returns in."""
        problem = self.problem(y)
        forces, acceleration = mode_forces(problem, self.mode)
        rate = problem.normal_jacobian @ problem.velocity
        second = problem.normal_jacobian @ acceleration + problem.jacobian_drift[:, 0]
        flights = [
            2.0 * rate[i] / -second[i]
            for i, status in enumerate(self.mode.status)
            if status == OPEN and problem.gap[i] <= gap_tolerance and rate[i] > 0.0 and second[i] < 0.0
        ]
        return 0.3 * min(flights, default=np.inf) * (1.0 + float(forces[:, 0].sum()))

    def run(self, s: float, y: Array, rtol: float, atol: float, gap_tolerance: float, max_steps: int) -> Flow:
        """Integrate from (s, y) to the first event; ``event`` is None if it took more than ``max_steps`` steps."""
        solver = DOP853(self.rate, s, y, np.inf, max_step=self.first_step(y, gap_tolerance), rtol=rtol, atol=atol)
        knots, states = [s], [y]
        outputs: list[Callable[[float], Array]] = []
        before = self.values(y)
        armed = before > _ARMED
        while len(outputs) < max_steps:
            solver.step()
            if solver.status == "failed":
                break
            solver.max_step = np.inf
            dense = solver.dense_output()
            outputs.append(dense)
            at = float(solver.t_old)
            for point in self.grid(dense, at, float(solver.t)):
                after = self.values(dense(point))
                armed |= after > _ARMED
                crossed = np.flatnonzero(np.where(armed, after < 0.0, after < -_WRONG))
                if crossed.size:
                    roots = [
                        self._root(dense, int(k), at, float(point), 0.0 if armed[k] else _WRONG, before)
                        for k in crossed
                    ]
                    first = int(np.argmin(roots))
                    end = roots[first]
                    state = dense(end) if end > at else states[-1] if at == knots[-1] else dense(at)
                    if end > knots[-1]:
                        knots.append(end)
                        states.append(state)
                    else:
                        outputs.pop()
                    named = self.named(int(crossed[first]), state)
                    return self._flow(knots, states, outputs, named)
                at, before = float(point), after
            knots.append(float(solver.t))
            states.append(solver.y.copy())
        return self._flow(knots, states, outputs, None)

    def _root(
        self, dense: Callable[[float], Array], k: int, low: float, high: float, offset: float, before: Array
    ) -> float:
        if before[k] + offset <= 0.0:
            return low

        def value(point: float) -> float:
            return float(self.values(dense(point))[k]) + offset

        if value(high) > 0.0:  # rounding at the border
            return high
        return float(brentq(value, low, high, xtol=1e-15, rtol=8.9e-16))

    def _flow(
        self, knots: list[float], states: list[Array], outputs: list[Callable[[float], Array]], event: Event | None
    ) -> Flow:
        interpolant: Callable[[float], Array] = OdeSolution(knots, outputs) if outputs else lambda _: states[0]
        return Flow(np.array(knots), np.array(states), interpolant, event, len(outputs))


def _cubic(a: tuple[float, Array, Array], m: tuple[float, Array, Array], b: tuple[float, Array, Array]) -> bool:
    """Whether gaps at the time of m are those of the cubics through (time, gap, rate) a and b."""
    width = b[0] - a[0]
    if width <= 0.0:
        return True
    x = (m[0] - a[0]) / width
    fit = (1 + 2 * x) * (1 - x) ** 2 * a[1] + x * (1 - x) ** 2 * width * a[2]
    fit = fit + x**2 * (3 - 2 * x) * b[1] - x**2 * (1 - x) * width * b[2]
    size = np.abs(a[1]) + np.abs(b[1]) + width * (np.abs(a[2]) + np.abs(b[2]))
    return bool((np.abs(fit - m[1]) <= _CUBIC * size + 1e-15).all())
