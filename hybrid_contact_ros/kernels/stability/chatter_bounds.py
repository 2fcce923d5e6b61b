"""Bounds of the end of bouncing that hold however the gap's acceleration varies within its uncertainty."""

from __future__ import annotations

import math

from hybrid_contact_ros.codes import Flag
from hybrid_contact_ros.kernels.compiling import kernel

_HOLDS = int(Flag.HOLDS)


@kernel
def chatter_bounds(
    # settings:
    sigmas,
    acceleration_sigma,
    margin,
    # state:
    gap,
    rate,
    gap_sigma,
    rate_sigma,
    acceleration,
    restitution,
    zeno,
    # out:
    bounds,
):
    """Bound the end of the bounces of each contact that is heading into chatter: the earliest and the latest.

    With φ, φ̇ and e in ranges now and φ̈(t) ∈ [−A, −a] from now on, a > 0 and e² A/a < 1, the bounces are over at the
    latest after each of

        (φ̇ + (c a − 1) √(φ̇² + 2 a φ)) / a   and   t₁ + e v₁ c,   c = 2 (1 + e) / (a (1 − e² A/a)),

    t₁ and v₁ the latest and the fastest first touchdown (Or (18), (19)), and at the earliest after the same with A and
    a exchanged (:mod:`hybrid_contact_ros.stability.inclusion`). All these are convex in φ̇, and rise with φ and e.

    Args:
        sigmas: half-width of the ranges, in standard deviations. acceleration_sigma: m/s². margin: half-width of e.
        gap: φ (m,), m. rate: φ̇ (m,), m/s. gap_sigma, rate_sigma: their standard deviations (m,).
        acceleration: φ̈ (m,), m/s². restitution: e (m,). zeno: (m,) uint8, values of Flag.
        bounds: out, (2, m), s from now: earliest and latest. NaN where the contact is not heading into chatter; the
            latest is ∞ where nothing bounds it.
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


@kernel
def _fall(height, speed, weight):
    """Time until a gap of ``height`` ≥ 0 that opens with ``speed`` and has φ̈ = −``weight`` closes.

    The second form has no cancellation when the gap is closing already.
    """
    root = math.sqrt(speed * speed + 2.0 * weight * height)
    if speed >= 0.0:
        return (speed + root) / weight
    return 2.0 * height / (root - speed)
