"""Many states in one process: is memory flat, how are the latencies spread, and what held the worst ten up?

    ./run bench soak --states 1000000 [--ros]

A node of the suite with all its outputs answers states that are fed into its subscriptions as the middleware would,
one after the other: 10⁶ of them take minutes, and what is seen is the suite alone. With ``--ros`` they come from
another process at ``--rate`` over the middleware, which takes 17 minutes for 10⁶ at 1 kHz, and latencies count from the
stamp. A second, shorter pass counts what Python allocates and keeps, line by line.
"""

from __future__ import annotations

import argparse
import gc
import json
import subprocess
import sys
import time
import tracemalloc
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.live.domain import own_domain
from benchmarks.live.memory import in_words, resident, show_memory
from benchmarks.live.robot import ROOT, Robot, States
from benchmarks.live.watch import Histogram, State, Watch

SAMPLES = 200  # of the memory, spread over a run
_TRIES = 20
TRACED = 0.05  # share of the states that the second pass takes


@contextmanager
def suite(rate: float) -> Iterator[tuple[Any, Any]]:
    """An active node of the suite in this process, and its executor."""
    own_domain()
    import rclpy

    from hybrid_contact_msgs.msg import ConstraintStability, ContactMode
    from hybrid_contact_ros.mechanics.example_data import example_urdf
    from hybrid_contact_ros.nodes.contact_suite import ContactSuiteNode
    from hybrid_contact_ros.ros.executor import make_executor

    robot = Robot(rate=rate)
    arguments = ["--ros-args", "--params-file", robot.config, "-p", f"urdf_file:={example_urdf(robot.urdf)}"]
    # Stamps run at the rate, states as fast as they are answered.
    arguments += ["-p", "input.stale_after:=0.0", "--log-level", "warn"]
    sys.setswitchinterval(5e-4)  # as run_node has it
    rclpy.init()
    node = ContactSuiteNode(cli_args=arguments)
    executor = make_executor()
    executor.add_node(node)
    node.trigger_configure()
    node.trigger_activate()
    listener = rclpy.create_node("soak_listener")  # never spun: what nobody listens to would not be computed
    for topic, kind in (("contact_mode", ContactMode), ("constraint_stability", ConstraintStability)):
        listener.create_subscription(kind, topic, lambda _: None, 1, raw=True)
    try:
        yield node, executor
    finally:
        listener.destroy_node()
        executor.remove_node(node)
        executor.shutdown()
        node.destroy_node()
        rclpy.try_shutdown()


def feeders(node: Any) -> tuple[Callable[[bytes, int], None], Callable[[bytes, int], None]]:
    """Functions that hand over an odometry and a joint state with a sequence number, as the executor does: bytes, or
    messages where the node takes messages."""
    from nav_msgs.msg import Odometry
    from rclpy.serialization import deserialize_message
    from sensor_msgs.msg import JointState

    found = {subscription.topic_name.rpartition("/")[2]: subscription for subscription in node.subscriptions}

    def feeder(topic: str, kind: type) -> Callable[[bytes, int], None]:
        subscription = found[topic]

        def feed(data: bytes, number: int) -> None:
            message = data if subscription.raw else deserialize_message(data, kind)
            subscription.callback(message, {"publication_sequence_number": number})

        return feed

    return feeder("odom", Odometry), feeder("joint_states", JointState)


def in_process(count: int, rate: float, look: Callable[[int], None]) -> Watch:
    """Feed states in; ``look`` is called after each with its number."""
    with suite(rate) as (node, executor):
        states, (odometry, joints) = States(Robot(rate=rate)), feeders(node)
        watch = Watch(node, stamped=False)
        begin, period, missed = time.time_ns(), round(1e9 / rate), 0
        for k in range(count):
            base, state = states.at(k, begin + k * period)
            odometry(base, k + 1)
            watch.begin()
            joints(state, k + 1)
            for _ in range(_TRIES):  # timers and services have their turn, and the state if it has to wait for them
                executor.spin_once(timeout_sec=0.0)
                if watch.answered > k - missed:
                    break
            else:
                missed += 1
            look(k)
        watch.close()
    return watch


