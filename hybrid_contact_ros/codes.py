"""The integer codes that kernels, predictions and messages share. Nothing of the package stands below this file."""

from enum import IntEnum, IntFlag


class Status(IntEnum):
    """What a solver says of its answer. Kernels never raise: they return one of these codes and a residual.

    Attributes:
        NOT_RUN: the solver was not called.
        SOLVED: an answer was found that satisfies its conditions to the tolerance.
        STEP_LIMIT: the most steps that are allowed were taken, and a contact still approaches.
        PIVOT_LIMIT: Lemke's method took the most pivots that are allowed, and found no solution until then.
        RAY: Lemke's method ended on a ray, and found no solution from where it began.
        INACCURATE: an answer was found, but its residual is above the tolerance.
        SINGULAR: the matrix of this contact mode cannot be inverted.
        DEADLINE: the computation was stopped in time; what was found until then is valid.
        NONE_FOUND: no contact mode satisfies the conditions.
    """

    NOT_RUN = 0
    SOLVED = 1
    STEP_LIMIT = 2
    PIVOT_LIMIT = 3
    RAY = 4
    INACCURATE = 5
    SINGULAR = 6
    DEADLINE = 7
    NONE_FOUND = 8


class EventValidity(IntEnum):
    """Whether a predicted event has its maps; the values are those of ``EventSensitivity.msg``.

    The first eleven are the members of :class:`~hybrid_contact_ros.sensitivity.saltation.Validity` of the same name.

    Attributes:
        VALID: there is a saltation matrix.
        GRAZING: the event is met without speed.
        ZENO: there are infinitely many events.
        NOT_UNIQUE: forces or mode are not unique.
        SIMULTANEOUS: several events happen at one instant, and are no cluster of touchdowns.
        SPATIAL_SLIP_END: a slip in space ends in a way that is not attracted to one direction.
        WITHOUT_COLLISION: a sliding contact jams.
        SINGULAR: the equations before or after decide no motion.
        CAPPED: restitution is limited by the energy.
        NOT_TOUCHING: a contact does not reach its surface, or has left it.
        UNEXPLAINED: no impact or motion explains what comes after.
        CUT: there are more touchdowns in a cluster, or impacts in a word, than are followed.
        PENETRATING: a contact is deep in its surface already.
    """

    VALID = 0
    GRAZING = 1
    ZENO = 2
    NOT_UNIQUE = 3
    SIMULTANEOUS = 4
    SPATIAL_SLIP_END = 5
    WITHOUT_COLLISION = 6
    SINGULAR = 7
    CAPPED = 8
    NOT_TOUCHING = 9
    UNEXPLAINED = 10
    CUT = 11
    PENETRATING = 12


class ContactStatus(IntEnum):
    """What one contact does at one instant; the values are those of ``ContactState.msg``.

    Attributes:
        UNKNOWN: nothing is known of the contact, or its status changes at this instant.
        OPEN: the contact carries no force.
        STICKING: the contact is closed, and its point rests on the surface.
        SLIPPING: the contact is closed, and its point moves along the surface.
    """

    UNKNOWN = 0
    OPEN = 1
    STICKING = 2
    SLIPPING = 3


class FrictionState(IntEnum):
    """What one contact does within the mode solvers. The values are **not** those of :class:`ContactStatus`.

    The solvers keep SLIP apart from "is moving already": a contact at rest that starts to slide is SLIP too.

    Attributes:
        OPEN: the contact has no force.
        STICK: the contact's tangential velocity stays zero, with a force inside the friction cone.
        SLIP: the contact slides or starts to slide, with a force on the boundary of the friction cone.
    """

    OPEN = 0
    STICK = 1
    SLIP = 2


class LandingPhase(IntEnum):
    """Where a cluster of touchdowns stands; the values are those of ``PostImpactVelocitySet.msg``.

    Attributes:
        BEFORE: no contact of the cluster has touched yet.
        INCOMPLETE: some have touched, others are still to come.
        COMPLETE: all have touched.
    """

    BEFORE = 0
    INCOMPLETE = 1
    COMPLETE = 2


class EventKind(IntEnum):
    """What a contact does next, or has just done; the values are those of ``ContactEvent.msg``.

    Attributes:
        NONE: no event is predicted.
        TOUCHDOWN: an open contact closes.
        LIFTOFF: a closed contact opens.
        SLIP: a sticking contact starts to slide.
        STICK: a sliding contact comes to rest on the surface.
    """

    NONE = 0
    TOUCHDOWN = 1
    LIFTOFF = 2
    SLIP = 3
    STICK = 4


class Flag(IntEnum):
    """The answer to whether a property holds; the values are those of ``ConstraintStability.msg``.

    Attributes:
        UNDECIDED: the margin lies inside the dead band, or the data for an answer are missing.
        HOLDS: the property holds, by more than the dead band.
        FAILS: the property does not hold, by more than the dead band.
        CUT: not found within the work that a state of a robot of many contacts may take.
    """

    UNDECIDED = 0
    HOLDS = 1
    FAILS = 2
    CUT = 3


class Validity(IntFlag):
    """Which parts of a prediction may be used; the bits of ``ContactMode.validity``. A clear bit forbids the use.

    Attributes:
        STATE: the state was complete and finite.
        EFFORT: joint efforts were measured, on which the model's forces and the predicted liftoffs rest.
        MODE_UNIQUE: exactly one contact mode satisfies the complementarity conditions; this is proved without contact
            only.
        FORCE_ESTIMATE: the momentum observer has settled.
        BASE: a floating base was measured; the bit is always set for a fixed base.
        FORCES: the model's force of every contact satisfies the contact laws.
        SEQUENCE: the sequence of modes was followed to its end.
    """

    STATE = 1
    EFFORT = 2
    MODE_UNIQUE = 4
    FORCE_ESTIMATE = 8
    BASE = 16
    FORCES = 32
    SEQUENCE = 64


class Jamming(IntEnum):
    """What friction does to a sliding contact at its critical value (Painlevé's paradox).

    Attributes:
        FREE: the contact does not jam.
        HELD: the contact is taken as at rest, because the impact without collision that follows ends its slide.
        LOST: no bounded force satisfies the contact laws.
    """

    FREE = 0
    HELD = 1
    LOST = 2
