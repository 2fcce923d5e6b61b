"""The recordings of the shared data (``$HYBRID_CONTACT_SHARED``, else ``../shared``), with the configuration that a new
user would write: links and points of the feet, one plane at z = 0, and every other value at its default.

Truths are soft. Go2: ``foot_contact``, where ``foot_contact_raw`` agrees. iCub: 40 N under a foot, the authors' Schmitt
trigger beside it. Cassie: inferred from the motion. Hopper: 1 N on the force plate.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.estimation_scores.chatter import chatter, tilted
from benchmarks.estimation_scores.episodes import Episode, Source
from benchmarks.landing_sets.cassie import TOES
from benchmarks.landing_sets.sources import SHARED
from hybrid_contact_ros.config import EstimatorConfig
from hybrid_contact_ros.mechanics.example_data import example_urdf
from hybrid_contact_ros.recordings.npz import load
from hybrid_contact_ros.recordings.readers import read

ROOT = Path(__file__).resolve().parents[2]
CACHE = Path(os.environ.get("HYBRID_CONTACT_RECORDINGS", Path.home() / ".cache" / "hybrid_contact_ros" / "recordings"))
"""Where recordings that are made here, and the hopper's URDF, are kept."""
HOPPER = (
    "https://raw.githubusercontent.com/open-dynamic-robot-initiative/robot_properties_teststand/master/src/"
    "robot_properties_teststand/robot_properties_teststand/pre_generated_urdf/teststand.urdf"
)
WRISTS = tuple(f"{side}_wrist_{axis}" for side in "lr" for axis in ("prosup", "pitch", "yaw"))
_SOLE = tuple(float(c) for x in (0.07, -0.07) for y in (0.03, -0.03) for c in (x, y, 0.0))
_ALONE = tuple((i,) for i in range(4))


def go2_episode(path: Path) -> Episode:
    data = load(path)
    recording = read("go2", path)
    n = recording.time.size
    raw, closed = (data[k][:n].astype(bool) for k in ("foot_contact_raw", "foot_contact"))
    gap = data["foot_pos"][:n, :, 2] - float(data["foot_radius"])
    velocity, force = (data[k][:n].astype(np.float64) for k in ("foot_vel", "foot_force"))
    skims = chatter(data["foot_impulse"][:n, :, 2] > 0.0, closed)
    return Episode(path.stem, recording, raw == closed, {"raw": raw}, gap, velocity, force, skims)


def _icub(path: Path) -> Episode:
    recording = read("icub", path)
    schmitt = load(path)["contact_schmitt"].astype(bool)
    closed = np.asarray(recording.closed, dtype=bool)
    return Episode(path.stem, replace(recording, closed=closed), np.ones_like(closed), {"schmitt": schmitt})


def _cassie(path: Path) -> Episode:
    recording, height = read("cassie", path), load(path)["point_pos"][:, :, 2].astype(np.float64)
    closed = np.asarray(recording.closed, dtype=bool)
    return Episode(path.stem, recording, np.ones_like(closed), chatter=tilted(height, closed, ((0, 1), (2, 3))))


def _plain(kind: str, path: Path, **changes: Any) -> Episode:
    recording = replace(read(kind, path), **changes)
    return Episode(path.stem, recording, np.ones(np.shape(recording.closed), dtype=bool))


def shared_sources() -> dict[str, Source]:
    """The recordings by name, whether they are there or not."""
    data = SHARED / "data"
    found = {}

    def add(name: str, urdf: Path, config: EstimatorConfig, members: Any, files: str, make: Callable[[Path], Episode],
            **more: Any) -> None:  # fmt: skip
        paths = sorted(data.glob(files))
        hint = more.pop("hint", f"no {urdf}")
        missing = hint if not urdf.is_file() else "" if paths else f"no {files} in {data}"
        found[name] = Source(name, urdf, config, members, lambda: [make(p) for p in paths], missing=missing, **more)

    go2 = example_urdf("go2_description/urdf/go2.urdf")
    config = EstimatorConfig.from_file(ROOT / "config" / "go2.yaml")
    for name in ("trot_inplace", "trot_slippery"):
        add(name, go2, config, _ALONE, f"go2_mujoco/{name}.npz", go2_episode)
    add("drops", go2, config, _ALONE, "go2_mujoco/drop_*.npz", go2_episode)
    icub = data / "icub_walking" / "model.urdf"
    soles = {side: {"link": side, "points": _SOLE} for side in ("l_sole", "r_sole")}
    config = EstimatorConfig.from_mapping({"contacts": soles, "locked_joints": WRISTS})
    members, window = ((0, 1, 2, 3), (4, 5, 6, 7)), {"window": 0.03}
    add("icub_walking", icub, config, members, "icub_walking/walking.npz", _icub, **window)
    add("icub_standing", icub, config, members, "icub_walking/com_sinusoid.npz", _icub, **window)
    hopper = CACHE / "teststand.urdf"
    config = EstimatorConfig.from_mapping({"floating_base": False, "contacts": {"foot": {"link": "contact"}}})
    names = {"joints": ("joint_z", "HFE", "KFE")}
    add("hopper", hopper, config, ((0,),), "hopper_jump/hopper_jump.npz", lambda p: _plain("hopper", p, **names),
        hint=f"curl --create-dirs -o {hopper} {HOPPER}")  # fmt: skip
    cassie = data / "cassie_jump" / "cassie_v2.urdf"
    points = tuple(x for toe in TOES for x in toe)
    config = EstimatorConfig.from_mapping(
        {"contacts": {side: {"link": f"toe_{side}", "points": points} for side in ("left", "right")}}
    )
    add("cassie", cassie, config, _ALONE, "cassie_jump/jump_*.npz", _cassie)
    return found
