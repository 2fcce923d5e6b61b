"""From a finished moment to the record that is published."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from hybrid_contact_ros.codes import Status, Validity
from hybrid_contact_ros.estimation.moment import Moment
from hybrid_contact_ros.mechanics.model import RigidBodyModel
from hybrid_contact_ros.prediction import ModePrediction, ModeSequence

Array = NDArray[np.float64]
Codes = NDArray[np.uint8]


def force_validity(trusted: bool, code: int, touching: Codes) -> NDArray[np.bool_]:
    """(m,) whether a contact's force satisfies the contact laws: the contact does not touch, or efforts are ``trusted``
    and a mode was found (``code`` SOLVED)."""
    return (touching == 0) | (trusted and code == Status.SOLVED)


def mode_prediction(
    model: RigidBodyModel, moment: Moment, estimate: Array, sequence: ModeSequence, validity: Validity
) -> ModePrediction:
    """The published mode of a moment whose next events are known.

    Args:
        estimate: (m, 3), N, contact forces by the momentum observer. sequence: what follows.
        validity: bits for the estimate and the sequence; the others are added here.
    """
    problem, modes, times = moment.problem, moment.modes, moment.event_times
    known = force_validity(moment.trusted, moment.code, moment.touching)
    moment.force_model[~known] = moment.friction_margin[~known] = np.nan
    validity |= Validity.STATE | Validity.BASE
    if moment.trusted:
        validity |= Validity.EFFORT
    if moment.solved and not moment.touching.any():
        validity |= Validity.MODE_UNIQUE
    if known.all():
        validity |= Validity.FORCES
    return ModePrediction(
        stamp_ns=moment.stamp_ns,
        status=moment.status,
        probability=moment.probability,
        probability_valid=False,
        position=moment.position,
        normal=model.contact_normals.copy(),
        gap=problem.gap,
        gap_velocity=moment.gap_velocity,
        gap_acceleration=moment.accelerations[:, 0].copy(),
        tangential_velocity=moment.tangential_velocity,
        force_model=moment.force_model,
        force_valid=known,
        force_estimate=estimate,
        friction_coefficient=problem.friction,
        friction_margin=moment.friction_margin,
        critical_friction=modes.critical_friction.copy(),
        jammed=modes.jammed.copy(),
        next_event=moment.next_event,
        time_to_event=times[:, 0].copy(),
        earliest=times[:, 1].copy(),
        latest=times[:, 2].copy(),
        sequence=sequence,
        validity=int(validity),
        residual=moment.residual,
    )
