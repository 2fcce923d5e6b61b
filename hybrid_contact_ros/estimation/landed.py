"""The set of a landing, from the samples of its impact and from what its terms make of it."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from hybrid_contact_ros.codes import Status
from hybrid_contact_ros.estimation.changed import changed
from hybrid_contact_ros.impacts.landing_model import LandingTerms
from hybrid_contact_ros.impacts.landing_set import MODEL_ERROR, QUANTILE, LandingPoints, quantile_bounds
from hybrid_contact_ros.prediction import ImpactPrediction

Array = NDArray[np.float64]


def landed(
    sampled: ImpactPrediction, made: LandingPoints, terms: LandingTerms, mass: Array, bounds: tuple[Array, Array]
) -> ImpactPrediction:
    """The whole set: the law at the corners of the intervals, then the samples of all orders, moved by what the middle
    of the intervals moves; generators and margin. ``bounds``: (lower, upper), of
    :meth:`~hybrid_contact_ros.impacts.landing.Landing.bounds`.

    A set that was stopped in time is a prefix of the whole one, since the corners come first; of more than
    :data:`~hybrid_contact_ros.impacts.landing_set.AT_ONCE` contacts corners may be missing, too.
    """
    moved = sampled.velocities + made.offset
    velocities = np.concatenate((made.points, moved))
    quantile_lower, quantile_upper = quantile_bounds(made.points, moved, made.generators)
    energies = 0.5 * ((velocities @ mass) * velocities).sum(axis=1)
    status = sampled.status
    if made.cut and status == Status.SOLVED:
        status = Status.DEADLINE
    if made.status != Status.SOLVED and status in (Status.SOLVED, Status.DEADLINE):
        status = made.status
    return changed(
        sampled,
        velocities=velocities,
        truncated=sampled.truncated or made.cut,
        lower=bounds[0],
        upper=bounds[1],
        kinetic_energy_min=float(energies.min(initial=np.inf)) if len(energies) else np.nan,
        kinetic_energy_max=float(energies.max(initial=-np.inf)) if len(energies) else np.nan,
        residual=max(sampled.residual, made.residual),
        status=status,
        generators=made.generators,
        margin=max(terms.margin, MODEL_ERROR) * sampled.jump,
        quantile_lower=quantile_lower,
        quantile_upper=quantile_upper,
        quantile_level=QUANTILE,
    )
