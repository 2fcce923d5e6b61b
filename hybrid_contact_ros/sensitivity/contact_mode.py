"""Which contacts are closed, and how those that slide do: what the local maps need to know of a mode."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from hybrid_contact_ros.mechanics.problem import ContactProblem

Array = NDArray[np.float64]
Direction: TypeAlias = Array
"""A unit vector (d,) along the tangents of a contact."""


@dataclass(frozen=True, slots=True, eq=False)
class ContactMode:
    """A mode as the local maps take it; ``simulation.mode.HybridMode`` has the same first two fields.

    Attributes:
        closed: contacts that are closed. sliding: those of them that slide although they have friction.
        directions: of sliding contacts that are at rest at the state in question, the way in which they start to
            slide, or stopped; the others slide along their velocity.
        kinetic: whether sliding contacts have friction; with massless limbs they have none (Johnson's Assumption A12).
    """

    closed: frozenset[int] = frozenset()
    sliding: frozenset[int] = frozenset()
    directions: Mapping[int, Direction] = field(default_factory=dict)
    kinetic: bool = True

    def changed(self, closed: frozenset[int], sliding: frozenset[int]) -> ContactMode:
        """The mode with other contacts closed."""
        return ContactMode(closed, sliding, self.directions, self.kinetic)

    def rows(self, problem: ContactProblem) -> list[tuple[int, int]]:
        """The closed rows, as (contact, row of it): all of a contact that sticks, otherwise its normal."""
        found = []
        for i in sorted(self.closed):
            sticks = i not in self.sliding and problem.friction[i] > 0.0
            found += [(i, r) for r in range(1 + problem.tangents if sticks else 1)]
        return found

    def edges(self, problem: ContactProblem, resting: float) -> dict[int, Direction]:
        """Directions of slip of the sliding contacts with friction; one slower than ``resting``, m/s, is at rest.

        Raises:
            ValueError: a contact that slides, is at rest, and has no direction in :attr:`directions`.
        """
        found = {}
        for i in sorted(self.sliding & self.closed) if self.sliding and self.kinetic else ():
            if problem.friction[i] == 0.0:
                continue
            velocity = problem.tangent_jacobian[i] @ problem.velocity
            speed = float(np.sqrt(velocity @ velocity))
            if i in self.directions and (speed <= resting or problem.tangents == 1):
                found[i] = np.asarray(self.directions[i], dtype=np.float64)
            elif speed > 0.0:
                found[i] = velocity / speed
            else:
                raise ValueError(f"contact {i} slides and is at rest: say in which direction")
        return found


RESTING = 1e-6
"""Speed, m/s, below which a contact is at rest, unless said otherwise; as ``velocity_tolerance`` of ``simulate``."""
