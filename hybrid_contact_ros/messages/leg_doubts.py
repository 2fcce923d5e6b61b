"""Legs and odometry that do not fit each other: names of legs that are exchanged, other units, another robot's URDF.

Whatever gait a robot has, each of its feet stands still for a good part of the time, by the motion of base and joints
together. Where they move, and would stand still if two legs had each other's joints, the names of the joints are
exchanged. Where they would stand still if the base were a thousand times as slow, odometry is in mm, which pose and
twist alone cannot tell; if it were 0.7 times as fast, the legs are longer than those of the URDF. That feet slip, fly
or are carried makes no such guess come true, so that nothing is said of it. Nothing is corrected: it is told.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import combinations, permutations

import numpy as np
from numpy.typing import NDArray

from hybrid_contact_ros.mechanics.leg_motion import LegMotion, Model
from hybrid_contact_ros.mechanics.rotation import rotation_matrix
from hybrid_contact_ros.mechanics.state import RobotState

Array = NDArray[np.float64]

_WINDOW = 1.0  # s, that are looked at together
_PERIOD = 0.02  # s, over which velocities are averaged
_PAUSE = 0.2  # s; a longer one starts a window anew
_FEWEST = 10  # samples of a window
_SMOOTH = 0.03  # s; where samples are nearer to each other, two of them are averaged: noise of velocities is white
_CALM = 0.5  # part of a window in which a foot moves least: what it does in the other part is a swing
_SLOW = 0.05  # m/s, root mean square of a base that stands, and says nothing
_SLIPS = 0.002  # m/s, by which feet that stand move at least where the names of legs are looked at
_EXCHANGED = 0.75  # part of it that is left with other names. It is 0.91 at least where the names are right
_MOVES, _PART = 0.03, 0.1  # m/s, and of the velocity of the base, the same where its velocity is looked at
# Parts of it that are left with another velocity; 0.82 at least where odometry is right. Noise of the velocity of a
# base that stands shrinks with its factor.
_UNIT_LEFT, _LENGTH_LEFT = 0.4, 0.45
_OF_IT = 0.5  # part of that velocity that is left at most: legs of a robot that is carried do not make up for it
_WALKS = 0.1  # m/s, root mean square of a velocity that is not made of noise
_FASTEST, _CREEPS = 5.0, 0.01  # m/s; faster than the first nothing is carried: both do not hold, and the second does
_UNITS = (1e-3, 1e-2, 0.3048, 1.0 / 0.3048, 100.0, 1000.0)
_LENGTHS = (0.7, 1.4, 1.6, 1.8)  # nothing nearer to 1: feet that slip on by a fifth of each step are no other legs
_BACK = -1.0
_AGAIN = 3  # windows in a row
_LEGS = 6  # of a robot of which all orders of legs are looked at; of others two legs exchange their joints


class LegDoubts:
    """Looks whether feet stand still, a second at a time, and if not, with what change they would.

    Args:
        model: a :class:`~hybrid_contact_ros.mechanics.model.RigidBodyModel` with a floating base.
    """

    def __init__(self, model: Model) -> None:
        self._motion = LegMotion(model)
        self._turns = len(self._motion.source)
        self._orders = _orders(self._motion.source)
        self.reset()

    def reset(self) -> None:
        """Forget all states."""
        self._last, self._told = 0, ""
        self._guesses: list[str] = []  # of the last windows in a row
        self._begin(0)
        self._next(0)

    def _begin(self, stamp: int) -> None:
        """A window begins."""
        self._since = stamp
        self._stamps: list[int] = []
        self._feet: list[list[Array]] = []  # of each sample the velocities of all turns
        self._base: list[Array] = []
        self._left: tuple[Array, Array] | None = None  # q and v of a sample whose turns are not all evaluated

    def _next(self, stamp: int) -> None:
        """A sample begins: q near its middle, and the sum of v."""
        self._from, self._count = stamp, 0
        self._q: Array | None = None
        self._v = np.zeros(1)

    def add(self, state: RobotState) -> str:
        """A state: what is odd by the last windows, in words, or nothing."""
        stamp = state.stamp_ns
        if not self._motion.legs:
            return ""
        if not 0 < stamp - self._last <= 1e9 * _PAUSE:
            self.reset()
            self._begin(stamp)
            self._next(stamp)
        self._last = stamp
        if stamp - self._from >= 1e9 * _PERIOD and self._q is not None:
            self._finish()
            if stamp - self._since >= 1e9 * _WINDOW:
                self._look()
                self._begin(stamp)
            velocity = self._v / self._count
            self._left = self._q, velocity
            self._stamps.append(stamp)
            self._feet.append([])
            self._base.append(rotation_matrix(self._q[3:7]) @ velocity[:3])
            self._next(stamp)
        elif self._left is not None:
            self._evaluate()
        if self._q is None or stamp - self._from <= 0.5e9 * _PERIOD:
            self._q = state.q.copy()
        self._v = self._v + state.v
        self._count += 1
        return self._told

    def _evaluate(self) -> None:
        """One turn of the sample, so that no single state waits for all of them."""
        assert self._left is not None
        found = self._feet[-1]
        found.append(self._motion.feet(*self._left, len(found)))
        if len(found) == self._turns:
            self._left = None

    def _finish(self) -> None:
        while self._left is not None:
            self._evaluate()

    def _look(self) -> None:
        """What a window says."""
        if len(self._feet) < _FEWEST:
            return
        period = 1e-9 * (self._stamps[-1] - self._stamps[0]) / (len(self._stamps) - 1)
        feet, base = np.array(self._feet), np.array(self._base)
        if period < _SMOOTH:
            feet, base = 0.5 * (feet[1:] + feet[:-1]), 0.5 * (base[1:] + base[:-1])
        speed = float(np.sqrt((base**2).sum(axis=1).mean()))
        moving = self._speeds(feet, base)
        if max(speed, float(moving[0].mean())) < _SLOW:  # says nothing: what was said before holds
            return
        guess = self._velocity(feet, base, float(moving[0].mean()), speed) or self._exchange(moving)
        self._guesses = [*self._guesses[1 - _AGAIN :], guess] if guess else []
        if len(self._guesses) < _AGAIN:
            self._told = ""
        else:
            self._told = max(self._guesses, key=self._guesses.count)

    def _speeds(self, feet: Array, base: Array) -> Array:
        """(turns, legs), the mean speed of each leg's stillest contact in its calmer part of the window."""
        each = np.sqrt(((feet + base[:, None, None]) ** 2).sum(axis=3))
        of = self._motion.of_contact
        legs = np.stack([each[:, :, of == leg].min(axis=2) for leg in range(len(self._motion.legs))], axis=2)
        legs.sort(axis=0)
        return np.asarray(legs[: max(1, int(_CALM * len(legs)))].mean(axis=0))

    def _velocity(self, feet: Array, base: Array, moving: float, speed: float) -> str:
        """How fast the base must be for the feet to stand still, if it is not as fast as odometry says."""
        if moving < max(_MOVES, _PART * speed):
            return ""
        possible = speed < _FASTEST
        least = _WALKS if possible else _CREEPS
        tried = [factor for factor in (*_UNITS, *_LENGTHS, _BACK) if abs(factor) * speed > least]
        left = [float(self._speeds(feet[:, :1], factor * base).mean()) for factor in tried]
        if not left:
            return ""
        factor = tried[int(np.argmin(left))]
        enough = (_LENGTH_LEFT if factor in _LENGTHS else _UNIT_LEFT) * moving
        if min(left) > (min(enough, _OF_IT * abs(factor) * speed) if possible else enough):
            return ""
        if factor == _BACK:
            return "feet that stand move, and would not if the base moved the other way: are its axes the URDF's?"
        cause = "is odom in m and m/s?" if factor in _UNITS else "is the URDF that of the robot, and odom in m/s?"
        return f"feet that stand move, and would not if the base were {factor:.3g} times as fast: {cause}"

    def _exchange(self, moving: Array) -> str:
        """Which legs have to exchange their joints for the feet to stand still."""
        if self._turns == 1 or float(moving[0].mean()) < _SLIPS:
            return ""
        legs = np.arange(len(self._motion.legs))
        costs = np.full((legs.size, legs.size), np.inf)
        costs[legs, self._motion.source] = moving
        each = costs[legs, self._orders].mean(axis=1)
        best = int(np.argmin(each))
        if float(each[best]) > _EXCHANGED * float(moving[0].mean()):
            return ""
        return (
            "feet that stand move, and would less if legs had each other's joints: are the names of the joints of "
            f"{self._rings(self._orders[best].tolist())} exchanged?"
        )

    def _rings(self, source: list[int]) -> str:
        """The legs that exchange their joints, in words."""
        said, seen = [], set()
        for leg in range(len(source)):
            ring = [leg]
            while source[ring[-1]] != leg:
                ring.append(source[ring[-1]])
            if len(ring) > 1 and leg not in seen:
                said.append(" and ".join(self._motion.legs[i] for i in ring))
            seen |= set(ring)
        return ", and of ".join(said)


def _orders(source: NDArray[np.intp]) -> NDArray[np.intp]:
    """(orders, legs), the legs that each has its joints from, of all orders in which these may be exchanged."""
    legs = range(source.shape[1])
    alike = [set(source[:, leg].tolist()) for leg in legs]
    tried: Iterable[Sequence[int]] = permutations(legs)
    if len(legs) > _LEGS:
        tried = [[b if i == a else a if i == b else i for i in legs] for a, b in combinations(legs, 2)]
    found = [order for order in tried if all(of in alike[leg] for leg, of in enumerate(order))]
    return np.array(found, dtype=np.intp).reshape(len(found), len(legs))
