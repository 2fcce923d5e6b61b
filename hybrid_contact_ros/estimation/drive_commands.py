"""What commanded drives will do: the motion until the next touch, followed with the torques that they are told to give.

Efforts of the past do not say how torques change: a drive that follows τ = τ_ff + k_p (q_d − q) + k_d (q̇_d − q̇) within
its limits changes its torque with the motion, and with its command. Both are followed in steps

    (M + diag k) (v' − v) = −dt (h − Sᵀτ') + Jᵀλ,   k = dt (k_d + dt k_p),

with τ' of a state that moves on with v, the velocity-implicit step of the drive, so that stiff gains do not oscillate,
and Coulomb's law at the contacts that are closed. Drives at their limits give these. What nobody commands holds its
effort. M, h and J are computed anew in each step. A measured effort is newer than a commanded one: of drives that
follow no position the command says how the measured effort changes.

Gains may be wrong, and drives may do something else. Where efforts are measured, a command is believed of a drive as
long as it explains its effort better than the effort of 8 ms before does, or to 5 % of what the drive can give.
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from hybrid_contact_ros.kernels.impacts.landing_law import landing_outcomes, landing_scratch
from hybrid_contact_ros.mechanics.commands import DriveLimits, JointCommand
from hybrid_contact_ros.mechanics.model import RigidBodyModel
from hybrid_contact_ros.mechanics.state import RobotState

Array = NDArray[np.float64]

_STEP = 0.0025  # s at most
_LANDS = 0.0025  # s, in which a contact that has landed comes to rest
_STEPS, _TOLERANCE, _USABLE = 200, 1e-8, 1e-4
_KEPT = 16  # commands that are remembered
_SPAN = 8_000_000  # ns, over which the course of commands is taken
_FEWEST = 3
_PAUSE = 100_000_000  # ns; a longer one makes efforts of before worthless
_REMEMBERED = 1e8  # ns, over which what drives do is remembered
_EXPLAINED = 0.05  # of what a drive can give: an effort that a command explains
_STEADY = 0.5  # a course is one whose two halves differ by no more than this part of the larger


class CommandAhead(NamedTuple):
    """The last command, and how it changes.

    Attributes:
        command: the last one. position_rate, effort_rate: (nv,) 1/s, of its position and its feed-forward effort.
        seen: s, for which these were seen; they are followed for a few times as long.
    """

    command: JointCommand
    position_rate: Array
    effort_rate: Array
    seen: float

    @property
    def follows(self) -> NDArray[np.bool_]:
        """(nv,): the drives that are told to follow a position."""
        return np.asarray(self.command.known & (self.command.stiffness > 0.0))

    def after(self, seconds: float, most: float) -> JointCommand:
        """The command that will act ``seconds`` later, if it goes on for ``most`` s at most."""
        reach = min(seconds, most)
        was = self.command
        return replace(
            was, position=was.position + reach * self.position_rate, effort=was.effort + reach * self.effort_rate
        )


class Obedience:
    """Whether drives do what they are told, by the efforts that are measured.

    Args:
        limit: (nv,) N m or N, of the drives; infinite where nobody knows, and the largest effort seen counts.
    """

    def __init__(self, limit: Array) -> None:
        self._limit = limit
        self.reset()

    def reset(self) -> None:
        """Forget all efforts: drives are believed to do what they are told."""
        nv = self._limit.size
        self._largest, self._off, self._changed = np.zeros(nv), np.zeros(nv), np.zeros(nv)
        self._efforts: list[tuple[int, Array]] = []
        self.disobeyed = np.zeros(nv, dtype=np.bool_)

    def add(self, stamp_ns: int, effort: Array, told: Array) -> None:
        """A state's measured effort (nv,) and the one that its command makes (nv,)."""
        kept = self._efforts
        if kept and not 0 < stamp_ns - kept[-1][0] <= _PAUSE:
            self.reset()
            kept = self._efforts
        share = 1.0 - math.exp(-(stamp_ns - kept[-1][0]) / _REMEMBERED) if kept else 0.0
        kept.append((stamp_ns, effort))
        while len(kept) > 2 and stamp_ns - kept[1][0] >= _SPAN:
            del kept[0]
        self._off += share * ((effort - told) ** 2 - self._off)
        self._changed += share * ((effort - kept[0][1]) ** 2 - self._changed)
        np.maximum(self._largest, np.abs(effort), out=self._largest)
        small = _EXPLAINED * np.where(np.isinf(self._limit), self._largest, self._limit)
        self.disobeyed = self._off > np.maximum(self._changed, small**2)


class CommandsSeen(NamedTuple):
    """The last commands, the latest last, and the drives (nv,) that do not do what they are told."""

    commands: tuple[JointCommand, ...]
    disobeyed: NDArray[np.bool_] | None

    def ahead(self) -> CommandAhead | None:
        """The last command with its course; None where nothing is commanded that is done."""
        last = self.commands[-1]
        if self.disobeyed is not None and self.disobeyed.any():
            last = replace(last, known=last.known & ~self.disobeyed)
        if not last.known.any():
            return None
        known = [one for one in self.commands if last.stamp_ns - one.stamp_ns <= _SPAN]
        still = np.zeros(last.position.size)
        if len(known) < _FEWEST:
            return CommandAhead(last, np.where(last.stiffness > 0.0, last.velocity, 0.0), still, 0.0)
        t = 1e-9 * np.array([one.stamp_ns - last.stamp_ns for one in known], dtype=np.float64)
        same = np.all(
            [one.known & (one.stiffness > 0.0) == last.known & (last.stiffness > 0.0) for one in known], axis=0
        )
        position = _rate(t, np.array([one.position for one in known]))
        # A velocity that is commanded with a position is, as a rule, how fast that one moves.
        position = np.where(last.velocity != 0.0, last.velocity, position)
        effort = _rate(t, np.array([one.effort for one in known]))
        return CommandAhead(last, np.where(same, position, 0.0), np.where(same, effort, 0.0), float(-t[0]))


