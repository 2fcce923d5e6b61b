"""Bounds that no outcome of a landing exceeds, whatever its terms are in their intervals."""

from __future__ import annotations

import time

import numpy as np
from numpy.typing import NDArray

from hybrid_contact_ros.codes import Status
from hybrid_contact_ros.impacts.gathering import Gathered
from hybrid_contact_ros.impacts.landing_model import common_drives, joint_drives, own_drives
from hybrid_contact_ros.impacts.landing_set import AT_ONCE, LandingLaw, LandingPoints
from hybrid_contact_ros.impacts.redundant_bounds import Leaving, redundant_bounds
from hybrid_contact_ros.kernels.impacts.bound_maps import bound_scratch
from hybrid_contact_ros.kernels.impacts.landing_bounds import landing_bounds

Array = NDArray[np.float64]

_PIECES = 8
"""Of the interval of k: what it changes beyond a straight line falls with their square."""
_ROUNDS = 4
_SHIFT = 1e-9  # of the largest diagonal entry of G, where contacts are redundant
_ROOM = 1e-9


class LandingBounds:
    """Bounds of the outcomes of a :class:`~hybrid_contact_ros.impacts.landing_set.LandingLaw`, componentwise.

    They hold for every solution of the law (:mod:`~hybrid_contact_ros.kernels.impacts.landing_law`), all contacts at
    once, with every s, e, slip and creep of each contact, common k, own k of each drive, and μ of each contact in their
    intervals, all inside of the law: nothing of these is linearised. Settling and bounce are linear by definition
    (``landing_set``), and added. Other orders of impacts are not in these bounds, but in those of :func:`with_orders`;
    the margin is in neither.

    Args:
        law: its terms, contacts and drives. friction: μ (m,). driven: (n,) bool.
    """

    def __init__(self, law: LandingLaw, friction: Array, driven: NDArray[np.bool_]) -> None:
        terms, m, n = law.terms, friction.size, driven.size
        self._law, self._driven = law, driven
        self._friction = friction * (1.0 - terms.friction), friction * (1.0 + terms.friction)
        self._pieces = _PIECES if terms.drive_max > terms.drive_min else 1
        self._scratch = bound_scratch(m, law.d, n)
        self._parts = np.linspace(0.0, 1.0, self._pieces + 1)
        self._with_drive = driven.astype(np.float64)

    def of(
        self,
        mass: Array,
        bias: Array,
        rows: Array,
        velocity: Array,
        hitting: NDArray[np.bool_],
        made: LandingPoints,
        lasting: bool = True,
        friction: tuple[Array, Array] | None = None,
        end_ns: int | None = None,
    ) -> tuple[Array, Array]:
        """Lower and upper bounds (n,) of v⁺; arguments as of :meth:`~.landing_set.LandingLaw.points`, whose answer is
        ``made``. After ``end_ns`` bounds of many contacts are those by energy alone, which hold, too, and are wider.

        Infinite where M is singular, where friction jams redundant contacts so that nothing bounds their impulses, and
        where ``made`` has no points.
        """
        if not len(made.points):
            return np.full(velocity.size, -np.inf), np.full(velocity.size, np.inf)
        terms, pieces = self._law.terms, self._pieces
        duration = np.array([terms.duration_min, terms.duration_max]) if lasting else np.zeros(2)
        left, radius = self._law.left(rows, velocity, hitting)
        low, high = self._friction if friction is None else friction
        middle = 0.5 * (low + high)
        late = end_ns is not None and hitting.size > AT_ONCE and time.perf_counter_ns() > end_ns
        if late or self._law.grouped:
            found = self._of_soles(mass, bias, rows, velocity, hitting, duration, left, radius, high, late)
            if found is not None:
                return found[0] - made.restless, found[1] + made.restless
        drives, halves, alone = self._drives(mass)
        references = self._law.solve(
            mass, bias, rows, velocity, np.full(pieces, duration.mean()), drives,
            np.repeat(middle[None], pieces, axis=0), np.repeat(left[None], pieces, axis=0),
        )[0]  # fmt: skip
        lower, upper = np.empty(velocity.size), np.empty(velocity.size)
        status = landing_bounds(
            _ROUNDS, self._law.d, mass, bias, rows, velocity,
            duration, drives, halves, alone, self._with_drive, low, high, left, radius,
            middle, references, *self._scratch, lower, upper,
        )  # fmt: skip
        if status != Status.SOLVED:
            lower, upper = self._by_energy(mass, bias, rows, velocity, float(duration[1]), left, radius, high)
        return lower - made.restless, upper + made.restless

    def _of_soles(
        self, mass: Array, bias: Array, rows: Array, velocity: Array, hitting: NDArray[np.bool_], duration: Array,
        left: Array, radius: Array, friction: Array, late: bool,
    ) -> tuple[Array, Array] | None:  # fmt: skip
        """Bounds where feet have several contacts that are redundant; None where they are not. ``friction``: the
        largest. ``late``: by energy alone."""
        first = self._by_energy(mass, bias, rows, velocity, float(duration[1]), left, radius, friction)
        if late or not np.isfinite(first[0]).all():
            return first
        common = self._law.common(radius, hitting)
        own = radius.copy()
        own[:: 1 + self._law.d] = 0.0  # rebounds are those of feet
        at = Leaving(1 + self._law.d, mass, bias, rows, velocity, duration, friction, left, own, common)
        found = redundant_bounds(self._law.terms, self._driven, at, (first[0] - velocity, first[1] - velocity))
        return None if found is None else (velocity + found[0], velocity + found[1])

    def _drives(self, mass: Array) -> tuple[Array, Array, Array]:
        """Of the pieces of the interval of k: k in their middle, by how much the common k moves each joint, and by how
        much each joint may be above or below by itself, each (pieces, n).

        Where the cap of a joint lies within a piece, its k follows the common one only in part: it moves by itself.
        """
        terms, driven = self._law.terms, self._driven
        first, last = common_drives(terms, mass, driven)
        ends = first + (last - first) * self._parts
        of_joint = joint_drives(ends, mass, driven)
        least, most = of_joint[:-1], of_joint[1:]
        halves = 0.5 * (most - least)
        free = most == ends[1:, None]
        return 0.5 * (most + least), halves * free, own_drives(terms, mass, driven) + halves * ~free

    def _by_energy(
        self, mass: Array, bias: Array, rows: Array, velocity: Array, duration: float, left: Array, radius: Array,
        friction: Array,
    ) -> tuple[Array, Array]:  # fmt: skip
        """Bounds for redundant contacts, by energy alone.

        Δ = v⁺ − v⁻ has N Δ + s b = Jᵀλ and, by the law, λᵀ(J v⁺ − w) ≤ 0. Redundant contacts cannot all be left with
        any w: p is the velocity that nearly does, ρ what it misses. A velocity a that opens all contacts bounds their
        impulses, m₀ Σλ_n ≤ aᵀJᵀλ with the least m₀ = J_n a − μ‖J_t a‖. Together, in the norm of N,

            ‖Δ‖² ≤ ‖Δ‖ (‖p‖ + s‖b‖ + (ζ/m₀) ‖a‖) + s|bᵀp| + (ζ/m₀) s|aᵀb|,    ζ = max(|ρ_n| + μ‖ρ_t‖).
        """
        terms, w = self._law.terms, 1 + self._law.d
        unbounded = np.full(velocity.size, -np.inf), np.full(velocity.size, np.inf)
        ends = np.array(common_drives(terms, mass, self._driven))
        least, most = joint_drives(ends, mass, self._driven)
        own = own_drives(terms, mass, self._driven)
        light, heavy = mass + np.diag(np.maximum(least - own, 0.0)), mass + np.diag(most + own)
        try:
            np.linalg.cholesky(light)
        except np.linalg.LinAlgError:
            return unbounded
        inverse = np.linalg.inv(light)
        R = inverse @ rows.T
        G = rows @ R
        back = R @ np.linalg.inv(G + _SHIFT * np.diag(G).max(initial=0.0) * np.eye(len(G)))
        target = left - rows @ velocity
        sizes = np.sqrt(((heavy @ back) * back).sum(axis=0))
        p = back @ target
        apart = float(np.sqrt(p @ heavy @ p) + sizes @ radius)
        missing = np.eye(len(G)) - rows @ back
        rho = (np.abs(missing @ target) + np.abs(missing) @ radius).reshape(-1, w)
        zeta = float((rho[:, 0] + friction * np.linalg.norm(rho[:, 1:], axis=1)).max(initial=0.0))
        opening = back[:, ::w].sum(axis=1)
        opened = (rows @ opening).reshape(-1, w)
        least = float((opened[:, 0] - friction * np.linalg.norm(opened[:, 1:], axis=1)).min(initial=np.inf))
        if not least > 0.0:
            return unbounded
        share, b = zeta / least, float(max(float(bias @ inverse @ bias), 0.0) ** 0.5)
        first = apart + duration * b + share * float(np.sqrt(opening @ heavy @ opening))
        work = abs(bias @ p) + np.abs(bias @ back) @ radius + share * abs(opening @ bias)
        size = (1.0 + _ROOM) * (first + float(np.sqrt(duration * work)))
        most = size * np.sqrt(np.diag(inverse))
        return velocity - most, velocity + most


