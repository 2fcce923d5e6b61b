"""The set of velocities that a robot may have after a predicted impact."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from hybrid_contact_ros.codes import LandingPhase, Status

Array = NDArray[np.float64]


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
