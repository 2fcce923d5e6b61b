"""A landing of several feet, one after the other.

A foot that touches while the foot before it is still landing changes where that one ends, and so does a foot of which
nobody can say whether it touches first. Such feet are a cluster (:mod:`.touch_clusters`). Within it feet land one after
the other, with the flow between them (:mod:`hybrid_contact_ros.kernels.impacts.landing_chain`), at the times that are
predicted; where time bounds overlap, in any order that these allow. The difference that the order makes moves the sets,
which are drawn for touches at one instant (:mod:`.moved_sets`).
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from hybrid_contact_ros.config import LandingConfig
from hybrid_contact_ros.estimation.moved_sets import shifted, wider_fields
from hybrid_contact_ros.estimation.touch_clusters import Cluster, after_touches, cluster_of, impacting_contacts
from hybrid_contact_ros.impacts.landing_model import common_drives, joint_drives
from hybrid_contact_ros.impacts.landing_set import AT_ONCE
from hybrid_contact_ros.kernels.impacts.landing_chain import chain_scratch, landing_chain
from hybrid_contact_ros.kernels.impacts.landing_law import landing_outcomes, landing_scratch

__all__ = [
    "Cluster",
    "LandingChain",
    "after_touches",
    "cluster_of",
    "impacting_contacts",
    "never",
    "shifted",
    "wider_fields",
]

Array = NDArray[np.float64]

_LONGEST = 0.1  # s between touches that are followed: bounds of huge covariances are as wide as hours, and steps are ms
_STEPS, _TOLERANCE, _USABLE = 200, 1e-4, 1e-3  # of corners of soles; other contacts are solved to rounding


def never() -> bool:
    """Of sets without a deadline: whether their time is over."""
    return False


class LandingChain:
    """Landings of the same contacts in the order of their touches, state after state, in the same arrays.

    Everything that a landing adds is in the middle of its interval, but for the gain D with which drives hold their
    course between touches, of which both ends are taken.

    Args:
        config: of the landing. friction: μ (k,), restitution: (k,). d, n: tangents, coordinates. driven: (n,) bool.
    """

    def __init__(
        self, config: LandingConfig, friction: Array, restitution: Array, d: int, n: int, driven: NDArray[np.bool_]
    ) -> None:
        self._d, self._friction = d, np.ascontiguousarray(friction[None])
        self._duration = 0.5 * (config.duration_min + config.duration_max)
        self._config, self._drives = config, driven
        self._rebound = restitution + 0.5 * (config.rebound_min + config.rebound_max)
        self._ends = sorted({config.damping_min, config.damping_max})
        self._driven = driven.astype(np.float64)
        r = friction.size * (1 + d)
        self._scratch = landing_scratch(friction.size, d, n), chain_scratch(r, n)

    def shifts(
        self, mass: Array, bias: Array, rows: Array, velocity: Array, cluster: Cluster, late: Callable[[], bool] = never
    ) -> tuple[Array, bool]:
        """By how much (c, n) outcomes in these orders and at these times differ from that of all touches at once; and
        whether ``late`` cut them short, which is asked between cases of many contacts.

        Args:
            mass (n, n), bias = h − Sᵀτ (n,), rows J (k (1 + d), n), velocity v⁻ (n,), at the first touch.
        """
        middle = 0.5 * (self._ends[0] + self._ends[-1])
        cases = [(np.minimum(cluster.touch[0], 0.0), 0.0)]
        for i, touch in enumerate(cluster.touch):
            ends = self._ends if i < 2 else [middle]
            cases += [(touch, gain) for gain in (ends if touch.max() > 0.0 else [0.0])]
        touches = np.minimum(np.array([touch for touch, _ in cases]), _LONGEST)
        gains = np.array([gain for _, gain in cases])[:, None] * self._driven
        found, residuals = np.empty(gains.shape), np.full(len(cases), np.inf)
        drive, cut = self._drive(mass), False
        for begin, end in _runs(len(cases), self._friction.size):
            cut = late()
            if cut:
                break
            run = slice(begin, end)
            landing_chain(
                _STEPS, _TOLERANCE, self._d, mass, bias, rows, velocity, self._duration, drive, self._friction,
                self._rebound, touches[run], gains[run], *self._scratch[0], *self._scratch[1], found[run],
                residuals[run],
            )  # fmt: skip
        usable = residuals <= _USABLE
        if not usable[0] or not usable[1:].any():
            return np.zeros((1, velocity.size)), cut
        shifts = found[1:][usable[1:]] - found[0]
        same = {shift.tobytes(): i for i, shift in enumerate(shifts)}
        return shifts[list(same.values())], cut

    def bends(
        self, mass: Array, bias: Array, rows: Array, velocity: Array, middle: Array, before: Array, after: Array
    ) -> Array:
        """Half the difference (2 at most, nv) of the landings of v⁻ ± an error ``before`` (nv,) of it to what they are
        to first order, ``middle`` ± ``after`` (nv,)."""
        found = []
        for sign in (1.0, -1.0):
            there, _, usable = self.outcome(mass, bias, rows, velocity + sign * before)
            if usable:
                found.append(0.5 * (there - middle - sign * after))
        return np.array(found).reshape(len(found), velocity.size)

    def outcome(self, mass: Array, bias: Array, rows: Array, velocity: Array) -> tuple[Array, Array, bool]:
        """v⁺ (n,) of the landing of all contacts at once, its λ (k (1 + d),), and whether they were found."""
        n, r = velocity.size, rows.shape[0]
        out = np.empty((1, n)), np.zeros((1, r)), np.empty(1)
        landing_outcomes(
            _STEPS, _TOLERANCE, self._d, mass, bias, rows, velocity, np.full(1, self._duration),
            self._drive(mass), self._friction, np.zeros((1, r)), *self._scratch[0], *out,
        )  # fmt: skip
        return out[0][0], out[1][0], bool(out[2][0] <= _USABLE)

    def _drive(self, mass: Array) -> Array:
        """k (1, n) in the middle of its interval."""
        middle = 0.5 * sum(common_drives(self._config, mass, self._drives))
        return joint_drives(np.full(1, middle), mass, self._drives)


def _runs(cases: int, contacts: int) -> list[tuple[int, int]]:
    """Which cases are followed in one call: all of few contacts, of many one by one after the first two."""
    if contacts <= AT_ONCE:
        return [(0, cases)]
    return [(0, min(2, cases)), *((i, i + 1) for i in range(2, cases))]
