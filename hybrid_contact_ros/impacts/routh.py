"""Impacts as paths of the velocity along the accumulated normal impulse, in the plane (Routh 1891; H 36, 37–39)."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import product

import numpy as np
from numpy.typing import ArrayLike, NDArray

from hybrid_contact_ros.codes import Status
from hybrid_contact_ros.impacts.increments import increment_outcomes
from hybrid_contact_ros.mechanics.contact_sets import contact_set
from hybrid_contact_ros.mechanics.problem import ContactProblem

Array = NDArray[np.float64]

LARGEST = 6
"""Most contacts of a path: a piece tries up to 4^6 combinations of their states."""
_RELATIVE = 1e-10  # of the fastest contact velocity, or of the largest entry of G: as good as zero
_STICK, _OPEN = "stick", "open"


@dataclass(frozen=True, slots=True, eq=False)
class ImpactPath:
    """v(s) of an impact, linear between the knots; time and configuration stand still.

    Attributes:
        s: (k,) knots, N s: the sum of all normal impulses, from 0.
        velocities: (k, nv), from v⁻ to v⁺. impulses: (k, m, 1 + d) accumulated per contact, N s, normal first.
        status: SOLVED; RAY where no event ends a piece (the impact jams); NONE_FOUND where no rates satisfy the
            conditions, or an impact was to be started that pushes nothing in; STEP_LIMIT.
    """

    s: Array
    velocities: Array
    impulses: Array
    status: Status

    @property
    def velocity(self) -> Array:
        """v⁺ (nv,)."""
        return self.velocities[-1]  # type: ignore[no-any-return]


def routh_path(
    problem: ContactProblem, start: Iterable[int] = (), rates: ArrayLike | None = None, max_pieces: int = 200
) -> ImpactPath:
    """Resolve an inelastic impact in the plane exactly, by Routh's method (H 36) and its extension to many (H 37–39).

    Contacts that approach push with normal rates in the proportion of ``rates``. A contact at J_n v = 0 pushes as much
    as keeps the others from driving it in, and not at all if they do not (where friction is so strong that no such push
    exists, it pushes at its rate too). Friction obeys Coulomb's law along the whole path: it opposes a slipping contact
    with μ λ_n; one that has come to rest sticks, or slips back where sticking takes more than that. The rates are
    scaled so that they add up to 1 (H 37), and the path ends when no contact approaches. One contact: Routh's method.
    Several: one solution of the inclusion (39); other proportions give others.

    Args:
        problem: with v⁻ as its velocity; all its contacts take part (``problem.select``). d = 1, M positive definite.
        start: contacts that push from the beginning although J_n v = 0: an impact without collision (H §2.2.3). It is
            one only if the push drives the contact in (or leaves J_n v at 0) until its slipping has ended; otherwise
            the path has no length and NONE_FOUND.
        rates: (m,) > 0, all equal by default.
        max_pieces: linear pieces at most.

    Raises:
        ValueError: not planar, too many contacts, a singular M, or another argument out of range.
    """
    m = problem.contacts
    if problem.tangents != 1:
        raise ValueError(f"the problem has {problem.tangents} tangents a contact; this path is for the plane (1)")
    if m > LARGEST:
        raise ValueError(f"{m} contacts take part; at most {LARGEST} can: select those that touch")
    weights = np.ones(m) if rates is None else np.asarray(rates, dtype=np.float64)
    if weights.shape != (m,) or not ((weights > 0.0) & np.isfinite(weights)).all():
        raise ValueError(f"rates must be {m} finite numbers > 0, got {weights.tolist()}")
    begun = contact_set("start", start, m)
    if max_pieces < 1:
        raise ValueError(f"max_pieces is {max_pieces}; it must be 1 or more")
    rows = problem.jacobian()
    try:
        np.linalg.cholesky(problem.mass)
    except np.linalg.LinAlgError:
        raise ValueError("mass is not positive definite; an impact path needs every limb to have mass") from None
    response = np.linalg.solve(problem.mass, rows.T)
    G = rows @ response
    u = (rows @ problem.velocity).reshape(m, 2)
    speed = _RELATIVE * float(np.abs(u).max(initial=0.0))
    total = np.zeros((m, 2))
    s, velocities, impulses = [0.0], [problem.velocity.copy()], [total.copy()]
    status = Status.STEP_LIMIT
    for _ in range(max_pieces):
        u[np.abs(u) <= speed] = 0.0
        drivers = u[:, 0] < 0.0
        first = not drivers.any() and bool(begun) and s[-1] == 0.0
        if first:
            drivers[sorted(begun)] = True
        if not drivers.any():
            status = Status.SOLVED if s[-1] > 0.0 or not begun else Status.NONE_FOUND
            break
        push = _rates(G, u, problem.friction, drivers, weights)
        if push is None:  # contacts at rest that cannot be held by friction so strong: they push as the others do
            push = _rates(G, u, problem.friction, drivers | (u[:, 0] == 0.0), weights)
        if push is None:
            status = Status.NONE_FOUND
            break
        rate = (G @ push.reshape(-1)).reshape(m, 2)
        slack = _RELATIVE * np.abs(G).max()
        if first and (rate[sorted(begun), 0] > slack).any():
            status = Status.NONE_FOUND
            break
        rate[np.abs(rate) <= slack] = 0.0
        length, which = _next_event(u, rate, push[:, 0])
        if which is None:
            status = Status.RAY
            break
        u = u + length * rate
        u[which] = 0.0
        total = total + length * push
        s.append(s[-1] + length)
        velocities.append(problem.velocity + response @ total.reshape(-1))
        impulses.append(total)
    return ImpactPath(np.array(s), np.array(velocities), np.array(impulses), status)


def increment_path(
    problem: ContactProblem, step: float, seed: int = 0, start: Iterable[int] = (), max_steps: int = 1000
) -> ImpactPath:
    """A random path of the many that the inclusion (39) allows: increments with random caps (H Algorithm 1, 72–75).

    Each increment is a linear piece whose friction fits the velocity at its end: a discretization of (39) with step
    ``step`` (N s). Where an increment has several solutions one is drawn. ``start`` is not empty for an impact without
    collision: the first increment is then one that pushes, if there is such.

    Raises:
        ValueError: step is not positive and finite, or max_steps < 1.
    """
    if not 0.0 < step < np.inf:
        raise ValueError(f"step is {step}; a positive, finite impulse in N s is needed")
    if max_steps < 1:
        raise ValueError(f"max_steps is {max_steps}; it must be 1 or more")
    begun = contact_set("start", start, problem.contacts)
    rng = np.random.default_rng(seed)
    tolerance = _RELATIVE * float(np.abs(problem.jacobian() @ problem.velocity).max(initial=0.0))
    here, total = problem, np.zeros((problem.contacts, 1 + problem.tangents))
    s, velocities, impulses = [0.0], [problem.velocity.copy()], [total]
    status = Status.STEP_LIMIT
    for i in range(max_steps):
        approaching = bool((here.normal_jacobian @ here.velocity < -tolerance).any())
        if not approaching and (i > 0 or not begun):
            status = Status.SOLVED
            break
        caps = step * rng.random(problem.contacts)
        found = list(increment_outcomes(here, caps))
        if not approaching:
            found = [x for x in found if x.impulse[sorted(begun), 0].any()]
            if not found:
                status = Status.NONE_FOUND
                break
        chosen = found[int(rng.integers(len(found)))]
        if chosen.status not in (Status.SOLVED, Status.INACCURATE):
            status = chosen.status
            break
        total = total + chosen.impulse
        here = here.with_velocity(chosen.velocity)
        s.append(s[-1] + float(chosen.impulse[:, 0].sum()))
        velocities.append(chosen.velocity)
        impulses.append(total)
    return ImpactPath(np.array(s), np.array(velocities), np.array(impulses), status)


def _rates(G: Array, u: Array, friction: Array, drivers: NDArray[np.bool_], weights: Array) -> Array | None:
    """Impulse rates (m, 2), normals adding up to 1, that drive the ``drivers`` and obey contact laws to first order."""
    resting = ~drivers & (u[:, 0] == 0.0)
    choices: list[list[tuple[str, float]]] = []
    for i in range(u.shape[0]):
        if not drivers[i] and not resting[i]:
            choices.append([(_OPEN, 0.0)])
            continue
        moving: list[tuple[str, float]] = [("slide", float(np.sign(u[i, 1])))]
        at_rest: list[tuple[str, float]] = [(_STICK, 0.0), ("slide", 1.0), ("slide", -1.0)]
        states = moving if u[i, 1] != 0.0 or friction[i] == 0.0 else at_rest
        choices.append(states if drivers[i] else [(_OPEN, 0.0), *states])
    for combination in product(*choices):
        push = _solve(G, u, friction, drivers, resting, weights, combination)
        if push is not None:
            return push / push[:, 0].sum()
    return None


def _solve(
    G: Array,
    u: Array,
    friction: Array,
    drivers: NDArray[np.bool_],
    resting: NDArray[np.bool_],
    weights: Array,
    states: tuple[tuple[str, float], ...],
) -> Array | None:
    m = u.shape[0]
    given, columns, held = np.zeros((m, 2)), [], []
    for i, (state, sign) in enumerate(states):
        if state == _OPEN:
            continue
        normal = np.zeros((m, 2))
        normal[i] = 1.0, 0.0 if state == _STICK else -friction[i] * sign
        if drivers[i]:
            given += weights[i] * normal
        else:
            columns.append(normal.reshape(-1))
            held.append(2 * i)
        if state == _STICK:
            columns.append(np.eye(2 * m)[2 * i + 1])
            held.append(2 * i + 1)
    push = given
    if columns:
        B = np.array(columns).T
        x = np.linalg.lstsq(G[held] @ B, -G[held] @ given.reshape(-1), rcond=1e-12)[0]
        push = given + (B @ x).reshape(m, 2)
    rate = (G @ push.reshape(-1)).reshape(m, 2)
    size = float(np.abs(push).max())
    small, slack = 1e-9 * size, 1e-9 * float(np.abs(G).max()) * size
    if held and np.abs(rate.reshape(-1)[held]).max() > slack:
        return None
    for i, (state, sign) in enumerate(states):
        if state == _OPEN:
            if resting[i] and rate[i, 0] < -slack:
                return None
            continue
        outside = abs(push[i, 1]) > friction[i] * push[i, 0] + small
        backwards = u[i, 1] == 0.0 and sign * rate[i, 1] < -slack
        if push[i, 0] < -small or (outside if state == _STICK else backwards):
            return None
    return push


def _next_event(u: Array, rate: Array, normal: Array) -> tuple[float, tuple[NDArray[np.intp], ...] | None]:
    """How far until a normal velocity, or a slipping contact's tangential one, reaches zero; and which entries do."""
    towards = (u * rate < 0.0) & np.column_stack([np.ones(u.shape[0], bool), normal > 0.0])
    if not towards.any():
        return 0.0, None
    length = np.full(u.shape, np.inf)
    length[towards] = -u[towards] / rate[towards]
    least = float(length.min())
    return least, np.nonzero(length <= least * (1.0 + 1e-12))
