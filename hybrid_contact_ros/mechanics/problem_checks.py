"""What a :class:`~.problem.ContactProblem` accepts, and what it refuses in words."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

if TYPE_CHECKING:
    from hybrid_contact_ros.mechanics.problem import ContactProblem

Array = NDArray[np.float64]

# Relative asymmetry of M, and relative size of a negative eigenvalue of M, that are still rounding.
_SYMMETRY_TOLERANCE = 1e-9


def validated_fields(given: Mapping[str, Any], kept: ContactProblem | None = None) -> dict[str, Any]:
    """The given fields as arrays of their own, which fit each other and the fields of ``kept`` that are not given.

    Raises:
        ValueError: a field has the wrong shape or an impossible value; the text names it and says what is needed.
    """
    found = dict(given)
    if "mass" in given:
        found["mass"] = _checked_mass(given["mass"])
    nv = _field("mass", found, kept).shape[0]
    if "normal_jacobian" in given:
        found["normal_jacobian"] = normal = _floats("normal_jacobian", given["normal_jacobian"])
        if normal.ndim != 2 or normal.shape[1] != nv:
            raise ValueError(f"normal_jacobian has shape {normal.shape}; (m, {nv}) is needed, to match mass")
    m = _field("normal_jacobian", found, kept).shape[0]
    if "tangent_jacobian" in given:
        found["tangent_jacobian"] = tangent = _floats("tangent_jacobian", given["tangent_jacobian"])
        if tangent.ndim != 3 or tangent.shape[0] != m or tangent.shape[2] != nv or tangent.shape[1] not in (1, 2):
            raise ValueError(
                f"tangent_jacobian has shape {tangent.shape}; ({m}, d, {nv}) is needed, "
                "with d = 1 in the plane and d = 2 in space"
            )
    d = _field("tangent_jacobian", found, kept).shape[1]
    shapes = {
        "velocity": (nv,),
        "normal_jacobian": (m, nv),
        "tangent_jacobian": (m, d, nv),
        "friction": (m,),
        "restitution": (m,),
        "gap": (m,),
        "bias_force": (nv,),
        "jacobian_drift": (m, 1 + d),
    }
    for name, shape in shapes.items():
        if name in given and not name.endswith("_jacobian"):
            found[name] = shaped(name, given[name], shape)
        else:
            _check_shape(name, _field(name, found, kept), shape)
    if "friction" in given and (found["friction"] < 0).any():
        raise ValueError(f"friction must be ≥ 0, got {found['friction']}")
    if "restitution" in given and ((found["restitution"] < 0) | (found["restitution"] > 1)).any():
        raise ValueError(f"restitution must lie in [0, 1], got {found['restitution']}")
    if "names" in given:
        found["names"] = tuple(given["names"]) if given["names"] is not None else ()
    names = found["names"] if kept is None or "names" in found else kept.names
    if names and len(names) != m:
        raise ValueError(f"names has {len(names)} entries for {m} contacts")
    return found


def _field(name: str, found: Mapping[str, Any], kept: ContactProblem | None) -> Array:
    array: Array = found[name] if kept is None or name in found else getattr(kept, name)
    return array


def _floats(name: str, values: ArrayLike) -> Array:
    try:
        array = np.array(values, dtype=np.float64, order="C")  # a copy: a frozen problem shares nothing
    except (TypeError, ValueError) as error:
        raise ValueError(f"{name} is not an array of numbers: {error}") from None
    if not np.isfinite(array).all():
        raise ValueError(f"{name} has an entry that is not finite")
    return array


def shaped(name: str, values: ArrayLike | None, shape: tuple[int, ...]) -> Array:
    if values is None:
        return np.zeros(shape)
    array = _floats(name, values)
    _check_shape(name, array, shape)
    return array


def _check_shape(name: str, array: Array, shape: tuple[int, ...]) -> None:
    if array.shape != shape:
        raise ValueError(f"{name} has shape {array.shape}; {shape} is needed")


def _checked_mass(values: ArrayLike) -> Array:
    mass = _floats("mass", values)
    if mass.ndim != 2 or mass.shape[0] != mass.shape[1]:
        raise ValueError(f"mass has shape {mass.shape}; a square (nv, nv) matrix is needed")
    scale = float(np.abs(mass).max(initial=0.0))
    gap = float(np.abs(mass - mass.T).max(initial=0.0))
    if gap > _SYMMETRY_TOLERANCE * scale:
        raise ValueError(
            f"mass is not symmetric: entries differ by up to {gap:g} from their mirror "
            "(Pinocchio's crba may fill only the upper triangle)"
        )
    if mass.size and float(np.linalg.eigvalsh(mass)[0]) < -_SYMMETRY_TOLERANCE * scale:
        raise ValueError("mass has a negative eigenvalue: kinetic energy could be negative")
    return mass
