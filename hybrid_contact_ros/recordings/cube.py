"""Tosses of a cube, of which a camera measured the pose."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from scipy.spatial.transform import Rotation

from hybrid_contact_ros.recordings.npz import load, twist, xyzw
from hybrid_contact_ros.recordings.recording import Impact, Recording


def read_cube(path: Path, episode: int | None = None) -> Recording:
    """Tosses of a cube (``trajectories.npz``; ``params.npz`` and ``events.npz`` beside it).

    The reader takes ``toss_id, start, length`` (one entry for each toss), ``sample_rate_hz``, ``pos (n, 3)`` and
    ``quat_wxyz (n, 4)``; from the parameters ``mass, inertia_diag, half_width`` for the URDF; and from the events that
    are ``clean`` also ``t_imp, quat_wxyz, v_pre, v_post, omega_world_pre, omega_world_post, corner_near``. Twists are
    backward differences of the poses.

    Args:
        path: the file.
        episode: the toss with that id; all of them, one second apart, when ``None``.
    """
    data, params = load(path), load(path.with_name("params.npz"))
    ids = data["toss_id"].tolist()
    if episode is not None and episode not in ids:
        raise ValueError(f"{path} has no toss {episode}; it has {ids[0]} … {ids[-1]} ({len(ids)})")
    chosen = range(len(ids)) if episode is None else [ids.index(episode)]
    step = 1.0 / float(data["sample_rate_hz"])
    parts: list[tuple[Any, ...]] = []
    offsets: dict[int, float] = {}
    begin = 0.0
    for i in chosen:
        rows = slice(int(data["start"][i]), int(data["start"][i] + data["length"][i]))
        quaternion = xyzw(data["quat_wxyz"][rows])
        t = begin + step * np.arange(quaternion.shape[0])
        parts.append((t, data["pos"][rows], quaternion, *twist(data["pos"][rows], quaternion, step)))
        offsets[ids[i]] = begin
        begin = float(t[-1]) + 1.0
    time, position, quaternion, linear, angular = (np.concatenate(column) for column in zip(*parts, strict=True))
    return Recording(
        time=time,
        position=position.astype(np.float64),
        quaternion=quaternion,
        linear=linear,
        angular=angular,
        impacts=_cube_impacts(path.with_name("events.npz"), offsets),
        urdf=_cube_urdf(params),
    )


def _cube_impacts(path: Path, offsets: Mapping[int, float]) -> tuple[Impact, ...]:
    """The impacts of the tosses, each of which begins at its offset (s); none where there is no such file."""
    if not path.exists():
        return ()
    data = load(path)
    found = []
    for k in np.flatnonzero(data["clean"]):
        toss = int(data["toss_id"][k])
        if toss not in offsets:
            continue
        back = Rotation.from_quat(xyzw(data["quat_wxyz"][k : k + 1])[0]).inv()
        before = np.concatenate((back.apply(data["v_pre"][k]), back.apply(data["omega_world_pre"][k])))
        after = np.concatenate((back.apply(data["v_post"][k]), back.apply(data["omega_world_post"][k])))
        corners = tuple(f"corner_{int(c)}" for c in np.flatnonzero(data["corner_near"][k]))
        found.append(
            Impact(time=offsets[toss] + float(data["t_imp"][k]), contacts=corners, v_minus=before, v_plus=after)
        )
    return tuple(sorted(found, key=lambda impact: impact.time))


def _cube_urdf(params: Mapping[str, Any]) -> str:
    """The cube as a robot of one link."""
    side = 2.0 * float(params["half_width"])
    ix, iy, iz = (float(x) for x in params["inertia_diag"])
    box = f'<geometry><box size="{side} {side} {side}"/></geometry>'
    return (
        f'<robot name="cube"><link name="cube"><inertial><mass value="{float(params["mass"])}"/>'
        f'<inertia ixx="{ix}" ixy="0" ixz="0" iyy="{iy}" iyz="0" izz="{iz}"/></inertial>'
        f"<visual>{box}</visual><collision>{box}</collision></link></robot>"
    )
