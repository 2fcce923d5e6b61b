"""The inertia of drives, which a URDF has no place for, is learned as an error of efforts, and belongs to the mass."""

from __future__ import annotations

from functools import lru_cache

import numpy as np
import pytest
from estimator.test_effort_errors import JOINTS, _mapping, answered, nothing, unexplained
from estimator.test_effort_trust import CONFIG, MODEL, STEP, motion

from hybrid_contact_ros import ContactEstimator, EstimatorConfig, RobotState
from hybrid_contact_ros.estimator import Parts
from hybrid_contact_ros.kernels.estimation.effort_correction import INERTIA
from hybrid_contact_ros.kernels.estimation.observed_forces import contact_motions, weigh_motions

DRIVES = 0.05  # kg m²


@lru_cache
def brisk() -> list[RobotState]:
    """Legs that move as in a trot."""
    return motion(MODEL, 3, 3.0, rush=2.0)


def driven(inertia: float) -> list[RobotState]:
    """The states with efforts that turn rotors besides."""
    given = brisk()
    rates = np.gradient(np.array([state.v for state in given]), STEP, axis=0)
    found = []
    for state, rate in zip(given, rates, strict=True):
        effort = state.effort.copy()
        effort[JOINTS] += inertia * rate[JOINTS]
        found.append(RobotState(state.stamp_ns, state.q, state.v, effort))
    return found


def test_the_inertia_of_drives_is_found_and_made_up_for():
    off = EstimatorConfig.from_mapping({**_mapping(), "trust": {"correct": False}})
    estimator, modes = answered(nothing, given=driven(DRIVES))
    left, as_measured = answered(nothing, ContactEstimator(MODEL, off), given=driven(DRIVES))
    _, right = answered(nothing, given=brisk())
    found = np.array([one.inertia for one in estimator.joint_errors()])
    assert np.median(found) == pytest.approx(DRIVES, rel=0.3)  # the prior is 0 ± 0.05
    assert unexplained(estimator) < 0.4 * unexplained(left)

    def apart(answers):
        pairs = zip(answers[-500:], right[-500:], strict=True)
        return np.sqrt(np.nanmean([np.square(a.force_estimate - b.force_estimate) for a, b in pairs]))

    assert apart(modes) < 0.5 * apart(as_measured)


def test_no_drive_has_less_inertia_than_none():
    """Efforts that are too small by what a rotor would need look like one of negative inertia."""
    estimator, _ = answered(nothing, given=driven(-DRIVES))
    assert all(one.inertia >= 0.0 for one in estimator.joint_errors())
    errors = estimator._engine.memory.trust.errors
    assert (errors.estimate[INERTIA * errors.joint.size :] >= 0.0).all()


def test_the_mass_matrix_has_it_and_the_observer_takes_no_impulse_for_it():
    estimator, given = ContactEstimator(MODEL, CONFIG), driven(DRIVES)
    trust, observer = estimator._engine.memory.trust, estimator._engine.memory.observer
    last, leaps, steps = np.zeros(MODEL.nv), [], []
    for state in given:
        before = observer.residual.copy()
        estimator.update(state, Parts.MODE)
        steps.append(np.abs(observer.residual - before).max())
        if not np.array_equal(trust.correction.drives, last):
            leaps.append(steps[-1])
            last = trust.correction.drives.copy()
    factor = np.tril(estimator._engine.measured.L)
    bare = MODEL.problem(given[-1]).mass
    np.testing.assert_allclose(factor @ factor.T - bare, np.diag(trust.correction.drives), atol=1e-9)
    assert leaps and max(leaps[1:]) < 3.0 * np.quantile(steps, 0.99)


@pytest.mark.parametrize("doubted", [False, True])
def test_motions_are_weighed_with_the_mass_and_what_it_is_in_doubt_by(doubted):
    rng, n, nv = np.random.default_rng(4), 6, 9
    half = rng.normal(size=(nv, nv))
    mass, rows = half @ half.T + np.eye(nv), rng.normal(size=(n, nv))
    doubt = rng.uniform(0.5, 2.0, nv) * doubted
    L = np.linalg.cholesky(mass)
    weighing, motions, products = np.zeros((nv, nv)), np.zeros((n, nv)), np.zeros((n, n))
    weigh_motions(n, L, np.linalg.solve(L, rows.T).T.copy(), rows, doubt, weighing, motions, products)
    expected = np.linalg.solve(mass + np.diag(doubt), rows.T).T
    np.testing.assert_allclose(motions, expected, atol=1e-10)
    np.testing.assert_allclose(products, expected @ expected.T, atol=1e-10)
    np.testing.assert_allclose(np.tril(weighing) @ np.tril(weighing).T, mass + np.diag(doubt), atol=1e-10)
    if not doubted:
        same, other = np.zeros((n, nv)), np.zeros((n, n))
        contact_motions(n, L, np.linalg.solve(L, rows.T).T.copy(), same, other)
        assert np.array_equal(same, motions) and np.array_equal(other, products)
