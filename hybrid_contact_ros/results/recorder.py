"""The recorder: it looks on while a replay runs, and makes the tables of its result.

It changes nothing of what it is shown, so that a replay with it says the same to the bit. Most numbers are kept as
float32: ten minutes of a robot dog at 500 Hz are about 120 MB in memory, and half of that in the file.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from hybrid_contact_ros.mechanics.state import RobotState
from hybrid_contact_ros.prediction import Event, ImpactPrediction, ModePrediction, Prediction, StabilityPrediction
from hybrid_contact_ros.results.columns import Columns
from hybrid_contact_ros.results.file import Table
from hybrid_contact_ros.results.force_sigma import Array, force_sigma
from hybrid_contact_ros.results.impact_rows import ImpactRows
from hybrid_contact_ros.scoring.containment import Containment
from hybrid_contact_ros.scoring.scoreboard import TrueImpact

_BLOCK = 512  # states that wait to be folded into columns together

_MODE = {
    "closed": np.bool_, "status": np.uint8, "probability": np.float32, "gap": np.float32, "gap_velocity": np.float32,
    "ground_offset": np.float32, "ground_sigma": np.float32, "force_weight": np.float32, "next_event": np.uint8,
    "time_to_event": np.float32, "earliest": np.float32, "latest": np.float32, "bounds_valid": np.bool_,
    "friction_lower": np.float32, "friction_upper": np.float32, "slip_warning": np.bool_,
}  # fmt: skip
"""Fields of :class:`~hybrid_contact_ros.prediction.ModePrediction` with an entry a contact: columns of ``contacts``."""
_STABILITY = {
    "constraint_stability": np.uint8, "bounded_time_stability": np.uint8, "zeno": np.uint8, "grazing": np.uint8,
    "friction": np.uint8, "pseudo_impulse": np.uint8, "constraint_force": np.float32, "gap_acceleration": np.float32,
    "chatter_end": np.float32, "touchdown_speed": np.float32, "friction_margin": np.float32,
    "pseudo_impulse_margin": np.float32,
}  # fmt: skip
"""The same of :class:`~hybrid_contact_ros.prediction.StabilityPrediction`, columns of ``stability``."""


class Recorder:
    """Predictions and refusals in, tables out.

    Args:
        contacts: number of contacts. nv: number of velocity coordinates. floating_base: whether the base floats.
        force_lag: s, by which observed forces lag behind (:mod:`.force_sigma`); NaN where it is not known.

    Attributes:
        reasons: reasons of refusals, in the order in which they first came; ``refusals/reason`` counts in it.
    """

    def __init__(self, contacts: int, nv: int, floating_base: bool, force_lag: float = np.nan) -> None:
        m = contacts
        self._m, self._floating, self._force_lag = m, floating_base, force_lag
        states = {"stamp_ns": ((), np.int64), "compute_ns": ((), np.int64), "input_age_ns": ((), np.int64)}
        self._states = Columns(states | ({"base_position": ((3,), np.float32)} if floating_base else {}))
        self._contacts = Columns(
            {name: ((m,), kind) for name, kind in _MODE.items()}
            | dict.fromkeys(("normal_force", "normal_force_sigma"), ((m,), np.float32))
            | {"probability_valid": ((), np.bool_)}
        )
        self._stability = Columns({name: ((m,), kind) for name, kind in _STABILITY.items()})
        self._waiting: list[tuple[RobotState, ModePrediction, StabilityPrediction, int, int, Array | None]] = []
        self._impacts = ImpactRows(nv)
        self._events: list[Event] = []
        self._refusals: list[tuple[int, int]] = []
        self.reasons: list[str] = []

    def predicted(
        self, state: RobotState, prediction: Prediction, compute_ns: int, age_ns: int, force_noise: Array | None = None
    ) -> None:
        """One state that was answered: its prediction, the time that the estimator took for it, and how old the
        measurement was when it came, ns. force_noise: (m,) N, of the estimator."""
        self._waiting.append((state, prediction.mode, prediction.stability, compute_ns, age_ns, force_noise))
        if prediction.impact is not None:
            self._impacts.predicted(prediction.impact)
        self._events.extend(prediction.events)
        if len(self._waiting) >= _BLOCK:
            self._fold()

    def refused(self, stamp_ns: int, reason: str) -> None:
        """An input was refused or reported at this time of the recording."""
        if reason not in self.reasons:
            self.reasons.append(reason)
        self._refusals.append((stamp_ns, self.reasons.index(reason)))

    def observed(self, told: TrueImpact, impact: ImpactPrediction | None, found: Containment | None) -> None:
        """A true impact was told; with the set that it was compared with and what came of that, if there was one."""
        self._impacts.observed(told, impact, found)

    def tables(self) -> dict[str, Table]:
        """All that was recorded. Tables are there also where nothing came."""
        self._fold()
        states, contacts = self._states.joined(), self._contacts.joined()
        contacts["normal_force_sigma"] = force_sigma(
            states["stamp_ns"], contacts["normal_force"], contacts["normal_force_sigma"], self._force_lag
        ).astype(np.float32)
        refusals = np.array(self._refusals, np.int64).reshape(-1, 2)
        told = [event for event in self._events if not event.detected]
        seen = [event for event in self._events if event.detected]
        return {
            "states": states,
            "contacts": contacts,
            "stability": self._stability.joined(),
            **self._impacts.tables(),
            "events": _events(told)
            | {
                "earliest_ns": np.array([event.earliest_ns for event in told], np.int64),
                "latest_ns": np.array([event.latest_ns for event in told], np.int64),
                "confidence": np.array([event.confidence for event in told], np.float32),
            },
            "detected": _events(seen),
            "refusals": {"stamp_ns": refusals[:, 0].copy(), "reason": refusals[:, 1].astype(np.int16)},
        }

    def _fold(self) -> None:
        """Put the states that wait into the columns."""
        if not self._waiting:
            return
        states, modes, flags, compute, age, noise = zip(*self._waiting, strict=True)
        self._waiting = []
        told = {"stamp_ns": [mode.stamp_ns for mode in modes], "compute_ns": compute, "input_age_ns": age}
        self._states.extend(told | ({"base_position": [state.q[:3] for state in states]} if self._floating else {}))
        unknown = np.full(self._m, np.nan)
        force = np.array([mode.force_estimate for mode in modes]).reshape(len(modes), self._m, 3)
        normal = np.array([mode.normal for mode in modes]).reshape(force.shape)
        self._contacts.extend(
            {name: [getattr(mode, name) for mode in modes] for name in _MODE}
            | {
                "normal_force": np.einsum("nmi,nmi->nm", force, normal),
                "normal_force_sigma": [unknown if each is None else each for each in noise],
                "probability_valid": [mode.probability_valid for mode in modes],
            }
        )
        self._stability.extend({name: [getattr(flag, name) for flag in flags] for name in _STABILITY})


def _events(events: Sequence[Event]) -> dict[str, NDArray[np.generic]]:
    """When each event was told, of which contact, of which kind, and when it was or is to be."""
    return {
        "stamp_ns": np.array([event.stamp_ns for event in events], np.int64),
        "contact": np.array([event.contact for event in events], np.int32),
        "kind": np.array([event.kind for event in events], np.uint8),
        "time_ns": np.array([event.time_ns for event in events], np.int64),
    }
