"""What the drives of a recorded robot were told, as commands of its states."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from hybrid_contact_ros.mechanics.commands import JointCommand
from hybrid_contact_ros.mechanics.model import RigidBodyModel
from hybrid_contact_ros.mechanics.state import RobotState

Array = NDArray[np.float64]


def with_commands(model: RigidBodyModel, data: dict[str, Array], seen: Sequence[RobotState]) -> list[RobotState]:
    """The states with commands. A command is given at each sample, and known at the next.

    A recording has ``kp``, ``kd`` and ``tau``, and ``q_des`` and ``tau_ff`` where the drives were told these. Where it
    has no ``q_des`` the one is taken that explains ``tau``, as of drives that are told to come to rest there.
    """
    joints = model.nv - int(np.argmax(model.driven))
    base = np.zeros(model.nv - joints)
    n = len(seen)
    gains = [np.broadcast_to(data[name], (len(data["tau"]), joints)) for name in ("kp", "kd")]
    stiffness, damping = gains
    angles, rates = data["q"][:, -joints:], data["v"][:, -joints:]
    if "q_des" in data:
        wanted = np.broadcast_to(data["q_des"], angles.shape)
        forward = np.broadcast_to(data.get("tau_ff", np.zeros(joints)), angles.shape)
    else:
        wanted, forward = angles + (data["tau"] + damping * rates) / stiffness, np.zeros(angles.shape)
    known = np.asarray(model.driven)
    found = [seen[0]]
    for k in range(1, n):
        arrays = (wanted[k - 1], np.zeros(joints), forward[k - 1], stiffness[k - 1], damping[k - 1])
        position, velocity, effort, kp, kd = (np.concatenate((base, each)) for each in arrays)
        command = JointCommand(seen[k - 1].stamp_ns, position, velocity, effort, kp, kd, known)
        found.append(replace(seen[k], command=command))
    return found
