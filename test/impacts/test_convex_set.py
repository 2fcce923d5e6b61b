"""Distances to a convex set of velocities, against a slow search of all corners and against their own proofs."""

from __future__ import annotations

from itertools import product
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import nnls

from hybrid_contact_ros import ContactProblem, PostImpactVelocitySetReader, post_impact_set, simultaneous_impact
from hybrid_contact_ros.bags.typestore import message_types
from hybrid_contact_ros.codes import Status
from hybrid_contact_ros.impacts.convex_set import ConvexSet, convex_set
from hybrid_contact_ros.impacts.outcome import VelocitySet
from hybrid_contact_ros.messages.serialized_encoding import SerializedEncoder
from hybrid_contact_ros.prediction import ImpactPrediction


def mass_of(rng, n, spread=1e3):
    turn = np.linalg.qr(rng.normal(size=(n, n)))[0]
    return turn * np.geomspace(1.0, spread, n) @ turn.T


def slow_distance(one: ConvexSet, v) -> float:
    """By non-negative least squares over all corners, without the margin."""
    L = np.linalg.cholesky(one.mass)
    g = len(one.generators)
    signs = np.array(list(product((-1.0, 1.0), repeat=g))).reshape(2**g, g)
    corners = ((one.velocities[:, None] + signs @ one.generators).reshape(-1, len(v)) - v) @ L
    scale = np.abs(corners).max() + 1e-300
    A = np.vstack([corners.T / scale, np.full(len(corners), 1e3)])
    weights = nnls(A, np.r_[np.zeros(len(v)), 1e3], maxiter=10**5)[0]
    return float(np.linalg.norm(weights / weights.sum() @ corners))


def farthest(one: ConvexSet, v) -> float:
    L = np.linalg.cholesky(one.mass)
    reach = np.linalg.norm((one.velocities - v) @ L, axis=1).max() + np.linalg.norm(one.generators @ L, axis=1).sum()
    return reach + 1e-5 * np.linalg.norm(v @ L)  # 1e-9 of which is far more than v is rounded by


def assert_proven(one: ConvexSet, v):
    """The bounds by their witnesses alone: a point of the set, and a plane that nothing of the set is beyond."""
    found, scale = one.nearest(v), farthest(one, v)
    room = 1e-9 * scale
    rounded = 64 * np.finfo(float).eps * len(v) * scale**2 / max(found.upper, 1e-300)  # near the set it is all there is
    assert found.status == Status.SOLVED and found.upper - found.lower <= room + rounded
    assert (
        (found.share >= 0.0).all() and abs(found.share.sum() - 1.0) < 1e-12 and (np.abs(found.part) <= 1 + 1e-12).all()
    )
    point = found.share @ one.velocities + found.part @ one.generators
    apart = point - v
    assert np.isclose(np.sqrt(apart @ one.mass @ apart), found.upper, rtol=1e-9, atol=room)
    if found.normal.any():
        assert np.isclose(found.normal @ np.linalg.solve(one.mass, found.normal), 1.0, rtol=1e-9)
        least = ((one.velocities - v) @ found.normal).min() - np.abs(one.generators @ found.normal).sum()
        assert least >= found.lower - room
    else:
        assert found.lower == 0.0 and found.upper <= room
    assert found.distance == (max(0.0, found.upper - one.margin) if found.normal.any() else 0.0)
    return found


