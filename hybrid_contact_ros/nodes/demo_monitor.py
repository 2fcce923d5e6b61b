"""The listener of the demo: hears the predictions and the truth, and says as lines of JSON what it heard.

A process of its own, so that drawing the table does not delay the messages whose latency it measures. Lines on
standard output are ``{"snapshot": …}`` about ten times a second, ``{"ready": true}`` once the suite is active, and
``{"summary": …}`` at the end, which a line on standard input brings about.
"""

from __future__ import annotations

import argparse
import gc
import json
import sys
import threading
import time
from pathlib import Path
from typing import Any

import numpy as np
import rclpy
from lifecycle_msgs.msg import State
from lifecycle_msgs.srv import GetState
from nav_msgs.msg import Odometry
from numpy.typing import NDArray
from rclpy.node import Node
from sensor_msgs.msg import JointState

from hybrid_contact_msgs.msg import ConstraintStability, ContactEvent, ContactMode, PostImpactVelocitySet
from hybrid_contact_ros.config import EstimatorConfig
from hybrid_contact_ros.demo.picture import draw
from hybrid_contact_ros.demo.record import DemoRecord
from hybrid_contact_ros.intake import Intake
from hybrid_contact_ros.mechanics.model import RigidBodyModel
from hybrid_contact_ros.mechanics.problem import ContactProblem
from hybrid_contact_ros.mechanics.state import RobotState
from hybrid_contact_ros.ros.executor import make_executor
from hybrid_contact_ros.ros.qos import OUTPUT, STATE_INPUT


class DemoMonitor(Node):
    """Collects messages into a record. The truth and the states go in only while predictions come."""

    def __init__(self, urdf: str, config: EstimatorConfig) -> None:
        super().__init__("demo_monitor")
        model = RigidBodyModel.from_urdf(urdf, config)
        rest = np.zeros(model.nv)

        def problem(q: NDArray[np.float64]) -> ContactProblem:
            return model.problem(RobotState(0, np.ascontiguousarray(q), rest))

        self.record = DemoRecord(model.contact_names, lambda q: problem(q).mass, lambda q: problem(q).normal_jacobian)
        self._intake = Intake(model, config.input)
        record = self.record
        self._listen(ContactMode, "contact_mode", self._on_mode)
        self._listen(ContactMode, "truth/contact_mode", self._on_truth)
        self._listen(ConstraintStability, "constraint_stability", record.stability)
        self._listen(PostImpactVelocitySet, "impact_set", record.impact)
        self._listen(ContactEvent, "contact_events", record.event)
        self.create_subscription(JointState, "joint_states", self._on_joints, STATE_INPUT)
        self.create_subscription(Odometry, "odom", self._on_odometry, STATE_INPUT)
        self._state: Any = self.create_client(GetState, "contact_suite/get_state")
        self._asked: Any = None
        self.active = False

    def ask(self) -> None:
        """Ask the suite whether it is active yet; the answer arrives with later callbacks."""
        if self._asked is not None and self._asked.done():
            self.active = self._asked.result().current_state.id == State.PRIMARY_STATE_ACTIVE
            self._asked = None
        elif self._asked is None and self._state.service_is_ready():
            self._asked = self._state.call_async(GetState.Request())

    def _listen(self, kind: type, topic: str, callback: Any) -> None:
        self.create_subscription(kind, topic, callback, OUTPUT)

    def _on_mode(self, msg: ContactMode) -> None:
        self.record.mode(msg, time.time_ns())

    def _on_truth(self, msg: ContactMode) -> None:
        self.record.truth(msg)

    def _on_joints(self, msg: JointState) -> None:
        self._keep(self._intake.joint_state(msg, time.time_ns()))

    def _on_odometry(self, msg: Odometry) -> None:
        self._keep(self._intake.odometry(msg, time.time_ns()))

    def _keep(self, state: RobotState | None) -> None:
        if state is not None:
            self.record.state(state.stamp_ns, state.q, state.v)


def say(**line: Any) -> None:
    """One line of JSON to the parent."""
    print(json.dumps(line), flush=True)


def listen(monitor: DemoMonitor) -> None:
    """Spin until a line comes on standard input."""
    stop = threading.Event()

    def wait_for_line() -> None:
        sys.stdin.readline()
        stop.set()

    threading.Thread(target=wait_for_line, daemon=True).start()
    executor = make_executor()
    executor.add_node(monitor)
    gc.collect()
    gc.freeze()
    next_look = 0.0
    was_active = False
    while rclpy.ok() and not stop.is_set():
        executor.spin_once(timeout_sec=0.05)
        if time.monotonic() < next_look:
            continue
        next_look = time.monotonic() + 0.1
        if not monitor.active:
            monitor.ask()
        elif not was_active:
            was_active = True
            say(ready=True)
        if monitor.record.latency.rows.size:
            say(snapshot=monitor.record.snapshot())
    executor.remove_node(monitor)
    executor.shutdown()


def main() -> None:
    """Listen, then score and draw."""
    parser = argparse.ArgumentParser(description="Listens to the demo.")
    parser.add_argument("urdf", type=Path)
    parser.add_argument("config", type=Path)
    parser.add_argument("picture", type=Path)
    args, rest = parser.parse_known_args()
    rclpy.init(args=[sys.argv[0], *rest])
    monitor = DemoMonitor(args.urdf.read_text(), EstimatorConfig.from_file(args.config))
    try:
        listen(monitor)
        summary = monitor.record.summary()
        if summary["predictions"]:
            args.picture.parent.mkdir(parents=True, exist_ok=True)
            draw(monitor.record, args.picture)
            summary["picture"] = str(args.picture)
        say(summary=summary)
    except KeyboardInterrupt:
        pass
    finally:
        monitor.destroy_node()
        rclpy.try_shutdown()


if __name__ == "__main__":
    main()
