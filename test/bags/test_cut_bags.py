"""Recordings that are not whole are read as far as they go, and what is missing is told."""

from __future__ import annotations

import shutil

import numpy as np
import pytest

from helpers.bags import COUNT, STORAGES, record, word
from hybrid_contact_ros.bags.reader import BagReader
from hybrid_contact_ros.bags.unreadable import BagError


def cut(file, part: float) -> None:
    data = file.read_bytes()
    file.write_bytes(data[: int(part * len(data))])


def read(path, topic: str = "/words"):
    with BagReader(path) as reader:
        found = [(time // 1_000_000, message.data) for _, time, message in reader.messages([topic])]
        assert reader.count([topic]) == len(found)
        return found, reader


@pytest.mark.parametrize("storage", STORAGES)
@pytest.mark.parametrize("part", [0.3, 0.6, 0.9])
@pytest.mark.parametrize("mode", ["plain", "file", "message", "storage"])
def test_a_cut_file_gives_its_messages_up_to_the_cut_as_they_were(tmp_path, storage, mode, part):
    if (storage, mode) == ("db3", "storage"):
        mode = "plain"  # sqlite3 has no compression of its own
    file = record(tmp_path / "bag", storage, mode)
    cut(file, part)
    (tmp_path / "bag" / "metadata.yaml").unlink()  # which a recorder writes last
    found, reader = read(tmp_path / "bag")
    assert found == [(k, word(k)) for k in range(len(found))]
    # Compressed as a whole it comes out in blocks of 128 KiB, of which the last is lost.
    assert 0.4 * part * COUNT <= len(found) < COUNT
    assert "is not whole" in reader.damage and f"{len(found)} messages" in reader.damage
    assert "no metadata.yaml" in reader.warnings[0]


@pytest.mark.parametrize("storage", STORAGES)
def test_a_single_cut_file_is_read_too(tmp_path, storage):
    file = record(tmp_path / "bag", storage)
    cut(file, 0.5)
    found, reader = read(file)
    assert 0.3 * COUNT < len(found) < COUNT and reader.damage and not reader.warnings


@pytest.mark.parametrize("storage", STORAGES)
def test_every_cut_gives_whole_messages_or_a_clear_error(tmp_path, storage):
    """Also where the cut goes through the middle of a page, which sqlite takes for zeros."""
    file = record(tmp_path / "bag", storage)
    data = file.read_bytes()
    for size in np.random.default_rng(0).integers(0, len(data), 60).tolist():
        file.write_bytes(data[:size])
        try:
            found, _ = read(file)
        except BagError as error:
            assert "damaged, truncated" in str(error)
            continue
        assert found == [(k, word(k)) for k in range(len(found))] and len(found) < COUNT + 1


@pytest.mark.parametrize("storage", STORAGES)
def test_topics_keep_their_order_across_a_cut(tmp_path, storage):
    file = record(tmp_path / "bag", storage, topics=("/b", "/a"))
    cut(file, 0.5)
    with BagReader(file) as reader:
        order = [(time, topic) for topic, time, _ in reader.messages(["/a", "/b"])]
    assert order == sorted(order, key=lambda item: (item[0], "ba".index(item[1][1])))
    assert len(order) > 100


def test_an_mcap_without_chunks_is_read_up_to_the_cut(tmp_path):
    """As `ros2 bag record --storage-preset-profile fastwrite` makes them."""
    whole = record(tmp_path / "bag", "mcap").read_bytes()
    begin = whole.index(b"\x06", 8)  # the chunk; its header is 8 times, sizes and a checksum, and an empty string
    while int.from_bytes(whole[begin + 1 : begin + 9], "little") > len(whole):
        begin = whole.index(b"\x06", begin + 1)
    records = begin + 9 + 28 + 4 + 8
    size = int.from_bytes(whole[records - 8 : records], "little")
    file = tmp_path / "flat.mcap"
    file.write_bytes(whole[:begin] + whole[records : records + size // 2])
    found, reader = read(file)
    assert found == [(k, word(k)) for k in range(len(found))] and 0.4 * COUNT < len(found) < COUNT
    assert "is cut" in reader.damage or "ends here" in reader.damage


def test_a_recording_without_metadata_is_read_whole_with_a_warning(tmp_path):
    record(tmp_path / "bag", "mcap")
    (tmp_path / "bag" / "metadata.yaml").unlink()
    found, reader = read(tmp_path / "bag")
    assert len(found) == COUNT and reader.damage == "" and "no metadata.yaml" in reader.warnings[0]


@pytest.mark.parametrize("text", ["", "rosbag2_bagfile_information: {", "rosbag2_bagfile_information: 3", "[1, 2]"])
def test_metadata_that_cannot_be_used_is_no_reason_to_read_nothing(tmp_path, text):
    record(tmp_path / "bag", "db3")
    (tmp_path / "bag" / "metadata.yaml").write_text(text)
    found, reader = read(tmp_path / "bag")
    assert len(found) == COUNT and reader.damage == "" and "metadata.yaml" in reader.warnings[0]


def test_files_of_one_recording_are_read_in_the_order_of_their_numbers(tmp_path):
    """The tenth behind the ninth; of a whole one too, and of one whose last file is cut."""
    folder = tmp_path / "bag"
    folder.mkdir()
    for n in (2, 9, 10):
        shutil.move(record(tmp_path / f"part{n}", "mcap", start=n * COUNT), folder / f"bag_{n}.mcap")
    cut(folder / "bag_10.mcap", 0.5)
    found, reader = read(folder)
    assert [k for k, _ in found] == sorted(k for k, _ in found)
    assert 2 * COUNT < len(found) < 3 * COUNT and "bag_10.mcap" in reader.damage


def test_files_that_are_gone_are_named_and_the_others_read(tmp_path):
    folder = tmp_path / "bag"
    file = record(folder, "mcap")
    metadata = (folder / "metadata.yaml").read_text()
    (folder / "metadata.yaml").write_text(metadata.replace(f"- {file.name}", f"- {file.name}\n  - gone_1.mcap", 1))
    found, reader = read(folder)
    assert len(found) == COUNT and "gone_1.mcap" in reader.damage
    file.unlink()
    with pytest.raises(BagError, match=r"gone_1\.mcap"):
        BagReader(folder)


@pytest.mark.parametrize("mode", ["file", "message"])
@pytest.mark.parametrize("storage", STORAGES)
def test_compressed_recordings_are_read(tmp_path, storage, mode):
    file = record(tmp_path / "bag", storage, mode)
    found, reader = read(tmp_path / "bag")
    assert len(found) == COUNT and not reader.damage and not reader.warnings
    if mode == "file":
        assert len(read(file)[0]) == COUNT  # by its own name as well


@pytest.mark.parametrize("storage", STORAGES)
def test_a_damaged_place_in_the_middle_is_told_and_what_is_read_is_as_it_was(tmp_path, storage):
    file = record(tmp_path / "bag", storage)
    data = bytearray(file.read_bytes())
    middle = len(data) // 2 // 4096 * 4096
    data[middle : middle + 16384] = bytes(16384)
    file.write_bytes(data)
    found, damage = [], ""
    with BagReader(file) as reader:
        try:
            for _, time, message in reader.messages(["/words"]):
                found.append((time // 1_000_000, message.data))
        except BagError as error:
            damage = str(error)
        damage = reader.damage or damage
    assert "not whole" in damage or "is damaged" in damage
    assert len(found) < COUNT
    # This recorder writes no checksum, so that an MCAP's message with a hole in it passes for one.
    assert sum(text != word(k) for k, text in found) <= (storage == "mcap")
