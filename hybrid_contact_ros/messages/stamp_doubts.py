"""Stamps in another unit of time than the velocities: milliseconds that were read as seconds, or the other way.

Positions move as far as velocities say in the time that really passed. Where they move a thousandth of what velocities
say in the time between the stamps, again and again and in the same directions, that time is a thousand times too long.
Only streams are looked at whose stamps are nearer to each other, or further apart, than those of robots are: in others
it is the velocity that has another unit (:mod:`.joint_doubts`). Nothing is corrected: it is told.
"""

from __future__ import annotations

from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from hybrid_contact_ros.mechanics.state import RobotState

Array = NDArray[np.float64]

_USUAL = 1e-4, 0.1  # s, between the states of a robot
_STATES, _STEPS = 20, 10  # states that make one way, and ways that are looked at together
_FAR = 0.002  # rad and m, root mean square of the ways that say something
_ALIKE = 0.8  # correlation of ways that are of one motion
_SCALED = 30.0  # ratio of their lengths from which on the unit of time is another one
_TURN = 2.0 * np.pi


class Model(Protocol):
    """What is needed of a :class:`~hybrid_contact_ros.mechanics.model.RigidBodyModel`."""

    floating_base: bool

    def difference(self, start: Array, end: Array) -> Array: ...


class StampDoubts:
    """Compares how far positions move with velocities times the time between stamps."""

    def __init__(self, model: Model) -> None:
        self._model = model
        self._base = 6 if model.floating_base else 0
        self.reset()

    def reset(self) -> None:
        """Forget all states."""
        self._last: RobotState | None = None
        self._told = ""
        self._begin()

    def _begin(self) -> None:
        self._count, self._from = 0, 0
        self._said: Array | float = 0.0
        self._moved: Array | float = 0.0
        self._ways: list[tuple[Array, Array]] = []

    def add(self, state: RobotState) -> str:
        """A state: what is odd by all that was seen until now, in words, or nothing."""
        last, self._last = self._last, state
        step = 0.0 if last is None else 1e-9 * (state.stamp_ns - last.stamp_ns)
        if last is None or _USUAL[0] <= step <= _USUAL[1] or step <= 0.0:
            if self._count or self._told:
                self._told = ""
                self._begin()
            return ""
        moved = self._model.difference(last.q, state.q)
        joints = moved[self._base :]  # encoders that jump by a turn: no joint turns by half of one from state to state
        joints -= _TURN * np.round(joints / _TURN)
        self._moved = self._moved + moved
        self._said = self._said + 0.5 * step * (last.v + state.v)
        self._from = self._from or last.stamp_ns
        self._count += 1
        if self._count % _STATES == 0:
            self._ways.append((np.asarray(self._moved), np.asarray(self._said)))
            self._moved = self._said = 0.0
            if len(self._ways) == _STEPS:
                self._look(1e-9 * (state.stamp_ns - self._from))
                self._begin()
        return self._told

    def _look(self, seconds: float) -> None:
        """What the last ways say, which took that long by their stamps."""
        moved, said = (np.array(ways) for ways in zip(*self._ways, strict=True))
        way, told = float(np.linalg.norm(moved)), float(np.linalg.norm(said))
        if way < _FAR * np.sqrt(moved.size) or told == 0.0:
            self._told = ""
            return
        ratio, alike = told / way, float((moved * said).sum()) / (way * told)
        if alike < _ALIKE or 1.0 / _SCALED < ratio < _SCALED:
            self._told = ""
            return
        self._told = (
            f"positions move as far in {seconds:.3g} s of the stamps as velocities go in {seconds / ratio:.3g} s: are "
            "milliseconds taken for seconds, or the like?"
        )
