"""From saltation matrices and words to what a prediction says of an event."""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hybrid_contact_ros.codes import EventValidity
from hybrid_contact_ros.estimation.events_ahead import EventAhead
from hybrid_contact_ros.estimation.state_covariance import sigma_of
from hybrid_contact_ros.prediction import SensitivityPrediction, WordPrediction
from hybrid_contact_ros.sensitivity.cluster import ClusterSensitivity
from hybrid_contact_ros.sensitivity.saltation import Saltation

Array = NDArray[np.float64]

_SIGMAS = 2.0  # standard deviations of the times between touchdowns that the maps must hold for


def refused_record(
    stamp_ns: int, event: EventAhead, closed: Iterable[int], q: Array, v: Array, validity: EventValidity, why: str
) -> SensitivityPrediction:
    """An event of which nothing but its time is said."""
    return SensitivityPrediction(
        stamp_ns,
        event.kind,
        event.contacts,
        tuple(int(i) for i in closed),
        event.time,
        q,
        v,
        validity,
        why,
        None,
        np.full(len(event.contacts), np.nan),
        False,
    )


def single_record(
    stamp_ns: int,
    event: EventAhead,
    closed: Iterable[int],
    q: Array,
    v: Array,
    found: Saltation,
    covariance: Array | None,
) -> SensitivityPrediction:
    """A liftoff, a slip, or sticks that happen together: one word without impacts. ``covariance`` is at the event."""
    if found.matrix is None or found.time is None:
        validity = EventValidity[found.validity.name]
        return refused_record(stamp_ns, event, closed, q, v, validity, found.why)
    n, times = v.size, np.tile(found.time, (len(event.contacts), 1))
    sigma, after = sigma_of(times, covariance), None
    # The rate of a force is known for the time that remains: a time less certain than that is none.
    known = bool((_SIGMAS * sigma <= event.time).all())
    if covariance is not None:
        after = found.matrix @ covariance @ found.matrix.T
    word = WordPrediction(
        text=found.kind,
        struck=(),
        closed=(),
        probability=np.nan if covariance is None else 1.0,
        validity=EventValidity.VALID,
        why="",
        rank=found.rank(),
        velocity=found.velocity,
        saltation=found.matrix,
        velocity_gradient=found.velocity_gradient,
        parameter_matrix=found.parameter_matrix,
        velocity_covariance=None if after is None else after[n:, n:],
    )
    return SensitivityPrediction(
        stamp_ns,
        event.kind,
        event.contacts,
        tuple(int(i) for i in closed),
        event.time,
        q,
        v,
        EventValidity.VALID,
        "",
        times,
        sigma,
        known,
        found.parameters,
        (word,),
        probability_valid=known,
        spread=np.inf,
        mean=None if covariance is None else np.concatenate((np.zeros(n), v)),
        covariance=after,
        mixture_valid=known,
    )


def cluster_record(
    stamp_ns: int, event: EventAhead, found: ClusterSensitivity, covariance: Array | None, most: int
) -> SensitivityPrediction:
    """A cluster of touchdowns with at most ``most`` words, the most probable first. ``covariance`` is at the corner's
    instant."""
    moments = found.moments
    if not found.words:
        validity = EventValidity(found.status)
        return refused_record(stamp_ns, event, found.closed, found.q, found.velocity_before, validity, found.why)
    chance = np.full(found.words, np.nan) if moments is None else moments.probability
    order = np.argsort(-chance, kind="stable")[:most]
    words = _words(found, order, chance, covariance)
    shared: dict[str, Any] = {}
    certain = False  # that the maps hold for all times that a touchdown may have
    if moments is not None and covariance is not None:
        certain = bool((_SIGMAS * moments.time_sigma <= found.spread).all())
        narrow = certain and _extent(found, covariance) <= found.spread
        whole = found.status == EventValidity.VALID and not found.validity.any()
        shared = {
            "other_probability": max(0.0, 1.0 - float(chance[order].sum())),
            "probability_valid": bool(narrow and found.status == EventValidity.VALID),
            "mixture_valid": bool(narrow and whole),
        }
        if np.isfinite(moments.mean).all():
            shared |= {"mean": moments.mean, "covariance": moments.covariance}
    return SensitivityPrediction(
        stamp_ns,
        event.kind,
        found.contacts,
        found.closed,
        event.time,
        found.q,
        found.velocity_before,
        EventValidity(found.status),
        found.why,
        found.times,
        np.full(len(found.contacts), np.nan) if moments is None else moments.time_sigma,
        certain,
        found.parameters,
        words,
        spread=found.spread,
        **shared,
    )


def _words(
    found: ClusterSensitivity, order: NDArray[np.intp], chance: Array, covariance: Array | None
) -> tuple[WordPrediction, ...]:
    """The words in this order, with ``chance`` (w,). Of all at once what takes Python for each of them."""
    n = found.velocity_before.size
    bits = np.uint64(1) << np.arange(found.struck.shape[2], dtype=np.uint64)
    struck, rests = ((part[order] @ bits).tolist() for part in (found.struck, found.rests))
    last = (found.last_time[order] * found.speeds) @ found.times
    matrices = found.matrix[order]
    gradients = matrices[:, n:] + found.acceleration[order][:, :, None] * last[:, None]
    spreads = None if covariance is None else matrices[:, n:] @ covariance @ matrices[:, n:].transpose(0, 2, 1)
    words = []
    for at, j in enumerate(order.tolist()):
        impacts = int(found.impacts[j])
        masks = tuple(struck[at][:impacts]), tuple(rests[at][:impacts])
        text = " ".join(f"{_named(a, '+')}→{{{_named(b, ',')}}}" for a, b in zip(*masks, strict=True))
        validity = EventValidity(int(found.validity[j]))
        named = text, *masks, float(chance[j]), validity
        if validity != EventValidity.VALID:
            words.append(WordPrediction(*named, validity.name.lower().replace("_", " ")))
            continue
        words.append(
            WordPrediction(
                *named,
                why="",
                rank=int(found.rank[j]),
                velocity=found.velocity[j],
                saltation=matrices[at],
                velocity_gradient=gradients[at],
                parameter_matrix=found.parameter_matrix[j],
                velocity_covariance=None if spreads is None else spreads[at],
            )
        )
    return tuple(words)


@lru_cache(maxsize=1024)
def _named(mask: int, between: str) -> str:
    """The contacts of a bit mask, as :func:`~hybrid_contact_ros.sensitivity.orders.word_of` has them."""
    return between.join(str(i) for i in range(mask.bit_length()) if mask >> i & 1)


def _extent(found: ClusterSensitivity, covariance: Array) -> float:
    """s: how far apart two of the touchdowns may be, as predicted and by twice the standard deviation of that."""
    when = found.gaps / found.speeds
    apart = when[:, None] - when
    change = (found.times[:, None] - found.times[None]).reshape(-1, covariance.shape[0])
    spread = sigma_of(change, covariance).reshape(apart.shape)
    return float((np.abs(apart) + _SIGMAS * spread).max(initial=0.0))
