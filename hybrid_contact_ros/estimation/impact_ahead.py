"""What a post-impact set is computed from: a copy for another thread."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from hybrid_contact_ros.codes import EventKind
from hybrid_contact_ros.estimation.drive_commands import CommandAhead
from hybrid_contact_ros.estimation.moment import Moment
from hybrid_contact_ros.estimation.velocity_ahead import AccelerationsSeen, CourseAhead
from hybrid_contact_ros.estimation.velocity_errors import ErrorsSeen
from hybrid_contact_ros.estimation.velocity_noise import VelocitiesSeen

Array = NDArray[np.float64]
Codes = NDArray[np.uint8]

_TOUCHDOWN = int(EventKind.TOUCHDOWN)


class LandingBegun(NamedTuple):
    """A landing whose first contacts have touched lately.

    Attributes:
        foreseen: what the last state before it knew. since: s since its last touch. coming: whether contacts of its
            cluster are still to come.
    """

    foreseen: ImpactAhead
    since: float
    coming: bool


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class ImpactAhead:
    """A touchdown is predicted: all that its set depends on, in arrays that nobody else has.

    Attributes:
        stamp_ns, q (nq,), v (nv,), effort (nv,) or None: of the state. acceleration: v̇ (nv,) of its mode.
        closed, backed (m,), event_times (m, 3): of its :class:`~hybrid_contact_ros.estimation.moment.Moment`.
        accelerations: the last ones of this mode; None where nobody remembered them.
        since_touch: s since the last touch of a contact. begun: the landing that it belongs to, as long as it may be
            under way (:class:`~hybrid_contact_ros.estimation.landing_phases.LandingPhases`).
        base_covariance, base_twist_in_world: of the state.
        friction: (low, high), each (m,), of μ, as of
            :class:`~hybrid_contact_ros.estimation.friction_memory.FrictionMemory`; None where nothing was learned.
        commanded: what the drives are told to do; None where nobody tells.
        velocities: the last ones, which tell of their noise; None where nobody remembered them.
        gap, gap_velocity: φ, φ̇ (m,), and gaps: the last φ and φ̇ (2 m,), which tell of their noise.
        drives: the last angles, velocities and efforts of joints (3 nv,), which tell how drives answer pushes.
        errors: of the last extrapolations of v; None where nobody remembered them.
    """

    stamp_ns: int
    q: Array
    v: Array
    effort: Array | None
    acceleration: Array
    closed: Codes
    backed: Codes
    event_times: Array
    accelerations: AccelerationsSeen | None = None
    since_touch: float = math.inf
    begun: LandingBegun | None = None
    base_covariance: Array | None = None
    base_twist_in_world: bool = False
    friction: tuple[Array, Array] | None = None
    velocities: VelocitiesSeen | None = None
    commanded: CommandAhead | None = None
    drives: VelocitiesSeen | None = None
    gap: Array | None = None
    gap_velocity: Array | None = None
    gaps: VelocitiesSeen | None = None
    errors: ErrorsSeen | None = None

    @property
    def course(self) -> CourseAhead | None:
        """Of the acceleration, or None where it has none."""
        return None if self.accelerations is None else self.accelerations.course

    @classmethod
    def of(
        cls, moment: Moment, horizon: float, anyway: bool = False, remembered: Callable[[], dict[str, Any]] = dict
    ) -> ImpactAhead | None:
        """A copy of a state, with what is ``remembered`` of the states before it, by attribute. None where no
        touchdown is predicted within ``horizon`` s, for there would be no set, unless one is wanted ``anyway``."""
        if not anyway:
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
            gap=moment.gap.copy(),
            gap_velocity=moment.gap_velocity.copy(),
            base_covariance=None if state.base_covariance is None else state.base_covariance.copy(),
            base_twist_in_world=state.base_twist_in_world,
            **remembered(),
        )
