"""Where the robots of the ``example-robot-data`` package are, for the demo, the benchmarks and the tests."""

from __future__ import annotations

import contextlib
import importlib.metadata
import os
import sys
from collections.abc import Iterator
from pathlib import Path


def example_urdf(relative: str) -> Path:
    """Find a file of example-robot-data, such as ``go2_description/urdf/go2.urdf``.

    It may be in the PyPI package, in sourced ROS workspaces, beside the interpreter or in ``/usr``.

    Raises:
        FileNotFoundError: the package is not installed; the text says how to get it.
    """
    for prefix in _prefixes():
        path = prefix / "share" / "example-robot-data" / "robots" / relative
        if path.is_file():
            return path
    raise FileNotFoundError(
        f"{relative} was not found: install example-robot-data (pip install example-robot-data, or with ROS 2 "
        "apt install ros-$ROS_DISTRO-example-robot-data)"
    )


def _prefixes() -> Iterator[Path]:
    with contextlib.suppress(importlib.metadata.PackageNotFoundError):
        yield Path(str(importlib.metadata.distribution("example-robot-data").locate_file("cmeel.prefix")))
    yield from (Path(p) for p in os.environ.get("AMENT_PREFIX_PATH", "").split(os.pathsep) if p)
    yield from (Path(sys.prefix), Path("/usr/local"), Path("/usr"))
