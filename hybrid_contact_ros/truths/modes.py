"""A recorded ``ContactMode`` as the track of an estimator: with probabilities, predicted events and their bounds."""

from __future__ import annotations

from typing import Any

import numpy as np

from hybrid_contact_ros.bags.reader import BagReader
from hybrid_contact_ros.bags.unreadable import BagError
from hybrid_contact_ros.scoring.track import Track, of_one_clock

CONTACT_MODE = "hybrid_contact_msgs/msg/ContactMode"

_FIELDS = ("probability", "next_event", "time_to_event", "time_to_event_earliest", "time_to_event_latest")


def mode_track(reader: BagReader, topic: str) -> tuple[Track, list[str]]:
    """The track of a topic of ContactMode, and what a user should know of how it was read.

    A message that cannot be read, is not newer than the one before, is of a clock that was set, or has other contacts
    is left out.

    Raises:
        BagError: the topic is not there or holds less than two states.
    """
    reader.require({topic: CONTACT_MODE})
    rows: list[tuple[int, list[bool], list[list[float]], bool]] = []
    names: tuple[str, ...] | None = None
    frames: tuple[str, ...] = ()
    left_out = 0
    for _, _, data in reader.messages([topic], raw=[topic]):
        try:
            msg: Any = reader.deserialize(data, CONTACT_MODE)
        except BagError:
            left_out += 1
            continue
        here = tuple(c.name for c in msg.contacts)
        stamp = msg.header.stamp.sec * 1_000_000_000 + msg.header.stamp.nanosec
        if names is None:
            names, frames = here, tuple(c.frame for c in msg.contacts)
        if here != names:
            left_out += 1
            continue
        closed = [bool(msg.mode >> i & 1) for i in range(len(names))]
        values = [[float(getattr(c, name, np.nan)) for c in msg.contacts] for name in _FIELDS]
        valid = [bool(getattr(c, "time_bounds_valid", False)) for c in msg.contacts]
        rows.append((stamp, closed, values, all(valid)))
    kept = of_one_clock(np.array([row[0] for row in rows], np.int64)).tolist()
    left_out += kept.count(False)
    rows = [row for row, is_kept in zip(rows, kept, strict=True) if is_kept]
    if names is None or not names or len(rows) < 2:
        raise BagError(f"{topic} has less than two states of contacts")
    m = len(names)
    foretells = any(kind for row in rows for kind in row[2][1])  # a truth or a detector foretells nothing
    table = np.array([row[2] for row in rows], np.float64).reshape(len(rows), len(_FIELDS), m)
    track = Track(
        stamps_ns=np.array([row[0] for row in rows], np.int64),
        names=names,
        frames=frames,
        closed=np.array([row[1] for row in rows], bool).reshape(-1, m),
        probability=table[:, 0],
        next_event=np.nan_to_num(table[:, 1]).astype(np.uint8) if foretells else None,
        time_to_event=table[:, 2] if foretells else None,
        earliest=table[:, 3] if foretells else None,
        latest=table[:, 4] if foretells else None,
        bounds_valid=np.repeat([[row[3]] for row in rows], m, axis=1) if foretells else None,
    )
    return track, [f"{left_out} messages of {topic} are left out: unreadable, not newer, or of others"] * bool(left_out)
