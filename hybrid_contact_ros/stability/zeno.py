"""Zeno: whether a chatter near a state dies out, when, and where (Or, Theorems 1 and 2, Corollary 1)."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from hybrid_contact_ros.codes import Flag
from hybrid_contact_ros.mechanics.block_inverse import constrained_motion
from hybrid_contact_ros.mechanics.contact_sets import closed_rows, contact_set, not_negative
from hybrid_contact_ros.mechanics.problem import ContactProblem
from hybrid_contact_ros.stability.chatter import chatter
from hybrid_contact_ros.stability.constraint import constraint_stability
from hybrid_contact_ros.stability.enclosure import Enclosure
from hybrid_contact_ros.stability.interval_ranges import range_finder
from hybrid_contact_ros.stability.neighbourhood import Neighbourhoods, neighbourhoods
from hybrid_contact_ros.stability.ranges import System
from hybrid_contact_ros.stability.truncation import checked_state, enclosed, unsuitable
from hybrid_contact_ros.systems.chart import in_rates

Array = NDArray[np.float64]
_CLOSED_GAP = 1e-14  # m; a projected gap below this is as small as rounding of a configuration near 1 m lets it be
_PROJECTIONS = 20  # Newton steps at most; each squares the error, so a handful is enough where they converge


@dataclass(frozen=True, slots=True, eq=False)
class ZenoAnalysis:
    """What is known of a chatter of the contacts from (q, v).

    Attributes:
        contacts: indices of those that are analysed together.
        q, v: (n,) the state itself with its contacts closed: gaps and φ̇ projected to 0 along M⁻¹J_nᵀ.
        equilibrium: the state given was a Zeno equilibrium: φ = φ̇ = 0, and not at rest for good (Or, Definition 3).
        gap_acceleration, constraint_force: (k,) at (q, v): φ̈ of each contact released, m/s², and its force held, N.
        bounded_time_stability: of (q, v) (Or, Definition 4, by Theorem 2): HOLDS where φ̈ < 0 and e < 1.
        constraint_stability: likewise (Or, Definition 7, by Corollary 1): HOLDS where the force is positive.
        zeno_time, zeno_q, zeno_v: Zeno time (s from now) and point (n,), to first order; NaN where the chatter is not
            predicted to end.
        proved: the bounds below hold: every execution from the state given is Zeno (if e > 0) and ends in them.
        guaranteed: the proof rests on interval arithmetic; otherwise on samples.
        zeno_time_bounds: (lower, upper), s from now. q_bounds, v_bounds: (2, n) lower and upper of the Zeno point. NaN
            if not proved.
        neighbourhoods: V, W′ and W about (q, v) as Or constructs them, where asked for and found.
        why: what stands against a proof; empty when ``proved``.
    """

    contacts: tuple[int, ...]
    q: Array
    v: Array
    equilibrium: bool
    gap_acceleration: Array
    constraint_force: Array
    bounded_time_stability: Flag
    constraint_stability: Flag
    zeno_time: float
    zeno_q: Array
    zeno_v: Array
    proved: bool
    guaranteed: bool
    zeno_time_bounds: tuple[float, float]
    q_bounds: Array
    v_bounds: Array
    neighbourhoods: Neighbourhoods | None
    why: str


def zeno_analysis(
    system: System,
    q: ArrayLike,
    v: ArrayLike,
    contact: int | Iterable[int] = 0,
    *,
    held: Iterable[int] = (),
    neighbourhood: tuple[float, float, float] | None = None,
    tolerance: float = 1e-9,
    force_tolerance: float = 1e-6,
    acceleration_tolerance: float = 1e-6,
) -> ZenoAnalysis:
    """Analyse the bounces of one contact, or of several, near (q, v).

    For one contact the bounds are proved by Or's Theorems 1 to 3, extended to friction and held contacts as in
    :func:`~hybrid_contact_ros.stability.truncation.reliable_truncation`; the flags are Or's for no friction.
    Everything about several contacts is heuristic. Their flags combine those of
    :func:`~hybrid_contact_ros.stability.constraint.constraint_stability`, with all of them in the force-acceleration
    problem: all must hold, with forces strictly positive, where Or's conclusion needs a single one. Their Zeno time is
    that of a chatter with constant accelerations and impacts one by one
    (:func:`~hybrid_contact_ros.stability.chatter.chatter`).

    To first order, with everything constant, gaps that end with φ = φ̇ = 0 determine the rest of the motion, however
    many impacts there were: with the state (q, v) projected to φ = φ̇ = 0 and a_c the acceleration with the contacts
    closed, q∞ = q + v T + a_c T²/2 and v∞ = v + a_c T. For one contact T is the geometric series
    t₁ + 2 e |φ̇₁⁻| / (|φ̈| (1 − e)). Friction of the bouncing contacts is left out of this.

    Args:
        system: as for :func:`~hybrid_contact_ros.stability.truncation.reliable_truncation`, whose docstring says in
            which coordinates the bounds are given for a RigidBodyModel. A robot whose joints are driven is passed as a
            :class:`~hybrid_contact_ros.systems.robot.RobotSystem` with that effort.
        q, v: the state. contact: index or indices of the bouncing contacts. held: contacts that are closed and stay so.
        neighbourhood: (ε_q, ε_v, ε_t): find ``neighbourhoods`` for U = N(ε_q, ε_v) and ε_t (takes some 0.1 s).
        tolerance: of φ (m) and φ̇ (m/s) for an equilibrium.
        force_tolerance (N), acceleration_tolerance (m/s²): dead bands of the flags.

    Raises:
        ValueError: shapes, indices or tolerances that make no sense.

    >>> from hybrid_contact_ros.systems.pendulum_with_stop import pendulum_with_stop
    >>> found = zeno_analysis(pendulum_with_stop(), [-0.7, 0.0], [0.3, -0.001])
    >>> found.proved, found.zeno_time_bounds[0] <= found.zeno_time <= found.zeno_time_bounds[1]
    (True, True)
    """
    system, q, v, back = in_rates(system, q, v)
    q_, v_, problem = checked_state(system, q, v)
    chosen = sorted(contact_set("contact", contact if isinstance(contact, Iterable) else [contact], problem.contacts))
    held_ = sorted(contact_set("held", held, problem.contacts))
    if not chosen:
        raise ValueError("contact is empty: name the contacts that bounce")
    not_negative(tolerance=tolerance, force_tolerance=force_tolerance, acceleration_tolerance=acceleration_tolerance)
    _check_neighbourhood(neighbourhood)
    here_q, here_v = _closed_state(system, q_, v_, chosen, held_)
    here = system.problem(here_q, here_v)
    flags = constraint_stability(here, {*chosen, *held_}, force_tolerance, acceleration_tolerance)
    find = range_finder(system, problem, chosen[0], held_)
    why = "several contacts bounce, for which nothing is proved"
    if len(chosen) == 1:
        why = unsuitable(problem, chosen[0], held_, tolerance)
    found = why or _enclosed_or_why(system, q_, v_, problem, chosen[0], held_)
    near: Neighbourhoods | None = None
    if neighbourhood is not None and not why:
        near = neighbourhoods(find, here_q, here_v, float(problem.restitution[chosen[0]]), *neighbourhood)
    proved = isinstance(found, Enclosure)
    n = q_.size
    limits = np.array([found.limit.lo, found.limit.hi]) if isinstance(found, Enclosure) else np.full((2, 2 * n), np.nan)
    time = _first_order_time(problem, chosen, held_)
    acceleration = _acceleration(here, chosen, held_)
    end_q, end_v = back(here_q + here_v * time + 0.5 * acceleration * time**2, here_v + acceleration * time)
    closed_q, closed_v = back(here_q, here_v)
    return ZenoAnalysis(
        contacts=tuple(chosen),
        q=closed_q,
        v=closed_v,
        equilibrium=_is_equilibrium(problem, v_, chosen, tolerance),
        gap_acceleration=flags.gap_acceleration[chosen],
        constraint_force=flags.constraint_force[chosen],
        bounded_time_stability=_together(flags.bounded_time_stability[chosen]),
        constraint_stability=_together(flags.constraint_stability[chosen]),
        zeno_time=time,
        zeno_q=end_q,
        zeno_v=end_v,
        proved=proved,
        guaranteed=proved and find.guaranteed,
        zeno_time_bounds=found.bounces.zeno_time if isinstance(found, Enclosure) else (np.nan, np.nan),
        q_bounds=limits[:, :n],
        v_bounds=limits[:, n:],
        neighbourhoods=near,
        why="" if isinstance(found, Enclosure) else found,
    )


def _check_neighbourhood(neighbourhood: tuple[float, float, float] | None) -> None:
    if neighbourhood is not None:
        sizes = np.asarray(neighbourhood, dtype=np.float64)
        if sizes.shape != (3,) or not (sizes > 0.0).all():
            raise ValueError(f"neighbourhood is (ε_q, ε_v, ε_t), all > 0; got {neighbourhood}")


def _enclosed_or_why(
    system: System, q: Array, v: Array, problem: ContactProblem, contact: int, held: list[int]
) -> Enclosure | str:
    """The enclosure of the execution from (q, v), or why there is none."""
    try:
        return enclosed(system, q, v, problem, contact, held)
    except np.linalg.LinAlgError as error:
        return f"the linear system of the impact cannot be solved ({error})"


def _is_equilibrium(problem: ContactProblem, v: Array, chosen: list[int], tolerance: float) -> bool:
    """Whether the contacts touch and do not move, in a state that is not at rest for good."""
    touching = (np.abs(problem.gap[chosen]) <= tolerance) & (np.abs(problem.normal_jacobian[chosen] @ v) <= tolerance)
    at_rest = not v.any() and not problem.bias_force.any()
    return bool(touching.all()) and not at_rest


def _together(flags: NDArray[np.uint8]) -> Flag:
    """One flag for all contacts: it FAILS if one does, and HOLDS only if all do."""
    if (flags == Flag.FAILS).any():
        return Flag.FAILS
    return Flag.HOLDS if (flags == Flag.HOLDS).all() else Flag.UNDECIDED


def _held_motion(problem: ContactProblem, chosen: list[int], held: list[int], force: Array, target: Array) -> Array:
    """Solve M a = force + Jᵀλ with J a = target (m, 1 + d) for a (n,).

    J has the normals of the chosen contacts and all rows of the held ones; redundant rows share λ. NaN where massless
    limbs leave a undetermined.
    """
    m, d, n = problem.tangent_jacobian.shape
    closed = closed_rows(problem, held)
    closed[chosen, 0] = True
    rows = problem.jacobian().reshape(m, 1 + d, n)[closed]
    solution = constrained_motion(problem.mass, rows, rows, force, target[closed])
    return solution.motion if solution.regular else np.full(n, np.nan)


def _acceleration(problem: ContactProblem, chosen: list[int], held: list[int]) -> Array:
    """v̇ (n,) with the chosen and the held contacts closed."""
    return _held_motion(problem, chosen, held, -problem.bias_force, -problem.jacobian_drift)


def _closed_state(system: System, q: Array, v: Array, chosen: list[int], held: list[int]) -> tuple[Array, Array]:
    """The state projected to φ = 0 (Newton's method along M⁻¹Jᵀ) and φ̇ = 0 (plastic impact without friction)."""
    problem = system.problem(q, v)
    none = np.zeros(q.size)
    for _ in range(_PROJECTIONS):
        target = np.zeros(problem.jacobian_drift.shape)
        target[chosen, 0] = -problem.gap[chosen]
        if np.abs(target).max() <= _CLOSED_GAP:
            break
        q = q + _held_motion(problem, chosen, held, none, target)
        problem = system.problem(q, v)
    target = np.zeros(problem.jacobian_drift.shape)
    target[chosen, 0] = -problem.normal_jacobian[chosen] @ v
    return q, v + _held_motion(problem, chosen, held, none, target)


def _first_order_time(problem: ContactProblem, chosen: list[int], held: list[int]) -> float:
    """When the chatter is over if accelerations stay what they are, s from now; NaN without an end.

    The held contacts never open here.
    """
    normal = problem.normal_jacobian[chosen]
    free = _acceleration(problem, [], held)
    none = np.zeros(problem.jacobian_drift.shape)
    mobility = np.array([_held_motion(problem, [], held, row, none) for row in normal])  # rows of J M⁻¹
    if not np.isfinite(free).all() or not np.isfinite(mobility).all():
        return float("nan")
    gap, speed = np.maximum(problem.gap[chosen], 0.0), normal @ problem.velocity
    acceleration = normal @ free + problem.jacobian_drift[chosen, 0]
    e = problem.restitution[chosen]
    if len(chosen) == 1:
        if not (acceleration[0] < 0.0 and e[0] < 1.0):
            return float("nan")
        impact = np.sqrt(speed[0] ** 2 - 2.0 * acceleration[0] * gap[0])
        return float((speed[0] + impact + 2.0 * e[0] * impact / (1.0 - e[0])) / -acceleration[0])
    end = chatter(gap, speed, acceleration, mobility @ normal.T, e)
    return float("nan") if end is None else end.time
