"""The set of what a landing adds to an impact: the law at the corners of its intervals, and generators of the rest."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from hybrid_contact_ros.codes import Status
from hybrid_contact_ros.impacts.landing_model import LandingTerms, common_drives, joint_drives, own_drives
from hybrid_contact_ros.kernels.impacts.landing_law import contact_response, landing_outcomes, landing_scratch

Array = NDArray[np.float64]
Flags = NDArray[np.bool_]

_FRICTIONS = 5
"""Values of μ between its ends: from sticking to sliding an outcome bends, and the ends alone leave out what lies
between."""
_STEPS, _TOLERANCE = 400, 1e-3  # where contacts are redundant; otherwise cases are solved to rounding
_PLANS = 64  # combinations of hitting contacts that are remembered
_USABLE = 5e-3  # a case with a larger residual is no point of the set
_NOTHING = 1e-9  # of the largest velocity: a generator that is shorter is rounding of none
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
            all cases.
    """

    points: Array
    impulses: Array
    generators: Array
    restless: Array
    offset: Array
    status: Status
    residual: float


def hits(rows: Array, velocity: Array, d: int) -> Flags:
    """Which contacts (m,) hit where nothing tells which stand: those that approach with a tenth of the fastest, or
    more. rows: J (m (1 + d), n)."""
    approach = -np.minimum(rows[:: 1 + d] @ velocity, 0.0)
    return np.asarray((approach > 0.0) & (approach >= _HITS * approach.max(initial=0.0)))


class _Cases(NamedTuple):
    """The cases of the law that make a set: without the terms but with restitution, and without that, too; corners and
    rebounds of single feet; the middle."""

    duration: Array  # s (c,)
    drive: Array  # where k is between its ends (c,), 0 to 1; −1: k is 0
    factor: Array  # (c,), of μ
    foot: NDArray[np.intp]  # (c,), whose rebound is at an end; −1: of none
    high: Flags  # (c,), which end
    groups: tuple[int, int]  # values of k, and of μ, at which rebounds are looked at


class _Plan(NamedTuple):
    """The c cases for a choice of hitting contacts."""

    duration: Array  # (c,)
    least: Array  # (c,) parts of the ends of k
    most: Array
    friction: Array  # (c, m)
    share: Array  # where μ is between its ends (c, 1), 0 to 1
    rebound: Array  # e (c, m)
    alone: NDArray[np.intp]  # those with the rebound of a foot alone
    corners: NDArray[np.intp]  # those at the ends of the other intervals
    hit: Array  # (feet, m (1 + d)), 1 for the rows of hitting contacts
    points: Array  # (any, c), what points are made of (LandingLaw._made)
    rebounds: Array  # (any, c), and generators of rebounds


def _cases(terms: LandingTerms, feet: int) -> _Cases:
    """Cases for so many feet, in the order of k, so that M + diag k is seldom factored anew."""
    middle = 0.5 * (terms.duration_min + terms.duration_max), 0.5
    durations = sorted({terms.duration_min, terms.duration_max})
    factors = np.linspace(1.0 - terms.friction, 1.0 + terms.friction, _FRICTIONS if terms.friction else 1).tolist()
    ends, widths = [0.0, 1.0] if terms.drive_min < terms.drive_max else [0.0], sorted({factors[0], factors[-1]})
    rows: list[tuple[float, float, float, int, bool]] = [(0.0, -1.0, 1.0, -1, False)] * 2
    for k in (*ends, middle[1]) if len(ends) > 1 else ends:
        # What k bends is much the same for all μ, and needs a value between its ends at one of them only.
        rows += [(s, k, f, -1, False) for f in (factors if k in ends else (1.0,)) for s in durations]
        if k in ends:
            rows += [(middle[0], k, f, i, high) for f in widths for i in range(feet) for high in (False, True)]
    rows.append((*middle, 1.0, -1, False))
    duration, drive, factor, foot, high = (np.array(column) for column in zip(*rows, strict=True))
    return _Cases(duration, drive, factor, foot.astype(np.intp), high, (len(ends), len(widths)))


