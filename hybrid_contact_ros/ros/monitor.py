"""How a node fares: counts of one period, and what is to be said of them, worst first. No ROS in here.

Warnings are by rate, since one lost or refused message in a thousand is no news on a robot, and every fault that is one
has a sentence of its own, so that one does not hide another. Impact sets that a deadline cut are as designed (a prefix
of the whole set), and are a number only.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import IntEnum

import numpy as np

from hybrid_contact_ros.config import DiagnosticsConfig
from hybrid_contact_ros.messages.intake import JOINTS, ODOM, Intake
from hybrid_contact_ros.messages.refusals import CONSEQUENCES, USED, Fault

_KEPT = 4096  # latencies per period; at 1 Hz enough for 4 kHz
_BUSY = 0.5  # share of the time spent computing from which on losses are for want of time
_SATURATED = 0.95
_RECEIVED = {JOINTS: "joint_states", ODOM: "odometry"}  # keys of Intake.received
NOTES = {
    "unsolved": "no contact mode in {:.0f} % of states, whose forces and flags are unknown",
    "sunk": "contacts lie far inside their planes in {:.0f} % of states",
}
"""What can be odd about states that were answered, and how a period's share of them is told."""


class Level(IntEnum):
    """As of ``diagnostic_msgs/DiagnosticStatus``."""

    OK = 0
    WARN = 1
    ERROR = 2
    STALE = 3


@dataclass(frozen=True, slots=True)
class Period:
    """What happened since the last report.

    Attributes:
        seconds: its length. pace: the input whose messages are answered. inputs: those that are needed.
        answered: states. overtaken: states that a newer one took the place of while they waited here. arrived, lost:
            messages per input. faults: per kind; sentences: the last one of each.
        publishers: on each input. internal: errors of ours, and the last of them in words. noted: how many states
            had something of :data:`NOTES`, and the last of them in words. jammed: states in which a slide jammed and
            was taken to stick.
        busy: s of computing and publishing, all in all. exact: losses are counted by sequence numbers.
        left_out: names of outputs that are not computed, to keep up.
    """

    seconds: float
    pace: str
    inputs: tuple[str, ...]
    answered: int = 0
    arrived: Mapping[str, int] = field(default_factory=dict)
    lost: Mapping[str, int] = field(default_factory=dict)
    faults: Mapping[Fault, int] = field(default_factory=dict)
    sentences: Mapping[Fault, str] = field(default_factory=dict)
    publishers: Mapping[str, int] = field(default_factory=dict)
    internal: tuple[int, str] = (0, "")
    busy: float = 0.0
    exact: bool = True
    left_out: tuple[str, ...] = ()
    overtaken: int = 0
    noted: Mapping[str, tuple[int, str]] = field(default_factory=dict)
    jammed: int = 0

    @property
    def sent(self) -> int:
        """States that were there to be answered."""
        return self.arrived.get(self.pace, 0) + self.lost.get(self.pace, 0)


def judge(period: Period, limits: DiagnosticsConfig) -> list[tuple[Level, str]]:
    """What there is to say of a period in which the node was active, worst first; never empty."""
    said: list[tuple[Level, str]] = []
    silent = [topic for topic in period.inputs if not period.arrived.get(topic, 0)]
    if len(silent) == len(period.inputs):
        return [(Level.STALE, f"no input on {' and '.join(silent)}")]
    count, text = period.internal
    if count:
        said.append((Level.ERROR, f"{text} ({count} times); states in question were not answered"))
    if silent:
        said.append((Level.ERROR if not period.answered else Level.WARN, f"no input on {' and '.join(silent)}"))
    said += _losses(period, limits)
    said += _faults(period, limits)
    for topic, publishers in period.publishers.items():
        if publishers > 1:
            said.append((Level.WARN, f"{topic}: {publishers} publishers, one is expected; stop the others"))
    for kind, (count, text) in period.noted.items():
        if count > limits.reported * period.answered:
            said.append((Level.WARN, f"{NOTES[kind].format(100 * count / max(period.answered, 1))}: {text}"))
    if period.left_out:
        said.append((Level.WARN, f"left out to keep up with {period.pace}: {', '.join(period.left_out)}"))
    said.sort(key=lambda entry: -entry[0])
    return said or [(Level.OK, "predicting")]


