"""Noise, planes, efforts and delays of a robot from its recordings: all that is measured, before any of it is
written."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.spatial.transform import Rotation

from hybrid_contact_ros.config import EstimatorConfig
from hybrid_contact_ros.identification.base_delay import base_delay
from hybrid_contact_ros.identification.channel_noise import ChannelNoise, channel_noise
from hybrid_contact_ros.identification.effort_errors import EffortErrors, JointEffort, effort_errors, no_delay
from hybrid_contact_ros.identification.ground_planes import Plane, find_plane
from hybrid_contact_ros.identification.intervals import Found
from hybrid_contact_ros.identification.observed_contacts import Seen, pieces, see, stretches
from hybrid_contact_ros.identification.stance_noise import stance_noise, swing_motion
from hybrid_contact_ros.mechanics.model import RigidBodyModel
from hybrid_contact_ros.mechanics.state import RobotState

Array = NDArray[np.float64]
Bools = NDArray[np.bool_]


@dataclass(frozen=True, slots=True, eq=False)
class Episodes:
    """Recordings of one robot: the states of each, which contacts (n, m) are closed if there is a truth, and where
    (n, m) that is certain, if not everywhere."""

    states: tuple[Sequence[RobotState], ...]
    truth: tuple[Bools, ...] | None = None
    certain: tuple[Bools, ...] | None = None

    def part(self, episode: int, begin: int, end: int) -> Episodes:
        """Some samples of one episode."""
        truth, certain = (None if x is None else (x[episode][begin:end],) for x in (self.truth, self.certain))
        return Episodes((self.states[episode][begin:end],), truth, certain)

    def __add__(self, other: Episodes) -> Episodes:
        truth = None if self.truth is None or other.truth is None else self.truth + other.truth
        certain = None if self.certain is None or other.certain is None else self.certain + other.certain
        return Episodes(self.states + other.states, truth, certain)

    @property
    def samples(self) -> int:
        return sum(len(states) for states in self.states)


@dataclass(frozen=True, slots=True)
class Measured:
    """All that was measured.

    Attributes:
        channels: noise of ``joint positions``, ``joint velocities``, ``efforts``, and of the base: ``base position``,
            ``base orientation``, ``base velocity``, ``base rates``.
        stance: of feet that stand: ``gap``, ``rate``, ``load``, ``slide``. swing: of feet in the air: ``height``,
            ``speed``, ``slide``. planes: of each environment. efforts: of each joint. effort_delay: of all efforts.
        delay: of the base.
    """

    channels: dict[str, ChannelNoise]
    stance: dict[str, Found]
    swing: dict[str, Found]
    planes: dict[str, Plane]
    efforts: list[JointEffort]
    effort_delay: Found
    delay: Found

    def all(self) -> Iterator[Found]:
        """Every number, in the order in which it is told."""
        for channel in self.channels.values():
            yield from (channel.sigma, channel.correlation)
        yield from self.stance.values()
        yield from self.swing.values()
        for plane in self.planes.values():
            yield from (plane.height, *plane.slopes, *plane.feet.values(), plane.steps, plane.drift)
        for joint in self.efforts:
            yield from (joint.scale, joint.bias, joint.friction, joint.noise)
        yield self.effort_delay
        yield self.delay


def measure_noise(
    model: RigidBodyModel, config: EstimatorConfig, episodes: Episodes, with_efforts: bool = True
) -> Measured:
    """Measure everything. ``with_efforts``: also errors of efforts, which take the longest."""
    truths = episodes.truth or (None,) * len(episodes.states)
    seen = [see(model, config, states, truth) for states, truth in zip(episodes.states, truths, strict=True)]
    stances, swings = stretches(seen, True), stretches(seen, False)
    cut = pieces(stances, seen)
    efforts = (
        effort_errors(model, episodes.states, seen)
        if with_efforts
        else EffortErrors([], no_delay("it was not asked for"))
    )
    return Measured(
        channels=_channels(model, episodes),
        stance=stance_noise(cut, seen),
        swing=swing_motion(pieces(swings, seen), seen),
        planes=_planes(model, config, stances, cut, seen),
        efforts=efforts.joints,
        effort_delay=efforts.delay,
        delay=base_delay(model, episodes.states, seen, stances),
    )


def _channels(model: RigidBodyModel, episodes: Episodes) -> dict[str, ChannelNoise]:
    times = [1e-9 * np.array([s.stamp_ns - states[0].stamp_ns for s in states]) for states in episodes.states]
    q = [np.array([s.q for s in states]) for states in episodes.states]
    v = [np.array([s.v for s in states]) for states in episodes.states]
    base = model.floating_base
    joints_q, joints_v = 7 if base else 0, 6 if base else 0

    def of(name: str, unit: str, values: list[Array]) -> ChannelNoise:
        return channel_noise(name, unit, list(zip(times, values, strict=True)))

    found = {
        "joint positions": of("joint positions", "rad", [x[:, joints_q:] for x in q]),
        "joint velocities": of("joint velocities", "rad/s", [x[:, joints_v:] for x in v]),
    }
    if all(s.effort is not None for states in episodes.states for s in states):
        efforts = [np.array([s.effort for s in states])[:, joints_v:] for states in episodes.states]
        found["efforts"] = of("efforts", "N m", efforts)
    if base:
        found["base position"] = of("base position", "m", [x[:, :3] for x in q])
        found["base orientation"] = of("base orientation", "rad", [_turned(x[:, 3:7]) for x in q])
        found["base velocity"] = of("base velocity", "m/s", [x[:, :3] for x in v])
        found["base rates"] = of("base rates", "rad/s", [x[:, 3:6] for x in v])
    return found


def _turned(quaternions: Array) -> Array:
    """Orientations as rotations (n, 3) from the first, added up in the axes of the base: steps are small."""
    turn = Rotation.from_quat(quaternions)
    steps = (turn[:-1].inv() * turn[1:]).as_rotvec()
    return np.concatenate([np.zeros((1, 3)), np.cumsum(steps, axis=0)])


def _planes(model: RigidBodyModel, config: EstimatorConfig, stances, cut, seen: Sequence[Seen]) -> dict[str, Plane]:  # type: ignore[no-untyped-def]
    names = list(model.contact_names)
    of: dict[str, list[int]] = {}
    for name, contact in config.contacts.items():
        count = len(contact.points) // 3
        own = [name] if count == 1 else [f"{name}_{k}" for k in range(count)]
        of.setdefault(contact.environment, []).extend(names.index(x) for x in own)
    return {
        name: find_plane(name, config.environments[name], contacts, names, stances, cut, seen)
        for name, contacts in of.items()
    }
