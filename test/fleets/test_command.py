"""``hybrid-contact fleet``, as it is used."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from hybrid_contact_ros.cli import main
from hybrid_contact_ros.fleets.dataset import read
from hybrid_contact_ros.recordings.write import write_recording


@pytest.fixture
def config(tmp_path) -> Path:
    path = tmp_path / "walker.yaml"
    path.write_text("{contacts: {left: {link: left_foot}, right: {link: right_foot}}}")
    return path


def command(*arguments):
    return [sys.executable, "-m", "hybrid_contact_ros.programs", "command", "fleet", *map(str, arguments)]


def test_the_command_scores_skips_and_tells(bags, config, tmp_path):
    arguments = (bags, "--config", config, "--out", tmp_path / "out", "--jobs", 2, "--truth", "truth/contact_mode",
                 "--results", tmp_path / "results")  # fmt: skip
    done = subprocess.run(command(*arguments), capture_output=True, text=True, timeout=500)
    assert done.returncode == 0, done.stderr
    assert "6 recordings: 6 scored" in done.stdout and done.stderr == ""
    assert len(list((tmp_path / "results").glob("*.result.zip"))) == 6
    (bags / "dog0" / "bad.mcap").write_bytes(b"no recording")
    done = subprocess.run(command(*arguments, "--json"), capture_output=True, text=True, timeout=500)
    assert done.returncode == 3, done.stderr
    told = json.loads(done.stdout)
    assert (told["scored"], told["skipped"], len(told["failed"])) == (0, 6, 1)


def test_a_cluster_is_used_by_its_address_and_a_truth_that_no_recording_has_is_told(bags, config, tmp_path):
    from distributed import LocalCluster

    arguments = command(bags, "--config", config, "--out", tmp_path / "out", "--truth", "/nowhere")
    with LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=":0") as running:
        done = subprocess.run(
            [*arguments, "--scheduler", running.scheduler_address], capture_output=True, text=True, timeout=500
        )
    assert done.returncode == 0, done.stderr
    assert "no truth: 6 of 6 have no topic of /nowhere" in done.stdout
    assert len(read(tmp_path / "out")) == 6


def test_ctrl_c_keeps_what_is_done_and_the_same_command_goes_on(bags, config, fall, tmp_path):
    for k in range(6, 16):
        lifted = replace(fall, position=fall.position + np.array([0.0, 0.0, 1e-4 * k]))
        write_recording(lifted, bags / "dog0" / f"fall{k}.mcap")
    out = tmp_path / "out"
    arguments = command(bags, "--config", config, "--out", out, "--jobs", 1)
    process = subprocess.Popen(
        arguments, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True
    )
    journal, end = out / "_journal.jsonl", time.monotonic() + 300
    while not (journal.exists() and journal.stat().st_size) and time.monotonic() < end:
        time.sleep(0.05)
    os.killpg(process.pid, signal.SIGINT)  # as a terminal does: to the workers, too
    _, err = process.communicate(timeout=120)
    assert process.returncode == 130 and "the same command goes on" in err and "Traceback" not in err, err
    kept = len(read(out))
    assert 0 < kept < 16
    done = subprocess.run([*arguments, "--json"], capture_output=True, text=True, timeout=500)
    told = json.loads(done.stdout)
    assert (told["skipped"], told["scored"]) == (kept, 16 - kept)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--jobs", "0"], "at least one process"),
        (["--threshold", "x"], "ON,OFF is needed"),
        (["--truth", "left="], "is no truth"),
        (["--msg", "nowhere"], "holds no message definitions"),
        (["--jobs", "2", "--scheduler", "tcp://x:1"], "give one of them"),
        (["--robot-pattern", "dog"], "needs a group"),
        (["--robot-pattern", "("], "no regular expression"),
        (["--urdf", "nowhere.urdf"], "no such URDF"),
        (["--scheduler", "tcp://127.0.0.1:9"], "no Dask scheduler answers at tcp://127.0.0.1:9"),
    ],
)
def test_a_mistake_is_one_line(bags, config, tmp_path, capsys, arguments, words):
    code = main(["fleet", str(bags), "--config", str(config), "--out", str(tmp_path / "out"), *arguments])
    err = capsys.readouterr().err
    assert code == 2 and words in err and err.startswith("hybrid-contact fleet:") and err.count("\n") == 1


def test_a_configuration_is_needed_unless_another_estimator_is_scored(bags, tmp_path, capsys):
    assert main(["fleet", str(bags), "--out", str(tmp_path / "out")]) == 2
    assert "a configuration is needed (--config), or the topic of another estimator" in capsys.readouterr().err
    assert not (tmp_path / "out").exists()
