"""Delassus matrix, friction axes and scaling against plain numpy; the residuals on answers that are known."""

import numpy as np
import pytest

from benchmarks.impact_problems import polygon, random_problem
from hybrid_contact_ros.codes import Status
from hybrid_contact_ros.impacts.contact_space import ContactSpace
from hybrid_contact_ros.kernels.impacts import delassus
from hybrid_contact_ros.kernels.impacts.increment import increment
from hybrid_contact_ros.kernels.impacts.residual import axes_residual, increment_residual
from hybrid_contact_ros.mechanics.problem import ContactProblem

pytestmark = pytest.mark.usefixtures("rounding")


@pytest.mark.parametrize("d", [1, 2])
def test_delassus_matrix_is_j_minv_jt(d):
    problem = random_problem(np.random.default_rng(1), m=4, d=d)
    space, J = ContactSpace(problem, 6), problem.jacobian()
    np.testing.assert_allclose(space.R.T, np.linalg.solve(problem.mass, J.T), atol=1e-10)
    np.testing.assert_allclose(space.G, J @ np.linalg.solve(problem.mass, J.T), atol=1e-10)
    np.testing.assert_allclose(space.Y @ space.Y.T, space.G, atol=1e-10)
    np.testing.assert_allclose(space.u, J @ problem.velocity, atol=1e-12)


@pytest.mark.parametrize("directions", [2, 4, 6, 8, 16])
def test_the_sum_of_axes_is_the_friction_polygon(directions):
    A = np.empty((directions // 2, 2))
    half = delassus.axes(directions, 2, A)
    angle = np.linspace(0, 2 * np.pi, 97)
    way = np.stack([np.cos(angle), np.sin(angle)])
    np.testing.assert_allclose(half * np.abs(A @ way).sum(0), (polygon(directions, 2) @ way).max(0), atol=1e-12)


@pytest.mark.parametrize(("directions", "d"), [(4, 1), (2, 2), (4, 2), (10, 2)])
def test_scaled_axes_problem_is_the_same_problem(directions, d):
    rng = np.random.default_rng(5)
    problem = random_problem(rng, m=3, d=d)
    space = ContactSpace(problem, directions)
    z, impulse = rng.normal(size=space.w.size), np.empty((3, 1 + d))
    delassus.expand(space.A, space.scale, space.speed, z, impulse)
    after = (space.u + space.G @ impulse.ravel()).reshape(3, 1 + d)
    scaled = (space.w + space.H @ z).reshape(3, -1) * space.speed * space.scale[:, None]
    np.testing.assert_allclose(scaled[:, 0], after[:, 0], atol=1e-10)
    np.testing.assert_allclose(scaled[:, 1:], after[:, 1:] @ space.A.T, atol=1e-10)
    np.testing.assert_allclose(np.diag(space.H)[:: 1 + space.g], 1.0)
    assert np.abs(space.w).max() == pytest.approx(1.0)


@pytest.mark.parametrize("mass", [np.diag([1.0, 0.0, 1.0]), np.ones((3, 3)), np.zeros((3, 3))])
def test_singular_mass_is_a_status(mass):
    problem = ContactProblem(mass, np.ones(3), np.eye(3)[:1], np.eye(3)[None, 1:2], [1.0])
    assert ContactSpace(problem, 4).status == Status.SINGULAR


def test_residual_of_a_single_sliding_contact():
    """A unit point mass in the plane at v = (3, −1), μ = 1/2: Λ = (1, −1/2) stops the normal and leaves 2.5."""
    problem = ContactProblem(np.eye(2), [3.0, -1.0], [[0.0, 1.0]], [[[1.0, 0.0]]], [0.5])
    space, after = ContactSpace(problem, 4), np.empty(2)

    def residual(normal, tangent, cap=np.inf):
        impulse = np.array([[normal, tangent]])
        return increment_residual(4, space.G, space.u, problem.friction, np.array([cap]), space.speed, impulse, after)

    assert residual(1.0, -0.5) < 1e-14
    np.testing.assert_allclose(after, [0.0, 2.5], atol=1e-14 * space.speed)
    assert residual(0.8, -0.4, cap=0.8) < 1e-14
    assert residual(1.0, 0.5) == pytest.approx(1.0 / space.speed)  # friction along the motion
    assert residual(1.0, -0.3) == pytest.approx(0.2 / space.speed)  # too little friction
    assert residual(0.9, -0.45) == pytest.approx(0.1 / space.speed)  # still approaching
    assert residual(1.2, -0.6) == pytest.approx(0.2 / space.speed)  # thrown off
    assert residual(-0.1, 0.0) > 0.01  # pulling
    assert np.isnan(residual(np.nan, 0.0))


@pytest.mark.parametrize("directions", [2, 4, 8, 14])
def test_both_residuals_are_zero_together(directions):
    rng = np.random.default_rng(directions)
    for _ in range(20):
        problem = random_problem(rng, m=2, d=2)
        space = ContactSpace(problem, directions)
        z, after, cap = np.empty(space.w.size), np.empty(space.w.size), rng.uniform(0, 1, 2)
        increment(space.g, space.H, space.w, cap, space.c, space.tableau, space.lines, z, after)
        impulse = np.empty((2, 3))
        for change, right in ((0.0, True), (1e-3, False)):
            z[3 if directions > 4 else 1] += change
            delassus.expand(space.A, space.scale, space.speed, z, impulse)
            in_axes = axes_residual(space.g, space.H, space.w, cap, space.c, z, after)
            caps = cap * space.speed / space.scale
            polygonal = increment_residual(
                directions, space.G, space.u, problem.friction, caps, space.speed, impulse, np.empty(6)
            )
            assert (in_axes < 1e-9) == (polygonal < 1e-9) == right
