"""Fewer points that draw the same picture."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hybrid_contact_ros.reporting.decimation import m4, merged, runs

VALUES = st.lists(st.one_of(st.floats(-1e3, 1e3), st.just(float("nan"))), min_size=1, max_size=300)


@given(VALUES, st.integers(1, 20))
def test_each_column_keeps_its_ends_and_extremes(values, columns):
    y = np.array(values)
    t = 0.01 * np.arange(y.size)
    keep = m4(t, y, columns)
    assert np.all(np.diff(keep) > 0)
    assert {0, y.size - 1} <= set(keep.tolist())
    if y.size <= 4 * columns:
        assert keep.size == y.size
        return
    column = np.minimum(((t - t[0]) * (columns / (t[-1] - t[0]))).astype(int), columns - 1)
    for k in np.unique(column):
        ours, kept = y[column == k], y[keep[column[keep] == k]]
        if np.isfinite(ours).any():
            assert np.nanmin(kept) == np.nanmin(ours) and np.nanmax(kept) == np.nanmax(ours)


@given(VALUES, st.integers(1, 5))
def test_a_gap_in_a_line_stays_where_it_is(values, columns):
    y = np.array(values)
    keep = m4(0.01 * np.arange(y.size), y, columns)
    change = np.flatnonzero(np.isnan(y[1:]) != np.isnan(y[:-1]))
    assert set(change.tolist()) | set((change + 1).tolist()) <= set(keep.tolist())


def test_windows_stay_whole():
    t = 0.002 * np.arange(50_000)
    keep = m4(t, np.sin(t), 100, [(10.0, 10.5), (99.0, 200.0)])
    inside = np.flatnonzero(((t >= 10.0) & (t <= 10.5)) | (t >= 99.0))
    assert set(inside.tolist()) <= set(keep.tolist())
    assert keep.size <= 400 + inside.size


@given(st.lists(st.integers(0, 3), min_size=1, max_size=60))
def test_runs_say_the_same_as_the_codes(codes):
    t = np.cumsum(np.linspace(0.001, 0.01, len(codes)))
    begins, ends, values = runs(t, np.array(codes), 5.0)
    assert ends[-1] == 5.0
    assert np.all(begins[1:] == ends[:-1]) and np.all(np.diff(values) != 0)
    told = values[np.searchsorted(begins, t, side="right") - 1]
    assert told.tolist() == codes


def test_the_shortest_pauses_are_closed_and_the_longest_of_these_is_told():
    begins, ends = np.array([0.0, 2.0, 3.1, 10.0]), np.array([1.0, 3.0, 4.0, 11.0])
    one, other, pause = merged(begins, ends, 2)
    assert one.tolist() == [0.0, 10.0] and other.tolist() == [4.0, 11.0]
    assert pause == pytest.approx(1.0)
    assert merged(begins, ends, 4)[2] == 0.0
