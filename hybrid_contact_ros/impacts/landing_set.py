"""The set of what a landing adds to an impact: the law at the corners of its intervals, and generators of the rest."""

from __future__ import annotations

import time
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from hybrid_contact_ros.codes import Status
from hybrid_contact_ros.impacts.landing_cases import LandingPlans, Plan
from hybrid_contact_ros.impacts.landing_model import LandingTerms, common_drives, joint_drives, own_drives
from hybrid_contact_ros.kernels.impacts.landing_law import contact_response, landing_outcomes, landing_scratch

Array = NDArray[np.float64]
Flags = NDArray[np.bool_]

_STEPS, _TOLERANCE = 400, 1e-3  # where contacts are redundant; otherwise cases are solved to rounding
_USABLE = 5e-3  # a case with a larger residual is no point of the set
_NOTHING = 1e-9  # of the largest velocity: a generator that is shorter is rounding of none
AT_ONCE = 8
"""Contacts up to which all cases are solved in one call. Of more, cases take a tenth of a millisecond or more each, and
the clock is looked at between them."""
AT_REST = 0.01  # of the fastest |u_n⁻|: a contact that stands and is slower is at rest
_HITS = 0.1  # of the fastest |u_n⁻|: a contact of which nothing else is known hits if it is faster

QUANTILE = 0.999
"""Share of the model's outcomes within :func:`quantile_bounds`."""
WIDER, UNSEEN = 0.12, 0.8
"""Part of the half-width by which the bounds are wider than the set, and than the extent of the samples (measured:
``./run bench landing_draws``)."""
MODEL_ERROR = 0.002
"""The margin is no smaller than this part of the nominal jump: 95 % of the model's outcomes of recorded landings are no
farther from the set without margin, whose corners are few, and whose rebounds are linearised."""


@dataclass(frozen=True, slots=True, eq=False)
class LandingPoints:
    """What the terms of a landing make of its impact: hull(points) ⊕ {Σ aᵢ generatorsᵢ: |aᵢ| ≤ 1}.

    Attributes:
        points: (k, n), the first in the middle of all intervals. impulses: (k, m (1 + d)) N s, of these, without those
            of the linear terms. generators: (g, n). restless: (n,), by how much standing contacts that still move
            change each coordinate at most.
        offset: (n,), from the outcome of all contacts at once without these terms to the first point: what moves the
            samples of all orders.
        status: SOLVED, INACCURATE where a case could not be solved (it is left out), SINGULAR. residual: largest, of
            all cases that were solved. cut: whether cases were left out because there was no time for them.
    """

    points: Array
    impulses: Array
    generators: Array
    restless: Array
    offset: Array
    status: Status
    residual: float
    cut: bool = False


def hits(rows: Array, velocity: Array, d: int) -> Flags:
    """Which contacts (m,) hit where nothing tells which stand: those that approach with a tenth of the fastest, or
    more. rows: J (m (1 + d), n)."""
    approach = -np.minimum(rows[:: 1 + d] @ velocity, 0.0)
    return np.asarray((approach > 0.0) & (approach >= _HITS * approach.max(initial=0.0)))


