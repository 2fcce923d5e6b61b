"""The dense linear algebra and the one-contact friction problem below the mode solvers."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from helpers.mode_problems import foot, seeds
from hybrid_contact_ros.kernels.algebra.dense import cholesky_factor, cholesky_solve, lu_factor, lu_solve
from hybrid_contact_ros.kernels.modes.local_friction import OPEN, SLIP, STICK, resting_contact
from hybrid_contact_ros.mechanics.problem import ContactProblem
from hybrid_contact_ros.modes.workspace import ModeWorkspace

sizes = st.integers(0, 12)


@given(seeds, sizes)
def test_cholesky_solves(seed, n):
    rng = np.random.default_rng(seed)
    root = rng.normal(size=(n, n))
    matrix = root @ root.T + 0.1 * np.eye(n)
    factor = np.full((n + 2, n + 2), np.nan)  # larger scratch, never read
    assert cholesky_factor(n, 1e-13, matrix, factor) == n
    x = rng.normal(size=n)
    right = matrix @ x
    cholesky_solve(n, factor, right)
    np.testing.assert_allclose(right, x, rtol=1e-6, atol=1e-7)


def test_cholesky_reports_semidefinite_indefinite_and_nan():
    factor = np.zeros((2, 2))
    assert cholesky_factor(2, 1e-13, np.array([[1.0, 1.0], [1.0, 1.0]]), factor) == 1
    assert cholesky_factor(2, 1e-13, np.array([[1.0, 2.0], [2.0, 1.0]]), factor) == 1
    assert cholesky_factor(2, 1e-13, np.array([[np.nan, 0.0], [0.0, 1.0]]), factor) == 0


@given(seeds, sizes)
def test_lu_solves(seed, n):
    rng = np.random.default_rng(seed)
    matrix = rng.normal(size=(n, n)) + 0.1 * np.eye(n)
    factors, order, got = matrix.copy(), np.zeros(n, dtype=np.int64), np.zeros(n)
    assert lu_factor(n, 1e-14, factors, order) == n
    x = rng.normal(size=n)
    lu_solve(n, factors, order, matrix @ x, got)
    np.testing.assert_allclose(matrix @ got, matrix @ x, atol=1e-7)


@given(seeds, st.integers(2, 8), st.data())
def test_lu_reports_singular(seed, n, data):
    rank = data.draw(st.integers(0, n - 1))
    rng = np.random.default_rng(seed)
    matrix = rng.normal(size=(n, rank)) @ rng.normal(size=(rank, n))
    assert lu_factor(n, 1e-11, matrix, np.zeros(n, dtype=np.int64)) < n


@given(seeds, st.sampled_from([1, 2]), st.floats(0.0, 3.0))
def test_one_contact_at_rest_always_has_an_answer(seed, d, friction):
    rng = np.random.default_rng(seed)
    root = rng.normal(size=(1 + d, 1 + d))
    G = root @ root.T + 0.05 * np.eye(1 + d)
    free = rng.normal(size=1 + d)
    force = np.zeros(1 + d)
    state = resting_contact(d, 0, friction, 0.0, G, free, force)
    a = G @ force + free
    size = np.linalg.norm(force[1:])
    scale = np.abs(free).max()
    if state == OPEN:
        assert a[0] >= 0.0
        assert not force.any()
        return
    assert force[0] >= 0.0
    assert abs(a[0]) < 1e-8 * scale
    assert size <= friction * force[0] + 1e-8 * (1.0 + size)
    if state == STICK:
        np.testing.assert_allclose(a, 0.0, atol=1e-8 * scale)
    else:
        assert state == SLIP
        rate = np.linalg.norm(a[1:])
        np.testing.assert_allclose(rate * force[1:], -friction * force[0] * a[1:], atol=1e-5 * scale * (1.0 + size))


def test_after_forget_a_state_gives_the_same_bits_whatever_was_solved_before():
    rng = np.random.default_rng(7)
    problems = [foot(np.array([0.0, 0.0, 9.8, 0.0, 0.0, 0.0]) + rng.normal(size=6)) for _ in range(20)]
    touching = np.ones(4, dtype=np.uint8)
    used, results = ModeWorkspace(6, 4, 2), []
    for problem in problems:
        used.forget()
        used.solve(problem, touching, 1e-3)
        results.append((used.forces.tobytes(), used.acceleration.tobytes(), used.contact_status.tobytes()))
    for problem, result in reversed(list(zip(problems, results, strict=True))):
        fresh = ModeWorkspace(6, 4, 2)
        used.forget()
        for work in (fresh, used):
            work.solve(problem, touching, 1e-3)
            assert (work.forces.tobytes(), work.acceleration.tobytes(), work.contact_status.tobytes()) == result


def four_feet(rng, load, velocity):
    """Feet that hardly disturb each other, so that there is one answer."""
    coupling = 0.05 * rng.normal(size=(12, 12))
    rows = np.eye(12).reshape(4, 3, 12)
    mass = np.eye(12) + coupling + coupling.T
    return ContactProblem(mass, velocity, rows[:, 0], rows[:, 1:], np.full(4, 0.5), bias_force=load)


@given(seeds, st.floats(0.0, 0.5))
def test_a_warm_start_finds_the_motion_that_a_cold_one_finds(seed, change):
    """Feet touch, leave, slide and stop."""
    rng = np.random.default_rng(seed)
    load = rng.normal(size=12) + np.tile([2.0, 0.0, 0.0], 4)
    warm, cold = ModeWorkspace(12, 4, 2), ModeWorkspace(12, 4, 2)
    for _ in range(10):
        load = load + change * rng.normal(size=12)
        velocity = rng.normal(size=12) * rng.choice([0.0, 1e-2])
        problem = four_feet(np.random.default_rng(seed), load, velocity)
        touching = (rng.uniform(size=4) < 0.8).astype(np.uint8)
        cold.forget()
        for work in (warm, cold):
            assert work.solve(problem, touching, 1e-3)[0] == 1
        np.testing.assert_allclose(warm.acceleration, cold.acceleration, atol=1e-6 * np.abs(load).max())


@given(seeds)
def test_a_warm_start_solves_what_a_cold_one_solves(seed):
    """Redundant contacts, whose answers with friction need not be unique."""
    rng = np.random.default_rng(seed)
    warm, cold = ModeWorkspace(6, 4, 2), ModeWorkspace(6, 4, 2)
    touching = np.ones(4, dtype=np.uint8)
    for _ in range(10):
        load = np.array([0.0, 0.0, 9.8, 0.0, 0.0, 0.0]) + rng.normal(size=6)
        problem = foot(load).with_velocity(rng.normal(size=6) * rng.choice([0.0, 1e-2]))
        cold.forget()
        if cold.solve(problem, touching, 1e-3)[0] == 1:
            assert warm.solve(problem, touching, 1e-3)[0] == 1


@given(seeds)
def test_a_warm_start_on_the_same_state_takes_one_linear_system(seed):
    rng = np.random.default_rng(seed)
    touching = np.ones(4, dtype=np.uint8)
    work = ModeWorkspace(12, 4, 2)
    problem = four_feet(rng, rng.normal(size=12) + np.tile([2.0, 0.0, 0.0], 4), np.zeros(12))
    assert work.solve(problem, touching, 1e-3)[0] == 1
    forces = work.forces.copy()
    status, residual, iterations = work.solve(problem, touching, 1e-3)
    assert (status, iterations) == (1, 1)
    assert residual <= 1e-8
    np.testing.assert_allclose(work.forces, forces, atol=1e-6)
