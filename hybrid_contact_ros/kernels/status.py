"""What a kernel says of its answer. Kernels never raise: they return one of these and a residual."""

from enum import IntEnum


class Status(IntEnum):
    """Outcome of a solve."""

    NOT_RUN = 0
    SOLVED = 1
    STEP_LIMIT = 2
    """Sampling stopped at the most steps allowed, with a contact still approaching."""
    PIVOT_LIMIT = 3
    RAY = 4
    """Lemke's method ended on a ray: no solution was found from here."""
    INACCURATE = 5
    """An answer was found, but its residual is above the tolerance."""
    SINGULAR = 6
    """The matrix of this contact mode cannot be inverted."""
    DEADLINE = 7
    """Stopped in time; what was found so far is valid."""
    NONE_FOUND = 8
    """No contact mode satisfies the conditions."""
