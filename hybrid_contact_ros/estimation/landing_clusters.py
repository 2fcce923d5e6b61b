"""Touchdowns that follow each other closely: which of them are one landing, and when each of its feet may touch.

A foot that touches while the foot before it is still landing changes where that one ends, and so does a foot of which
nobody can say whether it touches first. Such feet are a cluster. Within it feet land one after the other, with the flow
between them (:mod:`hybrid_contact_ros.kernels.impacts.landing_chain`), at the times that are predicted; where time
bounds overlap, in any order that these allow.
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from hybrid_contact_ros.codes import EventKind
from hybrid_contact_ros.config import ImpactConfig, LandingConfig
from hybrid_contact_ros.impacts.landing_model import common_drives, joint_drives
from hybrid_contact_ros.kernels.impacts.landing_chain import chain_scratch, landing_chain
from hybrid_contact_ros.kernels.impacts.landing_law import landing_outcomes, landing_scratch
from hybrid_contact_ros.prediction import ImpactPrediction

Array = NDArray[np.float64]
Contacts = NDArray[np.intp]

_STANDS = -1.0
_AT_ONCE = 0.00025  # s: corners of a sole, and feet that no landing tells apart
_EXCHANGED = 4  # touchdowns; of more, orders of neighbours are not exchanged
_FLAT = 1e-6  # of the widest extent: shifts are flat in directions of less
_STEPS, _TOLERANCE, _USABLE = 200, 1e-8, 1e-4


class Cluster(NamedTuple):
    """The touchdowns of one landing.

    Attributes:
        touch: (cases, k), s after the first touch, for each contact that takes part; negative for those that stand.
            The first case is the prediction; the others are the ends of what the bounds allow, the touches at one
            instant among them wherever the bounds allow it.
        earliest, latest: s after the stamp, of the first touch.
        probability: of the predicted order, if the times' errors are independent and Gaussian; 1 for one touchdown.
    """

    touch: Array
    earliest: float
    latest: float
    probability: float


def impacting_contacts(
    config: ImpactConfig,
    closed: NDArray[np.uint8],
    kind: NDArray[np.uint8],
    times: Array,
    duration: float | None = None,
) -> tuple[Contacts, float]:
    """Which contacts take part in the next impact, and when (s) it begins.

    All that stand take part, and the touchdowns of one cluster. A touchdown belongs to it that comes within
    ``duration`` of the one before it, or whose earliest time is not after the latest time of one before it, but none
    that comes more than ``config.window`` after the first. Without a ``duration`` touchdowns are at once, and all
    within the window belong together. Where no touchdown is predicted within ``config.horizon`` it is none, and
    infinity.

    Args:
        closed: (m,) uint8. kind: next event (m,) uint8, EventKind. times: (m, 3) s, time, earliest, latest.
        duration: s, for which a landing lasts at least.
    """
    touching = kind == EventKind.TOUCHDOWN
    if not touching.any():
        return np.zeros(0, dtype=np.intp), np.inf
    when = np.where(touching, times[:, 0], np.inf)
    first = float(when.min())
    if first > config.horizon:
        return np.zeros(0, dtype=np.intp), np.inf
    together = when <= first + config.window
    if duration is not None:
        last, latest, open_ = first, -math.inf, True
        for i in np.argsort(when, kind="stable").tolist():
            if not together[i]:
                continue
            time, early, late = times[i].tolist()
            open_ = open_ and (time <= last + duration or early <= latest)
            together[i] = open_
            if open_:
                last, latest = time, max(latest, late)
    return np.flatnonzero(together | (closed != 0)), first


def cluster_of(contacts: Contacts, closed: NDArray[np.uint8], times: Array, sigmas: float) -> Cluster:
    """When the touchdowns of a cluster may come.

    Beside the prediction the cases are: from the first touch, as early as may be, to the last, as late as may be; the
    other way round, where feet that would change their order touch at once; and each two neighbours in order whose
    bounds overlap exchanged, as far apart as that order may be.

    Args:
        contacts: (k,), as of :func:`impacting_contacts`. closed: (m,). times: (m, 3) s, time, earliest, latest.
        sigmas: half-width of the bounds, in standard deviations.
    """
    hits = np.flatnonzero(closed[contacts] == 0)
    own = times[contacts[hits]]
    order = np.argsort(own[:, 0], kind="stable")
    hits, own = hits[order], own[order]
    time, early, late = own.T
    known = np.isfinite(own).all(axis=1)
    early, late = np.where(known, early, time), np.where(known, late, time)
    if hits.size < 2:
        touch = np.full((1, contacts.size), _STANDS)
        touch[:, hits] = 0.0
        return Cluster(touch, *_window(early, late), 1.0)
    # From the first touch to the last: how far bounds let each be late, or early.
    along = (late - early) * np.linspace(0.0, 1.0, hits.size)
    swapped = late[:-1] - early[1:]  # how long the second may come before the first
    cases = [time]
    if (late > early).any():
        cases += [early + along, np.maximum.accumulate(late - along)]
    for i in np.flatnonzero(swapped > 0.0).tolist() if hits.size <= _EXCHANGED else ():
        other = time.copy()
        other[i], other[i + 1] = late[i], early[i + 1]
        cases.append(other)
    touch = np.full((len(cases), contacts.size), _STANDS)
    touch[:, hits] = [_grouped(case - case.min()) for case in cases]
    return Cluster(touch, *_window(early, late), _in_order(np.diff(time), (late - early) / max(2.0 * sigmas, 1e-9)))


def after_touches(contacts: Contacts, closed: NDArray[np.uint8], times: Array) -> list[Contacts]:
    """The contacts that have landed after each touch but the last, in the order predicted; none of more than four
    touches, which are those of soles' corners.

    Args:
        contacts, closed, times: as of :func:`cluster_of`.
    """
    hits = contacts[closed[contacts] == 0]
    touch = _grouped(times[hits, 0]) if hits.size else np.zeros(0)
    touches = np.unique(touch)
    if len(touches) > _EXCHANGED:
        return []
    return [np.setdiff1d(contacts, hits[touch > last]) for last in touches[:-1]]


def _grouped(touch: Array) -> Array:
    """Times (k,) with those that are at once set to the first of them."""
    found, first = touch.copy(), -math.inf
    for i in np.argsort(touch, kind="stable").tolist():
        if touch[i] > first + _AT_ONCE:
            first = touch[i]
        found[i] = first
    return found


def _window(early: Array, late: Array) -> tuple[float, float]:
    """Of the first touch, whichever foot it is."""
    return float(early.min()), float(late.min())


def _in_order(gaps: Array, sigma: Array) -> float:
    """The probability that each touchdown follows its neighbour, taken as if neighbours were independent."""
    probability = 1.0
    for gap, apart in zip(gaps.tolist(), np.hypot(sigma[1:], sigma[:-1]).tolist(), strict=True):
        if apart > 0.0:
            probability *= 0.5 * math.erfc(-gap / (math.sqrt(2.0) * apart))
    return probability


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

    def shifts(self, mass: Array, bias: Array, rows: Array, velocity: Array, cluster: Cluster) -> Array:
        """By how much (c, n) outcomes in these orders and at these times differ from that of all touches at once.

        Args:
            mass (n, n), bias = h − Sᵀτ (n,), rows J (k (1 + d), n), velocity v⁻ (n,), at the first touch.
        """
        middle = 0.5 * (self._ends[0] + self._ends[-1])
        cases = [(np.minimum(cluster.touch[0], 0.0), 0.0)]
        for i, touch in enumerate(cluster.touch):
            ends = self._ends if i < 2 else [middle]
            cases += [(touch, gain) for gain in (ends if touch.max() > 0.0 else [0.0])]
        touches = np.array([touch for touch, _ in cases])
        gains = np.array([gain for _, gain in cases])[:, None] * self._driven
        found, residuals = np.empty(gains.shape), np.empty(len(cases))
        landing_chain(
            _STEPS, _TOLERANCE, self._d, mass, bias, rows, velocity, self._duration, self._drive(mass), self._friction,
            self._rebound, touches, gains, *self._scratch[0], *self._scratch[1], found, residuals,
        )  # fmt: skip
        usable = residuals <= _USABLE
        if not usable[0] or not usable[1:].any():
            return np.zeros((1, velocity.size))
        shifts = found[1:][usable[1:]] - found[0]
        return np.asarray(np.unique(shifts, axis=0))

    def _drive(self, mass: Array) -> Array:
        """k (1, n) in the middle of its interval."""
        middle = 0.5 * sum(common_drives(self._config, mass, self._drives))
        return joint_drives(np.full(1, middle), mass, self._drives)

    def impulse(self, mass: Array, bias: Array, rows: Array, velocity: Array) -> Array:
        """λ (k (1 + d),) of the landing of all contacts at once."""
        n, r = velocity.size, rows.shape[0]
        out = np.empty((1, n)), np.zeros((1, r)), np.empty(1)
        landing_outcomes(
            _STEPS, _TOLERANCE, self._d, mass, bias, rows, velocity, np.full(1, self._duration),
            self._drive(mass),
            self._friction, np.zeros((1, r)), *self._scratch[0], *out,
        )  # fmt: skip
        return out[1][0] if out[2][0] <= _USABLE else np.zeros(r)


def shifted(found: ImpactPrediction, shifts: Array, mass: Array) -> ImpactPrediction:
    """The set moved by each of ``shifts`` (c, nv), and what lies between.

    The smallest box around the shifts along their principal axes in the kinetic norm is added: exactly their hull where
    there are two of them, and wider where there are more.
    """
    if not shifts.any():
        return found
    L = np.linalg.cholesky(mass)
    scaled = shifts @ L
    centre = scaled.mean(axis=0)
    _, size, axes = np.linalg.svd(scaled - centre, full_matrices=False)
    axes = axes[size > _FLAT * max(float(size[0]), _FLAT * float(np.abs(scaled).max()))]
    along = (scaled - centre) @ axes.T
    low, high = along.min(axis=0, initial=np.inf), along.max(axis=0, initial=-np.inf)
    middle = np.linalg.solve(L.T, centre + 0.5 * (low + high) @ axes)
    half = np.linalg.solve(L.T, (0.5 * (high - low)[:, None] * axes).T).T
    moved: dict[str, Any] = {name: None if bound is None else bound + middle for name, bound in _bounds(found).items()}
    velocities = found.velocities + middle
    energies = 0.5 * np.einsum("ki,ki->k", velocities @ mass, velocities)
    found = replace(
        found,
        velocities=velocities,
        kinetic_energy_min=float(energies.min()),
        kinetic_energy_max=float(energies.max()),
        **moved,
    )
    return widened(found, np.ascontiguousarray(half))


def widened(found: ImpactPrediction, generators: Array) -> ImpactPrediction:
    """The set, and all bounds, with these generators (g, nv) added."""
    if not len(generators):
        return found
    reach = np.abs(generators).sum(axis=0)
    known = () if found.generators is None else (found.generators,)
    wider: dict[str, Any] = {
        name: None if bound is None else bound - reach if name.endswith("lower") else bound + reach
        for name, bound in _bounds(found).items()
    }
    return replace(found, generators=np.concatenate((*known, generators)), **wider)


def _bounds(found: ImpactPrediction) -> dict[str, Any]:
    names = ("lower", "upper", "quantile_lower", "quantile_upper")
    return {name: getattr(found, name) for name in names}
