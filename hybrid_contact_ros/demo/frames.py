"""Frames on a pipe: serialised messages, each with the time of its reception."""

from __future__ import annotations

import struct
from collections.abc import Iterator
from typing import BinaryIO, NamedTuple

_HEAD = struct.Struct("<BqI")
READY, FAILED = 255, 254
"""Topics of the frames that say that the suite is active, or that it could not be configured."""
MAX_FRAME_BYTES = 1 << 26  # where a frame seems longer, the pipe is out of step


class Frame(NamedTuple):
    """One message.

    Attributes:
        topic: a number that both ends agree on.
        received_ns: system time of the reception, ns.
        data: the message as it came, in CDR.
    """

    topic: int
    received_ns: int
    data: bytes


def packed(frame: Frame) -> bytes:
    """The frame as bytes."""
    return _HEAD.pack(frame.topic, frame.received_ns, len(frame.data)) + frame.data


def read_frames(stream: BinaryIO) -> Iterator[Frame]:
    """All frames until the stream ends. A frame that the end of the writer cut off is left out.

    Raises:
        ValueError: something else than frames was written to the stream.
    """
    while len(head := stream.read(_HEAD.size)) == _HEAD.size:
        topic, received_ns, size = _HEAD.unpack(head)
        if size > MAX_FRAME_BYTES:
            raise ValueError(f"a frame of {size} bytes: something else than frames was written to the pipe")
        data = stream.read(size)
        if len(data) < size:
            return
        yield Frame(topic, received_ns, data)
