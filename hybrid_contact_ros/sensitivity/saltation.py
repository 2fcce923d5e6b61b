"""Saltation matrices: how a small change of the state before an event appears after it, at the same time."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum
from math import isfinite

import numpy as np
from numpy.typing import ArrayLike, NDArray

from hybrid_contact_ros.mechanics.contact_sets import finite
from hybrid_contact_ros.sensitivity.checked import real_numbers

Array = NDArray[np.float64]
_GRAZING = 1e-9  # of Σ|Dh||F|: a guard that changes less is met without being crossed
_RANK = 1e-9  # smaller singular values, relative to the largest, are zero


class Validity(Enum):
    """Whether outcomes near an event are differentiable, and why not."""

    VALID = "valid"
    GRAZING = "grazing"
    """The guard is touched without being crossed: the event's time is no differentiable function (Pace, Remark 6)."""
    ZENO = "Zeno"
    """Infinitely many events, or a truncation of them (Pace, Remarks 7 and 13)."""
    NOT_UNIQUE = "not unique"
    """The law leaves the outcome open: forces of redundant sliding contacts, or no unique mode."""
    SIMULTANEOUS = "simultaneous"
    """Several guards are reached at once, so that nearby events come in different orders (Pace, §4 and §5)."""
    SPATIAL_SLIP_END = "end of a slip in space"
    """A slip in space ends in a way that is not attracted to one direction."""
    WITHOUT_COLLISION = "impact without collision"
    """A jam (Painlevé): forces grow without bound before it, and so do derivatives."""
    SINGULAR = "singular"
    """The mode before or after has no motion that its equations decide (massless limbs, contradicting rows)."""
    CAPPED = "capped"
    """The law limits the returned impulses by the energy; that limit is not differentiated."""
    NOT_TOUCHING = "not touching"
    """The contact is not at its surface, or is closed already, or does not approach: there is no such event."""
    UNEXPLAINED = "unexplained"
    """No course of the impact reproduces the velocity after it."""


@dataclass(frozen=True, slots=True, eq=False)
class Saltation:
    """The derivative of a hybrid flow across one event, or why there is none.

    With δx⁻ before the event and δx⁺ after it, both at the time of the unperturbed event, δx⁺ = Ξ δx⁻ to first order.
    States are x = (δq, v) in the tangent space, so that a free-flyer has 2 × 6 of them.

    Attributes:
        kind: of the event, as in ``ExecutionEventKind``. contacts: that it happens to.
        validity: the attributes below are None, or empty, unless it is VALID. why: in words, empty if VALID.
        matrix: Ξ (2 nv, 2 nv). time: ∂τ/∂x (2 nv,), s, of the event's time.
        velocity: v⁺ (nv,). velocity_gradient: ∂v⁺/∂x (nv, 2 nv), of the velocity right after the event, whenever that
            takes place.
        parameters: what the columns of the next two are for: (kind, contact), kind one of "friction", "restitution"
            and "height" (of the contact's ground, m), or names of controls.
        parameter_matrix: ∂x⁺/∂p (2 nv, p), at the same time. parameter_time: ∂τ/∂p (p,).
        lost: names of the directions in which Ξ loses what it is given, one for each rank that it lacks.
    """

    kind: str
    contacts: frozenset[int]
    validity: Validity
    why: str
    matrix: Array | None = None
    time: Array | None = None
    velocity: Array | None = None
    velocity_gradient: Array | None = None
    parameters: tuple[tuple[str, int], ...] = ()
    parameter_matrix: Array | None = None
    parameter_time: Array | None = None
    lost: tuple[str, ...] = ()

    @property
    def valid(self) -> bool:
        """Whether there is a matrix."""
        return self.validity is Validity.VALID

    def required(self) -> Array:
        """Ξ (2 nv, 2 nv).

        Raises:
            ValueError: there is none; the text says why.
        """
        if self.matrix is None:
            raise ValueError(f"no saltation matrix of this {self.kind} ({self.validity.value}): {self.why}")
        return self.matrix

    def apply(self, change: ArrayLike) -> Array:
        """Ξ δx for one perturbation (2 nv,), or for columns of them (2 nv, c).

        Raises:
            ValueError: there is no matrix, the sizes do not fit, or numbers are not finite.
        """
        matrix, given = self.required(), real_numbers(change, "the perturbation")
        if given.ndim not in (1, 2) or given.shape[0] != matrix.shape[1]:
            raise ValueError(f"the perturbation has shape {given.shape}; ({matrix.shape[1]},) is needed")
        if not np.isfinite(given).all():
            raise ValueError("the perturbation has numbers that are not finite")
        return np.asarray(matrix @ given)

    def rank(self, scale: ArrayLike | None = None) -> int:
        """The number of singular values of Ξ that are not zero, by 1e-9 of the largest.

        Args:
            scale: (2 nv,) sizes of the states, to compare metres with radians; ones by default.

        Raises:
            ValueError: there is no matrix.
        """
        matrix = self.required()
        size = np.ones(len(matrix)) if scale is None else np.asarray(scale, dtype=np.float64)
        values = np.linalg.svd(matrix * size / size[:, None], compute_uv=False)
        return int((values > _RANK * values[0]).sum())


def refusal(kind: str, contacts: frozenset[int], validity: Validity, why: str) -> Saltation:
    """An event without a saltation matrix."""
    return Saltation(kind, contacts, validity, why)


