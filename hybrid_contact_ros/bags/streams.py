"""Which topics of a recording carry the state of the robot, and its URDF."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from hybrid_contact_ros.bags.reader import BagReader
from hybrid_contact_ros.bags.unreadable import BagError
from hybrid_contact_ros.mechanics.model import RigidBodyModel

JOINT_STATE = "sensor_msgs/msg/JointState"
ODOMETRY = "nav_msgs/msg/Odometry"
STRING = "std_msgs/msg/String"


@dataclass(frozen=True, slots=True)
class Streams:
    """The topics by their roles. As in ROS, a name that does not begin with a slash is relative to the namespace.

    Attributes:
        warnings: what a user should know of how the topics were found.
    """

    joint_states: str = "joint_states"
    odometry: str = "odom"
    robot_description: str = "robot_description"
    namespace: str = ""
    warnings: tuple[str, ...] = field(default=())

    def absolute(self, topic: str) -> str:
        """The whole name of a topic."""
        prefix = self.namespace.strip("/")
        return topic if topic.startswith("/") else f"/{prefix}/{topic}" if prefix else f"/{topic}"

    def found_in(self, reader: BagReader, floating_base: bool) -> Streams:
        """The same streams with whole names. Where no namespace was given and none of the topics is in the root
        namespace, the only namespace that has the needed topics is taken.

        Raises:
            BagError: several namespaces have them, or the recording holds no message at all.
        """
        streams, present = self, reader.topics
        if not reader.count(list(present)):
            raise BagError(f"{reader.path} is empty: nothing was recorded")
        relative = [topic for topic in (self.joint_states, self.odometry) if not topic.startswith("/")]
        if not self.namespace and relative and not any(self.absolute(topic) in present for topic in relative):
            spaces = self._namespaces(present, floating_base)
            if len(spaces) > 1:
                listed = ", ".join(spaces)
                raise BagError(f"{reader.path} holds several robots: choose one by --namespace, of {listed}")
            if spaces:
                said = f"the topics of the namespace {spaces[0]} are used (--namespace {spaces[0].strip('/')})"
                streams = Streams(*self._names(), spaces[0], (said,))
        joints, base, description = (streams.absolute(topic) for topic in self._names())
        return Streams(joints, base, description, streams.namespace, streams.warnings)

    def needed(self, reader: BagReader, model: RigidBodyModel, legs: bool = False) -> list[str]:
        """The topics that the model needs, of joint states and odometry; with ``legs`` it needs no odometry.

        Raises:
            BagError: a needed topic is not there, is empty, or holds messages of another type.
        """
        wanted = [(self.joint_states, JOINT_STATE, "--joint-states")] if model.joint_names else []
        wanted += [(self.odometry, ODOMETRY, "--odometry")] if model.floating_base and not legs else []
        for topic, kind, option in wanted:  # one by one, because the same name may have been given for both
            try:
                reader.require({topic: kind})
            except BagError as error:
                others = sorted(name for name, held in reader.topics.items() if held == kind and name != topic)
                hint = f"\nOf that type {'is' if len(others) == 1 else 'are'} {', '.join(others)}: name it by {option}"
                raise BagError(f"{error}{hint if others else ''}") from None
        return [topic for topic, _, _ in wanted]

    def beside(self, reader: BagReader, wanted: Mapping[str, str]) -> dict[str, str]:
        """The whole names of those of ``wanted`` (names and types) that the recording holds, to their names in
        ``wanted``. One of another type is passed over, as by a node that listens to it."""
        whole = {self.absolute(topic): topic for topic in wanted}
        return {name: topic for name, topic in whole.items() if reader.topics.get(name) == wanted[topic]}

    def urdf(self, reader: BagReader, given: str | Path | None) -> str | Path:
        """The URDF that was given, or else the first one that was recorded.

        Raises:
            BagError: none was given, and none recorded.
        """
        topic = self.robot_description
        if given is not None:
            return given
        if topic not in reader.topics:
            listed = ", ".join(sorted(reader.topics)) or "nothing"
            raise BagError(f"{reader.path} holds no {topic}: name a URDF file (--urdf). Topics: {listed}")
        reader.require({topic: STRING})
        for _, _, msg in reader.messages([topic]):
            return str(msg.data)
        raise BagError(f"{topic} in {reader.path} is empty: name a URDF file (--urdf)")

    def _names(self) -> tuple[str, str, str]:
        return self.joint_states, self.odometry, self.robot_description

    def _namespaces(self, present: dict[str, str], floating_base: bool) -> list[str]:
        """The namespaces with all that is needed: joint states, and for a floating base odometry. Odometry alone is
        enough where none has both, for a free body has no joints."""

        def holding(topic: str, kind: str) -> set[str]:
            ending = f"/{topic}"
            return {name[: -len(ending)] for name, held in present.items() if name.endswith(ending) and held == kind}

        joints, bases = holding(self.joint_states, JOINT_STATE), holding(self.odometry, ODOMETRY)
        return sorted(((joints & bases) or bases) if floating_base else joints)
