"""The Bouligand derivative of the outcome of a whole execution, past instants at which several contacts touch."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from hybrid_contact_ros.orbits.corners import arriving, landing_corner
from hybrid_contact_ros.orbits.flow import variational_flow
from hybrid_contact_ros.orbits.instants import followed_mode
from hybrid_contact_ros.orbits.piecewise import Piece, PiecewiseLinear, unit_rows
from hybrid_contact_ros.orbits.variation import Controls
from hybrid_contact_ros.sensitivity.balance import Unsolvable
from hybrid_contact_ros.sensitivity.bouligand import BouligandDerivative
from hybrid_contact_ros.sensitivity.bouligand_selection import InadmissibleError
from hybrid_contact_ros.sensitivity.cones import has_interior
from hybrid_contact_ros.sensitivity.gradients import asker, problem_gradient
from hybrid_contact_ros.sensitivity.mode_gradient import motion_of
from hybrid_contact_ros.sensitivity.saltation import Validity
from hybrid_contact_ros.sensitivity.touchdown import unsolvable
from hybrid_contact_ros.simulation.execution import Execution, ExecutionEvent, ExecutionEventKind

Array = NDArray[np.float64]
_RANK = 1e-9


@dataclass(frozen=True, slots=True, eq=False)
class OutcomeDerivative:
    """How the last state of an execution changes with the first one and with control parameters.

    Attributes:
        map: of (δx(0), δu) (2 nv + u,) to δx (2 nv,) at the end, x = (δq, v) in the tangent space; or the reason why
            there is none. controls: u, their number.
        field: F (2 nv,) = (v, v̇) at the end; empty where there is no map.
        tangent: (2 nv, k) orthonormal: the changes that keep the contacts closed that are closed at the end.
        tangent_before: the same at the start.
    """

    map: PiecewiseLinear
    controls: int
    field: Array
    tangent: Array
    tangent_before: Array

    def inputs(self) -> PiecewiseLinear:
        """The map of controls (u,) to what they change within ``tangent`` (k,), from one first state (Pace, §6.3)."""
        if not self.map.valid:
            return self.map
        pieces = []
        for piece in self.map.pieces:
            rows = piece.cone[:, piece.cone.shape[1] - self.controls :]
            cone = unit_rows(rows, 1.0)
            if has_interior(cone):
                by_inputs = piece.matrix[:, piece.matrix.shape[1] - self.controls :]
                pieces.append(Piece(self.tangent.T @ by_inputs, cone, piece.word))
        return PiecewiseLinear(Validity.VALID, "", tuple(pieces))


def outcome_derivative(
    execution: Execution, controls: Controls | None = None, rtol: float = 1e-9, atol: float = 1e-11, most: int = 720
) -> OutcomeDerivative:
    """Differentiate the end of an execution by its start, across every order of touchdowns near it (Pace, §5).

    Between instants with several touchdowns it is :func:`~.flow.variational_flow`; at such an instant it is
    :func:`~hybrid_contact_ros.sensitivity.bouligand.bouligand_derivative`. Selections multiply by the chain rule, and
    those that no nearby execution takes (their cone has no interior) are left out.

    Args:
        execution: of ``simulate``, with forces that do not depend on control parameters at impacts.
        controls: ∂(Sᵀτ)/∂u, as for ``variational_flow`` (Pace (27)); u is constant along the execution.
        rtol, atol: of the integrator. most: selections, of which a larger number is refused.

    Returns:
        The derivative. Its ``map`` refuses with the reason of the first event that has neither derivative.

    Raises:
        ValueError: as ``variational_flow``; or more than ``most`` selections.
    """
    system, known = execution.system, execution.system.system
    size = 2 * system.nv
    q0, v0 = execution.at(execution.intervals[0].start)
    count = controls(execution.intervals[0].start, q0, v0, frozenset()).shape[1] if controls is not None else 0
    now = [Piece(np.hstack((np.eye(size), np.zeros((size, count)))), np.zeros((0, size + count)))]
    nothing = np.zeros((size, 0))

    def refused(validity: Validity, why: str) -> OutcomeDerivative:
        return OutcomeDerivative(PiecewiseLinear(validity, why), count, np.zeros(0), nothing, nothing)

    for stretch, instant in _stretches(execution):
        flow = variational_flow(stretch, controls, rtol, atol)
        bad = flow.inadmissible
        if bad is not None:
            return refused(bad.validity, f"{bad.kind} at {flow.end:.6g} s: {bad.why}")
        if len(stretch.intervals[-1].times) > 1 or len(stretch.intervals) > 1:
            more = flow.parameter_matrix[:, flow.parameter_matrix.shape[1] - count :]
            now = [Piece(_driven(flow.matrix, p.matrix, more), p.cone, p.word) for p in now]
        if not instant:
            continue
        if instant[0].kind is not ExecutionEventKind.TOUCHDOWN:
            why = f"touchdowns at {instant[0].time:.6g} s: they are at the instant of another event"
            return refused(Validity.SIMULTANEOUS, why)
        corner = landing_corner(known, instant, instant[-1].after.closed)
        if not corner.valid:
            return refused(corner.validity, f"touchdowns at {instant[0].time:.6g} s: {corner.why}")
        try:
            now = _branched(now, corner)
        except InadmissibleError as error:
            return refused(error.validity, f"touchdowns at {instant[0].time:.6g} s: {error.why}")
        if len(now) > most:
            raise ValueError(f"there are {len(now)} selections, more than {most}")
    first, last = execution.intervals[0], execution.intervals[-1]
    q, v = last.at(last.end)
    mode = followed_mode(last, system)
    try:
        field = motion_of(asker(known, last.end, mode.closed)(q, v), mode).field
    except Unsolvable as error:
        return refused(unsolvable(error), error.why)
    tangent = _tangent(execution, last.end, q, v, len(execution.intervals) - 1)
    before = _tangent(execution, first.start, q0, v0, 0)
    return OutcomeDerivative(PiecewiseLinear(Validity.VALID, "", tuple(now)), count, field, tangent, before)


def _driven(matrix: Array, before: Array, controls: Array) -> Array:
    found = np.asarray(matrix @ before)
    if controls.shape[1]:
        found[:, found.shape[1] - controls.shape[1] :] += controls
    return found


def _stretches(execution: Execution) -> Iterator[tuple[Execution, list[ExecutionEvent]]]:
    """The execution cut at instants at which contacts touch together, each part with the events of the cut behind it.

    Intervals of a single instant lie between transitions at one time, and belong to that instant.
    """
    parts = execution.intervals
    moves = [event for event in execution.events if event.kind is not ExecutionEventKind.GRAZING]
    grazes = [event for event in execution.events if event.kind is ExecutionEventKind.GRAZING]
    longer = [k for k, part in enumerate(parts) if len(part.times) > 1] or [0]
    begin = 0
    for here, there in pairwise(longer):
        events = moves[here:there]
        if len(arriving(events)) <= 1:
            continue
        yield _cut(execution, begin, here, moves, grazes), events
        begin = there
    yield _cut(execution, begin, len(parts) - 1, moves, grazes), []


def _cut(
    execution: Execution, begin: int, end: int, moves: list[ExecutionEvent], grazes: list[ExecutionEvent]
) -> Execution:
    parts = execution.intervals[begin : end + 1]
    touched = [event for event in grazes if parts[0].start < event.time <= parts[-1].end]
    return replace(execution, intervals=parts, events=(*moves[begin:end], *touched))


def _branched(pieces: list[Piece], derivative: BouligandDerivative) -> list[Piece]:
    """All pieces times all orders, without those that no direction with a neighbourhood takes."""
    found = []
    for order, matrix, rows in derivative.corners[0].orders():
        for piece in pieces:
            size = float(np.linalg.norm(rows, 2)) * float(np.linalg.norm(piece.matrix, 2))
            cone = np.vstack((piece.cone, unit_rows(rows @ piece.matrix, size)))
            if has_interior(cone):
                found.append(Piece(matrix @ piece.matrix, cone, (*piece.word, order)))
    return found


def _tangent(execution: Execution, time: float, q: Array, v: Array, which: int) -> Array:
    """A basis (2 nv, k) of what keeps closed contacts closed: J δq = 0 and J δv + ∂(J v)/∂q δq = 0."""
    part = execution.intervals[which]
    mode = followed_mode(part, execution.system)
    gradient = problem_gradient(execution.system.system, q, v, time, mode.closed)
    n = v.size
    if not mode.closed:
        return np.eye(2 * n)
    rates, problem = gradient.rates(v), gradient.problem
    rows = [np.concatenate((problem.normal_jacobian[i], np.zeros(n))) for i in sorted(mode.closed)]
    for i, r in mode.rows(problem):
        own = problem.normal_jacobian[i] if r == 0 else problem.tangent_jacobian[i, r - 1]
        rows.append(np.concatenate((rates[i, r], own)))
    _, values, right = np.linalg.svd(np.array(rows))
    rank = int((values > _RANK * values[0]).sum())
    return np.asarray(right[rank:].T)
