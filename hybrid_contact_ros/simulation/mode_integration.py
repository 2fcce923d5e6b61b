"""One mode, followed by the integrator until something ends it."""

from __future__ import annotations

from collections.abc import Callable
from time import monotonic

import numpy as np
from numpy.typing import NDArray
from scipy.integrate import DOP853

from hybrid_contact_ros.simulation.adapter import AdaptedSystem
from hybrid_contact_ros.simulation.event_watcher import Crossing, EventWatcher
from hybrid_contact_ros.simulation.execution import ExecutionStatus, ModeInterval
from hybrid_contact_ros.simulation.hybrid_state import HybridState
from hybrid_contact_ros.simulation.mode_dynamics import ModeDynamics
from hybrid_contact_ros.simulation.options import Options

Array = NDArray[np.float64]
_ROUNDING = 2.2e-16  # the relative spacing of floating-point numbers
_THIRD_ORDER_WEIGHT = 0.1  # that SciPy's DOP853 gives its third-order error beside the fifth-order one
_CRAWL_STEPS, _CRAWL_TIME = 1000, 1e-6  # so many steps in so short a time, s, are no progress


class ModeIntegration:
    """The steps of one mode so far.

    Args:
        dynamics: the right-hand side of the mode's differential equation.
        options: tolerances of the integrator and limits of the execution.
        t_final: s, when the execution ends.
        steps: number of steps that the execution has taken in the modes before.
        state: the time, configuration and velocity at which the mode begins.

    Attributes:
        times: the beginning of the mode and the ends of its steps, s.
        states: the state (q, v) as one array (nq + nv,) at each of the ``times``.
        dense: for each step the function that gives this array at a time, s, within the step.
        steps: number of steps that the whole execution has taken.
        error: (2,) sums, over the steps, of the integrator's estimates of its errors in q and in v.
        status: why the execution ends here, or None while it goes on; ``why`` says the same in words.
    """

    def __init__(
        self, dynamics: ModeDynamics, options: Options, t_final: float, steps: int, state: HybridState
    ) -> None:
        self.dynamics, self.options, self.t_final, self.steps = dynamics, options, t_final, steps
        self.status: ExecutionStatus | None = None
        self.why = ""
        here = dynamics.motion(state.time, state.q, state.v)
        self.times, self.states = [state.time], [np.concatenate((state.q, state.v))]
        self.dense: list[Callable[[float], Array]] = []
        self.error = np.zeros(2)
        if not np.isfinite(here.acceleration).all():
            self._stop(ExecutionStatus.DIVERGED, "the acceleration is not finite")
        elif not here.solved:
            name = dynamics.mode.label(dynamics.system.contact_names)
            self._stop(ExecutionStatus.SINGULAR, f"mode {name} has no dynamics")

    @property
    def time(self) -> float:
        """The time that the integration has reached, s."""
        return self.times[-1]

    @property
    def q(self) -> Array:
        """A copy of the configuration (nq,) at that time."""
        return self.states[-1][: self.dynamics.system.nq].copy()

    @property
    def v(self) -> Array:
        """A copy of the velocity (nv,) at that time."""
        return self.states[-1][self.dynamics.system.nq :].copy()

    def interval(self, system: AdaptedSystem) -> ModeInterval:
        """The interval of the execution that was recorded; ``system`` serves for states between the steps."""
        states, n = np.array(self.states), self.dynamics.system.nq
        return ModeInterval(
            mode=self.dynamics.mode,
            times=np.array(self.times),
            q=states[:, :n],
            v=states[:, n:],
            dense=tuple(self.dense),
            system=system,
        )

    def watcher(self, rising: dict[int, float]) -> EventWatcher:
        """A watcher that begins here; for ``rising`` see :class:`~.event_watcher.EventWatcher`."""
        found = EventWatcher(self.dynamics, self.options.gap_tolerance, rising)
        found.start(self.time, self.states[-1])
        return found

    def rising(self) -> dict[int, float]:
        """Contacts that leave with normal speed, and the time until they are highest, s."""
        dynamics, q, v = self.dynamics, self.q, self.v
        gap = dynamics.system.gap(q)
        now = dynamics.motion(self.time, q, v)
        rate = now.problem.normal_jacobian @ v
        second = now.problem.normal_jacobian @ now.acceleration + now.problem.jacobian_drift[:, 0]
        found = {}
        for i in range(dynamics.system.contacts):
            near = i not in dynamics.mode.closed and gap[i] <= self.options.gap_tolerance
            if near and rate[i] > self.options.velocity_tolerance:
                found[i] = float(rate[i] / -second[i]) if second[i] < 0.0 else np.inf
        return found

    def advance(self, watcher: EventWatcher) -> Crossing | None:
        """Follow the mode until an event, or None: then the end is reached, or ``status`` says what went wrong."""
        system, options = self.dynamics.system, self.options
        n, origin, since, taken = system.nq, self.times[0], self.time, 0
        solver = DOP853(
            self.dynamics,
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
            if monotonic() > options.until:
                self._stop(ExecutionStatus.DEADLINE, f"at {self.time:.4g} s of {self.t_final:.4g}")
                return None
            message = solver.step()
            if solver.status == "failed" or not np.isfinite(solver.y).all():
                self._stop(ExecutionStatus.DIVERGED, str(message))
                return None
            path = solver.dense_output()
            crossing = watcher.first(path, float(solver.t_old), float(solver.t), origin)
            time = float(solver.t) if crossing is None else crossing.time
            state = np.asarray(solver.y if crossing is None else path(time), dtype=np.float64).copy()
            if system.curved:
                state[:n] = system.on_manifold(state[:n])
            now = self.dynamics.motion(time, state[:n], state[n:])
            if not now.solved:
                self._stop(ExecutionStatus.SINGULAR, "the block matrix of the mode became singular on the way")
            self.times.append(time)
            self.states.append(state)
            self.dense.append(path)
            self.error += _local_error(solver, n)
            if crossing is not None or self.status is not None:
                return crossing
            taken += 1
            if taken % _CRAWL_STEPS == 0:
                if time - since < _CRAWL_TIME:
                    why = f"{_CRAWL_STEPS} steps of the integrator took {time - since:.1e} s"
                    self._stop(ExecutionStatus.STEP_LIMIT, why)
                    return None
                since = time
            if system.curved:  # the next step starts on the manifold, so that the integrator's errors do not add up
                rate = system.configuration_rate(state[:n], state[n:])
                solver.y, solver.f = state.copy(), np.concatenate((rate, now.acceleration))
        return None

    def _stop(self, status: ExecutionStatus, why: str) -> None:
        self.status, self.why = status, why


def _local_error(solver: DOP853, n: int) -> Array:
    """Estimate the largest errors of q and of v in the last step, (2,).

    Each is the estimate by which the integrator chose the step, plus rounding.
    """
    fifth, third = (np.abs(solver.K.T @ weights) for weights in (solver.E5, solver.E3))
    size = np.hypot(fifth, _THIRD_ORDER_WEIGHT * third)
    step = abs(float(solver.t - solver.t_old)) * np.divide(fifth**2, size, out=np.zeros_like(size), where=size > 0.0)
    step += _ROUNDING * np.abs(solver.y)
    return np.array([step[:n].max(initial=0.0), step[n:].max(initial=0.0)])
