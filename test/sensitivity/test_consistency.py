"""NEES on the range of a covariance, and what lies off it."""

import numpy as np
import pytest

from hybrid_contact_ros.sensitivity.consistency import consistency


def test_errors_of_the_covariance_have_a_ratio_of_one_and_lie_inside():
    rng = np.random.default_rng(0)
    factor = rng.normal(size=(5, 3)) * np.array([1.0, 1e-3, 1e2])  # rank 3 of 5
    found = consistency(rng.normal(size=(4000, 3)) @ factor.T, factor @ factor.T, smallest=1e-7)
    low, high = found.interval(0.999)
    assert found.rank == 3
    assert low < found.ratio < high
    assert found.inside() == pytest.approx(0.95, abs=0.015)
    assert np.abs(found.null).max() < 1e-8 * 1e2  # the axes of a matrix of 1e-16 relative rounding


def test_errors_off_the_range_count_as_null_and_not_in_nees():
    found = consistency([[1.0, 0.5], [-1.0, 0.0]], np.diag([1.0, 0.0]))
    assert found.rank == 1
    np.testing.assert_allclose(found.nees, [1.0, 1.0])
    np.testing.assert_allclose(np.abs(found.null[:, 0]), [0.5, 0.0])


def test_sizes_decide_what_is_small():
    sigma = np.diag([1.0, 1e-8])
    assert consistency([[0.0, 0.0]], sigma, smallest=1e-3).rank == 1
    assert consistency([[0.0, 0.0]], sigma, scale=[1.0, 1e-4], smallest=1e-3).rank == 2


@pytest.mark.parametrize(
    ("errors", "covariance", "scale", "text"),
    [
        ([[1.0, 2.0]], np.eye(3), None, "shapes"),
        ([[1.0, np.nan]], np.eye(2), None, "finite"),
        ([[1.0, 2.0]], np.eye(2), [1.0, 0.0], "positive"),
        ([[1.0, 2.0]], np.zeros((2, 2)), None, "no degrees of freedom"),
    ],
)
def test_what_cannot_be_compared_is_refused(errors, covariance, scale, text):
    with pytest.raises(ValueError, match=text):
        consistency(errors, covariance, scale)
