"""Impact paths: Routh's method in the plane, its extension to several contacts, and random increments."""

from math import cos, radians, sin

import numpy as np
import pytest

from hybrid_contact_ros.codes import Status
from hybrid_contact_ros.impacts.bounds import outcome_bounds
from hybrid_contact_ros.impacts.routh import increment_path, routh_path
from hybrid_contact_ros.mechanics.problem import ContactProblem
from hybrid_contact_ros.systems.box_and_wall import box_and_wall_impact
from hybrid_contact_ros.systems.compass_gait import compass_gait_impact
from hybrid_contact_ros.systems.disk_stacking import disk_stacking_impact
from hybrid_contact_ros.systems.ramone import ramone_impact
from hybrid_contact_ros.systems.rocking_block import rocking_block_impact

EXAMPLES = [rocking_block_impact, box_and_wall_impact, compass_gait_impact, ramone_impact, disk_stacking_impact]


def rod_end(angle, mu, velocity):
    """One contact whose normal and tangential velocity are ``velocity``: the end of a rod, m = l = 1."""
    c, s = cos(angle), sin(angle)
    rows = np.array([[0.0, 1.0, -c], [1.0, 0.0, s]])
    mass = np.diag([1.0, 1.0, 1 / 3])
    v = np.linalg.lstsq(rows, velocity, rcond=None)[0]
    return ContactProblem(mass, v, rows[:1], rows[1:][None], [mu])


def quadrature(problem, steps=50000):
    """Routh's impact by Euler steps of the inclusion (36), friction regularized: an oracle that knows no events."""
    rows = problem.jacobian()
    G = rows @ np.linalg.solve(problem.mass, rows.T)
    u, mu = rows @ problem.velocity, float(problem.friction[0])
    ds, total = -4 * u[0] / G[0, 0] / steps, np.zeros(2)
    for _ in range(50 * steps):
        if u[0] >= 0:
            break
        push = np.array([1.0, np.clip(-(u[1] + ds * G[0, 1]) / (ds * G[1, 1]), -mu, mu)]) * ds
        u, total = u + G @ push, total + push
    return total


@pytest.mark.parametrize(
    ("angle", "mu", "velocity", "pieces"),
    [
        (0.9, 0.3, (-1.0, -4.0), 1),  # slips to the end
        (0.9, 0.9, (-1.0, -0.5), 2),  # comes to rest and sticks
        (0.6, 0.2, (-1.0, 0.05), 2),  # comes to rest and slips back
        (1.1, 2.0, (-0.1, -2.0), 2),  # driven in by its own friction before it sticks
    ],
)
def test_single_contact_is_rouths_method(angle, mu, velocity, pieces):
    problem = rod_end(angle, mu, velocity)
    path = routh_path(problem)
    assert path.status is Status.SOLVED and path.s.size == pieces + 1
    np.testing.assert_allclose(path.impulses[-1, 0], quadrature(problem), rtol=1e-3)
    assert problem.normal_jacobian[0] @ path.velocity == pytest.approx(0.0, abs=1e-12)


@pytest.mark.parametrize("make", EXAMPLES)
@pytest.mark.parametrize("kind", ["equal", "unequal", "increments"])
def test_path_is_a_solution_of_the_inclusion_39(make, kind):
    example = make()
    problem = example.problem
    if kind == "increments":
        path = increment_path(problem, example.step / 20, seed=3)
    else:
        rates = None if kind == "equal" else np.random.default_rng(5).uniform(0.1, 1.0, problem.contacts)
        path = routh_path(problem, rates=rates)
    assert path.status is Status.SOLVED
    rows = problem.jacobian()
    scale = np.abs(rows @ problem.velocity).max()
    tolerance = 1e-8 * scale
    u = (path.velocities @ rows.T).reshape(len(path.s), -1, 2)
    push = np.diff(path.impulses, axis=0)
    np.testing.assert_allclose(path.s, path.impulses[:, :, 0].sum(axis=1), atol=1e-12)  # (37)
    np.testing.assert_allclose(
        (path.velocities - problem.velocity) @ problem.mass, path.impulses.reshape(len(path.s), -1) @ rows, atol=1e-9
    )
    size = np.abs(path.impulses[-1]).max()
    assert (push[..., 0] >= -1e-9 * size).all()
    assert (np.abs(push[..., 1]) <= problem.friction * push[..., 0] + 1e-9 * size).all()
    pushing = push[..., 0] > 1e-9 * size
    ends = u[1:] if kind == "increments" else np.maximum(u[:-1], u[1:])
    assert (ends[..., 0][pushing] <= tolerance).all()  # (38): no push on what separates
    slides = pushing & (np.abs(u[1:, :, 1]) > 1e-6 * scale)
    np.testing.assert_allclose(
        push[..., 1][slides], (-problem.friction * np.sign(u[1:, :, 1]) * push[..., 0])[slides], atol=1e-8 * size
    )
    assert (u[-1, :, 0] >= -tolerance).all()
    energy = 0.5 * np.einsum("ij,jk,ik->i", path.velocities, problem.mass, path.velocities)
    assert np.diff(energy).max() <= 1e-12
    lower, upper = outcome_bounds(problem)
    assert (path.velocity >= lower - 1e-9).all() and (path.velocity <= upper + 1e-9).all()


def test_rates_far_apart_are_the_contacts_one_after_the_other():
    problem = rocking_block_impact().problem
    first = routh_path(problem, rates=(1.0, 1e-9))
    # A alone stops A; then B, with A held or lifting as it will: the block rolls on.
    np.testing.assert_allclose(first.velocities[1] @ problem.jacobian().T[:, :2], 0.0, atol=1e-8)
    assert problem.normal_jacobian[0] @ first.velocity > 0.05


def test_seed_decides_the_increments():
    problem = rocking_block_impact().problem
    one, same, other = (increment_path(problem, 0.02, seed).velocity for seed in (1, 1, 2))
    np.testing.assert_array_equal(one, same)
    assert np.abs(one - other).max() > 1e-6


def test_nothing_happens_where_nothing_approaches():
    problem = rod_end(radians(30), 0.5, (0.2, 1.0))
    for path in (routh_path(problem), increment_path(problem, 0.1)):
        assert path.status is Status.SOLVED and path.s.tolist() == [0.0]


def test_bad_arguments_are_named():
    problem = rod_end(0.5, 0.5, (-1.0, 0.0))
    space = ContactProblem(np.eye(3), [0, 0, -1.0], [[0, 0, 1.0]], [[[1.0, 0, 0], [0, 1.0, 0]]], [0.5])
    with pytest.raises(ValueError, match="tangents"):
        routh_path(space)
    with pytest.raises(ValueError, match="rates"):
        routh_path(problem, rates=[-1.0])
    with pytest.raises(ValueError, match="start"):
        routh_path(problem, start=(1,))
    with pytest.raises(ValueError, match="max_pieces"):
        routh_path(problem, max_pieces=0)
    with pytest.raises(ValueError, match="step"):
        increment_path(problem, 0.0)
    with pytest.raises(ValueError, match="max_steps"):
        increment_path(problem, 0.1, max_steps=0)
    massless = ContactProblem(np.diag([1.0, 1.0, 0.0]), [0, -1.0, 0], [[0, 1.0, 0]], [[[1.0, 0, 0]]], [0.5])
    with pytest.raises(ValueError, match="mass"):
        routh_path(massless)
