"""The state of a robot at one instant, in Pinocchio's coordinates."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from hybrid_contact_ros.mechanics.commands import JointCommand
from hybrid_contact_ros.mechanics.sensors import CommandedContacts, ContactForces, ContactReadings, ImuMeasurement

Vector = NDArray[np.float64]
LAST_STAMP = 2**62
"""ns; stamps are between minus this and this: differences of two are 64 bits wide."""
BASE_COVARIANCE = (2, 6, 6)
"""Shape of the covariances of a free-flyer: of its pose and of its velocity."""
_OF_CONTACTS = {
    "contact_force": ("stamp_ns", "force", "in_world", "valid"),
    "contact_reading": ("raw", "load", "valid"),
    "commanded_contacts": ("wanted", "since_ns"),
}


class UnusableStateError(ValueError):
    """A state that cannot be computed with; the message says why.

    Drivers count it as bad input and go on. They catch this class and no other ValueError, so that a fault of the
    package is never blamed on the input.
    """


@dataclass(frozen=True, slots=True, eq=False)
class RobotState:
    """One measured state.

    A robot on a fixed base with two joints, 1.5 s after the beginning of its clock, whose efforts are measured:

    >>> import numpy as np
    >>> state = RobotState(1_500_000_000, q=np.array([0.1, -0.2]), v=np.zeros(2), effort=np.array([3.0, 0.5]))
    >>> state.fault(nq=2, nv=2) is None
    True

    A floating base adds seven entries before the joints of q, here at 0.4 m and upright, and six before those of v:

    >>> base = [0.0, 0.0, 0.4, 0.0, 0.0, 0.0, 1.0]
    >>> state = RobotState(0, q=np.array([*base, 0.1, -0.2]), v=np.zeros(8))
    >>> state.fault(nq=9, nv=8) is None
    True

    Attributes:
        stamp_ns: time of the measurement, integer nanoseconds.
        q: configuration (nq,), in Pinocchio's order. A free-flyer comes first: position (m, world), quaternion
            x, y, z, w; then the joints (rad or m; a continuous joint is cos, sin).
        v: velocity (nv,), in Pinocchio's order. A free-flyer comes first: linear (m/s) then angular (rad/s), both in
            the base frame; then the joint rates (rad/s or m/s).
        effort: generalised actuation Sᵀτ (nv,), N m or N, zero on the free-flyer, or a wrench that is
            known to act on the base (its own axes, force first); ``None`` where none was measured.
        base_covariance: (2, 6, 6), of the free-flyer's pose and of its velocity, in the order and the axes of v (base
            frame: linear, angular); ``None`` where none is known.
        base_twist_in_world: whether the free-flyer's velocity was measured in the axes of the world, so that errors of
            its orientation turn v.
        command: what the drives were told to do last; ``None`` where nobody told it lately.
        imu, contact_force, contact_reading, commanded_contacts: the newest of these, each with its own stamp; ``None``
            where there are none, or none that is recent.
        velocity_window: s, over which the free-flyer's velocity is a mean, where it comes from the feet that stand; 0
            where it was measured. Errors of such velocities last for half of it.
        base_carried: (2, 6, 6), as ``base_covariance``, of which it is a part where that is known: what the free-flyer
            may have done otherwise since it was measured, where it was carried to this stamp; else ``None``.
        base_late: s, by which its odometry is later than its stamps, as far as that was noticed and is made up for.

    The arrays are read and never written. The constructor checks nothing, because it runs for every message; use
    :meth:`fault` at the boundary where data comes in. ``ContactEstimator.update`` refuses what it cannot use.
    """

    stamp_ns: int
    q: Vector
    v: Vector
    effort: Vector | None = None
    base_covariance: Vector | None = None
    base_twist_in_world: bool = False
    command: JointCommand | None = None
    imu: ImuMeasurement | None = None
    contact_force: ContactForces | None = None
    contact_reading: ContactReadings | None = None
    commanded_contacts: CommandedContacts | None = None
    velocity_window: float = 0.0
    base_carried: Vector | None = None
    base_late: float = 0.0

    @property
    def base_doubt(self) -> Vector | None:
        """What is known of the covariance of the free-flyer's pose and velocity: ``base_covariance``, or
        ``base_carried`` where nobody states it."""
        return self.base_carried if self.base_covariance is None else self.base_covariance

    @property
    def wrong_type(self) -> str | None:
        """Which part is not of its type, and what is needed; ``None`` if all are.

        >>> RobotState(0.5, q=[0.0], v=np.zeros(1)).wrong_type
        'stamp_ns is 0.5, whole nanoseconds (int) are needed'
        """
        stamp = self.stamp_ns
        if type(stamp) is not int and not isinstance(stamp, np.integer):
            return f"stamp_ns is {stamp!r}, whole nanoseconds (int) are needed"
        for name, array in (("q", self.q), ("v", self.v), ("effort", self.effort)):
            if not isinstance(array, np.ndarray) and not (array is None and name == "effort"):
                what = "None" if array is None else f"a {type(array).__name__}"
                return f"{name} is {what}, a numpy array is needed"
        return None

    def wrong_shape(self, nq: int, nv: int) -> str | None:
        """Which array has another shape than a model of sizes ``nq`` and ``nv`` needs; ``None`` if none has."""
        for name, array, size in (("q", self.q, nq), ("v", self.v, nv), ("effort", self.effort, nv)):
            if array is not None and array.shape != (size,):
                return f"{name} has shape {array.shape}, the model needs ({size},)"
        for name, array in (("base_covariance", self.base_covariance), ("base_carried", self.base_carried)):
            if array is not None and np.shape(array) != BASE_COVARIANCE:
                return f"{name} has shape {np.shape(array)}, (2, 6, 6) is needed"
        return None

    def wrong_sensors(self, m: int) -> str | None:
        """Which array of foot sensors or commanded contacts has another shape than ``m`` contacts need; ``None`` if
        none has."""
        for name, arrays in _OF_CONTACTS.items():
            part = getattr(self, name)
            for of in () if part is None else arrays:
                found, wanted = np.shape(getattr(part, of)), (m, 3) if of == "force" else (m,)
                if found != wanted:
                    return f"{name}.{of} has shape {found}, the model's contacts need {wanted}"
        return None

    def fault(self, nq: int, nv: int) -> str | None:
        """Say what is wrong with this state for a model of sizes ``nq`` and ``nv``, or ``None`` if nothing is.

        >>> import numpy as np
        >>> RobotState(0, q=np.zeros(2), v=np.array([0.0, np.nan])).fault(2, 2)
        'v[1] is nan, every entry must be finite'
        """
        odd = self.wrong_type or self.wrong_shape(nq, nv)
        if odd is not None:
            return odd
        for name, array in (("q", self.q), ("v", self.v), ("effort", self.effort)):
            if array is not None and not np.isfinite(array).all():
                bad = int(np.flatnonzero(~np.isfinite(array))[0])
                return f"{name}[{bad}] is {array[bad]}, every entry must be finite"
        return None
