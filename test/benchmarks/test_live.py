"""The parts of the live benchmarks: bytes in and out, the load, the verdict. No test here says how long anything
takes."""

import json
import subprocess
import sys
import time
from dataclasses import replace

import numpy as np
import pytest

pytest.importorskip("rclpy", reason="rclpy is not there: ./run setup installs it")

from builtin_interfaces.msg import Duration, Time
from nav_msgs.msg import Odometry
from rclpy.serialization import deserialize_message, serialize_message
from sensor_msgs.msg import JointState

from benchmarks import demo, latency
from benchmarks.live import checkout, machine, receiver, session, verdict
from benchmarks.live.machine import Load, Reading
from benchmarks.live.robot import ROOT, Robot, States
from hybrid_contact_msgs.msg import ContactMode, ContactState, ModeTransition

STAMP = 1_700_000_000_123_456_789


@pytest.mark.parametrize("noise", [0.0, 0.01])
def test_states_in_bytes_are_those_of_the_robot(noise):
    robot = Robot(rate=250.0, noise=noise)
    states = States(robot)
    heights = []
    for k in range(0, 250, 50):
        base, joints = states.at(k, STAMP + k)
        odometry, state = deserialize_message(base, Odometry), deserialize_message(joints, JointState)
        for header in (odometry.header, state.header):
            assert (header.stamp.sec, header.stamp.nanosec) == divmod(STAMP + k, 10**9)
        phase = 2.0 * np.pi * k / 250.0
        heights.append(odometry.pose.pose.position.z - robot.bob * np.sin(phase))
        assert odometry.twist.twist.linear.z == pytest.approx(robot.bob * 2.0 * np.pi * np.cos(phase), abs=1e-12)
        assert odometry.pose.pose.orientation.w == 1.0
        assert len(state.name) == len(state.position) == len(state.velocity) == len(state.effort) == 12
        assert np.any(state.velocity) == np.any(state.effort) == bool(noise)
    assert np.ptp(heights) < 1e-12
    assert 0.1 < heights[0] < 0.6


