"""Everything that decides what contacts do at one configuration."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import ArrayLike, NDArray

Array = NDArray[np.float64]

# Relative asymmetry of M, and relative size of a negative eigenvalue of M, that are still rounding.
_SYMMETRY_TOLERANCE = 1e-9


@dataclass(frozen=True, slots=True, eq=False, init=False)
class ContactProblem:
    """The contact problem of one state: ``M v̇ + bias = Jᵀλ``, and for impacts ``M (v⁺ − v⁻) = JᵀΛ``.

    Signs: the normal points from the environment to the robot, a gap is positive when open, and λ_n ≥ 0 pushes.
    (Johnson et al. have U negative in the normal direction; this is the flip of it.)

    Attributes:
        mass: M (nv, nv), symmetric, positive semidefinite (massless limbs make it singular; J §2.3).
        velocity: v (nv,), before an impact.
        normal_jacobian: J_n (m, nv); row i maps v to the gap velocity φ̇_i (m/s).
        tangent_jacobian: J_t (m, d, nv); d = 1 in the plane, 2 in space (m/s along each tangent).
        friction: μ (m,), Coulomb, ≥ 0.
        restitution: e (m,), between 0 and 1.
        gap: φ (m,), m (or rad, for a joint limit).
        bias_force: ``h(q, v) − Sᵀτ`` (nv,): Coriolis, centrifugal and gravity terms less the actuation, so that
            without contact M v̇ = −bias_force.
        jacobian_drift: J̇ v (m, 1 + d): the acceleration of each contact at v̇ = 0, normal first.
        names: of the contacts, m strings, or an empty tuple.
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
        mass_ = _floats("mass", mass)
        if mass_.ndim != 2 or mass_.shape[0] != mass_.shape[1]:
            raise ValueError(f"mass has shape {mass_.shape}; a square (nv, nv) matrix is needed")
        nv = mass_.shape[0]
        _check_mass(mass_)
        normal = _floats("normal_jacobian", normal_jacobian)
        if normal.ndim != 2 or normal.shape[1] != nv:
            raise ValueError(f"normal_jacobian has shape {normal.shape}; (m, {nv}) is needed, to match mass")
        m = normal.shape[0]
        tangent = _floats("tangent_jacobian", tangent_jacobian)
        if tangent.ndim != 3 or tangent.shape[0] != m or tangent.shape[2] != nv or tangent.shape[1] not in (1, 2):
            raise ValueError(
                f"tangent_jacobian has shape {tangent.shape}; ({m}, d, {nv}) is needed, "
                "with d = 1 in the plane and d = 2 in space"
            )
        d = tangent.shape[1]
        friction_ = _shaped("friction", friction, (m,))
        if (friction_ < 0).any():
            raise ValueError(f"friction must be ≥ 0, got {friction_}")
        restitution_ = _shaped("restitution", restitution, (m,))
        if ((restitution_ < 0) | (restitution_ > 1)).any():
            raise ValueError(f"restitution must lie in [0, 1], got {restitution_}")
        names_ = tuple(names) if names is not None else ()
        if names_ and len(names_) != m:
            raise ValueError(f"names has {len(names_)} entries for {m} contacts")
        self._fill(
            mass_,
            _shaped("velocity", velocity, (nv,)),
            normal,
            tangent,
            friction_,
            restitution_,
            _shaped("gap", gap, (m,)),
            _shaped("bias_force", bias_force, (nv,)),
            _shaped("jacobian_drift", jacobian_drift, (m, 1 + d)),
            names_,
        )

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
        """Make a problem without checks, for arrays that the caller made itself: C-contiguous float64, finite,
        and written by nobody afterwards. This is the path of every message."""
        self = object.__new__(cls)
        self._fill(
            mass,
            velocity,
            normal_jacobian,
            tangent_jacobian,
            friction,
            restitution,
            gap,
            bias_force,
            jacobian_drift,
            names,
        )
        return self

    def _fill(
        self,
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
    ) -> None:
        put = object.__setattr__
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
        return ContactProblem.trusted(
            self.mass,
            self.velocity,
            self.normal_jacobian[index],
            self.tangent_jacobian[index],
            self.friction[index],
            self.restitution[index],
            self.gap[index],
            self.bias_force,
            self.jacobian_drift[index],
            tuple(self.names[i] for i in index) if self.names else (),
        )

    def with_velocity(self, velocity: ArrayLike) -> ContactProblem:
        """The same configuration with another velocity (bias_force and jacobian_drift stay as they are)."""
        return ContactProblem.trusted(
            self.mass,
            _shaped("velocity", velocity, (self.nv,)),
            self.normal_jacobian,
            self.tangent_jacobian,
            self.friction,
            self.restitution,
            self.gap,
            self.bias_force,
            self.jacobian_drift,
            self.names,
        )


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
    if array.shape != shape:
        raise ValueError(f"{name} has shape {array.shape}; {shape} is needed")
    return array


def _check_mass(mass: Array) -> None:
    scale = float(np.abs(mass).max(initial=0.0))
    gap = float(np.abs(mass - mass.T).max(initial=0.0))
    if gap > _SYMMETRY_TOLERANCE * scale:
        raise ValueError(
            f"mass is not symmetric: entries differ by up to {gap:g} from their mirror "
            "(Pinocchio's crba may fill only the upper triangle)"
        )
    if mass.size and float(np.linalg.eigvalsh(mass)[0]) < -_SYMMETRY_TOLERANCE * scale:
        raise ValueError("mass has a negative eigenvalue: kinetic energy could be negative")
