"""Published recordings, as .npz files, read into one form. Layouts are those of the functions' docstrings.

Each gives what sensors of a ROS robot would: joint states, a base pose with its twist in the base frame, and what is
known of the contacts. Velocities that were not recorded are backward differences, as a driver would make them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.spatial.transform import Rotation

Array = NDArray[np.float64]

START_NS = 1_000_000_000
"""Stamp of a recording's time 0: a stamp of zero says "none" in ROS."""

_ARRESTED = 0.1
_LONGEST = 0.008
_IMPACT_SPEED = 0.3
_SLIP_SPEED = 0.05


@dataclass(frozen=True, slots=True)
class Impact:
    """An impact with known outcome: velocities (nv,) in Pinocchio order; contacts by name."""

    time: float
    contacts: tuple[str, ...]
    v_minus: Array
    v_plus: Array


@dataclass(frozen=True, slots=True)
class Recording:
    """n samples. ``position`` (n, 3), ``quaternion`` x y z w (n, 4), ``linear`` and ``angular`` (n, 3) in the base
    frame, all ``None`` for a fixed base. ``q, dq, effort`` (n, joints). ``closed`` (n, contacts), ``force`` (n,
    contacts, 3) N in the world frame, NaN where unknown."""

    time: Array
    position: Array | None = None
    quaternion: Array | None = None
    linear: Array | None = None
    angular: Array | None = None
    joints: tuple[str, ...] = ()
    q: Array | None = None
    dq: Array | None = None
    effort: Array | None = None
    contacts: tuple[str, ...] = ()
    frames: tuple[str, ...] = ()
    closed: NDArray[np.bool_] | None = None
    slipping: NDArray[np.bool_] | None = None
    force: Array | None = None
    impacts: tuple[Impact, ...] = field(default=())
    urdf: str | None = None


def read_cube(path: Path, episode: int | None = None) -> Recording:
    """Tosses of a cube (``trajectories.npz``; ``params.npz`` and ``events.npz`` beside it).

    Read are ``toss_id, start, length`` (tosses), ``sample_rate_hz``, ``pos (n, 3)``, ``quat_wxyz (n, 4)`` (rows);
    ``mass, inertia_diag, half_width`` for the URDF; of the events that are ``clean`` also ``t_imp, quat_wxyz, v_pre,
    v_post, omega_world_pre, omega_world_post, corner_near``. Twists are backward differences of the poses.

    Args:
        path: the file.
        episode: the toss with that id; all of them, one second apart, when ``None``.
    """
    data, params = _load(path), _load(path.with_name("params.npz"))
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
        quaternion = _xyzw(data["quat_wxyz"][rows])
        t = begin + step * np.arange(quaternion.shape[0])
        parts.append((t, data["pos"][rows], quaternion, *_twist(data["pos"][rows], quaternion, step)))
        offsets[ids[i]] = begin
        begin = float(t[-1]) + 1.0
    time, position, quaternion, linear, angular = (np.concatenate(column) for column in zip(*parts, strict=True))
    return Recording(
        time,
        position.astype(np.float64),
        quaternion,
        linear,
        angular,
        impacts=_cube_impacts(path.with_name("events.npz"), offsets),
        urdf=_cube_urdf(params),
    )


def read_go2(path: Path, episode: int | None = None) -> Recording:
    """An episode of the Go2 in MuJoCo: ``time (n,), q (n, 19), v (n, 18), tau (n, 12), foot_force (n, 4, 3),
    foot_contact (n, 4), foot_vel (n, 4, 3), foot_names, joint_names``; samples after ``valid_until`` are left out.

    An impact begins with a touchdown (v⁻ is the sample before it) and ends at the first sample where every foot in it
    has lost nine tenths of its approach speed (v⁺); feet that touch before that are in it too. MuJoCo's soft contacts
    take 1 to 3 ms for it, in which other forces act as well. Impacts slower than 0.3 m/s or longer than 8 ms are left
    out.
    """
    _no_episode(path, episode)
    data = _load(path)
    valid = data["time"] <= float(data["valid_until"])
    time, q, v = data["time"][valid], data["q"][valid].astype(np.float64), data["v"][valid].astype(np.float64)
    feet = _names(data["foot_names"])
    closed = data["foot_contact"][valid]
    speed = np.linalg.norm(data["foot_vel"][valid][:, :, :2], axis=2)
    return Recording(
        time,
        q[:, 0:3],
        q[:, 3:7],
        v[:, 0:3],
        v[:, 3:6],
        _names(data["joint_names"]),
        q[:, 7:],
        v[:, 6:],
        data["tau"][valid].astype(np.float64),
        feet,
        feet,
        closed,
        closed & (speed > _SLIP_SPEED),
        data["foot_force"][valid].astype(np.float64),
        _impacts(time, v, closed, data["foot_vel"][valid][:, :, 2], feet),
    )


