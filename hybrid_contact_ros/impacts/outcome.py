"""What an impact law answers."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from hybrid_contact_ros.codes import Status
from hybrid_contact_ros.impacts.convex_set import ConvexSet

Array = NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class ImpactOutcome:
    """One velocity after an impact.

    Attributes:
        velocity: v⁺ (nv,).
        impulse: Λ (m, 1 + d), N s, normal first; zero rows for contacts that took no part.
        status: SOLVED, or why not; the other fields are finite in any case.
        residual: largest violation of the conditions of the law, in scaled units (velocities over the speed of the
            approach, impulses over the impulse that stops it), computed without the solver.
        steps: pivots, single impacts or impulse increments that the outcome took.
    """

    velocity: Array
    impulse: Array
    status: Status
    residual: float
    steps: int


class Outcomes(list[ImpactOutcome]):
    """Several outcomes of one impact, with different velocities.

    Attributes:
        complete: whether there are certainly no other outcomes, but for those between the ends of a continuum.
        continuum: whether some of the outcomes are ends of a continuum, all of which are outcomes too.
    """

    def __init__(self, outcomes: Iterable[ImpactOutcome] = (), complete: bool = True, continuum: bool = False) -> None:
        super().__init__(outcomes)
        self.complete = complete
        self.continuum = continuum


@dataclass(frozen=True, slots=True, eq=False)
class VelocitySet:
    """A set of velocities after an impact, sampled from the inside and bounded from the outside.

    As a region it is the convex hull of the terminated ``velocities``, plus all Σ aᵢ generatorsᵢ with |aᵢ| ≤ 1, plus a
    ball of ``margin`` in the kinetic norm (:meth:`convex`).

    Attributes:
        velocities: v⁺ (n, nv), one per sample; only those of terminated samples are velocities after the impact.
        impulses: ΣΛ (n, m, 1 + d), N s.
        steps: increments that each sample took (n,), int64.
        terminated: (n,) bool: no contact approached any more when the sample stopped.
        lower, upper: (nv,) bounds that every outcome of the model satisfies, sampled or not.
        coverage: lower confidence bound on the probability that one more draw lands within ``coverage_radius``
            of the set (:func:`~hybrid_contact_ros.impacts.coverage.coverage_bound`); 0 where there are too few samples
            to say.
        coverage_radius: ε of ``coverage``, in the kinetic norm ‖·‖_M, √J.
        confidence: with which ``coverage`` is a lower bound.
        status: SOLVED; DEADLINE if stopped in time; STEP_LIMIT if a sample did not terminate; INACCURATE.
        residual: the largest of all increments, scaled as in :class:`ImpactOutcome`.
        unique: whether every increment had one solution only (Halm, Assumption 6): True where that was proven, for this
            configuration or increment by increment; False where several were met; None where not all were searched.
        searched: part of the increments that were searched for other solutions, of which one was drawn then.
        several: part of the searched increments that had several.
        generators: (g, nv) half-axes of the set's linear terms; (0, nv) for none. margin: √J.
        mass: M (nv, nv) of the kinetic norm, that of the problem at v⁻.
        jump: √J, ‖v⁺ − v⁻‖_M of the nominal outcome, all contacts at once, inelastic (Halm (31)); 0 without an impact.
    """

    velocities: Array
    impulses: Array
    steps: NDArray[np.int64]
    terminated: NDArray[np.bool_]
    lower: Array
    upper: Array
    coverage: float
    coverage_radius: float
    confidence: float
    status: Status
    residual: float
    unique: bool | None = None
    searched: float = 0.0
    several: float = 0.0
    generators: Array | None = None
    margin: float = 0.0
    mass: Array | None = None
    jump: float = 0.0

    def convex(self) -> ConvexSet:
        """The set as a region; to be kept where many velocities are asked for.

        Raises:
            ValueError: there is no mass matrix, or it is not positive definite.
        """
        if self.mass is None:
            raise ValueError("the set does not tell its mass matrix: there is no kinetic norm")
        generators = np.empty((0, self.mass.shape[0])) if self.generators is None else self.generators
        return ConvexSet(self.velocities[self.terminated], generators, self.margin, self.mass, self.jump)

    def distance(self, v: ArrayLike) -> float:
        """How far a velocity v (nv,) is from the set, √J, in the kinetic norm; 0 inside; inf where the set is empty.

        Over ``jump`` it is the distance that scores tell. Errors are those of :meth:`convex` and of
        :meth:`~hybrid_contact_ros.impacts.convex_set.ConvexSet.distance`.
        """
        return self.convex().distance(v)

    @property
    def radius(self) -> float:
        """Largest distance of a point of the set from its middle, over the jump (:class:`ConvexSet`)."""
        return self.convex().radius

    @property
    def half_width(self) -> float:
        """Mean half extent of the set along an M-orthonormal basis, over the jump (:class:`ConvexSet`)."""
        return self.convex().half_width
