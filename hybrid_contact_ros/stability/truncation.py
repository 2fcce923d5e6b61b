"""Reliable truncation of infinitely many bounces (Or, section V, Definition 6, Theorem 3)."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from hybrid_contact_ros.mechanics.contact_sets import contact_set, not_negative
from hybrid_contact_ros.mechanics.problem import ContactProblem
from hybrid_contact_ros.stability.enclosure import Enclosure, enclose
from hybrid_contact_ros.stability.interval_ranges import range_finder
from hybrid_contact_ros.stability.intervals import Interval
from hybrid_contact_ros.stability.ranges import System, bouncing
from hybrid_contact_ros.systems.chart import in_rates

Array = NDArray[np.float64]

_SLIP_SPEED = 1e-6  # m/s; a held contact with friction that moves slower sticks


@dataclass(frozen=True, slots=True, eq=False)
class Truncation:
    """Whether a chatter may be cut short now, and how wrong that is at most.

    Attributes:
        reliable: all remaining bounces are sure to be over within ε_t, and to end within ε_q and ε_v of (q, v).
        guaranteed: this was decided by interval arithmetic; otherwise by samples.
        q, v: (n,) the state from which the contact is closed: the gap projected to 0, the velocity after a plastic
            impact.
        zeno_time: (lower, upper), s from now. q_bounds, v_bounds: (2, n) lower and upper of the Zeno point (q∞, v∞).
            NaN where nothing could be shown.
        q_error, v_error: upper bounds of ‖q∞ − q‖ and ‖v∞ − v‖, Euclidean. NaN likewise.
        why: what stands against it; empty when reliable.
    """

    reliable: bool
    guaranteed: bool
    q: Array
    v: Array
    zeno_time: tuple[float, float]
    q_bounds: Array
    v_bounds: Array
    q_error: float
    v_error: float
    why: str


def reliable_truncation(
    system: System,
    q: ArrayLike,
    v: ArrayLike,
    contact: int = 0,
    *,
    epsilon_q: float,
    epsilon_v: float,
    epsilon_t: float,
    held: Iterable[int] = (),
    projection: Literal["plastic", "orthogonal"] = "plastic",
    gap_tolerance: float = 1e-9,
) -> Truncation:
    """Decide whether the execution from (q, v) may be truncated, with ``contact`` closed from now on.

    This is the question of Or's Theorem 3, answered from any state of the chatter: just before an impact, just after
    it, or in flight. When ``reliable``, every execution from here is Zeno (if e > 0), and its Zeno time and point are
    in the bounds. The reasoning is Or's with sharper sums, in a box that is found along the way
    (:mod:`~hybrid_contact_ros.stability.enclosure`) instead of balls that are given; it accepts all that Definition 6
    does for balls inside the tolerances, up to the overestimation of interval arithmetic.

    With ``guaranteed`` the answer is proved for a :class:`~hybrid_contact_ros.systems.lagrangian.LagrangianSystem`:

    * with one contact without friction and Newton's restitution e < 1, which is Or's setting;
    * with friction too, as long as every impact obeys φ̇⁺ = −e φ̇⁻ with an impulse in the friction cone;
    * with contacts ``held`` closed, sliding without friction or sticking with it: they make another Lagrangian system,
      of fewer coordinates, as long as their forces and impulses push and stay in the friction cone, which is checked.

    Errors of (q, v) themselves, as from an integrator or event location, are not covered (nor are they by Or).

    Args:
        system: has ``problem(q, v)``; a :class:`LagrangianSystem` without applied forces gets guaranteed answers. It
            may be a RigidBodyModel: with a free-flyer ``q_bounds`` and ``v_bounds`` are bounds of x (nv,) and ẋ, where
            the configuration is q ⊕ x (:class:`~hybrid_contact_ros.systems.chart.RobotChart`).
        q, v: the state.
        contact: index of the bouncing contact. Others that are not held must stay open, which is checked.
        held: indices of the contacts that are closed and stay so.
        epsilon_q, epsilon_v, epsilon_t: how far q and v may be from the Zeno point (m or rad, m/s; Euclidean norm) and
            the Zeno time from now (s). All must be > 0.
        projection: of v to φ̇ = 0: "plastic" along M⁻¹J_nᵀ, from which the constrained motion meets the Zeno point to
            second order in φ̇; "orthogonal" along J_nᵀ, the projection R* of Or.
        gap_tolerance: m; a penetration up to this is an error of event location, and counts as 0.

    Raises:
        ValueError: shapes, indices or tolerances that make no sense.

    >>> from hybrid_contact_ros.systems.pendulum_with_stop import pendulum_with_stop
    >>> tolerances = {"epsilon_q": 1e-2, "epsilon_v": 1e-2, "epsilon_t": 1e-2}
    >>> reliable_truncation(pendulum_with_stop(), [-0.7, 0.0], [0.3, -1e-4], **tolerances).reliable
    True
    >>> reliable_truncation(pendulum_with_stop(), [-0.7, 0.0], [0.3, -0.1], **tolerances).why
    'the bounces are not yet small enough: ...'
    """
    system, q, v, back = in_rates(system, q, v)
    q_, v_, problem = checked_state(system, q, v)
    (index,) = contact_set("contact", [contact], problem.contacts)
    held_ = sorted(contact_set("held", held, problem.contacts))
    for name, value in (("epsilon_q", epsilon_q), ("epsilon_v", epsilon_v), ("epsilon_t", epsilon_t)):
        if not value > 0.0:
            raise ValueError(f"{name} must be > 0, got {value}")
    not_negative(gap_tolerance=gap_tolerance)
    if projection not in ("plastic", "orthogonal"):
        raise ValueError(f'projection must be "plastic" or "orthogonal", got {projection!r}')
    find = range_finder(system, problem, index, held_)
    why = unsuitable(problem, index, held_, gap_tolerance)
    closed: tuple[Array, Array] | None = None
    if not why:
        try:
            closed = projected(system, q_, v_, index, held_, projection)
            found = enclosed(system, q_, v_, problem, index, held_)
        except np.linalg.LinAlgError as error:
            why = f"the linear system of the impact cannot be solved ({error})"
        else:
            if isinstance(found, Enclosure):
                judged = _judged(found, find.guaranteed, *closed, epsilon_q, epsilon_v, epsilon_t)
                after_q, after_v = back(judged.q, judged.v)
                return replace(judged, q=after_q, v=after_v)
            why = found
    after_q, after_v = back(*(closed or (q_, v_)))
    return Truncation(
        reliable=False,
        guaranteed=find.guaranteed,
        q=after_q,
        v=after_v,
        zeno_time=(np.nan, np.nan),
        q_bounds=np.full((2, q_.size), np.nan),
        v_bounds=np.full((2, q_.size), np.nan),
        q_error=np.nan,
        v_error=np.nan,
        why=why,
    )


def _judged(
    found: Enclosure, guaranteed: bool, q: Array, v: Array, epsilon_q: float, epsilon_v: float, epsilon_t: float
) -> Truncation:
    """The answer that an enclosure of the Zeno point gives, with the contact closed at (q, v)."""
    n = q.size
    q_error, v_error = _distance(found.limit[:n], q), _distance(found.limit[n:], v)
    time = found.bounces.zeno_time
    why = ""
    for name, error, bound in (("q", q_error, epsilon_q), ("v", v_error, epsilon_v), ("t", time[1], epsilon_t)):
        if not why and not error < bound:
            why = (
                f"the bounces are not yet small enough: an error of up to {error:.3g} for epsilon_{name} = {bound:.3g}"
            )
    limits = np.array([found.limit.lo, found.limit.hi])
    return Truncation(
        reliable=not why,
        guaranteed=guaranteed,
        q=q,
        v=v,
        zeno_time=time,
        q_bounds=limits[:, :n],
        v_bounds=limits[:, n:],
        q_error=q_error,
        v_error=v_error,
        why=why,
    )


def _distance(box: Interval, point: Array) -> float:
    """Upper bound of the Euclidean distance between a point and any point of a box."""
    return float(np.linalg.norm((box - point).magnitude())) * (1.0 + 1e-12)


def checked_state(system: System, q: ArrayLike, v: ArrayLike) -> tuple[Array, Array, ContactProblem]:
    """Return (q, v) as new arrays, and their contact problem.

    Raises:
        ValueError: q and v are not two finite vectors of one size, or the system has no ``problem(q, v)``.
    """
    if not callable(getattr(system, "problem", None)):
        raise ValueError(f"{type(system).__name__} has no problem(q, v); a system with contact problems is needed")
    q_, v_ = np.array(q, dtype=np.float64), np.array(v, dtype=np.float64)
    if q_.ndim != 1 or q_.shape != v_.shape:
        raise ValueError(f"q and v have shapes {q_.shape} and {v_.shape}; two vectors of one size are needed, v = q̇")
    if not (np.isfinite(q_).all() and np.isfinite(v_).all()):
        raise ValueError(f"q and v must be finite numbers, got {q_} and {v_}")
    return q_, v_, system.problem(q_, v_)


def unsuitable(problem: ContactProblem, contact: int, held: list[int], gap_tolerance: float) -> str:
    """Why nothing can be shown for this state, or an empty string."""
    if contact in held:
        return "the bouncing contact is held"
    slip = problem.tangent_jacobian[held] @ problem.velocity
    if (np.linalg.norm(slip, axis=1)[problem.friction[held] > 0.0] > _SLIP_SPEED).any():
        return "a held contact slides with friction, so that its impulses are not known"
    if problem.gap[contact] < -gap_tolerance:
        return f"the contact penetrates: gap {problem.gap[contact]:.3g}"
    return ""


def enclosed(
    system: System,
    q: Array,
    v: Array,
    problem: ContactProblem,
    contact: int,
    held: list[int],
) -> Enclosure | str:
    """:func:`~hybrid_contact_ros.stability.enclosure.enclose` from a state of a system."""
    return enclose(
        range_finder(system, problem, contact, held),
        q,
        v,
        max(0.0, float(problem.gap[contact])),
        float(problem.normal_jacobian[contact] @ v),
        float(problem.restitution[contact]),
        bouncing(problem, contact, held),
    )


def projected(
    system: System, q: Array, v: Array, contact: int, held: list[int], projection: str = "plastic"
) -> tuple[Array, Array]:
    """The state with φ = 0, reached along M⁻¹J_nᵀ by Newton's method, and with φ̇ = 0; the held contacts stay closed."""
    problem = system.problem(q, v)
    for _ in range(20):
        gap = float(problem.gap[contact])
        if abs(gap) <= 1e-14:
            break
        q = q - bouncing(problem, contact, held).direction * gap
        problem = system.problem(q, v)
    row = problem.normal_jacobian[contact]
    direction = row / (row @ row) if projection == "orthogonal" else bouncing(problem, contact, held).direction
    return q.copy(), v - direction * (row @ v)
