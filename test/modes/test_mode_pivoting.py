"""One mode by principal pivoting: it agrees with the enumeration of all modes, for any number of contacts."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from helpers.mode_problems import frictionless, random_problem, seeds
from hybrid_contact_ros.codes import Status
from hybrid_contact_ros.impacts.simultaneous import simultaneous_impact
from hybrid_contact_ros.mechanics.problem import ContactProblem
from hybrid_contact_ros.modes.enumeration import modes_of
from hybrid_contact_ros.modes.impulse_velocity import impulse_velocity_mode
from hybrid_contact_ros.modes.massless import massless_mode
from hybrid_contact_ros.modes.pivoting import pivot_to_mode
from hybrid_contact_ros.modes.pseudo_impulse import pseudo_impulse_mode

pytestmark = pytest.mark.usefixtures("rounding")


@given(seeds, st.integers(0, 6))
def test_without_friction_pivoting_finds_the_only_mode(seed, count):
    problem = frictionless(seed, count, moving=True)
    one, all_modes = (impulse_velocity_mode(problem, range(count), enumerate_all=e) for e in (False, True))
    assert one.status is Status.SOLVED and one.mode == all_modes.mode and all_modes.unique
    assert (one.unique, one.count) == (None, None)
    np.testing.assert_allclose(one.velocity, all_modes.velocity, atol=1e-12 * (1.0 + np.abs(problem.velocity).max()))


@given(seeds, st.integers(1, 5))
def test_with_friction_what_pivoting_finds_satisfies_the_predicate(seed, count):
    problem = random_problem(seed, 6, count, tangents=2, moving=True)
    one, all_modes = (impulse_velocity_mode(problem, range(count), enumerate_all=e) for e in (False, True))
    if one.status is Status.SOLVED:
        assert all_modes.count >= 1
        if all_modes.unique:
            assert one.mode == all_modes.mode
    elif all_modes.status is Status.NONE_FOUND:
        assert one.status is Status.NONE_FOUND


@given(seeds, st.integers(0, 5), st.floats(0.0, 0.3))
def test_pseudo_impulse_by_pivoting_is_one_of_the_enumerated_modes_and_keeps_that_of_the_impulse(seed, count, duration):
    problem = frictionless(seed, count, moving=True)
    one, all_modes = (pseudo_impulse_mode(problem, range(count), duration, enumerate_all=e) for e in (False, True))
    if one.status is Status.SOLVED:
        assert all_modes.status is Status.SOLVED
        assert impulse_velocity_mode(problem, range(count)).mode <= one.mode
        assert not all_modes.unique or one.mode == all_modes.mode


@given(st.lists(st.booleans(), min_size=1, max_size=8), st.integers(0, 2**32 - 1))
def test_predicates_of_p_matrices_are_solved_in_every_order(signs, seed):
    """y = q + A x for a P-matrix A: exactly one mode, whatever q (Murty 1972)."""
    n = len(signs)
    rng = np.random.default_rng(seed)
    A = rng.normal(size=(n, n))
    A = A @ A.T + 0.1 * np.eye(n) + 0.5 * (A - A.T)
    q = np.where(signs, 1.0, -1.0) * rng.uniform(0.1, 1.0, n)

    def holds(mask, k):
        index = [i for i in range(n) if mask >> i & 1]
        return bool(np.linalg.solve(A[np.ix_(index, index)], -q[index])[index.index(k)] > 0)

    found, singular = pivot_to_mode(n, holds)
    assert found == modes_of(n, holds)[0] and not singular


def test_thirty_contacts_without_friction_agree_with_the_impulses_of_the_lcp():
    rng = np.random.default_rng(3)
    problem = ContactProblem(
        np.diag(rng.uniform(0.5, 2.0, 36)),
        rng.normal(size=36),
        rng.normal(size=(30, 36)),
        np.zeros((30, 1, 36)),
        np.zeros(30),
    )
    solution = impulse_velocity_mode(problem, range(30))
    assert solution.status is Status.SOLVED and solution.unique is None
    np.testing.assert_allclose(solution.velocity, simultaneous_impact(problem, 2).velocity, atol=1e-8)
    with pytest.raises(ValueError, match="30 contacts touch; up to 12 are enumerated"):
        impulse_velocity_mode(problem, range(30), enumerate_all=True)


def test_massless_limbs_with_many_contacts():
    """Fifteen carts, each with a massless probe that a motor presses down or pulls up: the pressed ones touch.

    On the massless coordinate the forces balance, so that the contact force is that of the motor.
    """
    n = 15
    press = np.where(np.arange(n) % 3 == 0, -1.0, 1.0) * np.linspace(1.0, 2.0, n)
    mass = np.diag(np.r_[np.ones(n), np.zeros(n)])
    normal = np.hstack((np.eye(n), np.eye(n)))
    problem = ContactProblem(
        mass, np.zeros(2 * n), normal, np.zeros((n, 1, 2 * n)), np.zeros(n), bias_force=np.r_[np.ones(n), press]
    )
    solution = massless_mode(problem, frozenset(range(n)), 1e-6)
    assert solution.status is Status.SOLVED and solution.count is None
    assert solution.mode == frozenset(np.flatnonzero(press > 0).tolist())
    np.testing.assert_allclose(solution.forces[:, 0], np.maximum(press, 0.0), atol=1e-9)
