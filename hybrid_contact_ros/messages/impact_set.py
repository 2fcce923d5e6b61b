"""``PostImpactVelocitySet``: the velocities that an impact may end with."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from hybrid_contact_ros.messages.envelope import Envelope
from hybrid_contact_ros.messages.thinning import thin
from hybrid_contact_ros.prediction import ImpactPrediction

MAX_NUMBERS = 262144
"""Numbers that ``PostImpactVelocitySet.velocities`` may hold; larger sets are thinned."""
MAX_GENERATORS = 512
"""Generators that it may hold; of more, the smallest are replaced by the box around their sum."""

Array = NDArray[np.float64]
_NONE = np.empty(0)


class LandingArrays(NamedTuple):
    """The arrays of a landing as the message holds them, C-contiguous float64, in the order of its fields."""

    generators: Array
    mass: Array
    quantile_lower: Array
    quantile_upper: Array
    basis: Array
    basis_change: Array
    joint_jump: Array


def impact_set(envelope: Envelope, impact: ImpactPrediction, compute_time_ns: int) -> Any:
    """The message of one set, computed in ``compute_time_ns``.

    A set of more than ``MAX_NUMBERS`` numbers is thinned (:func:`~.thinning.thin`), and the message then says
    ``truncated``. Energies and coverage are those of the set before the thinning.
    """
    T = envelope.types
    kept, truncated = published(impact)
    arrays = landing_arrays(impact)
    sizes = landing_sizes(arrays, impact.velocity_minus.size)
    return T.PostImpactVelocitySet(
        header=envelope.header(impact.stamp_ns),
        impact_time=envelope.time(impact_nanoseconds(impact)),
        time_to_impact=float(impact.time_to_impact),
        contacts=[envelope.names[i] for i in impact.contacts],
        velocity_names=list(envelope.velocity_names),
        v_minus=T.float64(impact.velocity_minus),
        v_nominal=T.float64(impact.nominal),
        count=kept.shape[0],
        dof=kept.shape[1],
        velocities=T.float64(kept),
        lower=T.float64(impact.lower),
        upper=T.float64(impact.upper),
        coverage=float(impact.coverage),
        coverage_radius=float(impact.coverage_radius),
        confidence=float(impact.confidence),
        coverage_valid=bool(impact.coverage_valid),
        kinetic_energy_minus=float(impact.kinetic_energy_minus),
        kinetic_energy_min=float(impact.kinetic_energy_min),
        kinetic_energy_max=float(impact.kinetic_energy_max),
        law=str(impact.law),
        truncated=truncated,
        terminated=bool(impact.terminated),
        residual=float(impact.residual),
        compute_time=envelope.duration(compute_time_ns),
        model_hash=envelope.hash,
        generator_count=sizes[0],
        margin=float(impact.margin),
        jump=float(impact.jump),
        level=float(impact.level),
        level_valid=level_valid(impact),
        calibration_count=int(impact.calibration_count),
        calibration_method=str(impact.calibration_method),
        quantile_level=float(impact.quantile_level),
        basis_rows=sizes[1],
        time_to_impact_earliest=float(impact.earliest),
        time_to_impact_latest=float(impact.latest),
        time_bounds_valid=bool(impact.time_bounds_valid),
        phase=int(impact.phase),
        order_probability=float(impact.order_probability),
        order_probability_valid=bool(impact.order_probability_valid),
        **{name: T.float64(values) for name, values in arrays._asdict().items()},
    )


def published(impact: ImpactPrediction) -> tuple[NDArray[np.float64], bool]:
    """The outcomes that the message holds, and whether it is truncated."""
    velocities = np.asarray(impact.velocities, np.float64)
    kept = thin(velocities, max(1, MAX_NUMBERS // max(1, velocities.shape[1])))
    return kept, bool(impact.truncated) or kept.shape[0] < velocities.shape[0]


def landing_arrays(impact: ImpactPrediction) -> LandingArrays:
    """What the message holds of a landing; empty arrays for what is not known."""
    given = (
        None if impact.generators is None else _few(np.asarray(impact.generators, np.float64)),
        impact.mass,
        impact.quantile_lower,
        impact.quantile_upper,
        impact.basis,
        impact.basis_change,
        impact.joint_jump,
    )
    return LandingArrays(*(_NONE if a is None else np.ascontiguousarray(a, np.float64) for a in given))


def landing_sizes(arrays: LandingArrays, dof: int) -> tuple[int, int]:
    """Numbers of generators and of rows of the basis."""
    return arrays.generators.size // max(dof, 1), arrays.basis.size // max(dof, 1)


def level_valid(impact: ImpactPrediction) -> bool:
    """Whether the set's level was calibrated on landings."""
    return bool(impact.level > 0.0 and impact.calibration_count > 0 and impact.calibration_method)


def layout_of(impact: ImpactPrediction, arrays: LandingArrays) -> Hashable:
    """The same for messages that differ in nothing but numbers and how many outcomes they have."""
    some = impact.velocities.shape[0] > 0
    sizes = [array.size for array in arrays]
    return (impact.law, impact.calibration_method, some, *sizes, *impact.contacts.tolist())


def _few(generators: Array) -> Array:
    """At most ``MAX_GENERATORS`` generators (g, nv), whose zonotope holds that of the given ones."""
    count, dof = generators.shape
    if count <= MAX_GENERATORS:
        return generators
    scale = np.abs(generators).max(axis=0)
    sizes = (np.abs(generators) / np.where(scale > 0.0, scale, 1.0)).sum(axis=1)
    order = np.argsort(-sizes, kind="stable")
    largest, rest = order[: MAX_GENERATORS - dof], order[MAX_GENERATORS - dof :]
    return np.vstack((generators[np.sort(largest)], np.diag(np.abs(generators[rest]).sum(axis=0))))


def impact_nanoseconds(impact: ImpactPrediction) -> int:
    """Time of the impact, ns; that of the stamp where the time to the impact is none."""
    after = impact.time_to_impact
    return impact.stamp_ns + (round(after * 1e9) if abs(after) < 1e10 else 0)
