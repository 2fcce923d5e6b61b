"""The interval of each contact's μ, learned from landing to landing."""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from hybrid_contact_ros.codes import ContactStatus, EventKind
from hybrid_contact_ros.config import EstimatorConfig
from hybrid_contact_ros.estimation.answers import blocks
from hybrid_contact_ros.estimation.engine import weight
from hybrid_contact_ros.impacts.landing_model import LandingTerms
from hybrid_contact_ros.kernels.estimation.update_records import VECTORS
from hybrid_contact_ros.mechanics.model import RigidBodyModel
from hybrid_contact_ros.prediction import Event, ModePrediction

Array = NDArray[np.float64]

_BELOW, _SLID_BELOW, _ABOVE = 0.9, 0.8, 1.15
"""Of what was seen, for what it is seen with: ratios of contacts that stick are up to 1.08 μ with the noise of
``benchmarks/estimator.py``, those of contacts that slide 0.9 to 1.25 μ."""
_HIGHEST = 3.0  # a ratio above is none of friction
_LOADED = 0.5  # of the load that each contact carries when all share the weight; a smaller force tells little
_SLIDES, _AGAINST = 0.15, 0.85  # m/s; cosine between the force and the direction against the slip
_SETTLES = 1.0  # time constants of the observer for which a contact must slide before its ratio is that of sliding
_ROW = 3  # looks in a row that must agree
_LONGEST_NS = 60_000_000  # a landing is watched at most so long
_PERIOD_NS = 1_900_000  # and looked at no more often
_REMEMBERED = 8  # landings of a contact; what it showed before that is forgotten


class FrictionMemory:
    """What landings say of μ.

    From its touchdown on a contact is watched for up to 60 ms. The forces are those of the momentum observer. It is the
    same low-pass for the normal and the tangential one, so that their ratio is a mean of the ratios of its time, and
    at most μ: the largest one that was seen is a lower bound. Where a contact slides against the force for a time
    constant of the observer, the ratio is μ: it is an upper bound as well. What the last eight landings of a contact
    showed cuts the interval μ ± ``part``, the later one where two contradict each other. Where they contradict the
    configuration, they are believed. Where one contact slides, however shortly, on less than the configuration has,
    the others may stand on the same ground: their intervals begin there, too, as far as they have not shown more
    themselves. Nothing is learned where forces are unknown.

    Modes and forces are computed with the configured μ all the same.

    Attributes:
        learned: (low, high), each (m,), of μ; None where nothing was learned yet. New arrays whenever something is.
    """

    def __init__(self, model: RigidBodyModel, config: EstimatorConfig) -> None:
        """``impact.friction_margin`` is the ``part``; at 0, and without observer or terms of a landing, nothing is
        learned."""
        self._friction, self._part = model.friction.copy(), config.impact.friction_margin
        self._load = _LOADED * weight(model) / max(model.contacts, 1)
        used = self._part > 0.0 and not LandingTerms.of(config.landing).off
        self._learns = used and config.observer.gain > 0.0
        self._settles_ns = int(1e9 * _SETTLES / config.observer.gain) if self._learns else 0
        self.reset()

    def reset(self) -> None:
        """Forget all landings."""
        self.learned: tuple[Array, Array] | None = None
        self._watched: dict[int, _Watched] = {}
        self._due_ns = 0
        self._seen = [deque[_Watched](maxlen=_REMEMBERED) for _ in self._friction]

    def note(self, stamp_ns: int, events: Iterable[Event], mode: ModePrediction) -> None:
        """Take one state, the next in time. Between landings this is two comparisons."""
        if not self._learns:
            return
        for event in events:
            if event.detected and event.kind == EventKind.TOUCHDOWN:
                self._watched[event.contact] = _Watched(stamp_ns)
                self._due_ns = stamp_ns
        if self._watched and stamp_ns >= self._due_ns:
            self._due_ns = stamp_ns + _PERIOD_NS
            self._watch(stamp_ns, mode)

    def _watch(self, stamp_ns: int, mode: ModePrediction) -> None:
        floats, octets = blocks(mode)  # an attribute of the mode would be made for each state anew
        m = self._friction.size
        vectors = floats[: 3 * VECTORS * m].reshape(VECTORS, m, 3)
        for contact, seen in tuple(self._watched.items()):
            if octets[contact] < ContactStatus.STICKING or stamp_ns - seen.begin_ns > _LONGEST_NS:
                del self._watched[contact]
                if seen.ratio > 0.0:
                    self._learn(contact, seen)
            else:
                seen.take(stamp_ns, *_forces(*vectors[:, contact].tolist()), self._load, self._settles_ns)

    def _learn(self, contact: int, seen: _Watched) -> None:
        self._seen[contact].append(seen)
        slippery = _SLID_BELOW * min((seen.slipped for landings in self._seen for seen in landings), default=math.inf)
        found = [self._interval(mu, slippery, self._seen[i]) for i, mu in enumerate(self._friction.tolist())]
        low, high = np.array(found).T.copy()
        self.learned = low, high

    def _interval(self, friction: float, slippery: float, landings: Iterable[_Watched]) -> tuple[float, float]:
        low, high = 0.0, math.inf
        for seen in landings:  # the latest last
            if math.isinf(seen.slipped):
                low = max(low, _BELOW * seen.ratio)
                high = math.inf if low > high else high
            else:
                low = min(low, _SLID_BELOW * seen.slipped)
            if seen.slid > 0.0:
                low, high = _SLID_BELOW * seen.slid, _ABOVE * seen.slid
        first, last = max(min((1.0 - self._part) * friction, slippery), low), min((1.0 + self._part) * friction, high)
        if first <= last:
            return first, last
        if low > last:  # it holds better than the configuration has it
            return low, min(high, low * _ABOVE / _BELOW)
        return max(low, high * _SLID_BELOW / _ABOVE), high


