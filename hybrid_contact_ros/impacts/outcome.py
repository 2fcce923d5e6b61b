"""What an impact law answers."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from hybrid_contact_ros.codes import Status

Array = NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class ImpactOutcome:
    """One velocity after an impact.

    Attributes:
        velocity: v⁺ (nv,).
        impulse: Λ (m, 1 + d), N s, normal first; zero rows for contacts that took no part.
        status: SOLVED, or why not; the other fields are finite in any case.
        residual: largest violation of the law's conditions, in scaled units (velocities over the speed of the
            approach, impulses over the impulse that stops it), found without the solver.
        steps: pivots, or impulse increments, that it took.
    """

    velocity: Array
    impulse: Array
    status: Status
    residual: float
    steps: int


class Outcomes(list[ImpactOutcome]):
    """Several outcomes of one impact, all different in velocity.

    Attributes:
        complete: whether there are certainly no others, but for those between the ends of a continuum.
        continuum: whether some of the outcomes are ends of a continuum, all of which are outcomes too.
    """

    def __init__(self, outcomes: Iterable[ImpactOutcome] = (), complete: bool = True, continuum: bool = False) -> None:
        super().__init__(outcomes)
        self.complete = complete
        self.continuum = continuum


@dataclass(frozen=True, slots=True, eq=False)
class VelocitySet:
    """A set of velocities after an impact, sampled from the inside and bounded from the outside.

    Attributes:
        velocities: v⁺ (n, nv), one a sample; only terminated samples are post-impact velocities.
        impulses: ΣΛ (n, m, 1 + d), N s.
        steps: increments each sample took (n,), int64.
        terminated: (n,) bool: no contact approached any more when the sample stopped.
        lower, upper: (nv,) bounds that every outcome that the model allows satisfies, sampled or not.
        coverage: lower confidence bound on the probability that one more draw lands within ``coverage_radius``
            of the set (:func:`~.coverage.coverage_bound`); 0 where there are too few samples to say.
        coverage_radius: ε of ``coverage``, in the kinetic norm ‖·‖_M, √J.
        confidence: of that bound.
        status: SOLVED; DEADLINE if stopped in time; STEP_LIMIT if a sample did not terminate; INACCURATE.
        residual: the largest over all increments, scaled as in :class:`ImpactOutcome`.
        unique: whether every increment had one solution only (H Assumption 6): True where that was proven, for this
            configuration or increment by increment; False where several were met; None where not all were searched.
        searched: part of the increments that were searched for other solutions, one of which was drawn then.
        several: part of the searched increments that had several.
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
