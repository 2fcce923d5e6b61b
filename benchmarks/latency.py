"""End-to-end latency: stamp of a measurement to its received prediction, over the middleware, three processes.

One process publishes a Go2 that lands and lifts off once a second (``/joint_states`` and ``/odom`` at 500 Hz, stamped
when they are sent), one is the ``contact_suite`` node, and this one receives ``/contact_mode``. All on one clock.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import time
from pathlib import Path

import numpy as np

ROOT = Path(__file__).resolve().parent.parent
CONFIG = ROOT / "config" / "go2.yaml"
URDF = "go2_description/urdf/go2.urdf"
RATE = 500  # Hz
READY = 180.0  # s; without a warm cache the node compiles its kernels first
STANDING = {"hip": 0.0, "thigh": 0.8, "calf": -1.5}  # rad
BOB = 0.02  # m: amplitude of the height, so that touchdowns, and with them impact sets, are among the states
PERCENTILES = (50, 99, 99.9)


def publish(seconds: float) -> None:
    """Body of the publishing process; prints how many states it sent."""
    import rclpy
    from nav_msgs.msg import Odometry
    from sensor_msgs.msg import JointState

    from hybrid_contact_ros.config import EstimatorConfig
    from hybrid_contact_ros.mechanics.example_data import example_urdf
    from hybrid_contact_ros.mechanics.model import RigidBodyModel
    from hybrid_contact_ros.mechanics.state import RobotState

    model = RigidBodyModel.from_urdf(example_urdf(URDF), EstimatorConfig.from_file(CONFIG))
    angles = [next((x for part, x in STANDING.items() if part in name), 0.0) for name in model.joint_names]
    q = np.array([0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0, *angles])
    height = -float(model.problem(RobotState(0, q, np.zeros(model.nv))).gap.min())

    rclpy.init()
    node = rclpy.create_node("latency_robot")
    joints = node.create_publisher(JointState, "joint_states", 1)
    odometry = node.create_publisher(Odometry, "odom", 1)
    still = [0.0] * len(angles)
    state = JointState(name=list(model.joint_names), position=angles, velocity=still, effort=still)
    base = Odometry(child_frame_id="base")
    base.header.frame_id = "world"
    base.pose.pose.orientation.w = 1.0
    limit = time.monotonic() + READY
    while not (joints.get_subscription_count() and odometry.get_subscription_count()):
        if time.monotonic() > limit:
            raise SystemExit("no node took the states")
        time.sleep(0.05)
    time.sleep(1.0)  # until the receiver is connected too
    count = round(seconds * RATE)
    begin = time.perf_counter()
    for k in range(count):
        pause = begin + k / RATE - time.perf_counter()
        if pause > 0.0:
            time.sleep(pause)
        phase = 2.0 * np.pi * k / RATE
        base.pose.pose.position.z = height + BOB * float(np.sin(phase))
        base.twist.twist.linear.z = BOB * 2.0 * np.pi * float(np.cos(phase))
        sec, nanosec = divmod(time.time_ns(), 1_000_000_000)
        for header in (base.header, state.header):
            header.stamp.sec, header.stamp.nanosec = sec, nanosec
        odometry.publish(base)
        joints.publish(state)
    time.sleep(0.5)
    print(json.dumps({"sent": count, "seconds": time.perf_counter() - begin - 0.5}), flush=True)
    node.destroy_node()
    rclpy.try_shutdown()


def measure(seconds: float) -> tuple[dict[str, np.ndarray], dict[str, float]]:
    """Series in ms (``total``, ``input`` until the node took the state, ``compute`` in the node) and what was sent.

    Raises:
        RuntimeError: a process ended early, or nothing was received.
    """
    import rclpy

    from hybrid_contact_msgs.msg import ContactMode, PostImpactVelocitySet
    from hybrid_contact_ros.mechanics.example_data import example_urdf
    from hybrid_contact_ros.ros.executor import make_executor
    from hybrid_contact_ros.ros.messages import nanoseconds

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

    suite = [sys.executable, "-m", "hybrid_contact_ros.nodes.contact_suite", "--ros-args", "--params-file", str(CONFIG)]
    suite += ["-p", "autostart:=true", "-p", f"urdf_file:={example_urdf(URDF)}", "--log-level", "warn"]
    robot = [sys.executable, "-m", "benchmarks.latency", "--publish", "--seconds", str(seconds)]
    rclpy.init()
    node = rclpy.create_node("latency_receiver")
    node.create_subscription(ContactMode, "contact_mode", on_mode, 10)
    node.create_subscription(PostImpactVelocitySet, "impact_set", on_set, 10)
    executor = make_executor()
    executor.add_node(node)
    processes = []
    try:
        processes.append(subprocess.Popen(suite, cwd=ROOT))
        processes.append(subprocess.Popen(robot, cwd=ROOT, stdout=subprocess.PIPE, text=True))
        limit = time.monotonic() + READY + seconds + 30.0
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


def main() -> None:
    """Print the table; with ``--json``, one line for machines."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=60.0, help="of publishing (default 60)")
    parser.add_argument("--json", action="store_true", help="numbers only")
    parser.add_argument("--publish", action="store_true", help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.publish:
        publish(args.seconds)
        return
    series, sent = measure(args.seconds)
    received = len(series["total"])
    if args.json:
        cuts = {name: dict(zip(PERCENTILES, np.percentile(x, PERCENTILES), strict=True)) for name, x in series.items()}
        print(json.dumps({**sent, "received": received, "milliseconds": cuts}))
        return
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
        f"at {RATE} Hz, and {sent['sets']} impact sets"
    )


if __name__ == "__main__":
    main()
