"""Ctrl-C at any moment, once or often, ends a node with 0 and the command with 130, without a traceback."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

LEVELS = "debug, info, warn, error, fatal"
CUBE = [Path(__file__).parents[2] / "config" / name for name in ("cube.urdf", "cube.yaml")]


@pytest.fixture
def start(tmp_path):
    started = []

    def make(*arguments):
        log = (tmp_path / "log").open("w")
        started.append(
            subprocess.Popen(
                [sys.executable, "-m", "hybrid_contact_ros.programs", *arguments],
                stdout=log, stderr=log, stdin=subprocess.DEVNULL, env={**os.environ, "RCUTILS_COLORIZED_OUTPUT": "0"},
            )
        )  # fmt: skip
        return started[-1]

    yield make
    for process in started:
        if process.poll() is None:
            process.kill()
            process.wait()


@pytest.fixture
def said(tmp_path):
    return lambda: (tmp_path / "log").read_text()


def wait_for(condition, process, seconds=240.0):
    end = time.monotonic() + seconds
    while not condition():
        assert process.poll() is None, "it ended by itself"
        assert time.monotonic() < end, "nothing came in time"
        time.sleep(0.005)


def importing(process):
    """Whether the process has got as far as numpy's libraries: seconds of imports are still to come."""
    return "numpy" in Path(f"/proc/{process.pid}/maps").read_text()


def interrupt_often(process):
    """Ctrl-C until it is gone."""
    end = time.monotonic() + 240.0
    while process.poll() is None and time.monotonic() < end:
        process.send_signal(signal.SIGINT)
        time.sleep(0.02)
    return process.wait(timeout=1.0)


@pytest.mark.parametrize(("arguments", "code"), [(["contact_suite"], 0), (["command", "check", *map(str, CUBE)], 130)])
def test_interrupted_while_it_imports(start, said, arguments, code):
    process = start(*arguments)
    wait_for(lambda: importing(process), process)
    assert interrupt_often(process) == code, said()
    assert said() == ""


def test_an_interrupt_that_strikes_where_nothing_passes_it_on_ends_the_command():
    """As within a finaliser: Python prints it, and goes on."""
    text = """if True:
        import os, signal, sys, time
        import hybrid_contact_ros.cli as cli, hybrid_contact_ros.programs as programs
        class Ends:
            def __del__(self):
                os.kill(os.getpid(), signal.SIGINT)
                for _ in range(1000):
                    time.sleep(0.001)
        def main():
            thing = Ends()
            del thing
            time.sleep(60.0)
            return 0
        cli.main = main
        sys.exit(programs.command())
    """
    done = subprocess.run([sys.executable, "-c", text], capture_output=True, text=True, timeout=50.0, check=False)
    assert (done.returncode, done.stderr) == (130, "")


@pytest.mark.parametrize("often", [False, True])
def test_a_running_node_that_is_interrupted_once_or_often(start, said, often):
    process = start("contact_mode", "--ros-args", "-p", "autostart:=true")
    wait_for(lambda: "waiting for robot_description" in said(), process)
    process.send_signal(signal.SIGINT)
    assert (interrupt_often(process) if often else process.wait(timeout=240.0)) == 0, said()
    assert "Traceback" not in said() and "Error" not in said()


def test_one_interrupt_ends_a_node_that_compiles(start, said, tmp_path, monkeypatch):
    monkeypatch.setenv("HYBRID_CONTACT_CACHE", str(tmp_path))
    urdf, parameters = CUBE
    arguments = ("--params-file", str(parameters), "-p", f"urdf_file:={urdf}")
    process = start("contact_suite", "--ros-args", *arguments, "-p", "autostart:=true")
    wait_for(lambda: "compiling the kernels" in said(), process)
    process.send_signal(signal.SIGINT)
    assert process.wait(timeout=240.0) == 0, said()
    assert "interrupted while kernels were compiled" in said() and "Traceback" not in said()
    assert "kernels ready" not in said()


def test_a_bad_log_level_ends_in_one_line_that_names_the_levels(start, said):
    process = start("contact_suite", "--ros-args", "--log-level", "loud")
    assert process.wait(timeout=120.0) == 1
    ours = [line for line in said().splitlines() if "[rcl]" not in line]
    assert len(ours) == 1 and f"--log-level loud: one of {LEVELS} is needed" in ours[0]


def test_a_parameter_file_that_is_not_there_ends_in_one_line_with_its_whole_path(start, said):
    process = start("contact_suite", "--ros-args", "--params-file", "robto.yaml")
    assert process.wait(timeout=120.0) == 1
    ours = [line for line in said().splitlines() if "[rcl]" not in line]
    assert len(ours) == 1 and str(Path("robto.yaml").absolute()) in ours[0]