def _rebound(found: Array) -> tuple[list[Array], Array]:
    """Generators and points of outcomes (ends of k, ends of μ, feet, low and high, n) of feet that rebound alone.

    What a rebound changes depends on k and μ: the mean of its values at their ends is a generator, and so is what it
    varies by along k, along μ, and along both.
    """
    change = 0.5 * (found[:, :, :, 1] - found[:, :, :, 0])
    generators = [change]
    for axis in (0, 1):
        if found.shape[axis] > 1:  # two ends
            ends = [(part[:1], part[-1:]) if axis == 0 else (part[:, :1], part[:, -1:]) for part in generators]
            generators = [0.5 * (low + high) for low, high in ends] + [0.5 * (high - low) for low, high in ends]
    return [part[0, 0] for part in generators], (0.5 * (found[:, :, :, 0] + found[:, :, :, 1])).reshape(
        -1, found.shape[-1]
    )


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
        self._usual = 0.5 * (restitution[0] + restitution[1])
        self._scratch = landing_scratch(m, d, n)
        r = m * (1 + d)
        self._square, self._column = np.empty((r, r)), np.empty(r)
        named = np.arange(m) if feet is None else np.unique(feet, return_inverse=True)[1].reshape(m)
        self._on = named == np.arange(int(named.max(initial=-1)) + 1)[:, None]  # (feet, contacts)
        self.grouped = bool((self._on.sum(axis=1) > 1).any())
        self._table = _cases(terms, len(self._on))
        self._friction = self._table.factor[:, None] * friction
        self._plans: dict[bytes, _Plan] = {}

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
        lasting: bool = True, friction: tuple[Array, Array] | None = None,
    ) -> LandingPoints:  # fmt: skip
        """What the terms make of an impact.

        Args:
            mass … velocity: as of :meth:`solve`. hitting: (m,), the others stand.
            nominal: v⁺ (n,) of all contacts at once, inelastic, by the law of the samples.
            lasting: False leaves the duration out, where the torques are not known.
            friction: (low, high), each (m,), of μ; None for that of the terms.
        """
        w, m = 1 + self.d, hitting.size
        u = (rows @ velocity).reshape(m, w)
        approach = -np.minimum(u[:, 0], 0.0) * hitting
        plan = self._plan(hitting)
        left = np.zeros((plan.duration.size, m * w))
        left[:, ::w] = plan.rebound * approach
        found, pushes, residuals, status = self.solve(
            mass, bias, rows, velocity, plan.duration if lasting else np.zeros(len(left)), self._drives(mass, plan),
            plan.friction if friction is None else self._between(friction, plan), left,
        )  # fmt: skip
        usable = residuals <= _USABLE
        if not (usable[0] and usable[1] and usable[-1]):
            status = status if status == Status.SINGULAR else Status.INACCURATE
            none = found[:0]
            still = np.zeros(velocity.size)
            return LandingPoints(none, pushes[:0], none, still, still, status, float(residuals.max()))
        of_points, of_rebounds = plan.points, plan.rebounds
        if not usable.all():
            of_points, of_rebounds = self._made(plan.alone, plan.corners, usable)
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
            residual=float(residuals.max()),
        )

    def _made(self, alone: NDArray[np.intp], corners: NDArray[np.intp], usable: Flags) -> tuple[Array, Array]:
        """What points and the generators of rebounds are made of: (any, c) each, to be multiplied by the outcomes of
        the c cases. Those of cases that are not usable are left out."""
        each, ends_of = np.eye(usable.size), self._table.groups
        shape = *ends_of, alone.size // (2 * math.prod(ends_of)), 2
        known = usable[alone].reshape(shape).all(axis=(0, 1, 3))
        generators, between = _rebound(each[alone].reshape(*shape, usable.size)[:, :, known])
        return np.concatenate((each[-1:], each[corners[usable[corners]]], between)), np.concatenate(generators)

    def _drives(self, mass: Array, plan: _Plan) -> Array:
        """k (c, n) of the cases."""
        least, most = common_drives(self.terms, mass, self._driven)
        return joint_drives(least * plan.least + most * plan.most, mass, self._driven)

    def _plan(self, hitting: Flags) -> _Plan:
        """The cases for these hitting contacts; a robot's feet hit in few combinations."""
        key = hitting.tobytes()
        plan = self._plans.get(key)
        if plan is not None:
            return plan
        table = self._table
        struck = (self._on & hitting & (self._low < self._high)).any(axis=1)
        chosen = np.flatnonzero((table.foot < 0) | np.append(struck, False)[table.foot])
        foot = table.foot[chosen]
        rebound = np.tile(0.5 * (self._low + self._high), (chosen.size, 1))
        rebound[0], rebound[1] = self._usual, 0.0
        alone = np.flatnonzero(foot >= 0)
        ends = np.where(table.high[chosen[alone], None], self._high, self._low)
        rebound[alone] = np.where(self._on[foot[alone]], ends, rebound[alone])
        corners, drive = 2 + np.flatnonzero((foot < 0)[2:-1]), table.drive[chosen]
        part, factor = self.terms.friction, table.factor[chosen, None]
        plan = _Plan(
            duration=table.duration[chosen],
            least=np.where(drive < 0.0, 0.0, 1.0 - drive),
            most=np.maximum(drive, 0.0),
            friction=self._friction[chosen],
            share=0.5 + 0.5 * (factor - 1.0) / part if part > 0.0 else np.full(factor.shape, 0.5),
            rebound=rebound,
            alone=alone,
            corners=corners,
            hit=np.repeat(self._on & hitting, 1 + self.d, axis=1).astype(np.float64),
            points=np.empty((0, 0)),
            rebounds=np.empty((0, 0)),
        )
        made = self._made(alone, corners, np.ones(chosen.size, dtype=np.bool_))
        plan = plan._replace(points=made[0], rebounds=made[1])
        if len(self._plans) >= _PLANS:
            self._plans.clear()
        self._plans[key] = plan
        return plan

    def _between(self, friction: tuple[Array, Array], plan: _Plan) -> Array:
        """μ (c, m) of the cases, with intervals of each contact in the place of those of the terms."""
        found = friction[0] + plan.share * (friction[1] - friction[0])
        found[:2] = self._friction[:2]  # without these terms
        return np.asarray(found)

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
