"""Readers of the suite's messages for controllers in Python: numbers where they lie in the received bytes.

rclpy makes a message an object of Python for every contact, which takes longer than the suite takes to predict it. A
subscription with ``raw=True`` hands over the bytes instead, and a reader of this module gives their numbers as numpy
arrays. These look at the bytes: they cannot be written to, keep the bytes alive, and may be unaligned, so that what is
handed to compiled code has to be copied before. Where the bytes are a ``bytearray`` or a ``memoryview``, whoever owns
them must leave them alone as long as the arrays are used.

Bytes behind the last field mean nothing, however many there are (:mod:`.cdr`).

A reader remembers where everything stands. The first message of a new length or with other texts takes a fraction of a
millisecond (3 ms with 64 contacts), each further one some microseconds.

    >>> from hybrid_contact_ros.messages.cdr import serialize
    >>> from hybrid_contact_ros.messages.definitions import blank
    >>> feet = [blank("ContactState", name="left", status=1, gap=0.25), blank("ContactState", name="right", status=2)]
    >>> received = serialize("ContactMode", blank("ContactMode", contacts=feet, mode=2))

    >>> read = ContactModeReader()          # of node.create_subscription(ContactMode, ..., raw=True)
    >>> mode = read(received)
    >>> mode.names, mode.mode
    (('left', 'right'), 2)
    >>> mode.contacts["gap"]
    array([0.25, 0.  ])
    >>> mode.contacts["force_model"][1]
    array([0., 0., 0.])
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Generic, TypeVar

import numpy as np

from hybrid_contact_ros.messages.cdr import Layout, Numbers, numbers_of, texts_of
from hybrid_contact_ros.messages.layouts import Layouts
from hybrid_contact_ros.messages.rows import Rows
from hybrid_contact_ros.messages.views import ConstraintStabilityView, ContactModeView, PostImpactVelocitySetView

__all__ = ["ConstraintStabilityReader", "ContactModeReader", "PostImpactVelocitySetReader"]

View = TypeVar("View")

_SECOND = 1_000_000_000  # ns
_COORDINATES = (
    *("velocity_names", "v_minus", "v_nominal", "lower", "upper"),
    *("quantile_lower", "quantile_upper", "joint_jump"),
)
_VERDICT, _CALIBRATION, _ORDER = 7, 16, 21  # first of the single numbers behind the outcomes of a set, in three groups
_MOST = 80  # layouts of one reader: a mode has one for each number of transitions


class _Reader(Generic[View]):
    _layout: Any

    def __init__(self) -> None:
        self._layouts = Layouts(self._learned, _MOST)

    def __call__(self, data: bytes | bytearray | memoryview) -> View:
        """The view of one message.

        Raises:
            ValueError: these bytes are no such message in PLAIN_CDR, little endian, or arrays in it that belong
                together have different lengths.
            TypeError: these are no bytes.
        """
        octets = data if type(data) is bytes else _octets(data)
        layout = self._layouts.find(octets) or self._layouts.learn(octets)
        if layout is None:
            layout = self._learned(octets)  # raises
        found: View = layout.view(octets)
        return found

    def _learned(self, data: bytes | memoryview) -> Any:
        return type(self)._layout(bytes(data))


def _octets(data: Any) -> bytes | memoryview:
    """The bytes of a message, which nobody can write to by what is given back."""
    if isinstance(data, bytes):
        return data
    if isinstance(data, bytearray | memoryview):
        view = memoryview(data)
        if view.c_contiguous:
            return view.cast("B").toreadonly()
        raise TypeError("a memoryview with holes: its bytes must follow one on the other")
    raise TypeError(f"a message is bytes, a bytearray or a memoryview, not {type(data).__name__}")


class _ReadLayout(Layout):
    """A layout of a message that is read where it lies."""

    def of_length(self, count: int, what: str, names: Sequence[str]) -> None:
        """Check the lengths of sequences.

        Raises:
            ValueError: one has not ``count`` entries.
        """
        for name in names:
            if self.counts[name] != count:
                raise ValueError(f"{name} has {self.counts[name]} entries, and {what} {count}")


class _ModeLayout(_ReadLayout):
    def __init__(self, data: bytes) -> None:
        super().__init__("ContactMode", data)
        indices = range(self.counts["contacts"])
        self._texts = (
            self.texts["header.frame_id"],
            tuple(self.texts[f"contacts.{i}.name"] for i in indices),
            tuple(self.texts[f"contacts.{i}.frame"] for i in indices),
        )
        self._contacts = Rows(self, "contacts", "ContactState")
        self._sequence = Rows(self, "sequence", "ModeTransition")
        own = [n for n in self.numbers.values() if not n.path.startswith(("contacts.", "sequence."))]
        self._single = numbers_of(own)

    def view(self, data: bytes | memoryview) -> ContactModeView:
        sec, nanosec, mode, validity, residual, spent, spent_ns, age, age_ns, model = self._single.unpack_from(data)
        contacts, sequence = self._contacts.of(data), self._sequence.of(data)
        times = spent * _SECOND + spent_ns, age * _SECOND + age_ns
        stamp = sec * _SECOND + nanosec
        return ContactModeView(stamp, *self._texts, mode, contacts, sequence, validity, residual, *times, model)


class _StabilityLayout(_ReadLayout):
    def __init__(self, data: bytes) -> None:
        super().__init__("ConstraintStability", data)
        arrays = _arrays([*self.numbers.values()])
        pairs = [n.path for n in arrays if n.path.startswith("pair_")]
        self.of_length(self.counts["contacts"], "contacts", [n.path for n in arrays if n.path not in pairs])
        self.of_length(self.counts[pairs[0]], pairs[0], pairs)
        names = tuple(self.texts[f"contacts.{i}"] for i in range(self.counts["contacts"]))
        self._texts = self.texts["header.frame_id"], names
        self._record, self._arrays = _record(arrays, 0, self.length), [n.path for n in arrays]
        self._single = numbers_of(_single([*self.numbers.values()]))

    def view(self, data: bytes | memoryview) -> ConstraintStabilityView:
        sec, nanosec, valid, spent, spent_ns, model = self._single.unpack_from(data)
        record = np.ndarray((), self._record, data)
        arrays = [record[name] for name in self._arrays]
        stamp = sec * _SECOND + nanosec
        last = valid, spent * _SECOND + spent_ns, model
        return ConstraintStabilityView._make((stamp, *self._texts, *arrays, *last))


class _SetLayout(_ReadLayout):
    """Of a set with as many outcomes as it may have: where a deadline stops the sampling, their number varies."""

    def __init__(self, data: bytes) -> None:
        super().__init__("PostImpactVelocitySet", data)
        self._counted, outcomes = self.count_at["velocities"], self.numbers["velocities"]
        self._first, self._end = outcomes.offset, outcomes.end
        self._rest = self.length - self._end
        before = [(begin, min(end, self._counted)) for begin, end in self.fixed if begin < self._counted]
        after = [piece for piece in self.fixed if piece[0] >= self._end]
        self._texts_before, self._texts_after = texts_of(before), texts_of(after, self._end)
        self._same = self._texts_before.unpack_from(data), self._texts_after.unpack_from(data, self._end)
        self._names = (
            tuple(self.texts[f"contacts.{i}"] for i in range(self.counts["contacts"])),
            tuple(self.texts[f"velocity_names.{i}"] for i in range(self.counts["velocity_names"])),
        )
        # Along the coordinates; a writer may leave what it does not know empty.
        filled = [name for name in _COORDINATES if self.counts[name]]
        self._dof = self.counts[filled[0]] if filled else None
        self.of_length(self._dof or 0, filled[0] if filled else "", filled)
        own = [n for n in self.numbers.values() if n.path != "velocities"]
        head, tail = [n for n in own if n.offset < self._counted], [n for n in own if n.offset >= self._end]
        self._head, self._tail = numbers_of(_single(head)), numbers_of(_single(tail), self._end)
        self._before = _record(_arrays(head), 0, self._counted)
        self._after = _record(_arrays(tail), self._end, self._rest)

    def fits(self, data: bytes | memoryview) -> bool:
        if len(data) < self._first + self._rest:
            return False
        count = int.from_bytes(data[self._counted : self._counted + 4], "little")
        end = self._first + 8 * count
        return (
            len(data) == end + self._rest
            and (count == 0) == (self._end == self._first)  # without outcomes nothing is aligned
            and self._texts_before.unpack_from(data) == self._same[0]
            and self._texts_after.unpack_from(data, end) == self._same[1]
        )

    def view(self, data: bytes | memoryview) -> PostImpactVelocitySetView:
        end = len(data) - self._rest
        sec, nanosec, at, at_ns, ahead, count, dof = self._head.unpack_from(data)
        numbers = self._tail.unpack_from(data, end)
        truncated, terminated, residual, spent, spent_ns, model, generators, *sizes = numbers[_VERDICT:_CALIBRATION]
        level, level_valid, calibrated, share, rows = numbers[_CALIBRATION:_ORDER]
        if 8 * count * dof != end - self._first:
            raise ValueError(f"it has no {count} outcomes of {dof} numbers")
        if self._dof is not None and dof != self._dof:
            raise ValueError(f"dof is {dof}, and there are {self._dof} coordinates")
        before, after = np.ndarray((), self._before, data), np.ndarray((), self._after, data, end)
        matrices = [
            self._matrix(after, name, count, dof)
            for name, count in (("generators", generators), ("mass", dof), ("basis", rows))
        ]
        if after["basis_change"].size not in (0, rows):
            raise ValueError(f"basis_change has {after['basis_change'].size} entries, and basis {rows} rows")
        velocities = np.ndarray((count, dof), "<f8", data, self._first)
        return PostImpactVelocitySetView._make((
            sec * _SECOND + nanosec, self.texts["header.frame_id"], *self._names, at * _SECOND + at_ns, ahead,
            before["v_minus"], before["v_nominal"], count, dof, velocities, after["lower"], after["upper"],
            *numbers[:_VERDICT],
            self.texts["law"], truncated, terminated, residual, spent * _SECOND + spent_ns, model,
            generators, matrices[0], *sizes, matrices[1], level, level_valid, calibrated,
            self.texts["calibration_method"], after["quantile_lower"], after["quantile_upper"], share, rows,
            matrices[2], after["basis_change"], *numbers[_ORDER:], after["joint_jump"],
        ))  # fmt: skip

    @staticmethod
    def _matrix(record: Any, name: str, rows: int, columns: int) -> Any:
        """An array of the record as rows; one that was left empty has none."""
        flat = record[name]
        if flat.size not in ((0, rows * columns) if name == "mass" else (rows * columns,)):
            raise ValueError(f"{name} has {flat.size} numbers, and not {rows} rows of {columns}")
        return flat.reshape(rows if flat.size else 0, columns)


class ContactModeReader(_Reader[ContactModeView]):
    """Makes a :class:`~.views.ContactModeView` of the bytes of a ``ContactMode``."""

    _layout = _ModeLayout


class ConstraintStabilityReader(_Reader[ConstraintStabilityView]):
    """Makes a :class:`~.views.ConstraintStabilityView` of the bytes of a ``ConstraintStability``."""

    _layout = _StabilityLayout


class PostImpactVelocitySetReader(_Reader[PostImpactVelocitySetView]):
    """Makes a :class:`~.views.PostImpactVelocitySetView` of the bytes of a ``PostImpactVelocitySet``."""

    _layout = _SetLayout


def _single(numbers: Sequence[Numbers]) -> list[Numbers]:
    return [n for n in numbers if n.size < 0]


def _arrays(numbers: Sequence[Numbers]) -> list[Numbers]:
    return [n for n in numbers if n.size >= 0]


def _record(arrays: Sequence[Numbers], origin: int, size: int) -> np.dtype[Any]:
    """Arrays of numbers as fields of one record that begins at ``origin``."""
    return np.dtype(
        {
            "names": [n.path for n in arrays],
            "formats": [(f"<{n.code}", (n.size,)) for n in arrays],
            "offsets": [n.offset - origin for n in arrays],
            "itemsize": size,
        }
    )  # type: ignore[call-overload]