class CommandCourse:
    """The last commands, as far as the drives do what they are told. A pause, or a stamp of the past, starts them anew.

    Args:
        drives: the robot's; without them nothing is checked.
    """

    def __init__(self, drives: DriveLimits | None = None) -> None:
        self._commands: list[JointCommand] = []
        self._drives = drives
        self._obedience = None if drives is None else Obedience(drives.limit)

    def reset(self) -> None:
        """Forget all of them."""
        self._commands.clear()
        if self._obedience is not None:
            self._obedience.reset()

    @property
    def disobeyed(self) -> NDArray[np.bool_] | None:
        """(nv,): the drives that are told what to do and do something else; None where nothing is commanded."""
        if self._obedience is None or not self._commands:
            return None
        return self._obedience.disobeyed & self._commands[-1].known

    def see(self, state: RobotState) -> None:
        """A state, the next in time."""
        self.add(state.command)
        if state.command is not None and state.effort is not None and self._drives is not None and self._obedience:
            told = self._drives.torque(state.command, state.q, state.v, state.effort)
            self._obedience.add(state.stamp_ns, state.effort, told)

    def add(self, command: JointCommand | None) -> None:
        """The command of a state, the next in time."""
        kept = self._commands
        if command is None:
            kept.clear()
            return
        if kept and command is kept[-1]:
            return
        if kept and not 0 < command.stamp_ns - kept[-1].stamp_ns <= _SPAN:
            kept.clear()
        kept.append(command)
        del kept[:-_KEPT]

    def seen(self) -> CommandsSeen | None:
        """What is known of them now; None where nothing is commanded."""
        if not self._commands:
            return None
        return CommandsSeen(tuple(self._commands), None if self._obedience is None else self._obedience.disobeyed)

    def ahead(self) -> CommandAhead | None:
        """The last command with its course; None where nothing is commanded."""
        seen = self.seen()
        return None if seen is None else seen.ahead()


def _rate(t: Array, values: Array) -> Array:
    """The slope of values (k, nv) at times t (k,), of those that go on alike in both halves; zero of the others."""
    middle = len(t) // 2
    first = (values[middle] - values[0]) / (t[middle] - t[0])
    second = (values[-1] - values[middle]) / (t[-1] - t[middle])
    steady = np.abs(second - first) <= _STEADY * np.maximum(np.abs(first), np.abs(second))
    return np.asarray(np.where(steady, (values[-1] - values[0]) / (t[-1] - t[0]), 0.0))


class Reached(NamedTuple):
    """Where commanded drives take the robot: q (nq,), v (nv,), and the effort there (nv,)."""

    q: Array
    v: Array
    effort: Array


def followed(
    model: RigidBodyModel,
    state: RobotState,
    ahead: CommandAhead,
    closed: NDArray[np.intp],
    seconds: float,
    times: float,
) -> Reached | None:
    """The robot after ``seconds``, by the motion with friction of commanded drives; None where no step could be made.

    Args:
        model: evaluated at other states by this. closed: the contacts that may push. times: the course of commands goes
            on for this many times as long as it was seen.
    """
    n, r = model.nv, 3 * closed.size
    scratch = landing_scratch(closed.size, 2, n)
    out = np.zeros((1, n)), np.zeros((1, r)), np.zeros(1)
    friction = np.ascontiguousarray(model.friction[closed][None])
    pieces = max(1, math.ceil(seconds / _STEP - 1e-9))
    dt, drives, most = seconds / pieces, model.drives, times * ahead.seen
    q, v = state.q, state.v.astype(np.float64)
    newer = np.zeros(n)
    if state.effort is not None:
        told = drives.torque(ahead.command, q, v, state.effort)
        newer = np.where(ahead.follows, 0.0, state.effort - told)
    for piece in range(pieces):
        command = ahead.after((piece + 1) * dt, most)
        effort = _given(drives, command, model.integrate(q, dt * v), v, state.effort, newer)
        free = command.known & (np.abs(effort) < drives.limit)
        drive = np.where(free, dt * (command.damping + dt * command.stiffness), 0.0)
        if not model.evaluate(RobotState(state.stamp_ns, q, v, effort)):
            return None
        rows = model.rows.rows[closed].reshape(-1, n)
        # A contact that still moves along its normal is stopped in the time of a landing, not at once.
        left = np.ascontiguousarray((-dt * model.rows.drift[closed].reshape(-1))[None])
        left[0, ::3] += math.exp(-dt / _LANDS) * (rows[::3] @ v)
        landing_outcomes(
            _STEPS, _TOLERANCE, 2, model.here.mass, model.here.bias, rows, v, np.full(1, dt), drive[None], friction,
            left, *scratch, *out,
        )  # fmt: skip
        if not out[2][0] <= _USABLE:
            return None
        after = out[0][0].copy()
        q, v = model.integrate(q, 0.5 * dt * (v + after)), after
    return Reached(q, v, _given(drives, ahead.after(seconds, most), q, v, state.effort, newer))


def _given(drives: DriveLimits, command: JointCommand, q: Array, v: Array, held: Array | None, newer: Array) -> Array:
    """The effort (nv,) of drives whose measured one is ``newer`` off the commanded one; ``held`` without a command."""
    effort = drives.torque(command, q, v, held)
    within = np.clip(effort + newer, -drives.limit, drives.limit)
    return np.asarray(np.where(command.known, within, effort))
