"""The derivatives of a contact problem by its state: what they are asked for, and as full tensors."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from hybrid_contact_ros.mechanics.problem import ContactProblem

Array = NDArray[np.float64]


class MotionGradient(NamedTuple):
    """Derivatives of M v̇ + h − Sᵀτ, and of the contacts' accelerations J v̇ + J̇v, for a fixed v̇.

    Attributes:
        force_q, force_v: (nv, nv). acceleration_q, acceleration_v: (m, 1 + d, nv), normal first.
    """

    force_q: Array
    force_v: Array
    acceleration_q: Array
    acceleration_v: Array


class ProblemGradient(Protocol):
    """A contact problem at a state (q, v), and its derivatives there, contracted with what they multiply."""

    @property
    def problem(self) -> ContactProblem: ...

    def momentum(self, velocity: Array) -> Array:
        """∂(M w)/∂q (nv, nv) for a fixed w (nv,)."""

    def rates(self, velocity: Array) -> Array:
        """∂(J w)/∂q (m, 1 + d, nv) for a fixed w (nv,)."""

    def pushes(self, force: Array) -> Array:
        """∂(Jᵀλ)/∂q (nv, nv) for fixed forces or impulses λ (m, 1 + d)."""

    def motion(self, acceleration: Array) -> MotionGradient:
        """The derivatives of motion for a fixed v̇ (nv,)."""


@dataclass(frozen=True, slots=True, eq=False)
class TensorGradient:
    """Derivatives as full tensors: small systems, and the reference for robots.

    Attributes:
        problem: at the state. mass: ∂M/∂q (nv, nv, nv), the last index that of q. rows: ∂J/∂q (m, 1 + d, nv, nv).
        bias_q, bias_v: of h − Sᵀτ (nv, nv). drift_q, drift_v: of J̇v (m, 1 + d, nv).
        coefficients: ∂(μ, e)/∂(q, v) (2 m, 2 nv), or None where they do not change.
    """

    problem: ContactProblem
    mass: Array
    rows: Array
    bias_q: Array
    bias_v: Array
    drift_q: Array
    drift_v: Array
    coefficients: Array | None = None

    def momentum(self, velocity: Array) -> Array:
        """∂(M w)/∂q (nv, nv)."""
        return np.asarray(np.einsum("ijk,j->ik", self.mass, velocity))

    def rates(self, velocity: Array) -> Array:
        """∂(J w)/∂q (m, 1 + d, nv)."""
        return np.asarray(np.einsum("crjk,j->crk", self.rows, velocity))

    def pushes(self, force: Array) -> Array:
        """∂(Jᵀλ)/∂q (nv, nv)."""
        return np.asarray(np.einsum("crjk,cr->jk", self.rows, force))

    def motion(self, acceleration: Array) -> MotionGradient:
        """The derivatives of motion."""
        return MotionGradient(
            self.bias_q + self.momentum(acceleration),
            self.bias_v,
            self.drift_q + self.rates(acceleration),
            self.drift_v,
        )


def coefficient_gradient(gradient: ProblemGradient) -> Array | None:
    """∂(μ, e)/∂(q, v) (2 m, 2 nv), or None where they do not change with the state."""
    found: Array | None = getattr(gradient, "coefficients", None)
    return found
