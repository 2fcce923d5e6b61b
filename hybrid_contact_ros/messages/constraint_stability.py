"""``ConstraintStability``: whether each contact stays, and the margin on which each flag was decided."""

from __future__ import annotations

from typing import Any

from hybrid_contact_ros.messages.envelope import Envelope
from hybrid_contact_ros.prediction import StabilityPrediction


def constraint_stability(envelope: Envelope, flags: StabilityPrediction, compute_time_ns: int) -> Any:
    """The message of one prediction, computed in ``compute_time_ns``."""
    T = envelope.types
    return T.ConstraintStability(
        header=envelope.header(flags.stamp_ns),
        contacts=list(envelope.names),
        closed=T.boolean(flags.closed),
        constraint_stability=T.uint8(flags.constraint_stability),
        constraint_force=T.float64(flags.constraint_force),
        bounded_time_stability=T.uint8(flags.bounded_time_stability),
        gap_acceleration=T.float64(flags.gap_acceleration),
        zeno=T.uint8(flags.zeno),
        chatter_end=T.float64(flags.chatter_end),
        chatter_end_earliest=T.float64(flags.chatter_end_earliest),
        chatter_end_latest=T.float64(flags.chatter_end_latest),
        chatter_bounds_valid=bool(flags.chatter_bounds_valid),
        grazing=T.uint8(flags.grazing),
        touchdown_speed=T.float64(flags.touchdown_speed),
        friction=T.uint8(flags.friction),
        friction_margin=T.float64(flags.friction_margin),
        pseudo_impulse=T.uint8(flags.pseudo_impulse),
        pseudo_impulse_margin=T.float64(flags.pseudo_impulse_margin),
        pair_first=T.uint32(flags.pair_first),
        pair_second=T.uint32(flags.pair_second),
        pair_coupling=T.float64(flags.pair_coupling),
        pair_order_sensitive=T.uint8(flags.pair_order_sensitive),
        pair_order_margin=T.float64(flags.pair_order_margin),
        compute_time=envelope.duration(compute_time_ns),
        model_hash=envelope.hash,
    )
