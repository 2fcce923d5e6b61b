"""Recordings in folders, globs and URLs, and the row of one of them."""

from __future__ import annotations

import os
import shutil
from dataclasses import replace
from pathlib import Path

import fsspec
import pytest

from hybrid_contact_ros.fleets import job
from hybrid_contact_ros.fleets.find import find
from hybrid_contact_ros.fleets.job import NotScoredError
from hybrid_contact_ros.recordings.write import write_recording


def test_recordings_are_found_in_folders_globs_and_urls_once_each(bags, fall, tmp_path):
    write_recording(fall, bags / "whole")  # a folder with metadata.yaml
    split = bags / "split"  # one without, as after a power cut
    split.mkdir()
    for k in range(2):
        shutil.copy(bags / "dog0" / "fall0.mcap", split / f"split_{k}.mcap")
    hidden = bags / ".scratch-1"
    hidden.mkdir()
    shutil.copy(bags / "dog0" / "fall0.mcap", hidden / "x.mcap")
    found = find([str(bags), str(bags / "dog0" / "*.mcap"), f"file://{bags}/dog1"])
    names = [Path(bag.url).relative_to(bags).as_posix() for bag in found]
    assert names == sorted([*(f"dog{k % 2}/fall{k}.mcap" for k in range(6)), "split", "whole"])
    assert [len(bag.files) for bag in found if bag.url.endswith("split")] == [2]
    with pytest.raises(ValueError, match="no recording in"):
        find([str(hidden.parent / "nothing*")])
    with pytest.raises(ValueError, match="cannot be read"):
        find([str(tmp_path / "nowhere")])


def test_a_recording_behind_a_url_is_fetched_and_scored_as_the_local_one(bags, task):
    memory = fsspec.filesystem("memory")
    local = bags / "dog0" / "fall0.mcap"
    memory.put(str(local), "/robots/dog0/fall0.mcap")
    try:
        (bag,) = find(["memory://robots"])
        assert bag.url == "memory:///robots/dog0/fall0.mcap"
        far = job.run(bag, task)["row"]
    finally:
        memory.rm("/robots", recursive=True)
    near = job.run(find([str(local)])[0], task)["row"]
    assert far.pop("bag") == bag.url and near.pop("bag") == str(local)
    assert far.pop("fingerprint") != near.pop("fingerprint")
    assert far == near


def test_a_fingerprint_changes_with_the_file(bags):
    place = str(bags / "dog0" / "fall0.mcap")
    (before,) = find([place])
    os.utime(place, (1.0, 2.0))
    assert find([place])[0].fingerprint != before.fingerprint


@pytest.mark.parametrize(
    ("options", "name"),
    [
        ({"robot": "spot 7/a"}, "spot_7_a"),
        ({}, "walker"),
        ({"pattern": r"/(bags)/"}, "bags"),
        ({"robot": "=.."}, "unknown"),
    ],
)
def test_the_name_of_a_robot_is_fit_for_a_folder(bags, task, options, name):
    (bag,) = find([str(bags / "dog0" / "fall0.mcap")])
    row = job.run(
        bag, replace(task, pattern=None, robot=None) if not options else replace(task, **{"pattern": None, **options})
    )
    assert row["row"]["robot"] == name


def test_workers_of_another_version_and_names_that_do_not_match_are_refused_by_reason(bags, task):
    (bag,) = find([str(bags / "dog0" / "fall0.mcap")])
    with pytest.raises(NotScoredError, match=r"install the same version"):
        job.run(bag, replace(task, version="0.0.0"))
    with pytest.raises(NotScoredError, match="does not match"):
        job.run(bag, replace(task, pattern="/(cat)/"))


def test_what_a_row_says_of_a_cut_recording_names_no_copy(bags, task):
    """A copy of a recording from a URL has another path each time, which must not be in the row."""
    local = bags / "dog0" / "fall0.mcap"
    memory = fsspec.filesystem("memory")
    memory.pipe("/cut/fall0.mcap", local.read_bytes()[: local.stat().st_size // 2])
    try:
        rows = [job.run(find(["memory://cut"])[0], replace(task, pattern=None))["row"] for _ in range(2)]
    finally:
        memory.rm("/cut", recursive=True)
    assert rows[0] == rows[1] and "memory:///cut/fall0.mcap" in rows[0]["damage"]
