"""The readers of published recordings by the name of their layout.

Each reader gives what the sensors of a robot on ROS would: joint states, the pose of the base with its twist in the
axes of the base, and what is known of the contacts. The layout of the arrays stands in the docstring of the reader.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

from hybrid_contact_ros.recordings.cube import read_cube
from hybrid_contact_ros.recordings.go2 import read_go2
from hybrid_contact_ros.recordings.npz import MissingArrayError
from hybrid_contact_ros.recordings.recording import Recording
from hybrid_contact_ros.recordings.robots import read_cassie, read_hopper, read_icub

READERS: Mapping[str, Callable[[Path, int | None], Recording]] = {
    "cube": read_cube,
    "go2": read_go2,
    "cassie": read_cassie,
    "icub": read_icub,
    "hopper": read_hopper,
}


def read(kind: str, path: str | Path, episode: int | None = None) -> Recording:
    """Read one recording.

    Args:
        kind: its layout, a key of :data:`READERS`.
        path: the .npz file.
        episode: which episode, for a file with several.

    Raises:
        ValueError: there is no such file, it is no .npz file, or it is not of that kind.
    """
    try:
        return READERS[kind](Path(path), episode)
    except MissingArrayError as error:
        raise ValueError(f"{path} is not a {kind} recording: {error}") from None
