"""The integer codes that kernels, predictions and messages share. Nothing of the package stands below this file."""

from enum import IntEnum, IntFlag


class Status(IntEnum):
    """What a kernel says of its answer. Kernels never raise: they return one of these and a residual."""

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


class ContactStatus(IntEnum):
    """Of one contact; the values of ``ContactState.msg``."""

    UNKNOWN = 0
    OPEN = 1
    STICKING = 2
    SLIPPING = 3


class EventKind(IntEnum):
    """What a contact does next; the values of ``ContactEvent.msg``."""

    NONE = 0
    TOUCHDOWN = 1
    LIFTOFF = 2
    SLIP = 3
    STICK = 4


class Flag(IntEnum):
    """A tri-state answer; the values of ``ConstraintStability.msg``."""

    UNDECIDED = 0
    HOLDS = 1
    FAILS = 2


class Validity(IntFlag):
    """Which parts of a prediction may be used; the bits of ``ContactMode.validity``."""

    STATE = 1
    EFFORT = 2
    MODE_UNIQUE = 4
    FORCE_ESTIMATE = 8
    BASE = 16
    FORCES = 32
    SEQUENCE = 64


class Jamming(IntEnum):
    """What friction does to a sliding contact at its critical value (Painlevé's paradox)."""

    FREE = 0
    HELD = 1
    """The contact is taken as at rest, because the impact without collision that follows ends its slide."""
    LOST = 2
    """No bounded force satisfies the contact laws."""
