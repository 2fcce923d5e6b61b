"""The ends of Zeno executions: where one was simulated to its end, and where it may be cut off (J §3.5, O §V)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from importlib import import_module

import numpy as np
from numpy.typing import NDArray

from hybrid_contact_ros.executions.adapter import AdaptedSystem
from hybrid_contact_ros.executions.execution import Event, EventKind
from hybrid_contact_ros.executions.mode import Mode
from hybrid_contact_ros.executions.options import Options, Tolerances
from hybrid_contact_ros.executions.transition import Settled
from hybrid_contact_ros.systems.robot import RobotSystem

Array = NDArray[np.float64]
_SHRINKING = 4  # intervals between impacts that get shorter in a row
_SHORT = 1e-4  # the last of them, relative to the time before


def came_to_rest(settled: Settled, events: Sequence[Event], begin: float) -> tuple[float, float] | None:
    """(lower, upper) of the Zeno time, where ever closer impacts have just ended with their contacts closed.

    That is the limit that J Corollary 1 speaks of, reached to the velocity tolerance. The upper end adds what is left
    of the series if it goes on geometrically: an estimate, not a bound that is proven.
    """
    last = settled.events[-1]
    if last.kind not in (EventKind.CLOSING, EventKind.TOUCHDOWN) or last.bounced or not settled.mode.closed:
        return None
    if not last.before.closed <= last.after.closed:
        return None
    now = last.time
    times = [event.time for event in events if event.kind is EventKind.TOUCHDOWN]
    if last.kind is EventKind.CLOSING:
        times = [*(time for time in times if time < now), now]
    between = np.diff(times[-_SHRINKING - 1 :])
    if len(between) < _SHRINKING or not ((between[1:] < between[:-1]).all() and between[-1] > 0.0):
        return None
    if between[-1] > _SHORT * (now - begin):
        return None
    ratio = float(min(between[-1] / between[-2], 0.999))
    return now, now + float(between[-1]) * ratio / (1.0 - ratio)


@dataclass(frozen=True, slots=True, eq=False)
class Cut:
    """Where a truncated execution carries on: the state, its mode, and bounds of the Zeno time, s."""

    q: Array
    v: Array
    mode: Mode
    zeno_time: tuple[float, float]


def truncated(
    system: AdaptedSystem,
    time: float,
    q: Array,
    v: Array,
    mode: Mode,
    contact: int,
    tolerances: Tolerances,
    options: Options,
) -> Cut | None:
    """The truncation of the bounces of a contact that has just left by restitution, if it is reliable (O Theorem 3)."""
    found = import_module("hybrid_contact_ros.stability.truncation").reliable_truncation(
        system.system.bound(time, mode.closed) if isinstance(system.system, RobotSystem) else system.system,
        q,
        v,
        contact,
        epsilon_q=tolerances.epsilon_q,
        epsilon_v=tolerances.epsilon_v,
        epsilon_t=tolerances.epsilon_t,
        held=sorted(mode.closed),
    )
    if not found.reliable:
        return None
    after_q, after_v = np.array(found.q, dtype=np.float64), np.array(found.v, dtype=np.float64)
    problem = system.problem(after_q, after_v, time, mode.closed)
    slip = problem.tangent_jacobian[contact] @ after_v
    slides = problem.friction[contact] > 0.0 and np.sqrt(slip @ slip) > options.velocity_tolerance
    sliding = mode.sliding | {contact} if slides else mode.sliding
    lower, upper = found.zeno_time
    return Cut(after_q, after_v, Mode(mode.closed | {contact}, sliding), (time + float(lower), time + float(upper)))
