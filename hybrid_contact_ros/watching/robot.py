"""One robot of a running suite, as its topics tell of it.

Messages are kept as the bytes that came, and read when somebody looks: a watcher shares the processors with the robot,
and ten looks a second cost less than a thousand messages.
"""

from __future__ import annotations

from collections import Counter, deque
from math import isfinite
from typing import Any

import numpy as np

from hybrid_contact_ros.codes import ContactStatus, EventKind, Flag
from hybrid_contact_ros.messages.cdr import BEGIN, STAMP
from hybrid_contact_ros.messages.contact_events import EventSource
from hybrid_contact_ros.messages.readers import (
    ConstraintStabilityReader,
    ContactModeReader,
    PostImpactVelocitySetReader,
)
from hybrid_contact_ros.messages.views import ConstraintStabilityView, ContactModeView, PostImpactVelocitySetView
from hybrid_contact_ros.watching.diagnosis import Diagnosis

STATUS = tuple(status.name.lower() for status in ContactStatus)
EVENT = ("", *(kind.name.lower() for kind in EventKind if kind != EventKind.NONE))
FLAG = tuple(flag.name.lower() for flag in Flag)

RATE_OVER_NS = 2_000_000_000
"""Rates and latencies are those of the messages of so long before the look, ns."""
_MOST = 4000  # messages whose times are kept: two seconds at 2 kHz
_OTHER_CLOCK = 60.0  # s; a stamp farther than this from the system's time is of another clock (simulated, or not set)
_FORGOTTEN_NS = 1_000_000_000  # flags and sets older than this are not shown


class WatchedRobot:
    """What was heard of the suite in one namespace.

    Args:
        namespace: of its topics, "/" for the root namespace.

    Attributes:
        predictions, sets: how many contact modes and impact sets came.
        events: how many predicted and detected events came of each kind, such as ``"detected touchdown"``.
        nodes: the diagnostics of its nodes, by their full names.
    """

    def __init__(self, namespace: str) -> None:
        self.namespace = namespace
        self.predictions = self.sets = 0
        self.events: Counter[str] = Counter()
        self.nodes: dict[str, Diagnosis] = {}
        self._times: deque[tuple[int, int]] = deque(maxlen=_MOST)  # (received, stamp), ns
        self._mode, self._flags, self._set = b"", b"", b""
        self._flags_ns = self._set_ns = 0
        self._detected = ""
        self._read_mode, self._read_flags = ContactModeReader(), ConstraintStabilityReader()
        self._read_set = PostImpactVelocitySetReader()

    # ------------------------------------------------------------------ in

    def mode(self, data: bytes, received_ns: int) -> None:
        """A serialised ``ContactMode``."""
        self.predictions += 1
        self._mode = data
        if len(data) >= BEGIN + STAMP.size:
            sec, nanosec = STAMP.unpack_from(data, BEGIN)
            self._times.append((received_ns, sec * 1_000_000_000 + nanosec))

    def stability(self, data: bytes, received_ns: int) -> None:
        """A serialised ``ConstraintStability``."""
        self._flags, self._flags_ns = data, received_ns

    def impact(self, data: bytes, received_ns: int) -> None:
        """A serialised ``PostImpactVelocitySet``."""
        self.sets += 1
        self._set, self._set_ns = data, received_ns

    def event(self, msg: Any) -> None:
        """A ``ContactEvent``."""
        kind = EVENT[msg.kind] if msg.kind < len(EVENT) else "event"
        detected = msg.source == EventSource.DETECTED
        self.events[f"{'detected' if detected else 'predicted'} {kind}"] += 1
        if detected:
            self._detected = f"{kind} of {msg.contact}"

    def diagnosis(self, found: Diagnosis) -> None:
        """The newest diagnostics of one of its nodes."""
        self.nodes[found.node] = found

    # ------------------------------------------------------------------ out

    def snapshot(self, now_ns: int) -> dict[str, Any]:
        """Plain values for tables and JSON; what is not known is None. ``fault`` says why messages cannot be read."""
        found: dict[str, Any] = {
            "namespace": self.namespace,
            "predictions": self.predictions,
            **self._pace(now_ns),
            "contacts": [],
            "order_sensitive": [],
            "sequence": [],
            "set": None,
            "sets": self.sets,
            "events": dict(self.events),
            "last_event": self._detected,
            "fault": "",
            "nodes": [self.nodes[name].to_dict() for name in sorted(self.nodes)],
        }
        try:
            mode = self._read_mode(self._mode) if self._mode else None
            fresh = bool(self._flags) and now_ns - self._flags_ns < _FORGOTTEN_NS
            flags = self._read_flags(self._flags) if fresh else None
            near = bool(self._set) and now_ns - self._set_ns < _FORGOTTEN_NS
            impact = self._read_set(self._set) if near else None
        except ValueError as error:
            found["fault"] = f"its messages cannot be read ({error}): is it a suite of another version?"
            return found
        if mode is not None:
            found.update(_state(mode, flags))
        if impact is not None:
            found["set"] = _set(impact)
        return found

    def _pace(self, now_ns: int) -> dict[str, Any]:
        """Rate, silence and latency of the contact modes."""
        pace: dict[str, Any] = {"rate": 0.0, "silent": None, "latency_p50": None, "latency_p99": None}
        pace["other_clock"] = False
        if not self._times:
            return pace
        pace["silent"] = max(0.0, 1e-9 * (now_ns - self._times[-1][0]))
        recent = [(received, stamp) for received, stamp in self._times if now_ns - received < RATE_OVER_NS]
        if len(recent) > 1 and recent[-1][0] > recent[0][0]:
            pace["rate"] = 1e9 * (len(recent) - 1) / (recent[-1][0] - recent[0][0])
        latencies = 1e-9 * np.array([received - stamp for received, stamp in recent], np.float64)
        if latencies.size and abs(float(np.median(latencies))) > _OTHER_CLOCK:
            pace["other_clock"] = True
        elif latencies.size:
            p50, p99 = np.percentile(latencies, (50, 99))
            pace.update(latency_p50=float(p50), latency_p99=float(p99))
        return pace