def saltation(
    reset_gradient: ArrayLike,
    guard_gradient: ArrayLike,
    field_before: ArrayLike,
    field_after: ArrayLike,
    *,
    guard_rate: float = 0.0,
    reset_rate: ArrayLike | None = None,
    reset_parameters: ArrayLike | None = None,
    guard_parameters: ArrayLike | None = None,
    velocity_after: ArrayLike | None = None,
    kind: str = "event",
    contacts: frozenset[int] = frozenset(),
    parameters: Sequence[tuple[str, int]] = (),
    lost: Sequence[str] = (),
) -> Saltation:
    """The saltation matrix of any event, from local data (Aizerman and Gantmacher 1958; Pace (18)-(20) for impacts).

    The state follows F⁻ until the guard h(x, t) falls to zero, jumps to R(x, t) and follows F⁺. With the event's time
    τ(x), ∂τ/∂x = −Dh/ḣ and ḣ = Dh F⁻ + D_t h,

        Ξ = DR + (F⁺ − DR F⁻ − D_t R) Dh / ḣ.

    Parameters p are states that do not move: ∂x⁺/∂p = D_p R + (F⁺ − DR F⁻ − D_t R) D_p h / ḣ. That F depends on p is
    for the flow between the events.

    A ball of 1 kg that falls at 2 m/s and returns at e = 0.5 times that; q is its height:

    >>> from hybrid_contact_ros.sensitivity.saltation import saltation
    >>> jump = saltation(np.diag([1.0, -0.5]), np.array([1.0, 0.0]), np.array([-2.0, -9.81]), np.array([1.0, -9.81]))
    >>> jump.matrix.round(4).tolist(), (jump.time + 0.0).tolist()
    ([[-0.5, 0.0], [7.3575, -0.5]], [0.5, 0.0])

    Args:
        reset_gradient: DR (2 nv, 2 nv). guard_gradient: Dh (2 nv,). field_before: F⁻ (2 nv,) at x⁻. field_after: F⁺
            (2 nv,) at x⁺ = R(x⁻). guard_rate: D_t h. reset_rate: D_t R (2 nv,).
        reset_parameters: D_p R (2 nv, p). guard_parameters: D_p h (p,).
        velocity_after: v⁺ (nv,), for the record. kind, contacts, parameters, lost: as in :class:`Saltation`.

    Returns:
        The matrix, or GRAZING where |ḣ| is below 1e-9 of Σ|Dh||F⁻| + |D_t h|.

    Raises:
        ValueError: sizes that do not fit, or numbers that are complex or not finite.
    """
    finite(guard_rate=guard_rate)
    reset, guard = _real(reset_gradient, "reset_gradient"), _real(guard_gradient, "guard_gradient")
    before, after = _real(field_before, "field_before"), _real(field_after, "field_after")
    states, count = guard.size, len(parameters)
    if not states:
        raise ValueError(f"guard_gradient has shape {guard.shape}; (2 nv,) with nv ≥ 1 is needed")
    given = [("reset_gradient", reset, (states, states)), ("guard_gradient", guard, (states,)),
             ("field_before", before, (states,)), ("field_after", after, (states,))]  # fmt: skip
    optional = (
        ("reset_rate", reset_rate, (states,)),
        ("reset_parameters", reset_parameters, (states, count)),
        ("guard_parameters", guard_parameters, (count,)),
        ("velocity_after", velocity_after, (states // 2,)),
    )
    given += [(name, _real(array, name), shape) for name, array, shape in optional if array is not None]
    _check(given)
    known = {name: array for name, array, _ in given[4:]}
    rate = float(guard @ before) + guard_rate
    size = float(np.abs(guard * before).sum()) + abs(guard_rate)
    if not abs(rate) > _GRAZING * size:
        return refusal(kind, contacts, Validity.GRAZING, "the guard does not change along the motion")
    time = guard / -rate
    carried = reset @ before
    if reset_rate is not None:
        carried = carried + known["reset_rate"]
    jump = after - carried
    matrix = jump[:, None] * -time
    matrix += reset
    n = states // 2
    velocity_gradient = carried[n:, None] * time
    velocity_gradient += reset[n:]
    by_parameter = np.zeros((states, count)) if reset_parameters is None else known["reset_parameters"].copy()
    time_parameter = np.zeros(count)
    if guard_parameters is not None:
        time_parameter = known["guard_parameters"] / -rate
        by_parameter -= jump[:, None] * time_parameter
    return Saltation(
        kind,
        contacts,
        Validity.VALID,
        "",
        matrix,
        time,
        known.get("velocity_after"),
        velocity_gradient,
        tuple(parameters),
        by_parameter,
        time_parameter,
        tuple(lost),
    )


def _real(given: ArrayLike, name: str) -> Array:
    """An array of floats as it is, anything else as a new one."""
    return given if isinstance(given, np.ndarray) and given.dtype == np.float64 else real_numbers(given, name)


def _check(given: Sequence[tuple[str, Array, tuple[int, ...]]]) -> None:
    """Refuse arrays, with their names and the shapes that they need; a sum of squares tells whether all are finite."""
    total = 0.0
    for name, array, shape in given:
        if array.shape != shape:
            raise ValueError(f"{name} has shape {array.shape}; {shape} is needed")
        flat = array.ravel()
        total += float(np.dot(flat, flat))
    if isfinite(total):
        return
    for name, array, _ in given:
        if not np.isfinite(array).all():
            raise ValueError(f"{name} has numbers that are not finite")
