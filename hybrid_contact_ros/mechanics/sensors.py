"""What sensors beside joints and odometry measure, as parts of a state: an inertial unit, forces and readings of feet,
and which contacts are wanted.

Times are of the measurement and integer nanoseconds; what is not known is NaN or flagged. Arrays are never written.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class ImuMeasurement:
    """An inertial measurement, turned into the axes of the root link.

    Attributes:
        stamp_ns: of the measurement.
        orientation: quaternion x, y, z, w (4,) that rotates the root link's vectors into the world of the unit, whose
            heading need not be that of the odometry; None where the unit has none.
        angular_velocity: rad/s (3,), axes of the root link; None where it has none.
        acceleration: specific force, m/s² (3,), axes of the root link: 9.81 upwards at rest; None where it has none.
        place: m (3,), of the unit in the root link's frame: the acceleration is that of this point. Its origin by
            default.
        covariance: (3, 3, 3), of orientation (rad², axes of the root link), angular velocity and acceleration; NaN
            where it is unknown, which is the default.
    """

    stamp_ns: int
    orientation: Array | None
    angular_velocity: Array | None
    acceleration: Array | None
    place: Array = field(default_factory=lambda: np.zeros(3))
    covariance: Array = field(default_factory=lambda: np.full((3, 3, 3), np.nan))


@dataclass(frozen=True, slots=True, eq=False)
class ContactForces:
    """Forces on the contacts that sensors measure, m contacts.

    Attributes:
        stamp_ns: (m,) int64, of the measurements; 0 without one.
        force: (m, 3), N, of the environment on the robot, in the axes of the contact's link, or of the world.
        in_world: (m,) bool, whether a force is in the axes of the world.
        valid: (m,) bool: measured, and not too long ago.
    """

    stamp_ns: NDArray[np.int64]
    force: Array
    in_world: NDArray[np.bool_]
    valid: NDArray[np.bool_]


@dataclass(frozen=True, slots=True, eq=False)
class ContactReadings:
    """Readings of foot sensors of no certain unit, m contacts.

    Attributes:
        stamp_ns: of the measurement.
        raw: (m,), as they came; NaN without one.
        load: (m,), from 0 (nothing on the foot) to about 1 (the most that was seen lately), the drift of the zero taken
            out; NaN where it is not known yet.
        valid: (m,) bool: ``load`` is known, and the sensor is neither dead nor stuck.
    """

    stamp_ns: int
    raw: Array
    load: Array
    valid: NDArray[np.bool_]


@dataclass(frozen=True, slots=True, eq=False)
class CommandedContacts:
    """Which contacts a controller or a gait schedule wants closed, m contacts.

    Attributes:
        stamp_ns: of the command.
        wanted: (m,), 1 closed, 0 open; NaN without a command.
        since_ns: (m,) int64, stamp of the first command in a row that wants this.
    """

    stamp_ns: int
    wanted: Array
    since_ns: NDArray[np.int64]
