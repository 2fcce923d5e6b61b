"""What a library raises is a damaged recording; what this package raises is a bug, and is told as one."""

from __future__ import annotations

import pytest
from rosbags.highlevel import AnyReader

from hybrid_contact_ros.bags import cut_mcap, reader, storage
from hybrid_contact_ros.bags.reader import BagReader
from hybrid_contact_ros.bags.typestore import typestore
from hybrid_contact_ros.bags.unreadable import BagError, UnreadableBag, each_from_library, from_library
from hybrid_contact_ros.bags.writer import BagWriter

STRING = "std_msgs/msg/String"


@pytest.fixture
def words(tmp_path):
    """A recording of ten messages."""
    path = tmp_path / "words.mcap"
    with BagWriter(path) as bag:
        bag.add("/words", STRING)
        for k in range(10):
            bag.write("/words", 1 + k, typestore().types[STRING](data=f"word {k}"))
    return path


@pytest.fixture
def cut_words(words):
    data = words.read_bytes()
    words.write_bytes(data[: int(0.7 * len(data))])
    return words


def fail(*_arguments, **_options):
    return {}["nothing"]


def read(path):
    with BagReader(path) as bag:
        return [message.data for _, _, message in bag.messages(["/words"])]


def test_what_a_library_raises_while_opening_makes_the_file_be_read_otherwise(words, monkeypatch):
    monkeypatch.setattr(AnyReader, "open", fail)
    with BagReader(words) as bag:
        assert "as a whole" in bag.warnings[0] and "nothing" in bag.warnings[0]
        assert bag.count(["/words"]) == 10


@pytest.mark.parametrize("method", ["messages", "deserialize"])
def test_what_a_library_raises_while_reading_is_a_damaged_recording(words, monkeypatch, method):
    monkeypatch.setattr(AnyReader, method, fail)
    with pytest.raises(BagError, match=r"damaged.*nothing"):
        read(words)


def test_what_a_decompressor_raises_is_told_as_the_end_of_the_file(cut_words, monkeypatch):
    class Broken:
        def decompress(self, data):
            raise RuntimeError("no frame")

    class Module:
        ZstdDecompressor = Broken

    monkeypatch.setattr(cut_mcap, "zstd", lambda: Module)
    with pytest.raises(UnreadableBag, match="no frame"):
        cut_mcap._decompressed(b"", "zstd")


@pytest.mark.parametrize(
    ("home", "name"), [(reader, "messages_by_topic"), (reader, "each_from_library"), (reader, "typestore")]
)
def test_a_bug_of_ours_in_the_reader_of_whole_recordings_propagates(words, monkeypatch, home, name):
    monkeypatch.setattr(home, name, fail)
    with pytest.raises(KeyError, match="nothing"):
        read(words)


@pytest.mark.parametrize("name", ["_note", "_describe", "_chunk"])
def test_a_bug_of_ours_in_the_reader_of_cut_recordings_propagates(cut_words, monkeypatch, name):
    monkeypatch.setattr(cut_mcap.CutMcap, name, fail)
    with pytest.raises(KeyError, match="nothing"):
        read(cut_words)


def test_a_bug_of_ours_in_the_reader_of_whole_files_propagates(cut_words, monkeypatch):
    monkeypatch.setattr(storage.WholeFile, "__init__", fail)
    with pytest.raises(KeyError, match="nothing"):
        read(cut_words)


def test_the_wrapper_keeps_the_words_and_the_cause():
    with pytest.raises(UnreadableBag, match="nothing") as told:
        from_library(fail)
    assert isinstance(told.value.__cause__, KeyError)
    with pytest.raises(UnreadableBag, match="StopAsyncIteration"):  # without words of its own, its kind
        from_library(lambda: (_ for _ in ()).throw(StopAsyncIteration()).__next__())
    items = each_from_library(lambda: (x if x < 2 else fail() for x in range(3)))
    assert [next(items), next(items)] == [0, 1]
    with pytest.raises(UnreadableBag, match="nothing"):
        next(items)