def _losses(period: Period, limits: DiagnosticsConfig) -> list[tuple[Level, str]]:
    lost, sent = period.lost.get(period.pace, 0) + period.overtaken, period.sent
    share, cost = period.busy / period.seconds, 1e3 * period.busy / max(period.answered, 1)
    pace = (
        f"the node was busy {100 * share:.0f} % of the time, with {cost:.1f} ms a state, of which one comes every "
        f"{1e3 * period.seconds / max(sent, 1):.1f} ms: send less often, configure fewer contacts, or give the node a "
        "processor of its own"
    )
    if lost and lost > limits.lost * sent:
        idle = (
            f"the node was busy {100 * share:.0f} % of the time only: look at the load of the machine and the network"
        )
        cause = pace if share > _BUSY else idle
        return [(Level.WARN, f"{period.pace}: {100 * lost / sent:.0f} % of states lost ({lost} of {sent}); {cause}")]
    if not period.exact and share > _SATURATED:
        return [(Level.WARN, f"{period.pace}: states may be lost uncounted; {pace}")]
    return []


def _faults(period: Period, limits: DiagnosticsConfig) -> list[tuple[Level, str]]:
    """Of every kind above its limit, what it is. Causes stand before what follows from them."""
    said = []
    for fault in sorted(period.faults, key=lambda f: (f.reason in CONSEQUENCES, f.reason in USED, -period.faults[f])):
        count = period.faults[fault]
        # A missing odometry is missed by joint states.
        total = period.arrived.get(JOINTS if fault.reason in CONSEQUENCES else fault.topic, 0)
        share = min(1.0, count / max(total, 1))
        if share <= (limits.reported if fault.reason in USED else limits.refused):
            continue
        refused = fault.reason not in USED
        level = Level.ERROR if refused and not period.answered else Level.WARN
        word = "refused" if refused else "missed" if fault.reason in CONSEQUENCES else "odd"
        text = period.sentences.get(fault, fault.reason)
        said.append((level, f"{'no state could be used: ' * (level == Level.ERROR)}{100 * share:.0f} % {word}: {text}"))
    return said


