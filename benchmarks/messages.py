"""What messages cost: states in, predictions out, and predictions into a controller; as objects of rclpy and as bytes.

Microseconds of the thread, best of several rounds in which both ways take turns, of a standing Go2. Publishers have one
subscriber in this process, which never takes anything.
"""

from __future__ import annotations

import array
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pinocchio as pin

from hybrid_contact_ros import ConstraintStabilityReader, ContactModeReader, PostImpactVelocitySetReader
from hybrid_contact_ros.config import EstimatorConfig
from hybrid_contact_ros.estimator import ContactEstimator
from hybrid_contact_ros.mechanics.example_data import example_urdf
from hybrid_contact_ros.mechanics.model import RigidBodyModel
from hybrid_contact_ros.mechanics.state import RobotState
from hybrid_contact_ros.messages.cdr import serialize
from hybrid_contact_ros.messages.definitions import blank
from hybrid_contact_ros.messages.encoding import Encoder
from hybrid_contact_ros.messages.intake import Intake
from hybrid_contact_ros.messages.serialized_encoding import SerializedEncoder

CONFIG = Path(__file__).resolve().parent.parent / "config" / "go2.yaml"
URDF = "go2_description/urdf/go2.urdf"
ANGLES = {"hip": 0.0, "thigh": 0.8, "calf": -1.5}
ROUNDS, CALLS, STATES = 15, 400, 200
MS = 1_000_000  # ns


def alternately(*calls: Callable[[], object], times: int = CALLS) -> list[float]:
    """µs of one call of each."""
    best = [float("inf")] * len(calls)
    for _ in range(ROUNDS):
        for place, call in enumerate(calls):
            begin = time.thread_time_ns()
            for _ in range(times):
                call()
            best[place] = min(best[place], (time.thread_time_ns() - begin) * 1e-3 / times)
    return best


def row(label: str, objects: float, raw: float) -> None:
    print(f"{label:44}{objects:9.1f}{raw:9.1f}{raw / objects:8.3f}")


def standing(model: RigidBodyModel) -> RobotState:
    angles = [ANGLES[name.split("_")[1]] for name in model.joint_names]
    q = np.array([0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0, *angles])
    q[2] = -float(model.problem(RobotState(0, q, np.zeros(model.nv))).gap.min())
    return RobotState(1, q, np.zeros(model.nv), np.zeros(model.nv))


def compare_inputs(model: RigidBodyModel, config: EstimatorConfig, state: RobotState) -> None:
    """Odometry and joint states, 1 ms apart, until they are states of the robot."""
    from nav_msgs.msg import Odometry
    from rclpy.serialization import deserialize_message, serialize_message
    from sensor_msgs.msg import JointState

    rng = np.random.default_rng(0)
    feed = []
    for k in range(STATES):
        joints, base = JointState(name=list(model.joint_names)), Odometry(child_frame_id="base")
        for kind, values in (("position", state.q[7:]), ("velocity", state.v[6:]), ("effort", rng.normal(size=12))):
            setattr(joints, kind, array.array("d", values))
        base.header.frame_id = "odom"
        base.pose.pose.orientation.w, base.pose.pose.position.z = 1.0, float(state.q[2])
        for header in (base.header, joints.header):
            header.stamp.sec, header.stamp.nanosec = 1, k * MS
        feed.append((serialize_message(base), serialize_message(joints)))
    intake = Intake(model, config.input)

    def play(raw: bool) -> None:
        intake.reset()
        before = intake.states
        for k, (base, joints) in enumerate(feed):
            now = 1000 * MS + k * MS
            intake.odometry(base if raw else deserialize_message(base, Odometry), now, k, b"writer")
            intake.joint_state(joints if raw else deserialize_message(joints, JointState), now, k, b"writer")
        assert intake.states == before + STATES

    objects, raw = alternately(lambda: play(False), lambda: play(True), times=1)
    row("two messages in: a state", objects / STATES, raw / STATES)


def compare_outputs(node: Any, label: str, kind: Any, reader: Any, make: tuple[Callable[[], Any], ...]) -> None:
    """One message made, published, and read by a controller."""
    from rclpy.serialization import deserialize_message, serialize_message

    publisher = node.create_publisher(kind, kind.__name__, 1)
    subscription = node.create_subscription(kind, kind.__name__, lambda _: None, 1)
    message, written = (each() for each in make)
    row(f"{label}: made", *alternately(*make))
    row(f"{label}: published", *alternately(lambda: publisher.publish(message), lambda: publisher.publish(written)))
    received = serialize_message(message)
    row(f"{label}: read", *alternately(lambda: deserialize_message(received, kind), lambda: reader(received)))
    node.destroy_subscription(subscription)


def compare_many() -> None:
    """A mode of 64 contacts, whose names are of one length or of many."""
    from rclpy.serialization import deserialize_message

    from hybrid_contact_msgs.msg import ContactMode

    for label, longest in (("one length", 1), ("13 lengths", 13)):
        names = ["contact_" + "x" * (k % longest) for k in range(64)]
        received = serialize(
            "ContactMode", blank("ContactMode", contacts=[blank("ContactState", name=n) for n in names])
        )
        reader = ContactModeReader()
        of = alternately(lambda r=received: deserialize_message(r, ContactMode), lambda r=received, f=reader: f(r))
        row(f"64 contacts, names of {label}: read", *of)


def main() -> None:
    """Print the table."""
    import rclpy

    from hybrid_contact_msgs.msg import ConstraintStability, ContactMode, PostImpactVelocitySet
    from hybrid_contact_ros.ros.message_types import message_types

    config = EstimatorConfig.from_file(CONFIG)
    model = RigidBodyModel.from_urdf(example_urdf(URDF), config)
    state = standing(model)
    pinocchio, data = model.pinocchio_model, model.pinocchio_model.createData()
    (yard,) = alternately(lambda: pin.computeAllTerms(pinocchio, data, state.q, state.v))
    print(
        f"µs of the thread; pinocchio.computeAllTerms takes {yard:.1f}\n{'':44}{'objects':>9}{'bytes':>9}{'ratio':>8}"
    )
    compare_inputs(model, config, state)

    estimator = ContactEstimator(model, config)
    prediction = estimator.update(state)
    mode, flags = prediction.mode, prediction.stability
    falling = state.v.copy()
    falling[2] = -1.0
    impact = estimator.impact(RobotState(1, state.q, falling, state.effort), contacts=range(4), deadline_ns=0)
    slow = Encoder(message_types(), model, "odom", reuse=True)
    fast = SerializedEncoder(message_types(), model, "odom")
    rclpy.init()
    node = rclpy.create_node("benchmark_messages")
    modes = (lambda: slow.mode(mode, 1, 2)), (lambda: fast.mode(mode, 1, 2))
    compare_outputs(node, "ContactMode", ContactMode, ContactModeReader(), modes)
    flagged = (lambda: slow.stability(flags, 1)), (lambda: fast.stability(flags, 1))
    compare_outputs(node, "ConstraintStability", ConstraintStability, ConstraintStabilityReader(), flagged)
    label = f"PostImpactVelocitySet of {len(impact.velocities)}"
    sets = (lambda: slow.impact(impact, 1)), (lambda: fast.impact(impact, 1))
    compare_outputs(node, label, PostImpactVelocitySet, PostImpactVelocitySetReader(), sets)
    node.destroy_node()
    rclpy.try_shutdown()
    compare_many()


if __name__ == "__main__":
    main()
