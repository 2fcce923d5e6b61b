"""Roots of parabolas in time, as gaps under a constant acceleration are."""

from __future__ import annotations

import math

from numba import njit


@njit(cache=True, nogil=True)
def first_root(gap, rate, acceleration):
    """Least t ≥ 0 with gap + rate t + ½ acceleration t² ≤ 0 (s), or infinity if there is none.

    Stable where the acceleration or the rate vanish. A gap that is zero or negative touches now if it is not growing;
    if it grows, the search is for its return.
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
