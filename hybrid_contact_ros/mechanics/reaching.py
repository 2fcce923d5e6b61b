"""Which limbs of a robot that is held by its base reach out to touch something: its arms, or the fingers of a hand."""

from __future__ import annotations

from collections.abc import Sequence

from hybrid_contact_ros.mechanics.limbs import Limbs

_JOINTS = 3  # of a limb of its own, at least: heads have two, the fingers of grippers one or two
_SPAN = 0.5  # part of the longest limb's span that a limb of its own has: fingers of a hand on an arm have less


def reaching(limbs: Limbs, wheels: Sequence[int]) -> list[int]:
    """The end of the longest limb, and after it those of limbs that are nearly its equals from where they leave it, as
    the arms of a robot with a torso and the fingers of a hand; of a limb that forks, as into the fingers of a gripper,
    one end.

    Args:
        limbs: at the neutral configuration; with a joint that moves.
        wheels: the ends that it stands on, which are no arms beside the longest limb.
    """
    by_length = sorted(limbs.ends(), key=lambda end: (-limbs.length(end), end))
    chosen = by_length[:1]
    for end in by_length[1:]:
        if end in wheels:
            continue
        shared = {joint for other in chosen for joint in limbs.chain(other)}
        own = [joint for joint in limbs.chain(end) if joint not in shared]
        if len(own) >= _JOINTS and limbs.span(end, own[0]) >= _SPAN * limbs.span(chosen[0]):
            chosen.append(end)
    return chosen
