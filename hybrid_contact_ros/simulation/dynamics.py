"""Motion and forces at one state in one mode."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from hybrid_contact_ros.mechanics.problem import ContactProblem

Array = NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class Dynamics:
    """What a mode does at a state.

    Attributes:
        problem: of the state. acceleration: v̇ (nv,). force: λ (m, 1 + d), N, normal first, λ_n ≥ 0 pushes.
        solved: False where the mode has no dynamics: its block matrix is singular (J A5), or its rows contradict each
            other; the other fields are zero then.
    """

    problem: ContactProblem
    acceleration: Array
    force: Array
    solved: bool
