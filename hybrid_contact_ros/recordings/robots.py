"""Recordings of real robots: landings of Cassie, the walking iCub, a hopping leg on a force plate."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from scipy.spatial.transform import Rotation

from hybrid_contact_ros.recordings.npz import load, names, require_one_episode, twist, xyzw
from hybrid_contact_ros.recordings.recording import Recording

_SLIDER_LAG = 10  # samples over which the speed of the hopper's slider is differenced


def read_cassie(path: Path, episode: int | None = None) -> Recording:
    """A landing of Cassie: ``time (n,), base_pos (n, 3), base_quat_wxyz (n, 4), base_vel_world, base_omega_world
    (n, 3), q, dq (n, 16), motor_effort (n, 10), joint_names, motor_names, point_names,
    touchdown_time_inferred (4,)``.

    The motor NAME_motor drives the joint NAME, and joints without a motor have effort 0 (leaf springs are for the model
    to know). The truth was inferred from the motion and not measured: a point is closed from its touchdown on.
    """
    require_one_episode(path, episode)
    data = load(path)
    quaternion = xyzw(data["base_quat_wxyz"])
    back = Rotation.from_quat(quaternion).inv()
    joints = names(data["joint_names"])
    effort = np.zeros(data["q"].shape)
    for column, name in enumerate(names(data["motor_names"])):
        effort[:, joints.index(name.removesuffix("_motor"))] = data["motor_effort"][:, column]
    points = names(data["point_names"])
    touchdown = data["touchdown_time_inferred"]
    return Recording(
        time=data["time"],
        position=data["base_pos"],
        quaternion=quaternion,
        linear=back.apply(data["base_vel_world"]),
        angular=back.apply(data["base_omega_world"]),
        joints=joints,
        q=data["q"],
        dq=data["dq"],
        effort=effort,
        contacts=points,
        frames=tuple(f"toe_{name.split('_')[0]}" for name in points),
        closed=data["time"][:, None] >= np.where(np.isnan(touchdown), np.inf, touchdown)[None, :],
    )


def read_icub(path: Path, episode: int | None = None) -> Recording:
    """iCub, walking or standing: ``time (n,), base_pos (n, 3), base_quat_wxyz (n, 4), q, dq (n, 26), foot_force_z
    (n, 2), contact_40N (n, 2), joint_names``. There are no efforts. The twist of the base is differenced at the mean
    step, because the stamps jitter more than the samples do.

    A foot touches where it carries more than 40 N. (``contact_schmitt``, the trigger of the authors, waits for 150 N,
    which is more than a foot carries under less than half of the weight.)
    """
    require_one_episode(path, episode)
    data = load(path)
    quaternion = xyzw(data["base_quat_wxyz"])
    step = float(np.mean(np.diff(data["time"])))
    force = np.full((data["time"].size, 2, 3), np.nan)
    force[:, :, 2] = data["foot_force_z"]
    linear, angular = twist(data["base_pos"], quaternion, step)
    return Recording(
        time=data["time"],
        position=data["base_pos"],
        quaternion=quaternion,
        linear=linear,
        angular=angular,
        joints=names(data["joint_names"]),
        q=data["q"],
        dq=data["dq"],
        contacts=("l_sole", "r_sole"),
        frames=("l_sole", "r_sole"),
        closed=data["contact_40N"],
        force=force,
    )


def read_hopper(path: Path, episode: int | None = None) -> Recording:
    """A leg on a vertical slider: ``time (n,), q, dq, tau (n, 2), base_height (n,), foot_force (n, 3),
    contact_force_1N (n,)``. The base is fixed, and the joints are slider, hip, knee (the file does not name them). The
    speed of the slider is a difference over 10 ms, because its sensor has 2 mm of noise."""
    require_one_episode(path, episode)
    data = load(path)
    time, height = data["time"], data["base_height"]
    lag = np.maximum(np.arange(time.size) - _SLIDER_LAG, 0)
    rate = (height - height[lag]) / np.maximum(time - time[lag], 1e-3)
    return Recording(
        time=time,
        joints=("slider", "hip", "knee"),
        q=np.column_stack((height, data["q"])),
        dq=np.column_stack((rate, data["dq"])),
        effort=np.column_stack((np.zeros(time.size), data["tau"])),
        contacts=("foot",),
        frames=("foot",),
        closed=data["contact_force_1N"][:, None],
        force=data["foot_force"][:, None, :],
    )
