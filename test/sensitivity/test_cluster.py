"""The compiled words of clusters of touchdowns, held against ``touchdown_words``, which follows them one by one."""

import copy

import numpy as np
import pinocchio as pin
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import multivariate_normal

from helpers.robot_systems import CORNERS, example, free_body, standing
from hybrid_contact_ros.codes import EventValidity
from hybrid_contact_ros.sensitivity.cluster_solver import ClusterSolver
from hybrid_contact_ros.sensitivity.words import touchdown_words

CROUCH = np.tile([0.0, 0.9, -1.8], 4)


@pytest.fixture(scope="module")
def go2():
    return example("go2", "go2_description/urdf/go2.urdf")


@pytest.fixture(scope="module")
def solver(go2):
    return ClusterSolver(go2)


def landing(model, seed, spread=0.1):
    """A crouched Go2 near the ground that falls at about 1 m/s."""
    rng = np.random.default_rng(seed)
    q = model.neutral()
    q[2], q[7:] = 0.3, CROUCH + spread * rng.normal(size=12)
    v = 0.3 * rng.normal(size=model.nv)
    v[2] = -1.0
    return q, v


def with_material(model, friction, restitution):
    other = copy.copy(model)
    other.friction, other.restitution = np.array(friction, float), np.array(restitution, float)
    return other


def words_of(found):
    return {found.chain(j): j for j in range(found.words)}


def assert_equal_to_the_reference(found, words):
    assert found.status is EventValidity.VALID
    listed = words_of(found)
    assert set(listed) == {word.chain for word in words.words}
    np.testing.assert_allclose(found.times, words.times, atol=1e-6 * np.abs(words.times).max())
    for word in words.words:
        j = listed[word.chain]
        assert found.validity[j] == word.validity
        np.testing.assert_allclose(found.last_time[j], word.time, atol=1e-6 * max(1.0, np.abs(word.time).max()))
        if word.matrix is None:
            assert np.isnan(found.matrix[j]).all()
            continue
        size = np.abs(word.velocity).max()
        np.testing.assert_allclose(found.velocity[j], word.velocity, atol=1e-6 * size)
        large = max(1.0, np.abs(word.acceleration).max())
        np.testing.assert_allclose(found.acceleration[j], word.acceleration, atol=1e-5 * large)
        np.testing.assert_allclose(found.matrix[j], word.matrix, atol=1e-5 * np.abs(word.matrix).max())
        columns = np.array([word.parameter_column(name) for name in found.parameters]).T
        np.testing.assert_allclose(found.parameter_matrix[j], columns, atol=1e-5 * max(1.0, np.abs(columns).max()))


@settings(max_examples=25, deadline=None)
@given(
    seed=st.integers(0, 10**6),
    cluster=st.sampled_from([(0,), (0, 3), (1, 2), (0, 1), (0, 1, 2)]),
    stands=st.booleans(),
    friction=st.sampled_from([0.0, 0.2, 0.6, 1.0]),
    restitution=st.sampled_from([0.0, 0.0, 0.3]),
)
def test_words_and_maps_are_those_of_the_reference(go2, solver, seed, cluster, stands, friction, restitution):
    q, v = landing(go2, seed)
    closed = (3,) if stands and 3 not in cluster else ()
    material = np.full(4, friction), np.full(4, restitution)
    system = with_material(go2, *material)
    found = solver.solve(q, v, cluster, closed, friction=material[0], restitution=material[1])
    try:
        words = touchdown_words(system, q, v, cluster, closed, max_words=64)
    except ValueError:
        assert found.status is not EventValidity.VALID
        assert found.words == 0
        return
    if len(words.words) >= 64:
        return
    assert_equal_to_the_reference(found, words)
    assert found.spread == pytest.approx(words.spread, rel=1e-5)


def test_words_of_four_feet_are_those_of_the_reference(go2, solver):
    q, v = landing(go2, 5)
    v[:] = 0.0
    v[2] = -1.0
    effort = np.r_[np.zeros(6), np.full(12, 3.0)]
    found = solver.solve(q, v, range(4), (), effort)
    assert found.words >= 20
    assert_equal_to_the_reference(found, touchdown_words(go2, q, v, range(4), effort=effort))


def test_ranks_are_those_of_the_blocks_of_the_matrices(go2, solver):
    decided = 0
    for seed, cluster in ((2, [0]), (3, [1, 2]), (4, [0, 1, 2]), (2, range(4))):
        found = solver.solve(*landing(go2, seed), cluster)
        for matrix, rank, code in zip(found.matrix, found.rank, found.validity, strict=True):
            if code != EventValidity.VALID:
                assert rank == 0
                continue
            ranks = sorted(block_rank(matrix, small) for small in (1e-6, 1e-12))
            assert ranks[0] <= rank <= ranks[1]
            decided += ranks[0] == ranks[1]
    assert decided >= 6  # of the others singular values lie in between


