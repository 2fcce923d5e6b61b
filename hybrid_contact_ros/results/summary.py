"""The summary of a result: what was run, on what, with which parameters, and what came of it."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hybrid_contact_ros import __version__
from hybrid_contact_ros.config import EstimatorConfig
from hybrid_contact_ros.mechanics.model import RigidBodyModel
from hybrid_contact_ros.scoring.track import of_one_clock

QUANTILES = (50, 90, 99, 100)
"""Percentages of which the summary tells latencies."""


def described(model: RigidBodyModel, config: EstimatorConfig, urdf: str | Path) -> dict[str, Any]:
    """What a result says of the program, the robot and the parameters.

    Args:
        urdf: text or file that the model was made from.
    """
    given = str(urdf)
    text = given.encode("utf-8") if given.lstrip().startswith("<") else Path(given).read_bytes()
    return {
        "package_version": __version__,
        "robot": str(model.pinocchio_model.name),
        "contacts": list(model.contact_names),
        "frames": list(model.contact_frames),
        "velocity_names": list(model.velocity_names),
        "velocity_units": list(model.velocity_units),
        "configuration": asdict(config),
        "hashes": {
            "configuration": configuration_hash(asdict(config)),
            "urdf": hashlib.sha256(text).hexdigest(),
            "model": f"{model.hash:016x}",
        },
    }


def configuration_hash(configuration: dict[str, Any]) -> str:
    """SHA-256 of all parameters; the same for the same values, in whatever order they were written."""
    return hashlib.sha256(json.dumps(configuration, sort_keys=True).encode("utf-8")).hexdigest()


def latencies(compute_ns: NDArray[np.int64], input_age_ns: NDArray[np.int64]) -> dict[str, Any]:
    """Quantiles in seconds, of the time that the estimator took for a state, and of the age that a measurement had when
    it was recorded (which a clock that differs from that of the recorder moves); None where there is no state."""
    said: dict[str, Any] = {}
    for name, values in (("compute", compute_ns), ("input_age", input_age_ns)):
        found = np.percentile(values, QUANTILES) * 1e-9 if values.size else [None] * len(QUANTILES)
        said[name] = {f"p{q}": None if x is None else float(x) for q, x in zip(QUANTILES, found, strict=True)}
    return said


def span(stamps_ns: NDArray[np.int64], duration: float) -> dict[str, Any]:
    """The first and the last stamp of the states, of one clock where it was set back, and how long they last (s)."""
    kept = stamps_ns[of_one_clock(stamps_ns)]
    start, end = (int(kept[0]), int(kept[-1])) if kept.size else (None, None)
    return {"start_ns": start, "end_ns": end, "duration": duration, "states": int(stamps_ns.size)}


def truth_groups(names: Sequence[str], groups: Sequence[tuple[str, Sequence[int]]]) -> list[dict[str, Any]]:
    """Each contact of the truth with the predicted ones that it is compared with."""
    return [
        {"name": name, "members": [int(i) for i in members], "contacts": [names[i] for i in members]}
        for name, members in groups
    ]