@st.composite
def problems(draw):
    """Sets of few or equal points, of no or parallel generators, flat or full, near the velocity or far from it."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    n, k, g = draw(st.integers(1, 6)), draw(st.integers(1, 8)), draw(st.integers(0, 6))
    rank = draw(st.integers(0, n))
    flat = rng.normal(size=(rank, n))
    points = rng.normal(size=(k, rank)) @ flat + rng.normal(size=n)
    generators = rng.normal(size=(g, rank)) @ flat * 10.0 ** draw(st.integers(-4, 1))
    if draw(st.booleans()):
        points = points[rng.integers(0, k, k + 2)]
    if g > 1 and draw(st.booleans()):
        generators[-1] = -0.5 * generators[0]
    if draw(st.booleans()):
        points, generators = np.round(points, 1), np.round(generators, 1)
    inside = draw(st.booleans())
    share = rng.dirichlet(np.ones(len(points)))
    v = share @ points + rng.uniform(-1, 1, g) @ generators
    if not inside:
        v = v + rng.normal(size=n) * 10.0 ** draw(st.integers(-6, 3))
    return ConvexSet(points, generators, 0.0, mass_of(rng, n), 1.0), v, inside


@settings(max_examples=300, deadline=None)
@given(problems())
def test_a_distance_is_that_of_the_slow_search_and_its_proof_holds(problem):
    one, v, inside = problem
    found = assert_proven(one, v)
    scale = farthest(one, v)
    assert abs(found.upper - slow_distance(one, v)) <= 1e-6 * scale
    if inside:
        assert found.distance <= 1e-9 * scale


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 2**32 - 1), st.integers(6, 44), st.integers(0, 60), st.floats(-3.0, 1.0))
def test_a_robots_sets_have_proven_distances(seed, n, g, size):
    """Hundreds of points, some tens of generators, in a part of a robot's coordinates."""
    rng = np.random.default_rng(seed)
    part = rng.normal(size=(min(n, 12), n))
    points = 10.0**size * rng.normal(size=(256, len(part))) @ part
    generators = 0.1 * 10.0**size * rng.normal(size=(g, len(part))) @ part
    assert_proven(ConvexSet(points, generators, 0.0, mass_of(rng, n), 1.0), rng.normal(size=n))


def test_a_margin_is_taken_from_the_distance_and_never_below_none():
    M = np.diag([4.0, 1.0])
    points, axes = np.array([[0.0, 0.0], [0.0, 2.0]]), np.array([[1.0, 0.0]])
    one = ConvexSet(points, axes, 0.5, M, 2.0)
    assert one.distance([2.0, 1.0]) == pytest.approx(1.5)  # kinetic norm: 2 (2 − 1) − 0.5
    assert one.distance([1.2, 1.0]) == 0.0 and one.distance([0.3, 0.9]) == 0.0
    assert one.distance([1.0, 5.0]) == pytest.approx(2.5)
    np.testing.assert_allclose(one.half_widths, [(2.0 + 0.5) / 2, (1.0 + 0.5) / 2])
    assert one.half_width == pytest.approx(1.0)
    assert one.radius == pytest.approx((np.sqrt(5.0) + 0.5) / 2)


def test_a_single_point_has_the_distance_of_the_kinetic_norm_and_no_size():
    rng = np.random.default_rng(0)
    M, p, v = mass_of(rng, 5), rng.normal(size=5), rng.normal(size=5)
    one = ConvexSet(p[None], np.empty((0, 5)), 0.0, M, 1.0)
    assert one.distance(v) == pytest.approx(np.sqrt((v - p) @ M @ (v - p)), rel=1e-12)
    assert one.distance(p) == 0.0 and one.radius == one.half_width == 0.0


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 2**32 - 1), st.integers(1, 5), st.integers(0, 8))
def test_the_radius_is_that_of_all_corners_and_sizes_do_not_depend_on_units_of_mass(seed, n, g):
    rng = np.random.default_rng(seed)
    M, points, axes = mass_of(rng, n, 10.0), rng.normal(size=(4, n)), rng.normal(size=(g, n))
    one = ConvexSet(points, axes, 0.0, M, 1.5)
    L = np.linalg.cholesky(M)
    y = points @ L
    signs = np.array(list(product((-1.0, 1.0), repeat=g))).reshape(2**g, g)
    corners = (y[:, None] + signs @ axes @ L).reshape(-1, n) - 0.5 * (y.max(axis=0) + y.min(axis=0))
    most = np.linalg.norm(corners, axis=1).max() / 1.5
    assert 0.999 * most <= one.radius <= most * (1 + 1e-12)
    np.testing.assert_allclose(one.half_widths, np.ptp(corners, axis=0) / 3.0)
    other = ConvexSet(points, axes, 0.0, 9.0 * M, 4.5)
    assert other.radius == pytest.approx(one.radius) and other.half_width == pytest.approx(one.half_width)


