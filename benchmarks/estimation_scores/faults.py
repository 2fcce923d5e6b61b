"""Faults of sensors, as functions from an episode to an episode. The truth stays what it is."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from scipy.spatial.transform import Rotation

from benchmarks.estimation_scores.episodes import Array, Episode
from benchmarks.estimator import NOISE
from hybrid_contact_ros.recordings.recording import Recording


def noisy(episode: Episode, seed: int = 1, **changes: float) -> Episode:
    """Gaussian noise on every measured position and velocity, ``NOISE`` of benchmarks/estimator.py with changes."""
    sigma, rng = {**NOISE, **changes}, np.random.default_rng(seed)
    r = episode.recording
    assert r.q is not None and r.dq is not None
    moved = {"q": r.q + sigma["joint"] * rng.normal(size=r.q.shape),
             "dq": r.dq + sigma["rate"] * rng.normal(size=r.dq.shape)}  # fmt: skip
    if r.position is not None and r.linear is not None and r.angular is not None:
        moved["position"] = r.position + sigma["base"] * rng.normal(size=r.position.shape) + [0.0, 0.0, sigma["offset"]]
        moved["quaternion"] = _turned(r, sigma["angle"] * rng.normal(size=r.position.shape))
        moved["linear"] = r.linear + sigma["velocity"] * rng.normal(size=r.linear.shape)
        moved["angular"] = r.angular + sigma["rate"] * rng.normal(size=r.angular.shape)
    return replace(episode, recording=replace(r, **moved))


def _turned(recording: Recording, by: Array) -> Array:
    """Quaternions x, y, z, w turned by rotation vectors (n, 3) in the axes of the base."""
    return np.asarray((Rotation.from_quat(recording.quaternion) * Rotation.from_rotvec(by)).as_quat())
