"""Which topics of a recording are the robot's: namespaces, other names, and what is said where they do not fit."""

from __future__ import annotations

from dataclasses import replace

import pytest

from hybrid_contact_ros.bags.reader import BagReader
from hybrid_contact_ros.bags.unreadable import BagError
from hybrid_contact_ros.bags.writer import BagWriter
from hybrid_contact_ros.identification.identify import identify_material
from hybrid_contact_ros.recordings.write import write_recording
from hybrid_contact_ros.replay.run import replay_bag


@pytest.fixture
def renamed(fall, tmp_path):
    """The walker's recording with other topics: each name is given by a function of the old one, or several."""
    write_recording(fall, tmp_path / "fall.mcap")

    def make(rename, keep=lambda index, topic: True):
        path = tmp_path / "renamed.mcap"
        with BagReader(tmp_path / "fall.mcap") as reader, BagWriter(path) as writer:
            kinds = dict(reader.topics)
            for topic, kind in kinds.items():
                for name in rename(topic):
                    writer.add(name, kind)
            for index, (topic, time, message) in enumerate(reader.messages(list(kinds))):
                for name in rename(topic) if keep(index, topic) else ():
                    writer.write(name, time, message)
        return path

    return make


def of_topics(result) -> list[str]:
    """The warnings about topics; the landing of the test's walker stops it in a millisecond, which is told as well."""
    return [said for said in result.warnings if "topic" in said]


def test_topics_of_a_namespace_are_read_when_it_is_named(renamed, walker):
    bag = renamed(lambda topic: [f"/a{topic}", f"/b/c{topic}"])
    for name in ("a", "/a", "a/", "b/c", "/b/c"):
        result = replay_bag(bag, walker, namespace=name, truth="truth/contact_mode")
        assert result.states == 200 and of_topics(result) == [] and result.scores is not None


def test_the_only_namespace_that_has_them_is_taken_and_told(renamed, walker):
    result = replay_bag(renamed(lambda topic: [f"/my_robot{topic}"]), walker, truth="truth/contact_mode")
    assert result.states == 200 and result.scores is not None
    assert of_topics(result) == ["the topics of the namespace /my_robot are used (--namespace my_robot)"]
    assert result.to_dict()["warnings"] == list(result.warnings)


def test_of_several_robots_none_is_guessed(renamed, walker):
    with pytest.raises(BagError, match=r"several robots: choose one by --namespace, of /a, /b$"):
        replay_bag(renamed(lambda topic: [f"/a{topic}", f"/b{topic}"]), walker)


def test_topics_at_the_top_go_before_those_of_a_namespace(renamed, walker):
    assert of_topics(replay_bag(renamed(lambda topic: [topic, f"/ghost{topic}"]), walker)) == []


def test_a_namespace_that_is_not_there_is_told_with_the_topics_of_the_right_type(renamed, walker):
    bag = renamed(lambda topic: [f"/my_robot{topic}"])
    with pytest.raises(BagError, match=r"holds no /other/robot_description"):
        replay_bag(bag, walker, namespace="other")
    with BagReader(bag) as reader:
        urdf = next(reader.messages(["/my_robot/robot_description"]))[2].data
    with pytest.raises(BagError, match=r"Of that type is /my_robot/joint_states: name it by --joint-states"):
        replay_bag(bag, walker, urdf, namespace="other")


def test_odometry_of_another_name_is_pointed_at_and_can_be_given(renamed, walker):
    bag = renamed(lambda topic: ["/odometry/filtered" if topic == "/odom" else topic])
    with pytest.raises(BagError, match=r"Of that type is /odometry/filtered: name it by --odometry"):
        replay_bag(bag, walker)
    assert replay_bag(bag, walker, odometry="/odometry/filtered").states == 200
    assert replay_bag(bag, walker, odometry="filtered", namespace="odometry", joint_states="/joint_states",
                      robot_description="/robot_description").states == 200  # fmt: skip


def test_topics_that_hold_each_other_s_type_are_told(renamed, walker):
    swap = {"/odom": "/joint_states", "/joint_states": "/odom"}
    with pytest.raises(BagError, match=r"/joint_states in .* is a nav_msgs/msg/Odometry, a sensor_msgs/msg/JointState"):
        replay_bag(renamed(lambda topic: [swap.get(topic, topic)]), walker)


def test_an_empty_recording_is_said_to_be_empty(renamed, walker, tmp_path):
    with pytest.raises(BagError, match="is empty: nothing was recorded"):
        replay_bag(renamed(lambda topic: [topic], keep=lambda index, topic: False), walker)
    with BagWriter(tmp_path / "nothing"):
        pass
    with pytest.raises(BagError, match="is empty: nothing was recorded"):
        replay_bag(tmp_path / "nothing", walker)


def test_a_clock_that_goes_back_is_reported_and_predicting_goes_on(fall, walker, tmp_path):
    """The second half again, a second later by the recorder's clock, with the stamps of the first time."""
    write_recording(fall, tmp_path / "fall.mcap")
    path = tmp_path / "back.mcap"
    with BagReader(tmp_path / "fall.mcap") as reader, BagWriter(path) as writer:
        kinds = dict(reader.topics)
        messages = list(reader.messages(list(kinds)))
        for topic, kind in kinds.items():
            writer.add(topic, kind)
        for topic, time, message in messages:
            writer.write(topic, time, message)
        for topic, time, message in messages:
            writer.write(topic, time + 10**9, message)
    result = replay_bag(path, walker)
    assert result.states > 380 and result.faults["clock_set_back"] == 1 and result.damage is None


def test_two_publishers_whose_stamps_interleave_backwards_are_suspected(fall, walker, tmp_path):
    write_recording(fall, tmp_path / "one.mcap")
    write_recording(replace(fall, time=fall.time - 0.005), tmp_path / "late.mcap")
    with BagWriter(tmp_path / "both.mcap") as writer:
        both = []
        for name, shift in (("one", 0), ("late", 5_300_000)):
            with BagReader(tmp_path / f"{name}.mcap") as reader:
                kinds = dict(reader.topics)
                both += [(time + shift, topic, message) for topic, time, message in reader.messages(list(kinds))]
        for topic, kind in kinds.items():
            writer.add(topic, kind)
        for time, topic, message in sorted(both, key=lambda item: item[0]):
            writer.write(topic, time, message)
    result = replay_bag(tmp_path / "both.mcap", walker)
    assert result.faults["backward_stamp"] > 300
    assert any("more than one publisher" in warning for warning in result.warnings)


def test_identify_reads_namespaces_too(renamed, walker):
    with pytest.raises(ValueError, match="impacts in 200 states"):  # all read; a fall has too few impacts
        identify_material(renamed(lambda topic: [f"/my_robot{topic}"]), walker)


@pytest.mark.parametrize("suffix", ["mcap", "db3"])
def test_a_cut_recording_is_predicted_up_to_the_cut(fall, walker, tmp_path, suffix):
    path = tmp_path / f"fall.{suffix}"
    write_recording(fall, path)
    data = path.read_bytes()
    path.write_bytes(data[: 6 * len(data) // 10])
    result = replay_bag(path, walker, out=tmp_path / "out.mcap")
    assert 80 < result.states < 160 and "is not whole" in result.damage
    with BagReader(tmp_path / "out.mcap") as reader:
        assert reader.count(["/contact_mode"]) == result.states and not reader.damage
    with pytest.raises(ValueError, match=f"impacts in {result.states} states"):
        identify_material(path, walker)
