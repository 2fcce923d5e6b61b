"""Joints whose velocities are not the rates of their positions: never filled, of another sign, in another unit.

A joint moves by the integral of its velocity, whatever moves it. Drivers that measure no velocity should leave it empty
(slopes of positions are taken then), and many write zeros instead, which look like a joint at rest. Nothing is
corrected: it is told. Ways in which states are missing are not compared: a joint's velocity may have been another one
meanwhile, and where the stamps of a simulator leap, it has not moved at all.
"""

from __future__ import annotations

from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from hybrid_contact_ros.kernels.estimation.missing_states import are_missing, usual_step
from hybrid_contact_ros.mechanics.state import RobotState

Array = NDArray[np.float64]

_are_missing, _usual_step = are_missing.py_func, usual_step.py_func  # in Python: nothing is to be compiled for them
_PERIOD = 0.02  # s, between the positions that are compared; velocities are summed at every state
_STEP = 0.1  # s, after which the way of a joint is compared; noise of its position matters once in it
_STEPS = 5  # that are looked at together
_PAUSE = 0.1  # s; a longer one starts anew
_FAR = 0.02  # rad and m, root mean square of the ways of a joint that say something
_UNLIKE, _LIKE = 0.5, 0.2  # parts of the longer way, by which the two are apart: of two motions, and of one
_SCALED = 3.0  # ratio of ways in one direction, above which a unit is wrong
_AGAIN = 2  # times in a row
_NAMED = 4  # joints that are told by name
_TURN = 2.0 * np.pi


class Model(Protocol):
    """What is needed of a :class:`~hybrid_contact_ros.mechanics.model.RigidBodyModel`."""

    floating_base: bool
    velocity_names: tuple[str, ...]

    def difference(self, start: Array, end: Array) -> Array: ...


class JointDoubts:
    """Compares positions and velocities of joints, half a second at a time."""

    def __init__(self, model: Model) -> None:
        self._model = model
        self._base = 6 if model.floating_base else 0
        self._names = model.velocity_names[self._base :]
        self.reset()

    def reset(self) -> None:
        """Forget all states."""
        self._last, self._odd, self._told = 0, 0, ""
        self._stamp, self._usual = 0, 0.0  # of the last state, ns; and the usual time between states, s
        self._before: Array | None = None  # q of the last state whose way was taken
        self._velocity, self._path = np.zeros(0), np.zeros(0)  # of the last state, and their integral since then
        self._ways: list[tuple[Array, Array]] = []

    def add(self, state: RobotState) -> str:
        """A state: what is odd about its velocities by all that was seen until now, in words, or nothing."""
        since_last = 1e-9 * (state.stamp_ns - self._last)
        if self._before is None or not 0.0 <= since_last <= _PAUSE:
            self.reset()
            self._stamp = state.stamp_ns
            self._keep(state)
            self._begin()
            return ""
        step, self._stamp = 1e-9 * (state.stamp_ns - self._stamp), state.stamp_ns
        missing, self._usual = _are_missing(step, self._usual), _usual_step(step, self._usual)
        if missing:
            self._keep(state)
            return self._told
        before, self._velocity = self._velocity, state.v[self._base :].copy()
        self._path = self._path + 0.5 * step * (before + self._velocity)
        if since_last < _PERIOD:
            return self._told
        moved = self._model.difference(self._before, state.q)[self._base :]
        # Encoders that jump by a turn: no joint turns by half of one within the period.
        self._moved += moved - _TURN * np.round(moved / _TURN)
        self._said += self._path
        self._seconds += since_last
        self._keep(state)
        if self._seconds >= _STEP:
            self._ways.append((self._moved, self._said))
            self._begin()
            if len(self._ways) == _STEPS:
                self._look()
        return self._told

    def _keep(self, state: RobotState) -> None:
        self._last, self._before = state.stamp_ns, state.q.copy()
        self._velocity = state.v[self._base :].copy()
        self._path = np.zeros(len(self._names))

    def _begin(self) -> None:
        self._moved, self._said = np.zeros(len(self._names)), np.zeros(len(self._names))
        self._seconds = 0.0

    def _look(self) -> None:
        """Compare the ways of the last steps, and begin new ones."""
        moved, said = (np.array(ways) for ways in zip(*self._ways, strict=True))
        self._ways = []
        way, told = np.sqrt((moved**2).mean(axis=0)), np.sqrt((said**2).mean(axis=0))
        longer = np.maximum(way, told)
        apart = np.sqrt(((moved - said) ** 2).mean(axis=0))
        odd = (longer >= _FAR) & (apart > _UNLIKE * longer)
        self._odd = self._odd + 1 if odd.any() else 0
        if self._odd < _AGAIN:
            self._told = ""
            return
        names = [name for name, is_odd in zip(self._names, odd, strict=True) if is_odd]
        few = ", ".join(names[:_NAMED]) + (f" and {len(names) - _NAMED} more" if len(names) > _NAMED else "")
        self._told = f"{few}: {_why(moved[:, odd], said[:, odd])}"


def _why(moved: Array, said: Array) -> str:
    way, told = float(np.linalg.norm(moved)), float(np.linalg.norm(said))
    if told == 0.0:
        return "0 while the positions move; is it filled?"
    along = float((moved * said).sum()) / (way * told) if way > 0.0 else 0.0
    if along <= _LIKE - 1.0:
        return "against the positions; is the sign turned?"
    if along >= 1.0 - _LIKE and not 1.0 / _SCALED < told / way < _SCALED:
        return f"{told / way:.2g} times what the positions show; is it in rad/s or m/s?"
    return f"positions moved by {way:.2g} and velocities say {told:.2g}, otherwise; are both of the same joint?"
