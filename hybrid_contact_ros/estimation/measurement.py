"""From a state to what it says of the contacts, or the reason for which it is refused."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from hybrid_contact_ros.config import ActivationConfig
from hybrid_contact_ros.estimation.moment import Moment
from hybrid_contact_ros.estimation.uncertainty import GapUncertainty
from hybrid_contact_ros.kernels.estimation.contact_quantities import contact_rates
from hybrid_contact_ros.mechanics.model import RigidBodyModel
from hybrid_contact_ros.mechanics.problem import ContactProblem
from hybrid_contact_ros.mechanics.state import RobotState, UnusableStateError
from hybrid_contact_ros.modes.workspace import ModeWorkspace

Array = NDArray[np.float64]

# A base quaternion may differ from unit length by this much: far above the rounding of float32.
_QUATERNION = 1e-3


class StateReader:
    """Checks states, and forms what depends on one state alone: M, J, J v, G. Remembers nothing of them."""

    def __init__(self, model: RigidBodyModel, modes: ModeWorkspace, config: ActivationConfig) -> None:
        self._model, self._modes = model, modes
        self._uncertainty = GapUncertainty(model.contacts, config)
        self._tangents = model.contact_tangents.copy()  # a read-only array would be another type for the kernels
        self._passive = model.floating_base and model.nv == 6

    def checked(self, state: RobotState) -> tuple[RobotState, ContactProblem]:
        """The state with C-contiguous float64 arrays, and its contact problem.

        Raises:
            UnusableStateError: an array of the wrong size, or not finite; a base quaternion that is not of unit length;
                numbers so large that forces or gaps are not finite.
        """
        model = self._model
        q, v = _floats(state.q), _floats(state.v)
        effort = None if state.effort is None else _floats(state.effort)
        covariance = None if state.base_covariance is None else _floats(state.base_covariance)
        state = RobotState(state.stamp_ns, q, v, effort, covariance)
        fault = state.fault(model.nq, model.nv)
        if fault is not None:
            raise UnusableStateError(fault)
        if model.floating_base:
            norm = math.hypot(*q[3:7].tolist())
            if not abs(norm - 1.0) <= _QUATERNION:
                raise UnusableStateError(f"the base quaternion q[3:7] has length {norm:g}; normalise it")
        problem = model.problem(state)
        if not (np.isfinite(problem.bias_force).all() and np.isfinite(problem.gap).all()):
            raise UnusableStateError(
                "the state is too large to compute with: it gives forces or gaps that are not finite"
            )
        return state, problem

    def read(self, state: RobotState, dt: float) -> Moment:
        """What the state says of the contacts, ``dt`` s after the one before; M is factored into the mode workspace.

        Raises:
            UnusableStateError: as of :meth:`checked`, or a mass matrix that is not positive definite.
        """
        state, problem = self.checked(state)
        rows = problem.jacobian()
        if not self._modes.prepare(problem, rows):
            raise UnusableStateError("the mass matrix of this state is not positive definite")
        m, width = problem.jacobian_drift.shape
        velocity, gap_velocity = np.empty((m, width)), np.empty(m)
        tangential_velocity, slip_speed = np.empty((m, 3)), np.empty(m)
        contact_rates(
            self._tangents,
            rows.reshape(m, width, problem.nv),
            problem.velocity,
            velocity,
            gap_velocity,
            tangential_velocity,
            slip_speed,
        )
        covariance = state.base_covariance if self._model.floating_base else None
        gap_sigma, velocity_sigma = self._uncertainty.of(problem.normal_jacobian, covariance)
        return Moment(
            state=state,
            problem=problem,
            trusted=state.effort is not None or self._passive,
            dt=dt,
            modes=self._modes,
            position=self._model.contact_positions,
            velocity=velocity,
            gap_velocity=gap_velocity,
            tangential_velocity=tangential_velocity,
            slip_speed=slip_speed,
            gap_sigma=gap_sigma,
            velocity_sigma=velocity_sigma,
        )


def _floats(values: Array) -> Array:
    return np.ascontiguousarray(values, dtype=np.float64)
