"""Messages whose bytes are prepared but for their numbers: one template for each layout of each message."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from struct import Struct
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hybrid_contact_ros.estimation.answers import MODE_PLACES, block_sizes, blocks
from hybrid_contact_ros.kernels.messages.contacts import write_contact_mode
from hybrid_contact_ros.messages.cdr import BEGIN, STAMP, Layout, Numbers, extend, numbers_of, serialize
from hybrid_contact_ros.messages.contact_events import source_of
from hybrid_contact_ros.messages.definitions import blank
from hybrid_contact_ros.messages.envelope import held, seconds
from hybrid_contact_ros.messages.impact_set import LandingArrays, impact_nanoseconds, level_valid, published
from hybrid_contact_ros.prediction import Event, ImpactPrediction, ModePrediction, StabilityPrediction

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


class ModeHead:
    """What all ``ContactMode`` of one model and frame begin with, up to the sequence."""

    def __init__(self, message: Any) -> None:
        self.data = serialize("ContactModeHead", message)
        at = _places(Layout("ContactModeHead", self.data))
        owners = [f"contacts.{i}." for i in range(len(message.contacts))]
        tables = _table(at, owners, _CONTACT_NUMBERS, 8), _table(at, owners, _CONTACT_FLAGS, 1)
        self.mode_at, self.tables, self.contacts = at("mode", 8), tables, len(owners)
        self.model_hash = message.model_hash


class ModeTemplate:
    """``ContactMode`` with this many transitions."""

    def __init__(self, head: ModeHead, transitions: int) -> None:
        sequence = [blank("ModeTransition")] * transitions
        message = bytearray(head.data)
        extend(message, "ContactModeTail", blank("ContactModeTail", sequence=sequence, model_hash=head.model_hash))
        data = bytes(message)
        at = _places(Layout("ContactModeTail", data, len(head.data)))
        # Byte 4, from where CDR aligns, is aligned in memory: whatever the kernel writes is, too.
        self._octets = np.zeros(8 * (1 + (len(data) + BEGIN) // 8), np.uint8)
        self._octets[BEGIN : BEGIN + len(data)] = np.frombuffer(data, np.uint8)
        self._bytes = self._octets.data[BEGIN : BEGIN + len(data)]
        self._views = (
            self._octets,
            self._octets.view(np.uint32),
            self._octets.view(np.int64),
            self._octets.view(np.float64),
        )
        owners = [f"sequence.{i}." for i in range(transitions)]
        stamp_at = 2 * BEGIN // 4  # the first field of all
        single = (stamp_at, head.mode_at, at("validity", 4), at("residual", 8))
        self._places = (
            np.array([*single, at("compute_time.sec", 4), at("input_age.sec", 4)]),
            *head.tables,
            _table(at, owners, ["time", "earliest", "latest", "mode"], 8),
            _table(at, owners, ["kind", "bounds_valid"], 1),
            _table(at, owners, ["contact"], 4)[:, 0].copy(),
            *_sources(head.contacts),
        )

    def filled(self, mode: ModePrediction, compute_time_ns: int, input_age_ns: int) -> bytes:
        s, (floats, codes) = mode.sequence, blocks(mode)
        write_contact_mode(
            *self._places, held(mode.stamp_ns), int(mode.validity), float(mode.residual), held(compute_time_ns),
            held(input_age_ns), bool(mode.probability_valid), bool(mode.time_bounds_valid),
            floats, codes, bool(s.bounds_valid), s.contact, s.kind, s.times, s.mode, *self._views,
        )  # fmt: skip
        return self._bytes.tobytes()


def _sources(contacts: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Where the numbers and the flags of the contacts in a message come from, in the blocks of an answer."""
    floats, codes = (np.arange(size) for size in block_sizes(contacts))
    arrays = {name: place.of(floats, codes) for name, place in MODE_PLACES.items()}
    columns = []
    for name in _CONTACT_NUMBERS:
        field, _, axis = name.partition(".")
        array = arrays[_FIELDS.get(field, field)]
        columns.append(array[:, "xyz".index(axis)] if axis else array)
    names = ("status", "force_valid", "next_event", "bounds_valid", "slip_warning", "density_valid")
    flags = [arrays[name] for name in names]
    return np.stack(columns, axis=1).copy(), np.stack(flags, axis=1).copy()


_CONTACT_NUMBERS = (
    "probability", "position.x", "position.y", "position.z", "normal.x", "normal.y", "normal.z", "gap",
    "normal_velocity", "tangential_velocity.x", "tangential_velocity.y", "tangential_velocity.z", "force_model.x",
    "force_model.y", "force_model.z", "force_estimate.x", "force_estimate.y", "force_estimate.z",
    "friction_coefficient", "friction_margin", "critical_friction", "force_weight", "time_to_event",
    "time_to_event_earliest", "time_to_event_latest", "time_to_event_q05", "time_to_event_q25", "time_to_event_q75",
    "time_to_event_q95", "event_probability", "ground_offset", "ground_sigma", "friction_lower", "friction_upper",
    "friction_ratio", "time_to_slip",
)  # fmt: skip
_FIELDS = {
    "normal_velocity": "gap_velocity", "time_to_event_earliest": "earliest", "time_to_event_latest": "latest",
    **{f"time_to_event_{q}": f"time_{q}" for q in ("q05", "q25", "q75", "q95")},
}  # fmt: skip
"""Fields of a contact that have another name in a ModePrediction."""
_CONTACT_FLAGS = (
    "status", "probability_valid", "force_valid", "next_event", "time_bounds_valid", "time_density_valid",
    "slip_warning",
)  # fmt: skip


def _places(layout: Layout) -> Callable[[str, int], int]:
    """Where a number stands in the memory of a template, in units of some bytes."""
    return lambda path, unit: (layout.numbers[path].offset + BEGIN) // unit


def _table(at: Callable[[str, int], int], owners: Sequence[str], names: Sequence[str], unit: int) -> NDArray[np.int64]:
    rows = [at(f"{owner}{name}", unit) for owner in owners for name in names]
    return np.array(rows, np.int64).reshape(len(owners), len(names))


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
