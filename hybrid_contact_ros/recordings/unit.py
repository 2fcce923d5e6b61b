"""What an inertial unit at the origin of the root link would measure, by the motion of the base."""

from __future__ import annotations

import numpy as np
from scipy.spatial.transform import Rotation

from hybrid_contact_ros.recordings.recording import Array, Recording

_GRAVITY = np.array([0.0, 0.0, 9.81])


def specific_force(recording: Recording) -> Array:
    """(n, 3) m/s², axes of the base: its acceleration since the sample before, and what carries it at rest.

    Raises:
        ValueError: the recording has no base that moves, or fewer than two samples.
    """
    r = recording
    if r.quaternion is None or r.linear is None or r.angular is None or r.time.size < 2:
        raise ValueError("an inertial unit needs a floating base and two samples: its motion is that of the base")
    turn = Rotation.from_quat(r.quaternion)
    speed = turn.apply(r.linear)
    dt = np.diff(r.time, prepend=2 * r.time[0] - r.time[1])
    acceleration = np.diff(speed, axis=0, prepend=speed[:1]) / dt[:, None]
    acceleration[0] = acceleration[1]
    return np.asarray(turn.inv().apply(acceleration + _GRAVITY))
