"""Contact problems for laws whose friction cones have edges: tangents are turned so that slip is along an edge."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from hybrid_contact_ros.mechanics.problem import ContactProblem
from hybrid_contact_ros.mechanics.slip_axes import along_slip

Array = NDArray[np.float64]
DIRECTIONS = 16
"""Edges of the polygon in space: friction is at most 2 % less than the cone's, and equal to it against a slip that
keeps its direction."""


def aligned_with_slip(
    problem: ContactProblem, contacts: Sequence[int], friction: float = 1.0
) -> tuple[ContactProblem, Array]:
    """The problem of some contacts, tangents turned so that the first is along J_t v, and the rotations that did it.

    Args:
        contacts: which ones, k of them. friction: factor of μ.

    Returns:
        The problem, and the rotations (k, d, d): a tangential impulse p_t (k, d) is Σ_k R[i, k, j] p_t[i, k] unturned.
    """
    turned, turns = along_slip(problem.select(list(contacts)))
    if friction == 1.0:
        return turned, turns
    return turned.replace_trusted(friction=turned.friction * friction), turns
