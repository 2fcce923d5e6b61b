"""What is foreseen of a landing beside its impact: its touches one by one, and how uncertain the velocity is that it
begins with."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hybrid_contact_ros.codes import EventKind, LandingPhase, Status
from hybrid_contact_ros.config import EstimatorConfig
from hybrid_contact_ros.estimation import velocity_noise
from hybrid_contact_ros.estimation.changed import changed
from hybrid_contact_ros.estimation.impact_ahead import ImpactAhead
from hybrid_contact_ros.estimation.landing_clusters import (
    Cluster,
    LandingChain,
    after_touches,
    cluster_of,
    impacting_contacts,
    never,
    shifted,
)
from hybrid_contact_ros.estimation.small_systems import solved
from hybrid_contact_ros.estimation.support import weight
from hybrid_contact_ros.estimation.velocity_ahead import (
    friction_margins,
    landing_map,
    make_regular,
    spread_axes,
)
from hybrid_contact_ros.estimation.velocity_sources import VelocitySources
from hybrid_contact_ros.impacts.landing_set import AT_ONCE, AT_REST
from hybrid_contact_ros.impacts.steps import SHORT, Steps
from hybrid_contact_ros.mechanics.model import RigidBodyModel
from hybrid_contact_ros.prediction import ImpactPrediction

Array = NDArray[np.float64]

_BASE = 6
_SLIPS = 0.4  # of the standard deviation of a gap's acceleration: that of a contact that may slip, along the ground
_SLOWEST = 0.02  # m/s, of what comes down to touch
_REMEMBERED = 16
_CUT = {"truncated": True}
_BENT = 0.1  # of the jump: a longer axis of the spread is solved anew at its ends, for what the map misses there


class LandingAhead:
    """Foresees landings of a robot by one configuration. Remembers nothing of the states."""

    def __init__(self, model: RigidBodyModel, config: EstimatorConfig) -> None:
        self._model, self._config, self._landing = model, config, config.landing
        self._driven = model.driven
        self._drives = np.eye(model.nv)[:, self._driven]
        self._weight = weight(model)
        self._chains: dict[bytes, LandingChain] = {}
        self.sources = VelocitySources(model, config)

    def warm(self) -> None:
        """Compile what the answers need."""
        velocity_noise.warm()
        n = self._model.nv
        chain = LandingChain(self._landing, np.full(1, 0.5), np.zeros(1), 2, n, self._driven)
        mass, rows, v = np.eye(n), np.zeros((3, n)), np.zeros(n)
        rows[:, :3] = np.eye(3, min(n, 3))
        v[0] = -1.0
        chain.shifts(mass, np.zeros(n), rows, v, Cluster(np.zeros((1, 1)), 0.0, 0.0, 1.0))
        chain.outcome(mass, np.zeros(n), rows, v)

    def with_noise(self, ahead: ImpactAhead) -> ImpactAhead:
        """The same, its touchdowns' bounds wider by the noise of gaps that the last states show, where nobody states
        it: a touch moves by (φ + T φ̇) / speed."""
        gap, rate = ahead.gap, ahead.gap_velocity
        if ahead.gaps is None or gap is None or rate is None or ahead.base_covariance is not None:
            return ahead
        sigma, m = ahead.gaps.sigma.tolist(), len(gap)
        noise, rough = sigma[:m], sigma[m:]
        times = ahead.event_times.copy()
        for i in np.flatnonzero(ahead.backed == EventKind.TOUCHDOWN).tolist():
            time, early, late = times[i].tolist()
            if not (math.isfinite(early + late) and time > 0.0):
                continue
            speed = max(gap[i] / time, -rate[i], _SLOWEST)
            more = self._config.prediction.bound_sigmas * math.hypot(noise[i], time * rough[i]) / speed
            times[i, 1] = max(time - math.hypot(time - early, more), min(early, 0.0))
            times[i, 2] = time + math.hypot(late - time, more)
        return changed(ahead, event_times=times)

    def contacts(self, ahead: ImpactAhead) -> tuple[NDArray[np.intp], float]:
        """Which contacts take part in the next impact, and when (s) it begins: with a landing that lasts, those whose
        touches nothing tells apart (:func:`~hybrid_contact_ros.estimation.landing_clusters.impacting_contacts`)."""
        landing = self._landing
        lasts = None if landing.duration_max == 0.0 else landing.duration_min
        return impacting_contacts(self._config.impact, ahead.closed, ahead.backed, ahead.event_times, lasts)

    def first_feet(self, ahead: ImpactAhead, contacts: NDArray[np.intp]) -> list[NDArray[np.intp]]:
        """The contacts that have landed after the first touch of a cluster, after the second and so on, without the
        last."""
        landing = self._landing
        if landing.duration_max == 0.0 or not landing.each_foot:
            return []
        return after_touches(contacts, ahead.closed, ahead.event_times)

    def told(
        self,
        found: ImpactPrediction,
        ahead: ImpactAhead,
        corners: NDArray[np.intp],
        unsure: Array | None,
        late: Callable[[], bool] = never,
    ) -> Steps[tuple[ImpactPrediction, Array]]:
        """The set with what is known of its touches' times; half-axes (g, nv) of what the spread of v⁻ adds to it. In
        steps.

        The model has been evaluated at the impact. corners: contacts that the set was made for. unsure: what
        :meth:`unsure` says. late: whether the set's time is over: of more than ``AT_ONCE`` contacts the rest of the
        cases is then left out, and the set says that it was cut.
        """
        model, landing = self._model, self._landing
        cluster = cluster_of(corners, ahead.closed, ahead.event_times, self._config.prediction.bound_sigmas)
        # A foot that comes so soon after another one belongs to the same landing, though to no cluster of it.
        continues = ahead.since_touch + found.time_to_impact <= self._config.impact.window
        times: dict[str, Any] = {
            "earliest": cluster.earliest,
            "latest": cluster.latest,
            "order_probability": cluster.probability,
            "phase": LandingPhase.INCOMPLETE if continues else LandingPhase.BEFORE,
        }
        none = np.empty((0, model.nv))
        known = ahead.effort is not None or not self._driven.any()  # without efforts nobody knows what flows between
        apart = known and landing.duration_max > 0.0 and bool(cluster.touch.max(initial=0.0) > 0.0)
        if found.status == Status.SINGULAR or not len(found.velocities) or (unsure is None and not apart):
            return changed(found, **times), none
        mass, bias, v = model.here.mass, model.here.bias, found.velocity_minus
        rows = model.rows.rows[corners].reshape(-1, model.nv)
        chain = self._chain(corners)
        if apart:
            shifts, cut = chain.shifts(mass, bias, rows, v, cluster, never if corners.size <= AT_ONCE else late)
            found = shifted(found, shifts, mass, **times, **(_CUT if cut else {}))
        else:
            found = changed(found, **times)
        if unsure is None:
            return found, none
        yield SHORT
        missed = self.sources.missed(ahead, found.time_to_impact)
        free = self._may_slip(ahead, corners, found.time_to_impact)
        if missed is not None:
            slowest = AT_REST * float(-(rows[::3] @ v).min(initial=0.0))
            free |= missed.slides(rows, self.sources.noise(ahead), slowest) & (ahead.closed[corners] != 0)
        middle, impulse, usable = chain.outcome(mass, bias, rows, v)
        if not usable:
            impulse = np.zeros(rows.shape[0])
        if free.any():
            impulse.reshape(-1, 3)[free] = 0.0
            sliding = rows.reshape(-1, 3, model.nv)[free, 1:].reshape(-1, model.nv)
            unsure = unsure + self._slides(mass, sliding, found.time_to_impact)
        if missed is not None:
            unsure = missed.covariance(unsure, self.sources.noise(ahead), mass)
        yield SHORT
        through = landing_map(mass, rows, model.friction[corners], impulse)
        after, before = spread_axes(mass, through, unsure, landing.spread)
        if not (usable and len(after) and after[-1] @ mass @ after[-1] > (_BENT * found.jump) ** 2):
            return found, after
        if corners.size > AT_ONCE and late():
            return changed(found, **_CUT), after
        return found, np.concatenate((after, chain.bends(mass, bias, rows, v, middle, before[-1], after[-1])))

    def _may_slip(self, ahead: ImpactAhead, corners: NDArray[np.intp], when: float) -> NDArray[np.bool_]:
        """Which contacts (k,) stand, but with so little friction to spare that they may slip before the impact: they
        hold no velocity back."""
        model, stands = self._model, ahead.closed[corners] != 0
        free = np.zeros(corners.size, dtype=np.bool_)
        held = corners[stands]
        if ahead.effort is not None and held.size and self._landing.load_rate > 0.0:
            rows = model.rows.rows[held].reshape(-1, model.nv)
            margins = friction_margins(model.here.mass, model.here.bias, rows, model.friction[held], ahead.acceleration)
            free[stands] = margins < self._landing.load_rate * self._weight * when
        return free

    def unsure(self, ahead: ImpactAhead, when: float) -> Array | None:
        """Covariance (nv, nv) of v⁻, but for contacts that may slip; None where sets are without its spread. The model
        has been evaluated at the impact."""
        landing = self._landing
        if not landing.spread > 0.0:
            return None
        # An effort that changes by r t from now on moves v⁻ by ½ r T² M⁻¹. One that follows a
        # position is foreseen; one that is commanded itself may be commanded anew at any time.
        foreseen = self._driven & False if ahead.commanded is None else ahead.commanded.follows
        drives = self._drives * ~foreseen[self._driven]
        moved = 0.5 * landing.effort_rate * when * when * solved(self._model.here.mass, drives)
        total = moved @ moved.T
        total += self.sources.noise(ahead)
        pushed = self.sources.pushed_before(ahead)
        if pushed is not None:
            total += np.outer(pushed.unsure, pushed.unsure)
        if landing.course > 0.0 and ahead.course is not None and not foreseen[self._driven].all():
            _, course = ahead.course.change(when, landing.course)
            total += np.outer(course, course)
        return np.asarray(total)

    def _slides(self, mass: Array, sliding: Array, when: float) -> Array:
        """What contacts that may slip add to the covariance (nv, nv) of v⁻. sliding: their tangents (r, nv)."""
        back = solved(mass, sliding.T)
        sigma = _SLIPS * self._config.activation.acceleration_sigma * when
        square = sliding @ back
        make_regular(square)
        moved = sigma * solved(square, back.T)
        return np.asarray(moved.T @ moved)

    def _chain(self, corners: NDArray[np.intp]) -> LandingChain:
        key = corners.tobytes()
        found = self._chains.get(key)
        if found is None:
            if len(self._chains) >= _REMEMBERED:
                self._chains.clear()
            model = self._model
            found = LandingChain(
                self._landing, model.friction[corners], model.restitution[corners], 2, model.nv, self._driven
            )
            self._chains[key] = found
        return found
