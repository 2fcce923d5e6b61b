"""From the answer of an update to the records that are published.

Few of their arrays are looked at in a live node: messages are written from the answer's two blocks. An array is
therefore made, as a view of a block, when it is asked for.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from hybrid_contact_ros.estimation.engine import Answer
from hybrid_contact_ros.estimation.memory import lists_in
from hybrid_contact_ros.estimation.pairs import NO_PAIRS, Pairs, listed
from hybrid_contact_ros.kernels.estimation.belief_step import CALIBRATED
from hybrid_contact_ros.kernels.estimation.update_records import CODES, NUMBERS, VECTORS, ListsOut
from hybrid_contact_ros.prediction import ModePrediction, ModeSequence, StabilityPrediction

_NO_SEQUENCE = ModeSequence(
    contact=np.zeros(0, np.int64), kind=np.zeros(0, np.uint8), times=np.zeros((0, 3)), mode=np.zeros(0, np.int64)
)

# The rows of the blocks, in the order of their numbers in kernels/estimation/update_records.py.
_VECTORS = ("position", "normal", "tangential_velocity", "force_model", "force_estimate")
_NUMBERS = (
    "probability", "gap", "gap_velocity", "gap_acceleration", "friction_coefficient", "friction_margin",
    "critical_friction", "time_to_event", "earliest", "latest", "ground_offset", "ground_sigma", "force_weight",
    "time_q05", "time_q25", "time_q75", "time_q95", "event_probability", "friction_lower", "friction_upper",
    "friction_ratio", "time_to_slip",
)  # fmt: skip
_CODES = ("status", "jammed", "next_event", "bounds_valid", "slip_warning", "density_valid")
_FLAG_NUMBERS = (
    "constraint_force", "gap_acceleration", "chatter_end", "touchdown_speed", "friction_margin",
    "pseudo_impulse_margin", "chatter_end_earliest", "chatter_end_latest",
)  # fmt: skip
_FLAG_CODES = ("constraint_stability", "bounded_time_stability", "zeno", "grazing", "friction", "pseudo_impulse")
_FORCE_VALID, _CLOSED = CODES, CODES + 1  # rows of ``bytes``


class Place(NamedTuple):
    """Where an array of m contacts stands in a block: it begins at ``first`` · m, and is (m, 3) or (m,)."""

    in_floats: bool
    first: int
    vector: bool = False

    def run(self, contacts: int) -> slice:
        """Its entries in the block."""
        begin = self.first * contacts
        return slice(begin, begin + (3 if self.vector else 1) * contacts)

    def of(self, floats: NDArray[Any], octets: NDArray[Any]) -> NDArray[Any]:
        """The array."""
        m = len(octets) // (CODES + 2)
        array = (floats if self.in_floats else octets)[self.run(m)]
        return array.reshape(m, 3) if self.vector else array


MODE_PLACES = {
    **{name: Place(True, 3 * k, vector=True) for k, name in enumerate(_VECTORS)},
    **{name: Place(True, 3 * VECTORS + k) for k, name in enumerate(_NUMBERS)},
    **{name: Place(False, k) for k, name in enumerate(_CODES)},
    "force_valid": Place(False, _FORCE_VALID),
}
"""Of the arrays of a :class:`AnsweredMode`."""
_FLAG_PLACES = {
    **{name: Place(True, 3 * VECTORS + len(_NUMBERS) + k) for k, name in enumerate(_FLAG_NUMBERS)},
    **{name: Place(False, len(_CODES) + k) for k, name in enumerate(_FLAG_CODES)},
    "closed": Place(False, _CLOSED),
}
assert len(_NUMBERS) + len(_FLAG_NUMBERS) == NUMBERS and len(_CODES) + len(_FLAG_CODES) == CODES
_PAIR_FIELDS = ("pair_first", "pair_second", "pair_coupling", "pair_order_sensitive", "pair_order_margin")
_NEVER = ("time_bounds_valid", "chatter_bounds_valid")  # these are not calibrated
_TRUTHS = ("force_valid", "closed", "bounds_valid", "slip_warning", "density_valid")
_new, _set = object.__new__, object.__setattr__  # the records are frozen


class Listed(NamedTuple):
    """The lists of an answer, as :class:`~hybrid_contact_ros.estimation.engine.Answer` has them.

    Attributes:
        block: of all lists, or None. sizes: of :func:`~hybrid_contact_ros.estimation.memory.lists_in`.
        steps, pairs: entries that are filled.
    """

    block: NDArray[np.uint8] | None
    sizes: tuple[int, int]
    steps: int
    pairs: int

    def sequence(self) -> ModeSequence:
        """The sequence of modes."""
        if not self.steps or self.block is None:
            return _NO_SEQUENCE
        return mode_sequence(lists_in(self.block, *self.sizes), self.steps)

    def order(self) -> Pairs:
        """The pairs."""
        if not self.pairs or self.block is None:
            return NO_PAIRS
        return listed(lists_in(self.block, *self.sizes), self.pairs)


class AnsweredMode(ModePrediction):
    """The mode of an answer.

    Attributes:
        floats, octets: the blocks, as of :class:`~hybrid_contact_ros.estimation.engine.Answer`. listed: the lists.
    """

    __slots__ = ("floats", "listed", "octets")
    floats: NDArray[np.float64]
    octets: NDArray[np.uint8]
    listed: Listed

    def __getattr__(self, name: str) -> Any:  # called for what is not there yet
        if name == "sequence":
            _set(self, name, sequence := self.listed.sequence())
            return sequence
        return _filled(self, name, MODE_PLACES)


class AnsweredFlags(StabilityPrediction):
    """The stability flags of an answer; attributes as of :class:`AnsweredMode`."""

    __slots__ = ("floats", "listed", "octets", "pairs")
    floats: NDArray[np.float64]
    octets: NDArray[np.uint8]
    listed: Listed
    pairs: Pairs

    def __getattr__(self, name: str) -> Any:
        if name == "pairs":
            _set(self, name, pairs := self.listed.order())
            return pairs
        if name in _PAIR_FIELDS:
            for field, value in zip(_PAIR_FIELDS, self.pairs, strict=True):
                _set(self, field, value)
            return self.pairs[_PAIR_FIELDS.index(name)]
        return _filled(self, name, _FLAG_PLACES)


def block_sizes(contacts: int) -> tuple[int, int]:
    """Sizes of the two blocks of an answer."""
    return (3 * VECTORS + NUMBERS) * contacts, (CODES + 2) * contacts


def blocks(mode: ModePrediction) -> tuple[NDArray[np.float64], NDArray[np.uint8]]:
    """All arrays of a mode in two blocks, as an answer has them; those of its flags are zero where it is no answer."""
    try:
        return mode.floats, mode.octets  # type: ignore[attr-defined,no-any-return]
    except AttributeError:
        floats, octets = block_sizes(len(mode.status))
        found = np.zeros(floats), np.zeros(octets, np.uint8)
        for name, place in MODE_PLACES.items():
            place.of(*found)[:] = getattr(mode, name)
        return found


def _filled(record: AnsweredMode | AnsweredFlags, name: str, places: dict[str, Place]) -> NDArray[Any] | bool:
    if name in _NEVER:
        _set(record, name, False)
        return False
    place = places.get(name)
    if place is None:
        raise AttributeError(f"{type(record).__name__!r} object has no attribute {name!r}", name=name, obj=record)
    array = place.of(record.floats, record.octets)
    if name in _TRUTHS:
        array = array.view(np.bool_)
    _set(record, name, array)
    return array


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


def predictions(stamp_ns: int, answer: Answer, sizes: tuple[int, int]) -> tuple[ModePrediction, StabilityPrediction]:
    """The published mode and flags of one update; ``sizes`` as of :class:`Listed`."""
    floats, octets, block, residual, validity, steps, _, _, pairs = answer
    mode, flags = _new(AnsweredMode), _new(AnsweredFlags)
    lists = Listed(block, sizes, steps, pairs)
    _set(mode, "stamp_ns", stamp_ns)
    _set(mode, "floats", floats)
    _set(mode, "octets", octets)
    _set(mode, "listed", lists)
    _set(mode, "residual", residual)
    _set(mode, "validity", validity & ~CALIBRATED)
    _set(mode, "probability_valid", validity & CALIBRATED != 0)
    _set(flags, "stamp_ns", stamp_ns)
    _set(flags, "floats", floats)
    _set(flags, "octets", octets)
    _set(flags, "listed", lists)
    return mode, flags
