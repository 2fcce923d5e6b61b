"""The ends of Zeno executions: where one was simulated to its end, and where it may be cut off (J §3.5, O §V)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from importlib import import_module
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from hybrid_contact_ros.codes import Flag
from hybrid_contact_ros.mechanics.problem import ContactProblem
from hybrid_contact_ros.simulation.adapter import AdaptedSystem
from hybrid_contact_ros.simulation.execution import Event, EventKind
from hybrid_contact_ros.simulation.mode import Mode
from hybrid_contact_ros.simulation.options import Options, Tolerances
from hybrid_contact_ros.simulation.transition_result import Settled
from hybrid_contact_ros.stability.zeno import zeno_analysis
from hybrid_contact_ros.systems.robot import RobotSystem

Array = NDArray[np.float64]
_SHRINKING = 4  # intervals between impacts, or between every second, …, that get shorter in a row
_LONGEST = 4  # impacts in a period
_DOUBT = 2.0  # by which a chatter of several contacts may be larger than to first order
_NEWTON = 1e-6  # of the speed of approach
_CLOCK = 1e-6  # m/s
_SHORT = 1e-4  # the last of them, relative to the time before


def came_to_rest(settled: Settled, events: Sequence[Event], begin: float) -> tuple[float, float] | None:
    """(lower, upper) of the Zeno time, where ever closer impacts have just ended with their contacts closed.

    That is the limit that J Corollary 1 speaks of, reached to the velocity tolerance. The upper end adds what is left
    of the series if it goes on geometrically, as slowly as any of these intervals shrank: an estimate, not proven.
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
    for period in range(1, _LONGEST + 1):  # corners that hit in turns may take different times
        between = np.diff(times[-1::-period][_SHRINKING::-1])
        if len(between) < _SHRINKING or between[-1] > _SHORT * (now - begin):
            return None
        if (between[1:] < between[:-1]).all() and between[-1] > 0.0:
            ratio = float(min((between[1:] / between[:-1]).max(), 0.999))  # on a slope they alternate
            return now, now + float(between[-1]) * ratio / (1.0 - ratio)
    return None


@dataclass(frozen=True, slots=True, eq=False)
class Cut:
    """Where a truncated execution carries on: the state, its mode, and bounds of the Zeno time, s.

    ``proved``: by O Theorem 3; otherwise a heuristic.
    """

    q: Array
    v: Array
    mode: Mode
    zeno_time: tuple[float, float]
    proved: bool = False


def by_newton(system: AdaptedSystem, event: Event) -> bool:
    """Whether contacts that bounced left at e times the speed at which they came, as O's proofs take it.

    Poisson's e is of the impulse along the normal. Where friction pushes along the normal, too, the speed differs.
    """
    problem = system.problem(event.q, event.velocity_before, event.time, event.before.closed)
    contacts = sorted(event.bounced)
    came = problem.normal_jacobian[contacts] @ event.velocity_before
    left = problem.normal_jacobian[contacts] @ event.velocity_after
    return bool((np.abs(left + problem.restitution[contacts] * came) <= _NEWTON * np.abs(came)).all())


class _Clocked:
    """A system whose forces depend on time, with time as a coordinate without contact, so that ranges cover its change.

    The coordinate is ``_CLOCK`` times the time, small, so that it does not count in errors of q and v.
    """

    def __init__(self, system: AdaptedSystem, mode: frozenset[int]) -> None:
        self.system, self.mode = system, mode

    def problem(self, q: Array, v: Array) -> ContactProblem:
        inner = self.system.problem(q[:-1], v[:-1], float(q[-1]) / _CLOCK, self.mode)
        m, d, n = inner.tangent_jacobian.shape
        mass = np.eye(n + 1)
        mass[:n, :n] = inner.mass
        return ContactProblem.trusted(
            mass,
            np.array(v, dtype=np.float64),
            np.hstack((inner.normal_jacobian, np.zeros((m, 1)))),
            np.concatenate((inner.tangent_jacobian, np.zeros((m, d, 1))), axis=2),
            inner.friction,
            inner.restitution,
            inner.gap,
            np.append(inner.bias_force, 0.0),
            inner.jacobian_drift,
            inner.names,
        )


