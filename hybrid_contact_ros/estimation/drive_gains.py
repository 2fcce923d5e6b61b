"""What drives do when their joints are pushed, learned from the last states, where nobody tells what they are told.

A drive that follows a reference gives τ = k_p (q_d − q) + k_d (q̇_d − q̇) + τ_ff. How its reference goes on is in a
controller's mind, but how it answers a push is seen at each touch: over a few milliseconds Δτ = −k_p Δq − k_d Δq̇, which
is solved for both gains by least squares over the last states, less what noise of q and q̇ would make of them. Where
they explain no more than half of what efforts did, drives are taken to hold their efforts.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from hybrid_contact_ros.estimation.drive_commands import CommandAhead
from hybrid_contact_ros.estimation.velocity_noise import VelocitiesSeen
from hybrid_contact_ros.mechanics.commands import DriveLimits, JointCommand

Array = NDArray[np.float64]

SEEN = 64
"""States that are remembered."""
_APART = 0.003  # s, between the states of a difference
_FEWEST = 3  # differences that tell something
_EXPLAINED = 0.5  # of the squares of what efforts did, by gains that are believed
_TURN = 2.0 * np.pi
SWINGS = 0.02
"""s after a touch, in which drives still answer its push."""


def gains(
    times: Array, angles: Array, v: Array, effort: Array, sigmas: tuple[float, float]
) -> tuple[Array, Array, NDArray[np.bool_]]:
    """Stiffness, damping (nv,) of drives, and of which they are known.

    Args:
        times: (k,) s, ascending, of the last states. angles, v, effort: (k, nv), of joints. sigmas: standard deviations
            of the noise in angles and in v.
    """
    n = v.shape[1]
    none = np.zeros(n), np.zeros(n), np.zeros(n, dtype=np.bool_)
    if times.size <= _FEWEST:
        return none
    step = min(max(1, round(_APART / float(np.median(np.diff(times))))), times.size - _FEWEST)
    whole = times[step:] - times[:-step] <= 2.0 * _APART
    if np.count_nonzero(whole) < _FEWEST:
        return none
    x, u, y = ((each[step:] - each[:-step])[whole] for each in (angles, v, effort))
    x = (x + np.pi) % _TURN - np.pi  # of joints that turn without end
    noise = 2.0 * len(y) * np.square(sigmas)
    xx, uu = (np.square(each).sum(axis=0) + more for each, more in zip((x, u), noise, strict=True))
    xu, xy, uy = (x * u).sum(axis=0), (x * y).sum(axis=0), (u * y).sum(axis=0)
    free = xx * uu - xu * xu  # > 0 by the noise
    stiffness, damping = (xu * uy - uu * xy) / free, (xu * xy - xx * uy) / free
    stiffness = np.where(damping < 0.0, -xy / xx, np.maximum(stiffness, 0.0))  # neither pushes along
    damping = np.where(stiffness > 0.0, np.maximum(damping, 0.0), -uy / uu)
    stiffness, damping = np.maximum(stiffness, 0.0), np.maximum(damping, 0.0)
    left = np.square(y + stiffness * x + damping * u).sum(axis=0)
    return stiffness, damping, left < _EXPLAINED * np.square(y).sum(axis=0)


class Gains(NamedTuple):
    """stiffness, damping (nv,), zero where they are not known (nv,)."""

    stiffness: Array
    damping: Array
    known: NDArray[np.bool_]

    def as_commanded(self, angles: Array, v: Array, effort: Array) -> CommandAhead:
        """What drives with these gains seem to be told at a state: to go on as they do. angles, v, effort: (nv,)."""
        position, velocity, forward = (np.where(self.known, each, 0.0) for each in (angles, v, effort))
        told = JointCommand(0, position, velocity, forward, self.stiffness, self.damping, self.known)
        still = np.zeros(v.size)
        return CommandAhead(told, still, still, 0.0)


def learned(
    seen: VelocitiesSeen, drives: DriveLimits, driven: NDArray[np.bool_], sigmas: tuple[float, float]
) -> Gains | None:
    """The gains of drives; None where none are known. seen: q, v and effort (nq + 2 nv,) of the last states."""
    nv = driven.size
    q, v, effort = np.split(seen.values, [seen.values.shape[1] - 2 * nv, seen.values.shape[1] - nv], axis=1)
    stiffness, damping, known = gains(seen.times, drives.angles(q), v, effort, sigmas)
    known &= driven
    return Gains(np.where(known, stiffness, 0.0), np.where(known, damping, 0.0), known) if known.any() else None
