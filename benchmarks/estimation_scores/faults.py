"""Faults of sensors, as functions from an episode to an episode. The truth stays what it is."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray
from scipy.spatial.transform import Rotation

from benchmarks.estimation_scores.episodes import Array, Episode
from benchmarks.estimator import NOISE
from hybrid_contact_ros.mechanics.sensors import ImuMeasurement
from hybrid_contact_ros.messages.carried_base import CarriedBases
from hybrid_contact_ros.messages.inertial_trail import InertialTrail
from hybrid_contact_ros.messages.odometry import Base
from hybrid_contact_ros.messages.slopes import PositionSlopes
from hybrid_contact_ros.recordings.recording import Recording
from hybrid_contact_ros.recordings.unit import specific_force

GYRO, TILT = 0.02, 0.005  # rad/s, rad
SCALE, FRICTION = 0.1, 0.03
EFFORT_NOISE = 0.03
ROTOR = 1500.0  # rad/s², at which the largest effort of a drive turns its own rotor
BUSY, RUN, LEAPS = 0.05, 6.0, 4.0  # of the states, at which a run of lost ones begins; states; 1/s
SPIKE, SPIKES = 1e6, 2.0  # N m, 1/s
STEP = 2.0 * np.pi / 2**14  # rad, of an encoder of 14 bits


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


def encoder_noise(episode: Episode, seed: int = 2) -> Episode:
    """Noise of the joints alone, 2 mrad and 0.05 rad/s."""
    rng, r = np.random.default_rng(seed), episode.recording
    assert r.q is not None and r.dq is not None
    moved = r.q + NOISE["joint"] * rng.normal(size=r.q.shape), r.dq + NOISE["rate"] * rng.normal(size=r.dq.shape)
    return replace(episode, recording=replace(r, q=moved[0], dq=moved[1]))


def positions_alone(episode: Episode) -> Episode:
    """Encoders of 14 bits, and nobody measures velocities: they are those that the intake finds."""
    r, slopes = episode.recording, PositionSlopes()
    assert r.q is not None
    q, names = STEP * np.round(r.q / STEP), tuple(r.joints)
    found = [slopes.add(int(stamp), names, row) for stamp, row in zip(np.rint(1e9 * r.time), q, strict=True)]
    dq = np.array([np.zeros(q.shape[1]) if row is None else row for row in found])
    return replace(episode, recording=replace(r, q=q, dq=dq))


def imu_bias(episode: Episode, seed: int = 3) -> Episode:
    """0.02 rad/s in the base's rates, and 5 mrad in its attitude, which 0.05 m/s² in an accelerometer make, along axes
    that are drawn."""
    r = episode.recording
    if r.angular is None:
        return episode
    axes = np.random.default_rng(seed).normal(size=(2, 3))
    axes /= np.linalg.norm(axes, axis=1, keepdims=True)
    turned = _turned(r, np.tile(TILT * axes[1], (r.time.size, 1)))
    return replace(episode, recording=replace(r, angular=r.angular + GYRO * axes[0], quaternion=turned))


def efforts(episode: Episode, seed: int = 4, friction: float = FRICTION) -> Episode:
    """Efforts of each joint scaled by 0.9 to 1.1, and with dry ``friction`` of the gears in them, in parts of the
    joint's largest."""
    r = episode.recording
    if r.effort is None or r.dq is None:
        return episode
    scale = np.random.default_rng(seed).uniform(1.0 - SCALE, 1.0 + SCALE, r.effort.shape[1])
    dry = friction * _largest(r.effort) * np.tanh(r.dq / 0.1)
    return replace(episode, recording=replace(r, effort=scale * r.effort + dry))


def effort_noise(episode: Episode, seed: int = 9, share: float = EFFORT_NOISE) -> Episode:
    """White noise on every measured effort, of ``share`` of the joint's largest, as measured currents have."""
    r = episode.recording
    if r.effort is None:
        return episode
    noise = share * _largest(r.effort) * np.random.default_rng(seed).normal(size=r.effort.shape)
    return replace(episode, recording=replace(r, effort=r.effort + noise))


def _largest(effort: Array) -> Array:
    """Of each joint, but for single states."""
    return np.asarray(np.quantile(np.abs(effort), 0.99, axis=0))


