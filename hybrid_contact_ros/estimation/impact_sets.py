"""The post-impact set that is about to be needed, and the one that somebody asks for."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from hybrid_contact_ros.config import EstimatorConfig
from hybrid_contact_ros.estimation.impact import (
    ImpactRequest,
    check_config,
    impact_law,
    impacting_contacts,
    predict_impact,
)
from hybrid_contact_ros.estimation.moment import Moment
from hybrid_contact_ros.estimation.vertices import ContactVertices
from hybrid_contact_ros.mechanics.contact_sets import contact_set
from hybrid_contact_ros.mechanics.model import RigidBodyModel
from hybrid_contact_ros.mechanics.problem import ContactProblem
from hybrid_contact_ros.mechanics.state import RobotState
from hybrid_contact_ros.prediction import ImpactPrediction


class ImpactSets:
    """Post-impact velocity sets of a robot by one configuration. Remembers nothing of the states."""

    def __init__(self, model: RigidBodyModel, config: EstimatorConfig) -> None:
        """Raises ValueError for an impact law that does not exist, or numbers that no set could be drawn with."""
        self._model, self._config = model, config.impact
        self._gap_on = config.activation.gap_on
        self._vertices = ContactVertices(config, model.contacts)
        self._law = impact_law(config.impact, model.restitution)
        check_config(config.impact)

    def ahead(self, moment: Moment) -> ImpactPrediction | None:
        """The set of the next impact after a moment, extrapolated with the acceleration of its mode; None when no
        touchdown is predicted within ``impact.horizon``."""
        config, state = self._config, moment.state
        contacts, when = impacting_contacts(config, moment.closed, moment.backed, moment.event_times)
        if not contacts.size:
            return None
        q = self._model.integrate(state.q, when * (state.v + 0.5 * when * moment.acceleration))
        v = state.v + when * moment.acceleration
        if not (np.isfinite(q).all() and np.isfinite(v).all()):
            return None
        problem = self._model.problem(RobotState(state.stamp_ns, q, v, state.effort))
        if not np.isfinite(problem.bias_force).all():
            return None
        request = ImpactRequest(
            stamp_ns=state.stamp_ns,
            time_to_impact=when,
            contacts=contacts,
            corners=self._vertices.of(contacts),
            law=self._law,
            samples=config.samples,
            seed=config.seed,
            deadline_ns=int(1e9 * config.deadline) or None,
        )
        return predict_impact(problem, request, config)

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
        limit_ns = int(1e9 * config.deadline) if deadline_ns is None else deadline_ns
        request = ImpactRequest(
            stamp_ns=state.stamp_ns,
            time_to_impact=0.0,
            contacts=chosen,
            corners=self._vertices.of(chosen),
            law=self._law,
            samples=config.samples if samples is None else samples,
            seed=config.seed if seed is None else seed,
            deadline_ns=limit_ns or None,
        )
        return predict_impact(problem, request, config)