def block_rank(matrix, small):
    """The rank of [Q 0; B V], with singular values below ``small`` of the largest taken for zero."""
    q_q, v_q, v_v = matrix[:18, :18], matrix[18:, :18], matrix[18:, 18:]
    _, of_q, right = np.linalg.svd(q_q)
    left, of_v, _ = np.linalg.svd(v_v)
    none_q, none_v = of_q < small * of_q[0], of_v < small * of_v[0]
    missed = left[:, none_v].T @ v_q @ right[none_q].T
    return 36 - none_q.sum() - none_v.sum() + np.linalg.matrix_rank(missed, tol=max(small, 1e-8) * np.abs(v_q).max())


def test_moments_are_those_of_draws(go2, solver):
    q, v = landing(go2, 3, 0.03)
    corner = solver.solve(q, v, [0, 1, 2]).q
    q = go2.integrate(corner, np.r_[0.0, 0.0, 1e-4, 0.0, 0.0, 0.0, np.zeros(12)])
    rng = np.random.default_rng(1)
    root = np.diag(np.r_[np.full(18, 1e-3), np.full(18, 0.05)]) @ (np.eye(36) + 0.1 * rng.normal(size=(36, 36)))
    found = solver.solve(q, v, [0, 1, 2], covariance=root @ root.T)
    moments, k, count = found.moments, 3, 200_000
    assert moments.probability.sum() == pytest.approx(1.0, abs=3e-4)
    assert moments.missing < 3e-3
    np.testing.assert_allclose(moments.time_sigma, np.sqrt(np.diag(found.times @ root @ root.T @ found.times.T)))
    mean = np.r_[pin.difference(go2.pinocchio_model, found.q, q), v - found.velocity_before]
    draws = mean + rng.normal(size=(count, 36)) @ root.T
    gaps = draws @ (found.times * found.speeds[:, None]).T
    after, taken = np.zeros((count, 36)), np.zeros(count, int)
    for j in range(found.words):
        inside = (gaps @ found.cones[j, : found.cone_rows[j], :k].T >= 0.0).all(axis=1)
        after[inside] = draws[inside] @ found.matrix[j].T + np.r_[np.zeros(18), found.velocity[j]]
        taken += inside
        error = 5.0 * np.sqrt(0.25 / count)
        assert inside.mean() == pytest.approx(moments.probability[j], abs=error)
    assert (taken == 1).all()
    sigma = np.sqrt(np.diag(moments.covariance))
    np.testing.assert_allclose((after.mean(axis=0) - moments.mean) / sigma, 0.0, atol=5.0 / np.sqrt(count) + 2e-3)
    seen = np.cov(after.T)
    np.testing.assert_allclose((seen - moments.covariance) / np.outer(sigma, sigma), 0.0, atol=0.03)


@settings(max_examples=20, deadline=None)
@given(seed=st.integers(0, 10**6), far=st.sampled_from([0.0, 1.0, 4.0, 20.0]))
def test_probabilities_are_integrals_of_scipy(go2, solver, seed, far):
    rng = np.random.default_rng(seed)
    q, v = landing(go2, 3, 0.03)
    corner = solver.solve(q, v, [0, 1, 2]).q
    sigma = 10.0 ** rng.uniform(-5, -3)
    q = go2.integrate(corner, far * sigma * np.r_[rng.normal(size=6), np.zeros(12)])
    found = solver.solve(q, v, [0, 1, 2], covariance=sigma**2 * np.eye(36))
    if found.status is not EventValidity.VALID:
        return
    rows = found.times[:, :18] * found.speeds[:, None]
    cover = sigma**2 * rows @ rows.T
    mean = found.gaps  # of the state, to first order: the step to the corner is short
    for j in range(found.words):
        cone = found.cones[j, : found.cone_rows[j]]
        spread = cone @ cover @ cone.T
        size = np.sqrt(np.diag(spread))
        law = multivariate_normal(np.zeros(len(cone)), spread / np.outer(size, size), allow_singular=True, seed=1)
        assert found.moments.probability[j] == pytest.approx(law.cdf(cone @ mean / size), abs=2e-3)


def test_branches_that_are_improbable_are_left_out_and_counted(go2, solver):
    q, v = landing(go2, 3, 0.03)
    corner = solver.solve(q, v, range(4)).q
    q = go2.integrate(corner, np.r_[0.0, 0.0, 0.0, 2e-3, 5e-3, 0.0, np.zeros(12)])
    covariance = np.diag(np.full(36, 1e-3) ** 2)
    whole = solver.solve(q, v, range(4), covariance=covariance)
    some = ClusterSolver(go2, follow=1e-3).solve(q, v, range(4), covariance=covariance)
    assert 0 < some.words < whole.words
    listed = words_of(whole)
    kept = [listed[some.chain(j)] for j in range(some.words)]
    np.testing.assert_array_equal(some.matrix, whole.matrix[kept])
    left_out = np.delete(whole.moments.probability, kept)
    assert left_out.max() < 1e-3
    assert some.moments.missing >= left_out.sum() - 3e-4


