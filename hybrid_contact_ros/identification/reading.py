"""The states of a recording, for what is identified from them."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

from hybrid_contact_ros.bags.reader import BagReader
from hybrid_contact_ros.bags.streams import Streams
from hybrid_contact_ros.bags.unreadable import BagError
from hybrid_contact_ros.config import EstimatorConfig
from hybrid_contact_ros.mechanics.contact_balls import odd_balls
from hybrid_contact_ros.mechanics.model import RigidBodyModel
from hybrid_contact_ros.mechanics.state import RobotState
from hybrid_contact_ros.messages.intake import Intake


@dataclass(frozen=True, slots=True, eq=False)
class Recorded:
    """A recording: the robot's model and its states; ``damage``, ``warnings``: as of
    :class:`~hybrid_contact_ros.replay.result.ReplayResult`."""

    model: RigidBodyModel
    states: list[RobotState]
    damage: str | None
    warnings: tuple[str, ...]


def read_states(
    bag: str | Path, config: EstimatorConfig, urdf: str | Path | None, streams: Streams, twist_in_world: bool
) -> Recorded:
    """All states of a recording.

    Raises:
        BagError: the recording or its topics cannot be used, or it gives no state.
        ValueError: the configuration or the URDF cannot be used.
    """
    with BagReader(bag) as reader:
        streams = streams.found_in(reader, config.floating_base)
        source = streams.urdf(reader, urdf)
        model = RigidBodyModel.from_urdf(source, config)
        wanted = streams.needed(reader, model)
        intake = Intake(model, replace(config.input, base="odometry"), twist_in_world)
        states: list[RobotState] = []
        damage = reader.damage
        try:
            for topic, time_ns, data in reader.messages(wanted, raw=wanted):
                of_joints = topic == streams.joint_states
                state = intake.joint_state(data, time_ns) if of_joints else intake.odometry(data, time_ns)
                if state is not None:
                    states.append(state)
        except BagError as error:  # what came before the damage is as good as ever
            damage = str(error)
        if not states:
            raise BagError(
                damage or f"{bag} gives no state: {intake.last_fault[1] if intake.last_fault else 'no messages'}"
            )
        odd = [*odd_balls(source, config), *intake.contradictions(config.diagnostics.reported)]
        return Recorded(model, states, damage or None, (*reader.warnings, *streams.warnings, *odd, *_unread(intake)))


def _unread(intake: Intake) -> list[str]:
    """Warnings on the messages that could not be read."""
    return [
        f"{count} messages could not be read; the last: {intake.sentences[fault]}"
        for fault, count in intake.kinds.items()
        if fault.reason == "unreadable"
    ]
