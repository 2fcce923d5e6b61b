"""How small changes of an execution's state and parameters move in one mode, and what an event makes of them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.integrate import solve_ivp

from hybrid_contact_ros.sensitivity.balance import Unsolvable
from hybrid_contact_ros.sensitivity.contact_mode import ContactMode
from hybrid_contact_ros.sensitivity.mode_gradient import mode_motion
from hybrid_contact_ros.sensitivity.saltation import Saltation
from hybrid_contact_ros.simulation.execution import Execution, ModeInterval
from hybrid_contact_ros.systems.robot import RobotSystem

Array = NDArray[np.float64]
Controls = Callable[[float, Array, Array, frozenset[int]], Array]
"""∂(Sᵀτ)/∂u (nv, u) at (time, q, v, mode): how control parameters enter the forces (Pace (27))."""
_BASE = 6


class Variation:
    """The variational equation d δx/dt = ∂F/∂x δx + ∂F/∂p of a system, for columns of changes x = (δq, v).

    The first 2 nv columns are those of x(0), the next those of the parameters; more may follow, which parameters do not
    move.

    Attributes:
        size: 2 nv. names: of the parameters: (kind, contact) with kind "friction", "restitution" and "height" for each
            contact in turn, then ("control", k).

    Raises:
        ValueError: tolerances that are not positive, controls of a wrong shape or that are not finite; v is not q̇ and
            the system is no robot, so that the tangent space is unknown.
    """

    def __init__(self, execution: Execution, controls: Controls | None, rtol: float, atol: float) -> None:
        system = execution.system
        self.known = known = system.system
        if system.curved and not isinstance(known, RobotSystem):
            raise ValueError(f"{system.name} has v ≠ q̇, and no RigidBodyModel that could say what a displacement is")
        if not (0.0 < rtol < np.inf and 0.0 < atol < np.inf):
            raise ValueError(f"rtol is {rtol} and atol {atol}; positive numbers are needed")
        self._rtol, self._atol = rtol, atol
        self.size, self._contacts = 2 * system.nv, system.contacts
        self._floating = isinstance(known, RobotSystem) and known.model.floating_base
        self._controls = None if controls is None else _checked(controls, system.nv)
        self.names = [(kind, i) for kind in ("friction", "restitution", "height") for i in range(system.contacts)]
        if self._controls is not None:
            start = execution.intervals[0].start
            given = self._controls(start, *execution.at(start), frozenset())
            self.names += [("control", k) for k in range(given.shape[1])]

    def begin(self) -> Array:
        """∂x(0)/∂(x(0), p) (2 nv, 2 nv + p)."""
        return np.hstack((np.eye(self.size), np.zeros((self.size, len(self.names)))))

    def rate(self, time: float, q: Array, v: Array, mode: ContactMode, now: Array) -> Array:
        """The rate of change of the columns ``now``, in a mode at a state."""
        change = mode_motion(self.known, q, v, time, mode)
        n, size, m = self.size // 2, self.size, self._contacts
        found = np.empty_like(now)
        found[:n] = now[n:]
        if self._floating:
            found[:_BASE] -= _adjoint(v[:_BASE]) @ now[:_BASE]
        found[n:] = change.acceleration @ now
        found[n:, size : size + m] += change.acceleration_friction
        if self._controls is not None:
            pushes = change.acceleration_push @ self._controls(time, q, v, mode.closed)
            found[n:, size + 3 * m : size + len(self.names)] += pushes
        return found

    def follow(self, part: ModeInterval, mode: ContactMode, now: Array) -> Callable[[float], Array]:
        """Solve the equation along one interval; returns its dense output, flat.

        Raises:
            Unsolvable: the mode has no motion that its equations decide, or the integrator did not get through.
        """

        def rate(time: float, flat: Array) -> Array:
            q, v = part.at(time)
            return self.rate(time, q, v, mode, flat.reshape(now.shape)).reshape(-1)

        solution = solve_ivp(
            rate, (part.start, part.end), now.reshape(-1), method="DOP853", rtol=self._rtol, atol=self._atol,
            dense_output=True, first_step=part.end - part.start,  # mostly so smooth that a step or two will do
        )  # fmt: skip
        if not solution.success:
            raise Unsolvable(True, f"the variational equation could not be followed: {solution.message}")
        last, dense = solution.y[:, -1], solution.sol
        return lambda time: last if time >= part.end else dense(time)

    def after(self, jump: Saltation, now: Array) -> Array:
        """The columns after an instant: Ξ δx⁻ + ∂x⁺/∂p."""
        found = jump.apply(now)
        if jump.parameter_matrix is not None:
            for k, name in enumerate(jump.parameters):
                if name in self.names:
                    found[:, self.size + self.names.index(name)] += jump.parameter_matrix[:, k]
        return found


def _checked(controls: Controls, nv: int) -> Controls:
    """The same function, whose answers are looked at: an integrator would look for a finite number for ever."""

    def checked(*where: Any) -> Array:
        given = np.asarray(controls(*where), dtype=np.float64)
        if given.ndim != 2 or given.shape[0] != nv or not np.isfinite(given).all():
            raise ValueError(
                f"controls gave an array of shape {given.shape}; finite ones of ({nv}, controls) are needed"
            )
        return given

    return checked


def _adjoint(v: Array) -> Array:
    """ad_ν (6, 6) of a spatial velocity, linear then angular: the base's δq turns with its frame."""
    found = np.zeros((6, 6))
    linear, angular = _skew(v[:3]), _skew(v[3:])
    found[:3, :3] = found[3:, 3:] = angular
    found[:3, 3:] = linear
    return found


def _skew(a: Array) -> Array:
    return np.array([[0.0, -a[2], a[1]], [a[2], 0.0, -a[0]], [-a[1], a[0], 0.0]])
