"""The dataset on the disk: nothing is lost, and one process writes."""

from __future__ import annotations

import shutil
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from helpers.fleets import opened, partitions, scored
from hybrid_contact_ros.fleets import job
from hybrid_contact_ros.fleets.columns import SCHEMA
from hybrid_contact_ros.fleets.dataset import FILE, Dataset, read
from hybrid_contact_ros.fleets.find import find


def test_a_process_that_ends_in_the_middle_loses_nothing_that_was_done(bags, task, tmp_path, client):
    """The journal is all that there is until the end; a line that was cut off is no row."""
    out = tmp_path / "out"
    with opened(out) as dataset:
        for bag in find([str(bags)])[:3]:
            found = job.run(bag, task)
            dataset.add(found["row"], found["timing"])
    with (out / "_journal.jsonl").open("ab") as file:
        file.write(b'{"robot": "dog1", "da')
    assert not partitions(out)
    rest = scored(bags, task, out, client)
    assert (rest.scored, rest.skipped) == (3, 3)
    whole = tmp_path / "whole"
    scored(bags, task, whole, client)
    assert partitions(out) == partitions(whole)


def test_recordings_with_one_content_are_one_row_whichever_was_first(bags, task, tmp_path):
    shutil.copy(bags / "dog0" / "fall0.mcap", bags / "dog0" / "another.mcap")
    outs = [tmp_path / f"out{k}" for k in (1, 2)]
    for k, out in enumerate(outs):
        with opened(out) as dataset:
            found = find([str(bags / "dog0")])
            for bag in found if k else reversed(found):
                result = job.run(bag, task)
                dataset.add(result["row"], result["timing"])
            dataset.fold()
    assert partitions(outs[0]) == partitions(outs[1])
    assert {Path(row["bag"]).name for row in read(outs[0]).to_pylist()} == {"another.mcap", "fall2.mcap", "fall4.mcap"}


def test_the_columns_of_a_row_are_those_of_the_schema(bags, task):
    (row,) = [job.run(bag, task)["row"] for bag in find([str(bags / "dog0" / "fall0.mcap")])]
    assert set(row) == {*SCHEMA.names, "robot", "day"}


def test_a_partition_of_an_older_version_hides_no_column_and_takes_new_rows(bags, task, tmp_path):
    out = tmp_path / "out"
    first, second = find([str(bags / "dog0")])[:2]
    rows = [job.run(bag, task)["row"] for bag in (first, second)]
    for row, robot in zip(rows, ("a", "b"), strict=True):
        row["robot"] = robot
    with opened(out) as dataset:
        dataset.add(rows[0], {})
        dataset.fold()
    (old,) = out.glob(f"robot=a/*/{FILE}")
    pq.write_table(pq.read_table(old, partitioning=None).drop_columns(["self_consistency", "consistency_events"]), old)
    with opened(out) as dataset:
        dataset.add(rows[1], {})
        dataset.fold()
        told = {row["robot"]: row["consistency_events"] for row in read(out).to_pylist()}
        assert told == {"a": None, "b": 2}
        dataset.add(rows[0] | {"content": "another"}, {})
        dataset.fold()
    assert sorted(row["consistency_events"] or 0 for row in read(out, ["robot", "consistency_events"]).to_pylist()) == [
        0, 2, 2,
    ]  # fmt: skip


def test_one_process_at_a_time_writes_a_dataset_and_strange_folders_are_refused(tmp_path):
    with opened(tmp_path / "out"), pytest.raises(ValueError, match="another hybrid-contact fleet"):
        Dataset(tmp_path / "out")
    (tmp_path / "home").mkdir()
    (tmp_path / "home" / "letter.txt").write_text("")
    with pytest.raises(ValueError, match=r"other things \(letter.txt\)"):
        Dataset(tmp_path / "home")


def test_an_interrupted_partition_is_not_seen(tmp_path, task, bags, monkeypatch):
    """Rows stay in the journal until every partition has its own."""
    out = tmp_path / "out"
    with opened(out) as dataset:
        for bag in find([str(bags)]):
            found = job.run(bag, task)
            dataset.add(found["row"], found["timing"])
        real, calls = pq.write_table, []

        def fails(*given, **options):
            calls.append(given)
            if len(calls) == 2:
                raise OSError("no space left on device")
            return real(*given, **options)

        monkeypatch.setattr(pq, "write_table", fails)
        with pytest.raises(OSError, match="no space"):
            dataset.fold()
        monkeypatch.setattr(pq, "write_table", real)
    with opened(out):
        pass
    assert len(read(out)) == 6 and not list(out.rglob("*.part"))
