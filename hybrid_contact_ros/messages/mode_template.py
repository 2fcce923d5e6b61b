"""``ContactMode`` as prepared bytes: one kernel writes the numbers of a state into them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hybrid_contact_ros.estimation.answers import MODE_PLACES, block_sizes, blocks
from hybrid_contact_ros.kernels.messages.contacts import write_contact_mode
from hybrid_contact_ros.messages.cdr import BEGIN, Layout, extend, serialize
from hybrid_contact_ros.messages.definitions import blank
from hybrid_contact_ros.messages.envelope import held
from hybrid_contact_ros.prediction import ModePrediction


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