def over_ros(count: int, rate: float, look: Callable[[int], None]) -> tuple[Watch, dict[str, Any]]:
    """Answer states that another process sends; the result also has what it says that it sent."""
    with suite(rate) as (node, executor):
        order = {"robot": asdict(Robot(rate=rate)), "seconds": count / rate, "warm": 1.0, "pids": []}
        command = [sys.executable, "-m", "benchmarks.live.robot", json.dumps(order)]
        robot = subprocess.Popen(command, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        assert robot.stdin is not None and robot.stdout is not None
        watch = Watch(node, stamped=True)
        try:
            robot.stdin.write("\n")
            robot.stdin.flush()
            looked = 0
            ask = time.monotonic()
            while robot.poll() is None or time.monotonic() < ask:
                executor.spin_once(timeout_sec=0.1)
                while looked < watch.answered:
                    look(looked)
                    looked += 1
                if time.monotonic() > ask and robot.poll() is None:
                    ask = time.monotonic() + 0.2
            sent = json.loads(robot.stdout.read().splitlines()[-1])
        finally:
            if robot.poll() is None:
                robot.kill()
            watch.close()
    return watch, sent


def show_latency(latency: Histogram, title: str) -> None:
    """Print percentiles and the histogram."""
    cuts = ", ".join(f"p{q:g} {latency.percentile(q):.0f}" for q in (50, 99, 99.9, 99.99))
    print(f"\n{title}, µs: {cuts}\n\n| µs | states | |\n|---|---|---|")
    rows = latency.coarse()
    whole = sum(count for _, _, count in rows)
    for low, high, count in rows:
        bar = "█" * max(int(np.ceil(40 * np.log10(1 + count) / np.log10(1 + whole))), bool(count))
        print(f"| {low:.0f} – {high:.0f} | {count} | {bar} |")
    print("(bars are logarithmic)")


def show_worst(watch: Watch, states: list[State], waiting: bool) -> None:
    """Print a table of slow states; ``waiting``: the wait for a processor counts."""
    print(
        f"\nThe slowest states{'' if waiting else ', the wait for a processor not counted'}; µs; switches voluntary + "
    )
    print("involuntary; page faults minor + major\n")
    print("| latency | state | on a processor | waited for one | collection | switches | faults | set near | cause |")
    print("|---|---|---|---|---|---|---|---|---|")
    for state in states:
        s = state.spent
        times = " | ".join(f"{1e-3 * x:.0f}" for x in (s.cpu, s.delay, s.collected))
        print(
            f"| {1e-3 * state.latency:.0f} | {state.number} | {times} | {s.voluntary} + {s.involuntary} "
            f"| {s.minor} + {s.major} | {'yes' if state.set_due else 'no'} | {watch.cause(state, waiting)} |"
        )


def traced(count: int, rate: float) -> None:
    """The second pass: what Python keeps of the second half of the states."""
    taken: list[tracemalloc.Snapshot] = []

    def look(k: int) -> None:
        if k == 0:
            tracemalloc.start()
        if k in (count // 2, count - 1):
            gc.collect()
            taken.append(tracemalloc.take_snapshot())

    in_process(count, rate, look)
    tracemalloc.stop()
    skipped = [tracemalloc.Filter(False, tracemalloc.__file__), tracemalloc.Filter(False, __file__)]
    first, last = (snapshot.filter_traces(skipped) for snapshot in taken)
    found = last.compare_to(first, "lineno")
    between = count - count // 2
    kept = sum(x.size_diff for x in found) / between
    print(f"\nPython keeps {in_words(kept)}, over {between} states:")
    for each in found[:6]:
        frame = each.traceback[0]
        print(f"  {each.size_diff:+8d} bytes, {each.count_diff:+5d} blocks  {_short(frame.filename)}:{frame.lineno}")


def _short(name: str) -> str:
    return "/".join(Path(name).parts[-3:])


def main() -> None:
    """Print what was found."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--states", type=int, default=20_000, help="how many (default 20 000)")
    parser.add_argument("--rate", type=float, default=1000.0, help="Hz, of their stamps (default 1000)")
    parser.add_argument("--ros", action="store_true", help="over the middleware, in real time")
    args = parser.parse_args()
    count, states, memory = args.states, [], []
    every = max(1, count // SAMPLES)

    def look(k: int) -> None:
        if k % every == 0:
            states.append(k)
            memory.append(resident())

    begin = time.perf_counter()
    if args.ros:
        watch, sent = over_ros(count, args.rate, look)
        share = f"; {sent['sent']} were sent and {sent['late']} of them late"
        title = "from the stamp to the published mode"
    else:
        watch, share = in_process(count, args.rate, look), ""
        title = "from the joint state to the published mode"
    print(f"{watch.answered} states answered in {time.perf_counter() - begin:.0f} s{share}", flush=True)
    flat = show_memory(states, memory)
    show_latency(watch.latency, title)
    show_worst(watch, watch.slowest.states(), waiting=True)
    show_worst(watch, watch.own.states(), waiting=False)
    traced(max(1000, int(TRACED * count)), args.rate)
    if not flat:
        raise SystemExit("memory grows")


if __name__ == "__main__":
    main()
