"""The scoreboard: it collects predictions and truth while they come, and scores them at the end.

The truth comes as messages of the suite. A ``ContactMode`` says which contacts touch (the bits of ``mode``, with
``contacts[].name`` or ``.frame`` for which is which). A ``PostImpactVelocitySet`` with ``count`` = 1 says what an
impact did (``v_minus``, ``velocities`` = v⁺, ``impact_time``). A contact of the truth may stand for a whole foot: it is
compared with all predicted contacts NAME_0, NAME_1, … or with those on the frame of that name, and predicted to be
closed when any of them is.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from hybrid_contact_ros.impacts.convex_set import convex_set
from hybrid_contact_ros.mechanics.state import RobotState
from hybrid_contact_ros.prediction import ImpactPrediction, ModePrediction
from hybrid_contact_ros.scoring.contact_scores import CHATTER, of_impacts, score
from hybrid_contact_ros.scoring.containment import Containment, containment, in_landing
from hybrid_contact_ros.scoring.scores import Scores
from hybrid_contact_ros.scoring.series import Series
from hybrid_contact_ros.scoring.track import Track, Truth, members_of, of_one_clock

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
        """The scores so far; ``None`` where no truth overlaps the predictions. A truth of impacts alone gives scores of
        them alone."""
        truth = self.truth_told()
        if not self._t.rows.size:
            return None
        if truth is None:
            return of_impacts(self._impacts, tuple(self._sets)) if self._impacts else None
        kept = of_one_clock(self._t.rows[:, 0])
        track = Track(
            self._t.rows[kept, 0],
            tuple(self._names),
            tuple(self._frames),
            self._closed.rows[kept],
            self._probability.rows[kept],
            self._kind.rows[kept],
            self._time.rows[kept],
        )
        return score(track, truth, self._shortest, self._impacts, tuple(self._sets), CHATTER)

    def truth_told(self) -> Truth | None:
        """Which contacts touched, in the order of the stamps; None where that was not told."""
        if self._groups is None or self._truth is None or self._truth_t is None:
            return None
        order = np.argsort(self._truth_t.rows[:, 0], kind="stable")
        closed = self._truth.rows[order]
        groups = tuple((name, tuple(members)) for name, members in self._groups)
        return Truth(self._truth_t.rows[order, 0], groups, closed, np.ones(closed.shape, bool))

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
            self._groups = [
                (c, members_of((c, frame), self._names, self._frames)) for c, frame in zip(names, frames, strict=True)
            ]
            self._groups_at = [i for i, (_, members) in enumerate(self._groups) if members]
            if not self._groups_at:
                theirs = ", ".join(names) or "none"
                raise ValueError(f"the truth names contacts {theirs}; predicted are {', '.join(self._names) or 'none'}")
            self._groups = [self._groups[i] for i in self._groups_at]
            self._truth_t, self._truth = Series(1, np.int64), Series(len(self._groups), np.bool_)
        assert self._truth_t is not None and self._truth is not None
        self._truth_t.append(stamp_ns)
        self._truth.append([bool(mode >> i & 1) for i in self._groups_at])

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
