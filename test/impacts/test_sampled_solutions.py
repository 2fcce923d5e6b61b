"""Sampling where increments have several solutions (Assumption 6 of Halm fails), and where they have one."""

import numpy as np
import pytest

from benchmarks.impact_problems import box, random_problem
from hybrid_contact_ros.codes import Status
from hybrid_contact_ros.impacts.contact_space import ContactSpace
from hybrid_contact_ros.impacts.simultaneous import simultaneous_impact
from hybrid_contact_ros.impacts.solution_search import SOLUTIONS_LIMIT, SolutionSearch
from hybrid_contact_ros.impacts.velocity_set import impulse_scale, post_impact_set
from hybrid_contact_ros.kernels.impacts.all_solutions import search
from hybrid_contact_ros.kernels.impacts.increment_modes import effort
from hybrid_contact_ros.kernels.impacts.residual import axes_residual
from hybrid_contact_ros.mechanics.problem import ContactProblem
from hybrid_contact_ros.systems.box_and_wall import box_and_wall_impact
from hybrid_contact_ros.systems.compass_gait import compass_gait_impact
from hybrid_contact_ros.systems.disk_stacking import disk_stacking_impact
from hybrid_contact_ros.systems.ramone import ramone_impact
from hybrid_contact_ros.systems.rocking_block import rocking_block_impact


def sample(make, samples, **options):
    example = make()
    result = post_impact_set(example.problem, example.step, samples, example.max_steps, **options)
    return example.problem, result, (result.velocities @ example.problem.jacobian().T)[result.terminated]


def test_ramones_set_is_the_triangle_of_its_three_outcomes_and_one_solution_is_a_point():
    """Halm Fig. 13: the leading foot sticks, the trailing one ends between sticking, sliding and lifting."""
    problem, result, u = sample(ramone_impact, 4000)
    corners = np.array([problem.jacobian() @ v.velocity for v in simultaneous_impact(problem, all_solutions=True)])
    np.testing.assert_allclose(u[:, :2], 0.0, atol=1e-8)
    size = np.abs(corners).max()
    for corner in corners:
        assert np.linalg.norm(u - corner, axis=1).min() < 0.1 * size
    weights = np.linalg.solve(np.vstack([corners[:, 2:].T, np.ones(3)]), np.vstack([u[:, 2:].T, np.ones(len(u))]))
    assert (weights > -0.02).all()  # nothing outside
    inside = (weights > 0.1).all(axis=0)
    assert inside.sum() > 40  # and its inside is filled
    assert result.unique is False
    assert result.several > 0.99
    _, collapsed, point = sample(ramone_impact, 200, solutions="one")
    assert np.ptp(point, axis=0).max() < 1e-6 * size
    assert collapsed.unique is None


def test_compass_gaits_three_outcomes_all_occur():
    problem, result, u = sample(compass_gait_impact, 4000)
    for one in simultaneous_impact(problem, all_solutions=True):
        assert np.linalg.norm(u - problem.jacobian() @ one.velocity, axis=1).min() < 0.02
    assert (u[:, 0] > 1e-3).any()  # Halm §5.4.2: the leading foot may lift while the trailing one stays
    assert result.unique is False
    assert 0.8 < result.several < 0.97
    assert result.residual < 1e-9


@pytest.mark.parametrize("make", [rocking_block_impact, box_and_wall_impact])
def test_where_solutions_are_unique_the_search_changes_no_bit(make):
    _, chosen, _ = sample(make, 300, solutions="one")
    for solutions in ("sampled", "all"):
        _, searched, _ = sample(make, 300, solutions=solutions)
        np.testing.assert_array_equal(searched.velocities, chosen.velocities)
        np.testing.assert_array_equal(searched.impulses, chosen.impulses)
        assert searched.several == 0.0
    assert searched.unique is True
    assert searched.searched == 1.0


def test_feet_that_hardly_feel_each_other_are_proven_unique_and_never_searched():
    rows = np.zeros((4, 3, 18))
    for foot in range(4):
        rows[foot, :, 6 + 3 * foot : 9 + 3 * foot] = np.eye(3)
        rows[foot, :, :3] = 0.3 * np.eye(3)
    v = np.zeros(18)
    v[2] = -1.0
    problem = ContactProblem(np.eye(18), v, rows[:, 0], rows[:, 1:], np.full(4, 0.7))
    result = post_impact_set(problem, 0.3, 20, 30, solutions="all")
    assert result.unique is True
    assert result.searched == 0.0


