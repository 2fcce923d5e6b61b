"""Everything that decides what contacts do at one configuration."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

Array = NDArray[np.float64]

# Relative asymmetry of M, and relative size of a negative eigenvalue of M, that are still rounding.
_SYMMETRY_TOLERANCE = 1e-9


@dataclass(frozen=True, slots=True, eq=False, init=False)
class ContactProblem:
    """The contact problem of one state: ``M v̇ + bias = Jᵀλ``, and for impacts ``M (v⁺ − v⁻) = JᵀΛ``.

    The normal points from the environment to the robot, a gap is positive when open, and λ_n ≥ 0 pushes. (Johnson et
    al. have U negative in the normal direction; this is the flip of it.) A point mass that is about to land:

    >>> from hybrid_contact_ros import ContactProblem, simultaneous_impact
    >>> point = ContactProblem(
    ...     mass=[[2.0, 0.0], [0.0, 2.0]],
    ...     velocity=[1.0, -3.0],  # along the ground and away from it
    ...     normal_jacobian=[[0.0, 1.0]],
    ...     tangent_jacobian=[[[1.0, 0.0]]],
    ...     friction=[0.1],
    ... )
    >>> simultaneous_impact(point).velocity.round(6).tolist()
    [0.7, 0.0]
    >>> point.replace(friction=[0.5]).friction.tolist()
    [0.5]

    Attributes:
        mass: M (nv, nv), symmetric, positive semidefinite (massless limbs make it singular; Johnson §2.3).
        velocity: v (nv,), before an impact.
        normal_jacobian: J_n (m, nv); row i maps v to the gap velocity φ̇_i (m/s).
        tangent_jacobian: J_t (m, d, nv); d = 1 in the plane, 2 in space (m/s along each tangent).
        friction: μ (m,), Coulomb's, ≥ 0.
        restitution: e (m,), between 0 and 1.
        gap: φ (m,), m (or rad, for a joint limit).
        bias_force: ``h(q, v) − Sᵀτ`` (nv,): Coriolis, centrifugal and gravity terms less the actuation, so that
            without contact M v̇ = −bias_force.
        jacobian_drift: J̇v (m, 1 + d): the acceleration of each contact at v̇ = 0, normal first.
        names: of the contacts, m strings, or an empty tuple.

    The constructor copies what it is given; what is left out is zero, or no names.

    Raises:
        ValueError: a shape that does not fit, an entry that is not finite, an M that is not symmetric or has a negative
            eigenvalue, a negative friction, or a restitution outside [0, 1]. The text names the field.
    """

    mass: Array
    velocity: Array
    normal_jacobian: Array
    tangent_jacobian: Array
    friction: Array
    restitution: Array
    gap: Array
    bias_force: Array
    jacobian_drift: Array
    names: tuple[str, ...] = field(default=())

    def __init__(
        self,
        mass: ArrayLike,
        velocity: ArrayLike,
        normal_jacobian: ArrayLike,
        tangent_jacobian: ArrayLike,
        friction: ArrayLike,
        restitution: ArrayLike | None = None,
        gap: ArrayLike | None = None,
        bias_force: ArrayLike | None = None,
        jacobian_drift: ArrayLike | None = None,
        names: Sequence[str] | None = None,
    ) -> None:
        given = {
            "mass": mass,
            "velocity": velocity,
            "normal_jacobian": normal_jacobian,
            "tangent_jacobian": tangent_jacobian,
            "friction": friction,
            "restitution": restitution,
            "gap": gap,
            "bias_force": bias_force,
            "jacobian_drift": jacobian_drift,
            "names": names,
        }
        for name, value in _validated(given).items():
            object.__setattr__(self, name, value)

    @classmethod
    def trusted(
        cls,
        mass: Array,
        velocity: Array,
        normal_jacobian: Array,
        tangent_jacobian: Array,
        friction: Array,
        restitution: Array,
        gap: Array,
        bias_force: Array,
        jacobian_drift: Array,
        names: tuple[str, ...],
    ) -> ContactProblem:
        """Make a problem without checks or copies, for arrays that the caller made itself: C-contiguous float64,
        finite, and written by nobody afterwards. This is the path of every message."""
        self = object.__new__(cls)
        put = object.__setattr__  # ten plain calls: half the time of a loop over names
        put(self, "mass", mass)
        put(self, "velocity", velocity)
        put(self, "normal_jacobian", normal_jacobian)
        put(self, "tangent_jacobian", tangent_jacobian)
        put(self, "friction", friction)
        put(self, "restitution", restitution)
        put(self, "gap", gap)
        put(self, "bias_force", bias_force)
        put(self, "jacobian_drift", jacobian_drift)
        put(self, "names", names)
        return self

    def replace(self, **changes: Any) -> ContactProblem:
        """The same problem with the given fields changed, which are validated as by the constructor.

        Args:
            changes: fields by name; None is zero, or no names. Fields that are not named are shared and not copied.

        Raises:
            ValueError: as the constructor, also for a field that is kept and no longer fits.
            TypeError: a name that is no field.
        """
        return self.replace_trusted(**_validated(changes, self))

    def replace_trusted(self, **changes: Any) -> ContactProblem:
        """The same problem with the given fields changed, without checks or copies; see :meth:`trusted`."""
        unknown = changes.keys() - _FIELDS
        if unknown:
            raise TypeError(f"a ContactProblem has no {', '.join(sorted(unknown))}")
        other = object.__new__(type(self))
        for name in _FIELDS:
            object.__setattr__(other, name, changes[name] if name in changes else getattr(self, name))
        return other

    @property
    def nv(self) -> int:
        """Number of velocity coordinates."""
        return self.mass.shape[0]

    @property
    def contacts(self) -> int:
        """Number of contacts, m."""
        return self.normal_jacobian.shape[0]

    @property
    def tangents(self) -> int:
        """Tangent directions per contact, d: 1 in the plane, 2 in space."""
        return self.tangent_jacobian.shape[1]

    def jacobian(self) -> Array:
        """Stack the rows (m (1 + d), nv), contact by contact: normal, then tangents. The layout of every kernel."""
        m, d, nv = self.tangent_jacobian.shape
        rows = np.empty((m, 1 + d, nv))
        rows[:, 0] = self.normal_jacobian
        rows[:, 1:] = self.tangent_jacobian
        return rows.reshape(m * (1 + d), nv)

    def select(self, contacts: Sequence[int] | NDArray[np.intp]) -> ContactProblem:
        """The same problem with only the given contacts, in the given order."""
        index = np.asarray(contacts, dtype=np.intp).reshape(-1)
        if index.size and (index.min() < 0 or index.max() >= self.contacts):
            raise ValueError(f"contacts {index.tolist()} are not all in 0..{self.contacts - 1}")
        if np.unique(index).size != index.size:
            raise ValueError(f"contacts {index.tolist()} name one contact twice")
        return self.replace_trusted(
            normal_jacobian=self.normal_jacobian[index],
            tangent_jacobian=self.tangent_jacobian[index],
            friction=self.friction[index],
            restitution=self.restitution[index],
            gap=self.gap[index],
            jacobian_drift=self.jacobian_drift[index],
            names=tuple(self.names[i] for i in index) if self.names else (),
        )

    def with_velocity(self, velocity: ArrayLike) -> ContactProblem:
        """The same configuration with another velocity; ``bias_force`` and ``jacobian_drift`` stay as they are.

        Raises:
            ValueError: a velocity of another size, or one that is not finite.
        """
        return self.replace_trusted(velocity=_shaped("velocity", velocity, (self.nv,)))


_FIELDS = tuple(each.name for each in fields(ContactProblem))


def _validated(given: Mapping[str, Any], kept: ContactProblem | None = None) -> dict[str, Any]:
    """The given fields as arrays of their own, which fit each other and the fields of ``kept`` that are not given."""
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
            found[name] = _shaped(name, given[name], shape)
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


def _shaped(name: str, values: ArrayLike | None, shape: tuple[int, ...]) -> Array:
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
