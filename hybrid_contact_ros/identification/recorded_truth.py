"""Recordings for the identification of noise: their states, and the truth of their contacts where a topic has it."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from hybrid_contact_ros.bags.reader import BagReader
from hybrid_contact_ros.bags.streams import Streams
from hybrid_contact_ros.config import EstimatorConfig
from hybrid_contact_ros.identification.noise import Episodes
from hybrid_contact_ros.identification.reading import read_states
from hybrid_contact_ros.mechanics.model import RigidBodyModel
from hybrid_contact_ros.mechanics.state import RobotState
from hybrid_contact_ros.scoring.event_timing import at_stamps

Bools = NDArray[np.bool_]


class Read(NamedTuple):
    """Recordings of one robot. damage, warnings: as of :class:`~hybrid_contact_ros.replay.result.ReplayResult`."""

    model: RigidBodyModel
    episodes: Episodes
    damage: str | None
    warnings: tuple[str, ...]


def read_recordings(
    bags: Sequence[str | Path],
    config: EstimatorConfig,
    urdf: str | Path | None,
    streams: Streams,
    twist_in_world: bool,
    truth: str | None = None,
) -> Read:
    """States of all recordings. ``truth``: a topic with ContactMode messages, which are believed.

    Raises:
        BagError: a recording or its topics cannot be used.
        ValueError: another robot in one of them, no truth on the topic, or contacts that are not the robot's.
    """
    model, damage = None, None
    warnings: list[str] = []
    every: list[Sequence[RobotState]] = []
    truths: list[Bools] = []
    for bag in bags:
        read = read_states(bag, config, urdf, streams, twist_in_world)
        if model is not None and read.model.joint_names != model.joint_names:
            raise ValueError(f"{bag} is of another robot than {bags[0]}: their joints differ")
        model = model or read.model
        damage = damage or read.damage
        warnings += read.warnings
        states = read.states
        if truth is not None:
            closed, known = _truth(bag, truth, model, states)
            if not known.all():
                warnings.append(f"{np.count_nonzero(~known)} states of {bag} have no truth and are left out")
            states = [state for state, k in zip(states, known, strict=True) if k]
            truths.append(closed[known])
        every.append(states)
    if model is None:
        raise ValueError("no recording was named")
    found = Episodes(tuple(every), tuple(truths) if truth is not None else None)
    return Read(model, found, damage, tuple(dict.fromkeys(warnings)))


def _truth(bag: str | Path, topic: str, model: RigidBodyModel, states: Sequence[RobotState]) -> tuple[Bools, Bools]:
    """Which contacts (n, m) are closed, and where that is known (n,)."""
    stamps, rows, members = [], [], None
    with BagReader(bag) as reader:
        if topic not in reader.topics:
            raise ValueError(f"{bag} has no topic {topic}; it has {', '.join(sorted(reader.topics))}")
        if not reader.topics[topic].endswith("/ContactMode"):
            raise ValueError(
                f"{topic} has messages of type {reader.topics[topic]}; a truth has hybrid_contact_msgs/msg/ContactMode"
            )
        for _, _, message in reader.messages([topic]):
            if members is None:
                members = _members([(c.name, c.frame) for c in message.contacts], model)
            stamp = message.header.stamp
            stamps.append(stamp.sec * 1_000_000_000 + stamp.nanosec)
            rows.append([bool(int(message.mode) >> i & 1) for i in range(len(message.contacts))])
    if members is None or not stamps:
        raise ValueError(f"{topic} of {bag} has no messages")
    missing = [name for i, name in enumerate(model.contact_names) if not any(i in each for each in members)]
    if missing:
        raise ValueError(f"{topic} of {bag} says nothing of {', '.join(missing)}: a truth is needed for every contact")
    origin = states[0].stamp_ns
    order = np.argsort(stamps, kind="stable")
    truth_t = np.asarray((np.array(stamps, dtype=np.int64)[order] - origin) * 1e-9, dtype=np.float64)
    t = np.array([(state.stamp_ns - origin) * 1e-9 for state in states])
    at, known = at_stamps(t, truth_t, np.array(rows, dtype=bool)[order])
    closed = np.zeros((len(states), model.contacts), dtype=bool)
    for column, each in enumerate(members):
        closed[:, each] = at[:, [column]]
    return closed, known


def _members(contacts: Sequence[tuple[str, str]], model: RigidBodyModel) -> list[list[int]]:
    """The contacts of the model that each one of the truth stands for: by name, else by link."""
    names, frames = model.contact_names, model.contact_frames
    found = []
    for name, frame in contacts:
        of_name = [i for i, each in enumerate(names) if each == name or re.fullmatch(re.escape(name) + r"_\d+", each)]
        found.append(of_name or [i for i, each in enumerate(frames) if each == frame])
    return found
