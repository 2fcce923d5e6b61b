"""Landings in a recorded stream of states: feet lose their speed of approach within a few milliseconds."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from hybrid_contact_ros.mechanics.model import RigidBodyModel
from hybrid_contact_ros.mechanics.state import RobotState

Array = NDArray[np.float64]
Flags = NDArray[np.bool_]

ARRESTED = 0.1  # of its speed of approach: a foot that approaches slower than this has been arrested
LONGEST = 0.025  # s; what takes longer is no landing
SLOWEST = 0.3  # m/s, speed of approach
_ONSET = 60.0  # 1/s; a foot that loses more than this part of its approach per second, at once, has touched
_SEPARATE = 0.005  # s; a hit foot is not looked at again for so long


@dataclass(frozen=True, slots=True, eq=False)
class RecordedLanding:
    """One landing: the robot before it, and the velocity after it.

    Attributes:
        episode: what it belongs to; landings of one episode are alike. time_ns: stamp of v⁻.
        mass: M (nv, nv). bias: h − Sᵀτ (nv,), with the torques measured at v⁻.
        rows: J (m (1 + d), nv), normal first, of the contacts that hit or stand. hitting: (m,).
        velocity, after: v⁻, v⁺ (nv,). friction, restitution: (m,), as configured.
        duration: from v⁻ to v⁺, s. driven: (nv,), coordinates with a drive.
        friction_part: μ is known but for ± this part of it.
    """

    episode: str
    time_ns: int
    mass: Array
    bias: Array
    rows: Array
    hitting: Flags
    velocity: Array
    after: Array
    friction: Array
    restitution: Array
    duration: float
    driven: Flags
    friction_part: float = 0.0

    @property
    def tangents(self) -> int:
        return len(self.rows) // self.hitting.size - 1


def find_landings(
    model: RigidBodyModel, states: Sequence[RobotState], episode: str, gap_on: float, sigma: float, reach: float = 0.02
) -> list[RecordedLanding]:
    """The landings of one episode, from its states alone.

    A foot lands where its normal velocity, an approach of 0.3 m/s or more below a gap of ``reach`` (m), rises at once
    and is arrested (less than a tenth is left) within 25 ms. v⁻ is the last sample before the first foot's rise, v⁺
    the first at which all feet that have begun to rise are arrested. Other contacts below a gap of ``gap_on`` (m) at v⁻
    stand, unless they approach. ``sigma`` (m/s): standard deviation of normal velocities; smaller changes are noise.
    The torque of a sample is the one that acts from it to the next.
    """
    n = len(states)
    if n < 3:
        return []
    gap, speed = np.empty((n, model.contacts)), np.empty((n, model.contacts))
    for k, state in enumerate(states):
        problem = model.problem(state)
        gap[k], speed[k] = problem.gap, problem.normal_jacobian @ state.v
    time: Array = 1e-9 * np.array([state.stamp_ns for state in states], dtype=np.float64)
    touches = sorted(
        touch
        for foot in range(model.contacts)
        for touch in _touches(time, gap[:, foot], speed[:, foot], foot, reach, sigma)
    )
    found, i = [], 0
    while i < len(touches):
        first, end, hitting = touches[i][0], 0, np.zeros(model.contacts, dtype=bool)
        while i < len(touches) and (not hitting.any() or touches[i][0] < end):
            end = max(end, touches[i][1])
            hitting[touches[i][2]] = True
            i += 1
        if time[end] - time[first] > LONGEST:
            continue
        standing = ~hitting & (gap[first] <= gap_on) & (speed[first] > -SLOWEST)
        chosen = np.flatnonzero(hitting | standing)
        problem = model.problem(states[first]).select(chosen)
        found.append(
            RecordedLanding(
                episode=episode,
                time_ns=states[first].stamp_ns,
                mass=problem.mass.copy(),
                bias=problem.bias_force.copy(),
                rows=np.ascontiguousarray(problem.jacobian()),
                hitting=hitting[chosen],
                velocity=states[first].v.astype(np.float64),
                after=states[end].v.astype(np.float64),
                friction=problem.friction.copy(),
                restitution=problem.restitution.copy(),
                duration=float(time[end] - time[first]),
                driven=model.driven,
            )
        )
    return found


def _touches(
    time: Array, gap: Array, speed: Array, foot: int, reach: float, sigma: float
) -> list[tuple[int, int, int]]:
    """(sample of v⁻, sample at which it is arrested, foot) of every touchdown of one foot."""
    rise, n = np.diff(speed), len(speed)
    goes_on = np.append(speed[2:], speed[-1]) - speed[:-1] >= 3.0 * sigma
    near = (gap[:-1] <= reach) & (speed[:-1] <= -SLOWEST)
    found: list[tuple[int, int, int]] = []
    for k in np.flatnonzero(near & goes_on & (rise >= -_ONSET * np.diff(time) * speed[:-1])):
        if found and time[k] < time[found[-1][1]] + _SEPARATE:
            continue
        last = min(int(np.searchsorted(time, time[k] + LONGEST, "right")), n)
        arrested = np.flatnonzero(speed[k + 1 : last] >= min(ARRESTED * speed[k], -2.0 * sigma))
        if arrested.size:
            found.append((int(k), int(k) + 1 + int(arrested[0]), foot))
    return found
