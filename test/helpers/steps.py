"""Single steps of the estimator's update, each with a memory of its own: thin calls of the kernels of the update."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from hybrid_contact_ros.codes import ContactStatus
from hybrid_contact_ros.config import ActivationConfig, PredictionConfig
from hybrid_contact_ros.estimation.answers import mode_sequence
from hybrid_contact_ros.estimation.events import EventLog
from hybrid_contact_ros.estimation.memory import lists_out, log_memory, observer_memory, tracker_memory, update_scratch
from hybrid_contact_ros.kernels.estimation.contact_tracking import candidates, contact_statuses, slips
from hybrid_contact_ros.kernels.estimation.event_times import LINE_TIME_CONSTANT, next_events
from hybrid_contact_ros.kernels.estimation.momentum_observer import (
    begins_at_rest,
    has_settled,
    observe_momentum,
    observed_forces,
)
from hybrid_contact_ros.kernels.estimation.observed_forces import contact_motions
from hybrid_contact_ros.kernels.estimation.rate_lines import COLUMNS, follow_rates
from hybrid_contact_ros.kernels.estimation.rollout import rollout
from hybrid_contact_ros.kernels.estimation.told_events import note_impacts, tell_events
from hybrid_contact_ros.kernels.estimation.update_steps import SLIP_TIME_CONSTANT
from hybrid_contact_ros.kernels.modes.records import mode_scratch
from hybrid_contact_ros.mechanics.problem import ContactProblem
from hybrid_contact_ros.modes.workspace import TOLERANCE, ModeWorkspace, mode_steps
from hybrid_contact_ros.prediction import Event, ModeSequence

Array = NDArray[np.float64]
_NO_JUMP = np.array([np.inf])


class Tracker:
    """Which contacts are closed and slide. ``weight``: of their efforts. ``rate_noise``: measured, m/s. ``stopped``: s
    since an impact stopped them; negative where none did."""

    def __init__(
        self,
        tangents: Array,
        config: ActivationConfig,
        weight: float = 1.0,
        rate_noise: float = 0.0,
        stopped: float = -1.0,
    ) -> None:
        m = len(tangents)
        self.weight, self.rate_noise, self.stopped = (np.full(m, each) for each in (weight, rate_noise, stopped))
        self.config, self._tangents, self.memory = config, tangents, tracker_memory(m)
        self.touching, self.status = np.zeros(m, np.uint8), np.ones(m, np.uint8)
        self.sliding = np.zeros((m, 2))

    @property
    def doubted(self) -> NDArray[np.bool_]:
        return self.memory.evidence > 0.0

    def near(self, dt: float, gap: Array, rate: Array, tangential: Array) -> NDArray[np.uint8]:
        c, memory = self.config, self.memory
        off, tolerance = np.full(len(gap), c.gap_off), np.full(len(gap), c.velocity_tolerance)
        slide = np.linalg.norm(tangential, axis=1)
        candidates(
            c.gap_on, off, True, c.velocity_tolerance, tolerance, memory.closed, gap, rate, self.rate_noise, slide,
            self.stopped, self.touching,
        )  # fmt: skip
        slips(
            c.slip_on, c.slip_off, SLIP_TIME_CONSTANT, c.velocity_sigma, self._tangents, dt, memory.closed,
            self.weight, self.rate_noise, self.stopped, tangential, memory.slipping, memory.seen, memory.smooth,
            memory.spread, self.sliding,
        )  # fmt: skip
        return self.touching

    def decide(self, gap: Array, rate: Array, load: Array, trusted: bool) -> NDArray[np.uint8]:
        c, memory = self.config, self.memory
        tolerance, sigma = np.full(len(gap), c.velocity_tolerance), np.full(len(gap), c.velocity_sigma)
        contact_statuses(
            c.gap_on, c.velocity_tolerance, tolerance, c.force_on, c.force_off, c.force_sigma, sigma,
            np.full(len(gap), float(trusted)),
            self.touching, gap, rate, load, memory.slipping, memory.closed, memory.evidence, self.status,
        )  # fmt: skip
        return self.status


class Predictor:
    """The next event of one contact with friction 0.7."""

    def __init__(self, tolerances: ActivationConfig, config: PredictionConfig) -> None:
        self._tolerances, self._config = tolerances, config
        self._lines, self._estimates = np.full((1, 2, 3), -1.0), np.zeros((2, 3))

    def update(
        self, expected: Array, gap: float = 0.0, rate: float = 0.0, closed: int = 0, slipping: int = 0,
        trusted: bool = True, speed: float = 0.0, load: float = 0.0, margin: float = 0.0, acceleration: float = 0.0,
        slip_acceleration: float = 0.0, dt: float = 1e-3,
    ) -> tuple[int, Array, int]:  # fmt: skip
        """(next event, its times, the same without touchdowns that only the rhythm foretells)."""
        tolerances, config = self._tolerances, self._config
        kind, backed, times = np.zeros(1, np.uint8), np.zeros(1, np.uint8), np.empty((1, 3))

        def one(value: float) -> Array:
            return np.array([float(value)])

        next_events(
            config.bound_sigmas, one(tolerances.gap_sigma), one(tolerances.velocity_sigma),
            tolerances.acceleration_sigma, tolerances.force_sigma, config.horizon, LINE_TIME_CONSTANT, one(trusted), dt,
            np.array([closed], np.uint8), np.array([slipping], np.uint8), one(0.7), one(gap), one(rate), one(speed),
            one(load), one(margin), np.array([[acceleration, 0.0, 0.0]]), one(slip_acceleration), expected,
            *self._estimates, self._lines, kind, backed, times,
        )  # fmt: skip
        return int(kind[0]), times[0], int(backed[0])


class Log:
    """The events that are told of one contact."""

    def __init__(self) -> None:
        self._memory, self._log, self._last = log_memory(1), EventLog(1), None
        self._events, self._lines = lists_out(1, 1).events, np.full((1, COLUMNS), -1.0)

    def update(
        self, stamp_ns: int, status: int, gap: float = 0.0, doubted: bool = False, probability: float = 0.9,
        kind: int = 0, times: Array | tuple[float, ...] = (np.nan,) * 3, rate: float = 0.0, rate_sigma: float = 0.01,
    ) -> tuple[Event, ...]:  # fmt: skip
        first = self._last is None
        last = stamp_ns if first else self._last
        rates, closed = np.array([float(rate)]), np.array([status >= ContactStatus.STICKING], np.uint8)
        note_impacts(stamp_ns, last, first, rates, np.array([float(rate_sigma)]), self._lines, self._memory)
        follow_rates(1e-9 * (stamp_ns - last), closed, np.array([float(gap)]), _NO_JUMP, rates, self._lines)
        detected, count = tell_events(
            stamp_ns, last, first, np.array([status], np.uint8),
            np.array([1.0 if doubted else 0.0]), np.array([float(gap)]), np.array([kind], np.uint8),
            np.array([times], float), self._memory, self._events,
        )  # fmt: skip
        self._last = stamp_ns
        return self._log.tell(stamp_ns, self._events[:count], detected, np.array([probability]))


class Observer:
    """The momentum observer of nv coordinates."""

    def __init__(self, nv: int, gain: float) -> None:
        self.gain, self.memory = gain, observer_memory(nv)

    def rests(self) -> None:
        begins_at_rest(self.gain, self.memory)

    @property
    def residual(self) -> Array:
        return self.memory.residual

    @property
    def settled(self) -> bool:
        return bool(has_settled(self.gain, self.memory))

    def update(self, dt: float, momentum: Array, rate: Array, effort: Array) -> Array:
        observe_momentum(
            self.gain, dt, momentum, rate, effort, np.zeros_like(momentum), np.zeros_like(momentum), self.memory
        )
        return self.residual


def explaining(jacobian: Array, mass: Array, external: Array, closed: list[int]) -> Array:
    """The forces (m, 3), normal first, at the ``closed`` contacts that explain a generalised force best."""
    n, nv = jacobian.shape
    m = n // 3
    factor = np.linalg.cholesky(mass)
    half = np.vstack([np.linalg.solve(factor, jacobian.T).T, np.zeros((1, nv))])
    motions, products = np.zeros((n, nv)), np.zeros((n, n))
    contact_motions(n, factor, half, motions, products)
    memory, flags, world = observer_memory(nv), np.zeros(m, np.uint8), np.zeros((m, 3))
    memory.residual[:] = external
    flags[closed] = 1
    scratch, frame = update_scratch(m, nv), np.tile(np.eye(3), (m, 1, 1))
    observed_forces(
        frame[:, 0].copy(), frame[:, 1:].copy(), flags, factor, motions, products, memory, scratch.integers[0],
        mode_scratch(n).A, scratch.vectors, world,
    )  # fmt: skip
    return world


def follow(
    problem: ContactProblem, closed: tuple[int, ...] = (), config: PredictionConfig | None = None,
    activation: ActivationConfig | None = None, kind: list[int] | None = None, times: list[list[float]] | None = None,
) -> ModeSequence:  # fmt: skip
    """The rollout from the mode of a problem's ``closed`` contacts; ``kind`` and ``times`` of their next events."""
    m, d, config = problem.contacts, problem.tangents, config or PredictionConfig()
    activation = activation or ActivationConfig()
    n, flags, lists = m * (1 + d), np.zeros(m, np.uint8), lists_out(m, config.rollout_events)
    flags[list(closed)] = 1
    modes = ModeWorkspace(problem.nv, m, d)
    modes.solve(problem, flags, activation.slip_on)
    bytes_ = np.zeros((4, m), np.uint8)
    count, _ = rollout(
        config.bound_sigmas, np.full(m, activation.gap_sigma), np.full(m, activation.velocity_sigma),
        activation.acceleration_sigma, d, min(200, mode_steps(m)), config.rollout, activation.slip_on, TOLERANCE,
        modes.delassus, modes.free, problem.friction, problem.restitution, problem.gap,
        problem.jacobian() @ problem.velocity, flags,
        np.zeros(m, np.uint8) if kind is None else np.array(kind, np.uint8),
        np.full((m, 3), np.nan) if times is None else np.array(times, float), *mode_scratch(n), *bytes_,
        np.zeros(m, np.int64), np.zeros((m, d)), np.zeros(m), *np.zeros((4, n)), *lists[:4],
    )  # fmt: skip
    return mode_sequence(lists, count)
