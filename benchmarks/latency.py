"""End-to-end latency over the middleware: from the stamp of a measurement to the reception of its prediction.

Three processes run on one clock. One publishes a Go2 that lands and lifts off once a second (``/joint_states`` and
``/odom`` at 500 Hz, stamped when they are sent), one is the ``contact_suite`` node, and this one receives
``/contact_mode``. Only states that were answered have a latency, so that their share is printed too.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import time
from dataclasses import asdict, dataclass, field
from pathlib import Path

import numpy as np

ROOT = Path(__file__).resolve().parent.parent
READY_TIMEOUT = 180.0  # s; without a warm cache the node compiles its kernels first
PERCENTILES = (50, 99, 99.9)


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


def publish(seconds: float, robot: Robot) -> None:
    """Body of the publishing process. It prints how many states it sent."""
    import rclpy
    from nav_msgs.msg import Odometry
    from sensor_msgs.msg import JointState

    from hybrid_contact_ros.config import EstimatorConfig
    from hybrid_contact_ros.mechanics.example_data import example_urdf
    from hybrid_contact_ros.mechanics.model import RigidBodyModel
    from hybrid_contact_ros.mechanics.state import RobotState

    model = RigidBodyModel.from_urdf(example_urdf(robot.urdf), EstimatorConfig.from_file(robot.config))
    angles = [next((x for part, x in robot.standing.items() if part in name), 0.0) for name in model.joint_names]
    q = np.array([0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0, *angles])
    problem = model.problem(RobotState(0, q, np.zeros(model.nv)))
    height = -float(problem.gap.min())
    generator = np.random.default_rng(0)
    still, carried = np.zeros(len(angles)), np.zeros(len(angles))
    if robot.noise:
        share = problem.bias_force[2] / model.contacts
        carried = (problem.bias_force - share * problem.normal_jacobian.sum(axis=0))[6:]

    rclpy.init()
    node = rclpy.create_node("latency_robot")
    joints = node.create_publisher(JointState, "joint_states", 1)
    odometry = node.create_publisher(Odometry, "odom", 1)
    state = JointState(name=list(model.joint_names), position=angles, velocity=still.tolist(), effort=carried.tolist())
    base = Odometry(child_frame_id="base")
    base.header.frame_id = "world"
    base.pose.pose.orientation.w = 1.0
    limit = time.monotonic() + READY_TIMEOUT
    while not (joints.get_subscription_count() and odometry.get_subscription_count()):
        if time.monotonic() > limit:
            raise SystemExit("no node took the states")
        time.sleep(0.05)
    time.sleep(1.0)  # until the receiver is connected too
    count = round(seconds * robot.rate)
    begin = time.perf_counter()
    for k in range(count):
        pause = begin + k / robot.rate - time.perf_counter()
        if pause > 0.0:
            time.sleep(pause)
        phase = 2.0 * np.pi * k / robot.rate
        base.pose.pose.position.z = height + robot.bob * float(np.sin(phase))
        base.twist.twist.linear.z = robot.bob * 2.0 * np.pi * float(np.cos(phase))
        if robot.noise:
            state.velocity = robot.noise * generator.standard_normal(len(angles))
            state.effort = carried + generator.uniform(-1.0, 1.0, len(angles))
        sec, nanosec = divmod(time.time_ns(), 1_000_000_000)
        for header in (base.header, state.header):
            header.stamp.sec, header.stamp.nanosec = sec, nanosec
        odometry.publish(base)
        joints.publish(state)
    time.sleep(0.5)
    print(json.dumps({"sent": count, "seconds": time.perf_counter() - begin - 0.5}), flush=True)
    node.destroy_node()
    rclpy.try_shutdown()


def measure(
    seconds: float, robot: Robot, said: list[str] | None = None
) -> tuple[dict[str, np.ndarray], dict[str, float]]:
    """Measure for some seconds of publishing.

    Args:
        seconds: how long states are published.
        robot: the robot, and how it is published.
        said: a list that takes the sentences of the node's diagnostics.

    Returns:
        latencies, ms: ``total``, ``input`` (until the node took the state) and ``compute`` (in the node);
        and numbers of what was sent.

    Raises:
        RuntimeError: a process ended early, or nothing was received.
    """
    import rclpy
    from diagnostic_msgs.msg import DiagnosticArray

    from hybrid_contact_msgs.msg import ContactMode, PostImpactVelocitySet
    from hybrid_contact_ros.mechanics.example_data import example_urdf
    from hybrid_contact_ros.ros.executor import make_executor
    from hybrid_contact_ros.ros.message_types import nanoseconds

    os.environ.setdefault("ROS_DOMAIN_ID", str(1 + os.getpid() % 100))
    os.environ.setdefault("ROS_AUTOMATIC_DISCOVERY_RANGE", "LOCALHOST")
    os.environ.setdefault("FASTDDS_DEFAULT_PROFILES_FILE", str(ROOT / "config" / "fastdds_discovery.xml"))
    rows: list[tuple[int, int, int]] = []
    sets = 0

    def on_mode(msg: ContactMode) -> None:
        now = time.time_ns()
        rows.append((now - nanoseconds(msg.header.stamp), nanoseconds(msg.input_age), nanoseconds(msg.compute_time)))

    def on_set(_: PostImpactVelocitySet) -> None:
        nonlocal sets
        sets += 1

    def on_diagnostics(msg: DiagnosticArray) -> None:
        assert said is not None
        said.extend(status.message for status in msg.status)

    suite = [
        sys.executable,
        "-m",
        "hybrid_contact_ros.nodes.contact_suite",
        "--ros-args",
        "--params-file",
        robot.config,
    ]
    suite += ["-p", "autostart:=true", "-p", f"urdf_file:={example_urdf(robot.urdf)}"]
    suite += ["--log-level", "warn" if said is None else "info"]
    publisher = [sys.executable, "-m", "benchmarks.latency", "--publish", json.dumps(asdict(robot))]
    publisher += ["--seconds", str(seconds)]
    rclpy.init()
    node = rclpy.create_node("latency_receiver")
    node.create_subscription(ContactMode, "contact_mode", on_mode, 10)
    node.create_subscription(PostImpactVelocitySet, "impact_set", on_set, 10)
    if said is not None:
        node.create_subscription(DiagnosticArray, "/diagnostics", on_diagnostics, 10)
    executor = make_executor()
    executor.add_node(node)
    processes = []
    try:
        processes.append(subprocess.Popen(suite, cwd=ROOT))
        processes.append(subprocess.Popen(publisher, cwd=ROOT, stdout=subprocess.PIPE, text=True))
        limit = time.monotonic() + READY_TIMEOUT + seconds + 30.0
        while processes[1].poll() is None and time.monotonic() < limit:
            executor.spin_once(timeout_sec=0.1)
            if processes[0].poll() is not None:
                raise RuntimeError(f"the contact_suite node ended with exit code {processes[0].returncode}")
        if processes[1].poll() is None or processes[1].returncode:
            raise RuntimeError("the publishing process did not finish")
        assert processes[1].stdout is not None
        sent = json.loads(processes[1].stdout.read().splitlines()[-1])
    finally:
        for process in reversed(processes):
            if process.poll() is None:
                process.terminate()
            try:
                process.wait(10.0)
            except subprocess.TimeoutExpired:
                process.kill()
        executor.remove_node(node)
        node.destroy_node()
        rclpy.try_shutdown()
    if not rows:
        raise RuntimeError("no prediction was received")
    table = np.array(rows, np.float64).T * 1e-6
    return dict(zip(("total", "input", "compute"), table, strict=True)), {**sent, "sets": sets}


def show(series: dict[str, np.ndarray], sent: dict[str, float], rate: float) -> None:
    """Print the table."""
    received = len(series["total"])
    print(f"{'ms':34}{'p50':>9}{'p99':>9}{'p99.9':>9}{'max':>9}")
    for name, label in (
        ("input", "stamp to node"),
        ("compute", "node: message in to prediction"),
        ("total", "stamp to received prediction"),
    ):
        cuts = [*np.percentile(series[name], PERCENTILES), series[name].max()]
        print(f"{label:34}" + "".join(f"{x:9.3f}" for x in cuts))
    print(
        f"received {received} of {sent['sent']} ({100.0 * received / sent['sent']:.2f} %) in {sent['seconds']:.0f} s "
        f"at {rate:g} Hz, and {sent['sets']} impact sets"
    )


def main() -> None:
    """Print the table; with ``--json``, one line for machines."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=60.0, help="duration of the publishing (default 60)")
    parser.add_argument("--rate", type=float, default=500.0, help="rate of the states, Hz (default 500)")
    parser.add_argument("--json", action="store_true", help="numbers only")
    parser.add_argument("--publish", type=json.loads, help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.publish:
        publish(args.seconds, Robot(**args.publish))
        return
    series, sent = measure(args.seconds, Robot(rate=args.rate))
    if args.json:
        cuts = {name: dict(zip(PERCENTILES, np.percentile(x, PERCENTILES), strict=True)) for name, x in series.items()}
        print(json.dumps({**sent, "received": len(series["total"]), "milliseconds": cuts}))
        return
    show(series, sent, args.rate)


if __name__ == "__main__":
    main()
