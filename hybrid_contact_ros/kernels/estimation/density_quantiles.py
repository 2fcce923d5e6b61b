"""Quantiles of what foretold times missed, with a prior, and the family of densities between five quantiles."""

from __future__ import annotations

import math

import numpy as np

from hybrid_contact_ros.kernels.compiling import kernel

LEVELS = (0.05, 0.25, 0.5, 0.75, 0.95)
"""Of the quantiles."""
LOGITS = tuple(math.log(p / (1.0 - p)) for p in LEVELS)
SECONDS = (0.005, 0.01, 0.02, 0.035, 0.05, 0.08)
"""Leads: how long before an event what was foretold of it is compared with it."""
LEADS = len(SECONDS)
CLASSES = 4
"""Touchdowns foretold by the state, and with the rhythm; liftoffs foretold by the state, and by the rhythm."""
KEPT = 32
"""Residuals of a class and lead that are remembered, of all contacts together."""
SPAN = 13
"""Points that a prior is spread over; an odd number, so that the median is one of them."""
# Quantiles of the residuals of each class before anything is known, in standard deviations; chosen on simulated
# recordings, with gaits, robots and grounds left out (docs/event_densities.md). The medians are what was foretold.
_PRIOR_QUANTILES = (
    (-3.0, -0.5, 0.0, 0.5, 4.0),
    (-1.2, -0.35, 0.0, 0.4, 1.6),
    (-4.0, -2.0, 0.0, 1.0, 9.0),
    (-1.6, -0.4, 0.0, 0.5, 1.6),
)
# As many residuals of the contact's own weigh as much as the prior; of touchdowns the prior counts for less and less.
_PRIOR_WEIGHT = 8.0
_OTHER = 0.5  # weight of another contact's residual
_FADING = 0.95  # of the weight of a residual, for each later one
_SHIFTED = 4.0  # residuals, with which the prior moves half way to their median
_APART = 1e-6  # s: quantiles that are nearer to each other count as this far apart


def _spread(quantiles: tuple[float, ...]) -> tuple[float, ...]:
    """The points of a prior, at equal steps of probability."""
    p = (np.arange(SPAN) + 0.5) / SPAN
    logit = np.log(p / (1.0 - p))
    piece = np.clip(np.searchsorted(LOGITS, logit, side="right") - 1, 0, 3)
    x, y = np.array(LOGITS), np.array(quantiles)
    return tuple((y[piece] + (logit - x[piece]) / np.diff(x)[piece] * np.diff(y)[piece]).tolist())


PRIORS = _PRIOR_QUANTILES
_POINTS = tuple(_spread(quantiles) for quantiles in PRIORS)
_WEIGHTS = tuple((_FADING**age, _OTHER * _FADING**age) for age in range(KEPT))


@kernel
def keep_residual(value, contact, values, origins, number):
    """Put a residual in its place among ``number`` that there were before; the oldest of KEPT goes.

    Args: values: in and out (KEPT,), rising. origins: in and out (KEPT, 2), contact and number.
    """
    n = min(number, KEPT)
    if n == KEPT:
        oldest = 0
        while origins[oldest, 1] != number - KEPT:
            oldest += 1
        for k in range(oldest, KEPT - 1):
            values[k] = values[k + 1]
            origins[k, 0], origins[k, 1] = origins[k + 1, 0], origins[k + 1, 1]
        n -= 1
    k = n
    while k > 0 and values[k - 1] > value:
        values[k] = values[k - 1]
        origins[k, 0], origins[k, 1] = origins[k - 1, 0], origins[k - 1, 1]
        k -= 1
    values[k] = value
    origins[k, 0], origins[k, 1] = contact, number


@kernel
def residual_quantiles(code, contact, values, origins, number, work, out):
    """The quantiles (5,) of the residuals of a class and lead for one contact, with those of the prior.

    Args:
        values, origins, number: as of :func:`keep_residual`, of the residuals there are. work: (2, KEPT + SPAN).

    Returns:
        The weight of the residuals; one of the contact's own that is new weighs 1.
    """
    n = min(number, KEPT)
    if n == 0:
        for k in range(5):
            out[k] = PRIORS[code][k]
        return 0.0
    mass = 0.0
    for k in range(n):
        own = 0 if origins[k, 0] == contact else 1
        work[0, k] = values[k]
        work[1, k] = _WEIGHTS[number - 1 - origins[k, 1]][own]
        mass += work[1, k]
    shift, weight = _level(0.5, n, mass, work) * mass / (mass + _SHIFTED), _PRIOR_WEIGHT
    if code < 2:  # Detections date touchdowns well, and liftoffs not well enough to leave the prior for them.
        weight *= _PRIOR_WEIGHT / (_PRIOR_WEIGHT + mass)
    # Merge the points of the prior, from behind.
    at, point = n - 1, SPAN - 1
    for k in range(n + SPAN - 1, -1, -1):
        if point < 0 or (at >= 0 and work[0, at] > _POINTS[code][point] + shift):
            work[0, k], work[1, k] = work[0, at], work[1, at]
            at -= 1
        else:
            work[0, k], work[1, k] = _POINTS[code][point] + shift, weight / SPAN
            point -= 1
    for k in range(5):
        out[k] = _level(LEVELS[k], n + SPAN, mass + weight, work)
    return mass


@kernel
def _level(level, n, mass, work):
    """The quantile of n weighted values, rising, in ``work``: linear between the middles of their weights."""
    target, passed, middle = level * mass, 0.0, 0.0
    for k in range(n):
        before = middle
        middle = passed + 0.5 * work[1, k]
        if middle >= target:
            if k == 0:
                return work[0, 0]
            return work[0, k - 1] + (target - before) / (middle - before) * (work[0, k] - work[0, k - 1])
        passed += work[1, k]
    return work[0, n - 1]


@kernel
def logistic_cdf(time, quantiles):
    """The distribution function at a time (s), whose logit is piecewise linear between quantiles (5,), s, and goes on
    beyond; of the same family as :class:`hybrid_contact_ros.time_density.TimeDensity`."""
    k = 0
    while k < 3 and quantiles[k + 1] <= time:
        k += 1
    slope = (LOGITS[k + 1] - LOGITS[k]) / max(quantiles[k + 1] - quantiles[k], _APART)
    logit = LOGITS[k] + slope * (time - quantiles[k])
    return 1.0 / (1.0 + math.exp(-min(max(logit, -700.0), 700.0)))


@kernel
def logistic_quantile(logit, quantiles):
    """The time at which the distribution function has this logit; inverse of :func:`logistic_cdf`."""
    k = 0
    while k < 3 and LOGITS[k + 1] <= logit:
        k += 1
    return quantiles[k] + (logit - LOGITS[k]) / (LOGITS[k + 1] - LOGITS[k]) * (quantiles[k + 1] - quantiles[k])


@kernel
def bound_logit(sigmas):
    """The logit of the share of a normal density below ``sigmas`` standard deviations above its mean."""
    above = 0.5 * math.erfc(sigmas / math.sqrt(2.0))
    return math.log((1.0 - above) / max(above, 1e-300))
