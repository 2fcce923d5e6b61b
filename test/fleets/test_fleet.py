"""What a fleet scores, skips and keeps, and what dead workers cost."""

from __future__ import annotations

import json
import os
import signal
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from helpers.fleets import TRUTH, Armed, opened, partitions, scored
from helpers.truth_bags import of
from hybrid_contact_ros.bags.reader import BagReader
from hybrid_contact_ros.bags.writer import BagWriter
from hybrid_contact_ros.fleets import job, run
from hybrid_contact_ros.fleets.dataset import FILE, read
from hybrid_contact_ros.fleets.find import find
from hybrid_contact_ros.fleets.run import ATTEMPTS, cluster, score
from hybrid_contact_ros.recordings.recording import Recording
from hybrid_contact_ros.recordings.write import write_recording
from hybrid_contact_ros.replay.score import score_bag
from hybrid_contact_ros.truths.levels import Levels


def test_the_dataset_has_the_same_bytes_for_any_number_of_workers_and_the_numbers_of_score(
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
    alone = score_bag(row["bag"], task.config, truth=TRUTH, complete_sets=True).summary
    assert all(row[name] == alone[name] for name in ("states", "sets", "events", "duration", "messages"))
    assert json.loads(row["scores"]) == alone["scores"] and row["f1"] == alone["scores"]["f1"]
    assert row["touchdown_20ms_events"] == 2 and row["impacts"] == 1
    own = alone["self_consistency"]
    assert json.loads(row["self_consistency"]) == own and row["consistency_events"] == own["events"] == 2
    assert row["consistency_touchdown_20ms_error"] == own["touchdown"][1]["error_median"] is not None
    assert json.loads(row["truth"]) == list(TRUTH) and row["estimate"] is None


def test_a_truth_of_loads_is_read_as_score_reads_it_and_recordings_without_it_have_no_score(bags, task, tmp_path):
    with BagReader(bags / "dog0" / "fall0.mcap") as reader, BagWriter(bags / "dog0" / "loads.mcap") as bag:
        for topic, kind in (reader.topics | {"/load": "std_msgs/msg/Float32"}).items():
            bag.add(topic, kind)
        for topic, time_ns, data in reader.messages(list(reader.topics), raw=reader.topics):
            bag.write(topic, time_ns, data)
            if topic == "/truth/contact_mode":
                closed = bool(reader.deserialize(data, reader.topics[topic]).mode & 1)
                bag.write("/load", time_ns, of("std_msgs/msg/Float32", data=50.0 * closed))
    wanted = replace(task, truth=("left=/load",), threshold=Levels(30.0, 20.0))
    assert wanted.hash != replace(wanted, threshold=Levels(31.0, 20.0)).hash
    rows = {Path(bag.url).name: job.run(bag, wanted)["row"] for bag in find([str(bags / "dog0")])}
    assert json.loads(rows["loads.mcap"]["truth"]) == ["left=/load"]
    assert rows["loads.mcap"]["accuracy"] > 0.9 and rows["loads.mcap"]["scored_states"] > 100
    assert rows["fall0.mcap"]["scores"] is None and rows["fall0.mcap"]["consistency_events"] == 2


def test_the_topic_of_another_estimator_needs_no_configuration(bags, task):
    other = replace(task, config=None, estimate="/truth/contact_mode", truth=("/truth/contact_mode",))
    (bag,) = find([str(bags / "dog1" / "fall1.mcap")])
    row = job.run(bag, other)["row"]
    assert (row["accuracy"], row["f1"], row["urdf"], row["sets"]) == (1.0, 1.0, None, None)
    assert row["estimate"] == "/truth/contact_mode" and row["robot"] == "dog1"


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


def test_a_fleet_without_any_worker_ends_and_says_so(bags, task, tmp_path, monkeypatch):
    monkeypatch.setattr(run, "_GONE", 1.0)
    with opened(tmp_path / "out") as dataset, cluster(1, None) as client:
        client.cluster.scale(0)
        client.sync(client.cluster._correct_state)
        with pytest.raises(run.WorkersGoneError, match="the same command goes on with the rest"):
            score(find([str(bags)]), task, dataset, client)
