"""``hybrid-contact watch`` beside real nodes of the suite, of two namespaces."""

import json
import os
import signal
import subprocess
import sys
import threading
import time

import pytest
from rclpy.qos import ReliabilityPolicy

from helpers import leg
from hybrid_contact_ros.bags.reader import BagReader
from hybrid_contact_ros.config import EstimatorConfig
from hybrid_contact_ros.nodes.contact_suite import ContactSuiteNode
from hybrid_contact_ros.nodes.watch.recorder import Recorder
from hybrid_contact_ros.nodes.watch.watcher import Watcher
from hybrid_contact_ros.replay.run import replay_bag

SPACES = ("/north", "/south/arm")
SHARED = ("-r", "joint_states:=/joint_states", "-r", "odom:=/odom")


@pytest.fixture
def suites(bench):
    """A bench with a suite in each of two namespaces, both on the inputs of the root namespace."""
    for space in SPACES:
        bench.start(ContactSuiteNode, arguments=("-r", f"__ns:={space}", *SHARED))
    return bench


@pytest.fixture
def watcher(bench):
    made = []

    def make(*arguments, **options):
        made.append(Watcher(*arguments, context=bench.context, **options))
        bench.executor.add_node(made[-1])
        return made[-1]

    yield make
    for node in made:
        bench.executor.remove_node(node)
        node.destroy_node()


def until_predicted(bench, watching, spaces=SPACES):
    def predicted():
        bench.send()
        heard = {robot.namespace for robot in watching.heard if robot.predictions and robot._flags and robot.nodes}
        return heard >= set(spaces)

    bench.until(predicted)


def snapshot(watching, space):
    return watching.robots[space].snapshot(time.time_ns())


def test_suites_of_all_namespaces_are_found_with_what_they_say(suites, watcher):
    watching = watcher()
    until_predicted(suites, watching)
    for space in SPACES:
        found = snapshot(watching, space)
        (foot,) = found["contacts"]
        assert foot["name"] == "foot" and foot["mode"] in ("open", "sticking", "slipping")
        assert 0.0 <= foot["probability"] <= 1.0 and foot["stability"] in ("holds", "fails", "undecided")
        (node,) = found["nodes"]
        assert node["node"] == f"{space}/contact_suite" and "joint states" in " ".join(node["rates"]) + "joint states"
        assert found["predictions"] > 0 and found["rate"] > 0.0 and found["other_clock"]  # stamps of 1970


def test_a_namespace_that_is_named_is_watched_alone_and_a_wrong_one_is_told_of_the_right_ones(suites, watcher):
    watching = watcher(["north"])
    until_predicted(suites, watching, ["/north"])
    assert [robot.namespace for robot in watching.heard] == ["/north"]
    elsewhere = watcher(["west"])
    suites.until(lambda: "/south/arm" in elsewhere.absence())
    said = elsewhere.absence()
    assert "namespace /west" in said and "/north" in said and os.environ["ROS_DOMAIN_ID"] in said


def test_refused_inputs_are_shown_with_their_reason_and_what_to_do(suites, watcher):
    from rich.console import Console

    from hybrid_contact_ros.watching.table import line, robot

    watching = watcher()

    def refused():
        suites.send(position=(leg.NAN, 0.0))
        return all(
            any("not_finite" in node.refused for node in watching.robots[space].nodes.values())
            for space in SPACES
            if space in watching.robots
        ) and set(SPACES) <= set(watching.robots)

    suites.until(refused)
    found = snapshot(watching, "/north")
    console = Console(width=80, force_terminal=False)
    with console.capture() as capture:
        console.print(robot(found, 80))
    text = " ".join(capture.get().split())
    assert (
        "refused (not_finite): a value is NaN or infinite; look at the driver of that sensor" in text
        and "last: " in text
    )
    assert all(len(row) <= 80 for row in capture.get().splitlines())
    assert "not_finite" in line(found)


def test_a_suite_that_is_not_configured_is_shown_with_why(bench, watcher):
    bench.start(ContactSuiteNode, configure=False, robot_description="", arguments=("-r", "__ns:=/east"))
    watching = watcher()
    bench.until(lambda: watching.heard)
    (node,) = snapshot(watching, "/east")["nodes"]
    assert node["level"] == "WARN" and "not configured" in node["message"]


def test_flags_are_left_alone_where_that_is_asked_for_and_outputs_are_heard_best_effort(suites, watcher):
    watching = watcher(flags=False)
    suites.until(lambda: set(SPACES) <= set(watching.robots))
    names = {s.topic_name for s in watching.subscriptions}
    assert "/north/contact_mode" in names and "/north/constraint_stability" not in names
    infos = watching.get_subscriptions_info_by_topic("/north/contact_mode")
    (own,) = [info for info in infos if info.node_name == watching.get_name()]
    assert own.qos_profile.reliability == ReliabilityPolicy.BEST_EFFORT


