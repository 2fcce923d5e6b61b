"""Touchdowns that follow each other closely: which of them are one landing, and when each of its feet may touch.

A foot that touches while the foot before it is still landing changes where that one ends, and so does a foot of which
nobody can say whether it touches first. Such feet are a cluster. Within it feet land one after the other, with the flow
between them (:mod:`hybrid_contact_ros.kernels.impacts.landing_chain`), at the times that are predicted; where time
bounds overlap, in any order that these allow.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from itertools import accumulate
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from hybrid_contact_ros.codes import EventKind
from hybrid_contact_ros.config import ImpactConfig, LandingConfig
from hybrid_contact_ros.estimation.changed import changed
from hybrid_contact_ros.estimation.small_systems import after_transposed, factor_of, principal_axes
from hybrid_contact_ros.impacts.landing_model import common_drives, joint_drives
from hybrid_contact_ros.impacts.landing_set import AT_ONCE
from hybrid_contact_ros.kernels.impacts.landing_chain import chain_scratch, landing_chain
from hybrid_contact_ros.kernels.impacts.landing_law import landing_outcomes, landing_scratch
from hybrid_contact_ros.prediction import ImpactPrediction

Array = NDArray[np.float64]
Contacts = NDArray[np.intp]

_TOUCHDOWN = int(EventKind.TOUCHDOWN)
_STANDS = -1.0
_AT_ONCE = 0.00025  # s: corners of a sole, and feet that no landing tells apart
_EXCHANGED = 4  # touchdowns; of more, orders of neighbours are not exchanged
_LONGEST = 0.1  # s between touches that are followed: bounds of huge covariances are as wide as hours, and steps are ms
_FLAT = 1e-6  # of the widest extent: shifts are flat in directions of less
_STEPS, _TOLERANCE, _USABLE = 200, 1e-4, 1e-3  # of corners of soles; other contacts are solved to rounding


def never() -> bool:
    """Of sets without a deadline: whether their time is over."""
    return False


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
    when = times[:, 0].tolist()
    due = [(when[i], i) for i, what in enumerate(kind.tolist()) if what == _TOUCHDOWN]
    together = closed != 0
    if any(math.isnan(at) for at, _ in due):
        return np.flatnonzero(together), math.nan
    first = min(due)[0] if due else math.inf
    if first > config.horizon:
        return np.zeros(0, dtype=np.intp), math.inf
    last, latest = first, -math.inf
    for time, i in sorted(due):
        if time > first + config.window:
            break
        if duration is not None:
            _, early, late = times[i].tolist()
            if not (time <= last + duration or early <= latest):
                break
            last, latest = time, max(latest, late)
        together[i] = True
    return np.flatnonzero(together), first


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
    known = sorted((*row, i) for row, i in zip(times[contacts[hits]].tolist(), hits.tolist(), strict=True))
    order = [int(row[3]) for row in known]
    time = [row[0] for row in known]
    bounds = [(early, late) if math.isfinite(early + late) else (now, now) for now, early, late, _ in known]
    touch = np.full((1, contacts.size), _STANDS)
    touch[:, order] = 0.0
    earliest, latest = (min(row[end] for row in bounds) for end in (0, 1))  # of the first touch, whichever foot it is
    if len(time) < 2:
        return Cluster(touch, earliest, latest, 1.0)
    cases, last = [time], len(time) - 1
    if any(late > early for early, late in bounds):
        # From the first touch to the last: how far bounds let each be late, or early.
        along = [(late - early) * i / last for i, (early, late) in enumerate(bounds)]
        cases.append([early + more for (early, _), more in zip(bounds, along, strict=True)])
        cases.append(list(accumulate((late - less for (_, late), less in zip(bounds, along, strict=True)), max)))
    for i in range(last if last < _EXCHANGED else 0):
        if bounds[i][1] > bounds[i + 1][0]:  # the second may come before the first
            cases.append([*time[:i], bounds[i][1], bounds[i + 1][0], *time[i + 2 :]])
    touch = np.repeat(touch, len(cases), axis=0)
    touch[:, order] = [_grouped(case, min(case)) for case in cases]
    sigma = [(late - early) / max(2.0 * sigmas, 1e-9) for early, late in bounds]
    return Cluster(touch, earliest, latest, _in_order(time, sigma))


def after_touches(contacts: Contacts, closed: NDArray[np.uint8], times: Array) -> list[Contacts]:
    """The contacts that have landed after each touch but the last, in the order predicted; none of more than four
    touches, which are those of soles' corners.

    Args:
        contacts, closed, times: as of :func:`cluster_of`.
    """
    hits = contacts[closed[contacts] == 0]
    touch = _grouped(times[hits, 0].tolist())
    touches = sorted(set(touch))
    if len(touches) > _EXCHANGED:
        return []
    late = [{int(i) for i, time in zip(hits, touch, strict=True) if time > last} for last in touches[:-1]]
    return [np.array([i for i in contacts.tolist() if i not in later], dtype=np.intp) for later in late]


def _grouped(touch: list[float], zero: float = 0.0) -> list[float]:
    """Times since ``zero``, those that are at once set to the first of them."""
    found, first = [time - zero for time in touch], -math.inf
    for i in sorted(range(len(found)), key=found.__getitem__):
        if found[i] > first + _AT_ONCE:
            first = found[i]
        found[i] = first
    return found


def _in_order(time: list[float], sigma: list[float]) -> float:
    """The probability that each touchdown follows its neighbour, taken as if neighbours were independent."""
    probability = 1.0
    for i in range(len(time) - 1):
        apart = math.hypot(sigma[i], sigma[i + 1])
        if apart > 0.0:
            probability *= 0.5 * math.erfc((time[i] - time[i + 1]) / (math.sqrt(2.0) * apart))
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


def shifted(found: ImpactPrediction, shifts: Array, mass: Array, **others: Any) -> ImpactPrediction:
    """The set moved by each of ``shifts`` (c, nv), and what lies between; with other fields as given.

    The smallest box around the shifts along their principal axes in the kinetic norm is added: exactly their hull where
    there are two of them, and wider where there are more.
    """
    if not shifts.any():
        return changed(found, **others)
    L = factor_of(mass)
    scaled = shifts @ L
    centre = scaled.mean(axis=0)
    size, axes = principal_axes(scaled - centre)
    axes = axes[size > _FLAT * max(float(size[0]), _FLAT * float(np.abs(scaled).max()))]
    along = (scaled - centre) @ axes.T
    low, high = along.min(axis=0, initial=np.inf), along.max(axis=0, initial=-np.inf)
    moves = np.concatenate(((centre + 0.5 * (low + high) @ axes)[None], 0.5 * (high - low)[:, None] * axes))
    back = np.ascontiguousarray(after_transposed(L, moves.T).T)
    middle, half = back[0], back[1:]
    velocities = found.velocities + middle
    energies = 0.5 * np.einsum("ki,ki->k", velocities @ mass, velocities)
    wider = wider_fields(found, half, middle)
    return changed(
        found,
        velocities=velocities,
        kinetic_energy_min=float(energies.min()),
        kinetic_energy_max=float(energies.max()),
        **wider,
        **others,
    )


def wider_fields(found: ImpactPrediction, generators: Array, middle: Array | float = 0.0) -> dict[str, Any]:
    """The set's generators, and all its bounds, with these generators (g, nv) added, the bounds moved by ``middle``."""
    reach = np.abs(generators).sum(axis=0)
    known = () if found.generators is None else (found.generators,)
    less, more = middle - reach, middle + reach
    fields: dict[str, Any] = {"generators": np.concatenate((*known, generators))}
    for name in ("lower", "upper", "quantile_lower", "quantile_upper"):
        bound = getattr(found, name)
        if bound is not None:
            fields[name] = bound + (less if name.endswith("lower") else more)
    return fields
