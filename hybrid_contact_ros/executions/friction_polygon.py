"""Contact problems for laws whose friction cones have edges: tangents turned so that slip is along one of them."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from hybrid_contact_ros.mechanics.problem import ContactProblem

Array = NDArray[np.float64]
DIRECTIONS = 16
"""Of the polygon in space: friction is at most 2 % less than the cone's, and all of it against a slip that keeps its
direction."""


def aligned(problem: ContactProblem, contacts: Sequence[int], friction: float = 1.0) -> tuple[ContactProblem, Array]:
    """The contacts alone, tangents turned so that the first is along J_t v, and the rotations (k, d, d) that did it.

    Args:
        friction: by which μ is multiplied.
    """
    chosen = problem.select(list(contacts))
    k, d = chosen.contacts, chosen.tangents
    turns = np.tile(np.eye(d), (k, 1, 1))
    if d == 2:
        for i, slip in enumerate(np.einsum("ijk,k->ij", chosen.tangent_jacobian, chosen.velocity)):
            size = float(np.sqrt(slip @ slip))
            if size > 0.0:
                c, s = slip / size
                turns[i] = (c, s), (-s, c)
    turned = ContactProblem.trusted(
        chosen.mass,
        chosen.velocity,
        chosen.normal_jacobian,
        turns @ chosen.tangent_jacobian,
        chosen.friction * friction,
        chosen.restitution,
        chosen.gap,
        chosen.bias_force,
        chosen.jacobian_drift,
        chosen.names,
    )
    return turned, turns
