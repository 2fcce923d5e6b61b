"""Increments solved from a guess of their mode: what is answered is a solution, and soles are answered."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks.impact_problems import KINDS, box, random_problem
from hybrid_contact_ros.impacts.contact_space import ContactSpace
from hybrid_contact_ros.kernels.impacts.mode_steps import solve_by_mode
from hybrid_contact_ros.kernels.impacts.records import IncrementProblem, Tableau
from hybrid_contact_ros.mechanics.problem import ContactProblem


def answer(space: ContactSpace, cap: np.ndarray) -> tuple[bool, np.ndarray, np.ndarray]:
    """Whether an increment with these caps is solved from a guess, its impulses z and its velocities w'."""
    p = space.w.size
    tableau = Tableau(np.full((2 * p + 5, p), np.nan), *np.full((6, p + 3), np.nan))
    z, after = np.empty(p), np.empty(p)
    problem = IncrementProblem(space.g, space.H, space.w, cap, space.c)
    met, _ = solve_by_mode(False, problem, tableau, z, after)
    return met, z, after


def answers(space: ContactSpace, first: np.ndarray, second: np.ndarray) -> tuple[bool, np.ndarray, np.ndarray]:
    """As :func:`answer` for the second caps, from the mode of the first."""
    p = space.w.size
    tableau = Tableau(np.full((2 * p + 5, p), np.nan), *np.full((6, p + 3), np.nan))
    z, after = np.empty(p), np.empty(p)
    met, _ = solve_by_mode(False, IncrementProblem(space.g, space.H, space.w, first, space.c), tableau, z, after)
    if met:
        met, _ = solve_by_mode(True, IncrementProblem(space.g, space.H, space.w, second, space.c), tableau, z, after)
    return met, z, after


def violation(space: ContactSpace, cap: np.ndarray, z: np.ndarray) -> float:
    """How far impulses are from solving Halm (72)–(74), by plain numpy."""
    after = space.w + space.H @ z
    rows, speeds = z.reshape(cap.size, -1), after.reshape(cap.size, -1)
    normal, bound = rows[:, 0], (space.c * np.maximum(rows[:, 0], 0.0))[:, None]
    off = np.abs(normal - np.clip(normal - speeds[:, 0], 0.0, cap)).max(initial=0.0)
    slides = np.abs(rows[:, 1:] - np.clip(rows[:, 1:] - speeds[:, 1:], -bound, bound))
    return max(off, slides.max(initial=0.0))


def soles(rng: np.random.Generator, corners: int) -> ContactProblem:
    """Two bodies that are coupled, each with a flat sole of so many corners, which fall nearly flat."""
    rows = np.zeros((2, corners, 3, 12))
    for foot in range(2):
        for k in range(corners):
            angle = 2.0 * np.pi * (k + 0.5) / corners
            point = np.array([0.1 * np.cos(angle), 0.05 * np.sin(angle), -0.05])
            for row, axis in enumerate(np.eye(3)[[2, 0, 1]]):
                rows[foot, k, row, 6 * foot : 6 * foot + 6] = np.concatenate((axis, np.cross(point, axis)))
    rows = rows.reshape(2 * corners, 3, 12)
    root = rng.normal(size=(12, 12))
    mass = np.diag(np.tile([5.0, 5.0, 5.0, 0.02, 0.02, 0.02], 2))
    mass += 0.1 * np.sqrt(np.outer(np.diag(mass), np.diag(mass))) * (root @ root.T) / 12.0
    v = np.concatenate([rng.normal(scale=0.3, size=12)])
    v[[2, 8]] = -1.0
    return ContactProblem(mass, v, rows[:, 0], rows[:, 1:], np.full(2 * corners, 0.6))


@given(st.integers(0, 2**32 - 1), st.sampled_from(KINDS))
def test_an_answer_is_a_solution(seed, kind):
    rng = np.random.default_rng(seed)
    problem = random_problem(rng, kind)
    space = ContactSpace(problem, 4)
    cap = rng.uniform(0.0, 1.0, problem.contacts) * rng.choice([1e-3, 1.0, 1.0, 100.0])
    met, z, after = answer(space, cap)
    if met:
        # conditions are met in velocities that are updated from change to change; the caller computes them afresh
        assert np.abs(after - space.w - space.H @ z).max() < 1e-9 * (1.0 + np.abs(z).max())
        assert violation(space, cap, z) < 1e-9 * (1.0 + np.abs(z).max())


@given(st.integers(0, 2**32 - 1), st.sampled_from(KINDS))
def test_an_answer_from_the_mode_of_other_caps_is_a_solution(seed, kind):
    rng = np.random.default_rng(seed)
    problem = random_problem(rng, kind)
    space = ContactSpace(problem, 4)
    first = rng.uniform(0.0, 1.0, problem.contacts)
    second = first * rng.choice([1.0, rng.uniform()], problem.contacts)
    met, z, after = answers(space, first, second)
    if met:
        assert np.abs(after - space.w - space.H @ z).max() < 1e-9 * (1.0 + np.abs(z).max())
        assert violation(space, second, z) < 1e-9 * (1.0 + np.abs(z).max())


@pytest.mark.parametrize("corners", [4, 8])
def test_soles_are_answered_from_the_mode_of_other_caps(corners):
    rng = np.random.default_rng(corners)
    solved, tried = 0, 200
    for _ in range(tried):
        space = ContactSpace(soles(rng, corners), 4)
        first = rng.uniform(0.0, 1.0, 2 * corners)
        second = first * np.where(rng.random(2 * corners) < 0.2, rng.random(2 * corners), 1.0)
        met, z, _ = answers(space, first, second)
        solved += met and violation(space, second, z) < 1e-10
    assert solved > 0.9 * tried


@pytest.mark.parametrize("corners", [4, 8, 12])
def test_soles_are_answered(corners):
    rng = np.random.default_rng(corners)
    solved, tried = 0, 200
    for _ in range(tried):
        space = ContactSpace(soles(rng, corners), 4)
        cap = rng.uniform(0.0, 1.0, 2 * corners)
        met, z, _ = answer(space, cap)
        solved += met and violation(space, cap, z) < 1e-10
    assert solved > 0.9 * tried


@pytest.mark.parametrize("corners", [4, 8])
def test_a_box_gets_the_velocity_of_the_path(corners):
    """Without friction the velocity is unique: it is the one that pivoting finds."""
    from hybrid_contact_ros.kernels.impacts.increment import increment

    rng = np.random.default_rng(5)
    compared = 0
    for _ in range(50):
        space = ContactSpace(box(rng, corners).replace(friction=np.zeros(corners)), 2)
        cap = rng.uniform(0.0, 0.7, corners)
        met, _, after = answer(space, cap)
        z, other = np.empty_like(after), np.empty_like(after)
        increment(space.g, space.H, space.w, cap, space.c, space.tableau, space.lines, z, other)
        if met:
            compared += 1
            assert np.abs(after - other)[:: 1 + space.g].max() < 1e-9
    assert compared > 40
