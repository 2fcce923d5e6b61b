"""Which touchdowns are one landing, and in which order and when each of its feet may touch."""

from __future__ import annotations

import math
from itertools import accumulate
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from hybrid_contact_ros.codes import EventKind
from hybrid_contact_ros.config import ImpactConfig

Array = NDArray[np.float64]
Contacts = NDArray[np.intp]

_TOUCHDOWN = int(EventKind.TOUCHDOWN)
_STANDS = -1.0
_AT_ONCE = 0.00025  # s: corners of a sole, and feet that no landing tells apart
_EXCHANGED = 4  # touchdowns; of more, orders of neighbours are not exchanged


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
