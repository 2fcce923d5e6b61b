"""The tables of a replay hold what it predicted, and a replay with them says the same as one without."""

import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from hybrid_contact_ros.bags.reader import BagReader
from hybrid_contact_ros.bags.unreadable import BagError
from hybrid_contact_ros.config import EstimatorConfig
from hybrid_contact_ros.recordings.write import write_recording
from hybrid_contact_ros.replay.run import replay_bag
from hybrid_contact_ros.results.file import read

TRUTHS = ("/truth/contact_mode", "/truth/impact")


@pytest.fixture
def recorded(fall, walker, tmp_path):
    """The result of a fall, and the predictions that it was made of."""
    write_recording(fall, tmp_path / "b.mcap")
    kept = []
    config = replace(walker, impact=replace(walker.impact, deadline=0.0))
    replayed = replay_bag(
        tmp_path / "b.mcap", config, truth=TRUTHS, result=tmp_path / "fall",
        on_prediction=lambda state, prediction: kept.append((state, prediction)),
    )  # fmt: skip
    return read(tmp_path / "fall.result.zip"), kept, replayed


def test_the_tables_hold_the_predictions(recorded, fall):
    result, kept, replayed = recorded
    tables, summary = result.tables, result.summary
    assert tables["states"]["stamp_ns"].tolist() == [p.mode.stamp_ns for _, p in kept]
    assert tables["states"]["compute_ns"].min() > 0
    np.testing.assert_array_equal(tables["states"]["base_position"], np.float32([s.q[:3] for s, _ in kept]))
    for table, of in (("contacts", "mode"), ("stability", "stability")):
        for name, column in tables[table].items():
            if not name.startswith("normal_force"):
                expected = np.array([getattr(getattr(p, of), name) for _, p in kept]).astype(column.dtype)
                np.testing.assert_array_equal(column, expected)
    force = np.float32([(p.mode.force_estimate * p.mode.normal).sum(axis=1) for _, p in kept])
    np.testing.assert_allclose(tables["contacts"]["normal_force"], force, rtol=1e-6)
    assert tables["contacts"]["normal_force"][-1].sum() == pytest.approx(6 * 9.81, rel=0.02)
    for table, detected in (("events", False), ("detected", True)):
        told = [event for _, p in kept for event in p.events if event.detected == detected]
        assert told and tables[table]["time_ns"].tolist() == [event.time_ns for event in told]
        assert tables[table]["contact"].tolist() == [event.contact for event in told]
    np.testing.assert_array_equal(tables["truth"]["closed"], fall.closed)
    own = replayed.scores.to_dict()  # of the board, whose numbers are float64 and which does not look at bounds
    for key in ("f1", "contacts", "touchdown_delay", "impacts", "touchdown", "brier"):
        assert_near(summary["scores"][key], own[key])
    assert summary["states"] == len(kept) and [x["inside"] for x in summary["scores"]["touchdown_bounds"]] == [2, 2, 2]
    assert summary["self_consistency"]["events"] == 2 and summary["self_consistency"]["touchdown"][0]["missed"] == 0
    assert summary["groups"][1] == {"name": "right", "members": [1], "contacts": ["right"], "max_age": 0.02}


def assert_near(one, other):
    if isinstance(one, dict):
        assert one.keys() == other.keys()
        for key in one:
            assert_near(one[key], other[key])
    elif isinstance(one, list):
        assert len(one) == len(other)
        for a, b in zip(one, other, strict=True):
            assert_near(a, b)
    else:
        assert one == pytest.approx(other, rel=1e-5, abs=1e-8)


def test_the_set_before_the_impact_is_the_row_that_the_impact_names(recorded, fall):
    result, kept, replayed = recorded
    sets, observed = result.tables["sets"], result.tables["observed"]
    last = [p.impact for _, p in kept if p.impact is not None and p.impact.time_to_impact >= 0.0][-1]
    assert sets["stamp_ns"].tolist() == [last.stamp_ns] and observed["set"].tolist() == [0]
    assert sets["contacts"].tolist() == [3] and sets["nsamples"].tolist() == [len(last.velocities)]
    np.testing.assert_allclose(sets["nominal"][0], last.nominal, atol=1e-6)
    rows = sets["velocities"][sets["offsets"][0] : sets["offsets"][1]]
    assert 2 <= len(rows) <= 64 and len(rows) <= len(last.velocities)
    near = np.abs(rows[:, None, :] - last.velocities[None]).max(axis=2).min(axis=1)
    assert near.max() < 1e-6
    (scored,) = replayed.scores.sets
    assert observed["distance"][0] == pytest.approx(scored.distance, rel=1e-6)
    np.testing.assert_allclose(observed["v_plus"][0], fall.impacts[0].v_plus, atol=1e-6)


