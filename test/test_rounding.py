"""The inputs an ulp off that numerical tests run with."""

import numpy as np

from helpers.rounding import EPS, nudged, nudged_problems, terms
from hybrid_contact_ros.mechanics.problem import ContactProblem


def test_each_number_moves_by_an_ulp_at_most_and_some_do():
    values = np.random.default_rng(0).normal(size=(40, 30))
    off = np.abs(nudged(values) / values - 1.0)
    assert 0.0 < off.max() <= 1.5 * EPS
    assert 0.2 < (off == 0.0).mean() < 0.5


def test_zeros_and_symmetry_stay_and_equal_inputs_stay_equal():
    root = np.random.default_rng(1).normal(size=(6, 6))
    mass = root @ root.T
    mass = 0.5 * (mass + mass.T)
    mass[:, 2] = mass[2] = 0.0
    found = nudged(mass)
    assert np.array_equal(found, found.T) and not found[2].any()
    assert np.array_equal(found, nudged(mass.copy())) and not np.array_equal(found, nudged(mass, seed=2))


def test_problems_are_off_by_an_ulp_only_while_it_is_asked_for():
    rng = np.random.default_rng(2)
    mass, velocity, rows = np.diag(rng.uniform(1.0, 2.0, 5)), rng.normal(size=5), rng.normal(size=(3, 2, 5))

    def written_down():
        return ContactProblem(mass, velocity, rows[:, 0], rows[:, 1:], [0.5, 0.5, 0.5])

    with nudged_problems():
        off = written_down()
    plain = written_down()
    np.testing.assert_array_equal(plain.jacobian(), rows.reshape(6, 5))
    np.testing.assert_array_equal(off.friction, plain.friction)
    assert not np.array_equal(off.jacobian(), plain.jacobian()) and not np.array_equal(off.velocity, plain.velocity)
    np.testing.assert_allclose(off.jacobian(), plain.jacobian(), rtol=2 * EPS)


def test_what_is_zero_up_to_rounding_differs_by_more_than_itself_and_not_by_more_than_its_terms():
    """Why no tolerance is relative to a sum: an ulp of the input replaces the whole of it."""
    rng = np.random.default_rng(3)
    row, velocity = rng.normal(size=12), rng.normal(size=12)
    velocity -= row * (row @ velocity) / (row @ row)
    before, after = row @ velocity, nudged(row) @ nudged(velocity)
    assert abs(after - before) > 0.0
    assert max(abs(before), abs(after)) < 20 * EPS * terms(row, velocity)