def read_cassie(path: Path, episode: int | None = None) -> Recording:
    """A landing of Cassie: ``time (n,), base_pos (n, 3), base_quat_wxyz (n, 4), base_vel_world, base_omega_world
    (n, 3), q, dq (n, 16), motor_effort (n, 10), joint_names, motor_names, point_names,
    touchdown_time_inferred (4,)``.

    The motor NAME_motor drives the joint NAME; joints without a motor have effort 0 (leaf springs are the model's
    business). The truth is inferred from motion, not measured: a point is closed from its touchdown on.
    """
    _no_episode(path, episode)
    data = _load(path)
    quaternion = _xyzw(data["base_quat_wxyz"])
    back = Rotation.from_quat(quaternion).inv()
    joints = _names(data["joint_names"])
    effort = np.zeros(data["q"].shape)
    for column, name in enumerate(_names(data["motor_names"])):
        effort[:, joints.index(name.removesuffix("_motor"))] = data["motor_effort"][:, column]
    points = _names(data["point_names"])
    touchdown = data["touchdown_time_inferred"]
    return Recording(
        data["time"],
        data["base_pos"],
        quaternion,
        back.apply(data["base_vel_world"]),
        back.apply(data["base_omega_world"]),
        joints,
        data["q"],
        data["dq"],
        effort,
        points,
        tuple(f"toe_{name.split('_')[0]}" for name in points),
        data["time"][:, None] >= np.where(np.isnan(touchdown), np.inf, touchdown)[None, :],
    )


def read_icub(path: Path, episode: int | None = None) -> Recording:
    """iCub, walking or standing: ``time (n,), base_pos (n, 3), base_quat_wxyz (n, 4), q, dq (n, 26), foot_force_z
    (n, 2), contact_40N (n, 2), joint_names``. No efforts. The base twist is differenced at the mean step, because the
    stamps jitter more than the samples do.

    A foot touches where it carries more than 40 N. (``contact_schmitt``, the authors' trigger, waits for 150 N: more
    than a foot carries that stands with less than half of the weight on it.)
    """
    _no_episode(path, episode)
    data = _load(path)
    quaternion = _xyzw(data["base_quat_wxyz"])
    step = float(np.mean(np.diff(data["time"])))
    force = np.full((data["time"].size, 2, 3), np.nan)
    force[:, :, 2] = data["foot_force_z"]
    return Recording(
        data["time"],
        data["base_pos"],
        quaternion,
        *_twist(data["base_pos"], quaternion, step),
        joints=_names(data["joint_names"]),
        q=data["q"],
        dq=data["dq"],
        contacts=("l_sole", "r_sole"),
        frames=("l_sole", "r_sole"),
        closed=data["contact_40N"],
        force=force,
    )


def read_hopper(path: Path, episode: int | None = None) -> Recording:
    """A leg on a vertical slider: ``time (n,), q, dq, tau (n, 2), base_height (n,), foot_force (n, 3),
    contact_force_1N (n,)``. A fixed base; its joints are slider, hip, knee (the file does not name them). The slider's
    speed is its difference over 10 ms, because its sensor has 2 mm of noise."""
    _no_episode(path, episode)
    data = _load(path)
    time, height = data["time"], data["base_height"]
    lag = np.maximum(np.arange(time.size) - 10, 0)
    rate = (height - height[lag]) / np.maximum(time - time[lag], 1e-3)
    return Recording(
        time,
        joints=("slider", "hip", "knee"),
        q=np.column_stack((height, data["q"])),
        dq=np.column_stack((rate, data["dq"])),
        effort=np.column_stack((np.zeros(time.size), data["tau"])),
        contacts=("foot",),
        frames=("foot",),
        closed=data["contact_force_1N"][:, None],
        force=data["foot_force"][:, None, :],
    )


READERS: Mapping[str, Callable[[Path, int | None], Recording]] = {
    "cube": read_cube,
    "go2": read_go2,
    "cassie": read_cassie,
    "icub": read_icub,
    "hopper": read_hopper,
}


