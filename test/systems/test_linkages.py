"""Compass gait, RAMone and disk stack against finite differences, Halm's tables and the published code's parameters."""

import numpy as np
import pytest

from hybrid_contact_ros.systems.compass_gait import compass_gait, compass_gait_impact
from hybrid_contact_ros.systems.disk_stacking import DiskStack, disk_stacking_impact
from hybrid_contact_ros.systems.ramone import ramone, ramone_impact

SYSTEMS = {
    "compass gait": (compass_gait, 4),
    "RAMone": (ramone, 7),
    "disks": (DiskStack, 9),
    "disks as published": (lambda: DiskStack(mass=5.0, skewed=True), 9),
}


@pytest.mark.parametrize("name", SYSTEMS)
def test_rows_are_the_rate_of_the_gap_and_drift_is_its_second_rate(name):
    make, nv = SYSTEMS[name]
    system, rng, step = make(), np.random.default_rng(3), 1e-5
    for _ in range(10):
        q, v = rng.normal(size=nv), rng.normal(size=nv)
        here, ahead, behind = system.problem(q, v), system.problem(q + step * v, v), system.problem(q - step * v, v)
        np.testing.assert_allclose(here.normal_jacobian @ v, (ahead.gap - behind.gap) / (2 * step), atol=1e-7)
        for column, rows in enumerate((lambda p: p.normal_jacobian, lambda p: p.tangent_jacobian[:, 0])):
            rate = (rows(ahead) - rows(behind)) @ v / (2 * step)
            np.testing.assert_allclose(here.jacobian_drift[:, column], rate, atol=1e-6)


@pytest.mark.parametrize("name", ["compass gait", "RAMone"])
def test_mass_and_bias_are_lagranges_of_the_kinetic_and_potential_energy(name):
    """M v̇ + h = 0 with h = Ṁ v − ½ ∂(vᵀ M v)/∂q + ∂V/∂q, by finite differences of M and of the bias at rest."""
    make, nv = SYSTEMS[name]
    system, rng, step = make(), np.random.default_rng(4), 1e-5
    for _ in range(5):
        q, v = rng.normal(size=nv), rng.normal(size=nv)
        gradient = np.empty(nv)
        for i in range(nv):
            e = step * np.eye(nv)[i]
            gradient[i] = v @ (system.problem(q + e, v).mass - system.problem(q - e, v).mass) @ v / (2 * step)
        rate = (system.problem(q + step * v, v).mass - system.problem(q - step * v, v).mass) / (2 * step)
        gravity = system.problem(q, np.zeros(nv)).bias_force
        np.testing.assert_allclose(system.problem(q, v).bias_force, rate @ v - gradient / 2 + gravity, atol=1e-7)


def test_compass_gait_of_table_5_turns_about_its_trailing_foot():
    example = compass_gait_impact()
    problem = example.problem
    np.testing.assert_allclose(problem.gap, 0.0, atol=1e-15)
    u = problem.jacobian() @ problem.velocity
    np.testing.assert_allclose(u, [-2 * 0.25 * np.sin(np.radians(78.0)), 0.0, 0.0, 0.0], atol=1e-15)
    np.testing.assert_array_equal(problem.friction, 5.0)
    assert (example.step, example.max_steps, example.samples) == (0.25, 5, 2**20)
    np.testing.assert_allclose(problem.mass[:2, :2], 2 * np.eye(2))
    np.testing.assert_allclose(problem.mass[2:, 2:], 0.25 * np.eye(2), atol=1e-15)


def test_ramone_of_table_7_turns_about_its_trailing_foot():
    example = ramone_impact()
    problem = example.problem
    np.testing.assert_allclose(problem.velocity[:3], [-0.4114, -0.2105, 1.0], atol=5e-5)
    np.testing.assert_allclose(problem.gap, 0.0, atol=1e-15)
    np.testing.assert_allclose((problem.jacobian() @ problem.velocity)[1:], 0.0, atol=1e-12)
    assert problem.normal_jacobian[0] @ problem.velocity < -0.5
    np.testing.assert_array_equal(problem.friction, 1e5)
    assert (example.step, example.max_steps, example.samples) == (1.0, 10, 2**20)
    assert problem.mass[0, 0] == pytest.approx(7.9026 + 2 * (0.7887 + 0.510))


def test_ramones_trailing_knee_is_that_of_table_7():
    q = np.array([0.0, 0.0, 16.0, -70.0, -2.0, 70.0, -92.48])
    problem = ramone().problem(np.radians(q), np.zeros(7))
    assert problem.gap[0] == pytest.approx(problem.gap[1], abs=2e-5)  # both feet at one height


@pytest.mark.parametrize("published", [False, True])
def test_disk_stack_of_table_8(published):
    example = disk_stacking_impact(published)
    problem = example.problem
    np.testing.assert_allclose(problem.gap, 0.0, atol=1e-12)
    np.testing.assert_allclose(problem.normal_jacobian @ problem.velocity, [0, 0, *[-np.sqrt(0.75)] * 2, 0], atol=1e-12)
    np.testing.assert_allclose(np.diag(problem.mass)[:3], np.array([1, 1, 0.5]) * (5.0 if published else 1.0))
    np.testing.assert_allclose(problem.friction, np.sqrt(3.0))
    assert (example.step, example.max_steps, example.samples) == (1.0, 10, 2**20)
    along = problem.normal_jacobian[:, :2] @ problem.tangent_jacobian[:, 0, :2].T
    np.testing.assert_allclose(np.diag(along)[[2, 3]], [0.8660254, -0.8660254] if published else 0.0, atol=1e-7)


def test_wrong_number_of_coordinates_is_refused():
    with pytest.raises(ValueError, match="angles"):
        ramone().problem(np.zeros(6), np.zeros(7))
