"""What the estimator answers for one state: contact mode, stability flags, and the set after an impact.

Plain arrays along the contacts, in the order of the configuration, so that the live node and the replay can be
compared to the bit. The ROS messages (``hybrid_contact_msgs``) carry the same fields and values.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from hybrid_contact_ros.codes import ContactStatus, EventKind, EventValidity, LandingPhase, Status
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
            calibrated: efforts are believed, each contact has a link of its own, and none lies between 0.1 and 0.9
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
            motion of the contact's limb, to 0, they do not, or were not measured (docs/effort_trust.md).
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


@dataclass(frozen=True, slots=True, eq=False)
class StabilityPrediction:
    """Stability flags of each contact and order sensitivity of pairs, with the margins they were decided on.

    Flags are arrays (m,) of uint8, :class:`Flag`. ``ConstraintStability.msg`` has the names, units and meanings. The
    arrays ``pair_…`` run along the listed pairs (first < second).
    """

    stamp_ns: int
    closed: NDArray[np.bool_]
    constraint_stability: Codes
    constraint_force: Array
    bounded_time_stability: Codes
    gap_acceleration: Array
    zeno: Codes
    chatter_end: Array
    chatter_end_earliest: Array
    chatter_end_latest: Array
    grazing: Codes
    touchdown_speed: Array
    friction: Codes
    friction_margin: Array
    pseudo_impulse: Codes
    pseudo_impulse_margin: Array
    pair_first: NDArray[np.uint32]
    pair_second: NDArray[np.uint32]
    pair_coupling: Array
    pair_order_sensitive: Codes
    pair_order_margin: Array
    chatter_bounds_valid: bool = False


@dataclass(frozen=True, slots=True, eq=False)
class ImpactPrediction:
    """The post-impact velocity set of an impact that is about to happen.

    Attributes:
        contacts: indices of those that take part (k,).
        time_to_impact: s, from the stamp to the impact; negative where it has begun, and the set is the one foreseen.
        velocity_minus: v⁻ (nv,). nominal: v⁺ (nv,) with all contacts resolved at once, Halm (31).
        velocities: outcomes (n, nv), all separating. lower, upper: (nv,) bounds on all outcomes.
        coverage, coverage_radius, confidence: as in :class:`~hybrid_contact_ros.impacts.outcome.VelocitySet`.
            coverage_valid: whether the coverage is calibrated, for draws of the model; it never is for the robot.
        kinetic_energy_minus, kinetic_energy_min, kinetic_energy_max: J.
        law: name of the impact law. truncated: whether a deadline or thinning cut the set short.
        terminated: whether every draw ended separating (the others are dropped). residual, status: of the sampling.
        generators: half-axes (g, nv), None for none: the set is the hull of ``velocities`` plus all Σ aᵢ gᵢ, |aᵢ| ≤ 1,
            plus a ball of ``margin`` (√J) in the kinetic norm. jump: √J, kinetic norm of nominal − v⁻. mass: M (nv, nv)
            at v⁻, of the kinetic norm; None only where something else than an estimator made this.
        level, calibration_count, calibration_method: share of landings that the set with its margin holds, the number
            of landings that say so and how; 0, 0 and "" where it is not calibrated.
        quantile_lower, quantile_upper: bounds (nv,) that hold ``quantile_level`` of the outcomes, not all; None: none.
        basis: rows B (r, nv) with J Bᵀ = 0 and B M Bᵀ = 1, J of all contacts that may act: B M v keeps its values under
            any contact impulse. basis_change: largest change (r,) of each of these by the model's other terms.
        earliest, latest: s after the stamp, of the impact; NaN where it is not known. time_bounds_valid: whether these
            are calibrated. phase: :class:`LandingPhase`.
        order_probability: of the order of touchdowns that the set was made for; NaN where it is not known.
            order_probability_valid: whether it is calibrated for the covariance of the state; it never is, it is a
            lower bound (docs/landings_ahead.md).
        after_each: the other sets of this state: after the first touchdowns of the cluster, while others are still to
            come, in order; before them that of a landing under way, or, where this is that one, of what comes next.
        joint_jump: largest |Δv| (nv,) of each coordinate over the set; None where it was not computed.
    """

    stamp_ns: int
    contacts: NDArray[np.intp]
    time_to_impact: float
    velocity_minus: Array
    nominal: Array
    velocities: Array
    lower: Array
    upper: Array
    coverage: float
    coverage_radius: float
    confidence: float
    kinetic_energy_minus: float
    kinetic_energy_min: float
    kinetic_energy_max: float
    law: str
    truncated: bool
    terminated: bool
    residual: float
    status: Status
    coverage_valid: bool = False
    generators: Array | None = None
    margin: float = 0.0
    jump: float = 0.0
    level: float = 0.0
    calibration_count: int = 0
    calibration_method: str = ""
    quantile_lower: Array | None = None
    quantile_upper: Array | None = None
    quantile_level: float = 0.0
    basis: Array | None = None
    basis_change: Array | None = None
    earliest: float = math.nan
    latest: float = math.nan
    phase: LandingPhase = LandingPhase.BEFORE
    order_probability: float = math.nan
    joint_jump: Array | None = None
    mass: Array | None = None
    time_bounds_valid: bool = False
    order_probability_valid: bool = False
    after_each: tuple[ImpactPrediction, ...] = ()


@dataclass(frozen=True, slots=True, eq=False)
class WordPrediction:
    """One way in which a predicted event may go; of touchdowns it is a sequence of impacts.

    States are x = (δq, v) (2 nv,). Matrices are None where the word has none, and ``why`` says so then.

    Attributes:
        text: the impacts in turn. struck, closed: bit masks of the contacts that strike in each impact, and of those
            that are closed after it; empty for an event without an impact.
        probability: NaN without a covariance of the state. validity: :class:`EventValidity`. why: in words.
        rank: of ``saltation``. velocity: v⁺ (nv,). saltation: Ξ (2 nv, 2 nv).
        velocity_gradient: ∂v⁺/∂x (nv, 2 nv), right after the last impact. parameter_matrix: ∂x⁺/∂p (2 nv, p).
        velocity_covariance: of v⁺ (nv, nv), if this word were the only one.
    """

    text: str
    struck: tuple[int, ...]
    closed: tuple[int, ...]
    probability: float
    validity: EventValidity
    why: str
    rank: int = 0
    velocity: Array | None = None
    saltation: Array | None = None
    velocity_gradient: Array | None = None
    parameter_matrix: Array | None = None
    velocity_covariance: Array | None = None


@dataclass(frozen=True, slots=True, eq=False)
class SensitivityPrediction:
    """How a small change of the state before a predicted event appears after it.

    ``EventSensitivity.msg`` has units and meanings.

    Attributes:
        kind: :class:`EventKind`; a TOUCHDOWN may be a cluster. contacts, closed: indices. time_to_event: s.
        configuration, velocity_minus: q (nq,) and v⁻ (nv,), of which maps are taken; contacts of a cluster touch there.
        validity: :class:`EventValidity`. why: in words. Unless it is VALID or CUT there are no words.
        time_gradient: ∂τ/∂x (k, 2 nv) of each contact, or None. time_sigma: (k,) s, NaN without a covariance.
            time_sigma_valid: whether these are calibrated for the covariance of the state.
        parameters: names of the columns of ``WordPrediction.parameter_matrix``.
        words: the most probable first. other_probability: of those that were left out. probability_valid: whether
            probabilities are calibrated for the covariance of the state. spread: s, of touchdowns, for which maps hold.
        mean: (2 nv,), covariance: (2 nv, 2 nv), of (δq⁺ from ``configuration``, v⁺) over all words with a map, or None.
            mixture_valid: whether these are calibrated for the covariance of the state, and every word is in them.
    """

    stamp_ns: int
    kind: EventKind
    contacts: tuple[int, ...]
    closed: tuple[int, ...]
    time_to_event: float
    configuration: Array
    velocity_minus: Array
    validity: EventValidity
    why: str
    time_gradient: Array | None
    time_sigma: Array
    time_sigma_valid: bool
    parameters: tuple[tuple[str, int], ...] = ()
    words: tuple[WordPrediction, ...] = ()
    other_probability: float = 0.0
    probability_valid: bool = False
    spread: float = float("nan")
    mean: Array | None = None
    covariance: Array | None = None
    mixture_valid: bool = False


@dataclass(frozen=True, slots=True, eq=False)
class Event:
    """Something that a contact did, as the contact mode shows (``detected``), or something that it will do.

    Times are integer nanoseconds; ``contact`` is an index. ``confidence`` is a calibrated probability only where
    ``confidence_valid`` says so.
    """

    stamp_ns: int
    contact: int
    kind: EventKind
    detected: bool
    time_ns: int
    earliest_ns: int
    latest_ns: int
    confidence: float
    confidence_valid: bool = False


@dataclass(frozen=True, slots=True, eq=False)
class Prediction:
    """The whole answer of a :class:`~hybrid_contact_ros.estimator.ContactEstimator` for one state of the robot.

    Attributes:
        mode: which contacts are closed, their forces, and the next event of each contact.
        stability: tri-state flags with their margins, for each contact and for pairs of contacts.
        impact: the velocities that may follow the next impact; None unless an impact is predicted within
            ``impact.horizon`` and asked for by ``Parts.IMPACT``.
        events: what contacts have just done (``detected``) and what they are predicted to do.
        sensitivity: of each event that is predicted within ``sensitivity.horizon``, in order of time; empty unless
            asked for by ``Parts.SENSITIVITY``.
    """

    mode: ModePrediction
    stability: StabilityPrediction
    impact: ImpactPrediction | None
    events: tuple[Event, ...]
    sensitivity: tuple[SensitivityPrediction, ...] = ()
