"""Sets of velocities after an impact, moved and made wider by what a model of the touches adds."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from hybrid_contact_ros.estimation.changed import changed
from hybrid_contact_ros.estimation.small_systems import after_transposed, factor_of, principal_axes
from hybrid_contact_ros.prediction import ImpactPrediction

Array = NDArray[np.float64]

_FLAT = 1e-6  # of the widest extent: shifts are flat in directions of less


def shifted(found: ImpactPrediction, shifts: Array, mass: Array, **others: Any) -> ImpactPrediction:
    """The set moved by each of ``shifts`` (c, nv), and what lies between; with other fields as given.

    The smallest box around the shifts along their principal axes in the kinetic norm is added: exactly their hull where
    there are two of them, and wider where there are more.
    """
    if not shifts.any():
        return changed(found, **others)
    L = factor_of(mass)
    scaled = shifts @ L
    centre = scaled.mean(axis=0)
    size, axes = principal_axes(scaled - centre)
    axes = axes[size > _FLAT * max(float(size[0]), _FLAT * float(np.abs(scaled).max()))]
    along = (scaled - centre) @ axes.T
    low, high = along.min(axis=0, initial=np.inf), along.max(axis=0, initial=-np.inf)
    moves = np.concatenate(((centre + 0.5 * (low + high) @ axes)[None], 0.5 * (high - low)[:, None] * axes))
    back = np.ascontiguousarray(after_transposed(L, moves.T).T)
    middle, half = back[0], back[1:]
    velocities = found.velocities + middle
    energies = 0.5 * np.einsum("ki,ki->k", velocities @ mass, velocities)
    wider = wider_fields(found, half, middle)
    return changed(
        found,
        velocities=velocities,
        kinetic_energy_min=float(energies.min()),
        kinetic_energy_max=float(energies.max()),
        **wider,
        **others,
    )


def wider_fields(found: ImpactPrediction, generators: Array, middle: Array | float = 0.0) -> dict[str, Any]:
    """The set's generators, and all its bounds, with these generators (g, nv) added, the bounds moved by ``middle``."""
    reach = np.abs(generators).sum(axis=0)
    known = () if found.generators is None else (found.generators,)
    less, more = middle - reach, middle + reach
    fields: dict[str, Any] = {"generators": np.concatenate((*known, generators))}
    for name in ("lower", "upper", "quantile_lower", "quantile_upper"):
        bound = getattr(found, name)
        if bound is not None:
            fields[name] = bound + (less if name.endswith("lower") else more)
    return fields
