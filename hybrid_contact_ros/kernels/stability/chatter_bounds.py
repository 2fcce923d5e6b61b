"""When bouncing ends, with bounds that hold for every course of the gap's acceleration within its uncertainty."""

from __future__ import annotations

import math

from numba import njit

_HOLDS = 1


@njit(cache=True, nogil=True)
def chatter_bounds(
    sigmas, acceleration_sigma, margin, gap, rate, gap_sigma, rate_sigma, acceleration, restitution, zeno, bounds
):
    """Earliest and latest end of the bounces of each contact that is heading into chatter.

    With φ, φ̇ and e in ranges now and φ̈(t) ∈ [−A, −a] from now on, a > 0 and e² A/a < 1, the bounces are over at the
    latest after each of

        (φ̇ + (c a − 1) √(φ̇² + 2 a φ)) / a   and   t₁ + e v₁ c,   c = 2 (1 + e) / (a (1 − e² A/a)),

    t₁ and v₁ the latest and the fastest first touchdown (O 18, 19), and at the earliest after the same with A and a
    exchanged (:mod:`hybrid_contact_ros.stability.inclusion`). All are convex in φ̇, and rise with φ and e.

    Args:
        sigmas: half-width of the ranges in standard deviations: gap_sigma (m,), rate_sigma (m,), acceleration_sigma.
        margin: of restitution. gap, rate, acceleration, restitution: (m,). zeno: flags (m,).
        bounds: out (2, m), s; NaN where the contact is not heading into chatter, latest ∞ where nothing bounds it.
    """
    for i in range(gap.shape[0]):
        bounds[0, i] = math.nan
        bounds[1, i] = math.nan
        if zeno[i] != _HOLDS:
            continue
        spread = sigmas * acceleration_sigma
        fast = -acceleration[i] + spread  # A
        slow = -acceleration[i] - spread  # a
        low = max(gap[i] - sigmas * gap_sigma[i], 0.0)
        high = max(gap[i] + sigmas * gap_sigma[i], 0.0)
        least = rate[i] - sigmas * rate_sigma[i]
        most = rate[i] + sigmas * rate_sigma[i]
        e_low = max(restitution[i] - margin, 0.0)
        e_high = min(restitution[i] + margin, 1.0)
        ratio = max(slow, 0.0) / fast
        scale = 2.0 * (1.0 + e_low) / (1.0 - e_low * e_low * ratio)  # c A
        reach = scale - 1.0
        soonest = least
        if reach > 1.0:
            soonest = min(max(-math.sqrt(2.0 * fast * low / (reach * reach - 1.0)), least), most)
        whole = (soonest + reach * math.sqrt(soonest * soonest + 2.0 * fast * low)) / fast
        square = 2.0 * max(slow, 0.0) * low + min(most, 0.0) ** 2 + ratio * max(least, 0.0) ** 2
        bounds[0, i] = max(whole, _fall(low, least, fast) + e_low * math.sqrt(square) * scale / fast)
        bounds[1, i] = math.inf
        if e_high * e_high < ratio:
            scale = 2.0 * (1.0 + e_high) / (1.0 - e_high * e_high / ratio)
            reach = scale - 1.0
            whole = (least + reach * math.sqrt(least * least + 2.0 * slow * high)) / slow
            whole = max(whole, (most + reach * math.sqrt(most * most + 2.0 * slow * high)) / slow)
            square = 2.0 * fast * high + max(min(least, 0.0) ** 2, max(most, 0.0) ** 2 / ratio)
            bounds[1, i] = min(whole, _fall(high, most, slow) + e_high * math.sqrt(square) * scale / slow)


@njit(cache=True, nogil=True)
def _fall(height, speed, weight):
    """Time until a ball at ``height`` ≥ 0 with upward ``speed`` is at 0; without cancellation when it falls."""
    root = math.sqrt(speed * speed + 2.0 * weight * height)
    if speed >= 0.0:
        return (speed + root) / weight
    return 2.0 * height / (root - speed)
