"""The robot of the demo: a Go2 in MuJoCo, in real time, on the topics that a real one has.

    python -m hybrid_contact_ros.nodes.demo.robot

It publishes ``joint_states`` and ``odom`` at 500 Hz and ``robot_description``. For scoring alone it also publishes its
true contacts and forces on ``truth/contact_mode`` and its true impacts on ``truth/impact``, to which the suite does not
listen. It hangs in the air until a line comes on standard input, and then plays its scenario; with ``--now`` it does
not wait.
"""

from __future__ import annotations

import argparse
import contextlib
import gc
import json
import sys
import time
from collections import deque
from collections.abc import Sequence

import numpy as np
import rclpy
from nav_msgs.msg import Odometry
from numpy.typing import NDArray
from rclpy.impl.implementation_singleton import rclpy_implementation
from rclpy.node import Node
from sensor_msgs.msg import JointState
from std_msgs.msg import String

from hybrid_contact_msgs.msg import ContactMode, PostImpactVelocitySet
from hybrid_contact_ros.demo.go2_simulation import Go2Simulation
from hybrid_contact_ros.demo.ground_truth import Flags
from hybrid_contact_ros.demo.landings import stamp_at
from hybrid_contact_ros.demo.robot_clock import RobotClock
from hybrid_contact_ros.messages.envelope import PlainNames
from hybrid_contact_ros.messages.prepared import PreparedMessage
from hybrid_contact_ros.messages.truth import OPEN, SLIPPING, STICKING, TruthEncoder
from hybrid_contact_ros.ros.message_types import message_types
from hybrid_contact_ros.ros.qos import LATCHED, OUTPUT, STATE_INPUT

Array = NDArray[np.float64]
RATE = 500.0  # Hz


class StateMessages:
    """A state as the bytes of ``odom`` and ``joint_states``."""

    def __init__(self, joint_names: Sequence[str]) -> None:
        base = Odometry(child_frame_id="base")
        base.header.frame_id = "odom"
        zeros = [0.0] * len(joint_names)
        self._odometry = PreparedMessage("Odometry", base)
        self._joints = PreparedMessage(
            "JointState", JointState(name=list(joint_names), position=zeros, velocity=zeros, effort=zeros)
        )
        self._base = [self._odometry.view(f"pose.pose.{x}") for x in ("position", "orientation")]
        self._base += [self._odometry.view(f"twist.twist.{x}") for x in ("linear", "angular")]
        self._position, self._velocity, self._effort = (
            self._joints.view(x) for x in ("position", "velocity", "effort")
        )

    def state(self, stamp_ns: int, q: Array, v: Array, tau: Array) -> tuple[bytes, bytes]:
        """Odometry and joint state of a state, as of :meth:`Go2Simulation.state`."""
        position, orientation, linear, angular = self._base
        position[:], orientation[:], linear[:], angular[:] = q[:3], q[3:7], v[:3], v[3:6]
        self._position[:], self._velocity[:], self._effort[:] = q[7:], v[6:], tau
        self._odometry.stamp(stamp_ns)
        self._joints.stamp(stamp_ns)
        return bytes(self._odometry), bytes(self._joints)


class TruthMessages:
    """What the simulator knows of its contacts as the bytes of a ``ContactMode``: those of
    :meth:`~hybrid_contact_ros.messages.truth.TruthEncoder.truth`, a message that an encoder made once."""

    def __init__(self, encoder: TruthEncoder, contacts: int) -> None:
        self._message = PreparedMessage("ContactMode", encoder.truth(0, [False] * contacts, np.zeros((contacts, 3))))
        view, self._bits = self._message.view, 1 << np.arange(contacts, dtype=np.uint64)
        self._mode = view("mode")
        self._status = [view(f"contacts.{i}.status") for i in range(contacts)]
        self._probability = [view(f"contacts.{i}.probability") for i in range(contacts)]
        self._force = [view(f"contacts.{i}.force_estimate") for i in range(contacts)]

    def truth(self, stamp_ns: int, closed: Flags, force: Array, slipping: Flags) -> bytes:
        """The contacts of a state, as of :meth:`Go2Simulation.contacts`."""
        self._mode[0] = self._bits[closed].sum()
        for i, (touches, slides) in enumerate(zip(closed.tolist(), slipping.tolist(), strict=True)):
            self._status[i][0] = (STICKING, SLIPPING)[slides] if touches else OPEN
            self._probability[i][0] = touches
            self._force[i][:] = force[i]
        self._message.stamp(stamp_ns)
        return bytes(self._message)


class DemoRobot(Node):
    """Publishes the state and the truth of a simulation, one state a call. Messages go out as bytes: a robot's driver
    would not take time from the suite to convert them either."""

    def __init__(self, simulation: Go2Simulation) -> None:
        super().__init__("demo_robot")
        self.simulation = simulation
        feet = simulation.foot_names
        self._encoder = TruthEncoder(message_types(), PlainNames(feet), "odom")
        self._states, self._true_modes = StateMessages(simulation.joint_names), TruthMessages(self._encoder, len(feet))
        self._description = self.create_publisher(String, "robot_description", LATCHED)
        self._description.publish(String(data=simulation.urdf_text))
        self._joints = self.create_publisher(JointState, "joint_states", STATE_INPUT)
        self._odometry = self.create_publisher(Odometry, "odom", STATE_INPUT)
        self._truth = self.create_publisher(ContactMode, "truth/contact_mode", OUTPUT)
        self._impacts = self.create_publisher(PostImpactVelocitySet, "truth/impact", OUTPUT)
        self.begin()
        self._stamps: deque[tuple[float, int]] = deque(maxlen=16)  # more cycles than an impact lasts

    def begin(self) -> None:
        """From now on the simulation's time passes."""
        self.clock = RobotClock(self.now_ns() - round(1e9 * self.simulation.time))

    def now_ns(self) -> int:
        return int(self.get_clock().now().nanoseconds)

    def publish(self) -> None:
        """Publish the present state."""
        state = self.simulation.state()
        now = self.clock.stamp(self.simulation.time, self.now_ns())
        odometry, joints = self._states.state(now, *state)
        self._odometry.publish(odometry)
        self._joints.publish(joints)
        self._stamps.append((self.simulation.time, now))
        # A reliable publisher gives up after a while when a listener does not keep pace. That must not stop the robot.
        with contextlib.suppress(rclpy_implementation.RCLError):
            self._truth.publish(self._true_modes.truth(now, *self.simulation.contacts()))
        for impact in self.simulation.impacts:
            time_ns = stamp_at(impact.time, self._stamps)
            self._impacts.publish(self._encoder.true_impact(now, time_ns, impact.feet, impact.v_minus, impact.v_plus))
        self.simulation.impacts.clear()


def play(robot: DemoRobot, seconds: float) -> dict[str, float]:
    """Run the simulation in real time. The result says how well the time was kept: ``cycles``, how many of them were
    ``late``, the ``worst_delay``, s, and the ``pauses`` of the robot's clock, which ``paused`` for so many seconds."""
    late, worst = 0, 0
    robot.begin()
    cycles = round(seconds * RATE)
    for _ in range(cycles):
        if not rclpy.ok():
            break
        robot.simulation.step()
        left = robot.clock.due(robot.simulation.time) - robot.now_ns()
        if left < 0:
            late, worst = late + 1, max(worst, -left)
        else:
            time.sleep(1e-9 * left)
        robot.publish()
    pauses = {"pauses": robot.clock.pauses, "paused": 1e-9 * robot.clock.paused_ns}
    return {"cycles": cycles, "late": late, "worst_delay": 1e-9 * worst, **pauses}


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
