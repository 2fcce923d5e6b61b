"""One mode, followed by the integrator until something ends it."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray
from scipy.integrate import DOP853

from hybrid_contact_ros.simulation.events import Hit, Watcher
from hybrid_contact_ros.simulation.execution import ExecutionStatus, Interval
from hybrid_contact_ros.simulation.mode_dynamics import Flow
from hybrid_contact_ros.simulation.options import Options

Array = NDArray[np.float64]
_ROUNDING = 2.2e-16
_MANY, _MOMENT = 1000, 1e-6  # so many steps in so short a time, s, are no progress


class Stretch:
    """The steps of one mode so far.

    Attributes:
        times, states: at the ends of steps: s, (q, v) of (nq + nv,). dense: (q, v) of a time, of each step.
        steps: of the whole run. error: (2,) sum of the errors of q and of v that the integrator saw in its steps.
        status, why: what ended it for good, if anything did.
    """

    def __init__(self, flow: Flow, options: Options, t_final: float, steps: int, time: float, q: Array, v: Array):
        self.flow, self.options, self.t_final, self.steps = flow, options, t_final, steps
        self.status: ExecutionStatus | None = None
        self.why = ""
        here = flow.dynamics(time, q, v)
        self.times, self.states = [time], [np.concatenate((q, v))]
        self.dense: list[Callable[[float], Array]] = []
        self.error = np.zeros(2)
        if not np.isfinite(here.acceleration).all():
            self._stop(ExecutionStatus.DIVERGED, "the acceleration is not finite")
        elif not here.solved:
            name = flow.mode.label(flow.system.contact_names)
            self._stop(ExecutionStatus.SINGULAR, f"mode {name} has no dynamics")

    @property
    def time(self) -> float:
        """s."""
        return self.times[-1]

    @property
    def q(self) -> Array:
        """(nq,), a copy."""
        return self.states[-1][: self.flow.system.nq].copy()

    @property
    def v(self) -> Array:
        """(nv,), a copy."""
        return self.states[-1][self.flow.system.nq :].copy()

    def interval(self) -> Interval:
        """What was recorded."""
        states, n = np.array(self.states), self.flow.system.nq
        return Interval(
            self.flow.mode, np.array(self.times), states[:, :n], states[:, n:], tuple(self.dense), self.flow.system
        )

    def watcher(self, rising: dict[int, float]) -> Watcher:
        """That begins to watch here."""
        found = Watcher(self.flow, self.options.gap_tolerance, rising)
        found.start(self.time, self.states[-1])
        return found

    def rising(self) -> dict[int, float]:
        """Contacts that leave with normal speed, and the time until they are highest."""
        flow, q, v = self.flow, self.q, self.v
        gap = flow.system.gap(q)
        now = flow.dynamics(self.time, q, v)
        rate = now.problem.normal_jacobian @ v
        second = now.problem.normal_jacobian @ now.acceleration + now.problem.jacobian_drift[:, 0]
        found = {}
        for i in range(flow.system.contacts):
            near = i not in flow.mode.closed and gap[i] <= self.options.gap_tolerance
            if near and rate[i] > self.options.velocity_tolerance:
                found[i] = float(rate[i] / -second[i]) if second[i] < 0.0 else np.inf
        return found

    def advance(self, watcher: Watcher) -> Hit | None:
        """Follow the mode until an event, or None: then the end is reached, or ``status`` says what went wrong."""
        try:
            return self._integrate(watcher)
        except Exception as error:
            self._stop(ExecutionStatus.DIVERGED, reason(error))
            return None

    def _stop(self, status: ExecutionStatus, why: str) -> None:
        self.status, self.why = status, why

    def _integrate(self, watcher: Watcher) -> Hit | None:
        flow, system, options = self.flow, self.flow.system, self.options
        n, origin, since, taken = system.nq, self.times[0], self.time, 0
        solver = DOP853(
            flow,
            self.time,
            self.states[-1],
            self.t_final,
            rtol=options.rtol,
            atol=options.atol,
            max_step=min(options.max_step, self.t_final - self.time),
        )
        while solver.status == "running":
            self.steps += 1
            if self.steps > options.max_steps:
                self._stop(ExecutionStatus.STEP_LIMIT, f"{options.max_steps} steps of the integrator")
                return None
            message = solver.step()
            if solver.status == "failed" or not np.isfinite(solver.y).all():
                self._stop(ExecutionStatus.DIVERGED, str(message))
                return None
            path = solver.dense_output()
            hit = watcher.first(path, float(solver.t_old), float(solver.t), origin)
            time = float(solver.t) if hit is None else hit.time
            state = np.asarray(solver.y if hit is None else path(time), dtype=np.float64).copy()
            if system.curved:
                state[:n] = system.on_manifold(state[:n])
            now = flow.dynamics(time, state[:n], state[n:])
            if not now.solved:
                self._stop(ExecutionStatus.SINGULAR, "the block matrix of the mode became singular on the way")
            self.times.append(time)
            self.states.append(state)
            self.dense.append(path)
            self.error += _local_error(solver, n)
            if hit is not None or self.status is not None:
                return hit
            taken += 1
            if taken % _MANY == 0:
                if time - since < _MOMENT:
                    self._stop(ExecutionStatus.STEP_LIMIT, f"{_MANY} steps of the integrator took {time - since:.1e} s")
                    return None
                since = time
            if system.curved:  # the next step starts on the manifold, so that the integrator's errors do not add up
                rate = system.configuration_rate(state[:n], state[n:])
                solver.y, solver.f = state.copy(), np.concatenate((rate, now.acceleration))
        return None


def reason(error: Exception) -> str:
    """What a system, or what works on its answers, raised, for ``why``: it ends the execution and not the program."""
    return f"{type(error).__name__}: {error}"


def _local_error(solver: DOP853, n: int) -> Array:
    """Largest errors of q and of v in the last step: the integrator's own estimate, by which it chose the step, and
    rounding."""
    fifth, third = (np.abs(solver.K.T @ weights) for weights in (solver.E5, solver.E3))
    size = np.hypot(fifth, 0.1 * third)
    step = abs(float(solver.t - solver.t_old)) * np.divide(fifth**2, size, out=np.zeros_like(size), where=size > 0.0)
    step += _ROUNDING * np.abs(solver.y)
    return np.array([step[:n].max(initial=0.0), step[n:].max(initial=0.0)])
