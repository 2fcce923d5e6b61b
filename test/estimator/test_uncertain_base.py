"""A base whose velocity is uncertain is held by the feet that stand."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from estimator.test_effort_trust import CONFIG, MODEL
from estimator.test_held_up import lifted

from hybrid_contact_ros import ContactEstimator
from hybrid_contact_ros.estimator import Parts

ERROR = np.array([0.1, -0.05, 0.12, 0.15, -0.1, 0.1])  # m/s and rad/s, of a base that was carried for 20 ms


def last(name: str = "", lift: float = 0.0):
    """The mode of a robot that stands, after a state whose base is wrong by ERROR, and says so in ``name``."""
    estimator = ContactEstimator(MODEL, CONFIG)
    states = [state for _, state in lifted()[:250]]
    for state in states[:-1]:
        estimator.update(state, Parts.MODE)
    v = states[-1].v.copy()
    if lift:  # one foot rises along with its knee
        row = MODEL.problem(states[-1]).normal_jacobian[0]
        v[6:] += lift * row[6:] / (row[6:] @ row[6:])
    v[:6] += ERROR
    doubt = np.stack((1e-8 * np.eye(6), np.diag(ERROR**2)))
    state = replace(states[-1], v=v, **({name: doubt} if name else {}))
    return estimator.update(state, Parts.MODE).mode


@pytest.mark.parametrize("name", ["base_carried", "base_covariance"])
def test_feet_that_bear_load_do_not_move_with_a_base_that_is_uncertain(name):
    before, now = last(), last(name)
    assert np.abs(before.gap_velocity).min() > 0.05  # they all seem to move
    assert np.abs(now.gap_velocity).max() < 0.01
    assert np.linalg.norm(now.tangential_velocity, axis=1).max() < 0.015
    assert now.closed.all()


def test_a_foot_that_moves_against_the_others_is_seen_to_move():
    assert last("base_carried", lift=0.5).gap_velocity[0] == pytest.approx(0.5, abs=0.05)


def test_a_base_whose_covariance_nobody_states_is_believed():
    moved = MODEL.problem(lifted()[249][1]).normal_jacobian[:, :6] @ ERROR
    np.testing.assert_allclose(last().gap_velocity, moved, atol=1e-12)


def test_a_covariance_that_is_not_finite_is_refused():
    estimator = ContactEstimator(MODEL, CONFIG)
    state = lifted()[0][1]
    with pytest.raises(ValueError, match="base_carried has entries of nan"):
        estimator.update(replace(state, base_carried=np.full((2, 6, 6), np.nan)), Parts.MODE)
