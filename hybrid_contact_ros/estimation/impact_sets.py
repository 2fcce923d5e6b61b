"""The post-impact set that is about to be needed, and the one that somebody asks for."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from hybrid_contact_ros.codes import EventKind
from hybrid_contact_ros.config import EstimatorConfig
from hybrid_contact_ros.estimation.impact import (
    ImpactRequest,
    check_config,
    impact_law,
    impact_steps,
    impacting_contacts,
    landing_of,
)
from hybrid_contact_ros.estimation.moment import Moment
from hybrid_contact_ros.estimation.vertices import ContactVertices
from hybrid_contact_ros.impacts.landing import Landing
from hybrid_contact_ros.impacts.landing_model import LandingTerms
from hybrid_contact_ros.impacts.landing_set import hits
from hybrid_contact_ros.impacts.steps import SHORT, Steps, without_pauses
from hybrid_contact_ros.mechanics.contact_sets import contact_set
from hybrid_contact_ros.mechanics.model import RigidBodyModel
from hybrid_contact_ros.mechanics.problem import ContactProblem
from hybrid_contact_ros.mechanics.state import RobotState
from hybrid_contact_ros.prediction import ImpactPrediction

Array = NDArray[np.float64]
Codes = NDArray[np.uint8]

_TOUCHDOWN = int(EventKind.TOUCHDOWN)
_LANDINGS_REMEMBERED = 16  # A robot lands on a few sets of corners again and again; a quadruped has 15.


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class ImpactAhead:
    """A touchdown is predicted: all that its set depends on, in arrays that nobody else has.

    Attributes:
        stamp_ns, q (nq,), v (nv,), effort (nv,) or None: of the state. acceleration: v̇ (nv,) of its mode.
        closed, backed (m,), event_times (m, 3): of its :class:`~hybrid_contact_ros.estimation.moment.Moment`.
    """

    stamp_ns: int
    q: Array
    v: Array
    effort: Array | None
    acceleration: Array
    closed: Codes
    backed: Codes
    event_times: Array

    @classmethod
    def of(cls, moment: Moment, horizon: float) -> ImpactAhead | None:
        """None where no touchdown is predicted within ``horizon`` s: there would be no set."""
        kinds = moment.backed.tobytes()  # a bytes object holds integers
        if _TOUCHDOWN not in kinds:
            return None
        times = moment.event_times[:, 0].tolist()
        if all(when > horizon for when, kind in zip(times, kinds, strict=True) if kind == _TOUCHDOWN):
            return None
        state = moment.state
        return cls(
            stamp_ns=state.stamp_ns,
            q=state.q.copy(),
            v=state.v.copy(),
            effort=None if state.effort is None else state.effort.copy(),
            acceleration=moment.acceleration.copy(),
            closed=moment.closed.copy(),
            backed=moment.backed.copy(),
            event_times=moment.event_times.copy(),
        )


class ImpactSets:
    """Post-impact velocity sets of a robot by one configuration. Remembers nothing of the states."""

    def __init__(self, model: RigidBodyModel, config: EstimatorConfig) -> None:
        """Raises ValueError for an impact law that does not exist, or numbers that no set could be drawn with."""
        self._model, self._config = model, config.impact
        self._terms = LandingTerms.of(config.landing, config.impact.friction_margin)
        self._driven = np.arange(model.nv) >= (6 if model.floating_base else 0)
        self._gap_on = config.activation.gap_on
        self._vertices = ContactVertices(config, model.contacts)
        self._law = impact_law(config.impact, model.restitution)
        check_config(config.impact)
        self._contacts = model.problem(RobotState(0, model.neutral(), np.zeros(model.nv)))  # for what is constant
        self._landings: dict[bytes, Landing] = {}

    def _landing(self, corners: NDArray[np.intp]) -> Landing:
        """What draws the sets of these corners."""
        key = corners.tobytes()
        found = self._landings.get(key)
        if found is None:
            if len(self._landings) >= _LANDINGS_REMEMBERED:
                self._landings.clear()
            found = landing_of(
                self._contacts.select(corners),
                self._law,
                self._config,
                self._terms,
                self._driven,
                self._vertices.soles(corners),
            )
            self._landings[key] = found
        return found

    def _lasting(self, effort: Array | None) -> bool:
        """Whether the forces are known that act while an impact lasts: all are where nothing is driven."""
        return effort is not None or not self._driven.any()

    def ahead(self, ahead: ImpactAhead | None, sampled: bool = False) -> Steps[ImpactPrediction | None]:
        """The set of the next impact, extrapolated with the acceleration of the mode, in steps; None when no touchdown
        is predicted within ``impact.horizon``. ``sampled`` is as of
        :func:`~hybrid_contact_ros.estimation.impact.impact_steps`."""
        if ahead is None:
            return None
        config = self._config
        contacts, when = impacting_contacts(config, ahead.closed, ahead.backed, ahead.event_times)
        if not contacts.size:
            return None
        model, corners = self._model, self._vertices.of(contacts)
        q = model.integrate(ahead.q, when * (ahead.v + 0.5 * when * ahead.acceleration))
        v = ahead.v + when * ahead.acceleration
        yield SHORT
        if not model.evaluate(RobotState(ahead.stamp_ns, q, v, ahead.effort)):
            return None
        request = ImpactRequest(
            stamp_ns=ahead.stamp_ns,
            time_to_impact=when,
            contacts=contacts,
            corners=corners,
            law=self._law,
            samples=config.samples,
            seed=config.seed,
            deadline_ns=int(1e9 * config.deadline) or None,
            bias=model.here.bias,
            hitting=ahead.closed[corners] == 0,
            lasting=self._lasting(ahead.effort),
        )
        landing = self._landing(corners)
        return (yield from impact_steps(landing, model.here.mass, model.rows.rows, v, request, sampled))

    def of_state(
        self,
        state: RobotState,
        problem: ContactProblem,
        contacts: Iterable[int] | None,
        gap_tolerance: float | None,
        samples: int | None,
        seed: int | None,
        deadline_ns: int | None,
    ) -> ImpactPrediction:
        """The set of a state, as if the contacts touched now; arguments and errors as of
        :meth:`~hybrid_contact_ros.estimator.ContactEstimator.impact`, None for the configured ones."""
        config = self._config
        if contacts is None:
            limit = self._gap_on if gap_tolerance is None else gap_tolerance
            chosen = np.flatnonzero(problem.gap <= limit)
        else:
            chosen = np.array(sorted(contact_set("contacts", contacts, problem.contacts)), dtype=np.intp)
        corners = self._vertices.of(chosen)
        limit_ns = int(1e9 * config.deadline) if deadline_ns is None else deadline_ns
        request = ImpactRequest(
            stamp_ns=state.stamp_ns,
            time_to_impact=0.0,
            contacts=chosen,
            corners=corners,
            law=self._law,
            samples=config.samples if samples is None else samples,
            seed=config.seed if seed is None else seed,
            deadline_ns=limit_ns or None,
            bias=problem.bias_force,
            hitting=hits(problem.select(corners).jacobian(), problem.velocity, problem.tangents),
            lasting=self._lasting(state.effort),
        )
        landing = self._landing(corners)
        rows = problem.jacobian().reshape(problem.contacts, 1 + problem.tangents, problem.nv)
        return without_pauses(impact_steps(landing, problem.mass, rows, problem.velocity, request))
