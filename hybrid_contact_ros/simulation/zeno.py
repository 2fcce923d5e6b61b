"""The ends of Zeno executions: one was simulated to its end, or may be cut off here (Johnson §3.5; Or §V)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from hybrid_contact_ros.codes import Flag
from hybrid_contact_ros.mechanics.problem import ContactProblem
from hybrid_contact_ros.simulation.adapter import AdaptedSystem
from hybrid_contact_ros.simulation.execution import ExecutionEvent, ExecutionEventKind
from hybrid_contact_ros.simulation.hybrid_state import HybridState
from hybrid_contact_ros.simulation.mode import HybridMode
from hybrid_contact_ros.simulation.options import Options, Tolerances
from hybrid_contact_ros.simulation.system_fault import GuardedSystem
from hybrid_contact_ros.simulation.transition_result import TransitionResult
from hybrid_contact_ros.stability.truncation import reliable_truncation
from hybrid_contact_ros.stability.zeno import zeno_analysis
from hybrid_contact_ros.systems.robot import RobotSystem

Array = NDArray[np.float64]
_SHRINKING = 4  # intervals between impacts, or between every second, …, that have to get shorter in a row
_MAX_PERIOD = 4  # impacts in a period
_DOUBT = 2.0  # by which a chatter of several contacts may be larger than to first order
_NEWTON_ERROR = 1e-6  # of the speed of approach, by which the speed of a bounce may miss Newton's law
_CLOCK_RATE = 1e-6  # m/s
_LAST_INTERVAL = 1e-4  # the longest that the last interval may be, relative to the time since the execution began


def came_to_rest(
    result: TransitionResult, events: Sequence[ExecutionEvent], begin: float
) -> tuple[float, float] | None:
    """(lower, upper) of the Zeno time, s, where ever closer impacts have just ended with their contacts closed.

    That is the limit that Johnson's Corollary 1 speaks of, reached to the velocity tolerance. The upper end adds the
    rest of the series if it goes on geometrically, as slowly as any of these intervals shrank: an estimate, not proven.
    """
    last = result.events[-1]
    closes = last.kind in (ExecutionEventKind.CLOSING, ExecutionEventKind.TOUCHDOWN)
    if not closes or last.bounced or not result.state.mode.closed:
        return None
    if not last.before.closed <= last.after.closed:
        return None
    now = last.time
    times = [event.time for event in events if event.kind is ExecutionEventKind.TOUCHDOWN]
    if last.kind is ExecutionEventKind.CLOSING:
        times = [*(time for time in times if time < now), now]
    for period in range(1, _MAX_PERIOD + 1):  # corners that hit in turns may take different times
        between = np.diff(times[-1::-period][_SHRINKING::-1])
        if len(between) < _SHRINKING or between[-1] > _LAST_INTERVAL * (now - begin):
            return None
        if (between[1:] < between[:-1]).all() and between[-1] > 0.0:
            ratio = float(min((between[1:] / between[:-1]).max(), 0.999))  # on a slope they alternate
            return now, now + float(between[-1]) * ratio / (1.0 - ratio)
    return None


@dataclass(frozen=True, slots=True, eq=False)
class Cut:
    """Where a truncated execution carries on.

    Attributes:
        contacts: whose bounces are cut off. q, v, mode: of the state that follows, with these contacts closed.
        zeno_time: (lower, upper), s. proved: by Or, Theorem 3; otherwise a heuristic.
    """

    contacts: frozenset[int]
    q: Array
    v: Array
    mode: HybridMode
    zeno_time: tuple[float, float]
    proved: bool = False


def obeys_newtons_law(system: AdaptedSystem, event: ExecutionEvent) -> bool:
    """Whether contacts that bounced left at e times the speed at which they came, as Or's proofs take it.

    Poisson's e is of the impulse along the normal. Where friction pushes along the normal, too, the speed differs.
    """
    problem = system.problem(event.q, event.velocity_before, event.time, event.before.closed)
    contacts = sorted(event.bounced)
    before = problem.normal_jacobian[contacts] @ event.velocity_before
    after = problem.normal_jacobian[contacts] @ event.velocity_after
    return bool((np.abs(after + problem.restitution[contacts] * before) <= _NEWTON_ERROR * np.abs(before)).all())


def truncate_bounces(
    system: AdaptedSystem,
    state: HybridState,
    contacts: frozenset[int],
    tolerances: Tolerances,
    options: Options,
) -> Cut | None:
    """The truncation of the bounces of contacts that have just left by restitution.

    The bounces of one contact are cut off if that is reliable (Or, Theorem 3); those of several that left together if
    it is likely to be. Several are judged by the chatter that they have to first order
    (:func:`~hybrid_contact_ros.stability.zeno.zeno_analysis`): twice its time, and twice the way and the change of
    velocity in it, have to be within the tolerances, and no other contact may come near. Nothing is proved then.

    Raises:
        SystemFault: the system refuses a state near this one.
    """
    if system.curved and not isinstance(system.system, RobotSystem):
        return None  # no chart is known in which v = q̇
    time, mode = state.time, state.mode
    closed = HybridMode(mode.closed | contacts)
    touching = touching_configuration(system, state._replace(mode=closed))
    judge = _end_of_one if len(contacts) == 1 else _end_of_several
    found = judge(*_frozen(system, state._replace(q=touching)), mode, contacts, tolerances)
    if found is None:
        return None
    after_q, after_v = found.q[: system.nq], found.v[: system.nv]
    problem = system.problem(after_q, after_v, time, mode.closed)
    slip = np.sqrt((np.einsum("ijk,k->ij", problem.tangent_jacobian, after_v) ** 2).sum(axis=1))
    slides = frozenset(i for i in contacts if problem.friction[i] > 0.0 and slip[i] > options.velocity_tolerance)
    return Cut(
        contacts=contacts,
        q=after_q,
        v=after_v,
        mode=HybridMode(closed.closed, mode.sliding | slides),
        zeno_time=(time + found.lower, time + found.upper),
        proved=len(contacts) == 1,
    )


def touching_configuration(system: AdaptedSystem, state: HybridState) -> Array:
    """q (nq,) with the gaps of the mode's contacts taken to zero, some of which have just hit, or are about to."""
    problem = system.problem(state.q, state.v, state.time, state.mode.closed)
    rows = sorted(state.mode.closed)
    back = np.linalg.lstsq(problem.normal_jacobian[rows], problem.gap[rows], rcond=1e-10)[0]
    return system.integrate(state.q, -np.asarray(back, dtype=np.float64))


