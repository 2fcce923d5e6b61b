"""The post-impact velocity set of an impact: which contacts take part, and what is drawn for them."""

from __future__ import annotations

import time
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from hybrid_contact_ros.codes import Status
from hybrid_contact_ros.config import ImpactConfig
from hybrid_contact_ros.estimation.landed import landed
from hybrid_contact_ros.impacts.contact_space import ContactSpace
from hybrid_contact_ros.impacts.coverage import CONFIDENCE
from hybrid_contact_ros.impacts.landing import Landing
from hybrid_contact_ros.impacts.landing_model import LandingTerms
from hybrid_contact_ros.impacts.outcome import ImpactOutcome
from hybrid_contact_ros.impacts.restitution import LAWS, Material
from hybrid_contact_ros.impacts.steps import LONG, SHORT, Steps
from hybrid_contact_ros.impacts.velocity_set import SAMPLING_PART
from hybrid_contact_ros.kernels.impacts.set_plan import impulse_unit as largest_impulse
from hybrid_contact_ros.mechanics.kinetic_norm import kinetic_norm
from hybrid_contact_ros.mechanics.problem import ContactProblem
from hybrid_contact_ros.prediction import ImpactPrediction

Array = NDArray[np.float64]

_SAMPLES_LIMIT = 65536


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class ImpactRequest:
    """Which set is wanted.

    Attributes:
        stamp_ns, time_to_impact (s): of the state, and from it to the impact.
        contacts: (k,) indices of those that take part. corners: those of them that matter
            (:class:`~hybrid_contact_ros.estimation.vertices.ContactVertices`).
        law: as of :func:`impact_law`. samples, seed: of the draws.
        deadline_ns: longest duration of the computation; None for any.
        bias: h − Sᵀτ (nv,), and hitting: (corners,) bool, those that hit while the others stand. Only the terms of a
            landing (:class:`~hybrid_contact_ros.impacts.landing_model.LandingTerms`) need them: None for none.
        lasting: whether ``bias`` has the torques that act during the impact.
        friction: (low, high), each (corners,), of μ; None for that of the terms.
        at_most: samples that there is time for; None for all.
    """

    stamp_ns: int
    time_to_impact: float
    contacts: NDArray[np.intp]
    corners: NDArray[np.intp]
    law: str
    samples: int
    seed: int
    deadline_ns: int | None
    bias: Array | None = None
    hitting: NDArray[np.bool_] | None = None
    lasting: bool = True
    friction: tuple[Array, Array] | None = None
    at_most: int | None = None


def impact_law(config: ImpactConfig, restitution: Array) -> str:
    """The law to use for contacts with these coefficients (m,): without restitution all laws are the inelastic one.

    Raises:
        ValueError: the configured law does not exist.
    """
    if config.law not in LAWS:
        raise ValueError(f"impact.law is {config.law!r}; one of {', '.join(LAWS)} is needed")
    return config.law if restitution.any() or config.restitution_margin > 0.0 else "inelastic"


def around(values: Array, margin: Array | float, limit: float) -> tuple[Array, Array] | None:
    """Values (m,) less and plus ``margin``, within 0 and ``limit``; None where there is no margin."""
    if not np.any(margin):
        return None
    return np.maximum(values - margin, 0.0), np.minimum(values + margin, limit)


def impulse_unit(space: ContactSpace, nominal: ImpactOutcome) -> float:
    """The largest impulse (N s) of a contact, stopped alone or with all others; 0 if none approaches
    (:func:`~hybrid_contact_ros.kernels.impacts.set_plan.impulse_unit`)."""
    together = float(nominal.impulse[:, 0].max(initial=0.0)) if nominal.status == Status.SOLVED else 0.0
    if space.status != Status.SOLVED:
        return 0.0
    unit: float = largest_impulse(together, space.speed, space.g, space.scale, space.w)
    return unit


def check_request(samples: int, seed: int, deadline_ns: int | None, gap_tolerance: float | None) -> None:
    """Raise ValueError for a request that cannot be answered."""
    if not 1 <= samples <= _SAMPLES_LIMIT:
        raise ValueError(f"samples is {samples}; 1..{_SAMPLES_LIMIT} are needed")
    if not 0 <= seed < 2**63:
        raise ValueError(f"seed is {seed}; it must lie in [0, 2⁶³)")
    if deadline_ns is not None and deadline_ns < 0:
        raise ValueError(f"deadline_ns is {deadline_ns}; it must be 0 (none) or more")
    if gap_tolerance is not None and not np.isfinite(gap_tolerance):
        raise ValueError(f"gap_tolerance is {gap_tolerance}; a number of metres is needed")


def check_config(config: ImpactConfig) -> None:
    """Raise ValueError for a configuration that no set could be drawn with, whatever the state."""
    check_request(config.samples, config.seed, None, None)
    if not config.step > 0.0 or config.max_steps < 1:
        raise ValueError(f"impact.step is {config.step}, max_steps {config.max_steps}; they must be positive")
    if config.directions < 2 or config.directions % 2:
        raise ValueError(f"impact.directions is {config.directions}; an even number is needed")


def draws_material(law: str, config: ImpactConfig, terms: LandingTerms | None) -> bool:
    """Whether samples draw restitution and friction. An interval of the friction alone is that of the terms where there
    are any. By the configuration alone, as ``warm`` compiles for it: contacts without friction have no interval."""
    return law != "inelastic" or (config.friction_margin > 0.0 and (terms is None or terms.off))


