"""What a post-impact set is computed from: a copy for another thread."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from hybrid_contact_ros.codes import EventKind
from hybrid_contact_ros.estimation.drive_commands import CommandAhead, CommandCourse
from hybrid_contact_ros.estimation.moment import Moment
from hybrid_contact_ros.estimation.velocity_ahead import Course, CourseAhead
from hybrid_contact_ros.estimation.velocity_noise import VelocitiesSeen, VelocityNoise

Array = NDArray[np.float64]
Codes = NDArray[np.uint8]

_TOUCHDOWN = int(EventKind.TOUCHDOWN)


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class ImpactAhead:
    """A touchdown is predicted: all that its set depends on, in arrays that nobody else has.

    Attributes:
        stamp_ns, q (nq,), v (nv,), effort (nv,) or None: of the state. acceleration: v̇ (nv,) of its mode.
        closed, backed (m,), event_times (m, 3): of its :class:`~hybrid_contact_ros.estimation.moment.Moment`.
        course: of the acceleration, or None where it has none.
        landed: whether another contact touched less than ``impact.window`` before the state.
        base_covariance, base_twist_in_world: of the state.
        friction: (low, high), each (m,), of μ, as of
            :class:`~hybrid_contact_ros.estimation.friction_memory.FrictionMemory`; None where nothing was learned.
        commanded: what the drives are told to do; None where nobody tells.
        velocities: the last ones, which tell of their noise; None where nobody remembered them.
    """

    stamp_ns: int
    q: Array
    v: Array
    effort: Array | None
    acceleration: Array
    closed: Codes
    backed: Codes
    event_times: Array
    course: CourseAhead | None = None
    landed: bool = False
    base_covariance: Array | None = None
    base_twist_in_world: bool = False
    friction: tuple[Array, Array] | None = None
    velocities: VelocitiesSeen | None = None
    commanded: CommandAhead | None = None

    @classmethod
    def of(
        cls,
        moment: Moment,
        horizon: float,
        course: Course | None = None,
        landed: bool = False,
        friction: tuple[Array, Array] | None = None,
        noise: VelocityNoise | None = None,
        commands: CommandCourse | None = None,
    ) -> ImpactAhead | None:
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
            course=None if course is None else course.ahead(),
            landed=landed,
            base_covariance=None if state.base_covariance is None else state.base_covariance.copy(),
            base_twist_in_world=state.base_twist_in_world,
            friction=friction,
            velocities=None if noise is None else noise.seen(),
            commanded=None if commands is None else commands.ahead(),
        )
