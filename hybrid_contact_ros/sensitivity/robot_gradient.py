"""Derivatives of a robot's contact problem: Pinocchio's for the bodies, closed forms for the contacts."""

from __future__ import annotations

from weakref import WeakKeyDictionary

import numpy as np
import pinocchio as pin
from numpy.typing import NDArray

from hybrid_contact_ros.kernels.mechanics.contact_gradient import contact_force_gradient, contact_motion_gradient
from hybrid_contact_ros.mechanics.model import RigidBodyModel
from hybrid_contact_ros.mechanics.problem import ContactProblem
from hybrid_contact_ros.mechanics.state import RobotState
from hybrid_contact_ros.sensitivity.differenced_gradient import differences
from hybrid_contact_ros.sensitivity.tensor_gradient import MotionGradient
from hybrid_contact_ros.systems.robot import RobotSystem

Array = NDArray[np.float64]


class _Scratch:
    """A robot without gravity beside the one with it, and Pinocchio's memory for both."""

    def __init__(self, model: RigidBodyModel) -> None:
        self.weightless = model.pinocchio_model.copy()
        self.weightless.gravity = pin.Motion.Zero()
        self.data = model.pinocchio_model.createData()
        self.still = np.zeros(model.pinocchio_model.nv)
        self.twist = np.empty((model.pinocchio_model.njoints, 12))
        spheres = model.spheres
        self.spheres = spheres.joint, spheres.point, spheres.radius, spheres.normal, spheres.tangent


_scratch: WeakKeyDictionary[RigidBodyModel, _Scratch] = WeakKeyDictionary()


class RobotGradient:
    """A robot's :class:`~.tensor_gradient.ProblemGradient` at one state.

    It reads the joint Jacobian and the placements that the model has of this state when it is made.

    Attributes:
        problem: at the state.
    """

    def __init__(self, system: RobotSystem, q: Array, v: Array, time: float, mode: frozenset[int]) -> None:
        model = system.model
        self._system, self._time, self._mode = system, time, mode
        self._q = model.coordinates.normalised(np.asarray(q, dtype=np.float64))
        self._v = np.asarray(v, dtype=np.float64)
        effort = system.effort(self._q, self._v, time, mode)
        self.problem: ContactProblem = model.problem(RobotState(0, self._q, self._v, effort))
        self._columns, self._placement = model.joints.columns.copy(), model.joints.placement.copy()
        found = _scratch.get(model)
        if found is None:
            found = _scratch[model] = _Scratch(model)
        self._scratch = found

    def momentum(self, velocity: Array) -> Array:
        """∂(M w)/∂q (nv, nv): that of the inverse dynamics without gravity and velocity, at the acceleration w."""
        here, coordinates = self._scratch, self._system.model.coordinates
        q, w = coordinates.full_position(self._q), coordinates.full_velocity(velocity)
        by_q = pin.computeRNEADerivatives(here.weightless, here.data, q, here.still, w)[0]
        return self._reduced(by_q)

    def rates(self, velocity: Array) -> Array:
        """∂(J w)/∂q (m, 3, nv)."""
        return self._contacts(velocity, np.zeros(self.problem.nv))[0]

    def pushes(self, force: Array) -> Array:
        """∂(Jᵀλ)/∂q (nv, nv)."""
        gradient = np.empty((self.problem.nv, self.problem.nv))
        model, here = self._system.model, self._scratch
        force = np.ascontiguousarray(force)
        contact_force_gradient(*model.tree, *here.spheres, self._columns, self._placement, force, gradient)
        return gradient

    def motion(self, acceleration: Array) -> MotionGradient:
        """The derivatives of motion; those of an effort that is a function are differences."""
        model, here, system = self._system.model, self._scratch, self._system
        full = model.coordinates.full_velocity
        q, v, a = model.coordinates.full_position(self._q), full(self._v), full(acceleration)
        by_q, by_v, _ = pin.computeRNEADerivatives(model.pinocchio_model, here.data, q, v, a)
        force_q, force_v = self._reduced(by_q), self._reduced(by_v)
        time, mode = self._time, self._mode
        known = system.effort_gradient(self._q, self._v, time, mode)
        if known is not None:
            force_q, force_v = force_q - known[0], force_v - known[1]
        elif system.driven:

            def at(moved: Array, pushed: Array) -> Array:
                return system.effort(system.integrate(self._q, moved), self._v + pushed, time, mode)

            none = np.zeros(system.nv)
            force_q = force_q - differences(lambda moved: at(moved, none), system.nv)
            force_v = force_v - differences(lambda pushed: at(none, pushed), system.nv)
        _, acceleration_q, acceleration_v = self._contacts(self._v, acceleration)
        return MotionGradient(force_q, force_v, acceleration_q, acceleration_v)

    def _contacts(self, velocity: Array, acceleration: Array) -> tuple[Array, Array, Array]:
        model, here = self._system.model, self._scratch
        full = model.coordinates.full_velocity
        shape = (self.problem.contacts, 3, self.problem.nv)
        out = np.empty(shape), np.empty(shape), np.empty(shape)
        v, a = np.ascontiguousarray(full(velocity)), np.ascontiguousarray(full(acceleration))
        contact_motion_gradient(*model.tree, *here.spheres, self._columns, self._placement, v, a, here.twist, *out)
        return out

    def _reduced(self, full: Array) -> Array:
        """Tᵀ G T (nv, nv) where joints mimic others; a copy, since Pinocchio hands out its own memory."""
        reduction = self._system.model.coordinates.reduction
        return np.array(full if reduction is None else reduction.T @ full @ reduction)


def robot_gradient(
    system: RobotSystem, q: Array, v: Array, time: float = 0.0, mode: frozenset[int] = frozenset()
) -> RobotGradient:
    """The contact problem of a robot at (q, v), with its derivatives."""
    return RobotGradient(system, q, v, time, mode)
