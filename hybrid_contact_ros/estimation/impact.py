"""The post-impact velocity set of the impact that is about to happen."""

from __future__ import annotations

import time

import numpy as np
from numpy.typing import NDArray

from hybrid_contact_ros.codes import EventKind, Status
from hybrid_contact_ros.config import ImpactConfig
from hybrid_contact_ros.impacts.outcome import ImpactOutcome
from hybrid_contact_ros.impacts.restitution import LAWS
from hybrid_contact_ros.impacts.simultaneous import simultaneous_impact
from hybrid_contact_ros.impacts.velocity_set import impulse_scale, post_impact_set
from hybrid_contact_ros.mechanics.problem import ContactProblem
from hybrid_contact_ros.mechanics.slip_axes import along_slip
from hybrid_contact_ros.prediction import ImpactPrediction

Array = NDArray[np.float64]

_MOST_TOGETHER = 100.0  # of the largest impulse of a contact alone
_MOST_SAMPLES = 65536


def impacting_contacts(
    config: ImpactConfig, closed: NDArray[np.uint8], kind: NDArray[np.uint8], times: Array
) -> tuple[NDArray[np.intp], float]:
    """Which contacts take part in the next impact, and when (s) it is.

    All that are predicted to touch within ``config.window`` of the first, and all that stand; none, and infinity,
    where no touchdown is predicted within ``config.horizon``.
    """
    touching = kind == EventKind.TOUCHDOWN
    if not touching.any():
        return np.zeros(0, dtype=np.intp), np.inf
    when = np.where(touching, times[:, 0], np.inf)
    first = float(when.min())
    if first > config.horizon:
        return np.zeros(0, dtype=np.intp), np.inf
    return np.flatnonzero((when <= first + config.window) | (closed != 0)), first


def impact_law(config: ImpactConfig, restitution: Array) -> str:
    """The law to use for contacts with these coefficients (m,): without any restitution all are the inelastic one.

    Raises:
        ValueError: the configured law does not exist.
    """
    if config.law not in LAWS:
        raise ValueError(f"impact.law is {config.law!r}; one of {', '.join(LAWS)} is needed")
    return config.law if restitution.any() or config.restitution_margin > 0.0 else "inelastic"


def around(values: Array, margin: Array | float, most: float) -> tuple[Array, Array] | None:
    """The interval of ``margin`` about values (m,), within 0 and ``most``; None where there is no margin."""
    if not np.any(margin):
        return None
    return np.maximum(values - margin, 0.0), np.minimum(values + margin, most)


def impulse_unit(problem: ContactProblem, nominal: ImpactOutcome) -> float:
    """The largest impulse (N s) of a contact, stopped alone or with all others; 0 if none approaches.

    Alone a corner of a humanoid's foot meets little but the foot: with steps of that size a sample took a hundred
    increments and more, with the impulses of corners that stop the robot together ten. Where contacts jam, these have
    no bound.
    """
    alone = impulse_scale(problem)
    together = float(nominal.impulse[:, 0].max(initial=0.0)) if nominal.status == Status.SOLVED else 0.0
    return min(max(alone, together), _MOST_TOGETHER * alone)


def check_request(samples: int, seed: int, deadline_ns: int | None, gap_tolerance: float | None) -> None:
    """Raise ValueError for a request that cannot be answered."""
    if not 1 <= samples <= _MOST_SAMPLES:
        raise ValueError(f"samples is {samples}; 1..{_MOST_SAMPLES} are needed")
    if not 0 <= seed < 2**63:
        raise ValueError(f"seed is {seed}; it must lie in [0, 2⁶³)")
    if deadline_ns is not None and deadline_ns < 0:
        raise ValueError(f"deadline_ns is {deadline_ns}; it must be 0 (none) or more")
    if gap_tolerance is not None and not np.isfinite(gap_tolerance):
        raise ValueError(f"gap_tolerance is {gap_tolerance}; a number of metres is needed")


def predict_impact(
    stamp_ns: int,
    time_to_impact: float,
    problem: ContactProblem,
    contacts: NDArray[np.intp],
    corners: NDArray[np.intp],
    config: ImpactConfig,
    law: str,
    samples: int,
    seed: int,
    deadline_ns: int | None,
) -> ImpactPrediction:
    """The set for the given contacts of a problem at the instant of impact, whose velocity is v⁻; ``corners`` are those
    of them that matter (:class:`~hybrid_contact_ros.estimation.vertices.ContactVertices`).

    ``config.step`` is taken in units of the largest impulse that a contact takes, so that one value serves all robots
    and speeds. Samples that did not end separating are dropped. Where nothing approaches, the set is v⁻ alone, as all
    draws would be; where the mass matrix cannot be inverted it is empty, and ``status`` says so.

    Friction polygons have a vertex against the slip of each contact, since a user has no say in where tangents point.
    The nominal outcome is that of all contacts at once without restitution.
    ``deadline_ns`` is a duration from now, for the whole of this call.
    """
    begin = time.perf_counter_ns()
    part, _ = along_slip(problem.select(corners))
    nominal = simultaneous_impact(part, config.directions)
    unit = impulse_unit(part, nominal)
    left = None if deadline_ns is None else max(1, deadline_ns - (time.perf_counter_ns() - begin))
    found = post_impact_set(
        part,
        config.step * unit if unit > 0.0 else 1.0,
        samples if unit > 0.0 else 1,
        config.max_steps,
        seed,
        config.directions,
        law,
        left,
        restitution=None if law == "inelastic" else around(part.restitution, config.restitution_margin, 1.0),
        friction=around(part.friction, config.friction_margin * part.friction, np.inf),
    )
    velocities = np.ascontiguousarray(found.velocities[found.terminated])
    mass, before = part.mass, part.velocity
    energies = 0.5 * np.einsum("ij,ij->i", velocities @ mass, velocities)
    status = found.status
    if status == Status.SOLVED and nominal.status != Status.SOLVED:
        status = nominal.status
    return ImpactPrediction(
        stamp_ns=stamp_ns,
        contacts=contacts,
        time_to_impact=time_to_impact,
        velocity_minus=before,
        nominal=nominal.velocity,
        velocities=velocities,
        lower=found.lower,
        upper=found.upper,
        coverage=found.coverage if unit > 0.0 or not velocities.size else 1.0,
        coverage_radius=found.coverage_radius,
        confidence=found.confidence,
        kinetic_energy_minus=0.5 * float(before @ mass @ before),
        kinetic_energy_min=float(energies.min()) if energies.size else np.nan,
        kinetic_energy_max=float(energies.max()) if energies.size else np.nan,
        law=law,
        truncated=found.status == Status.DEADLINE,
        terminated=bool(found.terminated.all()),
        residual=max(found.residual, nominal.residual),
        status=status,
        coverage_valid=bool(velocities.shape[0]) and status in (Status.SOLVED, Status.DEADLINE),
    )
