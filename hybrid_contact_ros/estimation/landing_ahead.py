"""What is foreseen of a landing beside its impact: the state it begins with, its touches one by one, and how uncertain
the velocity is."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from hybrid_contact_ros.codes import EventKind, LandingPhase, Status
from hybrid_contact_ros.config import EstimatorConfig
from hybrid_contact_ros.estimation import velocity_noise
from hybrid_contact_ros.estimation.changed import changed
from hybrid_contact_ros.estimation.command_errors import Told
from hybrid_contact_ros.estimation.drive_commands import Reached, followed
from hybrid_contact_ros.estimation.drive_gains import SWINGS, Gains, learned
from hybrid_contact_ros.estimation.impact_ahead import ImpactAhead
from hybrid_contact_ros.estimation.landing_clusters import (
    Cluster,
    LandingChain,
    after_touches,
    cluster_of,
    impacting_contacts,
    shifted,
)
from hybrid_contact_ros.estimation.small_systems import solved
from hybrid_contact_ros.estimation.state_covariance import state_covariance
from hybrid_contact_ros.estimation.velocity_ahead import (
    Contacts,
    friction_margins,
    landing_map,
    make_regular,
    spread_axes,
    through_sticks,
)
from hybrid_contact_ros.estimation.velocity_errors import ErrorsSeen, Missed
from hybrid_contact_ros.estimation.velocity_noise import VelocitiesSeen
from hybrid_contact_ros.impacts.landing_set import AT_REST
from hybrid_contact_ros.impacts.steps import SHORT, Steps
from hybrid_contact_ros.mechanics.model import RigidBodyModel
from hybrid_contact_ros.mechanics.state import RobotState
from hybrid_contact_ros.prediction import ImpactPrediction

Array = NDArray[np.float64]

_BASE = 6
_GRAVITY = 9.81
_SLIPS = 0.4  # of the standard deviation of a gap's acceleration: that of a contact that may slip, along the ground
_SLOWEST = 0.02  # m/s, of what comes down to touch
_REMEMBERED = 16
_BENT = 3  # longest axes of the spread whose landing is solved anew, for what the map to first order misses
_FOUND_ANEW = 1  # errors of commands, for a set with a deadline


class _Pushed(NamedTuple):
    """v⁻ (nv,) in the middle of what it may be, and the standard deviation of that, evenly between its ends."""

    middle: Array
    unsure: Array


class LandingAhead:
    """Foresees landings of a robot by one configuration. Remembers nothing of the states."""

    def __init__(self, model: RigidBodyModel, config: EstimatorConfig) -> None:
        self._model, self._config, self._landing = model, config, config.landing
        self._driven = model.driven
        self._drives = np.eye(model.nv)[:, self._driven]
        self._weight = _GRAVITY * sum(inertia.mass for inertia in list(model.pinocchio_model.inertias)[1:])
        self._chains: dict[bytes, LandingChain] = {}
        self._learned: tuple[VelocitiesSeen | None, Gains | None] = None, None
        self._answered: tuple[ImpactAhead | None, _Pushed | None] = None, None
        self._asked: tuple[ErrorsSeen | None, dict[bool, Missed | None]] = None, {}

    def warm(self) -> None:
        """Compile what the answers need."""
        velocity_noise.warm()
        n = self._model.nv
        chain = LandingChain(self._landing, np.full(1, 0.5), np.zeros(1), 2, n, self._driven)
        mass, rows, v = np.eye(n), np.zeros((3, n)), np.zeros(n)
        rows[:, :3] = np.eye(3, min(n, 3))
        v[0] = -1.0
        chain.shifts(mass, np.zeros(n), rows, v, Cluster(np.zeros((1, 1)), 0.0, 0.0, 1.0))
        chain.impulse(mass, np.zeros(n), rows, v)

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

    def by_the_best(self, ahead: ImpactAhead, when: float) -> ImpactAhead:
        """The same, with commands where these tell v⁻ better, and without where the acceleration does.

        Of both the errors before the last touches are compared, in situations like this one; where those of commands
        are not known, the others are believed, which are. Where nobody tells what drives are told, they go on as they
        do, and answer a push as they answered earlier ones.
        """
        if not when > 0.0:
            return ahead
        told = ahead if ahead.commanded is not None else self._as_told(ahead)
        held = self._missed(changed(ahead, commanded=None), when)
        if told is None or held is None:
            return ahead
        if told is not ahead and not held.settled:
            return ahead
        if not self._model.evaluate(RobotState(ahead.stamp_ns, ahead.q, ahead.v, ahead.effort)):
            return ahead
        mass = self._model.here.mass.copy()
        missed = self._missed(told, when)
        if missed is not None and missed.scatter(mass) <= held.scatter(mass):
            return told if missed.settled else ahead
        return changed(ahead, commanded=None)

    def _as_told(self, ahead: ImpactAhead) -> ImpactAhead | None:
        """The same with what drives seem to be told, lately after a touch; None where nobody knows their gains."""
        gains = self._gains(ahead)
        if gains is None or ahead.effort is None:
            return None
        angles = self._model.drives.angles(ahead.q)
        return changed(ahead, commanded=gains.as_commanded(angles, ahead.v, ahead.effort))

    def _gains(self, ahead: ImpactAhead) -> Gains | None:
        """Of drives, lately after a touch."""
        seen = ahead.drives
        if not (self._landing.course > 0.0 and 0.0 <= ahead.since_touch < SWINGS) or seen is None:
            return None
        if self._learned[0] is not seen:  # the sets of one state ask for the same
            config = self._config.sensitivity
            sigmas = config.joint_position_sigma, config.joint_velocity_sigma
            self._learned = seen, learned(seen, self._driven, sigmas)
        return self._learned[1]

    def commanded(self, ahead: ImpactAhead, when: float) -> Reached | None:
        """The same as :meth:`state`, with the effort there, where the drives are told what to do."""
        if ahead.commanded is None or not when > 0.0:
            return None
        state = RobotState(ahead.stamp_ns, ahead.q, ahead.v, ahead.effort)
        closed = np.flatnonzero(ahead.closed)
        reached = followed(self._model, state, ahead.commanded, closed, when, self._landing.course)
        missed = None if reached is None else self._missed(ahead, when)
        if reached is None or missed is None:
            return reached
        more = missed.middle(np.sqrt(np.diag(self._noise(ahead))))
        return Reached(self._model.integrate(reached.q, 0.5 * when * more), reached.v + more, reached.effort)

    def _follow(self, told: Told, seconds: float) -> Array | None:
        """v (nv,) to which commanded drives were foreseen to take the robot from a state of the past."""
        gains, times = self._learned[1], self._landing.course
        if told.commands is not None:
            commands = told.commands.ahead()
        elif gains is None or told.effort is None:
            return None
        else:
            commands = gains.as_commanded(self._model.drives.angles(told.q), told.v, told.effort)
        if commands is None:
            return None
        state = RobotState(0, told.q, told.v, told.effort)
        found = followed(self._model, state, commands, told.closed, seconds, times)
        return None if found is None else found.v

    def state(self, ahead: ImpactAhead, when: float) -> tuple[Array, Array]:
        """q and v⁻ when the first contact touches, ``when`` s after the state."""
        model, v, acceleration = self._model, ahead.v, ahead.acceleration
        missed = self._missed(ahead, when)
        if missed is not None and missed.settled:
            later = v + when * acceleration + missed.middle(np.sqrt(np.diag(self._noise(ahead))))
            return model.integrate(ahead.q, when * 0.5 * (v + later)), later
        pushed = self._pushed(ahead, when)
        if pushed is not None:
            middle = pushed.middle
            return model.integrate(ahead.q, when * 0.5 * (v + middle)), middle
        if self._landing.course > 0.0:
            sticks = self._after_sticks(ahead, when)
            if sticks is not None:
                return model.integrate(ahead.q, when * 0.5 * (v + sticks)), sticks
            if ahead.course is not None:
                change, _ = ahead.course.change(when, self._landing.course)  # of q a third of that, times the time
                q = model.integrate(ahead.q, when * (v + 0.5 * when * acceleration + change / 3.0))
                return q, v + when * acceleration + change
        return model.integrate(ahead.q, when * (v + 0.5 * when * acceleration)), v + when * acceleration

    def _after_sticks(self, ahead: ImpactAhead, when: float) -> Array | None:
        """v⁻ where slips end before it; None where none does."""
        sticks = (ahead.backed == EventKind.STICK) & (ahead.event_times[:, 0] < when)
        if not sticks.any() or ahead.effort is None:
            return None
        later = self._through_sticks(ahead, when)
        return later if np.isfinite(later).all() else None

    def _missed(self, ahead: ImpactAhead, when: float) -> Missed | None:
        """What such extrapolations to the touch of the contact that is due first missed before: of commanded drives
        where there are commands, of the acceleration held where there are none."""
        errors = ahead.errors
        if errors is None or self._landing.course == 0.0:
            return None
        if self._asked[0] is not errors:
            self._asked = errors, {}
        known, commanded = self._asked[1], ahead.commanded is not None
        if commanded not in known:  # the sets of one state ask for the same
            due = int(np.where(ahead.backed == EventKind.TOUCHDOWN, ahead.event_times[:, 0], np.inf).argmin())
            most = _FOUND_ANEW if self._config.impact.deadline > 0.0 else None
            known[commanded] = (
                errors.before_told(due, when, self._follow, most) if commanded else errors.before(due, when)
            )
        return known[commanded]

    def _pushed(self, ahead: ImpactAhead, when: float) -> _Pushed | None:
        """v⁻ by drives that answer the push of a touch lately, as they answered pushes before; None where none is known
        to.

        What the touch has left of the velocities of contacts is stopped in the time of a landing, or goes on as the
        acceleration of the mode says: v⁻ is between both.
        """
        if self._answered[0] is not ahead:
            self._answered = ahead, self._answers(ahead, when)
        return self._answered[1]

    def _answers(self, ahead: ImpactAhead, when: float) -> _Pushed | None:
        told = self._as_told(ahead) if when > 0.0 else None
        drives = None if told is None else told.commanded
        if drives is None:
            return None
        state, none = RobotState(ahead.stamp_ns, ahead.q, ahead.v, ahead.effort), np.zeros(self._model.nv)
        held = drives._replace(command=changed(drives.command, stiffness=none, damping=none))
        closed = np.flatnonzero(ahead.closed)
        stopped, pushed = (followed(self._model, state, each, closed, when, 0.0) for each in (held, drives))
        if stopped is None or pushed is None:
            return None
        sticks = self._after_sticks(ahead, when)
        going = ahead.v + when * ahead.acceleration if sticks is None else sticks
        going = going + pushed.v - stopped.v
        return _Pushed(0.5 * (pushed.v + going), (pushed.v - going) / math.sqrt(12.0))

    def _noise(self, ahead: ImpactAhead) -> Array:
        """Covariance (nv, nv) of the measured v: stated, or learned from the last states."""
        model, n = self._model, self._model.nv
        state = RobotState(ahead.stamp_ns, ahead.q, ahead.v, None, ahead.base_covariance, ahead.base_twist_in_world)
        known = state_covariance(state, model.floating_base, self._config.sensitivity)
        if known is not None:
            return np.asarray(known[n:, n:])
        return np.zeros((n, n)) if ahead.velocities is None else np.diag(ahead.velocities.sigma**2)

    def _through_sticks(self, ahead: ImpactAhead, when: float) -> Array:
        model = self._model
        closed = np.flatnonzero(ahead.closed)
        if not model.evaluate(RobotState(ahead.stamp_ns, ahead.q, ahead.v, ahead.effort)):
            return np.full(model.nv, np.nan)
        rows = model.rows.rows[closed].reshape(-1, model.nv)
        now = Contacts(
            model.here.mass, model.here.bias, rows, model.rows.drift[closed].reshape(-1), model.friction[closed]
        )
        return through_sticks(now, ahead.v.astype(np.float64), when)

    def told(
        self, found: ImpactPrediction, ahead: ImpactAhead, corners: NDArray[np.intp], unsure: Array | None
    ) -> Steps[tuple[ImpactPrediction, Array]]:
        """The set with what is known of its touches' times; half-axes (g, nv) of what the spread of v⁻ adds to it. In
        steps.

        The model has been evaluated at the impact. corners: contacts that the set was made for. unsure: what
        :meth:`unsure` says.
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
            found = shifted(found, chain.shifts(mass, bias, rows, v, cluster), mass, **times)
        else:
            found = changed(found, **times)
        if unsure is None:
            return found, none
        yield SHORT
        missed = self._missed(ahead, found.time_to_impact)
        free = self._may_slip(ahead, corners, found.time_to_impact)
        if missed is not None:
            free |= missed.slides(rows, self._noise(ahead), AT_REST * float(-(rows[::3] @ v).min(initial=0.0))) & (
                ahead.closed[corners] != 0
            )
        impulse = chain.impulse(mass, bias, rows, v)
        if free.any():
            impulse.reshape(-1, 3)[free] = 0.0
            sliding = rows.reshape(-1, 3, model.nv)[free, 1:].reshape(-1, model.nv)
            unsure = unsure + self._slides(mass, sliding, found.time_to_impact)
        if missed is not None:
            unsure = missed.covariance(unsure, self._noise(ahead), mass)
        yield SHORT
        through = landing_map(mass, rows, model.friction[corners], impulse)
        after, before = spread_axes(mass, through, unsure, landing.spread)
        longest = min(_BENT, len(after))
        bent = chain.bends(mass, bias, rows, v, before[-longest:], after[-longest:]) if longest else none
        return found, np.concatenate((after, bent))

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
        total += self._noise(ahead)
        pushed = self._answered[1] if self._answered[0] is ahead else None
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
