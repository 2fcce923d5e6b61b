"""Whether states before one did not come: lost on the way, passed over on a busy computer, or never made.

What a sensor said meanwhile is not known then, and a mean of the two ends is not what it was. Nor is it certain that
the time has passed: the stamps of a simulator that is late leap. Streams are slow or quick, and what is missing is told
by the stream's own pace.
"""

from __future__ import annotations

from hybrid_contact_ros.kernels.compiling import kernel

_LEAST, _TIMES = 0.01, 3.0  # s, and usual times between states, after which some are missing
_NEWEST = 0.02  # part of the usual time that a new one replaces


@kernel
def are_missing(dt, usual):
    """Whether states are missing in a step of ``dt`` s of a stream whose steps usually are ``usual`` s long (0: not
    known).

    Example:
        >>> are_missing(0.05, 0.002), are_missing(0.008, 0.002), are_missing(0.05, 0.02), are_missing(0.05, 0.0)
        (True, False, False, False)
    """
    return usual > 0.0 and dt > max(_LEAST, _TIMES * usual)


@kernel
def usual_step(dt, usual):
    """The usual time between states, s, after one that came ``dt`` s after the one before.

    Example:
        >>> round(usual_step(0.012, 0.002), 6), usual_step(0.002, 0.0)
        (0.0022, 0.002)
    """
    return dt if usual == 0.0 else usual + _NEWEST * (dt - usual)
