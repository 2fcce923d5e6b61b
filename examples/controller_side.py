#!/usr/bin/env python3
"""A controller that listens to the contact suite: what to do with each of the three topics.

    python3 examples/controller_side.py --ros-args -r __ns:=/my_robot

It keeps one plan per contact and prints it whenever it changes:

* ``contact_mode``: swing gains in the air, stance gains on the ground, and the switch to landing gains *before* the
  touchdown, as soon as its earliest time comes near;
* ``impact_set``: when the velocity after the landing is uncertain, land softer, the more so the wider the set;
* ``constraint_stability``: do not load a contact that would not hold.

It takes the messages as bytes (``raw=True``) and reads the numbers where they lie, which is some ten times faster than
what rclpy does to make objects of them.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import rclpy
from rclpy.executors import ExternalShutdownException
from rclpy.node import Node

from hybrid_contact_msgs.msg import ConstraintStability, ContactMode, ContactState, PostImpactVelocitySet
from hybrid_contact_ros import ConstraintStabilityReader, ContactModeReader, PostImpactVelocitySetReader

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
        self._read_mode, self._read_set = ContactModeReader(), PostImpactVelocitySetReader()
        self._read_stability = ConstraintStabilityReader()
        self.create_subscription(ContactMode, "contact_mode", self._on_mode, 1, raw=True)
        self.create_subscription(PostImpactVelocitySet, "impact_set", self._on_set, 1, raw=True)
        self.create_subscription(ConstraintStability, "constraint_stability", self._on_stability, 1, raw=True)

    def _on_set(self, received: bytes) -> None:
        outcomes = self._read_set(received)
        if not outcomes.velocities.size:
            return
        width = float(np.ptp(outcomes.velocities, axis=0).max())
        for name in outcomes.names:
            self._width[name] = (1e-9 * outcomes.stamp_ns, width)

    def _on_stability(self, received: bytes) -> None:
        flags = self._read_stability(received)
        # UNDECIDED is no reason to act: it says that the margin is within the noise.
        fails = (flags.constraint_stability == ConstraintStability.FAILS) | (
            flags.friction == ConstraintStability.FAILS
        )
        self._failing = {flags.names[i] for i in np.flatnonzero(flags.closed & fails)}

    def _on_mode(self, received: bytes) -> None:
        mode = self._read_mode(received)
        if not mode.validity & ContactMode.VALID_STATE:
            return
        now = 1e-9 * mode.stamp_ns
        for name, contact in zip(mode.names, mode.contacts, strict=True):
            phase = self._phase(name, contact)
            stiffness, damping = GAINS[phase]
            stamp, width = self._width.get(name, (-np.inf, 0.0))
            if phase == "landing" and now - stamp < SET_KEPT:
                stiffness /= 1.0 + width / WIDE
            plan = Plan(phase, stiffness, damping)
            last = self.plans.get(name)
            self.plans[name] = plan
            if last is None or last.phase != phase:
                self.get_logger().info(f"{name}: {phase}, {stiffness:.0f} N m/rad, {damping:.1f} N m s/rad")

    def _phase(self, name: str, contact: np.void) -> str:
        """Of one contact; ``contact`` has the fields of a ``ContactState``."""
        if contact["status"] in (ContactState.STICKING, ContactState.SLIPPING):
            return "hold" if name in self._failing else "stance"
        landing = contact["next_event"] == ContactState.EVENT_TOUCHDOWN
        return "landing" if landing and contact["time_to_event_earliest"] < SWITCH_AHEAD else "swing"


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
