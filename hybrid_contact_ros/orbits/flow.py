"""∂x(t)/∂x(0) and ∂x(t)/∂parameters along an execution: variational equations between events, saltations at them."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.integrate import solve_ivp

from hybrid_contact_ros.orbits.instants import followed_mode, instant_saltation
from hybrid_contact_ros.sensitivity.balance import Unsolvable
from hybrid_contact_ros.sensitivity.contact_mode import ContactMode
from hybrid_contact_ros.sensitivity.mode_gradient import mode_motion
from hybrid_contact_ros.sensitivity.saltation import Saltation, Validity, refusal
from hybrid_contact_ros.sensitivity.touchdown import unsolvable
from hybrid_contact_ros.simulation.execution import Execution, ExecutionEventKind, ModeInterval
from hybrid_contact_ros.systems.robot import RobotSystem

Array = NDArray[np.float64]
Controls = Callable[[float, Array, Array, frozenset[int]], Array]
"""∂(Sᵀτ)/∂u (nv, u) at (time, q, v, mode): how control parameters enter the forces (Pace (27))."""
_BASE = 6


@dataclass(frozen=True, slots=True, eq=False)
class VariationalFlow:
    """The derivative of an execution, up to its end or to its first inadmissible event.

    Attributes:
        end: s, the last time that there is a derivative for. start: s.
        saltations: one for each instant with events, in order; the last one may be a refusal, and then ``end`` is its
            time.
        parameters: names of the columns of ``parameter_matrix``: (kind, contact) with kind "friction", "restitution"
            and "height" for each contact in turn, then ("control", k).
    """

    start: float
    end: float
    saltations: tuple[Saltation, ...]
    parameters: tuple[tuple[str, int], ...]
    _times: tuple[float, ...]
    _pieces: tuple[Callable[[float], Array], ...]
    _size: int

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
        piece = self._pieces[max(bisect_right(self._times, time) - 1, 0)]
        both = np.asarray(piece(time), dtype=np.float64).reshape(self._size, -1)
        return both[:, : self._size].copy(), both[:, self._size :].copy()

    @property
    def matrix(self) -> Array:
        """∂x/∂x(0) (2 nv, 2 nv) at :attr:`end`."""
        return self.at(self.end)[0]

    @property
    def parameter_matrix(self) -> Array:
        """∂x/∂p (2 nv, p) at :attr:`end`."""
        return self.at(self.end)[1]


def variational_flow(
    execution: Execution, controls: Controls | None = None, rtol: float = 1e-8, atol: float = 1e-10
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

    Raises:
        ValueError: tolerances that are not positive, controls of a wrong shape or that are not finite; v is not q̇ and
            the system is no robot, so that the tangent space is unknown.
    """
    system = execution.system
    known = system.system
    if system.curved and not isinstance(known, RobotSystem):
        raise ValueError(f"{system.name} has v ≠ q̇, and no RigidBodyModel that could say what a displacement is")
    if not (0.0 < rtol < np.inf and 0.0 < atol < np.inf):
        raise ValueError(f"rtol is {rtol} and atol {atol}; positive numbers are needed")
    size, m = 2 * system.nv, system.contacts
    if controls is not None:
        controls = _checked(controls, system.nv)
    start = execution.intervals[0].start
    names = [(kind, i) for kind in ("friction", "restitution", "height") for i in range(m)]
    if controls is not None:
        q, v = execution.at(start)
        names += [("control", k) for k in range(controls(start, q, v, frozenset()).shape[1])]
    now = np.hstack((np.eye(size), np.zeros((size, len(names)))))
    times, pieces, saltations = [start], [_constant(now)], []
    end, pending = start, []
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
            jump = instant_saltation(system, pending, before or _mode_of(pending[0].before), mode)
            saltations.append(jump)
            if not jump.valid:
                break
            now = _after(jump, now, names)
            pending = []
        try:
            found = _integrate(known, part, mode, now, controls, names, m, rtol, atol)
        except Unsolvable as error:
            saltations.append(refusal("motion", part.mode.closed, unsolvable(error), error.why))
            break
        times.append(part.start)
        pieces.append(found)
        now, end, before = found(part.end).reshape(size, -1), part.end, mode
        touched = [time for time in grazing if part.start < time <= part.end]
        if touched:
            end = touched[0]
            why = "a contact touches without normal speed"
            saltations.append(refusal("grazing", frozenset(), Validity.GRAZING, why))
            break
    return VariationalFlow(start, end, tuple(saltations), tuple(names), tuple(times), tuple(pieces), size)


def _checked(controls: Controls, nv: int) -> Controls:
    """The same function, whose answers are looked at: an integrator would look for a finite number for ever."""

    def checked(*where: Any) -> Array:
        given = np.asarray(controls(*where), dtype=np.float64)
        if given.ndim != 2 or given.shape[0] != nv or not np.isfinite(given).all():
            raise ValueError(
                f"controls gave an array of shape {given.shape}; finite ones of ({nv}, controls) are needed"
            )
        return given

    return checked


def _constant(value: Array) -> Callable[[float], Array]:
    return lambda _time: value


def _mode_of(mode: object) -> ContactMode:
    return ContactMode(mode.closed, mode.sliding)  # type: ignore[attr-defined]


def _after(jump: Saltation, now: Array, names: list[tuple[str, int]]) -> Array:
    """The derivatives after an instant."""
    found = jump.apply(now)
    size = len(found)
    if jump.parameter_matrix is not None:
        for k, name in enumerate(jump.parameters):
            if name in names:
                found[:, size + names.index(name)] += jump.parameter_matrix[:, k]
    return found


def _integrate(
    known: object,
    part: ModeInterval,
    mode: ContactMode,
    now: Array,
    controls: Controls | None,
    names: list[tuple[str, int]],
    contacts: int,
    rtol: float,
    atol: float,
) -> Callable[[float], Array]:
    """Solve the variational equation along one interval; returns its dense output."""
    size = len(now)
    n = size // 2
    floating = isinstance(known, RobotSystem) and known.model.floating_base

    def rate(time: float, flat: Array) -> Array:
        q, v = part.at(time)
        change = mode_motion(known, q, v, time, mode)
        here = flat.reshape(size, -1)
        found = np.empty_like(here)
        found[:n] = here[n:]
        if floating:
            found[:_BASE] -= _adjoint(v[:_BASE]) @ here[:_BASE]
        found[n:] = change.acceleration @ here
        found[n:, size : size + contacts] += change.acceleration_friction
        if controls is not None:
            found[n:, size + 3 * contacts :] += change.acceleration_push @ controls(time, q, v, part.mode.closed)
        return found.reshape(-1)

    solution = solve_ivp(
        rate,
        (part.start, part.end),
        now.reshape(-1),
        method="DOP853",
        rtol=rtol,
        atol=atol,
        dense_output=True,
        first_step=part.end - part.start,  # mostly so smooth that one or two steps will do
    )
    if not solution.success:
        raise Unsolvable(True, f"the variational equation could not be followed: {solution.message}")
    last, dense = solution.y[:, -1], solution.sol
    return lambda time: last if time >= part.end else dense(time)


def _adjoint(v: Array) -> Array:
    """ad_ν (6, 6) of a spatial velocity, linear then angular: the base's δq turns with its frame."""
    found = np.zeros((6, 6))
    linear, angular = _skew(v[:3]), _skew(v[3:])
    found[:3, :3] = found[3:, 3:] = angular
    found[:3, 3:] = linear
    return found


def _skew(a: Array) -> Array:
    return np.array([[0.0, -a[2], a[1]], [a[2], 0.0, -a[0]], [-a[1], a[0], 0.0]])
