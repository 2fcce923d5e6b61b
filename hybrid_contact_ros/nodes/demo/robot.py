"""The robot of the demo: a Go2 in MuJoCo, in real time, on the topics that a real one has.

    python -m hybrid_contact_ros.nodes.demo.robot

It publishes ``joint_states`` and ``odom`` at 500 Hz, ``robot_description``, and, for scoring only, its true contacts
and forces on ``truth/contact_mode`` and its true impacts on ``truth/impact``; the suite listens to neither. It stands
still in the air until a line comes on standard input (or at once with ``--now``), and then plays its scenario.
"""

from __future__ import annotations

import argparse
import contextlib
import gc
import json
import sys
import time
from collections import deque

import rclpy
from nav_msgs.msg import Odometry
from rclpy.impl.implementation_singleton import rclpy_implementation
from rclpy.node import Node
from sensor_msgs.msg import JointState
from std_msgs.msg import String

from hybrid_contact_msgs.msg import ContactMode, PostImpactVelocitySet
from hybrid_contact_ros.demo.go2_simulation import Go2Simulation
from hybrid_contact_ros.demo.landings import stamp_at
from hybrid_contact_ros.messages.truth import TruthEncoder
from hybrid_contact_ros.ros.messages import message_types
from hybrid_contact_ros.ros.qos import LATCHED, OUTPUT, STATE_INPUT

RATE = 500.0
_SPIN = 2e-4  # s before a deadline from which on it is waited for without sleeping: sleep wakes late


class _Feet:
    """The names that messages of the truth carry."""

    velocity_names: tuple[str, ...] = ()
    hash = 0

    def __init__(self, names: tuple[str, ...]) -> None:
        self.contact_names = self.contact_frames = names


class DemoRobot(Node):
    """Publishes the state and the truth of a simulation, one step a call."""

    def __init__(self, simulation: Go2Simulation) -> None:
        super().__init__("demo_robot")
        self.simulation = simulation
        self._encoder = TruthEncoder(message_types(), _Feet(simulation.foot_names), "odom")
        self._description = self.create_publisher(String, "robot_description", LATCHED)
        self._description.publish(String(data=simulation.urdf_text))
        self._joints = self.create_publisher(JointState, "joint_states", STATE_INPUT)
        self._odometry = self.create_publisher(Odometry, "odom", STATE_INPUT)
        self._truth = self.create_publisher(ContactMode, "truth/contact_mode", OUTPUT)
        self._impacts = self.create_publisher(PostImpactVelocitySet, "truth/impact", OUTPUT)
        self._stamps: deque[tuple[float, int]] = deque(maxlen=16)  # more cycles than an impact lasts
        self._joint_msg = JointState(name=list(simulation.joint_names))
        self._base_msg = Odometry(child_frame_id="base")
        self._base_msg.header.frame_id = "odom"

    def publish(self) -> None:
        """The present state, stamped now."""
        q, v, tau = self.simulation.state()
        now = self.get_clock().now()
        stamp = now.to_msg()
        base, joints = self._base_msg, self._joint_msg
        base.header.stamp = joints.header.stamp = stamp
        pose, twist = base.pose.pose, base.twist.twist
        pose.position.x, pose.position.y, pose.position.z = q[:3].tolist()
        o = pose.orientation
        o.x, o.y, o.z, o.w = q[3:7].tolist()
        twist.linear.x, twist.linear.y, twist.linear.z = v[:3].tolist()
        twist.angular.x, twist.angular.y, twist.angular.z = v[3:6].tolist()
        joints.position, joints.velocity, joints.effort = q[7:].tolist(), v[6:].tolist(), tau.tolist()
        self._odometry.publish(base)
        self._joints.publish(joints)
        closed, force, slipping = self.simulation.contacts()
        self._stamps.append((self.simulation.time, now.nanoseconds))
        # A reliable publisher gives up after a while when a listener does not keep pace; that must not stop the robot.
        with contextlib.suppress(rclpy_implementation.RCLError):
            self._truth.publish(self._encoder.truth(now.nanoseconds, closed.tolist(), force, slipping.tolist()))
        for impact in self.simulation.impacts:
            time_ns = stamp_at(impact.time, self._stamps)
            self._impacts.publish(
                self._encoder.true_impact(now.nanoseconds, time_ns, impact.feet, impact.v_minus, impact.v_plus)
            )
        self.simulation.impacts.clear()


def play(robot: DemoRobot, seconds: float) -> dict[str, float]:
    """Run the simulation in real time; how well the time was kept."""
    period, late, worst = 1.0 / RATE, 0, 0.0
    begin = time.perf_counter()
    cycles = round(seconds * RATE)
    for k in range(cycles):
        if not rclpy.ok():
            break
        robot.simulation.step()
        due = begin + (k + 1) * period
        left = due - time.perf_counter()
        if left < 0:
            late, worst = late + 1, max(worst, -left)
        while left > 0:
            if left > _SPIN:
                time.sleep(left - _SPIN)
            left = due - time.perf_counter()
        robot.publish()
    return {"cycles": cycles, "late": late, "worst_delay": worst}


def main() -> None:
    """Wait for the start, play, and print how well the time was kept as a line of JSON."""
    parser = argparse.ArgumentParser(description="A simulated Go2 on ROS topics.")
    parser.add_argument("--seconds", type=float, default=20.0, help="length of the scenario (default 20)")
    parser.add_argument("--now", action="store_true", help="do not wait for a line on standard input")
    args, rest = parser.parse_known_args()
    rclpy.init(args=[sys.argv[0], *rest])
    robot = DemoRobot(Go2Simulation(RATE))
    gc.collect()
    gc.freeze()
    try:
        if args.now or sys.stdin.readline():
            print(json.dumps(play(robot, args.seconds)), flush=True)
    except KeyboardInterrupt:
        pass
    finally:
        robot.destroy_node()
        rclpy.try_shutdown()


if __name__ == "__main__":
    main()
