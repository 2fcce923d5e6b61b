"""What controllers use of a predicted impact beside its set: the invariant basis, and the largest jumps."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from hybrid_contact_ros.codes import Status
from hybrid_contact_ros.config import LandingConfig
from hybrid_contact_ros.estimation.changed import changed
from hybrid_contact_ros.estimation.landing_clusters import wider_fields
from hybrid_contact_ros.impacts.invariant_basis import InvariantBasis, OtherTerms, basis_of, set_changes
from hybrid_contact_ros.prediction import ImpactPrediction

Array = NDArray[np.float64]


def other_terms(config: LandingConfig, floating_base: bool, lasting: bool) -> OtherTerms:
    """The ends of the intervals that move invariant components. ``lasting``: whether the forces are known that act
    while an impact lasts; without them the set has no duration."""
    duration = config.duration_max if lasting else 0.0
    return OtherTerms(duration, config.drive_max, config.drive_own, 6 if floating_base else 0)


def with_controls(
    found: ImpactPrediction, mass: Array, rows: Array, bias: Array, terms: OtherTerms, spread: Array | None = None
) -> ImpactPrediction:
    """``found`` with ``basis``, ``basis_change`` and ``joint_jump``, and widened by the ``spread`` of v⁻.

    Without outcomes there are no changes, and where M is singular there is no basis either. An error of v⁻ is none of
    what the impact changes: it is in the jumps from the predicted v⁻, and not in the changes of components.

    Args:
        mass: M (nv, nv), rows: J (k, 1 + d, nv) of all contacts that may act, not only of the corners that samples
            push at, and bias: h − Sᵀτ (nv,), at the impact.
        spread: half-axes (g, nv), None for none.
    """
    return with_basis(found, basis_of(mass, rows.reshape(-1, len(bias))), bias, terms, spread)


def with_basis(
    found: ImpactPrediction, basis: InvariantBasis, bias: Array, terms: OtherTerms, spread: Array | None = None
) -> ImpactPrediction:
    """The same with a basis that is known."""
    if basis.status == Status.SINGULAR:
        return found
    if not len(found.velocities):
        return changed(found, basis=basis.rows)
    change, jump = set_changes(
        basis, terms, bias, found.velocity_minus, found.velocities, found.generators, found.margin
    )
    if spread is None:
        return changed(found, basis=basis.rows, basis_change=change, joint_jump=jump)
    jump += np.abs(spread).sum(axis=0)
    wider = wider_fields(found, spread) if len(spread) else {}
    return changed(found, basis=basis.rows, basis_change=change, joint_jump=jump, **wider)
