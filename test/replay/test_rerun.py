"""A replay as a file of the Rerun viewer."""

from __future__ import annotations

import re
import subprocess
import sys

import numpy as np
import pytest

from hybrid_contact_ros.bags.unreadable import BagError
from hybrid_contact_ros.cli import main
from hybrid_contact_ros.recordings.write import write_recording
from hybrid_contact_ros.replay import rerun_export
from hybrid_contact_ros.replay.run import replay_bag


@pytest.fixture
def bag(fall, tmp_path):
    path = tmp_path / "fall.mcap"
    write_recording(fall, path)
    return path


def rows(path) -> dict[str, int]:
    """How many rows each entity has, by rerun's own reader."""
    pytest.importorskip("rerun", reason="rerun-sdk is not there: pip install rerun-sdk")
    done = subprocess.run(
        [sys.executable, "-m", "rerun", "rrd", "print", str(path)],
        capture_output=True,
        text=True,
        timeout=120,
        check=True,
    )
    found: dict[str, int] = {}
    for count, entity in re.findall(r"with (\d+) rows .*? - (/\S+) -", done.stdout):
        found[entity] = found.get(entity, 0) + int(count)
    return found


def test_robot_contacts_forces_sets_and_plots_are_in_the_file(bag, walker, tmp_path):
    pytest.importorskip("rerun", reason="rerun-sdk is not there: pip install rerun-sdk")
    told = []
    result = replay_bag(
        bag, walker, rerun=tmp_path / "fall.rrd", on_prediction=lambda state, prediction: told.append(prediction),
        complete_sets=True,
    )  # fmt: skip
    found = rows(tmp_path / "fall.rrd")
    drawn = 20  # 200 states at 1 kHz, every 10 ms
    assert found["/world/robot/joints"] == found["/world/robot/links"] == found["/world/contacts"] == drawn
    assert found["/world/forces/model"] == found["/world/forces/observer"] == drawn
    assert found["/set/outcomes"] == found["/set/nominal"] == result.sets > 0
    assert found["/contact/left/probability"] == found["/contact/right/gap"] == result.states == len(told)
    timed = sum(np.isfinite(prediction.mode.time_to_event[0]) for prediction in told)
    assert found["/contact/left/time_to_event"] == timed > 0
    assert found["/events"] == sum(event.detected for prediction in told for event in prediction.events) > 0
    with pytest.raises(BagError, match="exists already"):
        replay_bag(bag, walker, rerun=tmp_path / "fall.rrd")


def test_a_file_beside_changes_no_prediction(bag, walker, tmp_path):
    pytest.importorskip("rerun", reason="rerun-sdk is not there: pip install rerun-sdk")
    told = []
    for options in ({}, {"rerun": tmp_path / "fall.rrd"}):
        modes = []
        replay_bag(bag, walker, complete_sets=True, on_prediction=lambda _, p, m=modes: m.append(p.mode), **options)
        told.append(np.stack([np.column_stack((m.gap, m.probability, m.force_estimate)) for m in modes]))
    assert told[0].tobytes() == told[1].tobytes()


def test_an_error_in_the_middle_leaves_no_file(bag, walker, tmp_path):
    pytest.importorskip("rerun", reason="rerun-sdk is not there: pip install rerun-sdk")

    def fails(state, prediction):
        raise RuntimeError("of the caller")

    with pytest.raises(RuntimeError, match="of the caller"):
        replay_bag(bag, walker, rerun=tmp_path / "fall.rrd", on_prediction=fails)
    assert not list(tmp_path.glob("*.rrd")) and not list(tmp_path.glob(".*.part"))


def test_without_rerun_it_says_what_to_install_before_any_work(bag, tmp_path, capsys, monkeypatch):
    monkeypatch.setattr(rerun_export, "find_spec", lambda name: None)
    config = tmp_path / "walker.yaml"
    config.write_text("{contacts: {left: {link: left_foot}, right: {link: right_foot}}}")
    code = main(["replay", str(bag), "--config", str(config), "--no-out", "--rrd", str(tmp_path / "x.rrd")])
    assert code == 2 and "pip install rerun-sdk" in capsys.readouterr().err


@pytest.mark.parametrize(("name", "words"), [("x.png", "ends in .rrd"), ("nowhere/x.rrd", "cannot be written")])
def test_a_name_that_cannot_be_is_refused_at_once(bag, walker, tmp_path, name, words, monkeypatch):
    monkeypatch.setattr(rerun_export, "find_spec", lambda name: name)
    with pytest.raises(BagError, match=words):
        replay_bag(bag, walker, rerun=tmp_path / name)
