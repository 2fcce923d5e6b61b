"""The post-impact set that is about to be needed, and the one that somebody asks for."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from hybrid_contact_ros.codes import LandingPhase
from hybrid_contact_ros.config import EstimatorConfig
from hybrid_contact_ros.estimation.changed import changed
from hybrid_contact_ros.estimation.impact import (
    ImpactRequest,
    check_config,
    impact_law,
    impact_steps,
    landing_of,
)
from hybrid_contact_ros.estimation.impact_ahead import ImpactAhead, LandingBegun
from hybrid_contact_ros.estimation.impact_controls import other_terms, with_basis, with_controls
from hybrid_contact_ros.estimation.landing_ahead import LandingAhead
from hybrid_contact_ros.estimation.set_costs import Clock, SetCosts
from hybrid_contact_ros.estimation.touch_clusters import impacting_contacts
from hybrid_contact_ros.estimation.vertices import ContactVertices
from hybrid_contact_ros.impacts import landing_bounds
from hybrid_contact_ros.impacts.invariant_basis import InvariantBasis, OtherTerms, basis_of
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

_LANDINGS_REMEMBERED = 16  # A robot lands on a few sets of corners again and again; a quadruped has 15.


class _AtImpact(NamedTuple):
    """What the sets of one state have in common."""

    ahead: ImpactAhead
    when: float  # s
    v: Array  # v⁻
    unsure: Array | None  # covariance of v⁻
    basis: InvariantBasis
    sampled: bool


class ImpactSets:
    """Post-impact velocity sets of a robot by one configuration. Remembers nothing of the states, but how long their
    sets took."""

    def __init__(self, model: RigidBodyModel, config: EstimatorConfig, constant: ContactProblem | None = None) -> None:
        """``constant``: a problem of the model, for what is the same in all states; else one is made.

        Raises ValueError for an impact law that does not exist, or numbers that no set could be drawn with."""
        self._model, self._config = model, config.impact
        self._terms = LandingTerms.of(config.landing, config.impact.friction_margin)
        self._driven = model.driven
        self._landing_config = config.landing
        self._gap_on = config.activation.gap_on
        self._vertices = ContactVertices(config, model.contacts)
        self._law = impact_law(config.impact, model.restitution)
        check_config(config.impact)
        self._foreseen = LandingAhead(model, config)
        self._contacts = constant or model.problem(RobotState(0, model.neutral(), np.zeros(model.nv)))
        self._landings: dict[bytes, Landing] = {}
        self._costs = SetCosts()
        landing = config.landing
        self._lasts = 0.5 * (landing.duration_min + landing.duration_max)
        self._kept: tuple[ImpactAhead | None, ImpactPrediction | None] = None, None

    def tuned(self, config: EstimatorConfig) -> ImpactSets:
        """The same robot's by another configuration. Evaluates nothing, so that another thread may use the model.

        Raises:
            ValueError: as the constructor; or other kernels would be needed than those that are compiled.
        """
        found = ImpactSets(self._model, config, self._contacts)
        if found._law != self._law:
            raise ValueError(
                f"impact.restitution_margin {config.impact.restitution_margin:g} needs the law {found._law!r}, and the "
                f"node was configured with {self._law!r}: clean the node up first, then set it"
            )
        if found._terms.off != self._terms.off:
            raise ValueError("landing: terms cannot be switched on or off in between: clean the node up first")
        return found

    def warm(self) -> None:
        """Compile what sets of impacts ahead need beside those of states (:meth:`of_state`)."""
        self._foreseen.warm()
        if not self._terms.off:
            landing_bounds.warm()

    def touch_times(self, ahead: ImpactAhead) -> Array:
        """(m, 3) s: time, earliest, latest of each next event, as sets are made for them."""
        return self._foreseen.with_noise(ahead).event_times

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

    def _other(self, lasting: bool) -> OtherTerms:
        return other_terms(self._landing_config, self._model.floating_base, lasting)

    def ahead(self, ahead: ImpactAhead | None, sampled: bool = False) -> Steps[ImpactPrediction | None]:
        """The set of the next impact, extrapolated with the acceleration of the mode, in steps; None when no touchdown
        is predicted within ``impact.horizon``. ``sampled`` is as of
        :func:`~hybrid_contact_ros.estimation.impact.impact_steps`."""
        if ahead is None:
            return None
        clock = Clock()
        return (yield from clock.over(self._in_time(ahead, clock, sampled)))

    def _in_time(self, ahead: ImpactAhead, clock: Clock, sampled: bool) -> Steps[ImpactPrediction | None]:
        """The same by a clock that stops for pauses: of what comes next, and of a landing under way. As long as an
        impact lasts, the one that is nearer in time is the main one, which is alone where there is no time for both."""
        begun = ahead.begun
        if begun is None:
            return (yield from self._cluster(ahead, clock, sampled))
        when = self._foreseen.contacts(ahead)[1]
        first = begun.since <= self._lasts and not when <= begun.since
        limit = 1e9 * self._config.deadline
        known = self._kept[0] is begun.foreseen  # it costs nothing
        steps = [self._cluster(ahead, clock, sampled), self._under_way(ahead, begun, clock, sampled)]
        found = yield from steps.pop(first)
        if found is not None and limit and clock.now() > 0.5 * limit and (first or not known):
            return found
        beside = yield from steps.pop()
        if found is None or beside is None:
            return found or beside
        others = (*beside.after_each, changed(beside, after_each=()))
        return changed(found, after_each=(*others, *found.after_each))

    def _under_way(
        self, ahead: ImpactAhead, begun: LandingBegun, clock: Clock, sampled: bool
    ) -> Steps[ImpactPrediction | None]:
        """The set that the last state before the landing foresaw, made once."""
        foreseen, found = begun.foreseen, self._kept[1]
        if self._kept[0] is not foreseen:
            found = yield from self._cluster(foreseen, clock, sampled)
            self._kept = foreseen, found
        if found is None:
            return None
        passed = 1e-9 * (ahead.stamp_ns - foreseen.stamp_ns)
        phase = LandingPhase.INCOMPLETE if begun.coming else LandingPhase.COMPLETE
        after = tuple(_later(one, ahead.stamp_ns, passed, LandingPhase.INCOMPLETE) for one in found.after_each)
        return changed(_later(found, ahead.stamp_ns, passed, phase), after_each=after if begun.coming else ())

    def _cluster(self, ahead: ImpactAhead, clock: Clock, sampled: bool) -> Steps[ImpactPrediction | None]:
        """The set of the touches that come next. Each set has ``impact.deadline``, whatever it consists of, and what
        earlier ones left of theirs; of a cluster, sets after its first feet that do not fit in are left out."""
        foreseen, model, limit = self._foreseen, self._model, 1e9 * self._config.deadline
        ahead = foreseen.with_noise(ahead)
        yield SHORT
        contacts, when = foreseen.contacts(ahead)
        if not contacts.size:
            return None
        sources = foreseen.sources
        ahead = sources.by_the_best(ahead, when)
        reached = sources.commanded(ahead, when)
        if reached is not None:
            q, v, ahead = reached.q, reached.v, changed(ahead, effort=reached.effort)
        else:
            q, v = sources.state(ahead, when)
        yield SHORT
        if not model.evaluate(RobotState(ahead.stamp_ns, q, v, ahead.effort)):
            return None
        unsure = foreseen.unsure(ahead, when)
        yield SHORT
        # Feet that land soon after, in an impact of their own, act while a controller leans on the basis.
        acting = impacting_contacts(self._config, ahead.closed, ahead.backed, ahead.event_times)[0]
        basis = basis_of(model.here.mass, model.rows.rows[acting].reshape(-1, model.nv))
        impact = _AtImpact(ahead, when, v, unsure, basis, sampled)
        found = yield from self._set(impact, contacts, clock, limit - clock.now())
        after: list[ImpactPrediction] = []
        for first in foreseen.first_feet(ahead, contacts):
            left = (2 + len(after)) * limit - clock.now()
            if limit and self._costs.rest(self._vertices.of(first).tobytes()) > left:
                break
            yield SHORT
            part = yield from self._set(impact, first, clock, left)
            after.append(changed(part, phase=LandingPhase.INCOMPLETE))
        return changed(found, after_each=tuple(after)) if after else found

    def _set(
        self, impact: _AtImpact, contacts: NDArray[np.intp], clock: Clock, left_ns: float
    ) -> Steps[ImpactPrediction]:
        """The set of these contacts at the state that the model has evaluated."""
        config, model, ahead, corners = self._config, self._model, impact.ahead, self._vertices.of(contacts)
        if not (ahead.closed[corners] == 0).any():  # what touches is a point between corners that are closed
            corners = np.union1d(corners, contacts[ahead.closed[contacts] == 0])
        costs, key, begin = self._costs, corners.tobytes(), clock.now()
        limited = config.deadline > 0.0
        request = ImpactRequest(
            stamp_ns=ahead.stamp_ns,
            time_to_impact=impact.when,
            contacts=contacts,
            corners=corners,
            law=self._law,
            samples=config.samples,
            seed=config.seed,
            deadline_ns=max(int(left_ns), 1) if limited else None,
            bias=model.here.bias,
            hitting=ahead.closed[corners] == 0,
            lasting=self._lasting(ahead.effort),
            friction=None if ahead.friction is None else (ahead.friction[0][corners], ahead.friction[1][corners]),
            at_most=costs.samples(key, left_ns) if limited else None,
        )
        first = key not in self._landings  # it lays out its arrays
        landing = self._landing(corners)
        found = yield from impact_steps(landing, model.here.mass, model.rows.rows, impact.v, request, impact.sampled)
        yield SHORT

        def late() -> bool:
            return limited and clock.now() - begin > left_ns

        found, spread = yield from self._foreseen.told(found, ahead, corners, impact.unsure, late)
        yield SHORT
        found = with_basis(found, impact.basis, model.here.bias, self._other(request.lasting), spread)
        if limited and not first:
            costs.learn(key, clock.now() - begin, *landing.sampling)
        return self._stated(found)

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
        found = without_pauses(impact_steps(landing, problem.mass, rows, problem.velocity, request))
        terms = self._other(request.lasting)
        return self._stated(with_controls(found, problem.mass, rows[chosen], problem.bias_force, terms))

    def _stated(self, found: ImpactPrediction) -> ImpactPrediction:
        """With the coverage that the configuration states of sets with these terms and this margin, if any."""
        landing = self._landing_config
        if found.generators is None or not landing.level > 0.0:
            return found
        return changed(
            found,
            level=landing.level,
            calibration_count=landing.calibration_count,
            calibration_method=landing.calibration_method,
        )


def _later(found: ImpactPrediction, stamp_ns: int, passed: float, phase: LandingPhase) -> ImpactPrediction:
    """The same set, told ``passed`` s later."""
    return changed(
        found,
        stamp_ns=stamp_ns,
        time_to_impact=found.time_to_impact - passed,
        earliest=found.earliest - passed,
        latest=found.latest - passed,
        phase=phase,
    )
