"""Messages whose bytes are prepared but for their numbers: one template for each layout of each message."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from struct import Struct
from typing import Any

import numpy as np

from hybrid_contact_ros.messages.cdr import BEGIN, STAMP, Layout, Numbers, numbers_of, serialize
from hybrid_contact_ros.messages.contact_events import source_of
from hybrid_contact_ros.messages.envelope import seconds
from hybrid_contact_ros.messages.impact_set import LandingArrays, impact_nanoseconds, level_valid, published
from hybrid_contact_ros.messages.mode_template import ModeHead, ModeTemplate
from hybrid_contact_ros.prediction import Event, ImpactPrediction, StabilityPrediction

__all__ = ["EventTemplate", "ImpactTemplate", "ModeHead", "ModeTemplate", "StabilityTemplate"]

_COUNT, _COUNTS = Struct("<I"), Struct("<II")
_FLAG = (b"\0", b"\1")


class _Parts:
    """A message whose numbers come as pieces of bytes: what lies between them is prepared.

    Args:
        data: the bytes of one such message. pieces: begin and end of each piece in it.
    """

    def __init__(self, data: bytes, pieces: Sequence[tuple[int, int]]) -> None:
        ends = [0, *(end for _, end in pieces)]
        begins = [*(begin for begin, _ in pieces), len(data)]
        self._parts: list[Any] = [b""] * (2 * len(pieces) + 1)
        self._parts[::2] = [data[end:begin] for end, begin in zip(ends, begins, strict=True)]

    def joined(self, values: Sequence[Any]) -> bytes:
        """The message with these pieces: bytes, or C-contiguous arrays of the message's types."""
        self._parts[1::2] = values
        return b"".join(self._parts)


class StabilityTemplate:
    """``ConstraintStability`` with this many pairs."""

    def __init__(self, message: Any) -> None:
        data = serialize("ConstraintStability", message)
        numbers = list(Layout("ConstraintStability", data).numbers.values())[:-1]  # without the hash, which stays
        stamp, *arrays, duration = _with_times(numbers)
        self._parts = _Parts(data, [stamp, *arrays, duration])
        self._length = len(data)

    def filled(self, flags: StabilityPrediction, compute_time_ns: int) -> bytes:
        f = flags
        data = self._parts.joined((
            STAMP.pack(*seconds(f.stamp_ns)), f.closed, f.constraint_stability, f.constraint_force,
            f.bounded_time_stability, f.gap_acceleration, f.zeno, f.chatter_end, f.chatter_end_earliest,
            f.chatter_end_latest, _FLAG[bool(f.chatter_bounds_valid)], f.grazing, f.touchdown_speed, f.friction,
            f.friction_margin, f.pseudo_impulse, f.pseudo_impulse_margin, f.pair_first, f.pair_second,
            f.pair_coupling, f.pair_order_sensitive, f.pair_order_margin,
            STAMP.pack(*seconds(compute_time_ns)),
        ))  # fmt: skip
        return _whole(data, self._length)


