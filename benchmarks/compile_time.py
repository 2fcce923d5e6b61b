"""How long the kernels take to compile: on the first start, and after an edit in each folder of kernels.

Run with ``./run bench compile_time``, or ``python benchmarks/compile_time.py [ROOT]`` for another checkout; both need
some minutes. Every row is a fresh process that does what a node does when it is configured: build the estimator and
warm it. Cold: the cache directory is empty. Warm: all kernels are in it. Edited: a comment line more in one file of the
folder. All of it happens in a temporary copy of the package. CPU seconds are of the process and its helper, with their
imports, and wander less than wall seconds on a busy machine. "Stored" counts the compiled kernels that were added to
the cache.
"""

from __future__ import annotations

import argparse
import importlib.metadata
import os
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
_PACKAGE = "hybrid_contact_ros"

_CONFIGURE = f"""
import sys
root, urdf, config = sys.argv[1:]
sys.path.insert(0, root)
import {_PACKAGE} as package
assert package.__file__.startswith(root), package.__file__
configuration = package.EstimatorConfig.from_file(config)
model = package.RigidBodyModel.from_urdf(urdf, configuration)
estimator = package.ContactEstimator(model, configuration)
try:
    from {_PACKAGE}.warming import warm
except ImportError:  # a revision without it
    estimator.warm(freeze=True)
else:
    warm(estimator, open(urdf).read())
"""


def urdfs(root: Path) -> dict[str, Path]:
    """URDF of each robot measured, by the name of its configuration."""
    home = Path(str(importlib.metadata.distribution("example-robot-data").locate_file("cmeel.prefix")))
    return {
        "go2": home / "share/example-robot-data/robots/go2_description/urdf/go2.urdf",
        "cube": root / "config" / "cube.urdf",
    }


def folders(kernels: Path) -> list[Path]:
    """The folders under ``kernels`` that hold kernels, or ``kernels`` itself where it is flat."""
    found = [path for path in sorted(kernels.iterdir()) if path.is_dir() and _with_kernels(path)]
    return found or [kernels]


def _with_kernels(folder: Path) -> list[Path]:
    return [path for path in sorted(folder.glob("*.py")) if path.name != "__init__.py" and "\n@" in path.read_text()]


class Measurement:
    """A copy of the package under ``root`` and its cache directories, both in ``scratch``."""

    def __init__(self, root: Path, scratch: Path) -> None:
        self.copy, self._scratch = scratch / "copy", scratch
        for name in (_PACKAGE, "config"):
            shutil.copytree(root / name, self.copy / name, ignore=shutil.ignore_patterns("__pycache__"))
        self._urdfs = urdfs(self.copy)

    def start(self, label: str, robot: str, cache: str) -> None:
        """Configure once in a fresh process, and print a row."""
        directory = self._scratch / cache
        directory.mkdir(exist_ok=True)
        before = len(list(directory.rglob("*.nbc")))
        environment = os.environ | {"HYBRID_CONTACT_CACHE": str(directory), "OMP_NUM_THREADS": "1"}
        arguments = [self.copy, self._urdfs[robot], self.copy / "config" / f"{robot}.yaml"]
        begin, then = time.perf_counter(), os.times()
        subprocess.run([sys.executable, "-c", _CONFIGURE, *map(str, arguments)], check=True, env=environment)
        wall, now = time.perf_counter() - begin, os.times()
        cpu = now.children_user + now.children_system - then.children_user - then.children_system
        stored = len(list(directory.rglob("*.nbc"))) - before
        print(f"{label:34s} {wall:8.1f} {cpu:8.1f} {stored:8d}", flush=True)

    def edit(self, folder: Path, robot: str, cache: str) -> None:
        """Configure after an edit in ``folder``, which is taken back afterwards."""
        file = _with_kernels(folder)[0]
        kept = Path(shutil.copy2(file, self._scratch / "kept.py"))
        with file.open("a") as stream:
            stream.write("# one line more\n")
        name = folder.relative_to(self.copy / _PACKAGE)
        self.start(f"{robot}, edited {name}", robot, cache)
        shutil.copy2(kept, file)  # with its time of change, which numba compares


def main() -> None:
    parser = argparse.ArgumentParser(description="Measures how long the kernels take to compile.")
    parser.add_argument("root", nargs="?", type=Path, default=ROOT, help="checkout to measure; default: this one")
    root = parser.parse_args().root.resolve()
    with tempfile.TemporaryDirectory() as scratch:
        measurement = Measurement(root, Path(scratch))
        print(f"{'configure':34s} {'wall s':>8s} {'CPU s':>8s} {'stored':>8s}")
        for robot in ("cube", "go2"):
            measurement.start(f"{robot}, cold", robot, robot)
        measurement.start("go2, warm", "go2", "go2")
        for folder in folders(measurement.copy / _PACKAGE / "kernels"):
            measurement.edit(folder, "go2", "go2")


if __name__ == "__main__":
    main()
