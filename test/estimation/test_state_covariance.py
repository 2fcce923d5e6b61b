"""The covariance of a state, from what odometry says to an event, against Monte Carlo and differences."""

from __future__ import annotations

from types import SimpleNamespace as Space

import numpy as np
import pinocchio as pin
import pytest

from helpers.bodies import BALL
from hybrid_contact_ros.config import EstimatorConfig, InputConfig, SensitivityConfig
from hybrid_contact_ros.estimation.state_covariance import sigma_of, state_covariance, transition
from hybrid_contact_ros.mechanics.model import RigidBodyModel
from hybrid_contact_ros.mechanics.state import RobotState
from hybrid_contact_ros.messages.intake import Intake

MODEL = RigidBodyModel.from_urdf(BALL, EstimatorConfig.from_mapping({"contacts": {"foot": {"link": "ball"}}}))
ZERO = np.zeros(3)


def spread(rng, size, scale):
    root = rng.normal(size=(size, size)) * scale
    return root @ root.T


def measured(R, p, linear, angular, P, V, twist_in_world):
    """The state that an odometry makes, by the intake of a node."""
    quaternion = pin.Quaternion(R).coeffs()
    message = Space(
        header=Space(stamp=Space(sec=1, nanosec=0), frame_id="odom"),
        child_frame_id="ball",
        pose=Space(
            pose=Space(
                position=Space(x=p[0], y=p[1], z=p[2]),
                orientation=Space(**dict(zip("xyzw", quaternion, strict=True))),
            ),
            covariance=P.reshape(-1),
        ),
        twist=Space(
            twist=Space(
                linear=Space(**dict(zip("xyz", linear, strict=True))),
                angular=Space(**dict(zip("xyz", angular, strict=True))),
            ),
            covariance=V.reshape(-1),
        ),
    )
    state = Intake(MODEL, InputConfig(), twist_in_world).odometry(message, 10**9)
    assert state is not None
    return state


@pytest.mark.parametrize("twist_in_world", [False, True])
def test_the_covariance_is_that_of_the_true_state_about_the_measured_one(twist_in_world):
    """True poses and twists are drawn; each is measured with the noise that its message states."""
    rng = np.random.default_rng(3)
    P, V = spread(rng, 6, 2e-3), spread(rng, 6, 5e-3)
    R0, p0 = pin.exp3(np.array([0.4, -0.8, 1.1])), np.array([0.3, -0.2, 0.5])
    linear, angular = np.array([1.0, -2.0, 0.5]), np.array([0.7, 0.3, -1.5])
    state = measured(R0, p0, linear, angular, P, V, twist_in_world)
    found = state_covariance(state, True, SensitivityConfig())
    draws = []
    pose, twist = np.linalg.cholesky(P), np.linalg.cholesky(V)
    for _ in range(20_000):
        # The errors of the pose are in the axes of the world, as REP 103 and the message have them.
        e, f = pose @ rng.normal(size=6), twist @ rng.normal(size=6)
        R, p = pin.exp3(e[3:]) @ R0, p0 + e[:3]
        u, w = linear + f[:3], angular + f[3:]
        if twist_in_world:
            u, w = R.T @ u, R.T @ w
        there = np.concatenate((R0.T @ (p - p0), pin.log3(R0.T @ R), np.r_[u, w] - state.v))
        draws.append(there)
    expected = np.cov(np.array(draws).T)
    size = np.sqrt(np.outer(np.diag(expected), np.diag(expected)))
    assert np.abs((found - expected) / size).max() < 0.05
    assert twist_in_world == bool(np.abs((found / size)[6:, :6]).max() > 0.1)


def test_without_a_covariance_of_pose_or_twist_there_is_none():
    q, v = np.array([0, 0, 1, 0, 0, 0, 1.0]), np.zeros(6)
    for known in (None, np.stack((np.eye(6), np.zeros((6, 6)))), np.stack((np.zeros((6, 6)), np.eye(6)))):
        assert state_covariance(RobotState(0, q, v, None, known), True, SensitivityConfig()) is None


def test_joints_have_the_configured_noise_and_no_base_is_needed_where_it_is_fixed():
    config = SensitivityConfig(joint_position_sigma=0.01, joint_velocity_sigma=0.2)
    found = state_covariance(RobotState(0, np.zeros(2), np.zeros(2)), False, config)
    np.testing.assert_allclose(found, np.diag([1e-4, 1e-4, 0.04, 0.04]))
    whole = state_covariance(
        RobotState(0, np.zeros(9), np.zeros(8), None, np.stack((np.eye(6), np.eye(6)))), True, config
    )
    np.testing.assert_allclose(np.diag(whole), [1] * 6 + [1e-4] * 2 + [1] * 6 + [0.04] * 2)


def test_the_transition_is_the_derivative_of_the_extrapolation():
    """q ⊕ (v t + v̇ t²/2), v + v̇ t, with an acceleration that is linear in the state; central differences."""
    rng = np.random.default_rng(5)
    q = MODEL.integrate(MODEL.neutral(), rng.normal(size=6))
    v, a, slope, t = rng.normal(size=6), 5.0 * rng.normal(size=6), rng.normal(size=(6, 12)), 0.2

    def later(change):
        there, speed = MODEL.integrate(q, change[:6]), v + change[6:]
        pushed = a + slope @ change
        return MODEL.integrate(there, t * speed + 0.5 * t * t * pushed), speed + t * pushed

    matrix = transition(v, a, slope, t, True)
    end, step, columns = later(np.zeros(12))[0], 1e-5, []
    for unit in step * np.eye(12):
        (q1, v1), (q0, v0) = later(unit), later(-unit)
        plus, minus = (pin.difference(MODEL.pinocchio_model, end, x) for x in (q1, q0))
        columns.append(np.concatenate((plus - minus, v1 - v0)) / (2.0 * step))
    np.testing.assert_allclose(matrix, np.array(columns).T, atol=1e-8)


def test_sigmas_are_nan_without_a_covariance():
    gradient = np.array([[3.0, 4.0]])
    assert sigma_of(gradient, np.eye(2)) == pytest.approx([5.0]) and np.isnan(sigma_of(gradient, None)).all()
