"""``ContactMode``: which contacts hold, with what force, and what comes next."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from hybrid_contact_ros.messages.envelope import Envelope
from hybrid_contact_ros.messages.types import fill
from hybrid_contact_ros.prediction import ModePrediction, ModeSequence


def contact_mode(
    envelope: Envelope, blanks: Sequence[Any], mode: ModePrediction, compute_time_ns: int, input_age_ns: int
) -> Any:
    """The message of one prediction: all contacts, in the order of the configuration.

    Args:
        envelope: of the model.
        blanks: a ``ContactState`` for each contact, to be filled. A message refers to them.
        mode: the prediction.
        compute_time_ns: time that the prediction took, ns.
        input_age_ns: age of the measurement when the computation started, ns.
    """
    T = envelope.types
    valid, bounded = bool(mode.probability_valid), bool(mode.time_bounds_valid)
    columns = zip(
        envelope.names,
        envelope.frames,
        mode.status.tolist(),
        mode.probability.tolist(),
        mode.position.tolist(),
        mode.normal.tolist(),
        mode.gap.tolist(),
        mode.gap_velocity.tolist(),
        mode.tangential_velocity.tolist(),
        mode.force_model.tolist(),
        mode.force_valid.tolist(),
        mode.force_estimate.tolist(),
        mode.friction_coefficient.tolist(),
        mode.friction_margin.tolist(),
        mode.critical_friction.tolist(),
        mode.force_weight.tolist(),
        mode.next_event.tolist(),
        mode.time_to_event.tolist(),
        mode.earliest.tolist(),
        mode.latest.tolist(),
        mode.time_q05.tolist(),
        mode.time_q25.tolist(),
        mode.time_q75.tolist(),
        mode.time_q95.tolist(),
        mode.event_probability.tolist(),
        mode.bounds_valid.tolist(),
        mode.density_valid.tolist(),
        mode.ground_offset.tolist(),
        mode.ground_sigma.tolist(),
        mode.friction_lower.tolist(),
        mode.friction_upper.tolist(),
        mode.friction_ratio.tolist(),
        mode.slip_warning.tolist(),
        mode.time_to_slip.tolist(),
        strict=True,
    )
    # rclpy's constructors make every nested message before they look at a keyword, so that filling what they made is
    # faster than passing it in.
    for c, (
        name, frame, status, probability, p, n, gap, rate, u, f, good, e, mu, margin, jam, weight, kind, time, low,
        high, q05, q25, q75, q95, comes, calibrated, dense, offset, sigma, least, most, ratio, warned, slip,
    ) in zip(blanks, columns, strict=True):  # fmt: skip
        c.name, c.frame, c.status = name, frame, status
        c.probability, c.probability_valid = probability, valid
        fill(c.position, p)
        fill(c.normal, n)
        c.gap, c.normal_velocity = gap, rate
        fill(c.tangential_velocity, u)
        fill(c.force_model, f)
        c.force_valid = good
        fill(c.force_estimate, e)
        c.friction_coefficient, c.friction_margin, c.critical_friction = mu, margin, jam
        c.force_weight = weight
        c.next_event, c.time_to_event, c.time_to_event_earliest, c.time_to_event_latest = kind, time, low, high
        c.time_bounds_valid = bounded or calibrated
        c.time_to_event_q05, c.time_to_event_q25, c.time_to_event_q75, c.time_to_event_q95 = q05, q25, q75, q95
        c.event_probability, c.time_density_valid = comes, dense
        c.ground_offset, c.ground_sigma = offset, sigma
        c.friction_lower, c.friction_upper, c.friction_ratio = least, most, ratio
        c.slip_warning, c.time_to_slip = warned, slip
    return T.ContactMode(
        header=envelope.header(mode.stamp_ns),
        mode=mode.bitmask,
        contacts=list(blanks),
        sequence=_transitions(envelope, mode.sequence),
        validity=int(mode.validity),
        residual=float(mode.residual),
        compute_time=envelope.duration(compute_time_ns),
        input_age=envelope.duration(input_age_ns),
        model_hash=envelope.hash,
    )


def _transitions(envelope: Envelope, sequence: ModeSequence) -> list[Any]:
    bounded = bool(sequence.bounds_valid)
    columns = (sequence.contact, sequence.kind, sequence.times, sequence.mode)
    return [
        envelope.types.ModeTransition(
            contact=contact,
            kind=kind,
            time=time,
            earliest=low,
            latest=high,
            bounds_valid=bounded,
            mode=mode,
        )
        for contact, kind, (time, low, high), mode in zip(*(c.tolist() for c in columns), strict=True)
    ]
