"""Which limbs of a robot it stands on, as its URDF looks."""

from __future__ import annotations

from typing import NamedTuple

from hybrid_contact_ros.mechanics.limbs import Limbs

_DEEPEST = 0.85  # a limb ends in a foot where it reaches this part of the deepest limb's depth below the root link
_LOWEST = 0.1  # m; what reaches less deep below the root link carries no robot
_SHORT = 0.3  # part of the longest limb, likewise, for small robots


class Standing(NamedTuple):
    """The ends of the limbs that a robot stands on, and of those that end in wheels. limbs: the robot in the posture
    in which its feet are below it."""

    legs: list[int]
    wheels: list[int]
    limbs: Limbs


def standing(limbs: Limbs) -> Standing:
    """The legs that reach below the root link, or are called so, one of each branch, for a leg with linkages has
    several ends; or those of a robot that stands between its feet.

    Args:
        limbs: at the neutral configuration.
    """
    ends = limbs.ends()
    if not ends:
        return Standing([], [], limbs)
    deepest = {limb: limbs.lowest(limb) for limb in ends}
    lowest = min(_LOWEST, _SHORT * max(limbs.span(limb) for limb in ends))
    depth = max(lowest, -min(deepest.values()))
    low = [limb for limb in ends if -deepest[limb] >= _DEEPEST * depth]
    wheels = [limb for limb in low if limbs.is_wheel(limb)]
    reaching = _one_each(limbs, [limb for limb in low if limb not in wheels])
    called = _one_each(limbs, [limb for limb in ends if limbs.is_called_foot(limb) and not limbs.is_wheel(limb)])
    legs = reaching if len(reaching) >= 2 or len(called) < 2 else called
    sprawling = limbs.sprawling() if len(legs) < 2 and not wheels else []
    if sprawling:
        return Standing(sprawling, wheels, limbs.lowered(sprawling))
    return Standing(legs, wheels, limbs)


def _one_each(limbs: Limbs, ends: list[int]) -> list[int]:
    """Of the limbs that begin at one joint of the root link the one that is called a foot, or else the first."""
    legs: dict[int, list[int]] = {}
    for limb in ends:
        legs.setdefault(limbs.branch(limb), []).append(limb)
    return [max(several, key=limbs.is_called_foot) for several in legs.values()]
