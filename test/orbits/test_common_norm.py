"""The norm in which several matrices contract: known joint spectral radii, and a check in rational numbers."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from helpers.rational import positive_definite
from hybrid_contact_ros.orbits.common_norm import common_norm, induced_norm


def rational(matrix):
    return np.array([[Fraction(float(x)) for x in row] for row in matrix])


def contracts(norm, matrix, factor):
    """ρ² P − AᵀPA ≻ 0 and P ≻ 0, without rounding."""
    P, A = rational(norm), rational(matrix)
    return positive_definite(P) and positive_definite(Fraction(factor) ** 2 * P - A.T.dot(P).dot(A))


GOLDEN = [np.array([[1.0, 1.0], [0.0, 1.0]]), np.array([[1.0, 0.0], [1.0, 1.0]])]


def test_the_pair_whose_joint_spectral_radius_is_the_golden_ratio():
    norm, factor = common_norm(GOLDEN)
    assert factor == pytest.approx((1.0 + np.sqrt(5.0)) / 2.0, rel=1e-4)
    assert all(contracts(norm, a, factor * (1.0 + 1e-9)) for a in GOLDEN)


def test_of_one_matrix_it_is_the_spectral_radius_even_of_one_that_is_far_from_normal():
    matrix = np.array([[0.99, 100.0], [0.0, 0.99]])
    norm, factor = common_norm([matrix])
    assert 0.99 <= factor < 0.992
    assert contracts(norm, matrix, 0.992)


@settings(max_examples=15, deadline=None)
@given(st.integers(1, 4).flatmap(lambda n: arrays(float, (2, n, n), elements=st.floats(-2.0, 2.0, width=32))))
def test_the_factor_is_proven_and_no_product_grows_faster(matrices):
    norm, factor = common_norm(list(matrices))
    assert all(contracts(norm, a, factor * (1.0 + 1e-6) + 1e-9) for a in matrices)
    a, b = matrices
    for word, length in ((a, 1), (b, 1), (a @ b, 2), (a @ a @ b, 3), (a @ b @ b, 3)):
        assert np.abs(np.linalg.eigvals(word)).max() ** (1.0 / length) <= factor * (1.0 + 1e-4) + 1e-3


@settings(max_examples=15, deadline=None)
@given(st.integers(0, 10_000))
def test_matrices_that_contract_in_some_ellipse_are_found_to(seed):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(2, 6))
    shape = rng.normal(size=(n, n)) + 2.0 * np.eye(n)
    matrices = [rng.normal(size=(n, n)) for _ in range(3)]
    matrices = [np.linalg.inv(shape) @ (0.95 * a / np.linalg.norm(a, 2)) @ shape for a in matrices]
    norm, factor = common_norm(matrices)
    assert factor < 0.951
    assert factor == pytest.approx(max(induced_norm(norm, a) for a in matrices))
