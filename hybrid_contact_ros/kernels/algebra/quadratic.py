"""Roots of parabolas in time: when a gap under a constant acceleration closes."""

from __future__ import annotations

import math

from hybrid_contact_ros.kernels.compiling import kernel


@kernel
def first_root(gap, rate, acceleration):
    """Return the least t ≥ 0 (s) with gap + rate t + ½ acceleration t² ≤ 0, or infinity if there is none.

    The formula is stable where the acceleration or the rate vanishes. A gap that is zero or negative touches now if it
    does not grow; if it grows, the time of its return is sought.

    Args:
        gap: m. rate: m/s. acceleration: m/s².
    """
    if gap <= 0.0:
        if rate < 0.0 or (rate == 0.0 and acceleration <= 0.0):
            return 0.0
        if acceleration >= 0.0:
            return math.inf
        return -2.0 * rate / acceleration
    discriminant = rate * rate - 2.0 * acceleration * gap
    if discriminant < 0.0:
        return math.inf
    # t = 2 gap / (−rate + √(rate² − 2 acceleration gap)): the least positive root, without cancellation or division by
    # a vanishing acceleration
    denominator = -rate + math.sqrt(discriminant)
    if denominator <= 0.0:
        return math.inf
    return 2.0 * gap / denominator
