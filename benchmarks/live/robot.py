"""The publishing process of a live measurement: a standing robot that lands and lifts off once a second.

    python -m benchmarks.live.robot JSON

It sends ``odom`` and ``joint_states`` as bytes that were serialized once, and patches stamp, height and velocities in
them. A line on standard input starts it. It reads the processor clocks of the processes that it is given, since it
alone knows when the first and the last state are sent.
"""

from __future__ import annotations

import gc
import json
import os
import sys
import time
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.live import machine

ROOT = Path(__file__).resolve().parents[2]
READY_TIMEOUT = 60.0  # s, until both topics have a subscriber
DRAIN = 0.3  # s after the last state, for those that are on their way


@dataclass(frozen=True)
class Robot:
    """A robot that stands, and how it is published.

    Attributes:
        config: parameter file. urdf: path below the robots of example-robot-data. rate: rate of the states, Hz.
        standing: angles of the joints by parts of their names, rad. bob: amplitude with which the height changes once a
        second, m. It brings touchdowns, and with them impact sets. noise: standard deviation of the velocities, rad/s.
        Above 0 the joints also carry the weight of the robot, spread
            evenly over its contacts, with up to 1 N m of noise.
    """

    config: str = str(ROOT / "config" / "go2.yaml")
    urdf: str = "go2_description/urdf/go2.urdf"
    rate: float = 500.0
    standing: dict[str, float] = field(default_factory=lambda: {"hip": 0.0, "thigh": 0.8, "calf": -1.5})
    bob: float = 0.02
    noise: float = 0.0


class States:
    """The two messages of a state as bytes.

    Args:
        robot: what is published.
    """

    def __init__(self, robot: Robot) -> None:
        from nav_msgs.msg import Odometry
        from sensor_msgs.msg import JointState

        from hybrid_contact_ros.config import EstimatorConfig
        from hybrid_contact_ros.mechanics.example_data import example_urdf
        from hybrid_contact_ros.mechanics.model import RigidBodyModel
        from hybrid_contact_ros.mechanics.state import RobotState
        from hybrid_contact_ros.messages.prepared import PreparedMessage

        model = RigidBodyModel.from_urdf(example_urdf(robot.urdf), EstimatorConfig.from_file(robot.config))
        angles = [next((x for part, x in robot.standing.items() if part in name), 0.0) for name in model.joint_names]
        q = np.array([0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0, *angles])
        problem = model.problem(RobotState(0, q, np.zeros(model.nv)))
        self._robot, self._height = robot, -float(problem.gap.min())
        self._generator = np.random.default_rng(0)
        self._carried = np.zeros(len(angles))
        if robot.noise:
            share = problem.bias_force[2] / model.contacts
            self._carried = (problem.bias_force - share * problem.normal_jacobian.sum(axis=0))[6:]
        zeros = [0.0] * len(angles)
        message = JointState(
            name=list(model.joint_names), position=angles, velocity=zeros, effort=self._carried.tolist()
        )
        base = Odometry(child_frame_id="base")
        base.header.frame_id = "world"
        base.pose.pose.orientation.w = 1.0
        self.joints, self.odometry = PreparedMessage("JointState", message), PreparedMessage("Odometry", base)
        self._velocity, self._effort = self.joints.view("velocity"), self.joints.view("effort")
        self._position = self.odometry.view("pose.pose.position")
        self._linear = self.odometry.view("twist.twist.linear")

    def at(self, k: int, stamp_ns: int) -> tuple[bytes, bytes]:
        """Odometry and joint state number ``k``."""
        robot, n = self._robot, len(self._velocity)
        phase = 2.0 * np.pi * k / robot.rate
        self._position[2] = self._height + robot.bob * float(np.sin(phase))
        self._linear[2] = robot.bob * 2.0 * np.pi * float(np.cos(phase))
        if robot.noise:
            self._velocity[:] = robot.noise * self._generator.standard_normal(n)
            self._effort[:] = self._carried + self._generator.uniform(-1.0, 1.0, n)
        self.odometry.stamp(stamp_ns)
        self.joints.stamp(stamp_ns)
        return bytes(self.odometry), bytes(self.joints)


def send(states: States, joints: Any, odometry: Any, count: int, rate: float) -> tuple[list[int], int]:
    """Publish states, each at its time. Returns the stamps of the first and the last state, and how many were late by
    more than half a period."""
    period, late, stamp = 1.0 / rate, 0, 0
    first = 0
    begin = time.perf_counter()
    for k in range(count):
        pause = begin + k * period - time.perf_counter()
        if pause > 0.0:
            time.sleep(pause)
        elif pause < -0.5 * period:
            late += 1
        stamp = time.time_ns()
        base, state = states.at(k, stamp)
        odometry.publish(base)
        joints.publish(state)
        first = first or stamp
    return [first, stamp], late


def main() -> None:
    """Body of the process. Its last line on standard output says what was sent, and under which load."""
    import rclpy
    from nav_msgs.msg import Odometry
    from sensor_msgs.msg import JointState

    order = json.loads(sys.argv[1])
    robot, pids = Robot(**order["robot"]), [*order["pids"], os.getpid()]
    states = States(robot)
    rclpy.init()
    node = rclpy.create_node("live_robot")
    joints = node.create_publisher(JointState, "joint_states", 1)
    odometry = node.create_publisher(Odometry, "odom", 1)
    limit = time.monotonic() + READY_TIMEOUT
    sys.stdin.readline()
    while not (joints.get_subscription_count() and odometry.get_subscription_count()):
        if time.monotonic() > limit:
            raise SystemExit("no node took the states")
        time.sleep(0.05)
    gc.collect()
    gc.disable()
    send(states, joints, odometry, round(order["warm"] * robot.rate), robot.rate)
    time.sleep(DRAIN)
    count = round(order["seconds"] * robot.rate)
    begin = machine.read(pids)
    stamps, late = send(states, joints, odometry, count, robot.rate)
    load = machine.between(begin, machine.read(pids))
    time.sleep(DRAIN)
    print(json.dumps({"sent": count, "stamps": stamps, "late": late, "load": asdict(load)}), flush=True)
    node.destroy_node()
    rclpy.try_shutdown()


if __name__ == "__main__":
    main()
