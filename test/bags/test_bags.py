"""Recordings are written and read back; those that cannot be are refused in words."""

from __future__ import annotations

import numpy as np
import pytest

from hybrid_contact_ros.bags.reader import BagReader
from hybrid_contact_ros.bags.typestore import definition_folder, typestore
from hybrid_contact_ros.bags.unreadable import BagError
from hybrid_contact_ros.bags.writer import BagWriter

STRING = "std_msgs/msg/String"


def string(text: str):
    return typestore().types[STRING](data=text)


def write(path, count: int = 3, **options) -> None:
    with BagWriter(path, **options) as bag:
        bag.add("/words", STRING, latched=True)
        for k in range(count):
            bag.write("/words", 1000 + k, string(f"word {k}"))


@pytest.fixture(params=["words.mcap", "words.db3", "words", "sqlite"])
def bag(request, tmp_path):
    path = tmp_path / request.param
    write(path, storage="sqlite3" if request.param == "sqlite" else "mcap")
    return path


@pytest.mark.parametrize("spare", [4, 8, 28, 70])
def test_zeros_behind_a_message_are_no_damage(tmp_path, spare):
    """rclpy's ``serialize_message`` leaves them behind a joint state without effort."""
    kind = "sensor_msgs/msg/JointState"
    types, none = typestore().types, np.empty(0)
    stamp = types["builtin_interfaces/msg/Time"](sec=1, nanosec=0)
    header = types["std_msgs/msg/Header"](stamp=stamp, frame_id="")
    two = np.array([1.0, 0.0])
    message = types[kind](header=header, name=["hip", "knee"], position=two, velocity=two, effort=none)
    with BagWriter(tmp_path / "joints.mcap") as bag:
        bag.add("/joint_states", kind)
        bag._serialize = lambda *arguments: bytes(typestore().serialize_cdr(*arguments)) + bytes(spare)
        bag.write("/joint_states", 1000, message)
    with BagReader(tmp_path / "joints.mcap") as reader:
        ((_, _, read),) = reader.messages(["/joint_states"])
    assert list(read.name) == ["hip", "knee"] and read.velocity.tolist() == [1.0, 0.0] and read.effort.size == 0


def test_anything_else_behind_a_message_is_damage(tmp_path):
    with BagWriter(tmp_path / "words.mcap") as bag:
        bag.add("/words", STRING)
        bag._serialize = lambda *arguments: bytes(typestore().serialize_cdr(*arguments)) + bytes(8) + b"more"
        bag.write("/words", 1000, string("word"))
    with BagReader(tmp_path / "words.mcap") as reader, pytest.raises(BagError, match="damaged"):
        list(reader.messages(["/words"]))


def test_what_was_written_is_read_back_in_order(bag):
    with BagReader(bag) as reader:
        assert reader.topics == {"/words": STRING} and reader.count(["/words"]) == 3
        assert reader.duration == pytest.approx(2e-9, abs=1.1e-9)
        read = [(topic, time, msg.data) for topic, time, msg in reader.messages(["/words"])]
    assert read == [("/words", 1000 + k, f"word {k}") for k in range(3)]
    assert not [p for p in bag.parent.iterdir() if p != bag]  # nothing is left beside it


def test_messages_of_one_time_keep_their_order(tmp_path):
    with BagWriter(tmp_path / "b.mcap") as bag:
        bag.add("/a", STRING)
        bag.add("/b", STRING)
        for k in range(200):
            bag.write("/b", k, string(str(k)))
            bag.write("/a", k, string(str(k)))
    with BagReader(tmp_path / "b.mcap") as reader:
        read = [(topic, time) for topic, time, _ in reader.messages(["/a", "/b"])]
    assert read == [(topic, k) for k in range(200) for topic in ("/b", "/a")]


def test_nothing_is_overwritten_without_force(bag):
    with pytest.raises(BagError, match="exists already"):
        BagWriter(bag)
    write(bag, 5, force=True)
    with BagReader(bag) as reader:
        assert reader.count(["/words"]) == 5


def test_a_folder_that_is_no_recording_is_not_replaced_even_by_force(tmp_path):
    (tmp_path / "precious").mkdir()
    (tmp_path / "precious" / "thesis.txt").write_text("x")
    with pytest.raises(BagError, match="no recording"):
        BagWriter(tmp_path / "precious", force=True)


