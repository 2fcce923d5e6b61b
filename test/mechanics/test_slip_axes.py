"""Tangents along the slip."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hybrid_contact_ros.impacts.simultaneous import simultaneous_impact
from hybrid_contact_ros.mechanics.problem import ContactProblem
from hybrid_contact_ros.mechanics.slip_axes import along_slip

pytestmark = pytest.mark.usefixtures("rounding")


def problem(seed, contacts=3, tangents=2, nv=7):
    rng = np.random.default_rng(seed)
    root = rng.normal(size=(nv, nv))
    rows = rng.normal(size=(contacts, 1 + tangents, nv))
    return ContactProblem(
        root @ root.T + np.eye(nv),
        rng.normal(size=nv),
        rows[:, 0],
        rows[:, 1:],
        rng.uniform(0.1, 1.0, contacts),
        jacobian_drift=rng.normal(size=(contacts, 1 + tangents)),
    )


@given(st.integers(0, 2**32 - 1))
def test_slip_is_along_the_first_tangent_and_everything_else_is_turned_with_it(seed):
    before = problem(seed)
    after, turns = along_slip(before)
    slip = after.tangent_jacobian @ after.velocity
    np.testing.assert_allclose(slip[:, 1], 0.0, atol=1e-12 * np.abs(slip).max())
    assert (slip[:, 0] > 0.0).all()
    np.testing.assert_allclose(turns @ turns.transpose(0, 2, 1), np.tile(np.eye(2), (3, 1, 1)), atol=1e-14)
    np.testing.assert_allclose(np.linalg.det(turns), 1.0)
    accelerations = np.random.default_rng(seed).normal(size=before.nv)
    for i in range(before.contacts):
        was = before.tangent_jacobian[i] @ accelerations + before.jacobian_drift[i, 1:]
        now = after.tangent_jacobian[i] @ accelerations + after.jacobian_drift[i, 1:]
        np.testing.assert_allclose(now, turns[i] @ was, atol=1e-10)


def test_contacts_that_do_not_slide_and_those_in_the_plane_keep_their_tangents():
    resting = problem(1).with_velocity(np.zeros(7))
    for made in (resting, problem(2, tangents=1), problem(3, contacts=0)):
        after, turns = along_slip(made)
        assert after is made
        np.testing.assert_array_equal(turns, np.tile(np.eye(made.tangents), (made.contacts, 1, 1)))


@given(st.integers(0, 2**32 - 1))
def test_a_slip_that_is_rounding_of_zero_turns_nothing(seed):
    """A contact at rest on a body that moves: J_t v is 1e-16 in any direction, by the order of its sum."""
    moving = problem(seed)
    rest = moving.tangent_jacobian[0]
    made = moving.with_velocity(moving.velocity - np.linalg.pinv(rest) @ (rest @ moving.velocity))
    _, turns = along_slip(made)
    np.testing.assert_array_equal(turns[0], np.eye(2))
    assert not np.array_equal(turns[1], np.eye(2))


@pytest.mark.parametrize("angle", [0.3, 0.8, 1.2])
def test_a_sliding_point_meets_all_of_its_friction_in_whatever_direction_it_slides(angle):
    velocity = np.array([np.cos(angle), np.sin(angle), -0.5])
    slider = ContactProblem(np.eye(3), velocity, [[0, 0, 1.0]], [[[1.0, 0, 0], [0, 1.0, 0]]], [0.6])
    expected = np.array([0.7 * np.cos(angle), 0.7 * np.sin(angle), 0.0])  # μ times the normal impulse of 0.5
    turned, turns = along_slip(slider)
    outcome = simultaneous_impact(turned, 4)
    np.testing.assert_allclose(outcome.velocity, expected, atol=1e-12)
    impulse = turns[0].T @ outcome.impulse[0, 1:]
    np.testing.assert_allclose(impulse, expected[:2] - velocity[:2], atol=1e-12)
    assert np.abs(simultaneous_impact(slider, 4).velocity - expected).max() > 0.05  # what the given tangents do
