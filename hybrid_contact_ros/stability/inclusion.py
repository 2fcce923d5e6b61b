"""The set-valued bouncing ball: a gap with φ̈ anywhere in [−a_max, −a_min] that bounces with restitution (Or (7))."""

from __future__ import annotations

from dataclasses import dataclass
from math import inf, sqrt

_ROUNDING = 1e-12  # relative; every formula below has some twenty operations

Pair = tuple[float, float]


@dataclass(frozen=True, slots=True)
class Bounces:
    """What is known of all gaps that start at φ, φ̇ and obey φ̈ ∈ [−a_max, −a_min] between bounces.

    Attributes, each (lower, upper), times from now in s:
        first_impact: when the gap first closes (Or (18)). impact_speed: |φ̇| then, m/s (Or (19) and its mirror image).
        zeno_time: when all bounces are over.
        impulse: the sum of all jumps of φ̇, Σ (1 + e) |φ̇⁻|, m/s.
        peak: upper bound of φ, m. rise: of φ̇, m/s.
    """

    first_impact: Pair
    impact_speed: Pair
    zeno_time: Pair
    impulse: Pair
    peak: float
    rise: float


def decay(a_min: float, a_max: float) -> float:
    """γ = √(a_max / a_min): a bounce returns at most e γ times and at least e / γ times as fast (Or (6), (8))."""
    return sqrt(a_max / a_min) * (1.0 + _ROUNDING)


def bounces(height: float, speed: float, restitution: float, a_min: float, a_max: float) -> Bounces | None:
    """Bound the bouncing from φ = ``height`` ≥ 0 and φ̇ = ``speed``; None unless 0 < a_min ≤ a_max and e γ < 1 (Or (6)).

    For the Zeno time Or adds up the longest flights of the fastest bounces, 2 e |φ̇₁⁻| / (a_min (1 − e γ)) after the
    first impact. No ball does both. In the longest chatter the ball rises with a_min, and falls with a_min until some
    speed and then with a_max; with c the length of the chatter over the launch speed, Pontryagin's principle leaves
    k² (1 − e² γ²) = 2 k γ² (1 + e) for k = c a_max, and so

        c = 2 (1 + e) / (a_min (1 − e² γ²)),   longest (φ, φ̇) = (φ̇ + (c a_min − 1) √(φ̇² + 2 a_min φ)) / a_min.

    That is (1 + e) / (1 + e γ) of Or's bound. The same with a_min and a_max exchanged (γ and 1/γ) is the shortest. Both
    hold for every φ ≥ 0 and φ̇, are attained for φ = 0, φ̇ > 0, and agree with the geometric series where a_min = a_max.

    Args:
        height: φ, m. speed: φ̇, m/s. restitution: e. a_min, a_max: bounds of −φ̈, m/s².
    """
    if not (0.0 < a_min <= a_max < inf and height >= 0.0):
        return None
    e, gamma = restitution, decay(a_min, a_max)
    if not e * gamma < 1.0:
        return None
    up, down = max(speed, 0.0), min(speed, 0.0)
    first = _fall(height, speed, a_max), _fall(height, speed, a_min)
    slowest = sqrt(2.0 * height * a_min + (up / gamma) ** 2 + down**2)
    fastest = sqrt(2.0 * height * a_max + (up * gamma) ** 2 + down**2)
    long, short = _chatter(e, a_min, gamma), _chatter(e, a_max, 1.0 / gamma)
    zeno = (
        max(_whole(height, speed, a_max, short), first[0] + e * slowest * short),
        min(_whole(height, speed, a_min, long), first[1] + e * fastest * long),
    )
    impulse = (
        max((1.0 + e) * slowest / (1.0 - e / gamma), a_min * zeno[0] - speed),
        min((1.0 + e) * fastest / (1.0 - e * gamma), a_max * zeno[1] - speed),
    )
    rise = max(up, e * fastest)
    peak = max(height + up**2 / (2.0 * a_min), (e * fastest) ** 2 / (2.0 * a_min))
    pairs = (_wider(pair) for pair in (first, (slowest, fastest), zeno, impulse, (0.0, peak), (0.0, rise)))
    first, speeds, zeno, impulse, (_, peak), (_, rise) = pairs
    return Bounces(first, speeds, zeno, impulse, peak, rise)


def or_ames_zeno_time(impact_speed: float, restitution: float, a_min: float, a_max: float) -> float:
    """Or's own bound (13) of the time (s) from an impact at |φ̇⁻| until all bounces are over; it is never below ours."""
    return 2.0 * restitution * impact_speed / (a_min * (1.0 - restitution * decay(a_min, a_max)))


def _fall(height: float, speed: float, a: float) -> float:
    """Time until a gap with φ̈ = −a closes. The second form has no cancellation for a falling ball."""
    root = sqrt(speed**2 + 2.0 * a * height)
    return (speed + root) / a if speed >= 0.0 else 2.0 * height / (root - speed)


def _chatter(e: float, a: float, gamma: float) -> float:
    """c: duration of the chatter after a launch, over the launch speed."""
    return 2.0 * (1.0 + e) / (a * (1.0 - (e * gamma) ** 2))


def _whole(height: float, speed: float, a: float, c: float) -> float:
    """Duration of the chatter from (``height``, ``speed``), as the end of one that a launch from the ground began."""
    return (speed + (c * a - 1.0) * sqrt(speed**2 + 2.0 * a * height)) / a


def _wider(pair: Pair) -> Pair:
    """Bounds of a quantity ≥ 0 that include the rounding of their own formulas."""
    low, high = pair
    return max(0.0, low - _ROUNDING * abs(low)), high + _ROUNDING * abs(high)
