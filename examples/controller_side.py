#!/usr/bin/env python3
"""A controller that listens to the contact suite: what to do with each of the three topics.

    python3 examples/controller_side.py --ros-args -r __ns:=/my_robot

It keeps one plan per contact and prints it whenever it changes:

* ``contact_mode``: swing gains in the air, stance gains on the ground, and the switch to landing gains *before* the
  touchdown, as soon as its earliest time comes near;
* ``impact_set``: when the velocity after the landing is uncertain, land softer, the more so the wider the set;
* ``constraint_stability``: do not load a contact that would not hold.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import rclpy
from rclpy.executors import ExternalShutdownException
from rclpy.node import Node

from hybrid_contact_msgs.msg import ConstraintStability, ContactMode, ContactState, PostImpactVelocitySet

# Joint stiffness (N m/rad) and damping (N m s/rad) of each phase.
GAINS = {"swing": (40.0, 1.0), "landing": (15.0, 3.0), "stance": (60.0, 2.0), "hold": (30.0, 3.0)}
SWITCH_AHEAD = 0.015  # s: gains are blended over this time, so they change this much before the touchdown
WIDE = 0.5  # m/s, rad/s: a set wider than this in any coordinate halves the stiffness of the landing
SET_KEPT = 0.1  # s: an impact set older than this says nothing any more


@dataclass(frozen=True)
class Plan:
    """What the controller does with one leg."""

    phase: str
    stiffness: float
    damping: float


class ControllerSide(Node):
    """Turns the suite's predictions into gains. ``plans`` holds the newest one of each contact."""

    def __init__(self, **options) -> None:
        super().__init__("controller_side", **options)
        self.plans: dict[str, Plan] = {}
        self._width: dict[str, tuple[float, float]] = {}  # contact: (stamp, width of the set it takes part in)
        self._failing: set[str] = set()
        self.create_subscription(ContactMode, "contact_mode", self._on_mode, 1)
        self.create_subscription(PostImpactVelocitySet, "impact_set", self._on_set, 1)
        self.create_subscription(ConstraintStability, "constraint_stability", self._on_stability, 1)

    def _on_set(self, msg: PostImpactVelocitySet) -> None:
        if not msg.count:
            return
        outcomes = np.frombuffer(msg.velocities).reshape(msg.count, msg.dof)
        width = float(np.ptp(outcomes, axis=0).max())
        for contact in msg.contacts:
            self._width[contact] = (seconds(msg.header.stamp), width)

    def _on_stability(self, msg: ConstraintStability) -> None:
        # UNDECIDED is no reason to act: it says that the margin is within the noise.
        self._failing = {
            name
            for name, closed, stable, cone in zip(
                msg.contacts, msg.closed, msg.constraint_stability, msg.friction, strict=True
            )
            if closed and ConstraintStability.FAILS in (stable, cone)
        }

    def _on_mode(self, msg: ContactMode) -> None:
        if not msg.validity & ContactMode.VALID_STATE:
            return
        now = seconds(msg.header.stamp)
        for contact in msg.contacts:
            phase = self._phase(contact)
            stiffness, damping = GAINS[phase]
            stamp, width = self._width.get(contact.name, (-np.inf, 0.0))
            if phase == "landing" and now - stamp < SET_KEPT:
                stiffness /= 1.0 + width / WIDE
            plan = Plan(phase, stiffness, damping)
            last = self.plans.get(contact.name)
            self.plans[contact.name] = plan
            if last is None or last.phase != phase:
                self.get_logger().info(f"{contact.name}: {phase}, {stiffness:.0f} N m/rad, {damping:.1f} N m s/rad")

    def _phase(self, contact: ContactState) -> str:
        if contact.status in (ContactState.STICKING, ContactState.SLIPPING):
            return "hold" if contact.name in self._failing else "stance"
        landing = contact.next_event == ContactState.EVENT_TOUCHDOWN
        return "landing" if landing and contact.time_to_event_earliest < SWITCH_AHEAD else "swing"


def seconds(stamp) -> float:
    return stamp.sec + 1e-9 * stamp.nanosec


def main() -> None:
    rclpy.init()
    node = ControllerSide()
    try:
        rclpy.spin(node)
    except (KeyboardInterrupt, ExternalShutdownException):
        pass
    finally:
        node.destroy_node()
        rclpy.try_shutdown()


if __name__ == "__main__":
    main()
