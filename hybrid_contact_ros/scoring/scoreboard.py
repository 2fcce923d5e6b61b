"""The scoreboard: it collects predictions and truth while they come, and scores them at the end.

The truth comes as messages of the suite. A ``ContactMode`` says which contacts touch (the bits of ``mode``, with
``contacts[].name`` or ``.frame`` for which is which). A ``PostImpactVelocitySet`` with ``count`` = 1 says what an
impact did (``v_minus``, ``velocities`` = v⁺, ``impact_time``). A contact of the truth may stand for a whole foot: it is
compared with all predicted contacts NAME_0, NAME_1, … or with those on the frame of that name, and predicted to be
closed when any of them is.
"""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from hybrid_contact_ros.codes import EventKind
from hybrid_contact_ros.impacts.convex_set import convex_set
from hybrid_contact_ros.mechanics.state import RobotState
from hybrid_contact_ros.prediction import ImpactPrediction, ModePrediction
from hybrid_contact_ros.scoring import classification, event_timing
from hybrid_contact_ros.scoring.containment import Containment, containment, in_landing
from hybrid_contact_ros.scoring.scores import HORIZONS, Scores
from hybrid_contact_ros.scoring.series import Series

Array = NDArray[np.float64]

_RECENT_SETS = 256  # sets that are kept until their impact is told
_SET_AGE = 0.1  # s; an older set was predicted for another impact


class TrueImpact(NamedTuple):
    """What an impact did: when it was (ns), and the velocities (nv,) before and after it."""

    time_ns: int
    v_minus: Array
    v_plus: Array


