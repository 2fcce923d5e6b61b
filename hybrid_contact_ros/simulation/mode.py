"""A discrete mode: which contacts are closed, and which of those slide (Johnson, Definition 5, §3.2.1)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from hybrid_contact_ros.mechanics.problem import ContactProblem


@dataclass(frozen=True, slots=True)
class HybridMode:
    """A contact mode: the set of closed contacts, each of which sticks or slides (Johnson's set of closed rows).

    Attributes:
        closed: indices of the contacts that are closed, so that their gaps stay zero.
        sliding: indices of those closed contacts that slide although they have friction; the others with friction
            stick, so that their tangential velocities stay zero too.
    """

    closed: frozenset[int] = frozenset()
    sliding: frozenset[int] = frozenset()

    @classmethod
    def of(cls, closed: Iterable[int] = (), sliding: Iterable[int] = ()) -> HybridMode:
        """Build a mode from any iterables of indices; each sliding contact must also be closed."""
        mode = cls(frozenset(closed), frozenset(sliding))
        if not mode.sliding <= mode.closed:
            raise ValueError(f"sliding contacts {sorted(mode.sliding)} are not all closed ({sorted(mode.closed)})")
        return mode

    def closed_rows(self, problem: ContactProblem) -> NDArray[np.bool_]:
        """Mask (m, 1 + d) of the rows that the mode closes, normals first."""
        rows = np.zeros((problem.contacts, 1 + problem.tangents), dtype=bool)
        for i in self.closed:
            sticks = i not in self.sliding and problem.friction[i] > 0.0
            rows[i, : 1 + problem.tangents if sticks else 1] = True
        return rows

    def label(self, names: Sequence[str]) -> str:
        """``{A, B~}``: A holds, B slides, the others are open."""
        parts = [names[i] + ("~" if i in self.sliding else "") for i in sorted(self.closed)]
        return "{" + ", ".join(parts) + "}"
