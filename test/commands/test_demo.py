"""``hybrid-contact demo`` as a whole, with its processes."""

import json
import os
import signal
import subprocess
import sys
import time
import uuid
from pathlib import Path

import pytest

for module in ("rclpy", "hybrid_contact_msgs.msg", "mujoco"):
    pytest.importorskip(module, reason=f"{module} is not there: ./run setup installs it")


def demo(*arguments):
    command = [sys.executable, "-m", "hybrid_contact_ros.cli", "demo", *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, timeout=1500)  # kernels may have to be compiled


def test_five_seconds_are_predicted_scored_and_drawn(tmp_path, root):
    whole = tmp_path / "whole.yaml"  # a machine that is busy would leave the impact sets out, or end them early
    text = (root / "config" / "go2.yaml").read_text()
    whole.write_text(text + "\n    input: {lost_before_less: 1.0}\n    impact: {deadline: 0.0}\n")
    for _ in range(3):  # a set counts that is at most 50 ms old at its landing: a machine may stall as long, twice
        done = demo("--seconds", 5, "--json", "--config", whole, "--out", tmp_path / "out")
        assert done.returncode == 0, done.stderr
        summary = json.loads(done.stdout)
        assert summary["predictions"] > 500  # of 2500; a machine that is busy answers fewer
        assert summary["scores"]["f1"] > 0.8
        assert len(summary["landings"]) == 2  # a drop and a hop
        assert summary["latency"]["p50"] > 0.0
        assert (tmp_path / "out" / "demo.png").read_bytes()[:4] == b"\x89PNG"
        if any(landing["outcomes"] >= 1 for landing in summary["landings"]):
            break
    assert any(landing["outcomes"] >= 1 for landing in summary["landings"])


def test_an_echo_node_in_place_of_the_suite_shows_what_could_be_answered(tmp_path):
    done = demo("--seconds", 2, "--json", "--echo", "--out", tmp_path / "out")
    assert done.returncode == 0, done.stderr
    summary = json.loads(done.stdout)
    assert set(summary) == {"predictions", "seconds", "latency", "robot"}  # its answers are no predictions to score
    assert 0 < summary["predictions"] <= summary["robot"]["cycles"] == 1000
    assert summary["latency"]["p50"] > 0.0
    assert not (tmp_path / "out").exists()


def test_no_predictions_is_exit_code_1_and_says_why(tmp_path, root):
    wrong = tmp_path / "wrong.yaml"
    text = (root / "config" / "go2.yaml").read_text()
    wrong.write_text(text + "\n    twist_in_world: [1, 2]\n")  # the file is right, but the node cannot use it
    done = demo("--seconds", 1, "--json", "--config", wrong, "--out", tmp_path / "out")
    assert done.returncode == 1
    assert "twist_in_world" in done.stderr and "no predictions came" in done.stderr
    assert json.loads(done.stdout) == {"predictions": 0}
    assert not (tmp_path / "out").exists()


def test_a_configuration_that_does_not_fit_the_robot_is_refused_at_once(tmp_path):
    wrong = tmp_path / "wrong.yaml"
    wrong.write_text("/**: {ros__parameters: {contact_names: [foot], contacts: {foot: {link: no_such_link}}}}")
    done = demo("--config", wrong)
    assert done.returncode == 2
    assert "no_such_link" in done.stderr and "Traceback" not in done.stderr


def test_a_place_where_no_picture_can_be_is_refused_at_once(tmp_path):
    (tmp_path / "file").write_text("")
    done = demo("--out", tmp_path / "file" / "out")
    assert done.returncode == 2
    assert f"cannot write the picture into {tmp_path / 'file' / 'out'}" in done.stderr and "is a file" in done.stderr


@pytest.mark.parametrize(
    ("arguments", "why"),
    [(("--seconds", "0"), "--seconds"), (("--config", "nowhere.yaml"), "nowhere.yaml")],
)
def test_bad_arguments_are_named(arguments, why):
    done = demo(*arguments)
    assert done.returncode != 0
    assert why in done.stderr and "Traceback" not in done.stderr


def started_with(mark):
    """The nodes that have this in their environment: process numbers."""
    found = []
    for place in Path("/proc").glob("[0-9]*"):
        try:
            ours = mark.encode() in (place / "environ").read_bytes()
            if ours and b"hybrid_contact_ros.programs\0demo_" in (place / "cmdline").read_bytes():
                found.append(int(place.name))
        except OSError:  # it has ended meanwhile, or is not ours
            continue
    return found


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP, signal.SIGKILL])
def test_a_demo_that_is_ended_leaves_no_node_behind(tmp_path, number):
    if not Path("/proc/self/environ").exists():
        pytest.skip("processes are found in /proc, which is not there")
    mark = f"DEMO_{uuid.uuid4().hex}"
    command = [sys.executable, "-m", "hybrid_contact_ros.cli", "demo", "--json", "--echo", "--seconds", "600"]
    process = subprocess.Popen([*command, "--out", str(tmp_path / "out")], env={**os.environ, mark: "1"})
    try:
        until(lambda: len(started_with(mark)) == 3)  # echo, listener and robot
        process.send_signal(number)
        assert process.wait(timeout=60.0) == (128 + number if number != signal.SIGKILL else -number)
        until(lambda: started_with(mark) == [])
    finally:
        process.kill()
        for node in started_with(mark):
            os.kill(node, signal.SIGKILL)


def until(true):
    end = time.monotonic() + 120.0
    while not true():
        assert time.monotonic() < end, "it did not come true within two minutes"
        time.sleep(0.1)
