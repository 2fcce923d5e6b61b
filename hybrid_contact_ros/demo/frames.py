"""Serialised messages on a pipe, each with the time of its reception."""

from __future__ import annotations

import struct
from collections.abc import Iterator
from typing import BinaryIO, NamedTuple

_HEAD = struct.Struct("<BqI")
READY, FAILED = 255, 254
"""Topics of frames that say that the suite is active, and that it could not be configured."""
LARGEST = 1 << 26  # bytes; a longer frame is a pipe that is out of step


class Frame(NamedTuple):
    """topic: a number that both ends agree on. received_ns: system time. data: the message as it came, in CDR."""

    topic: int
    received_ns: int
    data: bytes


def packed(frame: Frame) -> bytes:
    """The frame as bytes."""
    return _HEAD.pack(frame.topic, frame.received_ns, len(frame.data)) + frame.data


def read_frames(stream: BinaryIO) -> Iterator[Frame]:
    """All frames until the stream ends; one that was cut off by the writer's end is left out.

    Raises:
        ValueError: something else than frames was written.
    """
    while len(head := stream.read(_HEAD.size)) == _HEAD.size:
        topic, received_ns, size = _HEAD.unpack(head)
        if size > LARGEST:
            raise ValueError(f"a frame of {size} bytes: something else than frames was written to the pipe")
        data = stream.read(size)
        if len(data) < size:
            return
        yield Frame(topic, received_ns, data)
