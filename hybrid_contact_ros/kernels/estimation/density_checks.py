"""Whether densities of times can be believed: where in them the last events were (docs/event_densities.md).

The transform of an event is the probability that its density gave to all times before it. Transforms of good densities
are uniform, and none tells anything of those after it (Diebold, Gunther and Tay 1998).
"""

from __future__ import annotations

from hybrid_contact_ros.kernels.compiling import kernel
from hybrid_contact_ros.kernels.estimation.density_quantiles import LEVELS

CHECKED = 64
"""Transforms of a class and lead that are remembered."""
BOUNDS, DENSITY = 1, 2
"""Bits: the rule of bounds holds, and that of whole densities."""
_LAST, _UNIFORM = 32, 0.15  # events, and how far they may be from uniform at any of the five levels
_UNIFORM_EVERYWHERE = 0.12
# Correlation of transforms: where errors follow each other, densities are right on the whole only.
_DEPENDENT = 0.3
_BETWEEN = 2  # events: two feet may land together, and share their error


@kernel
def rules_that_hold(number, transforms):
    """Which rules hold for the transforms (CHECKED,), a ring that ``number`` was written to last.

    The rule of bounds: of the last 32 events no more than a part is apart from a uniform distribution at any of the
    five levels. That of densities: so are the last CHECKED events, at all levels, and none tells much of those after.
    """
    if number + 1 < _LAST:
        return 0
    for k in range(5):
        below = 0
        for j in range(_LAST):
            below += 1 if transforms[(number - j) % CHECKED] <= LEVELS[k] else 0
        if abs(below / _LAST - LEVELS[k]) > _UNIFORM:
            return 0
    if number + 1 < CHECKED or _distance(transforms) > _UNIFORM_EVERYWHERE:
        return BOUNDS
    return BOUNDS | DENSITY if _dependence(number, transforms) <= _DEPENDENT else BOUNDS


@kernel
def _dependence(number, transforms):
    """Correlation of transforms (n,), a ring that ``number`` was written to last, with those of two events before."""
    n = transforms.shape[0]
    squares = products = 0.0
    for k in range(n):
        apart = transforms[(number - k) % n] - 0.5
        squares += apart * apart
        if k + _BETWEEN < n:
            products += apart * (transforms[(number - k - _BETWEEN) % n] - 0.5)
    return products / max(squares, 1e-9)


@kernel
def _distance(transforms):
    """Largest distance of the distribution of transforms (n,) from a uniform one (Kolmogorov and Smirnov)."""
    n, apart = transforms.shape[0], 0.0
    for j in range(n):
        below = at_most = 0
        for k in range(n):
            below += 1 if transforms[k] < transforms[j] else 0
            at_most += 1 if transforms[k] <= transforms[j] else 0
        apart = max(apart, at_most / n - transforms[j], transforms[j] - below / n)
    return apart
