"""Bounds of a landing's outcomes: nothing of the model is outside, and where contacts stick they are its extent."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hybrid_contact_ros import ContactProblem, LandingTerms, landing_set
from hybrid_contact_ros.impacts.landing_bounds import LandingBounds
from hybrid_contact_ros.impacts.landing_model import joint_drives
from hybrid_contact_ros.impacts.landing_set import LandingLaw

TERMS = LandingTerms(
    duration_min=0.001, duration_max=0.004, rebound_min=-0.07, rebound_max=0.18, drive_max=0.01, drive_own=0.002,
    slip=0.02, creep=0.15, settling=0.6, bounce=0.05, friction=0.2,
)  # fmt: skip
STICKING = LandingTerms(duration_min=0.001, duration_max=0.004, rebound_min=-0.07, rebound_max=0.18, drive_max=0.004)


def robot(
    seed: int, legs: int, d: int, friction: float = 0.6, still: bool = False, light: bool = False
) -> tuple[ContactProblem, np.ndarray]:
    """A body of six coordinates on legs of three joints (two in the plane), and which of their feet hit.

    ``light``: joints whose own inertia is 50 down to 2.5 g m², so that their drives' k ends before the common one."""
    rng = np.random.default_rng(seed)
    w, base = 1 + d, 3 * d
    n = base + legs * w
    M = np.diag(np.r_[np.full(base, 8.0), np.full(n - base, 0.05)])
    M[:base, base:] = 0.05 * rng.normal(size=(base, n - base))
    if light:
        part = np.sqrt(rng.permutation(np.geomspace(0.05, 1.0, n - base)))
        M[base:, base:] *= np.outer(part, part)
        M[:base, base:] *= part
    M[base:, :base] = M[:base, base:].T
    rows = np.zeros((legs, w, n))
    for i in range(legs):
        rows[i, :, :w] = np.eye(w)
        rows[i, :, w:base] = (0.05 if still else 0.2) * rng.normal(size=(w, base - w))
        rows[i, :, base + i * w : base + (i + 1) * w] = 0.25 * (
            np.eye(w) + (0.1 if still else 0.3) * rng.normal(size=(w, w))
        )
    hitting = rng.random(legs) < (2.0 if still else 0.6)
    hitting[0] = True
    u = np.where(
        hitting[:, None], rng.normal(size=(legs, w)) * (0.05 if still else 0.4), 0.02 * rng.normal(size=(legs, w))
    )
    u[hitting, 0] = -rng.uniform(0.3, 1.0, int(hitting.sum()))
    v = np.linalg.lstsq(rows.reshape(-1, n), u.ravel(), rcond=None)[0]
    bias = np.zeros(n)
    bias[0] = 80.0
    bias[base:] = rng.normal(size=n - base) * (0.2 if still else 5.0)
    problem = ContactProblem(M, v, rows[:, 0], rows[:, 1:], np.full(legs, friction), bias_force=bias)
    return problem, hitting


def bounds_and_draws(problem, hitting, terms, seed, count=1500, usable=1e-7):
    """Bounds of the law, and draws of it: half within the intervals, half at their ends, the last half at all ends."""
    rng = np.random.default_rng(seed)
    m, d, n = problem.tangent_jacobian.shape
    driven = np.arange(n) >= 3 * d
    law = LandingLaw(terms, d, n, problem.friction, (np.zeros(m), np.zeros(m)), driven)
    rows, v = problem.jacobian(), problem.velocity
    made = law.points(problem.mass, problem.bias_force, rows, v, hitting, v)
    assert len(made.points)
    lower, upper = LandingBounds(law, problem.friction, driven).of(
        problem.mass, problem.bias_force, rows, v, hitting, made
    )

    def part(*shape):
        inner = np.clip(2.0 * rng.random((count, *shape)) - 0.5, 0.0, 1.0)
        return np.where(np.arange(count).reshape(-1, *[1] * len(shape)) < count // 2, inner, np.round(inner))

    left, radius = law.left(rows, v, hitting)
    duration = terms.duration_min + (terms.duration_max - terms.duration_min) * part()
    drive = joint_drives(terms.drive_min + (terms.drive_max - terms.drive_min) * part(), problem.mass, driven)
    drive += terms.drive_own * (2 * part(n) - 1)
    friction = problem.friction * (1.0 + terms.friction * (2.0 * part(1) - 1.0))
    found, impulses, residuals, _ = law.solve(
        problem.mass, problem.bias_force, rows, v, duration, np.maximum(drive, 0.0) * driven, friction,
        left + radius * (2.0 * part(left.size) - 1.0),
    )  # fmt: skip
    good = residuals <= usable
    return lower + made.restless, upper - made.restless, found[good], impulses[good]


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 2**31), st.integers(1, 4), st.sampled_from([1, 2]), st.sampled_from([0.1, 0.4, 0.7, 1.0]))
def test_no_outcome_of_the_law_is_outside_whatever_its_terms_are_in_their_intervals(seed, legs, d, friction):
    lower, upper, found, _ = bounds_and_draws(*robot(seed, legs, d, friction), TERMS, seed)
    room = 1e-6 * np.abs(found).max()
    assert len(found) > 1000
    assert (found >= lower - room).all() and (found <= upper + room).all()


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 2**31), st.integers(1, 4), st.sampled_from([1, 2]), st.sampled_from([0.1, 0.4, 0.7, 1.0]))
def test_no_outcome_is_outside_where_some_drives_end_at_half_of_their_joints_inertia(seed, legs, d, friction):
    """Up to 12 joints, whose caps lie within pieces of the interval of k, below all of it, or above."""
    problem, hitting = robot(seed, legs, d, friction, light=True)
    terms = replace(TERMS, drive_min=0.002, drive_own=1e-4)
    caps = 0.5 * problem.mass.diagonal()[3 * d :]
    assert caps.min() < terms.drive_min and caps.max() > terms.drive_max
    lower, upper, found, _ = bounds_and_draws(problem, hitting, terms, seed)
    room = 1e-6 * np.abs(found).max()
    assert len(found) > 1000 and np.isfinite(lower).all() and np.isfinite(upper).all()
    assert (found >= lower - room).all() and (found <= upper + room).all()


