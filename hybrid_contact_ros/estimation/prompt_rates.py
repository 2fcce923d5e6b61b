"""Velocities of joints that come later than their positions, made prompt by these."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from hybrid_contact_ros.estimation.stream_offsets import StreamOffset, joint_offset
from hybrid_contact_ros.kernels.bound import Bound
from hybrid_contact_ros.kernels.estimation.late_rates import (
    OVER,
    lag_of,
    late_rates,
    note_rates_given,
    prompt_rates_given,
)
from hybrid_contact_ros.kernels.given import Given
from hybrid_contact_ros.mechanics.model import RigidBodyModel
from hybrid_contact_ros.mechanics.state import LAST_STAMP

Array = NDArray[np.float64]

_BASE = 6
_lag = lag_of.py_func  # in Python: nothing is to be compiled for it


class PromptRates:
    """Finds out how late the velocity of each joint is, and makes up for it where that is better than nothing
    (:mod:`~hybrid_contact_ros.kernels.estimation.late_rates`)."""

    def __init__(self, model: RigidBodyModel) -> None:
        self._angles, self._sizes = model.drives.angles, ((model.nq,), (model.nv,))
        self._base = _BASE if model.floating_base else 0
        n = model.nv - self._base
        self._memory = late_rates(n)
        given = Given(*self._memory)
        self._prompt, self._note = Bound(prompt_rates_given, given), Bound(note_rates_given, given)
        self._position, self._rate, self._found = np.zeros(n), np.zeros(n), np.zeros(n)

    def reset(self) -> None:
        """Forget all states."""
        for array in self._memory:
            array.fill(0)

    def prompt(self, stamp_ns: int, q: Array, v: Array) -> Array:
        """v (nv,) of a state, the next in time, with the velocities of its joints as prompt as they can be told: ``v``
        itself where they are, or where the state is to be refused. Remembers nothing."""
        if not self._rate.size or (q.shape, v.shape) != self._sizes or not -LAST_STAMP < stamp_ns < LAST_STAMP:
            return v
        self._position[:], self._rate[:] = self._angles(q)[self._base :], v[self._base :]
        if not self._prompt.call(int(stamp_ns), self._position, self._rate, self._found):
            return v
        return np.concatenate((v[: self._base], self._found))

    def note(self, stamp_ns: int) -> None:
        """Remember the state that was given to :meth:`prompt` last: it was not refused."""
        if self._rate.size:
            self._note.call(int(stamp_ns), self._position, self._rate)

    def offset(self) -> StreamOffset:
        """How late the velocities are that are made up for, in the middle of these joints."""
        memory = self._memory
        used = np.flatnonzero(memory.window > 0.0)
        if not used.size:
            return joint_offset(math.nan, math.inf)
        late, sigma, _ = zip(*(_lag(memory.sums[i], memory.seconds[OVER]) for i in used), strict=True)
        return joint_offset(float(np.median(late)), float(np.median(sigma)))
