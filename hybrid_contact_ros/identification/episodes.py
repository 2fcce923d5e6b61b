"""The recordings that landings are identified from: which of them are episodes, and whether all are of one robot."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

from hybrid_contact_ros.bags.reader import BagReader
from hybrid_contact_ros.bags.streams import JOINT_STATE, ODOMETRY, Streams
from hybrid_contact_ros.config import EstimatorConfig
from hybrid_contact_ros.identification.landing_records import RecordedLanding, find_landings
from hybrid_contact_ros.identification.reading import read_states
from hybrid_contact_ros.mechanics.state import RobotState

_SLOW = 0.005  # s; longer steps between states do not show what happens within a landing
_COPIED = 0.5  # of the states of the shorter one: with more in common two recordings are one
_OURS = "hybrid_contact_msgs/"


class Episodes(NamedTuple):
    """The landings of all episodes, and how many ``episodes`` there are; ``damage``, ``warnings``: as of
    :class:`~hybrid_contact_ros.replay.result.ReplayResult`."""

    landings: list[RecordedLanding]
    episodes: int
    damage: str | None
    warnings: tuple[str, ...]


def read_episodes(
    bags: Sequence[str | Path],
    config: EstimatorConfig,
    urdf: str | Path | None,
    streams: Streams,
    twist_in_world: bool,
    reach: float,
) -> Episodes:
    """Read recordings of one robot. A recording of the states of another one counts once, with it, whatever its name
    and format; files of predictions without states, as replays leave them beside recordings, are none. Warnings say so.

    Raises:
        BagError: a recording or its topics cannot be used.
        ValueError: fewer than two episodes, no efforts, states too far apart, or another robot in one of them.
    """
    few = "there is one episode; fit and calibration need landings of different ones. Give two recordings or more"
    if len(bags) < 2:
        raise ValueError(few)
    found: list[RecordedLanding] = []
    warnings: list[str] = []
    seen: list[tuple[str | Path, set[tuple[int, bytes]]]] = []
    damage, robot = None, None
    for bag in bags:
        if _of_predictions(bag):
            warnings.append(f"{bag} holds predictions and no states: passed over")
            continue
        read = read_states(bag, config, urdf, streams, twist_in_world)
        name = (read.model.joint_names, round(float(read.model.problem(read.states[0]).mass[:3, :3].max()), 3))
        if robot is not None and name != robot:
            raise ValueError(f"{bag} is of another robot than {bags[0]}: their joints or masses differ")
        robot = name
        _check(bag, read.states)
        states = {(state.stamp_ns, state.q.tobytes()) for state in read.states}
        twin = next((old for old, held in seen if len(held & states) > _COPIED * min(len(held), len(states))), None)
        if twin is not None:
            warnings.append(f"{bag} has the states of {twin}: it is counted once")
            continue
        seen.append((bag, states))
        active = config.activation
        found += find_landings(read.model, read.states, str(bag), active.gap_on, active.velocity_sigma, reach)
        warnings += read.warnings
        damage = damage or read.damage
    if len(seen) < 2:
        raise ValueError(". ".join((few, *warnings)))
    return Episodes(found, len(seen), damage, tuple(dict.fromkeys(warnings)))


def _of_predictions(bag: str | Path) -> bool:
    """Whether a recording has messages of this suite, and nothing that states are made of."""
    with BagReader(bag) as reader:
        kinds = set(reader.topics.values())
    return any(kind.startswith(_OURS) for kind in kinds) and not kinds & {ODOMETRY, JOINT_STATE}


def _check(bag: str | Path, states: Sequence[RobotState]) -> None:
    if any(state.effort is None for state in states):
        raise ValueError(f"{bag} has no efforts: which forces act during a landing is not known. Record them")
    stamps = [state.stamp_ns for state in states]
    step = 1e-9 * float(np.median(np.diff(stamps))) if len(stamps) > 1 else 0.0
    if step > _SLOW:
        raise ValueError(
            f"the states of {bag} are {1e3 * step:.0f} ms apart, and a landing takes 1 to 6 ms: "
            "record at 500 Hz or more"
        )
