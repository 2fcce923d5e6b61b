"""Memory of a node by part: ``./run bench memory``.

A fresh process does one after the other what a node does, and its memory is read after each step: resident set (RSS),
proportional set (PSS, where pages that processes share count in parts), and the pages that are its own (private). The
last two depend on what else runs on the machine. The kernels are in the cache by then, as in every start but the first;
``--cold`` measures a first start in one process.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

from benchmarks.compile_time import ROOT, urdfs

_FIELDS = ("Rss", "Pss", "Private_Clean", "Private_Dirty")


def read() -> dict[str, float]:
    """Memory of this process, MB."""
    rows = (line.split() for line in Path("/proc/self/smaps_rollup").read_text().splitlines()[1:])
    return {row[0].rstrip(":"): int(row[1]) / 1024 for row in rows if row[0].rstrip(":") in _FIELDS}


def steps() -> Iterator[str]:
    """Do what a node does; yield the name of each step once it is done."""
    yield "interpreter"
    import numpy

    yield "numpy"
    import rclpy
    from nav_msgs.msg import Odometry  # noqa: F401
    from sensor_msgs.msg import JointState  # noqa: F401

    from hybrid_contact_msgs.msg import ContactMode, PostImpactVelocitySet  # noqa: F401

    yield "rclpy and messages, imported"
    rclpy.init()
    node = rclpy.create_node("memory")
    node.create_publisher(ContactMode, "contact_mode", 1)
    yield "a node with a publisher (DDS)"
    node.destroy_node()
    import numba  # noqa: F401

    yield "numba with LLVM, imported"
    import pinocchio  # noqa: F401

    yield "Pinocchio, imported"
    from hybrid_contact_ros import ContactEstimator, EstimatorConfig, RigidBodyModel

    yield "ours: modules"
    config = EstimatorConfig.from_file(ROOT / "config" / "go2.yaml")
    model = RigidBodyModel.from_urdf(urdfs(ROOT)["go2"], config)
    yield "the model of a Go2, first kernels"
    estimator = ContactEstimator(model, config)
    yield "ours: scratch of an estimator"
    estimator.warm(freeze=True)
    yield "ours: kernels, loaded or compiled"
    from rclpy.parameter import Parameter

    from hybrid_contact_ros.nodes.contact_suite import ContactSuiteNode

    suite = ContactSuiteNode(
        parameter_overrides=[Parameter("urdf_file", value=str(urdfs(ROOT)["go2"]))],
        cli_args=["--ros-args", "--params-file", str(ROOT / "config" / "go2.yaml")],
    )
    del estimator, model
    suite.trigger_configure()
    suite.trigger_activate()
    assert suite.active, "the node refused its configuration"
    yield "ours: a node, configured and active"
    numpy.zeros(0)
    suite.destroy_node()


def serve() -> None:
    """The process that is measured: a line for each step."""
    for name in steps():
        values = read()
        print(name, *(f"{values.get(field, 0.0):.1f}" for field in _FIELDS), sep="\t", flush=True)
    os._exit(0)


def main() -> None:
    parser = argparse.ArgumentParser(prog="./run bench memory", description="Memory of a node by part.")
    parser.add_argument("--cold", action="store_true", help="compile all kernels in this process")
    with tempfile.TemporaryDirectory() as cache:
        environment = dict(os.environ)
        if parser.parse_args().cold:
            environment["HYBRID_CONTACT_CACHE"] = cache
        command = [sys.executable, "-c", "from benchmarks.memory import serve; serve()"]
        done = subprocess.run(command, cwd=ROOT, env=environment, stdout=subprocess.PIPE, text=True, check=False)
    print(f"{'MB':36}{'RSS':>8}{'step':>8}{'PSS':>8}{'private':>9}")
    before = 0.0
    for line in done.stdout.splitlines():
        name, *fields = line.split("\t")
        if len(fields) != len(_FIELDS):
            continue  # a line of the node's log
        rss, pss, clean, dirty = map(float, fields)
        print(f"{name:36}{rss:8.1f}{rss - before:8.1f}{pss:8.1f}{clean + dirty:9.1f}")
        before = rss
    if done.returncode:
        raise SystemExit(f"the process ended with exit code {done.returncode}")


if __name__ == "__main__":
    main()