@pytest.mark.parametrize("make", [compass_gait_impact, disk_stacking_impact])
def test_choices_depend_on_seed_and_sample_only(make):
    _, long, _ = sample(make, 40, seed=5)
    _, short, _ = sample(make, 13, seed=5)
    np.testing.assert_array_equal(long.velocities[:13], short.velocities)
    _, other, _ = sample(make, 40, seed=6)
    assert not np.array_equal(long.velocities, other.velocities)


def test_large_problems_are_searched_rarely_and_say_so():
    problem = box(np.random.default_rng(0), 4).with_velocity([0.1, 0.05, -1.0, 0.2, -0.3, 0.1])
    result = post_impact_set(problem, 0.5, 300, 50)
    assert 0.0 < result.searched < 0.1
    assert result.unique is not True
    assert result.residual < 1e-9
    assert post_impact_set(random_problem(np.random.default_rng(1), m=4, d=2), 0.5, 30, 60).residual < 1e-9


@pytest.mark.parametrize("directions", [4, 8, 16])
def test_a_search_within_sampling_costs_no_more_with_many_directions(directions):
    """With 16 directions a contact has 13 123 modes; in units of a fixed number of multiplications, what is spent is
    bounded, and what was not looked at is said."""
    problem = box(np.random.default_rng(0), 8).with_velocity([0.1, 0.05, -1.0, 0.2, -0.3, 0.1])
    space = ContactSpace(problem, directions)
    limited, p = SolutionSearch(space), space.w.size
    node = effort(space.g, p)
    for turn in range(1, 6):
        count, spent, _, _, complete = search(
            space.g, limited.limit, np.inf, SOLUTIONS_LIMIT, turn, space.H, space.w, np.full(8, 0.1), space.c,
            limited.T, limited.A, limited.states, limited.modes, limited.states[:0], 0, limited.z, limited.after,
        )  # fmt: skip
        assert spent < limited.limit + (8 + p) * node
        assert not complete or directions == 4
        assert all(
            axes_residual(space.g, space.H, space.w, np.full(8, 0.1), space.c, limited.z[i], np.empty(p)) < 1e-9
            for i in range(count)
        )
    result = post_impact_set(problem, impulse_scale(problem), 60, 50, directions=directions)
    assert result.unique is None and result.searched < 0.1


def test_disks_meet_several_solutions():
    problem, result, _ = sample(disk_stacking_impact, 60, solutions="all")
    assert result.unique is False
    assert 0.05 < result.several < 0.5
    energy = np.einsum("si,ij,sj->s", result.velocities, problem.mass, result.velocities)
    assert (energy <= problem.velocity @ problem.mass @ problem.velocity * (1 + 1e-9)).all()


def test_density_replaces_the_uniform_draws():
    example = rocking_block_impact()
    run = (example.problem, example.step, 50, example.max_steps)
    full = post_impact_set(*run, density=lambda _, shape: np.ones(shape))
    assert np.ptp(full.velocities, axis=0).max() == 0.0
    assert full.status == Status.SOLVED
    early = post_impact_set(*run, density=lambda generator, shape: generator.beta(5.0, 1.0, shape))
    late = post_impact_set(*run, density=lambda generator, shape: generator.beta(1.0, 5.0, shape))
    assert early.steps.mean() < late.steps.mean()
    longer = post_impact_set(
        example.problem, example.step, 80, example.max_steps, density=lambda generator, shape: generator.random(shape)
    )
    again = post_impact_set(*run, density=lambda generator, shape: generator.random(shape))
    np.testing.assert_array_equal(longer.velocities[:50], again.velocities)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"solutions": "some"}, "solutions"),
        ({"density": lambda _, shape: np.full(shape, 2.0)}, "density"),
        ({"density": lambda _, shape: np.zeros(3)}, "density"),
    ],
)
def test_wrong_arguments_are_named(options, message):
    with pytest.raises(ValueError, match=message):
        sample(rocking_block_impact, 5, **options)
