"""How a contact problem changes with the state: what every derivative of an impact or of a motion is made of.

Displacements δq (nv,) are those of the tangent space, q ⊕ δq; where v = q̇ this is q + δq. Friction and restitution do
not change with the state, or by jumps only, whose instants are no events here. A system where they change smoothly says
so by an attribute ``smooth_coefficients`` that is True; its derivatives are differences.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from hybrid_contact_ros.sensitivity.asked_systems import asker, depends_on_time, is_lagrangian
from hybrid_contact_ros.sensitivity.differenced_gradient import STEP, differenced_gradient, differences
from hybrid_contact_ros.sensitivity.symbolic_gradient import symbolic_gradient
from hybrid_contact_ros.sensitivity.tensor_gradient import (
    MotionGradient,
    ProblemGradient,
    TensorGradient,
    coefficient_gradient,
)
from hybrid_contact_ros.systems.robot import RobotSystem

__all__ = [
    "STEP",
    "MotionGradient",
    "ProblemGradient",
    "TensorGradient",
    "asker",
    "coefficient_gradient",
    "depends_on_time",
    "differenced_gradient",
    "differences",
    "problem_gradient",
    "symbolic_gradient",
]

Array = NDArray[np.float64]


def problem_gradient(
    system: Any, q: Array, v: Array, time: float = 0.0, mode: frozenset[int] = frozenset()
) -> ProblemGradient:
    """The contact problem of a system at (q, v), with its derivatives.

    A robot's are in closed form (:mod:`~.robot_gradient`), a LagrangianSystem's are derived by sympy, and those of any
    other system are central differences of ``problem`` of fourth order. So are, everywhere, those of an effort or
    force that is a function.

    Args:
        system: as for ``simulate``: it has ``problem(q, v[, time][, mode])``.
        mode: closed contacts, which forces are told of. M may be singular; :mod:`~.massless` is for that.
    """
    if isinstance(system, RobotSystem):
        from hybrid_contact_ros.sensitivity.robot_gradient import robot_gradient  # Pinocchio, for robots only

        return robot_gradient(system, q, v, time, mode)
    if is_lagrangian(system):
        return symbolic_gradient(system, q, v, time, mode)
    return differenced_gradient(system, q, v, time, mode)
