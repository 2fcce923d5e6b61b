"""How an execution changes along one direction, past instants at which several contacts touch."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from numbers import Real

import numpy as np
from numpy.typing import ArrayLike, NDArray

from hybrid_contact_ros.orbits.corners import arriving, landing_corner
from hybrid_contact_ros.orbits.flow import VariationalFlow, follow_execution
from hybrid_contact_ros.orbits.instants import instant_saltation
from hybrid_contact_ros.orbits.variation import Controls, Variation
from hybrid_contact_ros.sensitivity.bouligand_selection import InadmissibleError
from hybrid_contact_ros.sensitivity.contact_mode import ContactMode
from hybrid_contact_ros.sensitivity.gradients import depends_on_time
from hybrid_contact_ros.sensitivity.saltation import Saltation, Validity, refusal
from hybrid_contact_ros.sensitivity.words import TouchdownWord, touchdown_words
from hybrid_contact_ros.simulation.execution import Execution, ExecutionEvent, ExecutionEventKind
from hybrid_contact_ros.systems.robot import RobotSystem

Array = NDArray[np.float64]
_SAME = 1e-6  # of the speeds: so near to the execution's velocity a word must lead for the flow to go on


@dataclass(frozen=True, slots=True, eq=False)
class WordwiseChange:
    """Where nearby executions along the direction go at an instant whose orders lead to different velocities.

    This is no derivative of the execution: outcomes jump. Along the direction the state after the instant tends to
    (q, ``velocity``), by first order with ``change``; the execution itself takes another way.

    Attributes:
        time: s. word: the impacts that the direction takes. q: (nq,). velocity: v⁺_word (nv,).
        change: S_word δx (2 nv,) of the direction.
    """

    time: float
    word: TouchdownWord
    q: Array
    velocity: Array
    change: Array


@dataclass(frozen=True, slots=True, eq=False)
class DirectionalFlow:
    """The one-sided derivative of an execution along one direction, of its first state and its parameters.

    Attributes:
        piece: the linear piece that the direction belongs to, as a flow: its ``matrix`` is that of the piece, and of
            all directions only where no instant had several touchdowns. Its ``inadmissible`` says where and why it
            ends.
        orders: of the touchdowns at each instant that has several and one Bouligand derivative.
        wordwise: None, or what becomes of the direction at the instant where ``piece`` ends, of ``touchdown_words``.
    """

    piece: VariationalFlow
    orders: tuple[tuple[int, ...], ...]
    wordwise: WordwiseChange | None
    _direction: Array

    @property
    def end(self) -> float:
        """s, the last time that there is a derivative for."""
        return self.piece.end

    def at(self, time: float) -> Array:
        """δx(t) (2 nv,): x(t) from x(0) + α δx(0), with p + α δp, is x(t) + α at(t) + o(α) for α ↓ 0.

        Raises:
            ValueError: before the start, or after :attr:`end`; the text says why it ends there.
        """
        return np.hstack(self.piece.at(time)) @ self._direction

    @property
    def change(self) -> Array:
        """δx (2 nv,) at :attr:`end`."""
        return self.at(self.end)


def directional_flow(
    execution: Execution,
    direction: ArrayLike,
    parameters: Mapping[tuple[str, int], float] | None = None,
    controls: Controls | None = None,
    rtol: float = 1e-8,
    atol: float = 1e-10,
) -> DirectionalFlow:
    """Follow one direction of the first state, and of parameters, along an execution (Pace (23)-(26), chain rule).

    It is :func:`~.flow.variational_flow` where that has a derivative. Where contacts touch together with orthogonal
    constraints it takes the piece of :func:`~hybrid_contact_ros.sensitivity.bouligand.bouligand_derivative` that the
    direction belongs to, grounds' heights included. Where constraints are not orthogonal it takes the word of
    :func:`~hybrid_contact_ros.sensitivity.words.touchdown_words`: if that leads to the velocity of the execution, the
    flow goes on; if not, the outcome jumps, the flow ends and ``wordwise`` tells where the direction leads. Forces at
    such an instant must not depend on time, but for robots, and on no word but the mode before it.

    Args:
        execution: of ``simulate``. direction: δx(0) (2 nv,) = (δq, δv) in the tangent space.
        parameters: δp by name: ("friction", i), ("restitution", i), ("height", i), m, or ("control", k).
        controls, rtol, atol: as for ``variational_flow``.

    Raises:
        ValueError: as ``variational_flow``; a direction of another size or that is not finite; an unknown parameter.
    """
    variation = Variation(execution, controls, rtol, atol)
    given = np.asarray(direction, dtype=np.float64)
    if given.shape != (variation.size,) or not np.isfinite(given).all():
        raise ValueError(f"the direction has shape {given.shape}; ({variation.size},) finite numbers are needed")
    whole = np.concatenate((given, np.zeros(len(variation.names))))
    if parameters is not None and not isinstance(parameters, Mapping):
        raise ValueError(f"parameters is {parameters!r}; give a mapping, such as {{('friction', 0): 1.0}}")
    for name, value in (parameters or {}).items():
        number = isinstance(value, Real) and np.isfinite(value)
        if name not in variation.names or not number:
            raise ValueError(f"parameter {name!r} with {value!r} is none of {variation.names} with a finite change")
        whole[variation.size + variation.names.index(name)] = value
    orders: list[tuple[int, ...]] = []
    words: list[WordwiseChange] = []
    heights = {i: float(whole[variation.size + variation.names.index(("height", i))])
               for i in range(execution.system.contacts)}  # fmt: skip

    def settle(
        events: list[ExecutionEvent], before: ContactMode, after: ContactMode, now: Array
    ) -> tuple[Saltation, Array]:
        jump = instant_saltation(execution.system, events, before, after)
        if jump.validity is Validity.SIMULTANEOUS and events[0].kind is ExecutionEventKind.TOUCHDOWN:
            change = now @ whole
            jump = _piece(variation.known, events, after, change, heights, orders)
            if jump.validity is Validity.SIMULTANEOUS and not any(heights.values()):
                jump = _word(variation.known, events, change, jump, words)
        return jump, variation.after(jump, now) if jump.valid else now

    end, saltations, times, pieces = follow_execution(execution, variation, settle)
    start, names = execution.intervals[0].start, tuple(variation.names)
    piece = VariationalFlow(start, end, saltations, names, times, pieces, variation.size)
    return DirectionalFlow(piece, tuple(orders), words[-1] if words else None, whole)


def _piece(
    known: object,
    events: list[ExecutionEvent],
    after: ContactMode,
    change: Array,
    heights: Mapping[int, float],
    orders: list[tuple[int, ...]],
) -> Saltation:
    """The piece of the Bouligand derivative of an instant that a change belongs to."""
    first, contacts = events[0], arriving(events)
    kind, who = first.kind.value, contacts
    landing = landing_corner(known, events, after.closed)
    if not landing.valid:
        return refusal(kind, who, landing.validity, landing.why)
    (corner,) = landing.corners
    try:
        order = corner.order(change, heights)
        matrix, columns = corner.piece(order)
    except InadmissibleError as error:
        return refusal(kind, who, error.validity, error.why)
    orders.append(order)
    names = tuple(("height", i) for i in columns)
    return Saltation(
        kind, who, Validity.VALID, "", matrix, velocity=corner.after.velocity, parameters=names,
        parameter_matrix=np.column_stack(list(columns.values())),
    )  # fmt: skip


def _word(
    known: object, events: list[ExecutionEvent], change: Array, refused: Saltation, words: list[WordwiseChange]
) -> Saltation:
    """The word that a change takes at an instant without a Bouligand derivative, if that is also the execution's."""
    first = events[0]
    robot = isinstance(known, RobotSystem)
    if depends_on_time(known) and not robot:
        return refused
    system = known.bound(first.time, first.before.closed) if isinstance(known, RobotSystem) else known
    try:
        found = touchdown_words(system, first.q, first.velocity_before, arriving(events), first.before.closed)
    except ValueError:
        return refused
    word = found.word_of(change)
    if word.matrix is None:
        return refused
    speed = float(np.abs(first.velocity_before).max(initial=0.0))
    if np.abs(word.velocity - events[-1].velocity_after).max(initial=0.0) <= _SAME * speed:
        return Saltation(first.kind.value, refused.contacts, Validity.VALID, "", word.matrix, velocity=word.velocity)
    words.append(WordwiseChange(first.time, word, found.q, word.velocity, word.matrix @ change))
    return refused
