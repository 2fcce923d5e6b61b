"""A node of the suite and a test partner, in one process on one executor, with a context of their own."""

import time
from pathlib import Path

from builtin_interfaces.msg import Time
from diagnostic_msgs.msg import DiagnosticArray
from nav_msgs.msg import Odometry
from rclpy.context import Context
from rclpy.executors import SingleThreadedExecutor
from rclpy.lifecycle import TransitionCallbackReturn
from rclpy.node import Node
from rclpy.parameter import Parameter
from sensor_msgs.msg import JointState
from std_msgs.msg import String

from helpers import leg
from hybrid_contact_ros.ros.qos import LATCHED

START = 1_000_000_000_000  # ns; stamps of the tests count from here


class Bench:
    """Drives one node under test and collects what it publishes."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory
        self.context = Context()
        self.context.init()
        self.executor = SingleThreadedExecutor(context=self.context)
        self.partner = Node("partner", context=self.context)
        self.executor.add_node(self.partner)
        self.nodes = []
        self.heard = {}
        self.now = START
        self.joints = self.partner.create_publisher(JointState, "joint_states", 10)
        self.base = self.partner.create_publisher(Odometry, "odom", 10)
        self._beside = {}  # publishers of what a robot may have or not
        self.diagnostics = self.listen(DiagnosticArray, "/diagnostics")

    def beside(self, topic, kind=JointState):
        """The publisher of an input that the node may have or not, there from the first call on."""
        if topic not in self._beside:
            made = self._beside[topic] = self.partner.create_publisher(kind, topic, 10)
            self.until(lambda: made.get_subscription_count())
        return self._beside[topic]

    def silence(self, topic):
        """Take that publisher away."""
        self.partner.destroy_publisher(self._beside.pop(topic))

    def start(self, make, configure=True, activate=True, arguments=(), parameters=leg.PARAMETERS, **overrides):
        """The node ``make`` with the leg's parameters, configured and active unless told otherwise."""
        file = self.directory / f"{len(self.nodes)}.yaml"
        file.write_text(parameters)
        values = {"robot_description": leg.URDF, **overrides}
        node = make(
            context=self.context,
            cli_args=["--ros-args", "--params-file", str(file), *arguments],
            parameter_overrides=[Parameter(name, value=value) for name, value in values.items()],
        )
        self.executor.add_node(node)
        self.nodes.append(node)
        if configure:
            assert node.trigger_configure() == TransitionCallbackReturn.SUCCESS
            if activate:
                assert node.trigger_activate() == TransitionCallbackReturn.SUCCESS
            self.until(lambda: node.stream is None or self.joints.get_subscription_count() >= len(self.nodes))
            self.spin(0.1)
        return node

    def listen(self, kind, topic, qos=10):
        """The list that messages of a topic are appended to."""
        heard = self.heard[topic] = []
        self.partner.create_subscription(kind, topic, heard.append, qos)
        return heard

    def describe(self, urdf=leg.URDF):
        self.partner.create_publisher(String, "robot_description", LATCHED).publish(String(data=urdf))

    def stamp(self, ahead_ns=2_000_000) -> Time:
        """The next stamp, 2 ms after the last one."""
        self.now += ahead_ns
        return Time(sec=self.now // 10**9, nanosec=self.now % 10**9)

    def send(self, stamp=None, height=0.62, **joints):
        """One state: odometry and joint state of the same stamp; the foot touches in about 20 ms. Returns the stamp."""
        stamp = stamp or self.stamp()
        self.base.publish(leg.odometry(stamp, height))
        self.joints.publish(leg.joint_state(stamp, **joints))
        return stamp

    def spin(self, seconds):
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            self.executor.spin_once(timeout_sec=0.01)

    def until(self, condition, seconds=60.0):
        """Spin until the condition holds; fail the test when it does not in time. A machine with much else to do takes
        seconds for what takes milliseconds."""
        end = time.monotonic() + seconds
        while not condition():
            assert time.monotonic() < end, "nothing came in time"
            self.executor.spin_once(timeout_sec=0.01)

    def answer(self, heard, **joints):
        """Send one good state and return the message that answers it."""
        stamp = self.send(**joints)
        self.until(lambda: any(m.header.stamp == stamp for m in heard))
        return next(m for m in heard if m.header.stamp == stamp)

    def call(self, kind, name, request, node="contact_suite"):
        """The response of a service of a node."""
        client = self.partner.create_client(kind, f"{node}/{name}")
        self.until(client.service_is_ready)
        future = client.call_async(request)
        self.until(future.done)
        return future.result()

    def fault_count(self, node, reason) -> int:
        return (node.stream.intake.faults + node.stream.monitor.failures)[reason]

    def told(self, node, words):
        """The first diagnostic status of a node since ``diagnostics`` were cleared whose text has these words: (level,
        text, values). A fault is told of in the period in which it came, and nobody knows when that ends."""
        name = node.get_fully_qualified_name()

        def found():
            statuses = (s for m in self.diagnostics for s in m.status if s.name.startswith(name + ":"))
            return next((s for s in statuses if words in s.message), None)

        self.until(found)
        return found().level, found().message, {pair.key: pair.value for pair in found().values}

    def diagnosis_after(self, act, node, holds):
        """The first diagnostic status of which ``holds(level, text, values)``, with ``act`` done in each period."""
        found = []

        def looked():
            act()
            found[:] = [self.diagnosis(node)]
            return holds(*found[0])

        self.until(looked)
        return found[0]

    def diagnosis(self, node):
        """The next diagnostic status of a node: (level, text, values)."""
        self.diagnostics.clear()
        name = node.get_fully_qualified_name()
        self.until(lambda: any(s.name.startswith(name + ":") for m in self.diagnostics for s in m.status))
        status = next(s for m in self.diagnostics for s in m.status if s.name.startswith(name + ":"))
        return status.level, status.message, {pair.key: pair.value for pair in status.values}

    def strangers(self):
        """Names of nodes that are in the domain and not of this bench: one that an earlier test left behind would hear
        and answer what is sent here."""
        own = {(node.get_name(), node.get_namespace()) for node in [*self.nodes, self.partner]}
        return set(self.partner.get_node_names_and_namespaces()) - own

    def close(self):
        for node in [*self.nodes, self.partner]:
            self.executor.remove_node(node)
            node.destroy_node()
        self.executor.shutdown()
        self.context.try_shutdown()