def test_a_file_that_is_no_recording_is_not_replaced_even_by_force(tmp_path):
    (tmp_path / "thesis.txt").write_text("x")
    with pytest.raises(BagError, match="no recording"):
        BagWriter(tmp_path / "thesis.txt", force=True)
    assert (tmp_path / "thesis.txt").read_text() == "x"


def test_a_place_that_cannot_be_written_is_named(tmp_path):
    (tmp_path / "file").write_text("x")
    with pytest.raises(BagError, match=r"cannot write .*file"):
        BagWriter(tmp_path / "file" / "words.mcap")


def test_an_error_while_writing_leaves_nothing_and_spares_what_was_there(tmp_path):
    path = tmp_path / "words.mcap"
    write(path)
    before = path.read_bytes()
    with pytest.raises(RuntimeError), BagWriter(path, force=True) as bag:
        bag.add("/words", STRING)
        raise RuntimeError
    assert path.read_bytes() == before and list(tmp_path.iterdir()) == [path]


def test_paths_that_are_no_recordings_are_named_with_the_reason(tmp_path):
    (tmp_path / "folder").mkdir()
    (tmp_path / "text.txt").write_text("hello")
    (tmp_path / "old.bag").write_text("#ROSBAG V2.0")
    for name, reason in (
        ("nothing", "no such recording"),
        ("folder", "no metadata.yaml, and no .mcap or .db3"),
        ("text.txt", "not a rosbag2"),
        ("old.bag", "ROS 1"),
    ):
        with pytest.raises(BagError, match=reason):
            BagReader(tmp_path / name)


@pytest.mark.parametrize("suffix", ["mcap", "db3"])
@pytest.mark.parametrize("kept", [0, 5, 40])
def test_a_file_of_which_nothing_is_left_is_a_clear_error_not_a_crash(tmp_path, suffix, kept):
    path = tmp_path / f"words.{suffix}"
    write(path, 2000)
    path.write_bytes(path.read_bytes()[:kept])
    with pytest.raises(BagError, match="damaged, truncated"), BagReader(path) as reader:
        list(reader.messages(["/words"]))


@pytest.mark.parametrize("suffix", ["mcap", "db3"])
def test_a_file_with_flipped_bytes_never_raises_anything_else(tmp_path, suffix):
    path = tmp_path / f"words.{suffix}"
    write(path, 100)
    data = path.read_bytes()
    rng = np.random.default_rng(0)
    for _ in range(40):
        broken = bytearray(data)
        for place in rng.integers(0, len(data), 8):
            broken[place] ^= int(rng.integers(1, 256))
        path.write_bytes(broken)
        try:
            with BagReader(path) as reader:
                list(reader.messages(["/words"]))
        except BagError:
            pass


def test_missing_wrong_and_empty_topics_are_told_with_what_is_there(tmp_path):
    with BagWriter(tmp_path / "b") as bag:
        bag.add("/words", STRING)
        bag.add("/silent", STRING)
        bag.write("/words", 1, string("x"))
    with BagReader(tmp_path / "b") as reader:
        reader.require({"/words": STRING})
        with pytest.raises(BagError, match=r"no topic /joints .*\n  /silent  std_msgs/msg/String\n  /words"):
            reader.require({"/joints": "sensor_msgs/msg/JointState"})
        with pytest.raises(BagError, match="a sensor_msgs/msg/JointState is needed"):
            reader.require({"/words": "sensor_msgs/msg/JointState"})
        with pytest.raises(BagError, match="is empty"):
            reader.require({"/silent": STRING})


def test_definitions_that_are_not_there_are_said_to_be(monkeypatch, tmp_path):
    assert (definition_folder() / "ContactState.msg").is_file()
    monkeypatch.setattr("hybrid_contact_ros.bags.typestore.__file__", str(tmp_path / "a/b/c/typestore.py"))
    monkeypatch.setattr("sys.prefix", str(tmp_path))
    monkeypatch.delenv("AMENT_PREFIX_PATH", raising=False)
    with pytest.raises(FileNotFoundError, match="hybrid_contact_msgs"):
        definition_folder()