class LandingLaw:
    """The law of landings at the same contacts, state after state, in the same arrays. One thread at a time.

    Args:
        terms: what is not known. d, n: tangents, coordinates. friction: μ (m,).
        restitution: (low, high), each (m,), of the contacts' material; ``rebound`` adds to both.
        driven: (n,) bool, coordinates with a drive.
        feet: (m,) names of the foot that each contact is on: those of one rebound together. None: each is a foot.

    Attributes:
        grouped: whether a foot has several contacts.
    """

    def __init__(
        self,
        terms: LandingTerms,
        d: int,
        n: int,
        friction: Array,
        restitution: tuple[Array, Array],
        driven: Flags,
        feet: NDArray[np.intp] | None = None,
    ) -> None:
        self.terms, self.d, self._driven = terms, d, driven
        m = friction.size
        self._low, self._high = restitution[0] + terms.rebound_min, restitution[1] + terms.rebound_max
        usual = 0.5 * (restitution[0] + restitution[1])
        self._scratch = landing_scratch(m, d, n)
        r = m * (1 + d)
        self._square, self._column = np.empty((r, r)), np.empty(r)
        named = np.arange(m) if feet is None else np.unique(feet, return_inverse=True)[1].reshape(m)
        self._on = named == np.arange(int(named.max(initial=-1)) + 1)[:, None]  # (feet, contacts)
        self.grouped = bool((self._on.sum(axis=1) > 1).any())
        self._plans = LandingPlans(terms, self._on, friction, self._low, self._high, usual, d)

    def solve(
        self, mass: Array, bias: Array, rows: Array, velocity: Array, duration: Array, drive: Array, friction: Array,
        left: Array,
    ) -> tuple[Array, Array, Array, Status]:  # fmt: skip
        """Outcomes of cases.

        Args:
            mass (n, n), bias = h − Sᵀτ (n,), rows J (m (1 + d), n), velocity v⁻ (n,).
            duration: s (c,). drive: k (c, n), kg m². friction: μ (c, m). left: w (c, m (1 + d)), m/s, velocities with
                which contacts are left (:mod:`~hybrid_contact_ros.kernels.impacts.landing_law`).

        Returns:
            v⁺ (c, n), impulses (c, m (1 + d)), residuals (c,), and the worst status.
        """
        count = duration.size
        out = np.empty((count, velocity.size)), np.zeros(left.shape), np.empty(count)
        status, _ = landing_outcomes(
            _STEPS, _TOLERANCE, self.d, mass, bias, rows, velocity, duration, drive, friction, left,
            *self._scratch, *out,
        )  # fmt: skip
        return *out, Status(status)

    def points(
        self, mass: Array, bias: Array, rows: Array, velocity: Array, hitting: Flags, nominal: Array,
        lasting: bool = True, friction: tuple[Array, Array] | None = None, end_ns: int | None = None,
    ) -> LandingPoints:  # fmt: skip
        """What the terms make of an impact.

        Args:
            mass … velocity: as of :meth:`solve`. hitting: (m,), the others stand.
            nominal: v⁺ (n,) of all contacts at once, inelastic, by the law of the samples.
            lasting: False leaves the duration out, where the torques are not known.
            friction: (low, high), each (m,), of μ; None for that of the terms.
            end_ns: of ``perf_counter_ns``, after which no further case of many contacts begins.
        """
        w, m = 1 + self.d, hitting.size
        u = (rows @ velocity).reshape(m, w)
        approach = -np.minimum(u[:, 0], 0.0) * hitting
        plan = self._plans.of(hitting)
        left = np.zeros((plan.duration.size, m * w))
        left[:, ::w] = plan.rebound * approach
        cases = (
            plan.duration if lasting else np.zeros(len(left)), self._drives(mass, plan),
            plan.friction if friction is None else self._plans.between(friction, plan), left,
        )  # fmt: skip
        if end_ns is None or m <= AT_ONCE:
            found, pushes, residuals, status = self.solve(mass, bias, rows, velocity, *cases)
        else:
            found, pushes, residuals, status = self._in_turn((mass, bias, rows, velocity), cases, end_ns)
        unsolved = np.isnan(residuals)
        cut, residuals = bool(unsolved.any()), np.where(unsolved, np.inf, residuals)
        worst = float(residuals[~unsolved].max())
        usable = residuals <= _USABLE
        if not (usable[0] and usable[1] and usable[-1]):
            status = status if status == Status.SINGULAR else Status.INACCURATE
            none = found[:0]
            still = np.zeros(velocity.size)
            return LandingPoints(none, pushes[:0], none, still, still, status, worst, cut)
        of_points, of_rebounds = plan.points, plan.rebounds
        if not usable.all():
            of_points, of_rebounds = self._plans.made(plan.alone, plan.corners, usable)
            found[~usable], pushes[~usable] = 0.0, 0.0
        back = np.empty(rows.shape)
        contact_response(*self._scratch[:3], self._square, self._column, back)
        moved, moving = self._moved(u, approach, hitting)
        moves = moved.reshape(-1, 1) * back
        generators = [of_rebounds @ found, moves]
        if self.terms.drive_own > 0.0:
            generators.append(self._own(found[-1] - velocity, mass, rows, back))
        kept = 0.5 * self.terms.creep * u
        kept[:, 0] = 0.0
        creep = (plan.hit * kept.reshape(-1)) @ back
        generators.append(creep)
        points = of_points @ found + creep.sum(axis=0)
        every = np.concatenate(generators)
        return LandingPoints(
            points=points,
            impulses=of_points @ pushes,
            generators=every[np.abs(every).max(axis=1, initial=0.0) > _NOTHING * np.abs(velocity).max(initial=0.0)],
            restless=np.abs(moves[moving.repeat(w)]).sum(axis=0),
            offset=points[0] - (nominal + found[0] - found[1]),
            status=status,
            residual=worst,
            cut=cut,
        )

    def _in_turn(
        self, at: tuple[Array, Array, Array, Array], cases: tuple[Array, Array, Array, Array], end_ns: int
    ) -> tuple[Array, Array, Array, Status]:
        """As :meth:`solve`, but a few cases at a time, until ``end_ns``: the first two, the ends of what bends most,
        the others, and whatever the time the middle of all intervals, whose response is asked for afterwards.
        Residuals of cases that were not begun are NaN."""
        count, r = len(cases[0]), at[2].shape[0]
        found, pushes, residuals = np.zeros((count, at[3].size)), np.zeros((count, r)), np.full(count, np.nan)
        inner = list(range(2, count - 1))
        ends = [inner[i] for i in sorted({0, len(inner) // 2, len(inner) - 1})] if inner else []
        status = Status.SOLVED
        for chosen in [[0, 1], *([i] for i in (*ends, *(i for i in inner if i not in ends))), [count - 1]]:
            if chosen[0] in inner and time.perf_counter_ns() > end_ns:
                continue
            *made, worse = self.solve(*at, *(np.ascontiguousarray(column[chosen]) for column in cases))
            for whole, part in zip((found, pushes, residuals), made, strict=True):
                whole[chosen] = part
            status = max(status, worse)
        return found, pushes, residuals, status

    def _drives(self, mass: Array, plan: Plan) -> Array:
        """k (c, n) of the cases."""
        least, most = common_drives(self.terms, mass, self._driven)
        return joint_drives(least * plan.least + most * plan.most, mass, self._driven)

    def left(self, rows: Array, velocity: Array, hitting: Flags) -> tuple[Array, Array]:
        """Middle and half of the intervals (m (1 + d),) of the velocities w, m/s, with which hitting contacts are
        left: rebound, slip and creep."""
        terms, w = self.terms, 1 + self.d
        u = (rows @ velocity).reshape(-1, w)
        approach = -np.minimum(u[:, 0], 0.0) * hitting
        middle, half = np.empty(u.shape), np.empty(u.shape)
        middle[:, 0], half[:, 0] = 0.5 * (self._low + self._high) * approach, 0.5 * (self._high - self._low) * approach
        creep = 0.5 * terms.creep * u[:, 1:] * hitting[:, None]
        middle[:, 1:], half[:, 1:] = creep, np.abs(creep) + (terms.slip * approach)[:, None]
        return middle.reshape(-1), half.reshape(-1)

    def common(self, radius: Array, hitting: Flags) -> Array:
        """Of the intervals ± ``radius`` (m (1 + d),) of :meth:`left` those of rebounds, one row (feet, m (1 + d)) for
        each foot that hits: its contacts rebound together."""
        found = np.zeros((len(self._on), radius.size))
        found[:, :: 1 + self.d] = self._on * radius[:: 1 + self.d]
        return found[(self._on & hitting).any(axis=1)]

    def _moved(self, u: Array, approach: Array, hitting: Flags) -> tuple[Array, Flags]:
        """By how much (m, 1 + d) m/s each contact's velocity may differ along each axis, by slip where it hits, by
        settling and bounce where it stands and still moves; and which contacts (m,) do the latter."""
        fastest, speed = approach.max(initial=0.0), np.abs(u)
        moving = ~hitting & (speed.max(axis=1) > AT_REST * fastest)
        moved = self.terms.settling * speed * moving[:, None]
        moved[:, 0] += self.terms.bounce * fastest * moving
        moved[:, 1:] += (self.terms.slip * approach)[:, None]
        return moved, moving

    def _own(self, jump: Array, mass: Array, rows: Array, back: Array) -> Array:
        """The impulse −k_j Δq̇_j of each drive's own k, in what the contacts let move: rows (drives, n)."""
        half = np.linalg.inv(np.tril(self._scratch.L))[:, self._driven]
        inverse = half.T @ np.linalg.inv(np.tril(self._scratch.L))
        free = inverse - inverse @ rows.T @ back
        own = own_drives(self.terms, mass, self._driven)[self._driven]
        return np.asarray(-(own * jump[self._driven])[:, None] * free)


def quantile_bounds(points: Array, samples: Array, generators: Array) -> tuple[Array, Array]:
    """Bounds (n,) of each coordinate that hold QUANTILE of the model's outcomes. Without points they are infinite.

    They are those of the set, wider by WIDER of their half-width, because the generators are linearised; first the
    extent of the samples (k, n) is widened by UNSEEN, because more samples would reach farther.
    """
    if not len(points):
        return np.full(points.shape[1], -np.inf), np.full(points.shape[1], np.inf)
    low, high = points.min(axis=0), points.max(axis=0)
    if len(samples):
        least, most = samples.min(axis=0), samples.max(axis=0)
        more = 0.5 * UNSEEN * (most - least)
        low, high = np.minimum(low, least - more), np.maximum(high, most + more)
    more = np.abs(generators).sum(axis=0)
    more += WIDER * (0.5 * (high - low) + more)
    return low - more, high + more
