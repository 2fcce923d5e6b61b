"""Uniqueness of increments from the orientation of their pieces, against determinants and the search."""

import itertools

import numpy as np
import pytest

from benchmarks.impact_problems import KINDS, random_problem
from hybrid_contact_ros.impacts.contact_space import ContactSpace
from hybrid_contact_ros.impacts.solution_search import SolutionSearch
from hybrid_contact_ros.kernels.impacts.orientation import coherent, fold
from hybrid_contact_ros.mechanics.problem import ContactProblem
from hybrid_contact_ros.systems.box_and_wall import box_and_wall_impact
from hybrid_contact_ros.systems.compass_gait import compass_gait_impact
from hybrid_contact_ros.systems.ramone import ramone_impact
from hybrid_contact_ros.systems.rocking_block import rocking_block_impact

pytestmark = pytest.mark.usefixtures("rounding")


def ask(space, limit=10**6):
    m, p = space.c.size, space.w.size
    T, ints = np.empty((m + 1, p, p + 1)), np.empty((5, p), dtype=np.int64)
    S, A, B = np.empty((3, p, p))
    return coherent(space.g, limit, space.H, space.c, T, ints), fold(space.g, limit, space.H, space.c, S, A, B, ints)


def least_determinant(space):
    """Over all pieces, by numpy: every contact out, or at its cap or active, every axis sticking or sliding."""
    n, least = 1 + space.g, np.inf
    states = [(on, axes) for on in (False, True) for axes in itertools.product((0, 1, -1), repeat=space.g)]
    for piece in itertools.product(states, repeat=space.c.size):
        rows, columns = [], []
        for k, (active, axes) in enumerate(piece):
            for i, sigma in enumerate(axes):
                if sigma == 0 and space.c[k] > 0:
                    rows.append(k * n + 1 + i)
                    columns.append(space.H[:, rows[-1]])
            if active:
                rows.append(k * n)
                slides = sum(s * space.c[k] * space.H[:, k * n + 1 + i] for i, s in enumerate(axes))
                columns.append(space.H[:, k * n] + slides)
        if rows:
            least = min(least, np.linalg.det(np.array(columns).T[rows]))
    return least


@pytest.mark.parametrize("kind", KINDS)
def test_coherent_is_that_all_pieces_have_positive_determinants(kind):
    rng = np.random.default_rng(3)
    for size in ((1, 1), (2, 1), (1, 2), (3, 1), (2, 2)):
        problem = random_problem(rng, kind, *size)
        for friction in (0.02, 0.3, 1.5):
            space = ContactSpace(
                ContactProblem(
                    problem.mass,
                    problem.velocity,
                    problem.normal_jacobian,
                    problem.tangent_jacobian,
                    problem.friction * friction,
                ),
                4,
            )
            least = least_determinant(space)
            if abs(least) > 1e-6:
                assert (ask(space)[0] == 1) == (least > 0.0)
            elif least < 1e-12:
                assert ask(space)[0] == 0


def test_coherent_configurations_have_one_solution_whatever_the_velocity_and_caps():
    rng, met = np.random.default_rng(4), 0
    for _ in range(60):
        problem = random_problem(rng, "plain", *((2, 1), (3, 1), (2, 2))[rng.integers(3)])
        space = ContactSpace(problem, 4)
        if ask(space)[0] != 1:
            continue
        met += 1
        search = SolutionSearch(space)
        assert search.unique is True
        for _ in range(10):
            caps = rng.exponential(size=space.c.size) * (rng.random(space.c.size) < 0.8)
            found = search.all(rng.normal(size=space.w.size), caps)
            assert (len(found.z), found.complete, found.continuum) == (1, True, False)
    assert met > 10


def test_weakly_coupled_feet_are_seen_at_once():
    H = np.kron(np.eye(4), np.eye(3)) + 0.05
    T, ints = np.empty((5, 12, 13)), np.empty((5, 12), dtype=np.int64)
    assert coherent(2, 0, H / 1.05, np.full(4, 0.5), T, ints) == 1  # no pieces were looked at
    assert coherent(2, 0, np.ones((12, 12)) + 0.01 * np.eye(12), np.full(4, 0.5), T, ints) == -1


def test_the_rocking_block_has_negative_pieces_only_where_no_velocity_of_its_can_be():
    space = ContactSpace(rocking_block_impact().problem, 4)
    assert least_determinant(space) < -0.1
    assert ask(space) == (0, 0)


@pytest.mark.parametrize("make", [compass_gait_impact, ramone_impact, box_and_wall_impact])
def test_wide_steps_and_the_box_at_the_wall_fold(make):
    assert ask(ContactSpace(make().problem, 4)) == (0, 1)


def test_the_box_at_the_wall_may_jam_or_slide_up_for_some_velocities():
    """Two solutions, so that the fold is real, though the example's own velocity meets none."""
    rng, problem = np.random.default_rng(0), box_and_wall_impact().problem
    search, counts = SolutionSearch(ContactSpace(problem, 4)), set()
    for _ in range(1500):
        w = ContactSpace(problem.with_velocity(rng.normal(size=3)), 4).w
        counts.add(len(search.all(w, rng.exponential(size=2)).z))
    assert counts == {1, 2}


def test_without_a_fold_the_search_finds_no_second_solution():
    """What sampling relies on when it searches such problems rarely; not proven."""
    rng, met = np.random.default_rng(5), 0
    for _ in range(400):
        problem = random_problem(rng, "few coordinates", *((2, 1), (3, 1))[rng.integers(2)])
        space = ContactSpace(problem, 4)
        if space.speed == 0.0 or ask(space) != (0, 0):
            continue
        met += 1
        search = SolutionSearch(space)
        for _ in range(10):
            found = search.all(ContactSpace(problem.with_velocity(rng.normal(size=problem.nv)), 4).w,
                               rng.exponential(size=space.c.size))  # fmt: skip
            assert len(found.z) == 1
    assert met > 10


def test_no_contacts_are_unique():
    assert coherent(1, 10, np.empty((0, 0)), np.empty(0), np.empty((1, 0, 1)), np.empty((5, 0), dtype=np.int64)) == 1