def landing_of(
    problem: ContactProblem,
    law: str,
    config: ImpactConfig,
    terms: LandingTerms | None = None,
    driven: NDArray[np.bool_] | None = None,
    feet: NDArray[np.intp] | None = None,
) -> Landing:
    """What draws the sets of impacts at the contacts of a problem; ``law`` as of :func:`impact_law`. ``terms``,
    ``driven``, ``feet``: as of :class:`~hybrid_contact_ros.impacts.landing.Landing`."""
    restitution = None if law == "inelastic" else around(problem.restitution, config.restitution_margin, 1.0)
    friction = around(problem.friction, config.friction_margin * problem.friction, np.inf)
    material = None
    if draws_material(law, config, terms):
        material = Material(problem, law, restitution, friction, common=True)
    return Landing(problem, config.directions, config.step, config.max_steps, material, terms, driven, feet)


def impact_steps(
    landing: Landing, mass: Array, rows: Array, velocity: Array, request: ImpactRequest, sampled: bool = False
) -> Steps[ImpactPrediction]:
    """The set for the requested contacts at the instant of impact, in steps.

    ``impact.step`` is taken in units of the largest impulse that a contact takes, so that one value serves all robots
    and speeds. Samples that did not end separating are dropped. Where nothing approaches, the set is v⁻ alone, as all
    draws would be; where the mass matrix cannot be inverted it is empty, and ``status`` says so.

    Friction polygons have a vertex against the slip of each contact, since a user has no say in where tangents point.
    The nominal outcome is that of all contacts at once without restitution. The deadline counts from now, for the whole
    of this call but for the pauses between its steps. With ``sampled`` the first sample is finished whatever the
    deadline, so that the set is a part of the whole one in any case.

    Args:
        landing: of the corners that are asked for (:func:`landing_of`).
        mass: M (nv, nv). rows: J (contacts, 1 + d, nv) of all contacts, normal first. velocity: v⁻ (nv,), which
            becomes part of the answer.
    """
    begin, limit_ns = time.perf_counter_ns(), request.deadline_ns
    landing.prepare(mass, rows, velocity, request.corners, request.seed)
    unit, status = landing.unit, landing.status
    if status != Status.SOLVED:
        return _without_samples(landing, velocity, mass, request)
    made = None
    if unit > 0.0 and landing.law is not None and request.bias is not None and request.hitting is not None:
        begin += yield from _pause(LONG)
        half_ns = None if limit_ns is None else begin + limit_ns // 2
        made = landing.points(mass, request.bias, request.hitting, request.lasting, request.friction, half_ns)
    begin += yield from _pause(LONG)
    end_ns = None if limit_ns is None else begin + int(SAMPLING_PART * limit_ns)
    samples = request.samples if unit > 0.0 else 1
    count = samples if request.at_most is None else min(samples, request.at_most)
    taken = landing.sample(count, end_ns, sampled)
    yield LONG
    found = landing.gather(taken)
    yield SHORT
    velocities = found.velocities if found.all_terminated else found.velocities[found.terminated]
    status = taken.status
    if status == Status.SOLVED and count < samples:
        status = Status.DEADLINE
    if status == Status.SOLVED and not found.all_terminated:
        status = Status.STEP_LIMIT
    truncated = status == Status.DEADLINE
    if status == Status.SOLVED and landing.nominal_status != Status.SOLVED:
        status = landing.nominal_status
    before, least, most = found.energy
    sampled_set = ImpactPrediction(
        stamp_ns=request.stamp_ns,
        contacts=request.contacts,
        time_to_impact=request.time_to_impact,
        velocity_minus=velocity,
        nominal=landing.nominal,
        velocities=velocities,
        lower=found.lower,
        upper=found.upper,
        coverage=found.coverage if unit > 0.0 or not len(velocities) else 1.0,
        coverage_radius=found.coverage_radius,
        confidence=CONFIDENCE,
        kinetic_energy_minus=before,
        kinetic_energy_min=least,
        kinetic_energy_max=most,
        law=request.law,
        truncated=truncated,
        terminated=found.all_terminated,
        residual=max(found.residual, landing.nominal_residual),
        status=status,
        coverage_valid=len(velocities) > 0 and status in (Status.SOLVED, Status.DEADLINE),
        jump=kinetic_norm(mass, landing.nominal - velocity),
        mass=mass.copy(),
    )
    if made is None or landing.law is None or request.bias is None or request.hitting is None:
        return sampled_set
    yield LONG
    bounds = landing.bounds(mass, request.bias, request.hitting, made, found, request.lasting, request.friction, end_ns)
    yield SHORT
    return landed(sampled_set, made, landing.law.terms, mass, bounds)


def _without_samples(landing: Landing, velocity: Array, mass: Array, request: ImpactRequest) -> ImpactPrediction:
    """The set where M is not positive definite."""
    n = velocity.size
    return ImpactPrediction(
        stamp_ns=request.stamp_ns,
        contacts=request.contacts,
        time_to_impact=request.time_to_impact,
        velocity_minus=velocity,
        nominal=landing.nominal,
        velocities=np.empty((0, n)),
        lower=np.full(n, -np.inf),
        upper=np.full(n, np.inf),
        coverage=0.0,
        coverage_radius=0.0,
        confidence=CONFIDENCE,
        kinetic_energy_minus=0.5 * float(velocity @ mass @ velocity),
        kinetic_energy_min=np.nan,
        kinetic_energy_max=np.nan,
        law=request.law,
        truncated=False,
        terminated=True,
        residual=0.0,
        status=landing.status,
        mass=mass.copy(),
    )


def _pause(kind: bool = SHORT) -> Steps[int]:
    """Let others go first before a step of this kind. Returns how long they took, ns."""
    begin = time.perf_counter_ns()
    yield kind
    return time.perf_counter_ns() - begin