def test_a_body_lands_on_a_sphere_and_on_edges_of_a_sole():
    """Redundant rows: two points of an edge share the row along it."""
    model = free_body(CORNERS, friction=0.5)
    solver = ClusterSolver(model)
    q, v = standing(0.06, (0.1, 0.0, -1.0, 0.05, 0.02, 0.0))
    words = touchdown_words(model, q, v, [0, 1])
    assert_equal_to_the_reference(solver.solve(q, v, [0, 1]), words)
    three = touchdown_words(model, q, v, [0, 1, 2])
    assert_equal_to_the_reference(solver.solve(q, v, [0, 1, 2]), three)


def test_answers_are_the_same_bits_and_the_model_stays_as_it_is(go2, solver):
    q, v = landing(go2, 4)
    before = go2.here.mass.copy(), go2.rows.rows.copy()
    first = solver.solve(q, v, [0, 1, 2], covariance=1e-6 * np.eye(36))
    solver.solve(*landing(go2, 9), [0, 3], [1])
    second = solver.solve(q, v, [0, 1, 2], covariance=1e-6 * np.eye(36))
    np.testing.assert_array_equal(first.matrix, second.matrix)
    np.testing.assert_array_equal(first.moments.covariance, second.moments.covariance)
    np.testing.assert_array_equal(before[0], go2.here.mass)
    np.testing.assert_array_equal(before[1], go2.rows.rows)


def test_the_state_is_carried_ahead(go2, solver):
    q, v = landing(go2, 6)
    acceleration = np.r_[0.0, 0.0, -9.0, np.zeros(15)]
    path = 0.01 * v + 0.5 * 1e-4 * acceleration
    there = solver.solve(go2.integrate(q, path), v + 0.01 * acceleration, [0, 1])
    covariance = np.diag(np.r_[np.full(18, 1e-8), np.full(18, 1e-2)])
    found = solver.solve(q, v, [0, 1], ahead=0.01, acceleration=acceleration, covariance=covariance)
    np.testing.assert_allclose(found.q, there.q, atol=1e-12)
    np.testing.assert_allclose(found.matrix, there.matrix, atol=1e-9 * np.abs(there.matrix).max())
    carry = np.kron([[1.0, 0.01], [0.0, 1.0]], np.eye(18))
    expected = np.sqrt(np.diag(found.times @ carry @ covariance @ carry.T @ found.times.T))
    np.testing.assert_allclose(found.moments.time_sigma, expected, rtol=0.02)


def test_caps_and_states_without_words_say_so(go2, solver):
    q, v = landing(go2, 1)
    away = solver.solve(q, -v, [0, 1])
    assert away.status is EventValidity.NOT_TOUCHING
    assert away.words == 0 and away.moments is None and away.why
    many = ClusterSolver(go2, most_contacts=2).solve(q, v, [0, 1, 2])
    assert many.status is EventValidity.CUT and many.words == 0
    few = ClusterSolver(go2, max_words=2).solve(q, v, [0, 1, 2], covariance=1e-6 * np.eye(36))
    assert few.status is EventValidity.CUT and few.words == 2
    short = ClusterSolver(go2, max_impacts=1).solve(q, v, [0, 1], covariance=1e-6 * np.eye(36))
    assert (short.validity == EventValidity.CUT).any()
    assert np.isnan(short.matrix[short.validity == EventValidity.CUT]).all()
    assert short.moments.probability.sum() == pytest.approx(1.0, abs=3e-4)
    lost = q.copy()
    lost[2] = np.nan
    assert solver.solve(lost, v, [0]).status in (EventValidity.SINGULAR, EventValidity.NOT_TOUCHING)


def test_refusals(go2, solver):
    q, v = landing(go2, 1)
    for wrong in ({"most_contacts": 5}, {"max_words": 0}, {"max_impacts": 0}, {"least": 1.0}, {"follow": 0.5}):
        with pytest.raises(ValueError, match=r"must be|probabilit"):
            ClusterSolver(go2, **wrong)
    with pytest.raises(ValueError, match="one set each"):
        solver.solve(q, v, [0], [0])
    with pytest.raises(ValueError, match="one set each"):
        solver.solve(q, v, [])
    with pytest.raises(ValueError, match="shapes"):
        solver.solve(q[1:], v, [0])
    with pytest.raises(ValueError, match="max_words"):
        touchdown_words(go2, q, v, [0], max_words=0)
    with pytest.raises(ValueError, match="max_impacts"):
        touchdown_words(go2, q, v, [0], max_impacts=0)
