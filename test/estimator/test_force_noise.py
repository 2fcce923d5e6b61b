"""How far noise lets observed forces be off."""

from dataclasses import replace

import numpy as np
from estimator.test_effort_trust import CONFIG, MODEL
from estimator.test_held_up import STEP, lifted

from hybrid_contact_ros import ContactEstimator
from hybrid_contact_ros.estimator import Parts
from hybrid_contact_ros.results.force_sigma import force_sigma


def observed(noise):
    """Stamps, observed normal forces and their deviations of a robot that stands, its velocities with noise (rad/s)."""
    estimator, rng = ContactEstimator(MODEL, CONFIG), np.random.default_rng(1)
    rows = []
    for _, state in lifted()[: round(0.6 / STEP)]:
        v = state.v + noise * np.r_[np.zeros(6), rng.normal(size=state.v.size - 6)]
        mode = estimator.update(replace(state, v=v), Parts.MODE).mode
        force = np.einsum("mi,mi->m", mode.force_estimate, mode.normal)
        rows.append((mode.stamp_ns, force, estimator.force_noise))
    stamps, force, deviation = (np.array(x) for x in zip(*rows, strict=True))
    return stamps, force, force_sigma(stamps, force, deviation, 1.0 / CONFIG.observer.gain)


def test_two_deviations_hold_what_a_standing_robot_weighs_and_grow_with_noise():
    sizes = []
    for noise in (0.02, 0.1):
        _, force, sigma = observed(noise)
        last = slice(-100, None)
        off = np.abs(force[last].sum(axis=1) - 9.81 * sum(inertia.mass for inertia in MODEL.pinocchio_model.inertias))
        assert np.isfinite(sigma[last]).all()
        assert (off <= 2.0 * np.hypot.reduce(sigma[last], axis=1)).mean() > 0.9
        sizes.append(np.median(sigma[last]))
    assert sizes[1] > 3.0 * sizes[0]


def test_there_is_none_without_efforts():
    estimator = ContactEstimator(MODEL, CONFIG)
    for _, state in lifted()[:50]:
        estimator.update(replace(state, effort=None), Parts.MODE)
    assert np.isnan(estimator.force_noise).all()
