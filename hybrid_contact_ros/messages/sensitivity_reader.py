"""A reader of ``EventSensitivity`` for controllers in Python: its matrices where they lie in the received bytes.

It looks anew at every message, of which hardly one has the layout of the one before, in a fraction of a millisecond for
each word. The bytes are those of :mod:`~hybrid_contact_ros.messages.readers`.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from hybrid_contact_ros.messages.cdr import Layout

Array = NDArray[np.float64]
_SECOND = 1_000_000_000  # ns
_TYPES = {"d": "<f8", "Q": "<u8", "I": "<u4", "i": "<i4", "B": "u1", "?": "?"}


class EventWordView(NamedTuple):
    """An ``EventWord``. Matrices have their shapes, and are None where the word has none."""

    text: str
    struck: NDArray[np.uint64]
    closed: NDArray[np.uint64]
    probability: float
    validity: int
    why: str
    rank: int
    v_plus: Array | None
    saltation: Array | None
    v_plus_gradient: Array | None
    parameter_matrix: Array | None
    v_plus_covariance: Array | None


class EventSensitivityView(NamedTuple):
    """An ``EventSensitivity``. Matrices have their shapes, and are None where there are none."""

    stamp_ns: int
    frame_id: str
    kind: int
    contacts: tuple[str, ...]
    closed: tuple[str, ...]
    time_ns: int
    time_to_event: float
    dof: int
    dimension: int
    velocity_names: tuple[str, ...]
    q: Array
    v_minus: Array
    validity: int
    why: str
    time_gradient: Array | None
    time_sigma: Array
    time_sigma_valid: bool
    parameters: tuple[str, ...]
    words: tuple[EventWordView, ...]
    other_probability: float
    probability_valid: bool
    spread: float
    mean: Array | None
    covariance: Array | None
    mixture_valid: bool
    compute_time_ns: int
    model_hash: int


class _Message:
    """The fields of one message by their paths."""

    def __init__(self, data: bytes | bytearray | memoryview) -> None:
        octets = bytes(data)  # arrays look at these, which nobody can write to
        self.layout, self._data = Layout("EventSensitivity", octets), octets

    def number(self, path: str) -> Any:
        found = self.layout.numbers[path]
        return np.frombuffer(self._data, _TYPES[found.code], 1, found.offset)[0].item()

    def array(self, path: str) -> NDArray[Any]:
        found = self.layout.numbers[path]
        return np.frombuffer(self._data, _TYPES[found.code], found.size, found.offset if found.size else 0)

    def matrix(self, path: str, rows: int, columns: int) -> Array | None:
        found = self.array(path)
        if not found.size:
            return None
        if found.size != rows * columns:
            raise ValueError(f"{path} has {found.size} numbers, where ({rows}, {columns}) are needed")
        return found.reshape(rows, columns)

    def texts(self, path: str) -> tuple[str, ...]:
        return tuple(self.layout.texts[f"{path}.{i}"] for i in range(self.layout.counts[path]))

    def time(self, path: str) -> int:
        return int(self.number(f"{path}.sec")) * _SECOND + int(self.number(f"{path}.nanosec"))


def read_event_sensitivity(data: bytes | bytearray | memoryview) -> EventSensitivityView:
    """The view of one ``EventSensitivity``, of a subscription with ``raw=True``.

    Raises:
        ValueError: these bytes are no such message, or its matrices do not have the sizes that it states.
    """
    m = _Message(data)
    dof, size, texts = m.number("dof"), m.number("dimension"), m.layout.texts
    contacts, parameters = m.texts("contacts"), m.texts("parameters")

    def vector(path: str) -> Array | None:
        found = m.array(path)
        return found if found.size else None

    def word(i: int) -> EventWordView:
        at = f"words.{i}."
        return EventWordView(
            texts[at + "text"],
            m.array(at + "struck"),
            m.array(at + "closed"),
            m.number(at + "probability"),
            m.number(at + "validity"),
            texts[at + "why"],
            m.number(at + "rank"),
            vector(at + "v_plus"),
            m.matrix(at + "saltation", size, size),
            m.matrix(at + "v_plus_gradient", dof, size),
            m.matrix(at + "parameter_matrix", size, len(parameters)),
            m.matrix(at + "v_plus_covariance", dof, dof),
        )

    return EventSensitivityView(
        m.time("header.stamp"),
        texts["header.frame_id"],
        m.number("kind"),
        contacts,
        m.texts("closed"),
        m.time("time"),
        m.number("time_to_event"),
        dof,
        size,
        m.texts("velocity_names"),
        m.array("q"),
        m.array("v_minus"),
        m.number("validity"),
        texts["why"],
        m.matrix("time_gradient", len(contacts), size),
        m.array("time_sigma"),
        m.number("time_sigma_valid"),
        parameters,
        tuple(word(i) for i in range(m.layout.counts["words"])),
        m.number("other_probability"),
        m.number("probability_valid"),
        m.number("spread"),
        vector("mean"),
        m.matrix("covariance", size, size),
        m.number("mixture_valid"),
        m.time("compute_time"),
        m.number("model_hash"),
    )
