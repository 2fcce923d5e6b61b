"""A discrete mode: which contacts are closed, and which of those slide (J Definition 5, §3.2.1)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from hybrid_contact_ros.mechanics.problem import ContactProblem


@dataclass(frozen=True, slots=True)
class Mode:
    """J's I ⊆ K: normals of ``closed``, and tangents of those with friction that are not in ``sliding``."""

    closed: frozenset[int] = frozenset()
    sliding: frozenset[int] = frozenset()

    @classmethod
    def of(cls, closed: Iterable[int] = (), sliding: Iterable[int] = ()) -> Mode:
        """From any indices; ``sliding`` must be among ``closed``."""
        mode = cls(frozenset(closed), frozenset(sliding))
        if not mode.sliding <= mode.closed:
            raise ValueError(f"sliding contacts {sorted(mode.sliding)} are not all closed ({sorted(mode.closed)})")
        return mode

    def held(self, problem: ContactProblem) -> NDArray[np.bool_]:
        """Which rows (m, 1 + d) the mode closes (J's I as a mask)."""
        rows = np.zeros((problem.contacts, 1 + problem.tangents), dtype=bool)
        for i in self.closed:
            sticks = i not in self.sliding and problem.friction[i] > 0.0
            rows[i, : 1 + problem.tangents if sticks else 1] = True
        return rows

    def label(self, names: Sequence[str]) -> str:
        """``{A, B~}``: A holds, B slides, the others are open."""
        parts = [names[i] + ("~" if i in self.sliding else "") for i in sorted(self.closed)]
        return "{" + ", ".join(parts) + "}"