def test_what_is_no_set_or_no_velocity_is_refused():
    one = ConvexSet(np.zeros((1, 2)), np.zeros((0, 2)), 0.0, np.eye(2), 0.0)
    for v in ([0.0], [np.nan, 0.0], [[0.0, 0.0]]):
        with pytest.raises(ValueError, match="finite numbers are needed"):
            one.distance(v)
    for bad in (
        {"mass": np.diag([1.0, 0.0])},
        {"mass": np.eye(3)},
        {"margin": -1.0},
        {"velocities": np.array([[np.inf, 0]])},
    ):
        given = {"velocities": np.zeros((1, 2)), "generators": np.zeros((0, 2)), "margin": 0.0, "mass": np.eye(2)} | bad
        with pytest.raises(ValueError):
            ConvexSet(jump=1.0, **given)
    assert one.radius == 0.0  # without a jump what has no size has none
    empty = ConvexSet(np.zeros((0, 2)), np.zeros((0, 2)), 0.0, np.eye(2), 1.0)
    assert empty.distance([0.0, 0.0]) == np.inf and empty.radius == empty.half_width == 0.0


def falling(restitution: float = 0.0) -> ContactProblem:
    """A disc of two points that lands on both, sliding."""
    M, rows = np.diag([2.0, 2.0, 0.3]), np.array([[0.0, 1.0, -0.5], [0.0, 1.0, 0.5]])
    along = np.array([[[1.0, 0.0, 0.2]], [[1.0, 0.0, 0.2]]])
    return ContactProblem(M, [0.6, -1.0, 0.3], rows, along, [0.4, 0.4], [restitution] * 2)


@pytest.mark.parametrize("law, restitution", [("inelastic", 0.0), ("poisson", 0.3)])
def test_a_sampled_set_holds_its_samples_and_tells_distances_in_the_norm_of_its_problem(law, restitution):
    problem = falling(restitution)
    found = post_impact_set(problem, 0.3, 64, 200, law=law)
    M, nominal = problem.mass, simultaneous_impact(problem).velocity
    assert found.jump == pytest.approx(np.sqrt((nominal - problem.velocity) @ M @ (nominal - problem.velocity)))
    for v in found.velocities[found.terminated][::8]:
        assert found.distance(v) == 0.0
    far = np.array([0.0, 50.0, 0.0])
    nearest = found.convex().nearest(far)
    assert found.distance(far) == nearest.distance > 0.0
    assert nearest.upper == pytest.approx(np.sqrt((far - nearest.point) @ M @ (far - nearest.point)))
    assert 0.0 < found.half_width <= found.radius < 10.0
    wide = VelocitySet(**{name: getattr(found, name) for name in found.__slots__} | {"margin": 0.1 * found.jump})
    assert wide.distance(far) == pytest.approx(found.distance(far) - 0.1 * found.jump)
    assert wide.radius == pytest.approx(found.radius + 0.1)


def test_samples_that_did_not_terminate_are_no_part_of_the_set():
    one = VelocitySet(
        np.array([[0.0], [5.0]]), np.zeros((2, 1, 2)), np.ones(2, np.int64), np.array([True, False]), np.zeros(1),
        np.ones(1), 0.0, 0.0, 0.95, Status.STEP_LIMIT, 0.0, mass=np.eye(1), jump=1.0,
    )  # fmt: skip
    assert one.distance([5.0]) == pytest.approx(5.0)


def test_a_set_without_a_kinetic_norm_says_so():
    problem = ContactProblem(np.zeros((1, 1)), [-1.0], [[1.0]], [[[0.0]]], [0.0])
    found = post_impact_set(problem, 1.0, 4, 4)
    with pytest.raises(ValueError, match="no kinetic norm"):
        found.distance([0.0])


def test_a_prediction_and_its_message_as_it_is_received_tell_the_same_distances():
    rng = np.random.default_rng(1)
    v, mass = rng.normal(size=3), mass_of(rng, 3)
    prediction = ImpactPrediction(
        1, np.array([0]), 0.01, v, v + 1, rng.normal(size=(7, 3)), v - 9, v + 9, 0.5, 0.1, 0.95, 1.0, 0.5, 0.9,
        "inelastic", False, True, 0.0, Status.SOLVED, generators=rng.normal(size=(5, 3)), margin=0.25, jump=1.5,
        mass=mass,
    )  # fmt: skip
    names = SimpleNamespace(contact_names=["a"], contact_frames=["b"], velocity_names=["x", "y", "z"], hash=1)
    view = PostImpactVelocitySetReader()(SerializedEncoder(message_types(), names).impact(prediction))
    told = convex_set(prediction)
    assert told.generators.shape == (5, 3) and told.margin == 0.25
    for v in 3.0 * rng.normal(size=(10, 3)):
        assert view.distance(v) == told.distance(v) == convex_set(view).distance(v)
    assert view.convex().radius == told.radius > 0.0
