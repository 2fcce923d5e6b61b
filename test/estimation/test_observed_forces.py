"""Forces that explain an observed generalised force best, against least squares by numpy."""

from __future__ import annotations

import numpy as np
import pytest

from hybrid_contact_ros.codes import Status
from hybrid_contact_ros.kernels.estimation.observed_forces import contact_motions, contact_response, explaining_forces


def drawn(m: int, nv: int, seed: int):
    """M, J and the rows L⁻¹Jᵀ, with one row more, of m contacts."""
    rng, n = np.random.default_rng(seed), 3 * m
    half = rng.normal(size=(nv, nv))
    mass, J = half @ half.T + nv * np.eye(nv), rng.normal(size=(n, nv))
    L = np.linalg.cholesky(mass)
    return mass, J, L, np.vstack([np.linalg.solve(L, J.T).T, np.zeros(nv)])


@pytest.mark.parametrize(("m", "nv"), [(1, 6), (4, 18), (3, 7)])
def test_motions_are_those_that_forces_at_the_contacts_cause(m, nv):
    mass, J, L, half = drawn(m, nv, m)
    motions, products = np.zeros((3 * m, nv)), np.zeros((3 * m, 3 * m))
    contact_motions(3 * m, L, half, motions, products)
    wanted = np.linalg.solve(mass, J.T).T
    np.testing.assert_allclose(motions, wanted, rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(products, wanted @ wanted.T, rtol=1e-9, atol=1e-12)


def test_forces_leave_the_least_of_the_velocities_unexplained():
    """Not of the kinetic energy: velocities are what is measured, and err coordinate by coordinate."""
    m, nv = 4, 18
    mass, J, L, half = drawn(m, nv, 7)
    motions, products = np.zeros((3 * m, nv)), np.zeros((3 * m, 3 * m))
    contact_motions(3 * m, L, half, motions, products)
    force = np.random.default_rng(8).normal(size=nv)
    shifted, response, found = np.zeros(nv), np.zeros(3 * m), np.full((m, 3), np.nan)
    contact_response(3 * m, L, motions, force, shifted, response)
    np.testing.assert_allclose(shifted, np.linalg.solve(mass, force), rtol=1e-9)
    chosen = np.array([0, 2, 3])
    scratch = np.zeros((3 * m, 3 * m))
    status = explaining_forces(3, 1e-12, 0.0, products, response, chosen, scratch, np.zeros(3 * m), found)
    assert status == int(Status.SOLVED) and np.isnan(found[1]).all()
    rows = np.concatenate([np.arange(3 * c, 3 * c + 3) for c in chosen])
    wanted = np.linalg.lstsq(np.linalg.solve(mass, J[rows].T), np.linalg.solve(mass, force), rcond=None)[0]
    np.testing.assert_allclose(found[chosen].ravel(), wanted, rtol=1e-6, atol=1e-9)
