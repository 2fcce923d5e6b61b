"""A robot from its URDF as a system that ``simulate``, the modes and the Zeno analyses can follow."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from hybrid_contact_ros.mechanics.problem import ContactProblem
from hybrid_contact_ros.mechanics.state import RobotState

if TYPE_CHECKING:
    from hybrid_contact_ros.mechanics.model import RigidBodyModel

Array = NDArray[np.float64]
Effort: TypeAlias = ArrayLike | Callable[[float, Array, Array, frozenset[int]], ArrayLike] | None
"""Actuation Sᵀτ, or a function (time, q, v, mode) -> Sᵀτ; ``mode`` holds the indices of the closed contacts."""
_FREE_FLYER = 6
_OFF = 1e-6  # by which a given configuration may miss its manifold, far above the rounding of text


class RobotSystem:
    """``M(q) v̇ + h(q, v) = Sᵀτ(t, q, v, mode) + Jᵀλ`` of a
    :class:`~hybrid_contact_ros.mechanics.model.RigidBodyModel`.

    q and v are Pinocchio's (:class:`~hybrid_contact_ros.mechanics.state.RobotState`). With a free-flyer or continuous
    joints v is not q̇: :meth:`configuration_rate` and :meth:`integrate` say how q moves. Contacts, friction,
    restitution and joint limits are the model's.

    Args:
        model: used for every evaluation, so that no other thread may use it or its arrays meanwhile.
        effort: Sᵀτ (nv,) or, with a floating base, that of the joints only (nv − 6,), in N m or N; or a function of
            (time, q, v, mode) that returns one of these. None is no actuation: the robot is limp. The first six of the
            nv numbers push the base, in its own frame; no motor does that, but a hand or a rope may.

    Attributes:
        driven: whether the effort is a function. Where it has an attribute ``gradient``, derivatives ask that
            (:meth:`effort_gradient`), otherwise they difference the function.

    Raises:
        ValueError: an effort of another size, or not finite.
    """

    def __init__(self, model: RigidBodyModel, effort: Effort = None) -> None:
        self.model = model
        self.name = model.pinocchio_model.name
        self.nq, self.nv = model.nq, model.nv
        self.contact_names, self.contacts = model.contact_names, model.contacts
        self.friction, self.restitution = model.friction, model.restitution
        self.curved = model.floating_base or model.nq != model.nv
        self._joints = model.nv - (_FREE_FLYER if model.floating_base else 0)
        self._command = effort if callable(effort) else None
        self.driven = self._command is not None
        self._constant = np.zeros(model.nv) if effort is None or callable(effort) else self._checked(effort)

    def problem(
        self, q: ArrayLike, v: ArrayLike, time: float = 0.0, mode: frozenset[int] = frozenset()
    ) -> ContactProblem:
        """The contact problem at (q, v), with the effort of ``time`` and ``mode`` in its bias force."""
        unit = self.model.coordinates.normalised(np.asarray(q, dtype=np.float64))
        v_ = np.asarray(v, dtype=np.float64)
        return self.model.problem(RobotState(0, unit, v_, self.effort(unit, v_, time, mode)))

    def checked_state(self, q: ArrayLike, v: ArrayLike) -> tuple[Array, Array]:
        """q and v as new arrays, q with lengths of 1.

        Raises:
            ValueError: a wrong size, an entry that is not finite, or a quaternion far from length 1.
        """
        q_, v_ = np.array(q, dtype=np.float64), np.array(v, dtype=np.float64)
        fault = RobotState(0, q_, v_).fault(self.nq, self.nv)
        if fault is not None:
            raise ValueError(fault)
        with np.errstate(invalid="ignore", divide="ignore"):
            unit = self.model.coordinates.normalised(q_)
        off = float(np.abs(unit - q_).max(initial=0.0))
        if not off <= _OFF:
            raise ValueError(f"q misses its manifold by {off:.2g}: normalise its quaternion and its (cos, sin) pairs")
        return unit, v_

    def bound(self, time: float, mode: frozenset[int]) -> RobotSystem:
        """The same robot, with the effort of this time and this mode at all times and in all modes."""
        command = self._command
        if command is None:
            return self
        return RobotSystem(self.model, lambda _time, q, v, _mode: command(time, q, v, mode))

    def effort(self, q: Array, v: Array, time: float = 0.0, mode: frozenset[int] = frozenset()) -> Array:
        """Sᵀτ (nv,), N m or N.

        Raises:
            ValueError: the function that was given returned another size, or numbers that are not finite.
        """
        if self._command is None:
            return self._constant
        return self._checked(self._command(time, q.copy(), v.copy(), mode))

    def effort_gradient(self, q: Array, v: Array, time: float, mode: frozenset[int]) -> tuple[Array, Array] | None:
        """∂(Sᵀτ)/∂q and ∂(Sᵀτ)/∂v (nv, nv), or None: what the attribute ``gradient`` of the function that was given
        returns, with the arguments of the function."""
        slope = getattr(self._command, "gradient", None)
        if slope is None:
            return None
        by_q, by_v = slope(time, q.copy(), v.copy(), mode)
        return np.asarray(by_q, dtype=np.float64), np.asarray(by_v, dtype=np.float64)

    def gap(self, q: ArrayLike) -> Array:
        """φ(q), (m,)."""
        unit = self.model.coordinates.normalised(np.asarray(q, dtype=np.float64))
        return self.model.problem(RobotState(0, unit, np.zeros(self.nv))).gap

    def neutral(self) -> Array:
        """The configuration (nq,) with all joints at zero and the base at the origin."""
        return self.model.neutral()

    def configuration_rate(self, q: Array, v: Array) -> Array:
        """q̇ (nq,) of the velocity v (nv,)."""
        return self.model.coordinates.rate(q, v)

    def integrate(self, q: Array, step: Array) -> Array:
        """The configuration (nq,) reached from q by the displacement ``step`` (nv,); its quaternion has length 1."""
        coordinates = self.model.coordinates
        unit = coordinates.normalised(q)
        return coordinates.normalised(coordinates.integrate(unit, step)) if step.any() else unit

    def difference(self, start: Array, end: Array) -> Array:
        """The displacement (nv,) that leads from one configuration (nq,) to another: undoes :meth:`integrate`."""
        coordinates = self.model.coordinates
        return coordinates.difference(coordinates.normalised(start), coordinates.normalised(end))

    def energy(self, q: ArrayLike, v: ArrayLike) -> float:
        """Kinetic and potential energy, J."""
        unit = self.model.coordinates.normalised(np.asarray(q, dtype=np.float64))
        return self.model.energy(unit, np.asarray(v, dtype=np.float64))

    def _checked(self, effort: ArrayLike) -> Array:
        given = np.array(effort, dtype=np.float64)
        if given.shape == (self._joints,) != (self.nv,):
            given = np.concatenate((np.zeros(self.nv - self._joints), given))
        if given.shape != (self.nv,):
            sizes = f"({self.nv},)" + (f", or ({self._joints},) of the joints," if self._joints != self.nv else "")
            raise ValueError(f"effort has shape {given.shape}; {sizes} is needed")
        if not np.isfinite(given).all():
            raise ValueError(f"effort has an entry that is not finite: {given}")
        return given


def as_system(system: Any, effort: Effort = None) -> Any:
    """The system itself, or the :class:`RobotSystem` of a RigidBodyModel.

    Raises:
        ValueError: an effort for a system that has its own forces.
    """
    # A model is known by its attribute: to import its class would load Pinocchio for every bouncing ball.
    if hasattr(system, "pinocchio_model"):
        return RobotSystem(system, effort)
    if effort is not None:
        raise ValueError(f"effort is for a RigidBodyModel; {type(system).__name__} has forces of its own")
    return system
