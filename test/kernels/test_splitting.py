"""Operator splitting: forces where an active set does not get there, redundant contacts above all."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from helpers.mode_problems import foot, random_problem, seeds
from hybrid_contact_ros.codes import Status
from hybrid_contact_ros.kernels.modes.residual import problem_scale
from hybrid_contact_ros.kernels.modes.splitting import ROWS, split_forces
from hybrid_contact_ros.modes.force_acceleration import force_acceleration_mode
from hybrid_contact_ros.modes.workspace import ModeWorkspace

pytestmark = pytest.mark.usefixtures("rounding")

GRAVITY = 9.81


def split(problem, steps=20_000):
    """Residual, forces and accelerations (m, 1 + d), and the workspace after its own solve."""
    m, d = problem.contacts, problem.tangents
    touching = np.ones(m, dtype=np.uint8)
    work = ModeWorkspace(problem.nv, m, d)
    work.solve(problem, touching, 1e-6)
    n = m * (1 + d)
    forces, accelerations = np.zeros(n), np.zeros(n)
    residual, _ = split_forces(
        d, steps, 0, 1e-8, problem_scale(d, work.free, touching), work.delassus, work.free, problem.friction, touching,
        work.moving, work.slip_direction, np.zeros((2 * n + ROWS, n)), forces, accelerations,
    )  # fmt: skip
    return residual, forces.reshape(m, -1), accelerations.reshape(m, -1), work


@given(seeds, st.integers(1, 4), st.sampled_from([1, 2]))
def test_it_obeys_coulomb_by_definition_and_moves_as_the_active_set_does(seed, contacts, tangents):
    problem = random_problem(seed, 3 * contacts + 2, contacts, tangents)
    residual, forces, a, work = split(problem)
    scale = np.abs(work.free).max()
    if residual > 1e-8:
        return  # some of these have no solution: sliding can jam
    weight = np.diag(work.delassus).max()
    for force, rate, mu in zip(forces, a, problem.friction, strict=True):
        slip = np.linalg.norm(rate[1:])
        assert force[0] >= -1e-12 and rate[0] >= -1e-6 * scale
        assert abs(force[0] * rate[0]) <= 1e-5 * scale * max(1.0, force[0])
        assert np.linalg.norm(force[1:]) <= mu * force[0] * (1 + 1e-9) + 1e-12
        if slip > 1e-4 * scale:
            np.testing.assert_allclose(force[1:], -mu * force[0] * rate[1:] / slip, atol=1e-3 * scale / weight + 1e-6)


@given(seeds, st.floats(0.0, 0.999), st.floats(0.0, 2 * np.pi))
def test_a_foot_pushed_with_less_than_its_friction_sticks(seed, part, angle):
    """Four corners, twelve forces for six equations: the least forces leave the cones long before sticking ends."""
    centre = np.random.default_rng(seed).uniform(-0.9, 0.9, 2) * [0.1, 0.05]  # of pressure
    push = 0.6 * part * GRAVITY * np.array([np.cos(angle), np.sin(angle)])
    # The push acts in the sole, 0.05 below the centre of mass, and the weight at the centre of pressure.
    moment = np.cross([*centre, -0.05], [-push[0], -push[1], GRAVITY])
    problem = foot(np.r_[-push, GRAVITY, moment])
    for found in (force_acceleration_mode(problem, range(4)), force_acceleration_mode(problem, range(4), True)):
        assert found.status is Status.SOLVED
        np.testing.assert_allclose(found.acceleration, 0.0, atol=1e-5)
        assert (np.linalg.norm(found.forces[:, 1:], axis=1) <= 0.6 * found.forces[:, 0] + 1e-6).all()


def test_enumeration_in_space_finds_the_forces_of_redundant_contacts():
    """Pushed with 99.8 % of the friction away from its middle: no least-squares force holds, others do."""
    push = 0.6 * 0.998 * GRAVITY
    problem = foot(np.r_[-push, 0.0, GRAVITY, np.cross([0.08, 0.03, -0.05], [-push, 0.0, GRAVITY])])
    found = force_acceleration_mode(problem, range(4), enumerate_all=True)
    assert found.status is Status.SOLVED and found.count >= 1
    np.testing.assert_allclose(found.acceleration, 0.0, atol=1e-5)
