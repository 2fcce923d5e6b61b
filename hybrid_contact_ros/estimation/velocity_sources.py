"""v⁻ of the landing that comes next, by the source that told it best before the last ones.

The acceleration may be held, with its course and with slips that end; drives may follow their commands; lately after a
touch they may answer its push. What each of these missed before the last touches of a contact is known, once enough of
them were like this one, and the one whose errors are most alike is believed, less these errors.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from hybrid_contact_ros.codes import EventKind
from hybrid_contact_ros.config import EstimatorConfig
from hybrid_contact_ros.estimation.changed import changed
from hybrid_contact_ros.estimation.command_errors import Told
from hybrid_contact_ros.estimation.drive_commands import Reached, followed
from hybrid_contact_ros.estimation.drive_gains import SWINGS, Gains, learned
from hybrid_contact_ros.estimation.impact_ahead import ImpactAhead
from hybrid_contact_ros.estimation.state_covariance import state_covariance
from hybrid_contact_ros.estimation.velocity_ahead import Contacts, through_sticks
from hybrid_contact_ros.estimation.velocity_errors import ErrorsSeen, Missed
from hybrid_contact_ros.estimation.velocity_noise import VelocitiesSeen
from hybrid_contact_ros.mechanics.model import RigidBodyModel
from hybrid_contact_ros.mechanics.state import RobotState

Array = NDArray[np.float64]

_FOUND_ANEW = 1  # errors of commands, for a set with a deadline


class _Pushed(NamedTuple):
    """v⁻ (nv,) in the middle of what it may be, and the standard deviation of that, evenly between its ends."""

    middle: Array
    unsure: Array


class VelocitySources:
    """Foresees v⁻ of a robot by one configuration. Remembers nothing of the states."""

    def __init__(self, model: RigidBodyModel, config: EstimatorConfig) -> None:
        self._model, self._config, self._landing = model, config, config.landing
        self._driven = model.driven
        self._learned: tuple[VelocitiesSeen | None, Gains | None] = None, None
        self._answered: tuple[ImpactAhead | None, _Pushed | None] = None, None
        self._asked: tuple[ErrorsSeen | None, dict[bool, Missed | None]] = None, {}

    def by_the_best(self, ahead: ImpactAhead, when: float) -> ImpactAhead:
        """The same, with commands where these tell v⁻ better, and without where the acceleration does.

        Of both the errors before the last touches are compared, in situations like this one; where those of commands
        are not known, the others are believed, which are. Where nobody tells what drives are told, they go on as they
        do, and answer a push as they answered earlier ones.
        """
        if not when > 0.0:
            return ahead
        told = ahead if ahead.commanded is not None else self._as_told(ahead)
        held = self.missed(changed(ahead, commanded=None), when)
        if told is None or held is None:
            return ahead
        if told is not ahead and not held.settled:
            return ahead
        if not self._model.evaluate(RobotState(ahead.stamp_ns, ahead.q, ahead.v, ahead.effort)):
            return ahead
        mass = self._model.here.mass.copy()
        missed = self.missed(told, when)
        if missed is not None and missed.scatter(mass) <= held.scatter(mass):
            return told if missed.settled else ahead
        return changed(ahead, commanded=None)

    def commanded(self, ahead: ImpactAhead, when: float) -> Reached | None:
        """The same as :meth:`state`, with the effort there, where the drives are told what to do."""
        if ahead.commanded is None or not when > 0.0:
            return None
        state = RobotState(ahead.stamp_ns, ahead.q, ahead.v, ahead.effort)
        closed = np.flatnonzero(ahead.closed)
        reached = followed(self._model, state, ahead.commanded, closed, when, self._landing.course)
        missed = None if reached is None else self.missed(ahead, when)
        if reached is None or missed is None:
            return reached
        more = missed.middle(np.sqrt(np.diag(self.noise(ahead))))
        return Reached(self._model.integrate(reached.q, 0.5 * when * more), reached.v + more, reached.effort)

    def state(self, ahead: ImpactAhead, when: float) -> tuple[Array, Array]:
        """q and v⁻ when the first contact touches, ``when`` s after the state."""
        model, v, acceleration = self._model, ahead.v, ahead.acceleration
        missed = self.missed(ahead, when)
        if missed is not None and missed.settled:
            later = v + when * acceleration + missed.middle(np.sqrt(np.diag(self.noise(ahead))))
            return model.integrate(ahead.q, when * 0.5 * (v + later)), later
        pushed = self.pushed(ahead, when)
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

    def missed(self, ahead: ImpactAhead, when: float) -> Missed | None:
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

    def noise(self, ahead: ImpactAhead) -> Array:
        """Covariance (nv, nv) of the measured v: stated, or learned from the last states."""
        model, n = self._model, self._model.nv
        state = RobotState(ahead.stamp_ns, ahead.q, ahead.v, None, ahead.base_covariance, ahead.base_twist_in_world)
        known = state_covariance(state, model.floating_base, self._config.sensitivity)
        if known is not None:
            return np.asarray(known[n:, n:])
        return np.zeros((n, n)) if ahead.velocities is None else np.diag(ahead.velocities.sigma**2)

    def pushed(self, ahead: ImpactAhead, when: float) -> _Pushed | None:
        """v⁻ by drives that answer the push of a touch lately, as they answered pushes before; None where none is known
        to.

        What the touch has left of the velocities of contacts is stopped in the time of a landing, or goes on as the
        acceleration of the mode says: v⁻ is between both.
        """
        if self._answered[0] is not ahead:
            self._answered = ahead, self._answers(ahead, when)
        return self._answered[1]

    def pushed_before(self, ahead: ImpactAhead) -> _Pushed | None:
        """What :meth:`pushed` has said of these last, if anything."""
        return self._answered[1] if self._answered[0] is ahead else None

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
            self._learned = seen, learned(seen, self._model.drives, self._driven, sigmas)
        return self._learned[1]

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

    def _after_sticks(self, ahead: ImpactAhead, when: float) -> Array | None:
        """v⁻ where slips end before it; None where none does."""
        sticks = (ahead.backed == EventKind.STICK) & (ahead.event_times[:, 0] < when)
        if not sticks.any() or ahead.effort is None:
            return None
        later = self._through_sticks(ahead, when)
        return later if np.isfinite(later).all() else None

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
