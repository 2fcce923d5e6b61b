"""The cases of the law of landings that make a set: which they are, and what points and generators are made of them."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from hybrid_contact_ros.impacts.landing_model import LandingTerms

Array = NDArray[np.float64]
Flags = NDArray[np.bool_]

_FRICTIONS = 5
"""Values of μ between its ends: from sticking to sliding an outcome bends, and the ends alone leave out what lies
between."""
_PLANS = 64  # combinations of hitting contacts that are remembered


class _Cases(NamedTuple):
    """The cases of the law that make a set: without the terms but with restitution, and without that, too; corners and
    rebounds of single feet; the middle."""

    duration: Array  # s (c,)
    drive: Array  # where k is between its ends (c,), 0 to 1; −1: k is 0
    factor: Array  # (c,), of μ
    foot: NDArray[np.intp]  # (c,), whose rebound is at an end; −1: of none
    high: Flags  # (c,), which end
    groups: tuple[int, int]  # values of k, and of μ, at which rebounds are looked at


class Plan(NamedTuple):
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
    points: Array  # (any, c), what points are made of (LandingPlans.made)
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


class LandingPlans:
    """The cases for each choice of hitting contacts.

    Args:
        terms: what is not known. on: (feet, m), which contacts each foot has. friction: μ (m,).
        low, high, usual: (m,), ends of the restitution of contacts that hit, and what it is without these terms.
        d: tangents.
    """

    def __init__(
        self, terms: LandingTerms, on: Flags, friction: Array, low: Array, high: Array, usual: Array, d: int
    ) -> None:
        self._terms, self._on, self._low, self._high, self._usual, self._d = terms, on, low, high, usual, d
        self._table = _cases(terms, len(on))
        self._friction = self._table.factor[:, None] * friction
        self._plans: dict[bytes, Plan] = {}

    def of(self, hitting: Flags) -> Plan:
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
        part, factor = self._terms.friction, table.factor[chosen, None]
        plan = Plan(
            duration=table.duration[chosen],
            least=np.where(drive < 0.0, 0.0, 1.0 - drive),
            most=np.maximum(drive, 0.0),
            friction=self._friction[chosen],
            share=0.5 + 0.5 * (factor - 1.0) / part if part > 0.0 else np.full(factor.shape, 0.5),
            rebound=rebound,
            alone=alone,
            corners=corners,
            hit=np.repeat(self._on & hitting, 1 + self._d, axis=1).astype(np.float64),
            points=np.empty((0, 0)),
            rebounds=np.empty((0, 0)),
        )
        made = self.made(alone, corners, np.ones(chosen.size, dtype=np.bool_))
        plan = plan._replace(points=made[0], rebounds=made[1])
        if len(self._plans) >= _PLANS:
            self._plans.clear()
        self._plans[key] = plan
        return plan

    def made(self, alone: NDArray[np.intp], corners: NDArray[np.intp], usable: Flags) -> tuple[Array, Array]:
        """What points and the generators of rebounds are made of: (any, c) each, to be multiplied by the outcomes of
        the c cases. Those of cases that are not usable are left out."""
        each, ends_of = np.eye(usable.size), self._table.groups
        shape = *ends_of, alone.size // (2 * math.prod(ends_of)), 2
        known = usable[alone].reshape(shape).all(axis=(0, 1, 3))
        generators, between = _rebound(each[alone].reshape(*shape, usable.size)[:, :, known])
        return np.concatenate((each[-1:], each[corners[usable[corners]]], between)), np.concatenate(generators)

    def between(self, friction: tuple[Array, Array], plan: Plan) -> Array:
        """μ (c, m) of the cases, with intervals of each contact in the place of those of the terms."""
        found = friction[0] + plan.share * (friction[1] - friction[0])
        found[:2] = self._friction[:2]  # without these terms
        return np.asarray(found)
