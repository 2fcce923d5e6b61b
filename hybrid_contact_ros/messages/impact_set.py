"""``PostImpactVelocitySet``: the velocities that an impact may end with."""

from __future__ import annotations

from typing import Any

import numpy as np

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
    velocities = np.asarray(impact.velocities, np.float64)
    dof = velocities.shape[1]
    kept = thin(velocities, max(1, MAX_NUMBERS // max(1, dof)))
    return T.PostImpactVelocitySet(
        header=envelope.header(impact.stamp_ns),
        impact_time=envelope.time(impact.stamp_ns + _nanoseconds(impact.time_to_impact)),
        time_to_impact=float(impact.time_to_impact),
        contacts=[envelope.names[i] for i in impact.contacts],
        velocity_names=list(envelope.velocity_names),
        v_minus=T.float64(impact.velocity_minus),
        v_nominal=T.float64(impact.nominal),
        count=kept.shape[0],
        dof=dof,
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
        truncated=bool(impact.truncated) or kept.shape[0] < velocities.shape[0],
        terminated=bool(impact.terminated),
        residual=float(impact.residual),
        compute_time=envelope.duration(compute_time_ns),
        model_hash=envelope.hash,
    )


def _nanoseconds(seconds: float) -> int:
    """Integer nanoseconds; 0 for what is no time."""
    return round(seconds * 1e9) if abs(seconds) < 1e10 else 0
