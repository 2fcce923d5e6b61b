"""Neighbourhoods U ⊃ V ⊃ W′, W of a Zeno equilibrium, as Or constructs them (section III.B), with safe constants."""

from __future__ import annotations

from dataclasses import dataclass
from math import inf, sqrt

import numpy as np
from numpy.typing import NDArray

from hybrid_contact_ros.stability.inclusion import decay
from hybrid_contact_ros.stability.intervals import Interval
from hybrid_contact_ros.stability.ranges import RangeFinder, Ranges

Array = NDArray[np.float64]

_SCALES = (1.0, 0.7, 0.5, 0.35, 0.25, 0.15, 0.1, 0.05, 0.02, 0.01, 1e-3)  # of V, over U


@dataclass(frozen=True, slots=True)
class Constants:
    """The constants of Or (6) and (10) over V = N(ε'_q, ε'_v): bounds, not the exact extremes (Or, section V.B).

    Attributes:
        a_min, a_max: bounds of −φ̈, m/s². gamma: √(a_max / a_min). beta: ≥ ‖v‖. zeta: ≥ ‖v̇‖.
        eta: ≥ ‖M⁻¹J_nᵀ‖ / (J_n M⁻¹ J_nᵀ). (Or (10) prints M for M⁻¹ in the denominator; Or (4) shows what is meant.)
    """

    a_min: float
    a_max: float
    gamma: float
    beta: float
    eta: float
    zeta: float

    def impact_speeds(
        self, e: float, epsilon_t: float, q_room: float, v_room: float, extra: float = 0.0
    ) -> tuple[float, float, float]:
        """κ1, κ2 and κ3 of Or (12), impact speeds in m/s.

        The bounces after an impact that is slower than all three end within ``epsilon_t`` (s), and move q and v by no
        more than ``q_room`` and ``v_room``. ``extra`` is added to the denominator of κ3, as Or (24) does.
        """
        left = 1.0 - e * self.gamma
        if not (self.a_min > 0.0 and left > 0.0):
            return 0.0, 0.0, 0.0
        spend = (1.0 + e) * self.eta / left + extra
        if e == 0.0:
            return inf, inf, v_room / spend
        per_time = self.a_min * left / (2.0 * e)
        return per_time * epsilon_t, per_time * q_room / self.beta, v_room / (spend + self.zeta / per_time)


@dataclass(frozen=True, slots=True)
class Neighbourhoods:
    """Sets N(r_q, r_v) = {‖q − q*‖ < r_q, ‖v − v*‖ < r_v, φ ≥ 0} about a Zeno equilibrium (q*, v*).

    Every execution from W is Zeno, stays in V ⊂ U, impacts first in W′, and ends within ``epsilon_t`` (Or, Theorem 2).

    Attributes, the sets as pairs (r_q, r_v):
        U: as asked for. V: where Or (6) holds. first_impacts: W′, with impacts slower than ``impact_speed`` (m/s). W.
        epsilon_t: s. constants: over V.
    """

    U: tuple[float, float]
    V: tuple[float, float]
    first_impacts: tuple[float, float]
    impact_speed: float
    W: tuple[float, float]
    epsilon_t: float
    constants: Constants


def constants(ranges: Ranges, speed: float, epsilon_v: float) -> Constants:
    """The constants from ranges over a box that contains V; ``speed`` is ‖v*‖."""
    a_min, a_max = -float(ranges.gap_acceleration.hi), -float(ranges.gap_acceleration.lo)
    return Constants(
        a_min,
        a_max,
        decay(a_min, a_max) if a_min > 0.0 else inf,
        speed + epsilon_v,
        float(np.linalg.norm(ranges.direction.magnitude())) * (1.0 + 1e-12),
        float(np.linalg.norm(ranges.free.magnitude())) * (1.0 + 1e-12),
    )


