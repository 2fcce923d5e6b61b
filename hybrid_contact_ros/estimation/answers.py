"""From the answer of an update to the records that are published. All arrays are views of the answer's few blocks."""

from __future__ import annotations

from typing import Any

import numpy as np

from hybrid_contact_ros.estimation.engine import Answer
from hybrid_contact_ros.estimation.pairs import listed
from hybrid_contact_ros.kernels.estimation.update_records import ListsOut
from hybrid_contact_ros.prediction import ModePrediction, ModeSequence, StabilityPrediction, mutable

_NO_SEQUENCE = ModeSequence(
    contact=np.zeros(0, np.int64), kind=np.zeros(0, np.uint8), times=np.zeros((0, 3)), mode=np.zeros(0, np.int64)
)
_Mode, _Stability = mutable(ModePrediction), mutable(StabilityPrediction)


def mode_sequence(lists: ListsOut, count: int) -> ModeSequence:
    """The first ``count`` events of the sequence."""
    if count == 0:
        return _NO_SEQUENCE
    return ModeSequence(
        contact=lists.sequence_contacts[:count].copy(),
        kind=lists.sequence_kinds[:count].copy(),
        times=lists.sequence_times[:count].copy(),
        mode=lists.sequence_modes[:count].copy(),
    )


def predictions(stamp_ns: int, answer: Answer, lists: ListsOut) -> tuple[ModePrediction, StabilityPrediction]:
    """The published mode and flags of one update."""
    out = answer.out
    position, normal, tangential_velocity, force_model, force_estimate = out.vectors
    (
        probability, gap, gap_velocity, gap_acceleration, friction, friction_margin, critical_friction, time, earliest,
        latest, constraint_force, released_acceleration, chatter_end, touchdown_speed, flag_margin,
        pseudo_impulse_margin, chatter_earliest, chatter_latest,
    ) = out.numbers  # fmt: skip
    status, jammed, next_event, constraint, bounded_time, zeno, grazing, within_cone, pseudo_impulse = out.codes
    force_valid, closed = out.truths
    mode: Any = _Mode(
        stamp_ns=stamp_ns,
        status=status,
        probability=probability,
        probability_valid=False,
        position=position,
        normal=normal,
        gap=gap,
        gap_velocity=gap_velocity,
        gap_acceleration=gap_acceleration,
        tangential_velocity=tangential_velocity,
        force_model=force_model,
        force_valid=force_valid,
        force_estimate=force_estimate,
        friction_coefficient=friction,
        friction_margin=friction_margin,
        critical_friction=critical_friction,
        jammed=jammed,
        next_event=next_event,
        time_to_event=time,
        earliest=earliest,
        latest=latest,
        sequence=mode_sequence(lists, answer.steps),
        validity=answer.validity,
        residual=answer.residual,
    )
    mode.__class__ = ModePrediction
    pairs = listed(lists, answer.pairs)
    stability: Any = _Stability(
        stamp_ns=stamp_ns,
        closed=closed,
        constraint_stability=constraint,
        constraint_force=constraint_force,
        bounded_time_stability=bounded_time,
        gap_acceleration=released_acceleration,
        zeno=zeno,
        chatter_end=chatter_end,
        chatter_end_earliest=chatter_earliest,
        chatter_end_latest=chatter_latest,
        grazing=grazing,
        touchdown_speed=touchdown_speed,
        friction=within_cone,
        friction_margin=flag_margin,
        pseudo_impulse=pseudo_impulse,
        pseudo_impulse_margin=pseudo_impulse_margin,
        pair_first=pairs.first,
        pair_second=pairs.second,
        pair_coupling=pairs.coupling,
        pair_order_sensitive=pairs.order_sensitive,
        pair_order_margin=pairs.margin,
    )
    stability.__class__ = StabilityPrediction
    return mode, stability