class Monitor:
    """Counts of one period, folded into a verdict and values by :meth:`report`. Bounded: old entries are overwritten.

    Latency runs from the stamp of the measurement to the end of publishing; computation from the arrival of the
    message to there.

    Attributes:
        failures: count per reason of what failed here and not in the intake; failure: the last of them in words.
        states_overtaken: since the start.
    """

    def __init__(self, limits: DiagnosticsConfig) -> None:
        self._limits = limits
        self._latency, self._compute = np.zeros(_KEPT), np.zeros(_KEPT)
        self._count = self._misses = self._total = 0
        self.failures: Counter[str] = Counter()
        self.failure = ""
        self._failed = 0
        self.states_overtaken = self._overtaken = 0
        self._noted: dict[str, tuple[int, str]] = {}
        self._jammed = 0
        self._busy = 0.0
        self._seen: Counter[Fault] = Counter()
        self._received: Counter[str] = Counter()
        self._lost: Counter[str] = Counter()

    def answered(self, latency_ns: int, compute_ns: int) -> None:
        """A state was answered."""
        slot = self._count % _KEPT
        self._latency[slot], self._compute[slot] = latency_ns * 1e-6, compute_ns * 1e-6
        self._count += 1
        self._total += 1

    def spent(self, cost_ns: int) -> None:
        """All of it, with its impact set, took that long."""
        self._busy += cost_ns * 1e-9

    def overtaken(self) -> None:
        """A state came, and a newer one before it could be answered."""
        self.states_overtaken += 1
        self._overtaken += 1

    def note(self, kind: str, sentence: str) -> None:
        """A state had something of :data:`NOTES`, and what exactly."""
        self._noted[kind] = self._noted.get(kind, (0, ""))[0] + 1, sentence

    def jammed(self) -> None:
        """A contact slid with more than its critical friction, and was taken to stick."""
        self._jammed += 1

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
        intake: Intake,
        publishers: Mapping[str, int],
        left_out: tuple[str, ...] = (),
        outdated: str = "",
    ) -> tuple[list[tuple[Level, str]], dict[str, str]]:
        """The verdict on the period of ``seconds`` that ends now, worst first, and the values; starts the next one.

        ``idle``: why nothing is to be predicted, "" where it is. publishers: how many there are on each input that is
        needed. left_out: outputs not computed, to keep up. outdated: that the model is not the robot's any more, or "".
        """
        received = Counter({topic: intake.received[key] for topic, key in _RECEIVED.items() if topic in publishers})
        lost = Counter({topic: intake.rates[topic].lost for topic in publishers})
        failed = self.failures.total()
        period = Period(
            seconds=seconds,
            pace=intake.pace,
            inputs=tuple(publishers),
            answered=self._count,
            overtaken=self._overtaken,
            arrived=received - self._received,
            lost=lost - self._lost,
            faults=intake.kinds - self._seen,
            sentences=intake.sentences,
            publishers=publishers,
            internal=(failed - self._failed, self.failure),
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
        self._count = self._misses = self._overtaken = self._jammed = 0
        self._noted = {}
        self._busy = 0.0
        return verdict, values

    def _values(self, period: Period, intake: Intake) -> dict[str, str]:
        values = {
            f"{_RECEIVED[topic]} rate [Hz]": f"{period.arrived.get(topic, 0) / period.seconds:.1f}"
            for topic in period.inputs
        }
        values["predictions rate [Hz]"] = f"{period.answered / period.seconds:.1f}"
        values["predictions"] = str(self._total)
        stream = intake.rates[period.pace].period_ns
        values["stream period by its stamps [ms]"] = f"{1e-6 * stream:.3f}" if stream else "nan"
        values["busy"] = f"{period.busy / period.seconds:.3f}"
        for topic in period.inputs:
            values[f"{topic} lost"] = str(period.lost.get(topic, 0))
        values["states overtaken here"] = str(period.overtaken)
        values["states lost in all"] = str(intake.rates[period.pace].lost + self.states_overtaken)
        for kind, name in (("unsolved", "without contact mode"), ("sunk", "with contacts inside planes")):
            values[f"states {name}"] = str(period.noted.get(kind, (0, ""))[0])
        values["states with jammed slides"] = str(period.jammed)
        values["share answered"] = f"{min(1.0, period.answered / period.sent):.4f}" if period.sent else "nan"
        values["losses counted by"] = "sequence numbers" if period.exact else "stamps"
        n = min(self._count, _KEPT)
        for name, series in (("latency", self._latency), ("compute", self._compute)):
            for q in (50, 99):
                values[f"{name} p{q} [ms]"] = f"{np.percentile(series[:n], q):.3f}" if n else "nan"
        values["impact sets cut by their deadline"] = str(self._misses)
        values["left out"] = ", ".join(period.left_out) or "nothing"
        values["frame"] = intake.frame_id
        values.update({f"publishers on {topic}": str(count) for topic, count in period.publishers.items()})
        counts = intake.faults + self.failures
        values.update({f"input fault: {reason}": str(count) for reason, count in sorted(counts.items())})
        for fault in period.faults:
            values[f"latest {fault.topic} {fault.reason}"] = intake.sentences[fault]
        latest = intake.last_fault[1] if intake.last_fault else self.failure
        if latest:
            values["latest input fault"] = latest
        return values