@pytest.mark.parametrize(("contacts", "transitions"), [(0, 0), (1, 0), (4, 3), (7, 8)])
def test_times_are_read_at_the_end_of_a_contact_mode_of_any_length(contacts, transitions):
    message = ContactMode(
        contacts=[ContactState(name="foot" * i) for i in range(contacts)],
        sequence=[ModeTransition() for _ in range(transitions)],
        compute_time=Duration(sec=1, nanosec=2),
        input_age=Duration(sec=3, nanosec=4_000_000),
        model_hash=2**64 - 1,
    )
    message.header.frame_id = "odom"
    message.header.stamp = Time(sec=STAMP // 10**9, nanosec=STAMP % 10**9)
    row = (STAMP + 5_000_000, *receiver.parts_of(bytes(serialize_message(message))))
    (found,) = receiver.latencies([row], [STAMP, STAMP], timed=True)
    assert found == pytest.approx([5.0, 3004.0, 1000.000002], abs=1e-9)
    assert not len(receiver.latencies([row], [STAMP + 1, STAMP + 9], timed=True))
    assert np.isnan(receiver.latencies([row], [STAMP, STAMP], timed=False)[0, 1:]).all()


def test_the_clock_of_a_process_is_that_which_the_process_reads_itself():
    code = "import time; sum(range(10**6)); print(time.process_time(), flush=True); input()"
    with subprocess.Popen([sys.executable, "-c", code], stdin=-1, stdout=-1, text=True) as child:
        said = float(child.stdout.readline())
        assert machine.processor_time(child.pid) >= said > 0.0
        child.communicate("\n")
    before = time.process_time()
    own = machine.processor_time(machine.os.getpid())
    assert before <= own <= time.process_time()


def test_what_others_took_is_what_is_left_of_the_busy_time():
    first = Reading(wall=10.0, busy=100.0, stolen=1.0, used=(3.0, 4.0))
    load = machine.between(first, Reading(wall=12.0, busy=103.0, stolen=1.5, used=(4.0, 4.5)), processors=2)
    assert load == Load(seconds=2.0, used=(1.0, 0.5), others=(3.0 + 0.5 - 1.5) / 4.0, stolen=0.125)


def run_of(total, sent=1000, cpu=0.1, **fields):
    total = np.asarray(total, float)
    load = Load(1.0, (cpu, 0.0, 0.0), 0.25, 0.0)
    times = {"total": total, "input": total / 4, "compute": total / 2, **fields}
    return session.Run(**{"sent": sent, "late": 0, "load": load, "sets": 3, "said": [], **times})


def test_measurements_are_pooled():
    a = run_of(np.full(900, 1.0), cpu=0.09, late=10, said=["left out to keep up with joint_states: impact_set"])
    b = run_of(np.full(600, 3.0), cpu=0.12, said=["fine"])
    found = verdict.summary([a, b])
    assert found.answered == pytest.approx(0.75)
    assert found.latency == (1.0, 3.0, 3.0, 3.0)
    assert found.cpu == pytest.approx(1e6 * 0.21 / 1500) and found.cpu_range == pytest.approx((100.0, 200.0))
    assert (found.sets, found.left_out, found.others) == (6, ("impact_set",), 0.25)
    assert found.late == pytest.approx(0.005)
    assert json.loads(json.dumps(found.as_json()))["compute"] == [0.5, 1.5]
    assert "input" not in verdict.summary([run_of(a.total, input=a.total * np.nan)]).as_json()


def test_allowances_scale_with_the_machine():
    floor = verdict.summary([run_of(np.full(990, 0.3), cpu=0.099)])
    now = replace(floor, answered=0.988, latency=(0.41, 0.6, 1.0, 1.0), cpu=170.0)
    before = replace(floor, cpu=300.0)
    goals = verdict.live_goals("500 Hz", floor, now, before, yardstick=7.5)
    assert [goal.reached for goal in goals] == [True] * 4
    assert [goal.allowed for goal in goals] == pytest.approx([98.7, 0.3 + 0.175, 0.3 + 0.5, 0.35])
    assert goals[3].measured == pytest.approx(0.35)
    worse = replace(now, answered=0.9869, latency=(0.476, 0.81, 1.0, 1.0), cpu=171.0)
    assert not any(goal.reached for goal in verdict.live_goals("500 Hz", floor, worse, before, yardstick=7.5))
    assert len(verdict.live_goals("500 Hz", floor, now, None, 7.5)) == 3
    assert verdict.sets_goal("500 Hz", replace(now, latency=(0, 1.1, 0, 0)), replace(now, latency=(0, 1, 0, 0))).reached


def test_the_engine_is_compared_turn_by_turn_and_with_the_yardstick():
    ours, theirs = [[40.0, 5.0], [90.0, 6.0], [30.0, 3.0]], [[100.0, 5.0], [300.0, 6.0], [60.0, 3.0]]
    ratio, multiples = verdict.engine_goals(["update", "computeAllTerms"], ours, theirs)
    assert (ratio.measured, ratio.reached) == (0.4, True)
    assert (multiples.measured, multiples.reached) == (10.0, True)
    assert len(verdict.engine_goals(["update", "computeAllTerms"], ours, [])) == 1


@pytest.mark.parametrize("kind", ["floor", "suite"])
def test_a_second_of_states_goes_through(kind):
    robot = Robot(rate=100.0)
    variant = session.floor() if kind == "floor" else session.suite("now", ROOT, robot)
    run = session.measure(variant, robot, seconds=1.0, warm=0.5)
    assert run.sent == 100
    assert 0 < len(run.total) <= run.sent  # a machine that is busy answers fewer
    assert (run.total > 0.0).all()
    if kind == "suite":
        assert (run.input + run.compute < run.total).all() and (run.compute > 0.0).all()
    else:
        assert np.isnan(run.compute).all()
    assert all(used > 0.0 for used in run.load.used) and 0.0 <= run.load.others <= 1.0


def test_the_demo_may_miss_a_point_beside_the_echo_node():
    echo = [demo.Shown(1000, 990, 0, 0.3, 1.0, 0.5), demo.Shown(3000, 2930, 0, 0.3, 1.0, 0.5)]  # 98 %
    assert demo.goal([demo.Shown(1000, 970, 0, 1.0, 2.0, 0.5)], echo).reached
    missed = demo.goal([demo.Shown(1000, 969, 0, 1.0, 2.0, 0.5)], echo)
    assert not missed.reached and missed.allowed == pytest.approx(97.0)


def test_a_checkout_that_is_set_up_is_taken_as_it_is_and_one_that_is_nowhere_is_named(tmp_path):
    (tmp_path / ".venv").mkdir()
    assert checkout.checkout(str(tmp_path)) == (tmp_path, tmp_path.name)
    checkout.leave(tmp_path, remove=True)
    assert tmp_path.exists()  # it is not ours
    with pytest.raises(SystemExit, match="no_such_revision"):
        checkout.place_of("no_such_revision")


def test_another_checkouts_python_finds_its_own_packages(monkeypatch, tmp_path):
    monkeypatch.setenv("AMENT_PREFIX_PATH", str(ROOT / ".venv"))
    monkeypatch.setenv("LD_LIBRARY_PATH", "of our wheels")
    monkeypatch.setenv("_ROS_WHEELS_BOOTSTRAP_COMPLETE", "1")
    found = session.environment(tmp_path)
    assert found["AMENT_PREFIX_PATH"] == str(tmp_path / ".venv")
    assert not {"LD_LIBRARY_PATH", "_ROS_WHEELS_BOOTSTRAP_COMPLETE"} & set(found)
    monkeypatch.delenv("_ROS_WHEELS_BOOTSTRAP_COMPLETE")
    assert session.environment(tmp_path)["LD_LIBRARY_PATH"] == "of our wheels"  # of a sourced ROS 2


def test_options_behind_one_name_are_that_benchmarks_own():
    command = [sys.executable, "-m", "benchmarks"]
    done = subprocess.run([*command, "latency", "--help"], cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0 and "--against REV" in done.stdout
    done = subprocess.run([*command, "modes_campaign", "many"], cwd=ROOT, capture_output=True, text=True)
    assert done.returncode != 0 and "many" in done.stderr  # its own argument, which is no number
    done = subprocess.run([*command, "house", "latency", "no_such"], cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 2 and "no benchmark named no_such" in done.stderr
    done = subprocess.run([*command, "no_such", "latency"], cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 2 and "no benchmark named no_such" in done.stderr


def test_without_the_engine_only_the_yardstick_is_measured_and_shown(monkeypatch, capsys):
    asked = []

    class Worker:
        def __init__(self, root, names):
            asked.append(names)

        def measure(self):
            return [5.0]

        def close(self):
            pass

    monkeypatch.setattr(latency, "Worker", Worker)
    engine = latency.Engine(None, updates=False)
    engine.turns(2)
    engine.show()
    assert asked == [["computeAllTerms"]] and engine.yardstick == 5.0
    assert [line.split()[0] for line in capsys.readouterr().out.splitlines() if line] == ["µs,", "computeAllTerms"]
