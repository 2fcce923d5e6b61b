"""What the estimator sees of the contacts along a recording, and the stances and swings that noise is measured in.

Which contacts are closed is what the estimator says, or a truth where the recording has one. Noise is measured well
inside of stances and swings, so that an event that is told some milliseconds early or late changes nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from hybrid_contact_ros.codes import ContactStatus, EventKind
from hybrid_contact_ros.config import EstimatorConfig
from hybrid_contact_ros.estimator import ContactEstimator, Parts
from hybrid_contact_ros.mechanics.model import RigidBodyModel
from hybrid_contact_ros.mechanics.state import RobotState

Array = NDArray[np.float64]
Bools = NDArray[np.bool_]

SETTLING, LEAVING = 0.02, 0.015
"""s after a touchdown and before a liftoff that are left out of a stance, and of a swing."""
LONG_ENOUGH = 0.02  # s of what is left
SMOOTHED = 0.01  # s, over which slip is averaged (activation.slip_on)


@dataclass(frozen=True, slots=True, eq=False)
class Seen:
    """One episode of n states with m contacts.

    Attributes:
        time: (n,) s. closed: (n, m), by the truth if there is one, else as told. told: (n, m), what the estimator says.
        sticking: (n, m), closed and not said to slip.
        gap: (n, m) m, over the configured planes. over_ground: (n, m) m, over the learned ground.
        rate: (n, m) m/s, of the gap. slide: (n, m, 3) m/s, along the surface, world axes.
        position: (n, m, 3) m, world. force: (n, m) N, observed, along the normal; NaN where efforts are unknown.
        load: (n, m) N, of the mode. touchdown_in: (n, m) s, a touchdown is foretold after this time, NaN where none is.
        liftoff_in: the same of liftoffs. touched: stamps of touchdowns that were told, s, per contact; lifted: of
        liftoffs.
    """

    time: Array
    closed: Bools
    told: Bools
    sticking: Bools
    gap: Array
    over_ground: Array
    rate: Array
    slide: Array
    position: Array
    force: Array
    load: Array
    touchdown_in: Array
    liftoff_in: Array
    touched: list[Array]
    lifted: list[Array]


def see(
    model: RigidBodyModel, config: EstimatorConfig, states: Sequence[RobotState], truth: Bools | None = None
) -> Seen:
    """Run the estimator over the states of one episode, from nothing remembered.

    Args:
        truth: (n, m), which contacts are closed, where it is known.
    """
    estimator = ContactEstimator(model, config)
    rows: dict[str, list[NDArray]] = {name: [] for name in _ROWS}
    events = []
    for state in states:
        prediction = estimator.update(state, Parts.MODE)
        for name, column in rows.items():
            column.append(np.array(getattr(prediction.mode, name)))
        events += [(e.contact, int(e.kind), 1e-9 * e.time_ns) for e in prediction.events if e.detected]
    x = {name: np.array(column) for name, column in rows.items()}
    told = x["closed"].astype(bool)
    normal = x["normal"]

    def along(force: Array) -> Array:
        return np.asarray(np.einsum("nmk,nmk->nm", force, normal), dtype=np.float64)

    def foretold(kind: EventKind) -> Array:
        return np.where(x["next_event"] == kind, x["time_to_event"], np.nan)

    def times(kind: EventKind) -> list[Array]:
        return [np.array([t for c, k, t in events if (c, k) == (i, kind)]) for i in range(model.contacts)]

    return Seen(
        time=1e-9 * np.array([state.stamp_ns for state in states], dtype=np.float64),
        closed=told if truth is None else np.asarray(truth, dtype=bool),
        told=told,
        sticking=told & (x["status"] != ContactStatus.SLIPPING),
        gap=x["gap"] + x["ground_offset"],
        over_ground=x["gap"],
        rate=x["gap_velocity"],
        slide=x["tangential_velocity"],
        position=x["position"],
        force=along(x["force_estimate"]),
        load=along(x["force_model"]),
        touchdown_in=foretold(EventKind.TOUCHDOWN),
        liftoff_in=foretold(EventKind.LIFTOFF),
        touched=times(EventKind.TOUCHDOWN),
        lifted=times(EventKind.LIFTOFF),
    )


_ROWS = (
    "closed", "status", "gap", "ground_offset", "gap_velocity", "tangential_velocity", "position", "normal",
    "force_estimate", "force_model", "next_event", "time_to_event",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Stretch:
    """A stance or a swing of one contact: samples ``begin`` to ``end`` (not in it) of an episode."""

    episode: int
    contact: int
    begin: int
    end: int

    @property
    def rows(self) -> slice:
        return slice(self.begin, self.end)


def stretches(seen: Sequence[Seen], closed: bool) -> list[Stretch]:
    """The insides of all stances, or of all swings, in the order of their episodes and times. A stretch that is cut
    by the begin or end of an episode counts from there."""
    found = []
    for e, each in enumerate(seen):
        for i, column in enumerate(each.closed.T):
            flags = column if closed else ~column
            edges = np.flatnonzero(np.diff(np.r_[False, flags, False].astype(int)))
            for begin, end in edges.reshape(-1, 2):
                first = each.time[begin] + (SETTLING if begin > 0 else 0.0)
                last = each.time[end - 1] - (LEAVING if end < len(flags) else 0.0)
                a, b = np.searchsorted(each.time, [first, last], side="left")
                if last - first >= LONG_ENOUGH and b - a >= 3:
                    found.append(Stretch(e, i, int(a), int(b)))
    return sorted(found, key=lambda s: (s.episode, s.begin, s.contact))


def pieces(found: Sequence[Stretch], seen: Sequence[Seen], longest: float = 0.25) -> list[Stretch]:
    """The same stretches in pieces that last no longer than ``longest`` s: of a robot that stands, each is a block."""
    cut = []
    for s in found:
        time = seen[s.episode].time
        parts = max(1, round(float(time[s.end - 1] - time[s.begin]) / longest))
        at = np.linspace(s.begin, s.end, parts + 1).astype(int)
        cut += [Stretch(s.episode, s.contact, int(a), int(b)) for a, b in pairwise(at) if b - a >= 3]
    return cut
