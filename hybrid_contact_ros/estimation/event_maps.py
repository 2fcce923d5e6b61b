"""Sensitivities of the events that are predicted: what ``event_sensitivity`` says of a state."""

from __future__ import annotations

from contextlib import suppress
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from hybrid_contact_ros.codes import EventKind, EventValidity
from hybrid_contact_ros.config import EstimatorConfig
from hybrid_contact_ros.estimation.event_records import cluster_record, refused_record, single_record
from hybrid_contact_ros.estimation.events_ahead import EventAhead, EventsAhead
from hybrid_contact_ros.estimation.force_maps import force_saltation, stick_ahead
from hybrid_contact_ros.estimation.state_covariance import state_covariance, transition
from hybrid_contact_ros.impacts.steps import LONG, Steps
from hybrid_contact_ros.mechanics.model import RigidBodyModel
from hybrid_contact_ros.prediction import SensitivityPrediction
from hybrid_contact_ros.sensitivity.balance import Unsolvable
from hybrid_contact_ros.sensitivity.cluster_solver import MOST_CONTACTS, ClusterSolver
from hybrid_contact_ros.sensitivity.contact_mode import ContactMode
from hybrid_contact_ros.sensitivity.gradients import problem_gradient
from hybrid_contact_ros.sensitivity.mode_gradient import Motion, motion_derivative
from hybrid_contact_ros.systems.robot import RobotSystem

Array = NDArray[np.float64]

_MOST_CLOSED = 4  # beside the touchdowns of a cluster: the corners of a sole, or all other feet of a quadruped and more
_NO_EFFORT = "no effort was measured, so that the motion before and after the event is not known"


class _Now(NamedTuple):
    """What all events ahead of a state share."""

    system: RobotSystem
    mode: ContactMode
    motion: Motion | tuple[EventValidity, str]  # or why the mode's is not known
    gradient: Array  # ∂v̇/∂(q, v) (nv, 2 nv), zero where that is so
    covariance: Array | None  # (2 nv, 2 nv)
    gaps: Array  # (m,)


class EventMaps:
    """Sensitivities of a robot by one configuration. Remembers nothing of the states."""

    def __init__(self, model: RigidBodyModel, config: EstimatorConfig) -> None:
        self._model, self._config = model, config.sensitivity
        self.tune(config)
        most = max(1, min(model.contacts, MOST_CONTACTS))
        self._solver = ClusterSolver(model, most, min(model.contacts, _MOST_CLOSED))

    def tune(self, config: EstimatorConfig) -> None:
        """Take over tolerances."""
        self._window, self._deepest = config.impact.window, config.activation.gap_off

    def warm(self, q: Array) -> None:
        """Compile what :meth:`ahead` may need, at a configuration."""
        model, n = self._model, self._model.nv
        system = RobotSystem(model, np.zeros(n))
        self._solver.warm()
        for mode in (ContactMode(), ContactMode(frozenset({0}))):
            with suppress(Unsolvable):
                motion_derivative(problem_gradient(system, q, np.zeros(n), 0.0, mode.closed), mode)

    def ahead(self, ahead: EventsAhead | None) -> Steps[tuple[SensitivityPrediction, ...]]:
        """One record for each event within ``sensitivity.horizon``, in order of time, in steps. All of these are long,
        also where they are Python for a millisecond: no state waits for the end of one.

        The state is extrapolated to each event with the acceleration of its mode, as if no other event came before, and
        its covariance with the motion's derivative. Closed contacts are those of the state.
        """
        events = [] if ahead is None else ahead.events(self._config.horizon, self._window)
        if ahead is None or not events:
            return ()
        known = self._now(ahead)
        found = []
        for event in events:
            yield LONG
            found.append(self._record(ahead, known, event))
        return tuple(found)

    def _now(self, ahead: EventsAhead) -> _Now | tuple[EventValidity, str]:
        """What the events share, or why there is nothing."""
        state = ahead.state
        if state.effort is None:
            return EventValidity.UNEXPLAINED, _NO_EFFORT
        closed = frozenset(np.flatnonzero(ahead.closed).tolist())
        mode = ContactMode(closed, closed & frozenset(np.flatnonzero(ahead.slipping).tolist()))
        system = RobotSystem(self._model, state.effort)
        here = problem_gradient(system, state.q, state.v, 0.0, closed)
        covariance = state_covariance(state, self._model.floating_base, self._config)
        n = state.v.size
        try:
            found = motion_derivative(here, mode)
        except Unsolvable as error:
            why = EventValidity.SINGULAR if error.unique else EventValidity.NOT_UNIQUE, error.why
            return _Now(system, mode, why, np.zeros((n, 2 * n)), covariance, here.problem.gap)
        except ValueError as error:
            why = EventValidity.UNEXPLAINED, str(error)
            return _Now(system, mode, why, np.zeros((n, 2 * n)), covariance, here.problem.gap)
        return _Now(system, mode, found.motion, found.acceleration, covariance, here.problem.gap)

    def _record(
        self, ahead: EventsAhead, known: _Now | tuple[EventValidity, str], event: EventAhead
    ) -> SensitivityPrediction:
        state, t, closed = ahead.state, event.time, np.flatnonzero(ahead.closed)
        q = self._model.integrate(state.q, t * (state.v + 0.5 * t * ahead.acceleration))
        v = state.v + t * ahead.acceleration
        if not isinstance(known, _Now):
            return refused_record(ahead.stamp_ns, event, closed, q, v, *known)
        if not (np.isfinite(q).all() and np.isfinite(v).all()):
            why = "the predicted state has numbers that are not finite"
            return refused_record(ahead.stamp_ns, event, closed, q, v, EventValidity.SINGULAR, why)
        covariance = known.covariance
        if covariance is not None:
            carry = transition(state.v, ahead.acceleration, known.gradient, t, self._model.floating_base)
            covariance = carry @ covariance @ carry.T
        if event.kind != EventKind.TOUCHDOWN:
            motion = known.motion
            if not isinstance(motion, Motion):
                return refused_record(ahead.stamp_ns, event, closed, q, v, *motion)
            if event.kind == EventKind.STICK:
                found = stick_ahead(known.system, motion, known.mode, event.contacts, q, v)
            else:
                (contact,) = event.contacts
                found = force_saltation(known.system, motion, known.mode, event.kind, contact, q, v, t)
            return single_record(ahead.stamp_ns, event, closed, q, v, found, covariance)
        deepest = min(event.contacts, key=lambda i: known.gaps[i])
        if known.gaps[deepest] < -self._deepest:
            why = f"contact {deepest} is {-known.gaps[deepest]:.3g} m deep in its surface"
            return refused_record(ahead.stamp_ns, event, closed, q, v, EventValidity.PENETRATING, why)
        cluster = self._solver.solve(q, v, event.contacts, closed.tolist(), state.effort, covariance=covariance)
        return cluster_record(ahead.stamp_ns, event, cluster, covariance, self._config.words)
