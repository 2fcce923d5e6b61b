"""Bounds of landings where energy is not alone: on redundant corners of soles, and where friction couples contacts."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from benchmarks.estimator import go2
from benchmarks.landing_draws import go2_landing, landings, model_draws
from hybrid_contact_ros import ContactProblem, LandingTerms
from hybrid_contact_ros.config import LandingConfig
from hybrid_contact_ros.impacts.landing_bounds import LandingBounds
from hybrid_contact_ros.impacts.landing_set import LandingLaw

MARGIN = replace(LandingTerms.of(LandingConfig()), friction=0.45)


def bounds_of(problem, hitting, feet, terms):
    """The law, its bounds, and those of energy alone where feet have several contacts."""
    m, d, n = problem.tangent_jacobian.shape
    driven = np.arange(n) >= 6
    law = LandingLaw(terms, d, n, problem.friction, (np.zeros(m), np.zeros(m)), driven, feet)
    landing = problem.mass, problem.bias_force, problem.jacobian(), problem.velocity
    made, bounds = law.points(*landing, hitting, problem.velocity), LandingBounds(law, problem.friction, driven)
    left, radius = law.left(*landing[2:], hitting)
    high = (1.0 + terms.friction) * problem.friction
    energy = bounds._by_energy(*landing, terms.duration_max, left, radius, high) if law.grouped else None
    return law, bounds.of(*landing, hitting, made), energy


def sole(seed):
    """A body of 5 kg on four corners, which land in any way, and its hips: two joints with drives."""
    rng = np.random.default_rng(seed)
    corners = np.array([[x, y, 0.0] for x in (-0.1, 0.1) for y in (-0.05, 0.05)])
    J = np.array([np.hstack([np.eye(3), -np.cross(np.eye(3), r), 0.1 * rng.normal(size=(3, 2))]) for r in corners])
    J[:, :, 6:] = J[:1, :, 6:]  # the joints move the sole as a whole
    M = np.diag([5.0, 5.0, 5.0, 0.1, 0.1, 0.1, 0.05, 0.02])
    M[:6, 6:] = 0.01 * rng.normal(size=(6, 2))
    M[6:, :6] = M[:6, 6:].T
    v = np.r_[0.3 * rng.normal(size=2), -1.0, 0.3 * rng.normal(size=3), rng.normal(size=2)]
    bias = np.r_[0, 0, 49.0, 0, 0, 0, rng.normal(size=2)]
    return ContactProblem(M, v, J[:, 2], J[:, :2], np.full(4, 0.6), bias_force=bias)


@pytest.mark.parametrize("seed", range(6))
def test_no_outcome_of_a_sole_is_outside_with_its_rebound_in_common_and_all_else_at_will(seed):
    """Of what the corners do, the rebound is common; each has its own slip, and μ, k and s are drawn, half at ends."""
    problem, terms, rng, count = (
        sole(seed),
        replace(MARGIN, drive_max=0.004, drive_own=5e-4),
        np.random.default_rng(1),
        1500,
    )
    hitting, n = np.ones(4, dtype=bool), problem.nv
    law, (lower, upper), energy = bounds_of(problem, hitting, np.zeros(4, dtype=int), terms)

    def part(*shape):
        inner = np.clip(2.0 * rng.random((count, *shape)) - 0.5, 0.0, 1.0)
        return np.where(np.arange(count).reshape(-1, *[1] * len(shape)) < count // 2, inner, np.round(inner))

    left, radius = law.left(problem.jacobian(), problem.velocity, hitting)
    common = law.common(radius, hitting)
    own = np.where(np.arange(radius.size) % 3 == 0, 0.0, radius)
    w = left + (2.0 * part(len(common)) - 1.0) @ common + own * (2.0 * part(own.size) - 1.0)
    caps, driven = 0.5 * problem.mass.diagonal(), np.arange(n) >= 6
    drive = np.minimum(terms.drive_max * part(1), caps) + np.minimum(terms.drive_own, caps) * (2.0 * part(n) - 1.0)
    friction = problem.friction * (1.0 + terms.friction * (2.0 * part(1) - 1.0))
    found, _, residuals, _ = law.solve(
        problem.mass, problem.bias_force, problem.jacobian(), problem.velocity,
        terms.duration_min + (terms.duration_max - terms.duration_min) * part(), np.maximum(drive, 0.0) * driven,
        friction, w,
    )  # fmt: skip
    found = found[residuals <= 1e-3]
    assert len(found) > 800
    room = 2e-3 * np.abs(found - problem.velocity).max()  # of the residual
    assert (found >= lower - room).all() and (found <= upper + room).all()
    assert np.median((upper - lower) / (energy[1] - energy[0])) < 0.8


def test_bounds_of_a_humanoid_on_its_soles_are_a_tenth_as_wide_as_those_of_energy_and_hold_all_draws():
    problem, hitting, feet = landings(4)[-1][1:]
    _, (lower, upper), energy = bounds_of(problem, hitting, feet, MARGIN)
    rng = np.random.default_rng(0)
    found = np.concatenate([model_draws(problem, MARGIN, hitting, feet, rng, 300, corners=x) for x in (False, True)])
    assert (found >= lower - 1e-9).all() and (found <= upper + 1e-9).all()
    assert np.median((upper - lower) / (energy[1] - energy[0])) < 0.15


@pytest.mark.parametrize("seed", range(4))
def test_bounds_hold_and_are_of_use_where_friction_couples_contacts_and_its_coefficient_is_hardly_known(seed):
    """μ ± 45 %: no contact's slip is bounded by those of the others alone, and bounds of energy are 13 to 33 times the
    extent of the draws."""
    problem, hitting = go2_landing(go2(), seed)
    _, (lower, upper), _ = bounds_of(problem, hitting, np.arange(4), MARGIN)
    rng = np.random.default_rng(seed)
    found = np.concatenate(
        [model_draws(problem, MARGIN, hitting, np.arange(4), rng, 1000, corners=x) for x in (False, True)]
    )
    assert (found >= lower - 1e-9).all() and (found <= upper + 1e-9).all()
    assert np.median((upper - lower) / np.ptp(found, axis=0)) < 12.0
