"""Whether something else than the feet carries the robot: a crane, a stand, a person.

Kinematics cannot tell a robot that hangs still, or is lifted as slowly as odometry drifts, from one that stands.
Efforts can, even though the crane's force is one that they do not explain, which costs them their trust: r of
:mod:`.effort_trust` holds Jᵀλ in the rows of the joints, and all that is not from the joints in those of the base.
Where

- the base is carried by a good part of the robot's weight,
- no limb has a force in its joints that is a good part of its share of it, and
- the efforts of each limb do explain what holds the limb itself up (drives that say zero explain nothing),

no contact presses. In a gait, a fall or a landing the base is carried by what the joints show, and one of these fails.
A limb stays idle until its own joints show a force: while the robot is let down, feet touch one after the other.

Where efforts tell nothing, only motion can: what is held to stand and goes on down, by more than ground gives way,
hangs (:func:`note_lowering`). A foot that rested, and falls on, hovered, where the ground is not known to be soft: a
leg had stopped it, as some controllers do before they put a foot down.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from hybrid_contact_ros.kernels.compiling import kernel
from hybrid_contact_ros.kernels.estimation.met_ground import is_single
from hybrid_contact_ros.kernels.estimation.records import Array, Codes
from hybrid_contact_ros.kernels.estimation.stance import DRIFT_SPEED, SMOOTHING

_CARRIED = 0.5  # of the weight, by which something carries the base
_IDLE = 0.3  # of a limb's share of the weight, in parts of which a joint's force is none
_BEARS = 0.12  # the same, of a limb that hung until now
_OWN = 0.5  # of what holds a limb up may be left unexplained
_SMOOTH = 0.05  # s
_FOR = 0.05  # s, before it is believed
_LONG = 1.0  # s, of a pause after which nothing is known
_THROUGH = 0.03  # m, by which no ground gives way under what stands on it
# m/s along the normal and the surface: what is no faster rests; s, m/s, m: what has rested for so long, and then falls
# faster, and by more than this, had hovered
_RESTS, _MOVES, _RESTED, _FALLS, _FELL = 0.03, 0.07, 0.03, 0.04, 0.0015
_BASE, _LINEAR = -1, 3  # a coordinate's limb where it is the base's; of these the first are forces


LOWERED, HOVERED = 2, 3
"""``idle`` of a contact that went on down through what it seemed to stand on: that is no ground; and of one whose foot
does so now, after it rested, and may meet the ground at once."""


LOWERING = 3
SUNK, RESTED, REST = range(LOWERING)
"""Columns of ``sunk``: m, by which the contact went on down while it was held to stand, infinite of one that hovered;
s, for which it has rested since it is; and m, at which height."""


class HangMemory(NamedTuple):
    """What is remembered."""

    since: Array  # (l,), s since nothing speaks for a force on the limb
    idle: Codes  # (m,), out: whether the contact does not press for certain; ``LOWERED``: for its motion
    sunk: Array  # (m, LOWERING), of :func:`note_lowering`
    slow: Array  # (2, nv), parts of the weight: low-passed forces in the joints, and what their efforts should be
    unseen: Array  # (1,), s since these were known: a pause, and the filters' start after it
    light: Array  # (m,), s since nothing presses on the contact by the joints of its limb alone (:mod:`.pushes`)


@kernel
def note_hanging(dt, table, trust, hang):
    """Take one state, after :func:`~.effort_trust.check_efforts` has filtered it."""
    settled = trust.begun[2]
    share = 1.0 - math.exp(-(dt + hang.unseen[0]) / _SMOOTH)
    hang.unseen[0] = 0.0
    carried = 0.0
    for k in range(trust.rough.shape[0]):
        if table.limb[k] == _BASE:
            if k < _LINEAR:
                carried += (trust.second[0, k] / settled) ** 2
        elif table.limb[k] >= 0:
            left = trust.second[0, k] / settled
            hang.slow[0, k] += share * (left - hang.slow[0, k])
            hang.slow[1, k] += share * (left + trust.second[1, k] / settled - hang.slow[1, k])
    every = True
    for limb in range(trust.weight.shape[0]):
        now, left, needed = 0.0, 0.0, 0.0
        for k in range(trust.rough.shape[0]):
            if table.limb[k] == limb:
                now += (trust.second[0, k] / settled) ** 2
                left += hang.slow[0, k] ** 2
                needed += hang.slow[1, k] ** 2
        most = _BEARS if hang.since[limb] > _FOR else _IDLE
        light = now < (most * table.share) ** 2
        every = every and light
        if not (light and left < _OWN * _OWN * needed):
            hang.since[limb] = 0.0
        elif hang.since[limb] == 0.0:
            hang.since[limb] = 1e-9
    carried_now = not table.fixed and carried > _CARRIED * _CARRIED
    for limb in range(trust.weight.shape[0]):
        if not carried_now or not (every or hang.since[limb] > _FOR):
            hang.since[limb] = 0.0
        elif hang.since[limb] > 0.0:
            hang.since[limb] += dt
    for i in range(hang.idle.shape[0]):
        limb = table.contact_limb[i]
        hang.idle[i] = 1 if limb >= 0 and hang.since[limb] > _FOR else 0


@kernel
def note_lowering(dt, known, soft, plane_of, link_of, closed, height, velocity, noise, hang):
    """Without known forces: which contacts of a floating base go on down through what they are held to stand on.

    The sum of what a contact goes down, less what a base drifts, or what the contact moves along the surface if that is
    more: it slides down a slope then. A contact hangs from where the sum says so until it is stopped, and so does a
    foot that rested and falls on.

    Args:
        dt: s, since the last state. known: whether forces are. soft: whether the ground gives way.
        plane_of: (m,), −1 for joint limits. link_of: (m,), the first contact of the same link.
        closed: (m,) uint8. height: (m,), m, low-passed. velocity: (m, 3), m/s, low-passed; normal first.
        noise: (m,), m/s, of the rates.
        hang: out; ``idle`` is written where it is so.
    """
    for i in range(hang.idle.shape[0]):
        down, along = -velocity[i, 0], math.hypot(velocity[i, 1], velocity[i, 2])
        sunk = hang.sunk[i]
        lowered = sunk[SUNK] > _THROUGH
        if known or plane_of[i] < 0 or not (closed[i] or (lowered and down > DRIFT_SPEED)):
            sunk[SUNK] = 0.0
        elif not lowered:
            sunk[SUNK] = max(sunk[SUNK] + dt * (down - max(along, DRIFT_SPEED)), 0.0)
        rigid = not known and plane_of[i] >= 0 and not soft and is_single(i, link_of)
        if sunk[SUNK] == 0.0 and not closed[i]:
            sunk[RESTED] = 0.0
        elif rigid and _falls_on(dt, height[i], down, along, noise[i], sunk):
            sunk[SUNK] = math.inf
        if sunk[SUNK] > _THROUGH:
            hang.idle[i] = HOVERED if sunk[SUNK] == math.inf else LOWERED
        elif hang.idle[i] >= LOWERED:  # of the state before, where no efforts are checked
            hang.idle[i] = 0


@kernel
def _falls_on(dt, height, down, along, noise, sunk):
    """Whether a foot that was held to stand hovered: it rested, and falls on. ``sunk``: in and out, (LOWERING,)."""
    if abs(down) < _RESTS and along < _MOVES:
        sunk[RESTED] += dt
        sunk[REST] = height
        return False
    fell = sunk[REST] - height > _FELL + noise * SMOOTHING
    return sunk[RESTED] > _RESTED and fell and down > max(_FALLS, along)


@kernel
def wait_for_efforts(dt, hang):
    """Efforts are known, and not for long enough after a pause. A robot that hung before it hangs on, unless the pause
    was a long one: what it bears is known soon."""
    hang.unseen[0] += dt
    if dt > _LONG:
        forget_hanging(hang)


@kernel
def forget_hanging(hang):
    """Efforts are not known."""
    for limb in range(hang.since.shape[0]):
        hang.since[limb] = 0.0
    for i in range(hang.idle.shape[0]):
        hang.idle[i] = 0


def hang_memory(m: int, nv: int, limbs: int) -> HangMemory:
    """Nothing is known."""
    return HangMemory(
        since=np.zeros(limbs), idle=np.zeros(m, np.uint8), sunk=np.zeros((m, LOWERING)),
        slow=np.zeros((2, nv)), unseen=np.zeros(1), light=np.zeros(m),
    )  # fmt: skip
