"""What an estimator remembers of the states so far, for the set of the next landing."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hybrid_contact_ros.codes import EventKind
from hybrid_contact_ros.config import EstimatorConfig
from hybrid_contact_ros.estimation import drive_gains
from hybrid_contact_ros.estimation.changed import changed
from hybrid_contact_ros.estimation.command_errors import Told
from hybrid_contact_ros.estimation.drive_commands import CommandCourse
from hybrid_contact_ros.estimation.friction_memory import FrictionMemory
from hybrid_contact_ros.estimation.impact_ahead import ImpactAhead
from hybrid_contact_ros.estimation.landing_phases import LandingPhases
from hybrid_contact_ros.estimation.moment import Moment
from hybrid_contact_ros.estimation.velocity_ahead import Course
from hybrid_contact_ros.estimation.velocity_errors import VelocityErrors
from hybrid_contact_ros.estimation.velocity_noise import VelocityNoise
from hybrid_contact_ros.kernels.estimation.friction_bounds import FrictionBounds
from hybrid_contact_ros.mechanics.model import RigidBodyModel
from hybrid_contact_ros.prediction import Event

Array = NDArray[np.float64]

_GAPS_SEEN = 64  # states whose gaps tell of their noise


class LandingForesight:
    """The recent course of accelerations, velocities, gaps, commands and drives, what friction has shown itself to be,
    how far extrapolated velocities were off at earlier touches, and the landing that is under way."""

    def __init__(self, model: RigidBodyModel, config: EstimatorConfig, friction: FrictionBounds) -> None:
        m = model.contacts
        self._config = config
        self._friction = FrictionMemory(model, config, friction)
        self._course, self._noise = Course(model.nv), VelocityNoise(model.nv)
        self._commands = CommandCourse(model.drives)
        self._gaps = VelocityNoise(2 * m, _GAPS_SEEN)
        self._drives = VelocityNoise(model.nq + 2 * model.nv, drive_gains.SEEN)
        self._errors = VelocityErrors(model.nv, config.landing.remembered)
        self._phases = LandingPhases(m, config)
        self._latest: Moment | None = None

    @property
    def disobeyed(self) -> NDArray[np.bool_] | None:
        """(nv,): the drives that are told what to do and do something else; None where nothing is commanded."""
        return self._commands.disobeyed

    @property
    def friction(self) -> tuple[Array, Array] | None:
        """(low, high), each (m,), of each contact's μ; None where nothing has been learned."""
        return self._friction.learned

    def tune(self, config: EstimatorConfig) -> None:
        """Take over other tolerances and intervals of impacts."""
        self._config = config
        self._friction.tune(config)
        self._phases.tune(config)

    def reset(self) -> None:
        """Forget all states. (What friction has shown is of the engine, which forgets it.)"""
        self._latest = None
        for memory in (self._course, self._noise, self._commands, self._gaps, self._drives, self._errors, self._phases):
            memory.reset()

    def pause(self) -> None:
        """Expect nothing from the next state that only a state soon after the last one could fulfil."""
        self._errors.pause()

    def touched(self, events: Iterable[Event]) -> None:
        """Compare the touchdowns among these events with what was foreseen of them. It is called before the state that
        tells of them is added: what was foreseen is what was known before."""
        told = [
            (event.contact, event.time_ns, event.earliest_ns)
            for event in events
            if event.detected and event.kind == EventKind.TOUCHDOWN
        ]
        if told:
            self._errors.touched(self._phases.touch(told, lambda kept: changed(kept, **self._remembered())))

    def add(self, moment: Moment) -> None:
        """Remember a state and what was answered."""
        stamp, state = moment.stamp_ns, moment.state
        self._latest = moment
        self._course.add(stamp, moment.acceleration, moment.closed, moment.slipping)
        self._noise.add(stamp, state.v)
        self._commands.see(state)
        self._gaps.add(stamp, moment.gap, moment.gap_velocity)
        if state.effort is not None:
            self._drives.add(stamp, state.q, state.v, state.effort)
        self._errors.add(stamp, state.v, moment.acceleration, moment.closed, self._told)
        self._phases.keep(moment)

    def ahead(self) -> ImpactAhead | None:
        """What the set of the next landing depends on; None without a touchdown within ``impact.horizon``, or before
        the first state."""
        latest, phases = self._latest, self._phases
        if latest is None:
            return None
        begun = phases.begun(latest)

        def remembered() -> dict[str, Any]:
            return dict(self._remembered(), begun=begun, since_touch=phases.since_touch(latest.stamp_ns))

        ahead = ImpactAhead.of(latest, self._config.impact.horizon, begun is not None, remembered)
        return None if ahead is None else phases.settled(ahead)

    def _remembered(self) -> dict[str, Any]:
        """What is remembered up to the state last added, by the names that an ImpactAhead has for it."""
        return {
            "accelerations": self._course.seen(),
            "friction": self.friction,
            "velocities": self._noise.seen(),
            "gaps": self._gaps.seen(),
            "drives": self._drives.seen(),
            "errors": self._errors.seen(),
            "commanded": self._commands.ahead(),
        }

    def _told(self) -> Told | None:
        """The state last added, with all that its drives were told."""
        moment, commands = self._latest, self._commands.seen()
        if moment is None or (commands is None and self._phases.since_touch(moment.stamp_ns) > drive_gains.SWINGS):
            return None
        state = moment.state
        return Told(state.q, state.v, state.effort, moment.closed, commands)
