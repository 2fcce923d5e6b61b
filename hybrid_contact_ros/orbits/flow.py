"""∂x(t)/∂x(0) and ∂x(t)/∂parameters along an execution: variational equations between events, saltations at them."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from hybrid_contact_ros.orbits.instants import followed_mode, instant_saltation
from hybrid_contact_ros.orbits.truncated import Bounces
from hybrid_contact_ros.orbits.variation import Controls, Variation
from hybrid_contact_ros.sensitivity.balance import Unsolvable
from hybrid_contact_ros.sensitivity.contact_mode import ContactMode
from hybrid_contact_ros.sensitivity.saltation import Saltation, Validity, refusal
from hybrid_contact_ros.sensitivity.touchdown import unsolvable
from hybrid_contact_ros.simulation.execution import Execution, ExecutionEvent, ExecutionEventKind
from hybrid_contact_ros.simulation.mode import HybridMode

Array = NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class VariationalFlow:
    """The derivative of an execution, up to its end or to its first inadmissible event.

    Attributes:
        end: s, the last time that there is a derivative for. start: s.
        saltations: one for each instant with events, in order; the last one may be a refusal, and then ``end`` is its
            time.
        parameters: names of the columns of ``parameter_matrix``: (kind, contact) with kind "friction", "restitution"
            and "height" for each contact in turn, then ("control", k).
        error_unknown: why :meth:`truncation_error` has no estimate; empty if it has.
    """

    start: float
    end: float
    saltations: tuple[Saltation, ...]
    parameters: tuple[tuple[str, int], ...]
    _times: tuple[float, ...]
    _pieces: tuple[Callable[[float], Array], ...]
    _size: int
    error_unknown: str = ""

    @property
    def inadmissible(self) -> Saltation | None:
        """The event at which differentiability ends, with the reason; None where all of the execution is admissible."""
        last = self.saltations[-1] if self.saltations else None
        return None if last is None or last.valid else last

    def at(self, time: float) -> tuple[Array, Array]:
        """∂x(t)/∂x(0) (2 nv, 2 nv) and ∂x(t)/∂p (2 nv, p) at a time, s; at that of an event, after it.

        Raises:
            ValueError: before the start, or after :attr:`end`; the text says why it ends there.
        """
        if not self.start <= time <= self.end:
            bad = self.inadmissible
            why = "" if bad is None else f": {bad.kind} ({bad.validity.value}), {bad.why}"
            raise ValueError(f"time {time} is not within {self.start} … {self.end}{why}")
        columns, count = self._columns(time), self._size + len(self.parameters)
        return columns[:, : self._size].copy(), columns[:, self._size : count].copy()

    def truncation_error(self, time: float | None = None) -> tuple[Array, Array]:
        """What truncated chatters add to both parts of :meth:`at`, beside the Zeno execution: an estimate.

        It is zero before the first truncation. See :class:`~.truncated.Bounces` for how it is found.

        Raises:
            ValueError: as :meth:`at`, or there is no estimate; the text says why.
        """
        if self.error_unknown:
            raise ValueError(f"no estimate of the truncation's error: {self.error_unknown}")
        at = self.end if time is None else time
        self.at(at)
        columns, count = self._columns(at), self._size + len(self.parameters)
        found = columns[:, count:] if columns.shape[1] > count else np.zeros((self._size, count))
        return found[:, : self._size].copy(), found[:, self._size :].copy()

    def _columns(self, time: float) -> Array:
        piece = self._pieces[max(bisect_right(self._times, time) - 1, 0)]
        return np.asarray(piece(time), dtype=np.float64).reshape(self._size, -1)

    @property
    def matrix(self) -> Array:
        """∂x/∂x(0) (2 nv, 2 nv) at :attr:`end`."""
        return self.at(self.end)[0]

    @property
    def parameter_matrix(self) -> Array:
        """∂x/∂p (2 nv, p) at :attr:`end`."""
        return self.at(self.end)[1]


def variational_flow(
    execution: Execution,
    controls: Controls | None = None,
    rtol: float = 1e-8,
    atol: float = 1e-10,
    *,
    truncated: bool = False,
) -> VariationalFlow:
    """Follow small changes of an execution's first state, and of its parameters.

    In a mode d δx/dt = ∂F/∂x δx + ∂F/∂p with the mode's equations differentiated (:mod:`~.sensitivity.mode_gradient`),
    along the execution's dense output. At each instant with events δx⁺ = Ξ δx⁻ + ∂x⁺/∂p. It ends at the first event
    that has no saltation matrix: ``inadmissible`` says which and why.

    States are x = (δq, v) in the tangent space: q ⊕ δq. The ground's height is that of the gap of a contact, φ − z.
    Perturbations of closed contacts must keep them closed: J δq = 0 in mode, as differences of executions do.

    Args:
        execution: of ``simulate``. controls: ∂(Sᵀτ)/∂u of control parameters, for columns of their own.
        rtol, atol: of the integrator (DOP853).
        truncated: go on where a chatter was cut off, or ended because its bounces became too slow to follow, with the
            derivative of the truncated execution. This is no derivative of the Zeno execution: ``truncation_error``
            says how far it may be from that limit. Otherwise such an end is refused as ZENO.

    Raises:
        ValueError: tolerances that are not positive, controls of a wrong shape or that are not finite; v is not q̇ and
            the system is no robot, so that the tangent space is unknown.
    """
    variation = Variation(execution, controls, rtol, atol)
    bounces = Bounces(execution.system, variation)

    def settle(
        events: list[ExecutionEvent], before: ContactMode, after: ContactMode, now: Array
    ) -> tuple[Saltation, Array]:
        jump = instant_saltation(execution.system, events, before, after, truncated)
        if not jump.valid:
            return jump, now
        return jump, bounces.after(jump, events, before, after, now) if truncated else variation.after(jump, now)

    end, saltations, times, pieces = follow_execution(execution, variation, settle)
    names = tuple(variation.names)
    return VariationalFlow(
        execution.intervals[0].start, end, saltations, names, times, pieces, variation.size, bounces.unknown
    )


Settle = Callable[[list[ExecutionEvent], ContactMode, ContactMode, Array], tuple[Saltation, Array]]
"""What the events of an instant between two modes do, and the columns after it."""


def follow_execution(
    execution: Execution, variation: Variation, settle: Settle
) -> tuple[float, tuple[Saltation, ...], tuple[float, ...], tuple[Callable[[float], Array], ...]]:
    """The end of what is differentiable, the instants' saltations, and the columns' pieces with the times where these
    begin."""
    system, start, now = execution.system, execution.intervals[0].start, variation.begin()
    times, pieces, saltations = [start], [_constant(now)], list[Saltation]()
    end, pending = start, list[ExecutionEvent]()
    before: ContactMode | None = None
    events = [event for event in execution.events if event.kind is not ExecutionEventKind.GRAZING]
    grazing = [event.time for event in execution.events if event.kind is ExecutionEventKind.GRAZING]
    for k, part in enumerate(execution.intervals):
        if k > 0:
            pending.append(events[k - 1])
        if len(part.times) < 2:
            continue
        mode = followed_mode(part, system)
        if pending:
            jump, now = settle(pending, before or _mode_of(pending[0].before, mode.kinetic), mode, now)
            saltations.append(jump)
            if not jump.valid:
                break
            pending = []
        try:
            found = variation.follow(part, mode, now)
        except Unsolvable as error:
            saltations.append(refusal("motion", part.mode.closed, unsolvable(error), error.why))
            break
        times.append(part.start)
        pieces.append(found)
        now, end, before = found(part.end).reshape(now.shape), part.end, mode
        touched = [time for time in grazing if part.start < time <= part.end]
        if touched:
            end = touched[0]
            why = "a contact touches without normal speed"
            saltations.append(refusal("grazing", frozenset(), Validity.GRAZING, why))
            break
    return end, tuple(saltations), tuple(times), tuple(pieces)


def _constant(value: Array) -> Callable[[float], Array]:
    return lambda _time: value


def _mode_of(mode: HybridMode, kinetic: bool) -> ContactMode:
    return ContactMode(mode.closed, mode.sliding, kinetic=kinetic)
