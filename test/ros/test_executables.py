"""The nodes as the programs that ``ros2 run`` and ``ros2 launch`` start: one process each, namespaced."""

import os
import signal
import subprocess
import sys
import time

import pytest
from geometry_msgs.msg import Vector3
from lifecycle_msgs.msg import State
from lifecycle_msgs.srv import GetState
from nav_msgs.msg import Odometry
from rclpy.context import Context
from rclpy.executors import SingleThreadedExecutor
from rclpy.node import Node
from rclpy.qos import QoSProfile, ReliabilityPolicy
from sensor_msgs.msg import JointState
from visualization_msgs.msg import MarkerArray

from helpers import leg
from hybrid_contact_msgs.msg import ConstraintStability, ContactMode, ContactState, PostImpactVelocitySet

NAMESPACE = "/robot1"
MARKERS = "contact_markers"
NODES = {
    "contact_mode": (ContactMode, "contact_mode"),
    "impact_set": (PostImpactVelocitySet, "impact_set"),
    "constraint_stability": (ConstraintStability, "constraint_stability"),
    MARKERS: (MarkerArray, "contact_markers"),
    "contact_suite": (ContactMode, "contact_mode"),
}


class Process:
    """One executable on the leg's description, what it says, and a partner that talks to it."""

    def __init__(self, name, folder, *arguments, parameters=leg.PARAMETERS):
        (folder / "parameters.yaml").write_text(parameters)
        (folder / "leg.urdf").write_text(leg.URDF)
        self.name, self.log = name, folder / "log"
        with self.log.open("w") as log:
            self.popen = subprocess.Popen(
                [
                    *(sys.executable, "-m", f"hybrid_contact_ros.nodes.{name}", "--ros-args"),
                    *("--params-file", str(folder / "parameters.yaml")),
                    *("-p", f"urdf_file:={folder / 'leg.urdf'}", "-p", "autostart:=true"),
                    *("-r", f"__ns:={NAMESPACE}", *arguments),
                ],
                stdout=log,
                stderr=subprocess.STDOUT,
                env={**os.environ, "RCUTILS_COLORIZED_OUTPUT": "0"},
            )
        self.context = Context()
        self.context.init()
        self.partner = Node("partner", context=self.context, namespace=NAMESPACE)
        self.executor = SingleThreadedExecutor(context=self.context)
        self.executor.add_node(self.partner)

    def until(self, condition, seconds=300.0):
        end = time.monotonic() + seconds
        while not condition():
            assert self.popen.poll() is None, self.log.read_text()
            assert time.monotonic() < end, self.log.read_text()
            self.executor.spin_once(timeout_sec=0.02)

    def state(self):
        client = self.partner.create_client(GetState, f"{self.name}/get_state")
        self.until(client.service_is_ready)
        asked = client.call_async(GetState.Request())
        self.until(asked.done)
        self.partner.destroy_client(client)
        return asked.result().current_state.id

    def interrupt(self):
        self.popen.send_signal(signal.SIGINT)
        return self.popen.wait(timeout=120.0)

    def close(self):
        # In order: where a peer was killed, Fast DDS 3.2 may unmap the shared memory of a participant that then ends
        # with a segmentation fault (SharedMemChannelResource::release), and that is the process of these tests.
        if self.popen.poll() is None:
            try:
                self.interrupt()
            except subprocess.TimeoutExpired:
                self.popen.kill()
                self.popen.wait()
        self.executor.shutdown()
        self.partner.destroy_node()
        self.context.try_shutdown()


@pytest.fixture
def start(tmp_path):
    started = []

    def make(name, *arguments, **options):
        started.append(Process(name, tmp_path, *arguments, **options))
        return started[-1]

    yield make
    for process in started:
        process.close()


def drive(process, heard):
    """States of the falling leg, until the process answers one; for the markers, what the suite says of them."""
    modes = process.partner.create_publisher(ContactMode, "contact_mode", 10) if process.name == MARKERS else None
    joints = process.partner.create_publisher(JointState, "joint_states", 10)
    base = process.partner.create_publisher(Odometry, "odom", 10)
    inputs = [joints, base] if modes is None else [modes]
    process.until(lambda: all(publisher.get_subscription_count() for publisher in inputs))
    last = 0.0

    def answered():
        nonlocal last
        if time.monotonic() - last > 0.01:
            last = time.monotonic()
            stamp = process.partner.get_clock().now().to_msg()
            if modes is not None:
                modes.publish(ContactMode(contacts=[ContactState(name="foot", normal=Vector3(z=1.0))]))
            base.publish(leg.odometry(stamp, 0.62))
            joints.publish(leg.joint_state(stamp))
        return heard

    process.until(answered, 120.0)


@pytest.mark.parametrize("name", NODES)
def test_becomes_active_answers_in_its_namespace_and_ends_with_0_on_interrupt(start, name):
    kind, topic = NODES[name]
    process = start(name)
    process.until(lambda: process.state() == State.PRIMARY_STATE_ACTIVE)
    heard = []
    process.partner.create_subscription(kind, f"{NAMESPACE}/{topic}", heard.append, 10)
    drive(process, heard)
    assert process.interrupt() == 0, process.log.read_text()
    assert "Traceback" not in process.log.read_text()


def test_the_quality_of_service_of_an_output_is_a_parameter(start):
    override = f"qos_overrides.{NAMESPACE}/contact_mode.publisher.reliability"
    process = start("contact_mode", "-p", f"{override}:=best_effort")
    process.until(lambda: process.state() == State.PRIMARY_STATE_ACTIVE)
    endpoints = []

    def found():
        endpoints[:] = process.partner.get_publishers_info_by_topic(f"{NAMESPACE}/contact_mode")
        return endpoints

    process.until(found)
    assert endpoints[0].qos_profile.reliability == ReliabilityPolicy.BEST_EFFORT
    heard = []
    quality = QoSProfile(depth=10, reliability=ReliabilityPolicy.BEST_EFFORT)
    process.partner.create_subscription(ContactMode, "contact_mode", heard.append, quality)
    drive(process, heard)


@pytest.mark.parametrize(
    ("change", "why"),
    [
        (("link: shank", "link: shin"), "shin"),
        (("impact:", "impacts:"), "impact"),
        (("friction: 0.8", "friction: -0.8"), "friction"),
    ],
)
def test_parameters_that_cannot_be_used_leave_it_unconfigured_and_are_named(start, change, why):
    process = start("contact_mode", parameters=leg.PARAMETERS.replace(*change))
    process.until(lambda: "not configured" in process.log.read_text())
    assert why in process.log.read_text().partition("not configured")[2]
    assert process.state() == State.PRIMARY_STATE_UNCONFIGURED
    assert process.interrupt() == 0, process.log.read_text()
