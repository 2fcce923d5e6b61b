"""What a node hears: messages of its inputs, which become states."""

from __future__ import annotations

import time
from abc import ABC, abstractmethod
from copy import copy
from functools import partial
from typing import Any

from nav_msgs.msg import Odometry
from sensor_msgs.msg import JointState

from hybrid_contact_ros.config import EstimatorConfig
from hybrid_contact_ros.mechanics.model import RigidBodyModel
from hybrid_contact_ros.messages.intake import JOINTS, ODOM, Intake
from hybrid_contact_ros.nodes.host import Host
from hybrid_contact_ros.nodes.turn import Turn
from hybrid_contact_ros.ros.boundary import protected
from hybrid_contact_ros.ros.diagnostics import FaultLog
from hybrid_contact_ros.ros.message_types import deserialize, message_class
from hybrid_contact_ros.ros.qos import STATE_INPUT, overridable
from hybrid_contact_ros.ros.subscription import Numbered


class StateInputs(ABC):
    """The inputs of a configured node.

    Args:
        node, model, config, twist_in_world, serialized: as of :class:`~.state_stream.StateStream`.

    Attributes:
        inputs: the topics that the model needs. beside: those that it may have or not, with the
            classes of their messages.
        enabled: while the node is active: messages are taken, or else ignored.
        turn: held while a state is answered; other threads that run Python do so in between.
    """

    def __init__(
        self, node: Host, model: RigidBodyModel, config: EstimatorConfig, twist_in_world: bool, serialized: bool
    ) -> None:
        self._node = node
        self.intake = (
            Intake(model, config.input, twist_in_world)
            if serialized
            else Intake(model, config.input, twist_in_world, deserialize, objects=True)
        )
        self.log = FaultLog(node.get_logger())
        self._protected = protected(node.get_logger(), self._failed)
        self.inputs = ([JOINTS] if model.joint_names else []) + ([ODOM] if self.intake.needs_odometry else [])
        self.beside = {topic: message_class(side.kind) for topic, side in self.intake.side.items()}
        self.enabled = False
        self.turn = Turn()
        self._told: tuple[str, str] | None = None  # the last fault of the intake that the log knows

    @abstractmethod
    def _take(
        self,
        receive: int,
        arrived: int,
        topic: str,
        convert: Any,
        msg: Any,
        number: int | None,
        writer: Any,
        received: int,
    ) -> None:
        """A message that may complete a state, while the turn is held; ``convert`` is the intake's for its topic."""

    @abstractmethod
    def _go_on(self) -> None:
        """A message has been dealt with."""

    @abstractmethod
    def _failed(self, why: str) -> None:
        """A fault of the suite."""

    def subscribe(self) -> None:
        """Listen from now on, until the node is cleaned up."""
        self._subscribe(JointState, "joint_states", self.on_joint_state)
        if self.intake.needs_odometry:
            self._subscribe(Odometry, "odom", self.on_odometry)
        for topic, kind in self.beside.items():
            self._subscribe(kind, topic, partial(self.on_side_input, topic))

    def on_joint_state(self, msg: JointState | bytes, number: int | None, writer: Any, received: int = 0) -> None:
        receive, arrived = self._node.now_ns(), time.perf_counter_ns()  # in this order, age and computation add up
        with self.turn:
            self._take(receive, arrived, JOINTS, self.intake.joint_state, msg, number, writer, received)
        self._go_on()

    def on_odometry(self, msg: Odometry | bytes, number: int | None, writer: Any, received: int = 0) -> None:
        receive, arrived = self._node.now_ns(), time.perf_counter_ns()  # in this order, age and computation add up
        with self.turn:
            self._take(receive, arrived, ODOM, self.intake.odometry, msg, number, writer, received)
        self._go_on()

    def on_side_input(self, topic: str, msg: Any, number: int | None, writer: Any, received: int = 0) -> None:
        """A message that answers no state, and becomes part of later ones."""
        with self.turn:
            if not (self.enabled and self._node.active):
                self.intake.rates[topic].forget()
                return
            with self._protected:
                self.intake.side_input(topic, msg, self._node.now_ns(), number, writer)
            self._tell_faults()
        self._go_on()

    def _tell_faults(self) -> None:
        intake = self.intake
        if intake.last_fault is not self._told:
            self._told = intake.last_fault
            self.log.tell(intake)

    def _subscribe(self, kind: type, topic: str, callback: Any) -> None:
        node = self._node
        subscription = node.create_subscription(
            kind,
            topic,
            Numbered(callback),
            copy(STATE_INPUT),
            qos_overriding_options=overridable(),
            raw=True,  # rclpy passes over messages that cannot be read, and nobody would count them
        )
        node.keep(node.destroy_subscription, subscription)
