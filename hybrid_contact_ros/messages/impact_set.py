"""``PostImpactVelocitySet``: the velocities that an impact may end with."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from hybrid_contact_ros.messages.envelope import Envelope
from hybrid_contact_ros.messages.thinning import thin
from hybrid_contact_ros.prediction import ImpactPrediction

MAX_NUMBERS = 262144
"""Numbers that ``PostImpactVelocitySet.velocities`` may hold; larger sets are thinned."""


def impact_set(envelope: Envelope, impact: ImpactPrediction, compute_time_ns: int) -> Any:
    """The message of one set, computed in ``compute_time_ns``.

    A set of more than ``MAX_NUMBERS`` numbers is thinned (:func:`~.thinning.thin`), and the message then says
    ``truncated``. Energies and coverage are those of the set before the thinning.
    """
    T = envelope.types
    kept, truncated = published(impact)
    return T.PostImpactVelocitySet(
        header=envelope.header(impact.stamp_ns),
        impact_time=envelope.time(impact_nanoseconds(impact)),
        time_to_impact=float(impact.time_to_impact),
        contacts=[envelope.names[i] for i in impact.contacts],
        velocity_names=list(envelope.velocity_names),
        v_minus=T.float64(impact.velocity_minus),
        v_nominal=T.float64(impact.nominal),
        count=kept.shape[0],
        dof=kept.shape[1],
        velocities=T.float64(kept),
        lower=T.float64(impact.lower),
        upper=T.float64(impact.upper),
        coverage=float(impact.coverage),
        coverage_radius=float(impact.coverage_radius),
        confidence=float(impact.confidence),
        coverage_valid=bool(impact.coverage_valid),
        kinetic_energy_minus=float(impact.kinetic_energy_minus),
        kinetic_energy_min=float(impact.kinetic_energy_min),
        kinetic_energy_max=float(impact.kinetic_energy_max),
        law=str(impact.law),
        truncated=truncated,
        terminated=bool(impact.terminated),
        residual=float(impact.residual),
        compute_time=envelope.duration(compute_time_ns),
        model_hash=envelope.hash,
    )


def published(impact: ImpactPrediction) -> tuple[NDArray[np.float64], bool]:
    """The outcomes that the message holds, and whether it is truncated."""
    velocities = np.asarray(impact.velocities, np.float64)
    kept = thin(velocities, max(1, MAX_NUMBERS // max(1, velocities.shape[1])))
    return kept, bool(impact.truncated) or kept.shape[0] < velocities.shape[0]


def impact_nanoseconds(impact: ImpactPrediction) -> int:
    """Time of the impact, ns; that of the stamp where the time to the impact is none."""
    after = impact.time_to_impact
    return impact.stamp_ns + (round(after * 1e9) if abs(after) < 1e10 else 0)