def rotors(episode: Episode) -> Episode:
    """Efforts of drives that turn rotors of their own besides, which no URDF knows: those of gears of 6:1 to 10:1."""
    r = episode.recording
    if r.effort is None or r.dq is None:
        return episode
    inertia = _largest(r.effort) / ROTOR
    return replace(episode, recording=replace(r, effort=r.effort + inertia * np.gradient(r.dq, r.time, axis=0)))


def raised(episode: Episode, height: float = 0.0, rate: float = 0.0) -> Episode:
    """The measured base is too high by ``height`` (m) and ``rate`` (m/s) times the time."""
    r = episode.recording
    if r.position is None:
        return episode
    z = height + rate * (r.time - r.time[0])
    return replace(episode, recording=replace(r, position=r.position + np.outer(z, [0.0, 0.0, 1.0])))


def lost(episode: Episode, share: float = 0.05, seed: int = 5) -> Episode:
    """Some messages never come: the estimator is given what the others say, and scored there."""
    kept = np.random.default_rng(seed).random(episode.recording.time.size) >= share
    return episode.part(np.flatnonzero(kept))


def bursts(episode: Episode, every: float = 0.21, lasting: float = 0.04) -> Episode:
    """A busy wireless network: nothing comes for 0.17 s, then states as they were made, for 40 ms; these are scored."""
    r = episode.recording
    return episode.part(np.flatnonzero((r.time - r.time[0]) % every < lasting))


def busy(episode: Episode, seed: int = 7) -> Episode:
    """A computer with other work, as it is where ``./run demo`` shares it: states are lost in runs of some, and four
    times a second the stamps go on by 50 to 60 ms in which the robot does not, as those of a simulator that is late."""
    r, rng = episode.recording, np.random.default_rng(seed)
    kept = np.ones(r.time.size, dtype=bool)
    for k in np.flatnonzero(rng.random(r.time.size) < BUSY).tolist():
        kept[k : k + 1 + int(rng.exponential(RUN))] = False
    leaps = rng.uniform(0.05, 0.06, r.time.size) * (rng.random(r.time.size) < LEAPS * np.gradient(r.time))
    later = replace(episode, recording=replace(r, time=r.time + np.cumsum(leaps)))
    return later.part(np.flatnonzero(kept))


def slower(episode: Episode, rate: float) -> Episode:
    """Only so many states a second (Hz) come, and are scored."""
    return episode.part(_at(rate, episode.recording.time))


def _at(rate: float, time: Array) -> NDArray[np.intp]:
    """Which samples come ``rate`` times a second: the first of each period."""
    steps = np.floor((time - time[0]) * rate + 1e-6)
    return np.flatnonzero(np.diff(steps, prepend=-1.0) > 0.0)


def spikes(episode: Episode, seed: int = 6) -> Episode:
    """Efforts of ``SPIKE`` in single states of single joints, ``SPIKES`` a second."""
    r, rng = episode.recording, np.random.default_rng(seed)
    if r.effort is None:
        return episode
    effort = r.effort.copy()
    hit = np.flatnonzero(rng.random(r.time.size) < SPIKES * np.gradient(r.time))
    effort[hit, rng.integers(effort.shape[1], size=hit.size)] = SPIKE
    return replace(episode, recording=replace(r, effort=effort))


def late_base(episode: Episode, by: float = 0.003) -> Episode:
    """The base's pose and velocity are those of ``by`` seconds before."""
    r = episode.recording
    if r.position is None or r.quaternion is None or r.linear is None or r.angular is None:
        return episode
    k = _before(r.time, by)
    moved = {name: getattr(r, name)[k] for name in ("position", "quaternion", "linear", "angular")}
    return replace(episode, recording=replace(r, **moved))


def late_efforts(episode: Episode, by: float = 0.003) -> Episode:
    """The efforts are those of ``by`` seconds before: drives low-pass them, or send them in a frame of their own."""
    r = episode.recording
    return episode if r.effort is None else replace(episode, recording=replace(r, effort=r.effort[_before(r.time, by)]))


def motor_currents(episode: Episode, seed: int = 8, by: float = 0.002, over: float = 0.005) -> Episode:
    """Efforts as drives make them of the currents of their motors: scaled, with dry friction of 5 % of the largest,
    low-passed (``over``, s, one pole) and late."""
    episode = efforts(episode, seed, friction=0.05)
    r = episode.recording
    if r.effort is None:
        return episode
    return late_efforts(replace(episode, recording=replace(r, effort=low_passed(r.effort, r.time, over))), by)