def test_the_contact_mode_of_a_simulator_is_no_suite(bench, watcher):
    from hybrid_contact_msgs.msg import ContactMode

    bench.partner.create_publisher(ContactMode, "truth/contact_mode", 10)
    watching = watcher()
    bench.until(lambda: watching.count_publishers("/truth/contact_mode"))
    watching.look()
    assert not watching.robots and "No suite is heard" in watching.absence()


def test_a_recording_has_outputs_and_inputs_and_replays(suites, watcher, tmp_path):
    watching = watcher()
    until_predicted(suites, watching)
    recorder = Recorder(watching, tmp_path / "watched.mcap")
    suites.until(lambda: {"/joint_states", "/odom", "/north/contact_mode"} <= set(recorder.counts) or recorder.look())
    for _ in range(40):
        suites.send()
        suites.spin(0.01)
    suites.until(lambda: recorder.counts["/north/contact_mode"] and recorder.counts["/south/arm/contact_mode"])
    recorder.close()
    recorder.close()
    with BagReader(tmp_path / "watched.mcap") as reader:
        assert not reader.damage
        counts = {topic: reader.count([topic]) for topic in reader.topics}
    assert counts == recorder.counts and counts["/odom"] > 20 and counts["/diagnostics"] >= 0
    config = tmp_path / "leg.yaml"
    config.write_text(leg.PARAMETERS)
    urdf = tmp_path / "leg.urdf"
    urdf.write_text(leg.URDF)
    result = replay_bag(tmp_path / "watched.mcap", EstimatorConfig.from_file(config), urdf)
    assert result.states > 20


def command(*arguments):
    return [sys.executable, "-m", "hybrid_contact_ros.programs", "command", "watch", *map(str, arguments)]


def beside(bench, process, act=lambda: None):
    """What a process says that runs while states are sent."""
    said = {}
    reader = threading.Thread(target=lambda: said.update(zip("oe", process.communicate(timeout=120), strict=True)))
    reader.start()
    while reader.is_alive():
        bench.send()
        bench.spin(0.01)
        act()
    return process.returncode, said["o"], said["e"]


def started(*arguments):
    return subprocess.Popen(command(*arguments), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def test_once_prints_a_table_of_each_robot_in_80_columns(suites):
    code, out, err = beside(suites, started("--once", "--wait", 60))
    assert code == 0, err
    for space in SPACES:
        assert f"{space}/contact_suite" in out
    rows = [row for row in out.splitlines() if row.startswith("foot")]
    assert len(rows) == 2 and all(len(row) <= 80 for row in rows)
    assert "[bounds]" in out  # the legend


def test_json_is_one_object_a_robot(suites):
    code, out, err = beside(suites, started("--once", "--json", "--wait", 60))
    assert code == 0, err
    found = {each["namespace"]: each for each in map(json.loads, out.splitlines())}
    assert set(found) == set(SPACES) and found["/north"]["contacts"][0]["name"] == "foot"


def test_ctrl_c_ends_it_with_0_and_keeps_the_recording(suites, tmp_path):
    process = started("--plain", "--period", 0.2, "--record", tmp_path / "kept.mcap")
    recorded_since = []
    interrupted = []

    def interrupt():
        # That the recorder is in the graph is not yet that it hears: states go on for seconds before it is interrupted.
        topics = suites.partner.get_subscriptions_info_by_topic("/odom")
        if not recorded_since and any(s.node_name == "hybrid_contact_watch" for s in topics):
            recorded_since.append(time.monotonic())
        if recorded_since and time.monotonic() > recorded_since[0] + 3.0 and not interrupted:
            interrupted.append(process.send_signal(signal.SIGINT))

    code, out, err = beside(suites, process, interrupt)
    assert interrupted and code == 0, err
    assert "Traceback" not in err and "/north" in out and "recorded" in out
    with BagReader(tmp_path / "kept.mcap") as reader:
        assert not reader.damage and reader.count(["/odom"]) > 0


def test_nothing_there_is_exit_code_1_and_says_which_domain(bench):
    code, _, err = beside(bench, started("--once", "--wait", 2))
    assert code == 1
    assert f"domain {os.environ['ROS_DOMAIN_ID']} " in err and "/joint_states" in err and "contact_suite" in err


def test_a_recording_that_exists_is_refused_and_so_are_bad_numbers(tmp_path):
    (tmp_path / "there.mcap").write_text("")
    done = subprocess.run(command("--record", tmp_path / "there.mcap"), capture_output=True, text=True, timeout=120)
    assert done.returncode == 2 and "exists already" in done.stderr and "Traceback" not in done.stderr
    done = subprocess.run(command("--period", "nan"), capture_output=True, text=True, timeout=120)
    assert done.returncode == 2 and "--period" in done.stderr