class _Clocked:
    """A system whose forces depend on time, with time as a coordinate without contact, so that ranges cover its change.

    The coordinate is ``_CLOCK_RATE`` times the time, small, so that it does not count in errors of q and v.
    """

    def __init__(self, system: AdaptedSystem, mode: frozenset[int]) -> None:
        self.system, self.mode = system, mode

    def problem(self, q: Array, v: Array) -> ContactProblem:
        inner = self.system.problem(q[:-1], v[:-1], float(q[-1]) / _CLOCK_RATE, self.mode)
        m, d, n = inner.tangent_jacobian.shape
        mass = np.eye(n + 1)
        mass[:n, :n] = inner.mass
        return inner.replace_trusted(
            mass=mass,
            velocity=np.array(v, dtype=np.float64),
            normal_jacobian=np.hstack((inner.normal_jacobian, np.zeros((m, 1)))),
            tangent_jacobian=np.concatenate((inner.tangent_jacobian, np.zeros((m, d, 1))), axis=2),
            bias_force=np.append(inner.bias_force, 0.0),
        )


def _frozen(system: AdaptedSystem, state: HybridState) -> tuple[Any, Array, Array]:
    """The system with the forces of this time and mode, and (q, v) in its coordinates.

    A robot's forces are frozen; of those of other systems, only the mode is, and time becomes a coordinate.
    """
    time, q, v, mode, _ = state
    inner = system.system
    if isinstance(inner, RobotSystem):
        return GuardedSystem(inner.bound(time, mode.closed), system.nv, system.contacts), q, v
    if getattr(inner, "force", True) is None:  # nothing in it is the user's, and stability remembers it by identity
        return getattr(inner, "unguarded", inner), q, v
    if not system.forced:
        return inner, q, v
    return _Clocked(system, mode.closed), np.append(q, _CLOCK_RATE * time), np.append(v, _CLOCK_RATE)


class _End(NamedTuple):
    """The state with the contacts closed, and bounds of the Zeno time from now, s."""

    q: Array
    v: Array
    lower: float
    upper: float


def _end_of_one(
    system: Any, q: Array, v: Array, mode: HybridMode, contacts: frozenset[int], tolerances: Tolerances
) -> _End | None:
    (contact,) = contacts
    found = reliable_truncation(
        system,
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
    lower, upper = found.zeno_time
    return _End(np.array(found.q, dtype=np.float64), np.array(found.v, dtype=np.float64), float(lower), float(upper))


def _end_of_several(
    system: Any, q: Array, v: Array, mode: HybridMode, contacts: frozenset[int], tolerances: Tolerances
) -> _End | None:
    found = zeno_analysis(system, q, v, sorted(contacts), held=sorted(mode.closed))
    latest = _DOUBT * found.zeno_time
    way, change = np.linalg.norm(found.zeno_q - found.q), np.linalg.norm(found.zeno_v - found.v)
    way += np.linalg.norm(found.q - q) / _DOUBT
    if not (latest < tolerances.epsilon_t and found.constraint_stability == Flag.HOLDS):
        return None
    if not (_DOUBT * way < tolerances.epsilon_q and _DOUBT * change < tolerances.epsilon_v):
        return None
    problem = system.problem(q, v)
    others = [i for i in range(problem.contacts) if i not in contacts and i not in mode.closed]
    normals = problem.normal_jacobian[others]
    rate = normals @ v - np.linalg.norm(normals, axis=1) * tolerances.epsilon_v
    if (problem.gap[others] + np.minimum(rate, 0.0) * latest <= 0.0).any():
        return None
    return _End(np.array(found.q, dtype=np.float64), np.array(found.v, dtype=np.float64), 0.0, latest)
