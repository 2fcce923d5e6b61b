"""What ``/diagnostics`` says of a node: rates, latency, deadline misses, and every kind of bad input, by name."""

from __future__ import annotations

from collections import Counter

import numpy as np
from diagnostic_msgs.msg import DiagnosticArray, DiagnosticStatus, KeyValue

from hybrid_contact_ros.intake import REASONS

_KEPT = 4096  # latencies per period; at 1 Hz enough for 4 kHz
# Reported, but the states were used.
_HARMLESS = ("stale", "future", "effort_not_finite", "odometry_late", "clock_set_back")


_TITLE = "{}: contact prediction"


def unconfigured(name: str, hardware_id: str, why: str) -> DiagnosticArray:
    """What a node says before it is configured."""
    status = DiagnosticStatus(
        level=DiagnosticStatus.WARN, name=_TITLE.format(name), message=why, hardware_id=hardware_id
    )
    return DiagnosticArray(status=[status])


class Monitor:
    """Counts of one period, folded into a ``DiagnosticArray`` by :meth:`report`. Bounded: old entries are overwritten.

    Latency runs from the stamp of the measurement to the end of publishing; computation from the arrival of the
    message to there.
    """

    def __init__(self, name: str, hardware_id: str) -> None:
        self._name, self._hardware_id = _TITLE.format(name), hardware_id
        self._latency, self._compute = np.zeros(_KEPT), np.zeros(_KEPT)
        self._count = 0
        self._misses = 0
        self.failures: Counter[str] = Counter()
        self.failure = ""
        self._total = 0
        self._seen: Counter[str] = Counter()
        self._received: Counter[str] = Counter()

    def answered(self, latency_ns: int, compute_ns: int) -> None:
        """A state was answered."""
        slot = self._count % _KEPT
        self._latency[slot], self._compute[slot] = latency_ns * 1e-6, compute_ns * 1e-6
        self._count += 1
        self._total += 1

    def missed(self) -> None:
        """A computation was cut by its deadline."""
        self._misses += 1

    def failed(self, reason: str, sentence: str) -> None:
        """A message or request could not be used, for a reason that the intake does not know."""
        self.failures[reason] += 1
        self.failure = sentence

    def report(
        self,
        seconds: float,
        idle: str,
        faults: Counter[str],
        received: Counter[str],
        last_fault: tuple[str, str] | None,
        publishers: dict[str, int],
        outdated: str = "",
    ) -> DiagnosticArray:
        """One status for the period of ``seconds`` that ends now; starts the next one. The stamp is the caller's.

        ``faults`` and ``received`` are running counts (:class:`~hybrid_contact_ros.intake.Intake`); ``publishers`` is
        the number of publishers on each input; ``idle`` why nothing is to be predicted; ``outdated`` that the model in
        use is not the robot's any more. Both are "" where nothing is to be said.
        """
        faults = faults + self.failures
        fresh = faults - self._seen
        self._seen = Counter(faults)
        arrived = received - self._received
        self._received = Counter(received)
        n = min(self._count, _KEPT)
        values = {f"{topic} rate [Hz]": f"{arrived[topic] / seconds:.1f}" for topic in sorted(received)}
        values["predictions rate [Hz]"] = f"{self._count / seconds:.1f}"
        values["predictions"] = str(self._total)
        for name, series in (("latency", self._latency), ("compute", self._compute)):
            for q in (50, 99):
                values[f"{name} p{q} [ms]"] = f"{np.percentile(series[:n], q):.3f}" if n else "nan"
        values["deadline misses"] = str(self._misses)
        values.update({f"publishers on {topic}": str(count) for topic, count in publishers.items()})
        values.update({f"input fault: {reason}": str(count) for reason, count in sorted(faults.items())})
        latest = last_fault[1] if last_fault else self.failure
        if latest:
            values["latest input fault"] = latest
        level, text = self._verdict(idle, fresh, arrived, publishers)
        if outdated:
            text = outdated if level == DiagnosticStatus.OK else f"{text}; {outdated}"
            level = DiagnosticStatus.WARN if level == DiagnosticStatus.OK else level
        self._count = self._misses = 0
        status = DiagnosticStatus(
            level=level,
            name=self._name,
            message=text,
            hardware_id=self._hardware_id,
            values=[KeyValue(key=key, value=value) for key, value in values.items()],
        )
        return DiagnosticArray(status=[status])

    def _verdict(
        self, idle: str, fresh: Counter[str], arrived: Counter[str], publishers: dict[str, int]
    ) -> tuple[bytes, str]:
        crowded = [topic for topic, count in publishers.items() if count > 1]
        refused = [reason for reason in fresh if reason not in _HARMLESS]
        if idle:
            return DiagnosticStatus.OK, idle
        if not sum(arrived.values()):
            return DiagnosticStatus.STALE, "no input"
        if fresh["internal"]:
            return DiagnosticStatus.ERROR, self.failure
        if refused and not self._count:
            worst = max(refused, key=lambda reason: fresh[reason])
            return DiagnosticStatus.ERROR, f"no state could be used: {REASONS.get(worst, worst)}"
        if crowded:
            return DiagnosticStatus.WARN, f"more than one publisher on {', '.join(crowded)}"
        if fresh:
            worst = max(fresh, key=lambda reason: fresh[reason])
            return DiagnosticStatus.WARN, REASONS.get(worst, worst)
        if self._misses:
            return DiagnosticStatus.WARN, "computations were cut by their deadline"
        return DiagnosticStatus.OK, "predicting"
