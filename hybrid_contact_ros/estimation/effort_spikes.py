"""Efforts that no joint can have: an absurd number, or zeros of drives that have stopped to say any."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray
from scipy.linalg.blas import ddot

from hybrid_contact_ros.mechanics.state import RobotState

Array = NDArray[np.float64]

_WEIGHTS = 10.0  # of the robot on one limb: a landing has up to 5, a jump 3
_SHORTEST_LEVER = 0.1  # of the longest: joints that turn a foot in place may have large efforts all the same
_IN_A_ROW = 3  # states; what lasts longer is no spike, and is left to the check of efforts


class EffortSpikes:
    """Holds the last possible effort of a joint while a spike of at most ``_IN_A_ROW`` states lasts; a state before any
    possible effort is one without effort.

    A torque on a joint is a force on a foot over a lever. Where this force would be ten times the weight of the robot
    the number is one of the electronics. It would be in the momentum observer for 50 ms and in the trust of its limb
    for half a second.

    Drives of an arm that gave efforts once, and all say exactly 0, have stopped to measure: that state is one without
    effort. Otherwise what the tip touches would carry the arm. Legs in flight may have no efforts.

    Attributes:
        held: how many states had an effort that was replaced, or left out.
    """

    def __init__(self, scale: Array, held_up: bool = False) -> None:
        """``scale``: (nv,), 1/N or 1/(N m), 1 / (weight · lever) of each coordinate, 0 where it has none
        (:class:`~hybrid_contact_ros.kernels.estimation.effort_trust.TrustTable`). ``held_up``: whether drives hold the
        robot up, whatever it touches: an arm."""
        some = scale[scale > 0.0]
        least = float(some.min()) if some.size else 0.0
        self._unlikely = np.minimum(scale, least / _SHORTEST_LEVER) / _WEIGHTS
        self._last = np.zeros(scale.size)
        self._held_up = held_up
        self.reset()

    def reset(self) -> None:
        """Forget the last effort."""
        self._row, self._known, self._drives, self.held = 0, False, False, 0

    def cleaned(self, state: RobotState) -> RobotState:
        """The state, with what is absurd in its efforts replaced by the last that was not. Remembers nothing."""
        effort = state.effort
        if effort is None or effort.shape != self._last.shape:
            return state
        if self._is_silent(effort):
            return replace(state, effort=None)
        if self._row >= _IN_A_ROW:
            return state
        parts = effort * self._unlikely
        # numpy's product would warn of one that overflows
        if not 1.0 < ddot(parts, parts) < math.inf:  # none above its own limit; or no number, which is refused
            return state
        absurd = np.abs(parts) > 1.0
        if not absurd.any():
            return state
        # Before any possible effort there is none to hold: that state has no effort.
        return replace(state, effort=np.where(absurd, self._last, effort) if self._known else None)

    def note(self, given: RobotState, cleaned: RobotState) -> None:
        """Remember a state that was not refused."""
        if self._is_silent(given.effort):
            self._row, self._known = 0, False
            self.held += 1
        elif cleaned is not given:
            self._row += 1
            self.held += 1
        elif cleaned.effort is None:
            self._row, self._known = 0, False
        else:
            self._row, self._known = 0, True
            self._last[:] = cleaned.effort
            self._drives = self._drives or bool(cleaned.effort.any())

    def _is_silent(self, effort: Array | None) -> bool:
        return self._held_up and self._drives and effort is not None and not effort.any()
