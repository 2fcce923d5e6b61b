"""What a fleet scores, skips and keeps, and what dead workers cost."""

from __future__ import annotations

import json
import os
import signal
from dataclasses import replace
from pathlib import Path

import numpy as np

from helpers.fleets import TRUTH, Armed, opened, partitions, scored
from hybrid_contact_ros.fleets.dataset import FILE, read
from hybrid_contact_ros.fleets.find import find
from hybrid_contact_ros.fleets.run import ATTEMPTS, cluster, score
from hybrid_contact_ros.recordings.recording import Recording
from hybrid_contact_ros.recordings.write import write_recording
from hybrid_contact_ros.replay.run import replay_bag


def test_the_dataset_has_the_same_bytes_for_any_number_of_workers_and_the_numbers_of_a_replay(
    bags, task, tmp_path, client
):
    with cluster(1, None) as alone:
        for name, workers in (("out1", alone), ("out2", client)):
            outcome = scored(bags, task, tmp_path / name, workers)
            assert (outcome.scored, outcome.failed, outcome.deaths) == (6, {}, [])
    one = partitions(tmp_path / "out1")
    assert one == partitions(tmp_path / "out2")
    assert set(one) == {f"robot=dog{k}/day=1970-01-01/{FILE}" for k in (0, 1)}
    rows = read(tmp_path / "out1").to_pylist()
    assert len(rows) == 6 and {row["robot"] for row in rows} == {"dog0", "dog1"}
    row = next(row for row in rows if row["bag"].endswith("fall3.mcap"))
    alone = replay_bag(row["bag"], task.config, None, None, truth=TRUTH, complete_sets=True)
    assert (row["states"], row["sets"], row["events"]) == (alone.states, alone.sets, alone.events)
    assert json.loads(row["scores"]) == alone.scores.to_dict() and row["f1"] == alone.scores.overall.f1
    assert row["touchdown_20ms_events"] == 2 and row["impacts"] == 1


def test_what_is_done_is_skipped_also_under_another_name_and_not_with_another_configuration(
    bags, task, tmp_path, client
):
    out = tmp_path / "out"
    assert scored(bags, task, out, client).scored == 6
    before = partitions(out)
    again = scored(bags, task, out, client)
    assert (again.scored, again.skipped) == (0, 6) and partitions(out) == before
    (bags / "dog0" / "fall0.mcap").rename(bags / "dog0" / "moved.mcap")
    moved = scored(bags, task, out, client)
    assert (moved.scored, moved.skipped, moved.same) == (0, 6, 1) and partitions(out) == before
    assert scored(bags, task, out, client).same == 0  # and that is remembered
    other = replace(task, config=replace(task.config, prediction=replace(task.config.prediction, horizon=0.03)))
    assert scored(bags, other, out, client).scored == 6
    assert len(read(out)) == 12
    assert scored(bags, task, out, client, again=True).scored == 6 and len(read(out)) == 12


def test_a_bag_that_fails_is_told_with_its_reason_and_tried_again(bags, task, tmp_path, client):
    out = tmp_path / "out"
    (bags / "dog0" / "broken.mcap").write_bytes(b"\x89MCAP0\r\n" + bytes(100))
    (bags / "dog1" / "empty.db3").write_bytes(b"")
    cut = bags / "dog1" / "fall1.mcap"
    cut.write_bytes(cut.read_bytes()[: cut.stat().st_size // 2])
    outcome = scored(bags, task, out, client)
    assert outcome.scored == 6 and set(outcome.damaged) == {str(cut)}
    assert {Path(url).name for url in outcome.failed} == {"broken.mcap", "empty.db3"}
    assert all(reason and "Error" not in reason.split(":")[0] for reason in outcome.failed.values())
    assert json.loads((out / "_failed.json").read_text()) == outcome.failed
    write_recording(_with_model(bags), bags / "dog0" / "broken.mcap", force=True)
    second = scored(bags, task, out, client)
    assert second.same + second.scored == 1 and set(map(_name, second.failed)) == {"empty.db3"}


def _name(url):
    return Path(url).name


def _with_model(bags):
    """A body alone: no joints, another content."""
    n = 50
    zeros = np.zeros((n, 3))
    urdf = (
        '<robot name="body"><link name="base"><inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1" ixy="0" '
        'ixz="0" iyz="0"/></inertial></link><link name="left_foot"/><link name="right_foot"/>'
        + "".join(
            f'<joint name="{s}" type="fixed"><parent link="base"/><child link="{s}_foot"/></joint>'
            for s in ("left", "right")
        )
        + "</robot>"
    )
    return Recording(
        time=0.001 * np.arange(n), position=zeros + 1.0, quaternion=np.tile([0.0, 0, 0, 1], (n, 1)), linear=zeros,
        angular=zeros, urdf=urdf,
    )  # fmt: skip


def test_a_dead_worker_costs_no_recording(bags, task, tmp_path, client):
    whole = tmp_path / "whole"
    scored(bags, task, whole, client)
    out = tmp_path / "out"
    with opened(out) as dataset, cluster(2, None) as mortal:
        mortal.wait_for_workers(2)
        victim = min(mortal.run(os.getpid).values())
        killed = []

        def tell(outcome, total):
            if outcome.scored >= 1 and not killed:
                killed.append(os.kill(victim, signal.SIGKILL))

        outcome = score(find([str(bags)]), task, dataset, mortal, tell)
    assert killed and outcome.scored == 6 and not outcome.failed
    assert len(outcome.deaths) == 1 and "is gone" in outcome.deaths[0]
    assert partitions(out) == partitions(whole)


def test_a_recording_that_kills_every_worker_is_given_up_and_the_others_are_scored(bags, task, tmp_path):
    deadly = bags / "dog0" / "fall2.mcap"
    out = tmp_path / "out"
    with opened(out) as dataset, cluster(1, None) as client:
        client.register_plugin(Armed(str(deadly)))
        outcome = score(find([str(bags)]), task, dataset, client)
    assert outcome.scored == 5 and set(outcome.failed) == {str(deadly)}
    assert f"died each of {ATTEMPTS} times" in outcome.failed[str(deadly)]
