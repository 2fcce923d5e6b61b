"""The contact mode that is predicted for one state, and the modes that follow it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from hybrid_contact_ros.codes import ContactStatus
from hybrid_contact_ros.time_density import TimeDensity

Array = NDArray[np.float64]
Codes = NDArray[np.uint8]


@dataclass(frozen=True, slots=True, eq=False)
class ModeSequence:
    """The k events that the hybrid model goes through next, in order of time.

    Attributes:
        contact: (k,) index. kind: (k,) :class:`EventKind`. times: (k, 3) time, earliest, latest, s from the stamp.
        mode: (k,) bit mask of the closed contacts after each event. bounds_valid: whether the bounds are calibrated.
    """

    contact: NDArray[np.int64]
    kind: Codes
    times: Array
    mode: NDArray[np.int64]
    bounds_valid: bool = False


@dataclass(frozen=True, slots=True, eq=False)
class ModePrediction:
    """Contact mode of one state and each contact's next event. Arrays run along the m contacts.

    Attributes:
        status: :class:`ContactStatus` (m,) uint8.
        probability: (m,), in [0, 1], that the contact is closed. probability_valid: whether these probabilities are
            calibrated: efforts are believed, each contact has a link of its own, and none lies between 0.1 and 0.99
            (docs/contact_belief.md).
        position, normal: contact point (m) and unit normal, world frame, (m, 3).
        gap, gap_velocity, gap_acceleration: φ, φ̇, φ̈ (m,), m, m/s, m/s²; φ̈ under the forces of the predicted mode.
        tangential_velocity: (m, 3) m/s, world frame.
        force_model: (m, 3) N, world frame, environment on robot; zero for open contacts, NaN where friction jams the
            contact (Painlevé) so that no bounded force satisfies the contact laws. force_valid: (m,) bool, whether
            force and margin may be used.
        force_estimate: (m, 3) N, world frame; NaN where there is none.
        friction_coefficient: μ (m,). friction_margin: μ f_n − |f_t| (m,) N; NaN where the force is.
        critical_friction: (m,) least coefficient with which a slide of the contact jams, along its slip, or in the
            worst direction while it does not slip; inf where a slide never jams.
        force_weight: (m,), how much the measured efforts, and so the forces, can be believed: from 1, they explain the
            motion of the contact's limb, to 0, they do not, were not measured, or are of a state too long ago
            (docs/effort_trust.md).
        friction_lower, friction_upper: (m,), bounds of μ that forces have shown, whatever is configured; 0 and inf
            where they have shown none (docs/friction.md). friction_ratio: (m,) ‖f_t‖ / f_n of the contact's link, by
            the observer; NaN where it bears too little. slip_warning: (m,) bool, whether the contact holds nearly all
            that it can, or will within ``friction.lead``. time_to_slip: (m,) s until it does, as the ratio grows now;
            inf where it does not grow, NaN where unknown.
        jammed: :class:`Jamming` (m,) uint8: HELD where a slide that jams was taken to stick, LOST where no mode was
            found.
        next_event: :class:`EventKind` (m,) uint8; time_to_event, earliest, latest: (m,) s, NaN for NONE.
            time_bounds_valid: whether the bounds are calibrated.
        time_q05, time_q25, time_q75, time_q95: (m,) s, quantiles of the time to a touchdown or liftoff, with
            ``time_to_event`` the median; event_probability: (m,), that it comes within ``prediction.horizon``; NaN for
            other events (:meth:`density`, docs/event_densities.md). density_valid: (m,) bool, whether these are
            calibrated, and bounds_valid: (m,) bool, whether bounds of the next event are: by what they held lately.
        ground_offset: (m,) m, height of the ground under the contact over its configured plane, as learned; subtracted
            from the measured gap. ground_sigma: (m,) m, its standard deviation, which is in all bounds and scores.
        sequence: what follows in the next ``prediction.rollout`` seconds; empty without measured effort.
        validity: :class:`Validity` bits. residual: scaled violation of the complementarity conditions.
    """

    stamp_ns: int
    status: Codes
    probability: Array
    probability_valid: bool
    position: Array
    normal: Array
    gap: Array
    gap_velocity: Array
    gap_acceleration: Array
    tangential_velocity: Array
    force_model: Array
    force_valid: NDArray[np.bool_]
    force_estimate: Array
    friction_coefficient: Array
    friction_margin: Array
    critical_friction: Array
    force_weight: Array
    jammed: Codes
    next_event: Codes
    time_to_event: Array
    earliest: Array
    latest: Array
    sequence: ModeSequence
    validity: int
    residual: float
    ground_offset: Array
    ground_sigma: Array
    time_q05: Array
    time_q25: Array
    time_q75: Array
    time_q95: Array
    event_probability: Array
    bounds_valid: NDArray[np.bool_]
    density_valid: NDArray[np.bool_]
    friction_lower: Array
    friction_upper: Array
    friction_ratio: Array
    slip_warning: NDArray[np.bool_]
    time_to_slip: Array
    time_bounds_valid: bool = False

    @property
    def closed(self) -> NDArray[np.bool_]:
        """(m,) bool: sticking or slipping."""
        return self.status >= ContactStatus.STICKING

    def density(self, contact: int) -> TimeDensity:
        """The density of the time to a contact's next event, if that is a touchdown or a liftoff."""
        columns = (self.time_q05, self.time_q25, self.time_to_event, self.time_q75, self.time_q95)
        quantiles = np.array([column[contact] for column in columns])
        return TimeDensity.known(quantiles, self.event_probability[contact], self.density_valid[contact])

    @property
    def bitmask(self) -> int:
        """Bit i is set when contact i is closed."""
        mask = 0
        for i in np.flatnonzero(self.closed):
            mask |= 1 << int(i)
        return mask
