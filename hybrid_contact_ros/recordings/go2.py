"""Episodes of a Go2 in MuJoCo, with the true contacts, forces and impacts."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from hybrid_contact_ros.recordings.npz import load, names, require_one_episode
from hybrid_contact_ros.recordings.recording import Impact, Recording

Array = NDArray[np.float64]

_ARRESTED = 0.1  # of its speed of approach: a foot that approaches slower than this has been arrested
_LONGEST_IMPACT = 0.008  # s
_SLOWEST_IMPACT = 0.3  # m/s, speed of approach
_SLIP_SPEED = 0.05  # m/s, speed of a closed foot along the ground from which on it counts as slipping


def read_go2(path: Path, episode: int | None = None) -> Recording:
    """An episode of the Go2 in MuJoCo: ``time (n,), q (n, 19), v (n, 18), tau (n, 12), foot_force (n, 4, 3),
    foot_contact (n, 4), foot_vel (n, 4, 3), foot_names, joint_names``; samples after ``valid_until`` are left out.

    An impact begins with a touchdown (v⁻ is the sample before it) and ends at the first sample where every foot in the
    impact has lost nine tenths of its speed of approach (v⁺). Feet that touch before that end are in the impact too.
    With MuJoCo's soft contacts it takes 1 to 3 ms, in which other forces act as well. Impacts slower than 0.3 m/s or
    longer than 8 ms are left out.
    """
    require_one_episode(path, episode)
    data = load(path)
    valid = data["time"] <= float(data["valid_until"])
    time, q, v = data["time"][valid], data["q"][valid].astype(np.float64), data["v"][valid].astype(np.float64)
    feet = names(data["foot_names"])
    closed = data["foot_contact"][valid]
    speed = np.linalg.norm(data["foot_vel"][valid][:, :, :2], axis=2)
    return Recording(
        time=time,
        position=q[:, 0:3],
        quaternion=q[:, 3:7],
        linear=v[:, 0:3],
        angular=v[:, 3:6],
        joints=names(data["joint_names"]),
        q=q[:, 7:],
        dq=v[:, 6:],
        effort=data["tau"][valid].astype(np.float64),
        contacts=feet,
        frames=feet,
        closed=closed,
        slipping=closed & (speed > _SLIP_SPEED),
        force=data["foot_force"][valid].astype(np.float64),
        impacts=_impacts(time, v, closed, data["foot_vel"][valid][:, :, 2], feet),
    )


def _impacts(
    time: Array, v: Array, closed: NDArray[np.bool_], vertical: Array, feet: Sequence[str]
) -> tuple[Impact, ...]:
    """The impacts of an episode.

    Args:
        time: (n,) s.
        v: (n, nv) velocities of the robot.
        closed: (n, 4), which feet touch.
        vertical: (n, 4) m/s, vertical velocities of the feet.
        feet: names of the feet.
    """
    rises = np.argwhere(closed[1:] & ~closed[:-1])
    rises[:, 0] += 1
    found: list[Impact] = []
    i = 0
    while i < len(rises):
        first, speed, after = int(rises[i][0]), 0.0, 0
        together: list[int] = []
        # Other feet that touch while this impact is still going on belong to it.
        while i < len(rises) and (not together or rises[i][0] <= after):
            k, foot = (int(x) for x in rises[i])
            # Two samples back, because the one before the rise may already feel the impact.
            approach = max(0.0, -float(vertical[max(k - 2, 0), foot]))
            arrested = np.flatnonzero(vertical[k:, foot] >= -_ARRESTED * approach)
            after = max(after, k + int(arrested[0]) if arrested.size else time.size)
            speed = max(speed, approach)
            together.append(foot)
            i += 1
        if (
            first >= 1
            and after < time.size
            and time[after] - time[first] <= _LONGEST_IMPACT
            and speed > _SLOWEST_IMPACT
        ):
            members = tuple(feet[f] for f in sorted(set(together)))
            found.append(Impact(time=float(time[first]), contacts=members, v_minus=v[first - 1], v_plus=v[after]))
    return tuple(found)
