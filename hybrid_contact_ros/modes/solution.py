"""What a mode solver answers."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

import numpy as np
from numpy.typing import NDArray

from hybrid_contact_ros.codes import Status

Array = NDArray[np.float64]


class Law(Enum):
    """Which complementarity problem was solved."""

    FORCE_ACCELERATION = "force-acceleration"
    IMPULSE_VELOCITY = "impulse-velocity"
    PSEUDO_IMPULSE = "pseudo-impulse"


@dataclass(frozen=True, slots=True, eq=False)
class ModeSolution:
    """A contact mode and what happens in it.

    Attributes:
        law: which problem this answers; it says how to read ``reaction`` and ``motion``.
        mode: J, indices of the closed contacts.
        contact_status: (m,) uint8, values of :class:`~hybrid_contact_ros.prediction.ContactStatus`.
        reaction: (m, 1 + d), normal first, λ_n ≥ 0 pushes; zero for open contacts. Forces λ (N) for
            force-acceleration, impulses Λ (N s) for the two others.
        motion: (nv,): acceleration v̇ for force-acceleration, velocity v⁺ for the two others.
        unique: True if exactly one mode satisfies the predicate, False if several do, None where modes were not
            enumerated.
        count: modes that satisfy the predicate; None where modes were not enumerated.
        status: SOLVED; NONE_FOUND where no mode satisfies the predicate; SINGULAR where a mode that decides it has no
            block inverse (J Assumption A5 fails); INACCURATE. ``reaction`` and ``motion`` are finite in any case, and
            mean something only with SOLVED or INACCURATE.
        residual: largest violation of the predicate's conditions found from the definition, scaled to be without unit.
    """

    law: Law
    mode: frozenset[int]
    contact_status: NDArray[np.uint8]
    reaction: Array
    motion: Array
    unique: bool | None
    count: int | None
    status: Status
    residual: float

    @property
    def forces(self) -> Array:
        """λ (m, 1 + d), N: of a force-acceleration solution."""
        return self._of(self.reaction, "forces", self.law is Law.FORCE_ACCELERATION)

    @property
    def acceleration(self) -> Array:
        """v̇ (nv,): of a force-acceleration solution."""
        return self._of(self.motion, "acceleration", self.law is Law.FORCE_ACCELERATION)

    @property
    def impulses(self) -> Array:
        """Λ (m, 1 + d), N s: of an impact."""
        return self._of(self.reaction, "impulses", self.law is not Law.FORCE_ACCELERATION)

    @property
    def velocity(self) -> Array:
        """v⁺ (nv,): of an impact."""
        return self._of(self.motion, "velocity", self.law is not Law.FORCE_ACCELERATION)

    def _of(self, values: Array, name: str, fits: bool) -> Array:
        if not fits:
            raise AttributeError(f"a {self.law.value} solution has no {name}")
        return values