def _present(system: AdaptedSystem, time: float, q: Array, v: Array, mode: frozenset[int]) -> tuple[Any, Array, Array]:
    """The system with the forces of this time and mode, and the state in its coordinates.

    Those of a robot are frozen; of others, only the mode is.
    """
    inner = system.system
    if isinstance(inner, RobotSystem):
        return inner.bound(time, mode), q, v
    if getattr(inner, "force", True) is None or not system.forced:
        return inner, q, v
    return _Clocked(system, mode), np.append(q, _CLOCK * time), np.append(v, _CLOCK)


def truncated(
    system: AdaptedSystem,
    time: float,
    q: Array,
    v: Array,
    mode: Mode,
    contacts: frozenset[int],
    tolerances: Tolerances,
    options: Options,
) -> Cut | None:
    """The truncation of the bounces of contacts that have just left by restitution: of one if it is reliable (O
    Theorem 3), of several that left together if it is likely to be.

    Several are judged by the chatter that they have to first order
    (:func:`~hybrid_contact_ros.stability.zeno.zeno_analysis`): twice its time, and twice the way and the change of
    velocity in it, have to be within the tolerances, and no other contact may come near. Nothing is proved then.
    """
    try:  # states around this one are asked for, which a system may refuse
        touching = touching_state(system, time, q, v, Mode(mode.closed | contacts))
        judge = _one if len(contacts) == 1 else _several
        found = judge(*_present(system, time, touching, v, mode.closed), mode, contacts, tolerances)
    except Exception:
        return None
    if found is None:
        return None
    after_q, after_v, (lower, upper) = found[0][: system.nq], found[1][: system.nv], found[2]
    problem = system.problem(after_q, after_v, time, mode.closed)
    slip = np.sqrt((np.einsum("ijk,k->ij", problem.tangent_jacobian, after_v) ** 2).sum(axis=1))
    slides = frozenset(i for i in contacts if problem.friction[i] > 0.0 and slip[i] > options.velocity_tolerance)
    after = Mode(mode.closed | contacts, mode.sliding | slides)
    return Cut(after_q, after_v, after, (time + lower, time + upper), len(contacts) == 1)


def touching_state(system: AdaptedSystem, time: float, q: Array, v: Array, mode: Mode) -> Array:
    """q with the gaps of the mode's contacts taken to zero, some of which have just hit, or are about to."""
    problem = system.problem(q, v, time, mode.closed)
    rows = sorted(mode.closed)
    back = np.linalg.lstsq(problem.normal_jacobian[rows], problem.gap[rows], rcond=1e-10)[0]
    return system.integrate(q, -np.asarray(back, dtype=np.float64))


_End: TypeAlias = tuple[Array, Array, tuple[float, float]]


def _one(system: Any, q: Array, v: Array, mode: Mode, contacts: frozenset[int], tolerances: Tolerances) -> _End | None:
    (contact,) = contacts
    found = import_module("hybrid_contact_ros.stability.truncation").reliable_truncation(
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
    return np.array(found.q, dtype=np.float64), np.array(found.v, dtype=np.float64), (float(lower), float(upper))


def _several(
    system: Any, q: Array, v: Array, mode: Mode, contacts: frozenset[int], tolerances: Tolerances
) -> _End | None:
    found = zeno_analysis(system, q, v, sorted(contacts), held=sorted(mode.closed))
    late = _DOUBT * found.zeno_time
    way, change = np.linalg.norm(found.zeno_q - found.q), np.linalg.norm(found.zeno_v - found.v)
    way += np.linalg.norm(found.q - q) / _DOUBT
    if not (late < tolerances.epsilon_t and found.constraint_stability == Flag.HOLDS):
        return None
    if not (_DOUBT * way < tolerances.epsilon_q and _DOUBT * change < tolerances.epsilon_v):
        return None
    problem = system.problem(q, v)
    others = [i for i in range(problem.contacts) if i not in contacts and i not in mode.closed]
    rate = problem.normal_jacobian[others] @ v - np.linalg.norm(problem.normal_jacobian[others], axis=1) * (
        tolerances.epsilon_v
    )
    if (problem.gap[others] + np.minimum(rate, 0.0) * late <= 0.0).any():
        return None
    return np.array(found.q, dtype=np.float64), np.array(found.v, dtype=np.float64), (0.0, late)