def warm() -> None:
    """Compile the kernel, whatever the robot."""
    m, d, n = 1, 2, 3
    rows, one = np.eye(3), np.ones(m)
    out = np.empty(n), np.empty(n)
    landing_bounds(
        1, d, np.eye(n), np.zeros(n), rows, -one.repeat(n), np.zeros(2), *[np.zeros((1, n))] * 3, np.zeros(n), one, one,
        np.zeros(3), np.zeros(3), one, np.zeros((1, n)), *bound_scratch(m, d, n), *out,
    )  # fmt: skip


def with_orders(once: tuple[Array, Array], found: Gathered, made: LandingPoints) -> tuple[Array, Array]:
    """Bounds of a whole set: of the law (``once``), of all orders of impacts, and of what is linearised.

    The set has outcomes of other orders without the terms of a landing, moved, and widened by its generators; so have
    these bounds, by the fast ones of all orders (:func:`~hybrid_contact_ros.impacts.bounds.outcome_bounds`).
    """
    more = np.abs(made.generators).sum(axis=0)
    lower, upper = found.lower + made.offset, found.upper + made.offset
    if len(made.points):
        lower = np.minimum(lower, made.points.min(axis=0))
        upper = np.maximum(upper, made.points.max(axis=0))
    return np.minimum(once[0], lower - more), np.maximum(once[1], upper + more)
