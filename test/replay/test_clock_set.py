"""Recordings whose stamps jump: each clock is a stream of its own, and no figure is of the jump between them."""

from __future__ import annotations

from dataclasses import replace

import pytest

from hybrid_contact_ros.bags.reader import BagReader
from hybrid_contact_ros.bags.typestore import typestore
from hybrid_contact_ros.bags.writer import BagWriter
from hybrid_contact_ros.commands.report_html import report_replayed
from hybrid_contact_ros.recordings.write import write_recording
from hybrid_contact_ros.replay.run import replay_bag
from hybrid_contact_ros.replay.score import score_bag
from hybrid_contact_ros.results.file import read

TRUTH = "/truth/contact_mode"
DAYS = 11 * 86_400 * 10**9


def stamped_anew(source, target, ahead):
    """The recording with ``ahead(topic, number)`` ns added to the stamps; when messages were recorded stays."""
    types, numbers = typestore(), {}
    with BagReader(source) as reader, BagWriter(target) as writer:
        for topic, kind in reader.topics.items():
            writer.add(topic, kind)
        for topic, time_ns, data in reader.messages(list(reader.topics), raw=list(reader.topics)):
            number = numbers[topic] = numbers.get(topic, -1) + 1
            kind = reader.topics[topic]
            if ahead(topic, number) and "header" in types.types[kind].__dataclass_fields__:
                message = reader.deserialize(data, kind)
                ns = message.header.stamp.sec * 10**9 + message.header.stamp.nanosec + ahead(topic, number)
                stamp = replace(message.header.stamp, sec=ns // 10**9, nanosec=ns % 10**9)
                data = types.serialize_cdr(replace(message, header=replace(message.header, stamp=stamp)), kind)
            writer.write(topic, time_ns, bytes(data))


@pytest.fixture
def bag(fall, tmp_path):
    write_recording(fall, tmp_path / "fall.mcap")
    return tmp_path / "fall.mcap"


def streams(topic):
    return topic in ("/joint_states", "/odom")


def test_a_first_stamp_that_is_days_ahead_changes_no_figure_and_is_told(bag, walker, tmp_path):
    other = tmp_path / "ahead.mcap"
    stamped_anew(bag, other, lambda topic, number: DAYS if streams(topic) and number == 0 else 0)
    right = replay_bag(bag, walker, truth=TRUTH)
    found = replay_bag(other, walker, truth=TRUTH, result=tmp_path / "ahead")
    assert 0.98 * right.duration <= found.duration <= right.duration and found.speed > 0.0
    assert right.scores is not None and found.scores is not None
    assert found.scores.states >= right.scores.states - 3
    for one, same in zip(found.scores.touchdown, right.scores.touchdown, strict=True):
        assert (one.events, one.missed, one.false) == (same.events, same.missed, same.false) and one.events
    (told,) = [warning for warning in found.warnings if "clock of the stamps" in warning]
    assert "was set once from 950" in told
    summary = read(tmp_path / "ahead.result.zip").summary
    assert summary["duration"] == found.duration and 0 < summary["end_ns"] - summary["start_ns"] < 10**9
    assert "clock of the stamps" not in " ".join(right.warnings)


@pytest.mark.parametrize("jump", [-DAYS, DAYS])
def test_the_jump_of_a_clock_that_is_set_in_the_middle_is_no_time_that_passed(bag, fall, walker, tmp_path, jump):
    shifted, other = tmp_path / "shifted.mcap", tmp_path / "set.mcap"
    stamped_anew(bag, shifted, lambda topic, number: 2 * DAYS)  # so that no stamp is negative
    middle = fall.time.size // 3
    stamped_anew(shifted, other, lambda topic, number: jump if number >= middle else 0)
    found = replay_bag(other, walker, truth=TRUTH, result=tmp_path / "set")
    whole = fall.time[-1] - fall.time[0]
    assert 0.95 * whole <= found.duration <= whole
    assert any("clock of the stamps was set once" in warning for warning in found.warnings)
    assert found.scores is not None and found.scores.touchdown[0].events == 2
    page = tmp_path / "page.html"
    report_replayed(page, read(tmp_path / "set.result.zip"))
    assert page.stat().st_size > 100_000


def test_a_first_stamp_that_is_days_ahead_costs_another_estimators_topic_one_message(bag, fall, tmp_path):
    other = tmp_path / "ahead.mcap"
    stamped_anew(bag, other, lambda topic, number: DAYS if topic == TRUTH and number == 0 else 0)
    found = score_bag(other, estimate=TRUTH, truth=[TRUTH])
    assert found.summary["states"] == fall.time.size - 1 and 0.0 < found.summary["duration"] < 1.0
    assert "1 messages" in " ".join(found.summary["warnings"])
