"""What a robot may have beside joint states and odometry, as its configuration asks for it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol

import numpy as np

from hybrid_contact_ros.config import InputConfig
from hybrid_contact_ros.messages.commanded_contacts import WANTED, CommandedContactReader
from hybrid_contact_ros.messages.contact_sensors import SENSORS, ContactSensorReader
from hybrid_contact_ros.messages.contact_wrenches import ContactWrenches, WrenchReader
from hybrid_contact_ros.messages.imu import IMU, ImuReader
from hybrid_contact_ros.messages.joint_commands import COMMAND, JointCommandReader
from hybrid_contact_ros.messages.joint_states import Model
from hybrid_contact_ros.messages.parts import PartsReader
from hybrid_contact_ros.messages.side_inputs import Count, SideInput


class Beside(Protocol):
    """What becomes part of states."""

    @property
    def there(self) -> bool: ...

    def at(self, stamp_ns: int, count: Count) -> Any: ...


def side_inputs(
    model: Model,
    config: InputConfig,
    parts: Callable[[str], PartsReader],
    count: Count,
    world: Callable[[], str],
) -> tuple[dict[str, SideInput], list[tuple[str, Beside]]]:
    """The inputs by their topics, and what of them becomes which attribute of a state.

    Args:
        parts: makes what takes messages of a type apart. count: told of faults. world: the name of the world's frame.

    Raises:
        ValueError: ``input.*`` does not go with the robot.
    """
    side: dict[str, SideInput] = {}
    attributes: list[tuple[str, Beside]] = []
    timeout = config.sensor_timeout
    if model.joint_names:
        command = JointCommandReader.of(model, config)
        side[COMMAND] = SideInput(COMMAND, command.kind, parts(command.kind), command.read, config.command_timeout)
        attributes.append(("command", side[COMMAND]))
    if config.imu or config.base == "imu":
        side[IMU] = SideInput(IMU, "Imu", parts("Imu"), ImuReader(model).read, timeout, config.imu_delay)
        attributes.append(("imu", side[IMU]))
    if config.contact_sensors:
        sensors = ContactSensorReader(model, count)
        side[SENSORS] = SideInput(SENSORS, "JointState", parts("JointState"), sensors.read, timeout)
        attributes.append(("contact_reading", side[SENSORS]))
    if config.commanded_contacts:
        side[WANTED] = SideInput(
            WANTED, "JointState", parts("JointState"), CommandedContactReader(model).read, timeout
        )  # fmt: skip
        attributes.append(("commanded_contacts", side[WANTED]))
    wrenches = _wrenches(model, config, parts, world)
    if wrenches:
        side |= {each.topic: each for each, _ in wrenches}
        attributes.append(("contact_force", ContactWrenches(wrenches, len(model.contact_names))))
    return side, attributes


def _wrenches(
    model: Model, config: InputConfig, parts: Callable[[str], PartsReader], world: Callable[[], str]
) -> list[tuple[SideInput, Any]]:
    """The topic of each link that has a force sensor, with the contacts of the link.

    Raises:
        ValueError: there are not as many topics as links with contacts, or one is given twice.
    """
    topics = config.wrench_topics
    spheres = len(model.spheres.point)
    links = list(dict.fromkeys(model.contact_frames[:spheres]))
    if not topics:
        return []
    if len(topics) != len(links):
        raise ValueError(
            f"input.wrench_topics has {len(topics)} entries; one for each of {', '.join(links) or 'no link'} is needed"
        )
    named = [topic for topic in topics if topic]
    if len(set(named)) != len(named) or {COMMAND, IMU, SENSORS, WANTED} & set(named):
        raise ValueError(f"input.wrench_topics names a topic twice: {', '.join(named)}")
    found = []
    for link, topic in zip(links, topics, strict=True):
        if topic:
            contacts = np.flatnonzero([frame == link for frame in model.contact_frames[:spheres]])
            reader = WrenchReader(model, contacts, world)
            made = SideInput(topic, "WrenchStamped", parts("WrenchStamped"), reader.read, config.sensor_timeout)
            found.append((made, contacts))
    return found
