"""What the mode solvers of the three laws answer."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

import numpy as np
from numpy.typing import NDArray

from hybrid_contact_ros.codes import ContactStatus, Status

Array = NDArray[np.float64]


_ACCURATE = 1e-7  # a residual up to this is SOLVED


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
        mode: indices of the closed contacts.
        contact_status: (m,) uint8, values of :class:`~hybrid_contact_ros.codes.ContactStatus`.
        reaction: (m, 1 + d), normal first, λ_n ≥ 0 pushes; zero for open contacts. Forces λ (N) for
            force-acceleration, impulses Λ (N s) for the two others.
        motion: (nv,): acceleration v̇ for force-acceleration, velocity v⁺ for the two others.
        unique: whether exactly one mode satisfies the predicate; None where modes were not enumerated.
        count: number of modes that satisfy the predicate; None where modes were not enumerated.
        status: SOLVED; NONE_FOUND where no mode satisfies the predicate; SINGULAR where a mode that decides it has no
            block inverse (Johnson, Assumption A5, fails); INACCURATE. ``reaction`` and ``motion`` are finite in any
            case, and mean something only with SOLVED or INACCURATE.
        residual: largest violation of the conditions by their definition, scaled so that it has no unit.
        trend_order: the highest derivative along the motion that decided a tie (Johnson, Definition 1); 0 for none.
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
    trend_order: int = 0

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

    @classmethod
    def found(
        cls, law: Law, held: NDArray[np.bool_], reaction: Array, motion: Array, count: int | None, residual: float
    ) -> ModeSolution:
        """The mode whose rows ``held`` (m, 1 + d) are closed, one of ``count`` (None: not enumerated); SOLVED, or
        INACCURATE by its ``residual``."""
        return cls(
            law=law,
            mode=frozenset(np.flatnonzero(held[:, 0]).tolist()),
            contact_status=contact_statuses(held),
            reaction=reaction,
            motion=motion,
            unique=None if count is None else count == 1,
            count=count,
            status=Status.SOLVED if residual <= _ACCURATE else Status.INACCURATE,
            residual=residual,
        )

    @classmethod
    def failed(cls, law: Law, reaction: Array, motion: Array, singular: bool, count: int | None) -> ModeSolution:
        """No mode, with all contacts open: SINGULAR, or NONE_FOUND of ``count`` modes (None: not enumerated)."""
        return cls(
            law=law,
            mode=frozenset(),
            contact_status=np.full(reaction.shape[0], ContactStatus.OPEN, dtype=np.uint8),
            reaction=reaction,
            motion=motion,
            unique=None if count is None else False,
            count=count,
            status=Status.SINGULAR if singular else Status.NONE_FOUND,
            residual=0.0,
        )

    def _of(self, values: Array, name: str, fits: bool) -> Array:
        if not fits:
            raise AttributeError(f"a {self.law.value} solution has no {name}")
        return values


def contact_statuses(held: NDArray[np.bool_]) -> NDArray[np.uint8]:
    """The status (m,) of contacts whose rows ``held`` (m, 1 + d) are closed: all of them, the normal alone, or none."""
    closed = np.where(held.all(axis=1), ContactStatus.STICKING, ContactStatus.SLIPPING)
    return np.where(held[:, 0], closed, ContactStatus.OPEN).astype(np.uint8)