class Scoreboard:
    """Predictions and truth in, :class:`Scores` out.

    Args:
        names, frames: names and frames of the predicted contacts. mass: gives the mass matrix (nv, nv) of a state, for
        distances between velocities. opening, contact: shortest openings and contacts of the truth that count, s
        (:func:`~.event_timing.debounce`); 0: all. observer: called with each true impact, and with the set that it was
        compared with and what came of it, where there was one.
    """

    def __init__(
        self,
        names: Sequence[str],
        frames: Sequence[str],
        mass: Callable[[RobotState], Array],
        opening: float = 0.0,
        contact: float = 0.0,
        observer: Callable[[TrueImpact, ImpactPrediction | None, Containment | None], None] | None = None,
    ) -> None:
        self._names, self._frames, self._mass = list(names), list(frames), mass
        self._shortest = opening, contact
        self._observer = observer
        m = len(self._names)
        self._t, self._closed = Series(1, np.int64), Series(m, np.bool_)
        self._probability, self._time = Series(m, np.float64), Series(m, np.float64)
        self._kind = Series(m, np.uint8)
        self._groups: list[tuple[str, list[int]]] | None = None
        self._truth_t: Series | None = None
        self._truth: Series | None = None
        self._recent: deque[tuple[int, RobotState, ImpactPrediction]] = deque(maxlen=_RECENT_SETS)
        self._impacts = 0
        self._sets: list[Containment] = []

    def predicted(self, state: RobotState, mode: ModePrediction, impact: ImpactPrediction | None) -> None:
        """One prediction, with the state that it was made from."""
        self._t.append(mode.stamp_ns)
        self._closed.append(mode.closed)
        self._probability.append(mode.probability)
        self._kind.append(mode.next_event)
        self._time.append(mode.time_to_event)
        # That of a landing under way foretells nothing.
        every = () if impact is None else (*impact.after_each, impact)
        ahead = [one for one in every if not one.time_to_impact < 0.0]
        if ahead:
            self._recent.append((mode.stamp_ns, state, ahead[-1]))

    def truth(self, msg: Any) -> None:
        """One message of a truth topic.

        Raises:
            ValueError: its contacts are none of the predicted ones.
        """
        if hasattr(msg, "impact_time"):
            self._true_impact(msg)
        else:
            self._true_mode(msg)

    def scores(self) -> Scores | None:
        """The scores so far; ``None`` where no truth overlaps the predictions."""
        if self._groups is None or self._truth is None or self._truth_t is None or not self._t.rows.size:
            return None
        origin = int(self._t.rows[0, 0])
        t = (self._t.rows[:, 0] - origin) * 1e-9
        truth_t = (self._truth_t.rows[:, 0] - origin) * 1e-9
        order = np.argsort(truth_t, kind="stable")
        truth_t = truth_t[order]
        truth = event_timing.debounce(truth_t, self._truth.rows[order], *self._shortest)
        closed, probability = self._grouped()
        at, known = event_timing.at_stamps(t, truth_t, truth)
        if not known.any():
            return None
        touchdown = {h: [] for h in HORIZONS}  # type: dict[float, list[event_timing.EventTiming]]
        liftoff = {h: [] for h in HORIZONS}  # type: dict[float, list[event_timing.EventTiming]]
        delays: tuple[list[Array], list[Array]] = ([], [])
        for j, (_, members) in enumerate(self._groups):
            downs, ups = event_timing.edges(truth_t, truth[:, j])
            # Predictions could not foresee an edge outside of the time that they span.
            downs, ups = (x[(x >= t[0]) & (x <= t[-1])] for x in (downs, ups))
            delays[0].append(event_timing.detection_delays(t, closed[:, j], downs))
            delays[1].append(event_timing.detection_delays(t, ~closed[:, j], ups))
            for kind, times, store in ((EventKind.TOUCHDOWN, downs, touchdown), (EventKind.LIFTOFF, ups, liftoff)):
                announced, when = self._announced(members, kind)
                for h in HORIZONS:
                    store[h].append(event_timing.event_timing(t, announced, when, times, kind, h))
        return Scores(
            contacts=tuple(name for name, _ in self._groups),
            per_contact=tuple(classification.classify(closed[known, j], at[known, j]) for j in range(at.shape[1])),
            overall=classification.classify(closed[known], at[known]),
            touchdown=tuple(event_timing.pooled(touchdown[h]) for h in HORIZONS),
            liftoff=tuple(event_timing.pooled(liftoff[h]) for h in HORIZONS),
            touchdown_delay=np.concatenate(delays[0]),
            liftoff_delay=np.concatenate(delays[1]),
            brier=classification.brier(probability[known], at[known]),
            calibration=tuple(classification.calibration(probability[known], at[known])),
            states=int(known.sum()),
            impacts=self._impacts,
            sets=tuple(self._sets),
        )

    @property
    def groups(self) -> list[tuple[str, list[int]]]:
        """Contacts of the truth, with the indices of the predicted contacts that each is compared with."""
        return [] if self._groups is None else self._groups

    @property
    def truths(self) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
        """The truth as it was told: stamps (k,), ns, and which contacts of ``groups`` touched (k, groups)."""
        if self._truth is None or self._truth_t is None:
            return np.empty(0, np.int64), np.empty((0, 0), np.bool_)
        return self._truth_t.rows[:, 0], self._truth.rows

    def _true_mode(self, msg: Any) -> None:
        stamp, contacts = msg.header.stamp, msg.contacts if self._groups is None else ()
        names, frames = [c.name for c in contacts], [c.frame for c in contacts]
        self.true_mode(stamp.sec * 1_000_000_000 + stamp.nanosec, names, frames, int(msg.mode))

    def true_mode(self, stamp_ns: int, names: Sequence[str], frames: Sequence[str], mode: int) -> None:
        """A ``ContactMode`` of a truth topic: its contacts, of which the first one's count, and their bits.

        Raises:
            ValueError: its contacts are none of the predicted ones.
        """
        if self._groups is None:
            self._groups = [(c, self._members(c, frame)) for c, frame in zip(names, frames, strict=True)]
            self._groups_at = [i for i, (_, members) in enumerate(self._groups) if members]
            if not self._groups_at:
                theirs = ", ".join(names) or "none"
                raise ValueError(f"the truth names contacts {theirs}; predicted are {', '.join(self._names) or 'none'}")
            self._groups = [self._groups[i] for i in self._groups_at]
            self._truth_t, self._truth = Series(1, np.int64), Series(len(self._groups), np.bool_)
        assert self._truth_t is not None and self._truth is not None
        self._truth_t.append(stamp_ns)
        self._truth.append([bool(mode >> i & 1) for i in self._groups_at])

    def _members(self, name: str, frame: str) -> list[int]:
        for wanted in (name, frame):
            exact = [i for i, each in enumerate(self._names) if each == wanted]
            pattern = re.compile(re.escape(wanted) + r"_\d+")
            found = exact or [i for i, each in enumerate(self._names) if pattern.fullmatch(each)]
            found = found or [i for i, each in enumerate(self._frames) if each == wanted]
            if wanted and found:
                return found
        return []

    def _grouped(self) -> tuple[NDArray[np.bool_], Array]:
        assert self._groups is not None
        closed = np.stack([self._closed.rows[:, g].any(axis=1) for _, g in self._groups], axis=1)
        probability = np.stack([self._probability.rows[:, g].max(axis=1) for _, g in self._groups], axis=1)
        return closed, probability

    def _announced(self, members: list[int], kind: EventKind) -> tuple[NDArray[np.uint8], Array]:
        """The event that is predicted for a group as a whole, and when. A group touches down with its first member, and
        lifts off with its last one."""
        closed = self._closed.rows[:, members]
        says = self._kind.rows[:, members] == kind
        time = self._time.rows[:, members]
        if kind == EventKind.TOUCHDOWN:
            yes = says.any(axis=1) & ~closed.any(axis=1)
            when = np.where(says, time, np.inf).min(axis=1)
        else:
            yes = (says | ~closed).all(axis=1) & closed.any(axis=1)
            when = np.where(says & closed, time, -np.inf).max(axis=1)
        return np.where(yes, np.uint8(kind), np.uint8(0)), np.where(yes, when, np.nan)

    def _true_impact(self, msg: Any) -> None:
        self._impacts += 1
        time = msg.impact_time.sec * 1_000_000_000 + msg.impact_time.nanosec
        before = [entry for entry in self._recent if entry[0] < time and time - entry[0] <= _SET_AGE * 1e9]
        dof = int(msg.dof)
        v_minus = np.asarray(msg.v_minus, np.float64)
        v_plus = np.asarray(msg.velocities, np.float64)[:dof]
        told = TrueImpact(time, v_minus, v_plus)
        if not before or dof != before[-1][1].v.size:
            if self._observer is not None:
                self._observer(told, None, None)
            return
        _, state, impact = before[-1]
        mass = self._mass(state)
        found = containment(impact.velocities, impact.nominal, impact.lower, impact.upper, v_minus, v_plus, mass)
        if impact.generators is not None and len(impact.velocities):
            found = in_landing(found, convex_set(impact), v_minus, v_plus)
        self._sets.append(found)
        if self._observer is not None:
            self._observer(told, impact, found)
