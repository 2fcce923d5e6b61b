"""Everything that decides what contacts do at one configuration."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, fields
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from hybrid_contact_ros.mechanics.problem_checks import shaped, validated_fields

Array = NDArray[np.float64]


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
        for name, value in validated_fields(given).items():
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
        return self.replace_trusted(**validated_fields(changes, self))

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
        return self.replace_trusted(velocity=shaped("velocity", velocity, (self.nv,)))


_FIELDS = tuple(each.name for each in fields(ContactProblem))
