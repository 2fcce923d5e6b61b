"""The counts of ``benchmarks/house.py`` on a package small enough to count by hand."""

from benchmarks.house import doors, functions

KERNEL = """
from numba import njit


@njit
def solve(a, b, c, d, e, f, g, h, i, j):
    \"\"\"A docstring
    of two lines.\"\"\"
    return inner(a, b)


@njit
def inner(a, b):
    return a
"""
CALLER = """
from hybrid_contact_ros.kernels.room import kernel
from hybrid_contact_ros.kernels.room.other import refine


class Room:
    def go(self, x, *, y, z=1):
        return kernel.solve(*x)
"""


def small_package(tmp_path):
    package = tmp_path / "hybrid_contact_ros"
    (package / "kernels" / "room").mkdir(parents=True)
    (package / "kernels" / "room" / "kernel.py").write_text(KERNEL)
    (package / "caller.py").write_text(CALLER)
    return package


def test_a_door_is_a_kernel_that_python_outside_the_kernels_takes(tmp_path):
    found = doors(small_package(tmp_path))
    assert ("hybrid_contact_ros.kernels.room.kernel", "solve") in found
    assert ("hybrid_contact_ros.kernels.room.other", "refine") in found
    assert ("hybrid_contact_ros.kernels.room.kernel", "inner") not in found


def test_arguments_and_lines_are_counted_without_self_keywords_and_docstring(tmp_path):
    counted = {f.name: f for f in functions(small_package(tmp_path))}
    assert (counted["solve"].arguments, counted["solve"].lines, counted["solve"].code_lines) == (10, 4, 2)
    assert (counted["solve"].door, counted["inner"].door) == (True, False)
    assert counted["go"].arguments == 1
