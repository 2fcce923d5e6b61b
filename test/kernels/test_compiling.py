"""The decorator of all kernels: what Python and other kernels see of a kernel, with numba's own way beside it."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
KERNELS = """
from typing import NamedTuple

import numpy as np

from hybrid_contact_ros.kernels.compiling import DEFERRED, kernel


class Line(NamedTuple):
    slope: float
    values: object


@kernel(forceinline=True)
def at(line, i):
    return line.slope * line.values[i] / line.values[0]


@kernel
def total(line, count):
    found = 0.0
    for i in range(count):
        found += at(line, i)
    return found


@kernel(allocates=True)
def copied(values):
    made = np.empty(values.shape[0])
    made[:] = values
    return total(Line(3.0, made), 2)


@kernel
def door(slope, values, out):
    line = Line(slope, values)
    out[0] = total(line, 1)  # a literal count, and
    out[1] = total(line, values.shape[0])  # a variable one
    out[2] = copied(values)
"""
USE = """
import numpy as np
from lines import DEFERRED, Line, at, door, total

out = np.zeros(3)
door(2.0, np.array([1.0, 0.1, 0.7]), out)
one = len(door.signatures), len(total.signatures)
zero = np.zeros(1)
with np.errstate(all="ignore"):
    print(DEFERRED, *one, out.tolist(), at(Line(1.0, zero), 0), total(Line(2.0, np.ones(3)), 3), len(total.signatures))
"""


def run(folder: Path, **environment: str) -> str:
    """What a process prints that imports the kernels above and calls the door."""
    (folder / "lines.py").write_text(KERNELS)
    env = {**os.environ, "PYTHONPATH": f"{ROOT}{os.pathsep}{folder}", "NUMBA_CACHE_DIR": str(folder), **environment}
    result = subprocess.run([sys.executable, "-c", USE], env=env, capture_output=True, text=True, timeout=300)
    assert result.returncode == 0, result.stderr
    return result.stdout.strip()


@pytest.fixture(scope="module")
def deferred(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("kernels")
    if not run(folder).startswith("True"):
        pytest.skip("this numba's own names are not known, so that kernels are numba's own functions")
    return folder


def test_a_kernel_that_a_kernel_calls_is_compiled_within_its_door(deferred):
    again = run(deferred)  # from the cache
    assert again.startswith("True 1 0 ")
    assert again.endswith(" 1"), "called from Python it is a door itself"


PRINTING = """
from hybrid_contact_ros.kernels.compiling import kernel


@kernel
def inner(i):
    print(i)
    return i + 1


@kernel
def outer(i):
    return inner(i)


print("answer", outer(3))
"""


def test_a_kernel_that_kernels_call_is_refused_where_it_prints_instead_of_hanging(deferred, tmp_path):
    (tmp_path / "printing.py").write_text(PRINTING)
    env = {**os.environ, "PYTHONPATH": str(ROOT), "NUMBA_CACHE_DIR": str(tmp_path)}
    command = [sys.executable, str(tmp_path / "printing.py")]
    ours = subprocess.run(command, env=env, capture_output=True, text=True, timeout=300)
    assert "cannot print; set the environment variable HYBRID_CONTACT_PLAIN_NUMBA=1" in ours.stderr
    env["HYBRID_CONTACT_PLAIN_NUMBA"] = "1"
    plain = subprocess.run(command, env=env, capture_output=True, text=True, timeout=300)
    assert plain.stdout.split() == ["3", "answer", "4"]


def test_every_kernel_of_the_package_has_this_decorator():
    kernels = ROOT / "hybrid_contact_ros" / "kernels"
    others = [path for path in kernels.rglob("*.py") if path.name != "compiling.py"]
    assert [path.name for path in others if "njit" in path.read_text()] == []


def test_results_are_those_of_numbas_own_way_to_the_bit(deferred, tmp_path):
    plain = run(tmp_path, HYBRID_CONTACT_PLAIN_NUMBA="1")
    assert plain.startswith("False 1 ")
    ours, theirs = ([text.split("[")[1].rsplit(" ", 1)[0]] for text in (run(deferred), plain))
    assert ours == theirs
    assert "nan" in ours[0], "division by zero follows IEEE 754 and raises nothing"
