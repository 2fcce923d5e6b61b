"""A robot near one configuration, in coordinates whose rates are velocities: for analyses that need v = q̇."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from hybrid_contact_ros.mechanics.problem import ContactProblem
from hybrid_contact_ros.systems.robot import RobotSystem, as_system

Array = NDArray[np.float64]
Back: TypeAlias = Callable[[Array, Array], tuple[Array, Array]]
_BASE = 6
_STEP = 1e-4  # of the central difference for the second derivative of the chart, which leaves errors near 1e-12


class RobotChart:
    """Exponential coordinates x (nv,) about a configuration q₀: q = q₀ ⊕ x and v = B(x) ẋ, with B(0) = 1.

    In these coordinates M' = BᵀMB, h' = Bᵀ(h + M Ḃẋ), J' = JB and (J̇v)' = J̇v + J Ḃẋ. B is the right Jacobian of SE(3)
    for the six coordinates of a floating base, and the identity for joints. The chart serves rotations below 2π.
    """

    def __init__(self, robot: RobotSystem, origin: Array) -> None:
        self.robot, self.origin = robot, robot.integrate(origin, np.zeros(robot.nv))
        self.name, self.nv, self.contact_names = robot.name, robot.nv, robot.contact_names

    def problem(self, x: ArrayLike, rate: ArrayLike) -> ContactProblem:
        """The contact problem at (x, ẋ), with the effort of time 0 and of no closed contact."""
        x_, rate_ = np.array(x, dtype=np.float64), np.array(rate, dtype=np.float64)
        there = self.robot.problem(self.robot.integrate(self.origin, x_), self._slope(x_) @ rate_)
        if not self.robot.model.floating_base:
            return there.with_velocity(rate_)
        slope = self._slope(x_)
        scale = max(float(np.abs(rate_[:_BASE]).max()), 1e-300)
        step = _STEP * rate_ / scale
        bend = (self._slope(x_ + step) - self._slope(x_ - step)) @ rate_ * (scale / (2.0 * _STEP))
        mass = slope.T @ there.mass @ slope
        return there.replace_trusted(
            mass=0.5 * (mass + mass.T),
            velocity=rate_,
            normal_jacobian=there.normal_jacobian @ slope,
            tangent_jacobian=there.tangent_jacobian @ slope,
            bias_force=slope.T @ (there.bias_force + there.mass @ bend),
            jacobian_drift=there.jacobian_drift + (there.jacobian() @ bend).reshape(there.jacobian_drift.shape),
        )

    def back(self, x: Array, rate: Array) -> tuple[Array, Array]:
        """(q, v) of (x, ẋ)."""
        return self.robot.integrate(self.origin, x), self._slope(x) @ rate

    def _slope(self, x: Array) -> Array:
        """B(x) (nv, nv)."""
        slope = np.eye(self.nv)
        if self.robot.model.floating_base:
            slope[:_BASE, :_BASE] = self.robot.model.coordinates.base_slope(x[:_BASE])
        return slope


def in_rates(system: Any, q: ArrayLike, v: ArrayLike) -> tuple[Any, ArrayLike, ArrayLike, Back]:
    """A system and a state with v = q̇, and the way back: the system itself, or the chart of a robot about q.

    Returns:
        The system, q and v in its coordinates, and a function that takes these back to those of the given system.

    Raises:
        ValueError: a system with a ``configuration_rate`` of its own, for which no chart is known, or a q or v of a
            wrong size or off its manifold.
    """
    system = as_system(system)
    if isinstance(system, RobotSystem):
        q_, v_ = system.checked_state(q, v)
        if system.curved:
            chart = RobotChart(system, q_)
            return chart, np.zeros(system.nv), v_, chart.back
    elif callable(getattr(system, "configuration_rate", None)):
        raise ValueError(f"{type(system).__name__} has v ≠ q̇; this needs v = q̇, or a RigidBodyModel")
    return system, q, v, lambda x, rate: (x, rate)
