"""Counts of what happens in a live node, folded once a period into a verdict and into values for the diagnostics."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping

import numpy as np

from hybrid_contact_ros.config import DiagnosticsConfig
from hybrid_contact_ros.messages.intake import RECEIVED, Intake
from hybrid_contact_ros.messages.refusals import Fault
from hybrid_contact_ros.monitoring.set_counter import SetCounter
from hybrid_contact_ros.monitoring.verdict import Level, Period, judge

_KEPT = 4096  # latencies kept of one period; at 1 Hz enough for a stream of 4 kHz


class Monitor:
    """Counts of one period; :meth:`report` folds them into a verdict and values. Memory is bounded, since old entries
    are overwritten.

    Latency runs from the stamp of the measurement to the end of publishing, and computation from the arrival of the
    message to the same end.

    Attributes:
        failures: number of failures in the node itself (not in the intake), by reason.
        failure: the last of them in words.
        states_overtaken: number of states since the start whose place a newer one took.
        sets: the counts of the impact sets, or None where there are none.
    """

    def __init__(self, limits: DiagnosticsConfig, sets: bool = False) -> None:
        self._limits = limits
        self.sets = SetCounter() if sets else None
        self._latency, self._compute = np.zeros(_KEPT), np.zeros(_KEPT)
        self._count = self._total = 0
        self.failures: Counter[str] = Counter()
        self.failure = ""
        self._failed = 0
        self.states_overtaken = self._overtaken = 0
        self._noted: dict[str, tuple[int, str]] = {}
        self._jammed = 0
        self._ground = "as configured"
        self._busy = 0.0
        self._seen: Counter[Fault] = Counter()
        self._received: Counter[str] = Counter()
        self._lost: Counter[str] = Counter()
        self._used: Counter[str] = Counter()  # states that had an input that is not needed

    def answered(self, latency_ns: int, compute_ns: int) -> None:
        """A state was answered."""
        slot = self._count % _KEPT
        self._latency[slot], self._compute[slot] = latency_ns * 1e-6, compute_ns * 1e-6
        self._count += 1
        self._total += 1

    def spent(self, cost_ns: int) -> None:
        """A state took that long altogether, of the thread of the states."""
        self._busy += cost_ns * 1e-9

    def overtaken(self) -> None:
        """A newer state came before the one that waited could be answered."""
        self.states_overtaken += 1
        self._overtaken += 1

    def note(self, kind: str, sentence: str) -> None:
        """A state was odd: ``kind`` is a key of :data:`~.verdict.NOTES`, and the sentence says what exactly."""
        self._noted[kind] = self._noted.get(kind, (0, ""))[0] + 1, sentence

    def ground(self, sentence: str) -> None:
        """Where the ground has been learned to be, in words."""
        self._ground = sentence

    def jammed(self) -> None:
        """A state was answered in which friction jammed a slide, which was taken to stick."""
        self._jammed += 1

    def failed(self, reason: str, sentence: str) -> None:
        """A message or request could not be used, for a reason that the intake does not know."""
        self.failures[reason] += 1
        self.failure = sentence

    def report(
        self,
        seconds: float,
        idle: str,
        intake: Intake,
        publishers: Mapping[str, int],
        left_out: tuple[str, ...] = (),
        outdated: str = "",
    ) -> tuple[list[tuple[Level, str]], dict[str, str]]:
        """The verdict on the period that ends now, worst first, and the values. The next period starts.

        Args:
            seconds: length of the period, s.
            idle: why nothing is to be predicted, or an empty text.
            intake: the counts of the inputs.
            publishers: number of publishers on each input that the node needs or may use.
            left_out: names of the outputs that are not computed, so that the node keeps up.
            outdated: a sentence where the model is not that of the robot any more, or an empty text.
        """
        received = Counter({topic: intake.received[RECEIVED.get(topic, topic)] for topic in publishers})
        lost = Counter({topic: intake.rates[topic].lost for topic in publishers})
        sets = self.sets or SetCounter()
        failed = self.failures.total() + sets.failures
        period = Period(
            seconds=seconds,
            pace=intake.pace,
            inputs=tuple(topic for topic in publishers if topic not in intake.side),
            answered=self._count,
            overtaken=self._overtaken,
            arrived=received - self._received,
            lost=lost - self._lost,
            faults=intake.kinds - self._seen,
            sentences=intake.sentences,
            publishers=publishers,
            internal=(failed - self._failed, self.failure or sets.failure),
            noted=self._noted,
            jammed=self._jammed,
            busy=self._busy,
            exact=intake.rates[intake.pace].exact,
            left_out=left_out,
        )
        verdict = [(Level.OK, idle)] if idle else judge(period, self._limits)
        if outdated:
            verdict = sorted([*verdict, (Level.WARN, outdated)], key=lambda said: -said[0])
            verdict = [said for said in verdict if idle or said[0] > Level.OK]
        values = self._values(period, intake)
        self._received, self._lost, self._seen, self._failed = received, lost, Counter(intake.kinds), failed
        self._count = self._overtaken = self._jammed = 0
        self._noted = {}
        self._busy = 0.0
        return verdict, values

    def _values(self, period: Period, intake: Intake) -> dict[str, str]:
        values = {
            f"{RECEIVED[topic]} rate [Hz]": f"{period.arrived.get(topic, 0) / period.seconds:.1f}"
            for topic in period.inputs
        }
        for topic in period.publishers:
            side = intake.side.get(topic)
            if side is not None and (period.publishers[topic] or side.rate.received):
                used = side.used - self._used[topic]
                values[f"{topic} rate [Hz]"] = f"{period.arrived.get(topic, 0) / period.seconds:.1f}"
                values[f"{topic} lost"] = str(period.lost.get(topic, 0))
                values[f"states with {topic}"] = str(used)
                self._used[topic] = side.used
        values["predictions rate [Hz]"] = f"{period.answered / period.seconds:.1f}"
        values["predictions"] = str(self._total)
        stream = intake.rates[period.pace].period_ns
        values["stream period by its stamps [ms]"] = f"{1e-6 * stream:.3f}" if stream else "nan"
        values["busy"] = f"{period.busy / period.seconds:.3f}"
        for topic in period.inputs:
            values[f"{topic} lost"] = str(period.lost.get(topic, 0))
        values["states overtaken here"] = str(period.overtaken)
        values["states lost in all"] = str(intake.rates[period.pace].lost + self.states_overtaken)
        for kind, name in (
            ("unsolved", "without contact mode"),
            ("sunk", "with contacts inside planes"),
            ("distrusted", "with efforts that do not explain the motion"),
        ):
            values[f"states {name}"] = str(period.noted.get(kind, (0, ""))[0])
        values["states with jammed slides"] = str(period.jammed)
        values["ground"] = self._ground
        values["share answered"] = f"{min(1.0, period.answered / period.sent):.4f}" if period.sent else "nan"
        values["losses counted by"] = "sequence numbers" if period.exact else "stamps"
        n = min(self._count, _KEPT)
        for name, series in (("latency", self._latency), ("compute", self._compute)):
            for q in (50, 99):
                values[f"{name} p{q} [ms]"] = f"{np.percentile(series[:n], q):.3f}" if n else "nan"
        if self.sets is not None:
            values.update(self.sets.values(period.seconds))
        values["left out"] = ", ".join(period.left_out) or "nothing"
        values["frame"] = intake.frame_id
        shown = {topic: count for topic, count in period.publishers.items() if topic in period.inputs or count}
        values.update({f"publishers on {topic}": str(count) for topic, count in shown.items()})
        counts = intake.faults + self.failures
        values.update({f"input fault: {reason}": str(count) for reason, count in sorted(counts.items())})
        for fault in period.faults:
            values[f"latest {fault.topic} {fault.reason}"] = intake.sentences[fault]
        if self.sets is not None and self.sets.failures:
            values["failed impact sets"] = str(self.sets.failures)
        latest = intake.last_fault[1] if intake.last_fault else self.failure or period.internal[1]
        if latest:
            values["latest input fault"] = latest
        return values