def read(kind: str, path: str | Path, episode: int | None = None) -> Recording:
    """Read one of :data:`READERS`.

    Raises:
        ValueError: no such file, not an .npz, or not of that kind.
    """
    try:
        return READERS[kind](Path(path), episode)
    except KeyError as error:
        raise ValueError(f"{path} is not a {kind} recording: it has no array {error}") from None


def _load(path: Path) -> Mapping[str, Any]:
    try:
        with np.load(path, allow_pickle=False) as data:
            return {name: data[name] for name in data.files}
    except FileNotFoundError:
        raise ValueError(f"no such file: {path}") from None
    except Exception as error:  # zipfile, zlib and numpy raise their own kinds for a damaged file
        raise ValueError(f"{path} cannot be read as an .npz file: {error}") from None


def _names(array: Any) -> tuple[str, ...]:
    return tuple(str(name) for name in array)


def _no_episode(path: Path, episode: int | None) -> None:
    if episode is not None:
        raise ValueError(f"{path} holds one episode: --episode is for files with several")


def _xyzw(wxyz: Array) -> Array:
    return np.roll(np.asarray(wxyz, np.float64), -1, axis=1)


def _twist(position: Array, quaternion: Array, step: float) -> tuple[Array, Array]:
    """Linear and angular velocity (n, 3) in the base frame, by backward differences; the first is the second's."""
    rotation = Rotation.from_quat(quaternion)
    linear_W = np.diff(position, axis=0) / step
    angular = (rotation[:-1].inv() * rotation[1:]).as_rotvec() / step
    linear = rotation[1:].inv().apply(linear_W)
    return np.concatenate((linear[:1], linear)), np.concatenate((angular[:1], angular))


def _impacts(
    time: Array, v: Array, closed: NDArray[np.bool_], vertical: Array, names: Sequence[str]
) -> tuple[Impact, ...]:
    rises = np.argwhere(closed[1:] & ~closed[:-1])
    rises[:, 0] += 1
    found: list[Impact] = []
    i = 0
    while i < len(rises):
        first, speed, after = int(rises[i][0]), 0.0, 0
        feet: list[int] = []
        # Others that touch while this impact is still going on belong to it.
        while i < len(rises) and (not feet or rises[i][0] <= after):
            k, foot = (int(x) for x in rises[i])
            # Two samples back: the one before the rise may already feel the impact.
            approach = max(0.0, -float(vertical[max(k - 2, 0), foot]))
            arrested = np.flatnonzero(vertical[k:, foot] >= -_ARRESTED * approach)
            after = max(after, k + int(arrested[0]) if arrested.size else time.size)
            speed = max(speed, approach)
            feet.append(foot)
            i += 1
        if first >= 1 and after < time.size and time[after] - time[first] <= _LONGEST and speed > _IMPACT_SPEED:
            found.append(Impact(float(time[first]), tuple(names[f] for f in sorted(set(feet))), v[first - 1], v[after]))
    return tuple(found)


def _cube_impacts(path: Path, offsets: Mapping[int, float]) -> tuple[Impact, ...]:
    if not path.exists():
        return ()
    data = _load(path)
    found = []
    for k in np.flatnonzero(data["clean"]):
        toss = int(data["toss_id"][k])
        if toss not in offsets:
            continue
        back = Rotation.from_quat(_xyzw(data["quat_wxyz"][k : k + 1])[0]).inv()
        before = np.concatenate((back.apply(data["v_pre"][k]), back.apply(data["omega_world_pre"][k])))
        after = np.concatenate((back.apply(data["v_post"][k]), back.apply(data["omega_world_post"][k])))
        corners = tuple(f"corner_{int(c)}" for c in np.flatnonzero(data["corner_near"][k]))
        found.append(Impact(offsets[toss] + float(data["t_imp"][k]), corners, before, after))
    return tuple(sorted(found, key=lambda impact: impact.time))


def _cube_urdf(params: Mapping[str, Any]) -> str:
    side = 2.0 * float(params["half_width"])
    ix, iy, iz = (float(x) for x in params["inertia_diag"])
    box = f'<geometry><box size="{side} {side} {side}"/></geometry>'
    return (
        f'<robot name="cube"><link name="cube"><inertial><mass value="{float(params["mass"])}"/>'
        f'<inertia ixx="{ix}" ixy="0" ixz="0" iyy="{iy}" iyz="0" izz="{iz}"/></inertial>'
        f"<visual>{box}</visual><collision>{box}</collision></link></robot>"
    )
