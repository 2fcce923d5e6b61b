"""Contact problems for laws whose friction cones have edges: tangents turned so that slip is along one of them."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from hybrid_contact_ros.mechanics.problem import ContactProblem
from hybrid_contact_ros.mechanics.slip_axes import along_slip

Array = NDArray[np.float64]
DIRECTIONS = 16
"""Of the polygon in space: friction is at most 2 % less than the cone's, and all of it against a slip that keeps its
direction."""


def aligned(problem: ContactProblem, contacts: Sequence[int], friction: float = 1.0) -> tuple[ContactProblem, Array]:
    """The contacts alone, tangents turned so that the first is along J_t v, and the rotations (k, d, d) that did it.

    Args:
        friction: by which μ is multiplied.
    """
    turned, turns = along_slip(problem.select(list(contacts)))
    if friction == 1.0:
        return turned, turns
    rougher = ContactProblem.trusted(
        turned.mass,
        turned.velocity,
        turned.normal_jacobian,
        turned.tangent_jacobian,
        turned.friction * friction,
        turned.restitution,
        turned.gap,
        turned.bias_force,
        turned.jacobian_drift,
        turned.names,
    )
    return rougher, turns
