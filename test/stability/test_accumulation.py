"""Zeno points of given sequences of impacts."""

import numpy as np
import pytest

from hybrid_contact_ros.stability.accumulation import Impact, limit_of


def sequence(times, words):
    return [Impact(t, words[i % len(words)], np.array([t, 3.0, -2.0 * t])) for i, t in enumerate(times)]


def test_geometric_intervals_are_summed_exactly():
    times = 1.0 - 0.5 ** np.arange(6)
    found = limit_of(sequence(times, [(0,)]))
    assert found.t == pytest.approx(1.0, abs=1e-14) and found.error < 1e-14
    assert (found.period, found.contacts) == (1, (0,)) and found.ratio == pytest.approx(0.5)
    np.testing.assert_allclose(found.y, [1.0, 3.0, -2.0], atol=1e-14)


def test_periods_of_two_contacts_with_unlike_intervals():
    lengths = np.outer(0.6 ** np.arange(6), [1.0, 0.3]).reshape(-1)
    found = limit_of(sequence(np.cumsum(lengths), [(0,), (1,)]))
    assert (found.period, found.contacts) == (2, (0, 1))
    assert found.t == pytest.approx(1.3 / 0.4, abs=1e-12) and found.ratio == pytest.approx(0.6**0.5)


def test_error_bounds_that_of_a_disturbed_geometric_sequence():
    k = np.arange(12)
    lengths = 0.7**k * (1 + 0.2 * 0.49**k)
    limit = 1 / 0.3 + 0.2 / (1 - 0.343)
    for n in range(5, 12):
        found = limit_of(sequence(np.cumsum(lengths[:n]), [(0,)]))
        assert abs(found.t - limit) < found.error


@pytest.mark.parametrize(
    "times", [[0, 1, 2, 3, 4], [0, 1, 1.5], [0, 1, 2.5, 4.5, 7.0], [0, 1, 1.99, 2.97, 3.9402]], ids=str
)
def test_regular_few_growing_or_hardly_shrinking_intervals_have_no_limit(times):
    assert limit_of(sequence(times, [(0,)])) is None


def test_no_limit_without_a_repeating_word():
    words = [(0,), (1,), (0, 1), (1,), (0,), (0,), (1,), (0, 1)]
    assert limit_of(sequence(1.0 - 0.5 ** np.arange(8), words)) is None
