"""Motion and forces at one state in one mode, and what forces are measured against."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from hybrid_contact_ros.mechanics.problem import ContactProblem

Array = NDArray[np.float64]
JAM_FORCE = 1e5
"""Times :func:`force_scale`: forces of sliding contacts this large do not exist any more (Painlevé's paradox)."""


@dataclass(frozen=True, slots=True, eq=False)
class ModeMotion:
    """What a mode does at a state.

    Attributes:
        problem: of the state. acceleration: v̇ (nv,). force: λ (m, 1 + d), N, normal first, λ_n ≥ 0 pushes.
        solved: False where the mode has no dynamics: its block matrix is singular (Johnson's Assumption A5), or its
            rows contradict each other. The acceleration and the forces are zero then.
    """

    problem: ContactProblem
    acceleration: Array
    force: Array
    solved: bool


def force_scale(problem: ContactProblem) -> float:
    """What forces are measured against, N: those that act without contact, and what 1 m/s² of the bodies needs."""
    inertia = np.diag(problem.mass)
    heavy = inertia[inertia > 0.0]
    return max(float(np.abs(problem.bias_force).max(initial=0.0)), float(heavy.mean()) if heavy.size else 1.0, 1e-300)
