"""What the readers for controllers make of a message: its numbers, where they lie in the received bytes.

Fields have the names, units and meanings of the .msg files. Arrays cannot be written to.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

if TYPE_CHECKING:
    from hybrid_contact_ros.impacts.convex_set import ConvexSet
    from hybrid_contact_ros.time_density import TimeDensity

Floats = NDArray[np.float64]
Octets = NDArray[np.uint8]


class ContactModeView(NamedTuple):
    """A ``ContactMode``.

    Attributes:
        stamp_ns: of the measurement, ns. frame_id: of the header. names, frames: of the contacts.
        mode: bit i is set when contact i is closed.
        contacts: (m,) records with the fields of ``ContactState`` but for its texts; vectors have shape (3,). Contacts
            whose names are not of one length do not lie at one distance, and are copied for that.
        sequence: (k,) records with the fields of ``ModeTransition``.
        validity: bits. residual: scaled. compute_time_ns, input_age_ns: ns. model_hash: of URDF and configuration.
    """

    stamp_ns: int
    frame_id: str
    names: tuple[str, ...]
    frames: tuple[str, ...]
    mode: int
    contacts: NDArray[Any]
    sequence: NDArray[Any]
    validity: int
    residual: float
    compute_time_ns: int
    input_age_ns: int
    model_hash: int

    def density(self, contact: int) -> TimeDensity:
        """The density of the time to a contact's next event, s after the stamp; NaN where it is neither a touchdown
        nor a liftoff."""
        from hybrid_contact_ros.time_density import QUANTILE_FIELDS, TimeDensity  # here: few ask for it

        row = self.contacts[contact]
        quantiles = np.array([row[name] for name in QUANTILE_FIELDS], np.float64)
        return TimeDensity.known(quantiles, row["event_probability"], row["time_density_valid"])


class ConstraintStabilityView(NamedTuple):
    """A ``ConstraintStability``. ``names`` are those of the contacts, along which all arrays run but the pairs."""

    stamp_ns: int
    frame_id: str
    names: tuple[str, ...]
    closed: NDArray[np.bool_]
    constraint_stability: Octets
    constraint_force: Floats
    bounded_time_stability: Octets
    gap_acceleration: Floats
    zeno: Octets
    chatter_end: Floats
    chatter_end_earliest: Floats
    chatter_end_latest: Floats
    grazing: Octets
    touchdown_speed: Floats
    friction: Octets
    friction_margin: Floats
    pseudo_impulse: Octets
    pseudo_impulse_margin: Floats
    pair_first: NDArray[np.uint32]
    pair_second: NDArray[np.uint32]
    pair_coupling: Floats
    pair_order_sensitive: Octets
    pair_order_margin: Floats
    chatter_bounds_valid: bool
    compute_time_ns: int
    model_hash: int


class PostImpactVelocitySetView(NamedTuple):
    """A ``PostImpactVelocitySet``. ``names`` are of the contacts that take part.

    ``velocities`` is (count, dof), ``generators`` (any, dof), ``basis`` (any, dof), and ``mass`` (dof, dof), or
    (0, dof) where it is not told.
    """

    stamp_ns: int
    frame_id: str
    names: tuple[str, ...]
    velocity_names: tuple[str, ...]
    impact_time_ns: int
    time_to_impact: float
    v_minus: Floats
    v_nominal: Floats
    count: int  # type: ignore[assignment]  # tuple.count is of no use here
    dof: int
    velocities: Floats
    lower: Floats
    upper: Floats
    coverage: float
    coverage_radius: float
    confidence: float
    coverage_valid: bool
    kinetic_energy_minus: float
    kinetic_energy_min: float
    kinetic_energy_max: float
    law: str
    truncated: bool
    terminated: bool
    residual: float
    compute_time_ns: int
    model_hash: int
    generator_count: int
    generators: Floats
    margin: float
    jump: float
    mass: Floats
    level: float
    level_valid: bool
    calibration_count: int
    calibration_method: str
    quantile_lower: Floats
    quantile_upper: Floats
    quantile_level: float
    basis_rows: int
    basis: Floats
    basis_change: Floats
    time_to_impact_earliest: float
    time_to_impact_latest: float
    time_bounds_valid: bool
    phase: int
    order_probability: float
    order_probability_valid: bool
    joint_jump: Floats

    def convex(self) -> ConvexSet:
        """The set as a region, which has a nearest point to each velocity, and sizes; to be kept where many velocities
        are asked for.

        Raises:
            ValueError: the message does not tell the mass matrix.
        """
        from hybrid_contact_ros.impacts.convex_set import convex_set  # here: who only reads does without it

        return convex_set(self)

    def distance(self, v: ArrayLike) -> float:
        """How far a velocity v (dof,) is from the set, sqrt(J), in the kinetic norm; 0 inside, inf where the set is
        empty. Over ``jump`` it is the distance that scores tell; errors are those of :meth:`convex` and for a v that is
        not (dof,) and finite."""
        return self.convex().distance(v)
