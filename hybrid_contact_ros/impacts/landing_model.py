"""What a landing adds to the impact law, as intervals, and when all of it is off."""

from __future__ import annotations

import math
from dataclasses import dataclass, fields

import numpy as np
from numpy.typing import NDArray

from hybrid_contact_ros.config import LandingConfig
from hybrid_contact_ros.parameter_values import check_intervals

Array = NDArray[np.float64]

_HEAVIEST = 0.5
"""Of a joint's own inertia M_jj: no drive adds more than this part of it, or one k would not do for light robots."""
_LEAST = {"rebound_min": -1.0, "rebound_max": -1.0}  # all others are 0 or more
_MOST = {"rebound_min": 1.0, "rebound_max": 1.0, "settling": 2.0, "friction": 1.0}
_INTERVALS = ("duration", "rebound", "drive")
_PARTS = ("slip", "creep", "bounce", "margin")


@dataclass(frozen=True, slots=True, kw_only=True)
class LandingTerms:
    """Intervals of what a landing adds to an impact; what is 0 is off.

    The law is (M + diag k) (v⁺ − v⁻) = −s (h − Sᵀτ) + Jᵀ λ with Coulomb's friction
    (:mod:`~hybrid_contact_ros.kernels.impacts.landing_law`); contacts hit or stand.

    Attributes:
        duration_min, duration_max: s, of s: gravity and measured torques act that long.
        rebound_min, rebound_max: of e beside the contact's restitution: a hitting contact leaves with e |u_n⁻|. A
            negative one approaches still, with that part of its speed.
        drive_min, drive_max: kg m², of k, which all joints have in common: drives resist the jump of their joints as
            inertia does, but by no more than half of the joint's own, M_jj/2 (:func:`joint_drives`).
        drive_own: kg m², k of each joint by itself, above and below, but never below 0, and no more than M_jj/2
            either (:func:`own_drives`); linearised.
        slip: ± this part of |u_n⁻| is the velocity along the ground of a hitting contact, along each tangent.
        creep: a hitting contact keeps 0 to this part of its tangential velocity.
        settling: a contact that stands and still moves changes its velocity by ± this part, along each axis.
        bounce: ± this part of the largest |u_n⁻| of hitting contacts, along the normal of such a contact, too.
        friction: μ of all contacts is known but for ± this part.
        margin: of the nominal jump, the radius of a ball in the kinetic norm that the set is wider by.

    Raises:
        ValueError: an interval that is empty, or a number that is out of range; the text names it.
    """

    duration_min: float = 0.0
    duration_max: float = 0.0
    rebound_min: float = 0.0
    rebound_max: float = 0.0
    drive_min: float = 0.0
    drive_max: float = 0.0
    drive_own: float = 0.0
    slip: float = 0.0
    creep: float = 0.0
    settling: float = 0.0
    bounce: float = 0.0
    friction: float = 0.0
    margin: float = 0.0

    def __post_init__(self) -> None:
        for field in fields(self):
            value = getattr(self, field.name)
            if not isinstance(value, (int, float)) or isinstance(value, bool):
                raise ValueError(f"landing.{field.name} is {value!r}; a number is needed")
            low, high = _LEAST.get(field.name, 0.0), _MOST.get(field.name, math.inf)
            if field.name in _PARTS:
                high = 1.0
            if not (low <= value <= high and math.isfinite(value)):
                raise ValueError(f"landing.{field.name} is {value!r}; a number in [{low:g}, {high:g}] is needed")
        check_intervals("landing", self, _INTERVALS)

    @classmethod
    def of(cls, config: LandingConfig, friction: float = 0.0) -> LandingTerms:
        """The terms of the parameters ``landing``; ``friction`` is ``impact.friction_margin``."""
        own = {field.name: getattr(config, field.name) for field in fields(cls) if field.name != "friction"}
        return cls(friction=friction, **own)

    @property
    def off(self) -> bool:
        """Whether nothing is added: an interval of the friction alone belongs to the impact law."""
        return not any(getattr(self, field.name) for field in fields(self) if field.name != "friction")


def drive_caps(mass: Array) -> Array:
    """The most that a drive adds to each coordinate, M_jj / 2 (n,), kg m²."""
    return _HEAVIEST * mass.diagonal()


def joint_drives(k: Array, mass: Array, driven: NDArray[np.bool_]) -> Array:
    """What each drive adds at common values k (c,), kg m²: min(k, M_jj / 2), and 0 without a drive, (c, n).

    A drive's gain is chosen for the inertia that it moves. k in SI units would lock the joints of a robot of 2 kg
    that it hardly changes on one of 15 kg; with the cap one interval serves both (docs/landings_identified.md).

    Args:
        mass: M (n, n) at the impact. driven: (n,).
    """
    return np.asarray(np.minimum(k[:, None], drive_caps(mass)) * driven)


def common_drives(terms: LandingTerms | LandingConfig, mass: Array, driven: NDArray[np.bool_]) -> tuple[float, float]:
    """The interval of the common k, kg m², less what is above the caps of all joints and changes none of them.
    Arguments as of :func:`joint_drives`."""
    top = _HEAVIEST * float(mass.diagonal().max(initial=0.0, where=driven))
    return min(terms.drive_min, top), min(terms.drive_max, top)


def own_drives(terms: LandingTerms | LandingConfig, mass: Array, driven: NDArray[np.bool_]) -> Array:
    """The most that each drive adds by itself, above and below the common k, kg m² (n,): min(``drive_own``, M_jj / 2),
    and 0 without a drive. Arguments as of :func:`joint_drives`."""
    return np.asarray(np.minimum(terms.drive_own, drive_caps(mass)) * driven)