@pytest.mark.parametrize("legs, d", [(1, 2), (2, 1), (4, 2)])
def test_where_all_contacts_stick_the_bounds_are_the_extent_of_the_outcomes_but_for_what_drives_bend(legs, d):
    problem, hitting = robot(3, legs, d, 0.8, still=True)
    lower, upper, found, impulses = bounds_and_draws(problem, hitting, STICKING, 1, 4000)
    pushes = impulses.reshape(len(found), legs, 1 + d)
    assert (np.linalg.norm(pushes[:, :, 1:], axis=2) < 0.999 * 0.8 * pushes[:, :, 0]).all()  # or this shows nothing
    ratio = (upper - lower) / np.ptp(found, axis=0)
    # Draws rarely come into all corners at once, and the more intervals there are the less.
    assert (ratio >= 1.0 - 1e-9).all() and np.median(ratio) < 1.6


def test_without_unknowns_the_bounds_are_the_outcome():
    problem, hitting = robot(3, 4, 2, 0.8, still=True)
    one = LandingTerms(duration_min=0.002, duration_max=0.002, rebound_min=0.1, rebound_max=0.1)
    lower, upper, found, _ = bounds_and_draws(problem, hitting, one, 1, 4)
    np.testing.assert_allclose(np.tile(lower, (4, 1)), found, atol=1e-6)
    np.testing.assert_allclose(np.tile(upper, (4, 1)), found, atol=1e-6)


def test_a_falling_point_has_the_bounds_of_its_terms():
    """2 kg that fall with 1 m/s, keep up to 0.1 of it or rebound with up to 0.2; sideways nothing holds 0.3 m/s but
    friction, which takes 0.5 times what the normal impulse does."""
    point = ContactProblem(2.0 * np.eye(3), [0.3, 0.0, -1.0], [[0, 0, 1.0]], [[[1.0, 0, 0], [0, 1.0, 0]]], [0.5])
    terms = LandingTerms(rebound_min=-0.1, rebound_max=0.2)
    lower, upper, _, _ = bounds_and_draws(point, np.ones(1, dtype=bool), terms, 0, 4)
    np.testing.assert_allclose(lower, [0.0, 0.0, -0.1], atol=1e-6)
    np.testing.assert_allclose(upper, [0.0, 0.0, 0.2], atol=1e-6)
    found = landing_set(point, terms, samples=8)  # friction of other orders may take more of the slip, or less
    assert found.lower[2] == pytest.approx(-0.1, abs=1e-6) and found.upper[2] == pytest.approx(0.2, abs=1e-6)
    assert -0.3 < found.lower[0] <= 0.0 <= found.upper[0] < 0.9


def test_redundant_contacts_are_bounded_by_energy():
    """Four points of one sole, whose rebounds differ: no velocity leaves all four as they would, and the law is met by
    few of the draws to more than a few per cent."""
    corners = np.array([[x, y, 0.0] for x in (-0.1, 0.1) for y in (-0.05, 0.05)])
    J = np.array([np.hstack([np.eye(3), -np.cross(np.eye(3), r)]) for r in corners])
    M = np.diag([5.0, 5.0, 5.0, 0.1, 0.1, 0.1])
    v = np.array([0.2, 0.0, -1.0, 0.3, -0.2, 0.1])
    problem = ContactProblem(M, v, J[:, 2], J[:, :2], np.full(4, 0.6), bias_force=[0, 0, 49.0, 0, 0, 0])
    hitting = np.ones(4, dtype=bool)
    terms = LandingTerms(duration_max=0.003, rebound_min=-0.05, rebound_max=0.2, slip=0.02)
    lower, upper, found, _ = bounds_and_draws(problem, hitting, terms, 5, usable=0.05)
    assert np.isfinite(lower).all() and np.isfinite(upper).all() and len(found) > 100
    assert (found >= lower).all() and (found <= upper).all()


@settings(max_examples=10, deadline=None)
@given(st.integers(0, 2**31), st.integers(1, 4))
def test_a_whole_set_is_within_its_bounds(seed, legs):
    problem, hitting = robot(seed, legs, 2)
    found = landing_set(problem, TERMS, hitting, samples=64)
    more = np.abs(found.generators).sum(axis=0)
    room = 1e-9 * np.abs(found.velocities).max()
    velocities = found.velocities[found.terminated]
    assert (velocities.min(axis=0) - more >= found.lower - room).all()
    assert (velocities.max(axis=0) + more <= found.upper + room).all()
