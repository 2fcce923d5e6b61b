"""Moments of a normal distribution cut to a polyhedron."""

from itertools import permutations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import norm

from hybrid_contact_ros.sensitivity.truncated_normal import truncated_normal


@pytest.mark.parametrize("offset", [-6.0, -0.7, 0.0, 2.0])
def test_a_half_space_has_the_moments_of_mills_ratio(offset):
    row = np.array([[3.0, -4.0]])
    probability, mean, covariance = truncated_normal(row, 5.0 * np.array([offset]))
    ratio = norm.pdf(offset) / norm.cdf(offset)
    unit = row[0] / 5.0
    assert probability == pytest.approx(norm.cdf(offset), rel=1e-12)
    np.testing.assert_allclose(mean, ratio * unit, atol=1e-12)
    np.testing.assert_allclose(covariance, np.eye(2) - ratio * (ratio + offset) * np.outer(unit, unit), atol=1e-11)


@pytest.mark.parametrize("angle", [0.05, 1.0, 2.5, 3.1])
def test_a_wedge_has_the_share_of_its_angle_and_the_mean_of_its_arcs(angle):
    rows = np.array([[0.0, 1.0], [np.sin(angle), -np.cos(angle)]])  # 0 ≤ arg ≤ angle
    probability, mean, covariance = truncated_normal(rows, np.zeros(2))
    assert probability == pytest.approx(angle / (2.0 * np.pi), rel=1e-9)
    arc = np.array([np.sin(angle), 1.0 - np.cos(angle)])
    np.testing.assert_allclose(mean, np.sqrt(np.pi / 2.0) * arc / angle, rtol=1e-8)
    assert np.trace(covariance) + mean @ mean == pytest.approx(2.0, rel=1e-8)  # E r² does not know the angle


@given(st.integers(0, 10**6), st.sampled_from([2, 3]))
@settings(max_examples=25, deadline=None)
def test_parts_cut_by_a_plane_add_up_to_the_whole(seed, dimension):
    rng = np.random.default_rng(seed)
    rows, offsets = rng.normal(size=(2, dimension)), rng.normal(size=2)
    plane, level = rng.normal(size=dimension), rng.normal()
    whole = truncated_normal(rows[:1], offsets[:1])

    def sums(parts):
        first = sum(p * m for p, m, _ in parts)
        return sum(p for p, *_ in parts), first, sum(p * (c + np.outer(m, m)) for p, m, c in parts)

    parts = [truncated_normal(np.vstack((rows[:1], s * plane)), np.r_[offsets[:1], s * level]) for s in (1.0, -1.0)]
    for found, expected in zip(sums(parts), sums([whole]), strict=True):
        np.testing.assert_allclose(found, expected, atol=1e-9)


def test_the_orders_of_three_times_fill_the_space():
    rng = np.random.default_rng(4)
    times, shift = rng.normal(size=(3, 5)), rng.normal(size=3)
    total, first, second = 0.0, np.zeros(5), np.zeros((5, 5))
    for order in permutations(range(3)):
        rows = np.diff(times[list(order)], axis=0)
        p, m, c = truncated_normal(rows, np.diff(shift[list(order)]))
        total, first, second = total + p, first + p * m, second + p * (c + np.outer(m, m))
    assert total == pytest.approx(1.0, abs=1e-9)
    np.testing.assert_allclose(first, 0.0, atol=1e-9)
    np.testing.assert_allclose(second, np.eye(5), atol=1e-9)


def test_a_cone_of_three_facets_agrees_with_draws():
    rng = np.random.default_rng(5)
    rows, offsets = rng.normal(size=(3, 3)), np.array([0.3, 0.5, 0.2])
    probability, mean, covariance = truncated_normal(rows, offsets)
    drawn = rng.normal(size=(400_000, 3))
    inside = drawn[(drawn @ rows.T + offsets >= 0.0).all(axis=1)]
    assert probability == pytest.approx(len(inside) / len(drawn), abs=4e-3)
    np.testing.assert_allclose(mean, inside.mean(axis=0), atol=0.02)
    np.testing.assert_allclose(covariance, np.cov(inside.T), atol=0.02)


def test_an_empty_set_has_no_probability():
    probability, mean, covariance = truncated_normal(np.array([[1.0], [-1.0]]), np.array([-1.0, -1.0]))
    assert probability == 0.0
    np.testing.assert_array_equal(mean, [0.0])
    np.testing.assert_array_equal(covariance, [[1.0]])