@np.errstate(all="ignore")  # what overflows is infinite or not a number, and bounds nothing
def truncation_speed(
    find: RangeFinder, q: Array, v: Array, normal: Array, e: float, epsilon_q: float, epsilon_v: float, epsilon_t: float
) -> float:
    """The impact speed (m/s) below which an impact at the equilibrium (q, v) may be truncated by Or's Definition 6.

    It is Or (24) with ε'_q = ε_q and ε'_v = ε_v, and 0 where Or (23 i) or (6) fails. ``normal`` is J_n (n,) there.
    :func:`~hybrid_contact_ros.stability.truncation.reliable_truncation` allows faster ones; this is for comparison.
    """
    ranges = find(_ball(q, v, epsilon_q, epsilon_v))
    if ranges is None or not ranges.others > 0.0 or not ranges.held > 0.0:
        return 0.0
    found = constants(ranges, float(np.linalg.norm(v)), epsilon_v)
    return min(found.impact_speeds(e, epsilon_t, epsilon_q, epsilon_v, 1.0 / float(np.linalg.norm(normal))))


@np.errstate(all="ignore")
def neighbourhoods(
    find: RangeFinder, q: Array, v: Array, e: float, epsilon_q: float, epsilon_v: float, epsilon_t: float
) -> Neighbourhoods | None:
    """Construct V, W′ and W for U = N(ε_q, ε_v) about the Zeno equilibrium (q, v), by Or (6), (11), (12) and (16).

    Or leaves the choice of the radii open. Here V is U scaled by a factor, W′ has half of the radii of V, each phase
    has half of ε_t, and W allows speeds up to some fraction of those of W′, and as much height as they climb. Of
    several factors for V the one with the fastest W is taken. In Or (16 i) the square root is that of (18), v₀² + 2
    a_min h₀.

    Returns:
        None where no V that was tried satisfies Or (6) without another contact in reach, as where φ̈ ≥ 0 or e = 1.
    """
    best: Neighbourhoods | None = None
    for scale in _SCALES:
        if best is not None and scale * epsilon_v < best.W[1]:
            break
        radii = scale * epsilon_q, scale * epsilon_v
        ranges = find(_ball(q, v, *radii))
        if ranges is None or not ranges.others > 0.0 or not ranges.held > 0.0:
            continue
        found = constants(ranges, float(np.linalg.norm(v)), radii[1])
        half = 0.5 * radii[0], 0.5 * radii[1]
        slowest = min(found.impact_speeds(e, 0.5 * epsilon_t, *half))
        if not slowest > 0.0:
            continue
        low, high = 0.0, 2.0
        inner = 0.0, 0.0
        for _ in range(12):
            middle = 0.5 * (low + high)
            # Of the speed of the slowest impact, and of the height from which it falls.
            trial = min(half[0], (middle * slowest) ** 2 / found.a_max), min(half[1], middle * slowest)
            if _leads_to(find, q, v, found, half, trial, slowest, 0.5 * epsilon_t):
                low, inner = middle, trial
            else:
                high = middle
        if low > 0.0 and (best is None or inner[1] > best.W[1]):
            best = Neighbourhoods((epsilon_q, epsilon_v), radii, half, slowest, inner, epsilon_t, found)
    return best


def _leads_to(
    find: RangeFinder,
    q: Array,
    v: Array,
    c: Constants,
    outer: tuple[float, float],
    inner: tuple[float, float],
    slowest: float,
    epsilon_t: float,
) -> bool:
    """Whether from N(``inner``) the first impact comes within ``epsilon_t``, in N(``outer``), slower than ``slowest``.

    This is Or (16).
    """
    found = find.gaps(_ball(q, v, *inner))
    if found is None:
        return False
    gap, gap_velocity = found
    height, rate, fastest = max(0.0, float(gap.hi)), float(gap_velocity.hi), float(gap_velocity.magnitude())
    flight = (rate + sqrt(rate**2 + 2.0 * c.a_min * height)) / c.a_min
    room = min((outer[0] - inner[0]) / c.beta, (outer[1] - inner[1]) / c.zeta, epsilon_t)
    return flight < room and (2.0 * height + fastest**2 / c.a_min) * c.a_max < slowest**2


def _ball(q: Array, v: Array, q_radius: float, v_radius: float) -> Interval:
    """The box around a ball of (q, v): a superset, so that bounds over it are safe."""
    centre = np.concatenate([q, v])
    return Interval.of(centre).widened(np.repeat([q_radius, v_radius], q.size))
