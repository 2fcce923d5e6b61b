"""Impact sets beside the stream of states: are states delayed by them, and for how long is Python's lock held?

One process: a ``contact_suite`` node with its publishers, to whose callbacks messages of a Go2 are handed when they are
due. The robot bobs, by default four times a second, so that every second state has a touchdown ahead. Blocks of 500
states with sets and without alternate. Latency runs from the time when a state is due until its mode and flags are
published.

The second part is the processor time of each step of a set and of its publication. Python's lock is held no longer than
a step, and no longer than 20 µs and one call of a library where somebody asks for it.

The third part has one thread that does nothing but look at the clock, and offers a state to the thread of the sets
every 2 ms. The pauses that it finds are those for which it waited for Python's lock, or for a processor; those without
any set are shown beside them.

Other processes disturb both. With ``--fifo`` this one has real-time priority meanwhile, where that is allowed.
"""

from __future__ import annotations

import argparse
import os
import sys
import time
from pathlib import Path

import numpy as np

from hybrid_contact_ros.estimation.impact_ahead import ImpactAhead

ROOT = Path(__file__).resolve().parent.parent
BLOCK = 500  # states
STANDING = {"hip": 0.0, "thigh": 0.8, "calf": -1.5}  # rad
HEIGHT, BOB = 0.02, 0.0199  # m
GAP_NS = 3000  # pauses shorter than this are the clock's


class Stream:
    """A configured and active node, and messages for it."""

    def __init__(self, bobs: float = 4.0) -> None:
        import rclpy
        from nav_msgs.msg import Odometry
        from rclpy.parameter import Parameter
        from sensor_msgs.msg import JointState

        from hybrid_contact_ros.mechanics.example_data import example_urdf
        from hybrid_contact_ros.mechanics.state import RobotState
        from hybrid_contact_ros.nodes.contact_suite import ContactSuiteNode
        from hybrid_contact_ros.ros.executor import _SWITCH
        from hybrid_contact_ros.ros.realtime import precise_waits
        from hybrid_contact_ros.ros.slices import short_slices

        sys.setswitchinterval(_SWITCH)
        precise_waits()
        short_slices()
        rclpy.init(args=["--ros-args", "--log-level", "warn", "--params-file", str(ROOT / "config" / "go2.yaml")])
        urdf = str(example_urdf("go2_description/urdf/go2.urdf"))
        self.node = ContactSuiteNode(parameter_overrides=[Parameter("urdf_file", value=urdf)])
        assert self.node.trigger_configure().name == self.node.trigger_activate().name == "SUCCESS"
        assert self.node.stream is not None
        self.stream = self.node.stream
        self.sets = self.stream.sets
        model = self.stream.estimator.model
        angles = [next((x for part, x in STANDING.items() if part in name), 0.0) for name in model.joint_names]
        q = np.array([0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0, *angles])
        self.height = HEIGHT - float(model.problem(RobotState(0, q, np.zeros(model.nv))).gap.min())
        still = [0.0] * len(angles)
        self.joints = JointState(name=list(model.joint_names), position=angles, velocity=still, effort=still)
        self.base = Odometry(child_frame_id="base")
        self.base.header.frame_id = "world"
        self.base.pose.pose.orientation.w = 1.0
        self.bobs = bobs  # Hz
        self.published = 0
        publish = self.node.publish

        def noted(*given: object) -> None:
            publish(*given)  # type: ignore[arg-type]
            self.published = time.perf_counter_ns()

        self.node.publish = noted  # type: ignore[method-assign]

    def send(self, phase: float) -> None:
        """Hand the node a state at this phase of the bobbing, rad."""
        self.base.pose.pose.position.z = self.height + BOB * float(np.sin(phase))
        self.base.twist.twist.linear.z = BOB * 2.0 * np.pi * self.bobs * float(np.cos(phase))
        sec, nanosec = divmod(time.time_ns(), 1_000_000_000)
        for header in (self.base.header, self.joints.header):
            header.stamp.sec, header.stamp.nanosec = sec, nanosec
        self.stream.on_odometry(self.base, None, None)
        self.stream.on_joint_state(self.joints, None, None)

    def block(self, rate: float, sets: bool) -> list[int]:
        """Latencies of a block of states, ns."""
        self.stream.sets = self.sets if sets else None
        found = []
        begin = time.perf_counter_ns()
        for k in range(BLOCK):
            due = begin + int(1e9 * k / rate)
            pause = due - time.perf_counter_ns()
            if pause > 0:
                time.sleep(1e-9 * pause)
            self.send(2.0 * np.pi * self.bobs * k / rate)
            found.append(self.published - due)
        return found

    def steps(self, count: int) -> np.ndarray:
        """Processor time of the steps of sets but for the sampling, and of the publication, µs, (count, steps)."""
        assert self.sets is not None
        self.stream.sets = self.sets
        ahead = self._ahead()
        time.sleep(0.1)
        rows = []
        for _ in range(count):
            steps, row, kind = self.sets._sets.ahead(ahead, sampled=True), [], False
            while True:
                begin = time.thread_time_ns()
                try:
                    following = next(steps)
                except StopIteration as end:
                    row.append(time.thread_time_ns() - begin)
                    begin = time.thread_time_ns()
                    self.sets._publish(end.value, 0)
                    row.append(time.thread_time_ns() - begin)
                    break
                if not kind:
                    row.append(time.thread_time_ns() - begin)
                kind = following
            rows.append(row)
        return np.array(rows) * 1e-3

    def yardstick(self) -> float:
        """Thread time of ``pinocchio.computeAllTerms`` of the robot, µs, best of many."""
        import pinocchio

        model = self.stream.estimator.model
        q, v, found = model.neutral(), np.zeros(model.nv), []
        for _ in range(2000):
            begin = time.thread_time_ns()
            pinocchio.computeAllTerms(model.pinocchio_model, model.pinocchio_data, q, v)
            found.append(time.thread_time_ns() - begin)
        return 1e-3 * float(np.median(found))

    def _ahead(self) -> ImpactAhead:
        """Of a state whose set is computed."""
        phase = 0.0
        while self.stream.estimator.next_impact() is None:
            phase += 0.1
            self.send(phase)
        ahead = self.stream.estimator.impact_ahead()
        assert ahead is not None
        return ahead

    def pauses(self, seconds: float, sets: bool) -> np.ndarray:
        """Pauses that a thread finds which does nothing but look at the clock, µs."""
        assert self.sets is not None
        self.stream.sets = self.sets
        ahead = self._ahead()
        time.sleep(0.1)
        found = []
        now = time.perf_counter_ns
        last = now()
        end, due = last + int(1e9 * seconds), last
        while last < end:
            if sets and last > due:
                self.sets.offer(ahead, last)
                self.sets.go_on()
                due += 2_000_000
                last = now()
            at = now()
            if at - last > GAP_NS:
                found.append(at - last)
            last = at
        return np.array(found or [0]) * 1e-3


