"""Sequential impacts, H §2.2.2."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from benchmarks.impact_problems import KINDS, random_problem
from helpers.rounding import terms
from hybrid_contact_ros.codes import Status
from hybrid_contact_ros.impacts.sequential import sequential_impact, sequential_path
from hybrid_contact_ros.impacts.simultaneous import simultaneous_impact
from hybrid_contact_ros.mechanics.problem import ContactProblem
from hybrid_contact_ros.sensitivity.angles import constraint_angles
from hybrid_contact_ros.systems.box_and_wall import box_and_wall_impact
from hybrid_contact_ros.systems.compass_gait import compass_gait_impact
from hybrid_contact_ros.systems.disk_stacking import disk_stacking_impact
from hybrid_contact_ros.systems.rocking_block import rocking_block_impact

pytestmark = pytest.mark.usefixtures("rounding")


def test_rocking_block_pivots_off_the_corner_hit_first_as_in_h_figure_1():
    """A first: A lifts off at 0.0930 m/s and B rests; and the other way round. Two impacts each."""
    problem = rocking_block_impact().problem
    for order, lifted in (([0, 1], 0), ([1, 0], 1)):
        outcome, path = sequential_path(problem, order)
        assert (outcome.status, outcome.steps) == (Status.SOLVED, 2)
        expected = np.zeros(2)
        expected[lifted] = 0.0930183852794704
        np.testing.assert_allclose(problem.normal_jacobian @ outcome.velocity, expected, atol=1e-12)
        np.testing.assert_allclose(problem.tangent_jacobian[:, 0] @ outcome.velocity, 0.0, atol=1e-12)
        middle = problem.normal_jacobian @ path[1]
        np.testing.assert_allclose(middle[[lifted, 1 - lifted]], [0.0, -0.132883407542101], atol=1e-12)
        np.testing.assert_array_equal(path[0], problem.velocity)
        np.testing.assert_array_equal(path[-1], outcome.velocity)


def test_box_keeps_sliding_and_leaves_the_wall_as_in_h_figure_5():
    problem = box_and_wall_impact().problem
    for order, impacts in (([0, 1], 3), ([1, 0], 2)):  # A alone does not approach at first: its impact is none
        outcome = sequential_impact(problem, order)
        assert (outcome.status, outcome.steps) == (Status.SOLVED, impacts)
        np.testing.assert_allclose(problem.normal_jacobian @ outcome.velocity, [0, 0.105642286541841], atol=1e-12)
        assert problem.tangent_jacobian[0, 0] @ outcome.velocity == pytest.approx(0.30576480579162, abs=1e-12)


def test_compass_gaits_leading_foot_alone_lifts_the_trailing_one():
    problem = compass_gait_impact().problem
    outcome = sequential_impact(problem, [0, 1])
    assert (outcome.status, outcome.steps) == (Status.SOLVED, 1)
    assert (problem.normal_jacobian @ outcome.velocity)[1] > 0.05


@settings(max_examples=60)
@given(st.integers(0, 2**32 - 1), st.integers(1, 5), st.permutations(range(5)))
def test_orthogonal_contacts_may_be_resolved_in_any_order_p14(seed, m, order):
    """Where ⟨Dφ_i, Dφ_j⟩ = 0, frictionless, every order is the simultaneous impact."""
    rng = np.random.default_rng(seed)
    root = rng.normal(size=(6, 6))
    mass = root @ root.T + 0.5 * np.eye(6)
    factor = np.linalg.cholesky(mass)
    rows = np.linalg.qr(rng.normal(size=(6, 6)))[0][:m] * rng.uniform(0.3, 3.0, (m, 1)) @ factor.T
    problem = ContactProblem(mass, rng.normal(size=6), rows, rng.normal(size=(m, 1, 6)), np.zeros(m))
    np.testing.assert_allclose(constraint_angles(problem), np.eye(m), atol=1e-9)
    together = simultaneous_impact(problem)
    outcome = sequential_impact(problem, [i for i in order if i < m])
    assert outcome.status == Status.SOLVED
    assert outcome.steps <= m
    np.testing.assert_allclose(outcome.velocity, together.velocity, atol=1e-9)
    np.testing.assert_allclose(outcome.impulse, together.impulse, atol=1e-8)


@settings(max_examples=80)
@given(st.sampled_from(KINDS), st.integers(0, 2**32 - 1), st.randoms(use_true_random=False))
def test_sequences_lose_energy_and_end_only_where_no_contact_approaches(kind, seed, random):
    problem = random_problem(np.random.default_rng(seed), kind)
    order = [random.randrange(problem.contacts) for _ in range(2)] + list(range(problem.contacts))
    outcome, path = sequential_path(problem, order, max_impacts=60)
    energy = np.einsum("si,ij,sj->s", path, problem.mass, path)
    assert (np.diff(energy) <= 1e-9 * energy[0]).all()
    assert outcome.residual < 1e-9
    assert outcome.steps == len(path) - 1 <= 60
    approach = (problem.normal_jacobian @ outcome.velocity).min(initial=0.0)
    if outcome.status == Status.SOLVED:
        assert approach >= -1e-7 * terms(problem.normal_jacobian, problem.velocity).max()
    else:
        assert outcome.status == Status.STEP_LIMIT
        assert outcome.steps == 60
        assert approach < 0.0
    momentum = problem.mass @ (outcome.velocity - problem.velocity)
    expected = problem.jacobian().T @ outcome.impulse.ravel()
    np.testing.assert_allclose(momentum, expected, atol=1e-8 * max(1.0, np.abs(expected).max()))


def test_a_sequence_that_does_not_end_is_a_status():
    """The impacts of the disk stack, one by one, go on for ever, ever smaller."""
    problem = disk_stacking_impact().problem
    cut = sequential_impact(problem, range(5), max_impacts=10)
    assert (cut.status, cut.steps) == (Status.STEP_LIMIT, 10)
    assert sequential_impact(problem, range(5)).steps > 50


def test_a_contact_left_out_ends_the_sequence_unterminated():
    outcome = sequential_impact(rocking_block_impact().problem, [0])
    assert outcome.status == Status.STEP_LIMIT
    assert outcome.steps == 2  # the second time nothing happens
    assert not outcome.impulse[1].any()


def test_no_approach_needs_no_impact():
    problem = rocking_block_impact().problem.with_velocity([0.5, 1.0, 0.1])
    outcome = sequential_impact(problem, [1, 0])
    assert (outcome.status, outcome.steps) == (Status.SOLVED, 0)
    np.testing.assert_array_equal(outcome.velocity, problem.velocity)
    assert sequential_impact(problem.select([]), []).status == Status.SOLVED


@pytest.mark.parametrize(
    ("order", "options", "message"),
    [([], {}, "order"), ([2], {}, "order"), ([0.5], {}, "order"), ([0], {"max_impacts": 0}, "max_impacts"),
     ([0], {"directions": 3}, "directions")],
)  # fmt: skip
def test_wrong_arguments_are_named(order, options, message):
    with pytest.raises(ValueError, match=message):
        sequential_impact(rocking_block_impact().problem, order, **options)