def without_time(path):
    from hybrid_contact_ros.messages.cdr import Layout

    with BagReader(path) as reader:
        found = []
        for topic, time_ns, data in reader.messages(list(reader.topics), raw=reader.topics):
            layout, out = Layout(reader.topics[topic].split("/")[-1], data), bytearray(data)
            for part in ("compute_time.sec", "compute_time.nanosec"):
                if part in layout.numbers:
                    out[layout.numbers[part].offset : layout.numbers[part].end] = bytes(4)
            found.append((topic, time_ns, bytes(out)))
        return found


def test_a_replay_with_a_result_says_the_same_to_the_bit(fall, walker, tmp_path):
    write_recording(fall, tmp_path / "b.mcap")
    for name, result in (("with", tmp_path / "x"), ("without", None)):
        replay_bag(tmp_path / "b.mcap", walker, out=tmp_path / f"{name}.mcap", result=result, complete_sets=True)
    assert without_time(tmp_path / "with.mcap") == without_time(tmp_path / "without.mcap")


def test_refused_inputs_are_in_the_table_with_their_time_and_reason(fall, walker, tmp_path):
    q = fall.q.copy()
    q[50:53, 0] = np.nan
    write_recording(replace(fall, q=q), tmp_path / "b.mcap")
    replayed = replay_bag(tmp_path / "b.mcap", walker, result=tmp_path / "x")
    result = read(tmp_path / "x.result.zip")
    said = [result.summary["reasons"][i] for i in result.tables["refusals"]["reason"]]
    assert {reason: said.count(reason) for reason in said} == replayed.faults == result.summary["faults"]
    assert replayed.faults["not_finite"] == 3
    times = result.tables["refusals"]["stamp_ns"][np.array(said) == "not_finite"]
    np.testing.assert_allclose((times - 1_000_000_000) * 1e-9, fall.time[50:53], atol=1e-6)


def test_a_recording_without_a_state_gives_a_result_with_empty_tables(fall, walker, tmp_path):
    write_recording(replace(fall, q=fall.q + np.nan), tmp_path / "b.mcap")
    assert replay_bag(tmp_path / "b.mcap", walker, result=tmp_path / "x", truth=TRUTHS[0]).states == 0
    result = read(tmp_path / "x.result.zip")
    assert result.tables["states"]["stamp_ns"].size == 0 and result.tables["contacts"]["gap"].shape == (0, 2)
    assert result.tables["refusals"]["stamp_ns"].size >= 200 and result.summary["start_ns"] is None
    assert result.summary["latency"]["compute"]["p50"] is None and result.summary["scores"] is None


def test_what_was_run_is_told_and_another_parameter_has_another_hash(recorded, fall, walker, tmp_path):
    summary = recorded[0].summary
    assert EstimatorConfig.from_mapping(summary["configuration"]).contacts == walker.contacts
    write_recording(fall, tmp_path / "again.mcap")
    other = replace(walker, prediction=replace(walker.prediction, horizon=0.31))
    replay_bag(tmp_path / "again.mcap", other, result=tmp_path / "other")
    found = read(tmp_path / "other.result.zip").summary
    assert found["hashes"]["urdf"] == summary["hashes"]["urdf"]
    assert found["hashes"]["configuration"] != summary["hashes"]["configuration"]
    assert found["configuration"]["prediction"]["horizon"] == 0.31


def test_a_result_is_not_written_over_another_unless_forced(fall, walker, tmp_path):
    write_recording(fall, tmp_path / "b.mcap")
    (tmp_path / "x.result.zip").write_text("mine")
    with pytest.raises(BagError, match="exists already"):
        replay_bag(tmp_path / "b.mcap", walker, result=tmp_path / "x")
    with pytest.raises(BagError, match="there is no folder"):
        replay_bag(tmp_path / "b.mcap", walker, result=tmp_path / "nowhere" / "x")
    with pytest.raises(BagError, match="is a folder"):
        (tmp_path / "folder.zip").mkdir()
        replay_bag(tmp_path / "b.mcap", walker, result=tmp_path / "folder.zip")
    assert (tmp_path / "x.result.zip").read_text() == "mine"
    replay_bag(tmp_path / "b.mcap", walker, result=tmp_path / "x", force=True)
    assert read(tmp_path / "x.result.zip").summary["states"] == 200


def test_every_table_column_and_key_stands_in_the_documentation(recorded, root):
    text = (Path(root) / "docs" / "scoring.md").read_text()
    words = set(re.findall(r"`([a-z_0-9]+)`", text))
    result = recorded[0]
    named = set(result.tables) | {name for columns in result.tables.values() for name in columns}
    assert sorted((named | set(result.summary)) - words) == []