def main() -> None:
    """Print both tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=20.0, help="of publishing, for each rate (default 20)")
    parser.add_argument("--rates", type=float, nargs="+", default=[500.0, 1000.0], help="of the states, Hz")
    parser.add_argument("--bobs", type=float, default=4.0, help="landings a second (default 4)")
    parser.add_argument("--fifo", action="store_true", help="with real-time priority, so that nothing else disturbs")
    args = parser.parse_args()
    if args.fifo:
        os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(10))
    stream = Stream(args.bobs)
    assert stream.sets is not None
    print(f"computeAllTerms of this robot takes {stream.yardstick():.1f} µs now\n")
    print(f"{'due to published, ms':24}{'p50':>9}{'p90':>9}{'p99':>9}{'p99.9':>9}")
    for rate in args.rates:
        taken: dict[bool, list[list[int]]] = {False: [], True: []}
        made, overtaken = stream.sets.counter.made, stream.sets.counter.overtaken
        for k in range(max(2, round(args.seconds * rate / BLOCK))):
            taken[bool(k % 2)].append(stream.block(rate, bool(k % 2)))
        table = {}
        for sets, blocks in taken.items():
            table[sets] = np.percentile(np.concatenate(blocks), (50, 90, 99, 99.9)) * 1e-6
            name = f"{rate:g} Hz, sets {'on' if sets else 'off'}"
            print(f"{name:24}" + "".join(f"{x:9.3f}" for x in table[sets]))
        print(f"{'on / off':24}" + "".join(f"{x:9.3f}" for x in table[True] / table[False]))
        made, overtaken = stream.sets.counter.made - made, stream.sets.counter.overtaken - overtaken
        print(f"{made} sets were published, {overtaken} states overtaken before theirs was begun", flush=True)
    steps = stream.steps(500)
    print(f"\n{'steps of a set, µs':24}{'number':>9}{'p50':>9}{'p90':>9}{'p99':>9}")
    longest = steps[:, np.argmax(np.median(steps, axis=0))]
    print(f"{'the longest':24}{1:9}" + "".join(f"{x:9.1f}" for x in np.percentile(longest, (50, 90, 99))))
    print(
        f"{'all':24}{steps.shape[1]:9}" + "".join(f"{x:9.1f}" for x in np.percentile(steps.sum(axis=1), (50, 90, 99)))
    )
    print(f"\n{'waits for the lock, µs':24}{'number':>9}{'p50':>9}{'p90':>9}{'p99':>9}{'max':>9}")
    for sets in (False, True):
        found = stream.pauses(5.0, sets)
        cuts = [*np.percentile(found, (50, 90, 99)), found.max()]
        print(f"{'sets on' if sets else 'sets off':24}{len(found):9}" + "".join(f"{x:9.1f}" for x in cuts), flush=True)
    import rclpy

    stream.node.destroy_node()
    rclpy.try_shutdown()


if __name__ == "__main__":
    main()