def late_rates(episode: Episode, over: float = 0.01) -> Episode:
    """Velocities of joints that drives low-pass (``over``, s, one pole), and positions of encoders of 14 bits."""
    r = episode.recording
    assert r.q is not None and r.dq is not None
    moved = replace(r, q=STEP * np.round(r.q / STEP), dq=low_passed(r.dq, r.time, over))
    return replace(episode, recording=moved)


def low_passed(values: Array, time: Array, over: float) -> Array:
    """Rows of values (n, …) after one pole with the time constant ``over`` (s)."""
    smooth = values.copy()
    share = -np.expm1(-np.diff(time) / over)
    for k in range(1, time.size):
        smooth[k] = smooth[k - 1] + share[k - 1] * (values[k] - smooth[k - 1])
    return smooth


def _before(time: Array, by: float) -> NDArray[np.intp]:
    """The last sample that each one has ``by`` seconds before; the first one where there is none."""
    return np.maximum(np.searchsorted(time, time - by + 1e-9, side="right") - 1, 0)


def slow_base(episode: Episode, rate: float, late: float = 0.0, unit: bool = False) -> Episode:
    """Odometry of so many a second (Hz), ``late`` by so much (s), which the intake carries to each joint state: along
    its twist, or along what an inertial ``unit`` measures."""
    r = late_base(episode, late).recording
    if r.position is None or r.quaternion is None or r.linear is None or r.angular is None:
        return episode
    stamps = np.rint(1e9 * r.time).astype(np.int64).tolist()
    measured = _measured(stamps, episode.recording) if unit else []
    new = _at(rate, r.time)
    k = new[np.searchsorted(new, np.arange(r.time.size), side="right") - 1]
    numbers = np.column_stack((r.position, r.quaternion, r.linear, r.angular))[k]
    trail = InertialTrail() if unit else None
    bases, carry, nothing = [], CarriedBases(trail), np.zeros((2, 6, 6))
    for i, base in enumerate(Base(row, None) for row in numbers):
        if trail is not None:
            trail.add(measured[i])
        if k[i] == i:
            carry.note(base, stamps[i])
        bases.append(carry.at(base, stamps[k[i]], stamps[i]))
    position, quaternion, linear, angular = np.split(np.array([base.numbers for base in bases]), (3, 7, 10), axis=1)
    moved = {"position": position, "quaternion": quaternion, "linear": linear, "angular": angular}
    moved["base_carried"] = np.array([nothing if base.carried is None else base.carried for base in bases])
    return replace(episode, recording=replace(r, **moved))


def _measured(stamps: list[int], recording: Recording) -> list[ImuMeasurement]:
    """What a unit at the origin of the root link measures."""
    assert recording.angular is not None
    rows = zip(stamps, recording.angular, specific_force(recording), strict=True)
    return [ImuMeasurement(stamp, None, spin, force) for stamp, spin, force in rows]


def everything(episode: Episode) -> Episode:
    """All faults at once, the loss last."""
    for fault in (encoder_noise, imu_bias, efforts, FAULTS["drift 1 cm/s"], FAULTS["plane 5 mm off"], late_base, lost):
        episode = fault(episode)
    return episode


FAULTS: dict[str, Callable[[Episode], Episode]] = {
    "none": lambda episode: episode,
    "encoder noise": encoder_noise,
    "positions alone": positions_alone,
    "late joint velocities": late_rates,
    "IMU bias": imu_bias,
    "effort scale and friction": efforts,
    "effort noise": effort_noise,
    "rotors": rotors,
    "drift 1 cm/s": lambda episode: raised(episode, rate=0.01),
    "plane 5 mm off": lambda episode: raised(episode, height=0.005),
    "plane 5 mm off, the other way": lambda episode: raised(episode, height=-0.005),
    "5 % lost": lost,
    "3 ms offset": late_base,
    "efforts 3 ms late": late_efforts,
    "efforts of motor currents": motor_currents,
    "odometry of 50 Hz": lambda episode: slow_base(episode, 50.0),
    "late odometry": lambda episode: slow_base(episode, 50.0, 0.006),
    "late odometry, inertial unit": lambda episode: slow_base(episode, 50.0, 0.006, unit=True),
    "all together": everything,
    "bursts": bursts,
    "busy computer": busy,
    "effort spikes": spikes,
    "50 Hz": lambda episode: slower(episode, 50.0),
    "20 Hz": lambda episode: slower(episode, 20.0),
    "10 Hz": lambda episode: slower(episode, 10.0),
}
