"""Lemke's method against textbook problems and a plain numpy version."""

import numpy as np
import pytest

from benchmarks.impact_problems import KINDS, enumerate_lcp, halm_posa_lcp, numpy_lemke, random_problem
from hybrid_contact_ros.codes import Status
from hybrid_contact_ros.kernels.impacts.lemke import lcp_residual, lemke

pytestmark = pytest.mark.usefixtures("rounding")


def run(W, q, limit=1000):
    W, q = np.array(W, dtype=float, order="C"), np.array(q, dtype=float)
    n = len(q)
    z = np.empty(n)
    status, pivots = lemke(limit, W, q, np.empty((n, 2 * n + 2)), np.empty(n, dtype=np.int64), z)
    return Status(status), z, pivots


def test_cottle_pang_stone_positive_definite_example():
    status, z, _ = run([[2, 1], [1, 2]], [-5, -6])
    assert status == Status.SOLVED
    np.testing.assert_allclose(z, [4 / 3, 7 / 3], atol=1e-14)


def test_no_pivot_where_q_is_non_negative():
    status, z, pivots = run(np.eye(3), [0, 1, 2])
    assert (status, pivots) == (Status.SOLVED, 0)
    assert not z.any()


def test_empty_problem():
    assert run(np.zeros((0, 0)), np.zeros(0))[0] == Status.SOLVED


def test_ray_where_there_is_no_solution():
    assert run([[-1.0]], [-1.0])[0] == Status.RAY


def test_pivot_limit():
    assert run([[2, 1], [1, 2]], [-5, -6], limit=1)[0] == Status.PIVOT_LIMIT


@pytest.mark.parametrize("kind", KINDS)
def test_h75_is_solved_as_numpy_lemke_solves_it(kind):
    rng = np.random.default_rng(2)
    for _ in range(15):
        problem = random_problem(rng, kind, m=int(rng.integers(1, 4)))
        W, w, _ = halm_posa_lcp(problem, rng.uniform(0, 1, problem.contacts), 4)
        status, z, _ = run(W, w)
        slow = numpy_lemke(W, w)
        if slow is not None and lcp_residual(W, w, slow) < 1e-9:
            assert status == Status.SOLVED
        if status == Status.SOLVED:
            assert lcp_residual(W, w, z) < 1e-7 * max(1.0, np.abs(W).max())


def test_a_tiny_problem_finds_one_of_the_enumerated_solutions():
    rng = np.random.default_rng(4)
    for _ in range(20):
        problem = random_problem(rng, "plain", m=2, d=1)
        W, w, impulse = halm_posa_lcp(problem, rng.uniform(0, 1, 2), 2)
        status, z, _ = run(W, w)
        assert status == Status.SOLVED
        assert min(np.abs(impulse(z) - impulse(other)).max() for other in enumerate_lcp(W, w)) < 1e-9
