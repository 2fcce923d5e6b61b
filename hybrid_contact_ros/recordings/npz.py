"""What the readers share: .npz files with clear errors, and twists from poses."""

from __future__ import annotations

import struct
import zlib
from pathlib import Path
from typing import Any
from zipfile import BadZipFile

import numpy as np
from numpy.lib.npyio import NpzFile
from numpy.typing import NDArray
from scipy.spatial.transform import Rotation

Array = NDArray[np.float64]

# What numpy.load and the zip and zlib modules below it raise for a file that is damaged, encrypted or something else.
_DAMAGED = (OSError, EOFError, ValueError, NotImplementedError, RuntimeError, BadZipFile, zlib.error, struct.error)


class MissingArrayError(ValueError):
    """An array that the layout of a recording needs is not in the file; ``name`` is its name."""

    def __init__(self, name: str) -> None:
        super().__init__(f"it has no array {name!r}")


class Arrays(dict[str, Any]):
    """The arrays of an .npz file by name."""

    def __missing__(self, name: str) -> Any:
        raise MissingArrayError(name)


def load(path: Path) -> Arrays:
    """All arrays of an .npz file.

    Raises:
        ValueError: there is no such file, or it cannot be read.
    """
    try:
        data = np.load(path, allow_pickle=False)
        if not isinstance(data, NpzFile):
            raise ValueError("it holds a single array")
        with data:
            return Arrays({name: data[name] for name in data.files})
    except FileNotFoundError:
        raise ValueError(f"no such file: {path}") from None
    except _DAMAGED as error:
        raise ValueError(f"{path} cannot be read as an .npz file: {error}") from None


def names(array: Any) -> tuple[str, ...]:
    """An array of names as plain texts."""
    return tuple(str(name) for name in array)


def require_one_episode(path: Path, episode: int | None) -> None:
    """Refuse the choice of an episode for a file that holds one.

    Raises:
        ValueError: an episode was chosen.
    """
    if episode is not None:
        raise ValueError(f"{path} holds one episode: --episode is for files with several")


def xyzw(wxyz: Array) -> Array:
    """Quaternions (n, 4) in Pinocchio's order."""
    return np.roll(np.asarray(wxyz, np.float64), -1, axis=1)


def twist(position: Array, quaternion: Array, step: float) -> tuple[Array, Array]:
    """Linear and angular velocity (n, 3) in the axes of the base, from poses that are ``step`` s apart.

    They are backward differences, as a driver would make them; the first sample takes those of the second.
    """
    rotation = Rotation.from_quat(quaternion)
    linear_W = np.diff(position, axis=0) / step
    angular = (rotation[:-1].inv() * rotation[1:]).as_rotvec() / step
    linear = rotation[1:].inv().apply(linear_W)
    return np.concatenate((linear[:1], linear)), np.concatenate((angular[:1], angular))
