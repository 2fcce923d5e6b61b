"""Joint positions and an inertial unit as a robot has them that nobody has calibrated: nothing else is measured.

Encoders have zeros that are off, quantised and noisy positions and no velocities, and do not see how gears give way
under load; the unit is mounted askew, drifts, and has bias and noise; messages come slowly, at stamps that are not
quite theirs. All of it is drawn: several draws are several robots.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from scipy.spatial.transform import Rotation

from benchmarks.estimation_scores.episodes import Array, Episode, states
from benchmarks.estimation_scores.faults import STEP, slower
from hybrid_contact_ros.estimation.base_from_legs import BaseFromLegs
from hybrid_contact_ros.mechanics.model import RigidBodyModel
from hybrid_contact_ros.mechanics.sensors import ImuMeasurement
from hybrid_contact_ros.mechanics.state import RobotState
from hybrid_contact_ros.messages.slopes import PositionSlopes

ZERO, NOISE, GIVES = 0.04, 0.0005, 0.01  # rad: zeros at most, deviation, and what gears give under the largest load
TILT, TURN = (0.035, 0.07), 0.003  # rad, of the unit's mounting (2 to 4°); rad/s, of its drift
GYRO_BIAS, GYRO = 0.01, 0.02  # rad/s
BIAS, ACCELERATION = 0.3, 0.5  # m/s²
GRAVITY = np.array([0.0, 0.0, -9.81])


@dataclass(frozen=True, slots=True)
class Rough:
    """``rate``: Hz, 0 for that of the recording. ``jitter``: of the stamps, as a part of the period."""

    rate: float = 0.0
    jitter: float = 0.0


def rough(episode: Episode, how: Rough, draw: int) -> tuple[Episode, list[ImuMeasurement]]:
    """What such a robot measures, as an episode without odometry and efforts, and its unit's measurements."""
    rng = np.random.default_rng(draw)
    r = episode.recording
    assert r.q is not None and r.quaternion is not None and r.linear is not None and r.angular is not None
    n, joints = r.q.shape
    q = r.q + ZERO * rng.uniform(-1.0, 1.0, joints) + NOISE * rng.normal(size=(n, joints))
    if r.effort is not None:
        q = q + GIVES * r.effort / np.maximum(np.quantile(np.abs(r.effort), 0.99, axis=0), 1e-9)
    turn = Rotation.from_quat(r.quaternion)
    dt = np.diff(r.time, prepend=2 * r.time[0] - r.time[1])
    acceleration = np.diff(turn.apply(r.linear), axis=0, prepend=turn[:1].apply(r.linear[:1])) / dt[:, None]
    mounted = Rotation.from_rotvec(rng.uniform(*TILT) * _level_axis(rng))
    felt = mounted.inv().apply(turn.inv().apply(acceleration - GRAVITY))
    felt += BIAS * _level_axis(rng) + ACCELERATION * rng.normal(size=(n, 3))
    spin = mounted.inv().apply(r.angular) + GYRO_BIAS * _level_axis(rng) + GYRO * rng.normal(size=(n, 3))
    drift = Rotation.from_rotvec(TURN * np.outer(r.time - r.time[0], _level_axis(rng)))
    seen = replace(r, q=STEP * np.round(q / STEP), effort=None, quaternion=(drift * turn * mounted).as_quat(),
                   angular=spin, linear=felt)  # fmt: skip
    found = replace(episode, recording=seen)
    if how.rate:
        found = slower(found, how.rate)
    r = found.recording
    assert r.q is not None and r.quaternion is not None and r.linear is not None and r.angular is not None
    period = float(np.median(np.diff(r.time)))
    time = np.maximum.accumulate(r.time + how.jitter * period * rng.uniform(-0.5, 0.5, r.time.size))
    stamps = np.rint(1e9 * time).astype(np.int64).tolist()
    slopes, dq = PositionSlopes(), np.zeros_like(r.q)
    for i, stamp in enumerate(stamps):
        row = slopes.add(stamp, tuple(r.joints), r.q[i])
        dq[i] = 0.0 if row is None else row
    unknown = np.full((3, 3, 3), np.nan)
    units = [ImuMeasurement(t, *row, np.zeros(3), unknown)
             for t, *row in zip(stamps, r.quaternion, r.angular, r.linear, strict=True)]  # fmt: skip
    nothing = np.zeros((r.time.size, 3))
    return replace(found, recording=replace(r, time=time, dq=dq, position=nothing, linear=nothing)), units


def based(model: RigidBodyModel, episode: Episode, units: list[ImuMeasurement]) -> tuple[Episode, list[RobotState]]:
    """The states that the base of the legs makes of it, and the episode as whoever has such states sees it."""
    legs, made, rows = BaseFromLegs(model), [], []
    for state, unit in zip(states(model, episode.recording), units, strict=True):
        base = legs.add(state.stamp_ns, state.q, state.v, unit)
        assert base is not None
        made.append(replace(base.below(state), imu=unit))
        rows.append(base.numbers)
    position, quaternion, linear, angular = np.split(np.array(rows), (3, 7, 10), axis=1)
    moved = {"position": position, "quaternion": quaternion, "linear": linear, "angular": angular}
    return replace(episode, recording=replace(episode.recording, **moved)), made


def _level_axis(rng: np.random.Generator) -> Array:
    """A unit vector: level for the most part, since nobody knows the heading anyway."""
    axis = rng.normal(size=3) * [1.0, 1.0, 0.3]
    return np.asarray(axis / np.linalg.norm(axis))