def _state(mode: ContactModeView, flags: ConstraintStabilityView | None) -> dict[str, Any]:
    rows = [_contact(name, c) for name, c in zip(mode.names, mode.contacts, strict=True)]
    pairs = []
    if flags is not None and flags.names == mode.names:
        for i, row in enumerate(rows):
            row.update(
                {
                    word: FLAG[getattr(flags, name)[i]] if getattr(flags, name)[i] < len(FLAG) else "unknown"
                    for word, name in (
                        ("stability", "constraint_stability"),
                        ("friction", "friction"),
                        ("zeno", "zeno"),
                        ("grazing", "grazing"),
                    )
                }
            )
            row["chatter_end"] = _known(flags.chatter_end[i])
        order = zip(flags.pair_first, flags.pair_second, flags.pair_order_sensitive, strict=True)
        pairs = [[mode.names[i], mode.names[j]] for i, j, yes in order if yes == Flag.HOLDS]
    return {
        "contacts": rows,
        "order_sensitive": pairs,
        "sequence": [
            {"contact": mode.names[int(next_["contact"])], "event": EVENT[next_["kind"]], "time": _known(next_["time"])}
            for next_ in mode.sequence
            if int(next_["contact"]) < len(mode.names) and next_["kind"] < len(EVENT)
        ],
        "compute": 1e-9 * mode.compute_time_ns,
        "input_age": 1e-9 * mode.input_age_ns,
        "validity": mode.validity,
        "frame": mode.frame_id,
    }


def _contact(name: str, c: Any) -> dict[str, Any]:
    """One contact. Its force is the contact model's where that is valid, or else the momentum observer's."""
    model = float(c["force_model"] @ c["normal"]) if c["force_valid"] else None
    observed = _known(c["force_estimate"] @ c["normal"])
    kind = int(c["next_event"])
    return {
        "name": name,
        "mode": STATUS[c["status"]] if c["status"] < len(STATUS) else "unknown",
        "probability": _known(c["probability"]),
        "probability_valid": bool(c["probability_valid"]),
        "force": model if model is not None else observed,
        "force_from": "model" if model is not None else "observer" if observed is not None else None,
        "trust": _known(c["force_weight"]),
        "gap": _known(c["gap"]),
        "event": EVENT[kind] if kind < len(EVENT) else "event",
        "time": _known(c["time_to_event"]),
        "earliest": _known(c["time_to_event_earliest"]),
        "latest": None if np.isnan(c["time_to_event_latest"]) else float(c["time_to_event_latest"]),
        "bounds_valid": bool(c["time_bounds_valid"]),
        "slip_warning": bool(c["slip_warning"]),
        "time_to_slip": _known(c["time_to_slip"]),
    }


def _set(view: PostImpactVelocitySetView) -> dict[str, Any]:
    return {
        "contacts": list(view.names),
        "in": _known(view.time_to_impact),
        "outcomes": int(view.count),
        "truncated": bool(view.truncated),
        "jump": _known(view.jump),
        "margin": _known(view.margin),
    }


def _known(value: Any) -> float | None:
    number = float(value)
    return number if isfinite(number) else None
