"""States of a robot model as the recording that its drivers would have made, with what touched as the truth."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from hybrid_contact_ros.mechanics.model import RigidBodyModel
from hybrid_contact_ros.mechanics.state import RobotState
from hybrid_contact_ros.recordings.recording import Recording

_TOUCHING = 1e-6  # m


def model_recording(
    model: RigidBodyModel,
    urdf: str,
    times: ArrayLike,
    states: Sequence[tuple[ArrayLike, ArrayLike]],
    effort: ArrayLike | None = None,
    touching: float = _TOUCHING,
    closed: ArrayLike | None = None,
) -> Recording:
    """The recording of states that are exactly known, of a simulation (``[run.at(t) for t in times]``) or a plan.

    Args:
        model: the robot. urdf: its text, which the recording carries along.
        times: (n,) s. states: (q, v) at each of them, in the model's coordinates.
        effort: (n, driven joints) N m, or N; None: not measured.
        touching: a contact is closed in truth where its gap (m) to the configured ground is smaller.
        closed: (n, contacts), whether each contact is closed in truth, in the model's order: by the contact forces of a
            simulator whose ground is another than the configured one. None: by ``touching``.

    Raises:
        ValueError: the numbers of states, times, efforts and truths differ, or a state does not fit the model.
    """
    n = np.size(times)
    q, v = (np.array(part, dtype=np.float64) for part in zip(*states, strict=True))
    efforts = None if effort is None else np.asarray(effort, dtype=np.float64)
    if len(q) != n or (efforts is not None and len(efforts) != n):
        raise ValueError(f"there are {n} times, {len(q)} states and {n if efforts is None else len(efforts)} efforts")
    touches = np.array([model.problem(RobotState(0, *state)).gap < touching for state in zip(q, v, strict=True)])
    truth = touches if closed is None else np.asarray(closed, dtype=bool)
    if truth.shape != touches.shape:
        raise ValueError(f"closed has shape {truth.shape} for {n} times and {len(model.contact_names)} contacts")
    floating = model.floating_base
    return Recording(
        np.asarray(times, dtype=np.float64),
        position=q[:, :3] if floating else None,
        quaternion=q[:, 3:7] if floating else None,
        linear=v[:, :3] if floating else None,
        angular=v[:, 3:6] if floating else None,
        joints=model.joint_names,
        q=q[:, 7:] if floating else q,
        dq=v[:, 6:] if floating else v,
        effort=efforts,
        contacts=model.contact_names,
        frames=model.contact_frames,
        closed=truth,
        urdf=urdf,
    )
