"""The comparison of two processors, and the list of the tests that run on an emulated one."""

import numpy as np
import pytest

from benchmarks.aarch64 import TOLERANCE, compare, difference


def test_differences_are_relative_to_the_largest_number():
    assert difference([1.0, 100.0], [1.0, 100.0]) == 0.0
    assert difference([1.0, 100.0], [2.0, 100.0]) == pytest.approx(0.01)
    assert difference([np.nan, np.inf, 1.0], [np.nan, np.inf, 1.0]) == 0.0
    assert difference([], []) == 0.0


@pytest.mark.parametrize("other", [[1.0], [1.0, np.nan], [1.0, np.inf], []])
def test_what_cannot_be_compared_differs_without_bound(other):
    assert difference([1.0, 2.0], other) == np.inf
    assert difference([np.inf], [-np.inf]) == np.inf


def test_a_comparison_sees_numbers_that_differ_and_those_that_are_missing():
    def made(**numbers):
        return {"machine": "one", "parts": {"modes": numbers}}

    assert compare(made(a=[1.0]), made(a=[1.0 + 0.1 * TOLERANCE]))
    assert not compare(made(a=[1.0]), made(a=[1.0 + 10.0 * TOLERANCE]))
    assert not compare(made(a=[1.0], b=[1.0]), made(a=[1.0]))
    assert not compare(made(a=[1.0]), made(a=[1.0], b=[]))


def test_the_tests_for_an_emulated_processor_exist(root):
    named = (root / "test" / "aarch64.txt").read_text().splitlines()
    for line in named:
        path, _, name = line.partition("::")
        assert f"def {name.partition('[')[0]}" in (root / path).read_text()
