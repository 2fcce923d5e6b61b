"""What a robot may have, step by step: joint states and an inertial unit alone, then odometry, efforts, foot sensors.

Units and foot sensors are made of the true motion and forces, with faults of their own: noise and bias of the unit,
noise, bias and scale of force sensors, unknown unit, zero, drift and noise of raw readings.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
from scipy.spatial.transform import Rotation

from benchmarks.estimation_scores.episodes import Array, Episode, Source, states
from hybrid_contact_ros.estimation.base_from_legs import BaseFromLegs
from hybrid_contact_ros.mechanics.model import RigidBodyModel
from hybrid_contact_ros.mechanics.sensors import (
    CommandedContacts,
    ContactForces,
    ContactReadings,
    ImuMeasurement,
)
from hybrid_contact_ros.mechanics.state import RobotState
from hybrid_contact_ros.messages.contact_sensors import ReadingHealth
from hybrid_contact_ros.recordings.unit import specific_force

TILT, GYRO_BIAS, GYRO, BIAS, NOISE = 0.005, 0.005, 0.005, 0.1, 0.2  # rad, rad/s, rad/s, m/s², m/s²
FORCE_NOISE, FORCE_BIAS, FORCE_SCALE = 0.02, 0.08, 0.15  # parts of a foot's share of the weight, and of a force
COUNTS, COUNT_NOISE, DRIFT = 30.0, 1.0, 0.3  # a share of the weight, deviation, and drift a second, in counts
LATE, EARLY = 0.02, 0.01  # s, deviation of a contact from its command


@dataclass(frozen=True, slots=True)
class Step:
    """What is given: odometry or the base from the legs; efforts; an inertial unit; forces or readings of feet; the
    contacts of a schedule ("right", or "wrong": those of another foot)."""

    odometry: bool = False
    efforts: bool = False
    unit: bool = True
    forces: bool = False
    readings: bool = False
    schedule: str = ""


STEPS: dict[str, Step] = {
    "joints and IMU": Step(),
    "with force sensors": Step(forces=True),
    "with raw readings": Step(readings=True),
    "odometry, no IMU": Step(odometry=True, unit=False),
    "odometry": Step(odometry=True),
    "odometry, raw readings": Step(odometry=True, readings=True),
    "odometry, schedule": Step(odometry=True, schedule="right"),
    "efforts, no IMU": Step(odometry=True, efforts=True, unit=False),
    "efforts": Step(odometry=True, efforts=True),
    "efforts, raw readings": Step(odometry=True, efforts=True, readings=True),
    "efforts, force sensors": Step(odometry=True, efforts=True, forces=True),
    "efforts, schedule": Step(odometry=True, efforts=True, schedule="right"),
    "efforts, wrong schedule": Step(odometry=True, efforts=True, schedule="wrong"),
}


def possible(step: Step, model: RigidBodyModel, episode: Episode) -> bool:
    """Whether a recording has what a step needs."""
    r = episode.recording
    based = r.position is not None
    force = episode.force is not None
    return based and (not step.efforts or r.effort is not None) and (force or not (step.forces or step.readings))


def maker(source: Source, step: Step, seed: int = 7) -> Callable[[RigidBodyModel, Episode], list[RobotState]]:
    """What makes the states of an episode of a source."""
    return lambda model, episode: sensed(source, model, episode, step, seed)


def sensed(source: Source, model: RigidBodyModel, episode: Episode, step: Step, seed: int) -> list[RobotState]:
    recording = episode.recording if step.efforts else replace(episode.recording, effort=None)
    rng = np.random.default_rng(seed)
    found = states(model, recording)
    units = inertial(episode, rng) if step.unit or not step.odometry else [None] * len(found)
    forces = _forces(model, episode, rng) if step.forces else [None] * len(found)
    readings = _readings(model, episode, rng) if step.readings else [None] * len(found)
    wanted = _schedule(source, model, episode, rng, step.schedule == "wrong") if step.schedule else [None] * len(found)
    legs = None if step.odometry else BaseFromLegs(model)
    made = []
    for state, unit, force, reading, want in zip(found, units, forces, readings, wanted, strict=True):
        if legs is not None and unit is not None:
            base = legs.add(state.stamp_ns, state.q, state.v, unit)
            assert base is not None
            state = base.below(state)
        made.append(
            replace(
                state, imu=unit, contact_force=force, contact_reading=reading, commanded_contacts=want
            )
        )  # fmt: skip
    return made


def inertial(episode: Episode, rng: np.random.Generator) -> list[ImuMeasurement]:
    """A unit in the root link: attitude off by a tilt, rates and accelerations with bias and noise."""
    r = episode.recording
    assert r.quaternion is not None and r.linear is not None and r.angular is not None
    n = r.time.size
    turn = Rotation.from_quat(r.quaternion)
    force = specific_force(r) + BIAS * _axis(rng) + NOISE * rng.normal(size=(n, 3))
    spin = r.angular + GYRO_BIAS * _axis(rng) + GYRO * rng.normal(size=(n, 3))
    tilted = (turn * Rotation.from_rotvec(TILT * _axis(rng))).as_quat()
    stamps = np.rint(1e9 * r.time).astype(np.int64).tolist()
    unknown = np.full((3, 3, 3), np.nan)
    return [ImuMeasurement(t, *row, np.zeros(3), unknown) for t, *row in zip(stamps, tilted, spin, force, strict=True)]


def _axis(rng: np.random.Generator) -> Array:
    axis = rng.normal(size=3)
    return np.asarray(axis / np.linalg.norm(axis))


def _share(model: RigidBodyModel) -> float:
    return float(9.81 * sum(i.mass for i in list(model.pinocchio_model.inertias)[1:]) / model.contacts)


def _forces(model: RigidBodyModel, episode: Episode, rng: np.random.Generator) -> list[ContactForces]:
    assert episode.force is not None
    true, share = episode.force, _share(model)
    m = true.shape[1]
    scale = 1.0 + FORCE_SCALE * rng.uniform(-1.0, 1.0)
    force = (
        scale * true + FORCE_BIAS * share * rng.normal(size=(m, 3)) + FORCE_NOISE * share * rng.normal(size=true.shape)
    )
    stamps = np.rint(1e9 * episode.recording.time).astype(np.int64)
    yes = np.ones(m, dtype=np.bool_)
    return [ContactForces(np.full(m, t), f, yes, yes) for t, f in zip(stamps, force, strict=True)]


def _readings(model: RigidBodyModel, episode: Episode, rng: np.random.Generator) -> list[ContactReadings]:
    assert episode.force is not None
    load, t = np.linalg.norm(episode.force, axis=2) / _share(model), episode.recording.time
    m = load.shape[1]
    counts = (
        COUNTS * rng.uniform(0.7, 1.4, m) * load
        + rng.uniform(20.0, 200.0, m)
        + DRIFT * np.outer(t - t[0], rng.normal(size=m))
    )
    raw = np.round(counts + COUNT_NOISE * rng.normal(size=load.shape))
    stamps = np.rint(1e9 * t).astype(np.int64).tolist()
    health = ReadingHealth(m)
    found = []
    for stamp, row in zip(stamps, raw, strict=True):
        loads = health.add(stamp, row)
        found.append(ContactReadings(stamp, row, loads, np.isfinite(loads) & ~health.dead & ~health.stuck))
    return found


def _schedule(
    source: Source, model: RigidBodyModel, episode: Episode, rng: np.random.Generator, wrong: bool
) -> list[CommandedContacts]:
    """The true contacts, each change of which was wanted some time before; where ``wrong``, those of the next foot.
    All points of a sole are wanted alike."""
    time, truth = episode.recording.time, episode.truth
    n, k = truth.shape
    m, stamps = model.contacts, np.rint(1e9 * time).astype(np.int64)
    wanted = np.zeros((n, m))
    for i in range(k):
        series = truth[:, (i + 1) % k if wrong else i]
        changes = np.flatnonzero(series[1:] != series[:-1]) + 1
        at = np.sort(time[changes] - EARLY + LATE * rng.normal(size=changes.size))
        count = np.searchsorted(at, time, side="right")
        wanted[:, list(source.members[i])] = ((count + int(series[0])) % 2)[:, None]
    found, since = [], np.full(m, stamps[0])
    for j in range(n):
        if j:
            since = np.where(wanted[j] != wanted[j - 1], stamps[j], since)
        found.append(CommandedContacts(int(stamps[j]), wanted[j], since))
    return found
