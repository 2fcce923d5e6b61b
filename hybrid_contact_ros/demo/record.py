"""The record of the demo: predictions beside the truth, and what they were worth.

What it takes are views of messages (:mod:`~hybrid_contact_ros.messages.views`), and nothing here needs ROS. Times are
in seconds since the first prediction.
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hybrid_contact_ros.codes import ContactStatus, EventKind, Flag
from hybrid_contact_ros.demo.landings import HeardSet, Landing, landing
from hybrid_contact_ros.messages.contact_events import EventSource
from hybrid_contact_ros.messages.views import ConstraintStabilityView, ContactModeView, PostImpactVelocitySetView
from hybrid_contact_ros.scoring.event_timing import debounce
from hybrid_contact_ros.scoring.scoreboard import Scoreboard
from hybrid_contact_ros.scoring.scores import HORIZONS
from hybrid_contact_ros.scoring.series import Series

Array = NDArray[np.float64]

STATUS = tuple(status.name.lower() for status in ContactStatus)
EVENT = ("", *(kind.name.lower() for kind in EventKind if kind != EventKind.NONE))
FLAG = tuple(flag.name.lower() for flag in Flag)
CHATTER = 0.005, 0.005  # s; shorter openings and contacts of the truth are chatter of the simulator's stiff contacts
_RECENT = 1000  # predictions, over which the live latency is taken
_SETS = 256  # sets that are kept until their impact
_SETTLED_NS = 200_000_000  # sets of states before an impact come no later than modes of states this long after it
_END_NS = 2**63 - 1
_FRESH_NS = 50_000_000  # an older set was predicted for another impact


@dataclass(frozen=True, slots=True)
class Heard:
    """One prediction as the scoreboard reads it, with the fields of
    :class:`~hybrid_contact_ros.prediction.ModePrediction`."""

    stamp_ns: int
    closed: NDArray[np.bool_]
    probability: Array
    next_event: NDArray[np.uint8]
    time_to_event: Array


class DemoRecord:
    """Collects what was heard. :meth:`snapshot` is for the live table, :meth:`summary` for the end.

    Args:
        contacts: names of the contacts, in the order of the predictions.
        mass: gives M (nv, nv) at a configuration (nq,).
        normals: gives J_n (m, nv) at a configuration.
    """

    def __init__(
        self, contacts: Sequence[str], mass: Callable[[Array], Array], normals: Callable[[Array], Array]
    ) -> None:
        self.contacts = tuple(contacts)
        self._mass, self._normals = mass, normals
        m = len(self.contacts)
        self._board = Scoreboard(self.contacts, self.contacts, lambda state: mass(state.q), *CHATTER)
        self.latency = Series(1, np.float64)
        self.stamps, self.closed, self.force = Series(1, np.int64), Series(m, np.bool_), Series(m, np.float64)
        self.truth_stamps, self._truth_raw = Series(1, np.int64), Series(m, np.bool_)
        self.truth_force = Series(m, np.float64)
        self._landings: list[Landing] = []
        self._pending: deque[tuple[PostImpactVelocitySetView, Array]] = deque()
        self.sets: deque[PostImpactVelocitySetView] = deque(maxlen=_SETS)
        self.events: Counter[str] = Counter()
        self._mode: ContactModeView | None = None
        self._truth: ContactModeView | None = None
        self._flags: ConstraintStabilityView | None = None

    # ------------------------------------------------------------------ in

    def mode(self, view: ContactModeView, received_ns: int) -> None:
        """A ``ContactMode`` of the suite."""
        self._mode, stamp, contacts = view, view.stamp_ns, view.contacts
        closed = contacts["status"] >= ContactStatus.STICKING
        self.latency.append(1e-9 * (received_ns - stamp))
        self.stamps.append(stamp)
        self.closed.append(closed)
        self.force.append((contacts["force_model"] * contacts["normal"]).sum(axis=1))
        columns = (contacts[name] for name in ("probability", "next_event", "time_to_event"))
        self._board.predicted(None, Heard(stamp, closed, *columns), None)  # type: ignore[arg-type]
        self._settle(stamp)

    def truth(self, view: ContactModeView) -> None:
        """A ``ContactMode`` of the simulator."""
        self._truth = view
        self._board.true_mode(view.stamp_ns, view.names, view.frames, view.mode)
        self.truth_stamps.append(view.stamp_ns)
        self._truth_raw.append(view.contacts["status"] >= ContactStatus.STICKING)
        self.truth_force.append(view.contacts["force_estimate"][:, 2])

    def stability(self, view: ConstraintStabilityView) -> None:
        """A ``ConstraintStability`` of the suite."""
        self._flags = view

    def event(self, msg: Any) -> None:
        """A ``ContactEvent`` of the suite."""
        self.events[f"{EventSource(msg.source).name.lower()} {EVENT[msg.kind]}"] += 1

    def impact(self, view: PostImpactVelocitySetView) -> None:
        """A ``PostImpactVelocitySet`` of the suite."""
        self.sets.append(view)

    def true_impact(self, view: PostImpactVelocitySetView, q: Array) -> None:
        """A ``PostImpactVelocitySet`` of the simulator: the outcome of an impact at the configuration ``q`` (nq,)."""
        self._pending.append((view, q))
        self._settle(int(self.stamps.rows[-1, 0]) if self.stamps.rows.size else 0)

    def _settle(self, heard_until_ns: int) -> None:
        """Score the impacts whose predictions must have come by now; the suite may be behind the simulator."""
        while self._pending and self._pending[0][0].impact_time_ns + _SETTLED_NS <= heard_until_ns:
            view, q = self._pending.popleft()
            time_ns = view.impact_time_ns
            near = [
                s  # but none of a landing that had begun
                for s in self.sets
                if s.stamp_ns < time_ns and time_ns - s.stamp_ns < _FRESH_NS and not s.time_to_impact < 0.0
            ]
            self._landings.append(
                landing(
                    time_ns,
                    view.names,
                    view.v_minus.copy(),
                    view.velocities[0].copy(),
                    _heard_set(near[-1]) if near else None,
                    self._mass(q),
                    self._normals(q),
                )
            )

    # ------------------------------------------------------------------ out

    def truth_closed(self) -> NDArray[np.bool_]:
        """The truth (n, m) without chatter, at ``truth_stamps``."""
        return debounce(1e-9 * self.truth_stamps.rows[:, 0], self._truth_raw.rows, *CHATTER)

    def landings(self) -> list[Landing]:
        """The landings so far, each with the set that was predicted of it and where the truth lies in that set."""
        self._settle(_END_NS)
        return self._landings

    def snapshot(self) -> dict[str, Any]:
        """Plain values for the live table."""
        recent = self.latency.rows[-_RECENT:, 0]
        rows = []
        for i, name in enumerate(self.contacts):
            row: dict[str, Any] = {"name": name, "mode": "unknown", "true": "unknown"}
            if self._mode is not None:
                c = self._mode.contacts[i]
                row.update(
                    mode=STATUS[c["status"]],
                    force=float(self.force.rows[-1, i]),
                    event=EVENT[c["next_event"]],
                    time=float(c["time_to_event"]),
                    gap=float(c["gap"]),
                )
            if self._truth is not None:
                true = self._truth.contacts[i]["status"]
                row.update(true=STATUS[true], true_force=float(self.truth_force.rows[-1, i]))
            if self._flags is not None:
                row.update(stability=FLAG[self._flags.constraint_stability[i]], friction=FLAG[self._flags.friction[i]])
            rows.append(row)
        return {
            "seconds": self._seconds(),
            "predictions": int(self.latency.rows.shape[0]),
            "contacts": rows,
            "order_sensitive": self._order_sensitive(),
            "landings": [x.to_dict() for x in self._landings],
            "sets": len(self.sets),
            "latency_p50": _quantile(recent, 50),
            "latency_p99": _quantile(recent, 99),
        }

    def summary(self) -> dict[str, Any]:
        """What the predictions were worth, as plain values; None where a number does not exist."""
        scores = self._board.scores()
        latency = self.latency.rows[:, 0]
        return {
            "predictions": int(latency.size),
            "seconds": self._seconds(),
            "latency": {f"p{q:g}": _quantile(latency, q) for q in (50, 99, 99.9)},
            "landings": [x.to_dict() for x in self.landings()],
            "events": dict(self.events),
            "horizons": list(HORIZONS),
            "scores": None if scores is None else scores.to_dict(),
        }

    def _seconds(self) -> float:
        rows = self.stamps.rows[:, 0]
        return 1e-9 * float(rows[-1] - rows[0]) if rows.size else 0.0

    def _order_sensitive(self) -> list[list[str]]:
        flags = self._flags
        if flags is None:
            return []
        return [
            [self.contacts[i], self.contacts[j]]
            for i, j, yes in zip(flags.pair_first, flags.pair_second, flags.pair_order_sensitive, strict=True)
            if yes == Flag.HOLDS
        ]


def _heard_set(view: PostImpactVelocitySetView) -> HeardSet:
    """The set with arrays of its own, because those of a view may be unaligned."""
    arrays = (view.v_minus, view.v_nominal, view.velocities, view.generators, view.lower, view.upper)
    v_minus, nominal, velocities, generators, lower, upper = (each.copy() for each in arrays)
    return HeardSet(
        view.stamp_ns,
        view.names,
        view.velocity_names,
        view.time_to_impact,
        v_minus,
        nominal,
        velocities,
        generators.reshape(-1, velocities.shape[1]),
        view.margin,
        lower,
        upper,
        view.coverage,
        bool(view.truncated),
    )


def _quantile(values: Array, q: float) -> float | None:
    return float(np.percentile(values, q)) if values.size else None
