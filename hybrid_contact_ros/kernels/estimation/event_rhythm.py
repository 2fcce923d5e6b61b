"""What the rhythm of a gait foretells of an event, brought together with what the state does."""

from __future__ import annotations

import math

from numba import njit

# Of the latest time of an event that is due, when it is expected. The median of a normal deviate that has not come by
# its mean is at 0.34 of two standard deviations; gaits that jitter now and then have their middle nearer.
_MEDIAN = 0.25
# An extrapolation without a latest time counts as if its bounds were this much wider than the way to its earliest.
_OPEN = 4.0
# Width (s) of the rhythm's bounds beyond which it counts for less than they say: where steps differ by as much (uneven
# ground) the state is a better guide than its own uncertainty would have it.
_STEADY = 0.03


@njit(cache=True, nogil=True)
def not_yet(expected, out):
    """An event that the rhythm foretells and that has not come: nothing before now is left of its bounds.

    Args:
        expected: (3,), time, earliest, latest, s, about the time at two standard deviations; times may be gone by.
        out: (3,), the same, none of them negative; all infinite where nothing is foretold or the latest is gone by.
    """
    if not 0.0 <= expected[2] < math.inf:
        out[:] = math.inf
        return
    out[0] = max(expected[0], _MEDIAN * expected[2])
    out[1] = max(expected[1], 0.0)
    out[2] = expected[2]


@njit(cache=True, nogil=True)
def agree(other, found):
    """Two estimates of one time made one, weighted by inverse variances (squares of their bounds' widths).

    The other is the rhythm's; where its bounds are wider than 30 ms it counts for less. The bounds are no narrower than
    the narrower, and wider by what the estimates differ: nothing says that their errors are independent, or without
    bias.

    Args:
        other, found: (3,), time, earliest, latest, s. ``found`` is overwritten. It stays where the other is infinite,
            and where their bounds do not overlap; it becomes the other where it is infinite.

    Returns:
        Whether there is nothing but the other.
    """
    if math.isinf(other[0]):
        return False
    if math.isinf(found[0]):
        found[:] = other
        return True
    if not (other[1] <= found[2] and found[1] <= other[2]):
        return False
    width, far = found[2] - found[1], other[2] - other[1]
    open_end = math.isinf(width)
    if open_end:
        width = _OPEN * (found[0] - found[1])  # it may not happen by itself, but the other says that it does
    far *= max(1.0, far / _STEADY)
    total = width * width + far * far
    if total <= 0.0:
        return False
    share = width * width / total  # of the other: the wider the bounds that were found, the more it counts
    half = 0.5 * (width + share * (far - width))
    apart = other[0] - found[0]
    half = math.sqrt(half * half + share * (1.0 - share) * apart * apart)
    found[0] += share * apart
    found[1] = max(found[0] - half, 0.0)
    found[2] = max(found[0] + half, other[2]) if open_end else found[0] + half
    return False
