"""Recordings with places that were overwritten: what is whole is read as it was, what is lost is told with its time."""

from __future__ import annotations

import re
from zlib import crc32

import numpy as np
import pytest

from helpers.bags import COUNT, STORAGES, record, word
from hybrid_contact_ros.bags.cut_mcap import CutMcap
from hybrid_contact_ros.bags.reader import BagReader
from hybrid_contact_ros.bags.unreadable import BagError

SIZES = (16, 200, 2000, 20000)


def overwritten(file, at: int, size: int, seed: int = 0) -> None:
    data = bytearray(file.read_bytes())
    spoilt = np.random.default_rng(seed).integers(0, 256, size, dtype=np.uint8).tobytes()
    data[at : at + size] = spoilt[: len(data) - at]
    file.write_bytes(data)


def read(path) -> tuple[list[tuple[int, bytes]], str]:
    """Number and bytes of each message, and what is said of damage."""
    with BagReader(path) as reader:
        found = [(time // 1_000_000, bytes(data)) for _, time, data in reader.messages(["/words"], raw=["/words"])]
        assert reader.count(["/words"]) == len(found) and 0.0 <= reader.duration < 1.0
        return found, reader.damage


def is_word(k: int, data: bytes) -> bool:
    return data[8 : 8 + len(word(k))] == word(k).encode()


@pytest.mark.parametrize("mode", ["plain", "message"])
@pytest.mark.parametrize("storage", STORAGES)
@pytest.mark.parametrize("size", SIZES)
def test_two_kilobytes_in_the_middle_cost_no_more_than_what_lay_there(tmp_path, storage, mode, size):
    file = record(tmp_path / "bag", storage, mode)
    length = file.stat().st_size
    overwritten(file, length // 2, size)
    try:
        found, damage = read(file)
    except BagError as error:  # a compressed message in a file whose records and pages are whole
        assert mode == "message" and "Zstandard" in str(error)
        return
    numbers = [k for k, _ in found]
    touched = size // 1000 + 6  # messages have some 1500 bytes; a page of sqlite's has three
    assert numbers == sorted(set(numbers)) and COUNT - touched <= len(found) <= COUNT
    if mode == "plain":
        wrong = [k for k, data in found if not is_word(k, data)]
        assert len(wrong) <= 1 or storage == "db3"  # a hole within one message: neither storage has a checksum here
    if len(found) < COUNT and "passed over" not in damage:
        assert f"{COUNT - len(found)} of {COUNT} messages are lost" in damage
        begin, end = (float(x) for x in re.search(r"at ([\d.]+) to ([\d.]+) s", damage).groups())
        assert 0.4 * COUNT < 1000 * begin < 1000 * end < 0.6 * COUNT


@pytest.mark.parametrize("storage", STORAGES)
def test_places_anywhere_are_read_over_or_refused_in_words(tmp_path, storage):
    file = record(tmp_path / "bag", storage)
    whole, rng = file.read_bytes(), np.random.default_rng(1)
    for seed in range(40):
        file.write_bytes(whole)
        overwritten(file, int(rng.integers(len(whole))), int(rng.choice(SIZES)), seed)
        try:
            found, _ = read(file)
        except BagError as error:
            assert "is damaged" in str(error) and "Python" not in str(error) and "C s" not in str(error)
            continue
        # At the beginning of a database lies what says which topics there are.
        assert len(found) >= COUNT - 30 and all(0 <= k < COUNT for k, _ in found)


def test_a_recording_is_read_whose_beginning_is_overwritten_because_its_end_says_the_same(tmp_path):
    file = record(tmp_path / "bag", "mcap")
    overwritten(file, 150, 400)
    found, damage = read(file)
    assert len(found) >= COUNT - 3 and "not whole" in damage


def test_damage_is_told_before_the_first_message_is_read(tmp_path):
    file = record(tmp_path / "bag", "mcap")
    overwritten(file, file.stat().st_size // 2, 5000)
    with BagReader(tmp_path / "bag") as reader:
        assert "messages are lost" in reader.damage
    file.write_bytes(record(tmp_path / "other", "mcap").read_bytes())
    with BagReader(tmp_path / "bag") as reader:
        assert reader.damage == ""


def test_a_compressed_chunk_that_is_spoilt_is_left_out_and_its_time_told(tmp_path):
    file = record(tmp_path / "bag", "mcap", "storage", topics=("/words", "/others"))  # chunks have a mebibyte: two
    overwritten(file, file.stat().st_size // 4, 50000)
    found, damage = read(file)
    assert 100 < len(found) < COUNT and all(is_word(k, data) for k, data in found)
    assert "a chunk" in damage and f"of {2 * COUNT} messages are lost, at 0.000" in damage


def test_a_recording_of_which_nothing_is_left_is_refused_and_closed(tmp_path):
    file = record(tmp_path / "bag", "mcap", "storage")  # one chunk
    overwritten(file, file.stat().st_size // 4, 50000)
    with pytest.raises(BagError, match=f"{COUNT} of {COUNT} messages are lost"), BagReader(file) as reader:
        next(reader.messages(["/words"]))


def test_messages_outside_of_chunks_are_found_again_behind_the_place(tmp_path):
    """As `ros2 bag record --storage-preset-profile fastwrite` makes them."""
    whole = record(tmp_path / "bag", "mcap").read_bytes()
    storage = CutMcap(tmp_path / "bag" / "bag.mcap")
    (part,) = storage._parts
    storage.close()
    file = tmp_path / "flat.mcap"
    file.write_bytes(
        whole[:43] + whole[part.offset : part.offset + part.length] + b"\x0f" + (4).to_bytes(8, "little") + bytes(4)
    )
    overwritten(file, file.stat().st_size // 2, 2000)
    found, damage = read(file)
    assert COUNT - 5 <= len(found) < COUNT and all(is_word(k, data) for k, data in found)
    assert "bytes are no record; messages are lost, at 0.2" in damage


def test_a_chunk_whose_checksum_is_wrong_and_whose_records_are_not_is_left_out(tmp_path):
    file = record(tmp_path / "bag", "mcap", topics=("/words", "/others"))
    storage = CutMcap(file)
    first, _ = storage._parts
    storage.close()
    data = bytearray(file.read_bytes())
    data[43 + 9 + 24 : 43 + 9 + 28] = crc32(data[first.offset : first.offset + first.length]).to_bytes(4, "little")
    file.write_bytes(data)
    found, damage = read(file)
    assert len(found) == COUNT and not damage
    at = data.index(word(100).encode()) + 700
    overwritten(file, at, 50)
    found, damage = read(file)
    assert 100 < len(found) < COUNT and all(is_word(k, text) for k, text in found)
    assert "checksum is wrong" in damage and "at 0.000" in damage


def test_a_message_that_looks_like_records_is_none(tmp_path):
    """Bytes of a message from which records would follow are only looked at behind a place that is none."""
    file = record(tmp_path / "bag", "mcap")
    whole = file.read_bytes()
    storage = CutMcap(file)
    assert storage.damage == "" and storage.counts["/words"] == COUNT
    storage.close()
    file.write_bytes(whole[: len(whole) // 2])
    assert "is cut" in CutMcap(file).damage
