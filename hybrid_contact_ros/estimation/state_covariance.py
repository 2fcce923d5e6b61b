"""The covariance of a measured state x = (δq, v), and what becomes of it until an event."""

from __future__ import annotations

import numpy as np
import pinocchio as pin
from numpy.typing import NDArray

from hybrid_contact_ros.config import SensitivityConfig
from hybrid_contact_ros.mechanics.state import RobotState

Array = NDArray[np.float64]
_BASE = 6


def state_covariance(state: RobotState, floating_base: bool, config: SensitivityConfig) -> Array | None:
    """P (2 nv, 2 nv) of a measured state, in the tangent space at its q; None where that of the base is not known.

    Displacements of a free-flyer are in its own axes, as ``base_covariance`` is. Joints have the configured standard
    deviations and are independent. Where the odometry's twist was measured in the axes of the world, an error δθ of the
    orientation also turns it, by v × δθ in the axes of the base, and the two are correlated.
    """
    n = state.v.size
    base = _BASE if floating_base else 0
    known = state.base_covariance
    if floating_base and (known is None or not known.any(axis=(1, 2)).all()):
        return None
    covariance = np.zeros((2 * n, 2 * n))
    joints = np.arange(base, n)
    covariance[joints, joints] = config.joint_position_sigma**2
    covariance[n + joints, n + joints] = config.joint_velocity_sigma**2
    if floating_base:
        assert known is not None
        pose, twist = (0.5 * (block + block.T) for block in known)
        covariance[:_BASE, :_BASE], covariance[n : n + _BASE, n : n + _BASE] = pose, twist
        if state.base_twist_in_world:
            turned = np.zeros((_BASE, _BASE))  # ∂v/∂δq: R(θ)ᵀ w moves by w × δθ
            turned[:3, 3:], turned[3:, 3:] = pin.skew(state.v[:3]), pin.skew(state.v[3:6])
            across = turned @ pose
            covariance[n : n + _BASE, :_BASE], covariance[:_BASE, n : n + _BASE] = across, across.T
            covariance[n : n + _BASE, n : n + _BASE] += across @ turned.T
    return covariance


def transition(v: Array, acceleration: Array, gradient: Array, seconds: float, floating_base: bool) -> Array:
    """Φ (2 nv, 2 nv): the deviation of the state ``seconds`` later by that of the state now, to first order.

    The motion is q ⊕ (v t + v̇ t²/2), v + v̇ t, as predictions extrapolate it, with v̇ of first order in the state.

    Args:
        v, acceleration: (nv,). gradient: ∂v̇/∂(q, v) (nv, 2 nv).
        floating_base: the first six coordinates are a free-flyer, whose displacements turn and move with it.
    """
    n, t = v.size, seconds
    matrix = np.eye(2 * n)
    matrix[n:] += t * gradient
    step = 0.5 * t * t * gradient  # of the displacement, before it is carried on the group
    step[:, n:] += t * np.eye(n)
    if floating_base:
        moved = pin.Motion((t * (v + 0.5 * t * acceleration))[:_BASE])
        matrix[:_BASE, :_BASE] = pin.exp6(moved).toActionMatrixInverse()
        step[:_BASE] = pin.Jexp6(moved) @ step[:_BASE]
    matrix[:n] += step
    return matrix


def sigma_of(gradient: Array, covariance: Array | None) -> Array:
    """Standard deviations (k,) of quantities with these gradients (k, 2 nv); NaN without a covariance."""
    if covariance is None:
        return np.full(len(gradient), np.nan)
    return np.sqrt(np.maximum(np.einsum("ki,ij,kj->k", gradient, covariance, gradient), 0.0))
