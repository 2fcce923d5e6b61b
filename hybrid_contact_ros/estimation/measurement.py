"""From a state to what it says of the contacts, or the reason for which it is refused."""

from __future__ import annotations

import math

import numpy as np
from scipy.linalg.blas import ddot

from hybrid_contact_ros.estimation.engine import Engine
from hybrid_contact_ros.kernels.estimation.measure import NOT_DEFINITE, QUATERNION_TOLERANCE, USABLE
from hybrid_contact_ros.mechanics.model import RigidBodyModel
from hybrid_contact_ros.mechanics.problem import ContactProblem
from hybrid_contact_ros.mechanics.state import BASE_COVARIANCE, LAST_STAMP, RobotState, UnusableStateError

_LARGEST_COVARIANCE = 1e15  # m², rad² and their rates


class StateReader:
    """Checks states, and forms what depends on one state alone: M, J, J v, G. Remembers nothing of them."""

    def __init__(self, model: RigidBodyModel, engine: Engine) -> None:
        self._model, self._engine = model, engine

    def read(self, state: RobotState) -> None:
        """Let the model and the engine write what the state says of the contacts.

        Raises:
            UnusableStateError: as of :meth:`checked`, or a mass matrix that is not positive definite.
        """
        if not -LAST_STAMP < state.stamp_ns < LAST_STAMP:
            raise UnusableStateError(f"the stamp is {state.stamp_ns} ns; it must be within ±2⁶² ns, 146 years")
        doubt = state.base_doubt
        if doubt is not None:
            entries = np.asarray(doubt, dtype=np.float64)
            if entries.shape != BASE_COVARIANCE:
                self._check_size(state)
            entries = entries.ravel()
            if not ddot(entries, entries) <= _LARGEST_COVARIANCE**2:
                name = "base_carried" if state.base_covariance is None else "base_covariance"
                raise UnusableStateError(
                    f"{name} has entries of {np.abs(entries).max():g}; leave it None where it is not known"
                )
        if not self._model.evaluate(state):
            raise self._fault(state)
        code = self._engine.measure(state)
        if code == NOT_DEFINITE:
            raise UnusableStateError("the mass matrix of this state is not positive definite")
        if code != USABLE:
            raise self._fault(state)

    def checked(self, state: RobotState) -> ContactProblem:
        """The contact problem of a state.

        Raises:
            UnusableStateError: an array of the wrong size, or not finite; a base quaternion that is not of unit length;
                numbers so large that forces or gaps are not finite.
        """
        self._check_size(state)
        problem = self._model.problem(state)
        finite = np.isfinite(problem.bias_force).all() and np.isfinite(problem.gap).all()
        if not (finite and state.fault(self._model.nq, self._model.nv) is None and self._is_unit(state)):
            raise self._fault(state)
        return problem

    def _check_size(self, state: RobotState) -> None:
        fault = state.fault(self._model.nq, self._model.nv)
        if fault is not None:
            raise UnusableStateError(fault)

    def _is_unit(self, state: RobotState) -> bool:
        length = math.hypot(*state.q[3:7].tolist()) if self._model.floating_base else 1.0
        return abs(length - 1.0) <= QUATERNION_TOLERANCE

    def _fault(self, state: RobotState) -> UnusableStateError:
        """What is wrong with a state that cannot be used."""
        fault = state.fault(self._model.nq, self._model.nv)
        if fault is not None:
            return UnusableStateError(fault)
        if not self._is_unit(state):
            length = math.hypot(*state.q[3:7].tolist())
            return UnusableStateError(f"the base quaternion q[3:7] has length {length:g}; normalise it")
        return UnusableStateError("the state is too large to compute with: it gives forces or gaps that are not finite")
