"""A report of a real replay, and not only of made results: the columns and keys are those that the recorder writes."""

from __future__ import annotations

from hybrid_contact_ros.recordings.write import write_recording
from hybrid_contact_ros.replay.run import replay_bag
from hybrid_contact_ros.reporting.page import page
from hybrid_contact_ros.reporting.record import Record
from hybrid_contact_ros.results.file import read


def test_a_replayed_landing_is_reported_with_its_scores(fall, walker, tmp_path):
    bag, result = tmp_path / "fall.mcap", tmp_path / "fall.result.zip"
    write_recording(fall, bag)
    replayed = replay_bag(bag, walker, truth=("/truth/contact_mode", "/truth/impact"), result=result)
    assert replayed.scores is not None
    held = read(result)
    record = Record(held.summary, held.tables)
    text = page(record)
    assert record.contacts == ("left", "right") and record.truth is not None
    assert f"{replayed.scores.overall.accuracy:.1%} of contact states are right" in text
    assert "1 observed impacts 1 had a predicted set" in text
    assert "the result file has no" not in text
    assert "base_linear_x [m/s]" in text and "left_knee [m/s]" in text  # the knees slide
    assert held.summary["hashes"]["model"] in text
