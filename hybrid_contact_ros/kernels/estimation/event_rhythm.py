"""How an event that the rhythm of a gait foretells is brought together with what the state foretells.

An estimate of a time is an array (3,): time, earliest, latest, in s from now; infinite where there is none.
"""

from __future__ import annotations

import math

from hybrid_contact_ros.kernels.compiling import kernel

# An event that is due is expected at this part of the time until its latest. The median of a normal deviate that has
# not come by its mean is at 0.34 of two standard deviations; gaits that jitter only now and then have it nearer.
_MEDIAN = 0.25
# An extrapolation without a latest time counts as if its bounds were this much wider than the time from its earliest.
_OPEN_ENDED = 4.0
# Bounds (s) of the rhythm that are wider than this count for less than they say: where steps differ by as much (uneven
# ground) the state is a better guide than its own uncertainty would have it.
_STEADY = 0.03


@kernel
def not_yet(expected, out):
    """The estimate of an event that the rhythm foretells and that has not come: times before now are excluded.

    Args:
        expected: (3,), bounds at two standard deviations; its times may be in the past (negative).
        out: (3,), the same, none of them negative; all infinite where nothing is foretold or the latest is in the past.
    """
    if not 0.0 <= expected[2] < math.inf:
        out[:] = math.inf
        return
    out[0] = max(expected[0], _MEDIAN * expected[2])
    out[1] = max(expected[1], 0.0)
    out[2] = expected[2]


@kernel
def agree(rhythm, found):
    """Two estimates of one time made one, weighted by inverse variances (squares of the widths of their bounds).

    The bounds of the result are no narrower than the narrower of the two, and wider by what the estimates differ:
    nothing says that their errors are independent, or without bias. A rhythm whose bounds are wider than 30 ms counts
    for less.

    Args:
        rhythm: (3,).
        found: in and out (3,). It stays where ``rhythm`` is infinite, and where their bounds do not overlap; it becomes
            ``rhythm`` where it is infinite.

    Returns:
        Whether the result is ``rhythm`` alone.
    """
    if math.isinf(rhythm[0]):
        return False
    if math.isinf(found[0]):
        for k in range(3):
            found[k] = rhythm[k]
        return True
    if not (rhythm[1] <= found[2] and found[1] <= rhythm[2]):
        return False
    width, rhythm_width = found[2] - found[1], rhythm[2] - rhythm[1]
    open_ended = math.isinf(width)
    if open_ended:
        width = _OPEN_ENDED * (found[0] - found[1])  # it may not happen by itself, but the rhythm says that it does
    rhythm_width *= max(1.0, rhythm_width / _STEADY)
    total = width * width + rhythm_width * rhythm_width
    if total <= 0.0:
        return False
    share = width * width / total  # of the rhythm: the wider the bounds that were found, the more it counts
    half = 0.5 * (width + share * (rhythm_width - width))
    apart = rhythm[0] - found[0]
    half = math.sqrt(half * half + share * (1.0 - share) * apart * apart)
    found[0] += share * apart
    found[1] = max(found[0] - half, 0.0)
    found[2] = max(found[0] + half, rhythm[2]) if open_ended else found[0] + half
    return False