class ImpactTemplate:
    """``PostImpactVelocitySet`` of these contacts with any number of outcomes, or with none; other arrays have the
    sizes of the message's."""

    def __init__(self, message: Any) -> None:
        data = serialize("PostImpactVelocitySet", message)
        layout = Layout("PostImpactVelocitySet", data)
        at = layout.numbers
        outcomes = at["velocities"]
        counted = layout.count_at["velocities"]
        first = (at["header.stamp.sec"].offset, at["header.stamp.nanosec"].end)
        arrays = [(at[name].offset, at[name].end) for name in ("v_minus", "v_nominal")]
        bounds = [(at[name].offset, at[name].end) for name in ("lower", "upper")]
        self._parts = _Parts(data, [
            first, (at["impact_time.sec"].offset, at["time_to_impact"].end), *arrays,
            (at["count"].offset, at["dof"].end), (counted, counted + 4), (outcomes.offset, outcomes.end), *bounds,
            (at["coverage"].offset, at["kinetic_energy_max"].end),
            (at["truncated"].offset, at["compute_time.nanosec"].end),
            *(_run(at, *ends) for ends in _LANDING_RUNS),
        ])  # fmt: skip
        self._when = _packing(layout, "impact_time.sec", "time_to_impact")
        self._scores = _packing(layout, "coverage", "kinetic_energy_max")
        self._verdict = _packing(layout, "truncated", "compute_time.nanosec")
        self._sizes, self._calibration = (
            _packing(layout, "margin", "jump"),
            _packing(layout, "level", "calibration_count"),
        )
        self._share = _packing(layout, "quantile_level", "quantile_level")
        self._order = _packing(layout, "time_to_impact_earliest", "order_probability_valid")
        self._fixed = len(data) - (outcomes.end - outcomes.offset)

    def filled(self, impact: ImpactPrediction, arrays: LandingArrays, compute_time_ns: int) -> bytes:
        i, a = impact, arrays
        kept, truncated = published(i)
        data = self._parts.joined((
            STAMP.pack(*seconds(i.stamp_ns)),
            self._when.pack(*seconds(impact_nanoseconds(i)), i.time_to_impact),
            *(np.ascontiguousarray(values, np.float64) for values in (i.velocity_minus, i.nominal)),
            _COUNTS.pack(*kept.shape), _COUNT.pack(kept.size), np.ascontiguousarray(kept),
            *(np.ascontiguousarray(values, np.float64) for values in (i.lower, i.upper)),
            self._scores.pack(
                i.coverage, i.coverage_radius, i.confidence, bool(i.coverage_valid), i.kinetic_energy_minus,
                i.kinetic_energy_min, i.kinetic_energy_max,
            ),
            self._verdict.pack(truncated, bool(i.terminated), i.residual, *seconds(compute_time_ns)),
            a.generators, self._sizes.pack(i.margin, i.jump), a.mass,
            self._calibration.pack(i.level, level_valid(i), i.calibration_count), a.quantile_lower, a.quantile_upper,
            self._share.pack(i.quantile_level), a.basis, a.basis_change,
            self._order.pack(
                i.earliest, i.latest, bool(i.time_bounds_valid), i.phase, i.order_probability,
                bool(i.order_probability_valid),
            ),
            a.joint_jump,
        ))  # fmt: skip
        return _whole(data, self._fixed + 8 * kept.size)


_LANDING_RUNS = (
    ("generators",), ("margin", "jump"), ("mass",), ("level", "calibration_count"), ("quantile_lower",),
    ("quantile_upper",), ("quantile_level",), ("basis",), ("basis_change",),
    ("time_to_impact_earliest", "order_probability_valid"), ("joint_jump",),
)  # fmt: skip
"""What is filled in of the second half of a set, by the first and the last field of each piece."""


class EventTemplate:
    """``ContactEvent`` of one contact."""

    def __init__(self, message: Any) -> None:
        data = serialize("ContactEvent", message)
        layout = Layout("ContactEvent", data)
        self._bytes = bytearray(data)
        self._head = _packing(layout, "header.stamp.sec", "header.stamp.nanosec")
        self._sequence_at, self._kind_at = layout.numbers["sequence"].offset, layout.numbers["kind"].offset
        self._tail = _packing(layout, "kind", "confidence_valid")

    def filled(self, event: Event, sequence: int) -> bytes:
        e = event
        self._head.pack_into(self._bytes, BEGIN, *seconds(e.stamp_ns))
        self._bytes[self._sequence_at : self._sequence_at + 8] = sequence.to_bytes(8, "little")
        times = (*seconds(e.time_ns), *seconds(e.earliest_ns), *seconds(e.latest_ns))
        confidence = (float(e.confidence), bool(e.confidence_valid))
        self._tail.pack_into(self._bytes, self._kind_at, int(e.kind), source_of(e), *times, *confidence)
        return bytes(self._bytes)


def _with_times(numbers: Sequence[Any]) -> list[tuple[int, int]]:
    """Begin and end of each of these; seconds and nanoseconds together."""
    pieces: list[tuple[int, int]] = []
    for number in numbers:
        if number.path.endswith(".nanosec"):
            pieces[-1] = pieces[-1][0], number.end
        else:
            pieces.append((number.offset, number.end))
    return pieces


def _run(at: Mapping[str, Numbers], first: str, last: str = "") -> tuple[int, int]:
    """Begin and end of the numbers from ``first`` to ``last``."""
    return at[first].offset, at[last or first].end


def _packing(layout: Layout, first: str, last: str) -> Struct:
    """The format of all single numbers from ``first`` to ``last``, which have no text between them."""
    begin, end = layout.numbers[first].offset, layout.numbers[last].end
    return numbers_of([n for n in layout.numbers.values() if n.size < 0 and begin <= n.offset < end], begin)


def _whole(data: bytes, length: int) -> bytes:
    """The message, if its arrays had the types and sizes of the message's."""
    if len(data) != length:
        raise TypeError(f"{len(data)} bytes instead of {length}: an array of the prediction has another type or size")
    return data
