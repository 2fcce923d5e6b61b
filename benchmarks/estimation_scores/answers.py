"""What the estimator says of a recording, as arrays along its n samples and the k contacts of the truth."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from benchmarks.estimation_scores.episodes import Array, Bools, Episode, Source, states
from hybrid_contact_ros.codes import EventKind
from hybrid_contact_ros.estimator import ContactEstimator, Parts
from hybrid_contact_ros.mechanics.model import RigidBodyModel
from hybrid_contact_ros.mechanics.state import RobotState

KINDS = {"touchdown": EventKind.TOUCHDOWN, "liftoff": EventKind.LIFTOFF}


@dataclass(frozen=True, slots=True, eq=False)
class Ahead:
    """The events of one kind that are predicted: (n, k) s after the sample, NaN where none is; with its bounds, its
    density's quantiles (n, k, 5), whether that is said to be calibrated, and the probability that it comes."""

    time: Array
    earliest: Array
    latest: Array
    quantiles: Array | None = None
    valid: Bools | None = None
    probability: Array | None = None


@dataclass(frozen=True, slots=True, eq=False)
class Answers:
    """closed, probability: (n, k). detected: times, s, of the events of each kind and contact that were told as having
    happened. ahead: the predicted events by kind. valid: (n,), whether the probabilities are said to be calibrated."""

    time: Array
    closed: Bools
    probability: Array
    detected: dict[str, list[Array]]
    ahead: dict[str, Ahead]
    valid: Bools | None = None


_QUANTILES = ("time_q05", "time_q25", "time_to_event", "time_q75", "time_q95")
_TIMES = (*_QUANTILES, "earliest", "latest", "density_valid", "event_probability")
_NAMES = ("closed", "probability", "probability_valid", "next_event", *_TIMES)


def answers(
    source: Source,
    estimator: ContactEstimator,
    episode: Episode,
    make: Callable[[RigidBodyModel, Episode], list[RobotState]] | None = None,
) -> Answers:
    """Run the estimator over an episode, from nothing remembered. ``make``: makes its states."""
    estimator.reset()
    rows: dict[str, list[NDArray]] = {}
    events = []
    given = states(estimator.model, episode.recording) if make is None else make(estimator.model, episode)
    for state in given:
        told = estimator.update(state, Parts.MODE)
        mode = told.mode
        for name in _NAMES:
            rows.setdefault(name, []).append(np.array(getattr(mode, name)))
        events += [(e.contact, e.kind, 1e-9 * e.time_ns) for e in told.events if e.detected]
    each = {name: np.array(x) for name, x in rows.items()}
    groups = source.members
    closed = np.stack([each["closed"][:, g].any(axis=1) for g in groups], axis=1)
    probability = np.stack([each["probability"][:, g].max(axis=1) for g in groups], axis=1)
    time = episode.recording.time
    detected: dict[str, list[Array]] = {}
    for name, kind in KINDS.items():
        detected[name] = []
        for i, group in enumerate(groups):
            if len(group) == 1:
                detected[name].append(np.array([t for c, k, t in events if (c, k) == (group[0], kind)]))
            else:  # A sole touches with its first point, and leaves with its last one.
                detected[name].append(rises(time, closed[:, i] if name == "touchdown" else ~closed[:, i]))
    ahead = {name: _ahead(each, groups, k) for name, k in KINDS.items()}
    return Answers(time, closed, probability, detected, ahead, each["probability_valid"])


def rises(time: Array, flags: Bools) -> Array:
    """Stamps of the first samples of each stretch of True but one that begins with the series."""
    return time[1:][flags[1:] & ~flags[:-1]]


def _ahead(each: dict[str, NDArray], groups: tuple[tuple[int, ...], ...], kind: EventKind) -> Ahead:
    """A group touches down with the first of its points, and lifts off with the last that is closed."""
    columns: dict[str, list[Array]] = {name: [] for name in _TIMES}
    for group in groups:
        members = list(group)
        closed, says = each["closed"][:, members], each["next_event"][:, members] == kind
        when = each["time_to_event"][:, members].astype(float)
        if kind == EventKind.TOUCHDOWN:
            yes = says.any(axis=1) & ~closed.any(axis=1)
            member = np.where(says, when, np.inf).argmin(axis=1)
        else:
            yes = (says | ~closed).all(axis=1) & closed.any(axis=1)
            member = np.where(says & closed, when, -np.inf).argmax(axis=1)
        for name, column in columns.items():
            value = np.take_along_axis(each[name][:, members].astype(float), member[:, None], axis=1)[:, 0]
            column.append(np.where(yes, value, np.nan))
    told = {name: np.stack(column, axis=1) for name, column in columns.items()}
    return Ahead(
        told["time_to_event"], told["earliest"], told["latest"], np.stack([told[name] for name in _QUANTILES], axis=2),
        told["density_valid"] == 1.0, told["event_probability"],
    )  # fmt: skip