class _Watched:
    """A landing of one contact.

    Attributes:
        ratio: largest ratio of its forces that three looks in a row reach; 0 where there was none.
        slipped: least ratio of three looks in a row at which it slides; infinity where it does not.
        slid: largest ratio at which it slides since a time constant of the observer; 0 where it does not.
    """

    __slots__ = ("begin_ns", "last", "ratio", "slid", "slides_ns", "slipped", "slips")

    def __init__(self, begin_ns: int) -> None:
        self.begin_ns, self.slides_ns, self.slips = begin_ns, -1, 0
        self.ratio, self.slipped, self.slid = 0.0, math.inf, 0.0
        self.last: tuple[float, ...] = ()

    def take(
        self,
        stamp_ns: int,
        normal: float,
        tangential: float,
        speed: float,
        against: float,
        load: float,
        settles_ns: int,
    ) -> None:
        """One look: forces (N), speed of slip (m/s), −f_t · u_t (W)."""
        if not normal >= load or tangential > _HIGHEST * normal:  # a force that is not known is NaN
            self.last, self.slips = (), 0
            return
        ratio = tangential / normal
        self.last = (*self.last[1 - _ROW :], ratio)
        if len(self.last) == _ROW:
            self.ratio = max(self.ratio, min(self.last))
        if speed < _SLIDES or against < _AGAINST * speed * tangential:
            self.slips = 0
            return
        self.slips += 1
        if self.slips == 1:
            self.slides_ns = stamp_ns
        if self.slips >= _ROW:
            self.slipped = min(self.slipped, ratio)
        if stamp_ns - self.slides_ns >= settles_ns:
            self.slid = max(self.slid, ratio)


def _forces(
    position: list[float], normal: list[float], slip: list[float], model: list[float], estimate: list[float]
) -> tuple[float, float, float, float]:
    """Normal and tangential force (N), speed of slip (m/s), and −f_t · u_t (W) of a contact, from the vectors that a
    mode has of it."""
    (fx, fy, fz), (nx, ny, nz), (ux, uy, uz) = estimate, normal, slip
    push = fx * nx + fy * ny + fz * nz
    tangential = math.sqrt(max(fx * fx + fy * fy + fz * fz - push * push, 0.0))
    return push, tangential, math.sqrt(ux * ux + uy * uy + uz * uz), -(fx * ux + fy * uy + fz * uz)
