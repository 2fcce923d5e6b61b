"""What is to be said of a period of a node, worst first.

Warnings are by rate, because one lost or refused message in a thousand is no news on a robot. Every fault that deserves
a warning has a sentence of its own, so that one does not hide another. Impact sets that a deadline cut are as designed
(the beginning of the whole set), and only their number is told.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import IntEnum

from hybrid_contact_ros.config import DiagnosticsConfig
from hybrid_contact_ros.messages.intake import JOINTS
from hybrid_contact_ros.messages.refusals import CONSEQUENCES, USED, Fault

_BUSY = 0.5  # share of its time that a node computes for, above which lost states are for want of time
_SATURATED = 0.95  # the same share, above which states may be lost where they cannot be counted exactly
NOTES = {
    "unsolved": "no contact mode in {:.0f} % of states, whose forces and flags are unknown",
    "disobeyed": "efforts are not those that joint_command makes in {:.0f} % of states, whose commands are not used",
    "sunk": "contacts lie far inside their planes in {:.0f} % of states",
    "aloft": "all contacts are far above their planes in {:.0f} % of states",
    "contradicted": "foot sensors count little in {:.0f} % of states",
    "offset": "streams come at other times than their stamps say",
    "held": "something else than the contacts carries the robot in {:.0f} % of states",
    "apart": "states are too far apart for forces in {:.0f} % of states",
    "distrusted": "forces count little in {:.0f} % of states",
}
"""What can be odd about states that were answered, and how their share of a period is told."""


class Level(IntEnum):
    """The levels of ``diagnostic_msgs/DiagnosticStatus``."""

    OK = 0
    WARN = 1
    ERROR = 2
    STALE = 3


@dataclass(frozen=True, slots=True)
class Period:
    """What happened since the last report.

    Attributes:
        seconds: length of the period, s.
        pace: the input whose messages are answered.
        inputs: the inputs that the node needs.
        answered: number of states that were answered.
        arrived, lost: number of messages on each input.
        faults: number of faults of each kind.
        sentences: the last fault of each kind in words.
        publishers: number of publishers on each input.
        internal: number of internal errors, and the last of them in words.
        busy: time spent computing and publishing, s.
        exact: whether losses are counted by sequence numbers.
        left_out: names of the outputs that are not computed, so that the node keeps up.
        overtaken: number of states that waited here and whose place a newer one took.
        noted: for each key of :data:`NOTES` the number of such states, and the last of them in words.
        jammed: number of states in which friction jammed a slide, which was then taken to stick.
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
        """Number of states that were there to be answered."""
        return self.arrived.get(self.pace, 0) + self.lost.get(self.pace, 0)


def judge(period: Period, limits: DiagnosticsConfig) -> list[tuple[Level, str]]:
    """What there is to say of a period in which the node was active, worst first. There is always something."""
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
    said += [(Level.WARN, text) for text in odd_states(period.noted, period.answered, limits)]
    if period.left_out:
        said.append((Level.WARN, f"left out to keep up with {period.pace}: {', '.join(period.left_out)}"))
    said.sort(key=lambda entry: -entry[0])
    return said or [(Level.OK, "predicting")]


def odd_states(noted: Mapping[str, tuple[int, str]], answered: int, limits: DiagnosticsConfig) -> list[str]:
    """A sentence on every kind of note (``Period.noted``) that more states have than ``diagnostics.reported``."""
    return [
        f"{NOTES[kind].format(100 * count / max(answered, 1))}: {text}"
        for kind, (count, text) in noted.items()
        if count > limits.reported * answered
    ]


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
    """A sentence on every kind of fault above its limit. Causes stand before what follows from them."""
    said = []
    for fault in sorted(period.faults, key=lambda f: (f.reason in CONSEQUENCES, f.reason in USED, -period.faults[f])):
        count = period.faults[fault]
        # It is the joint states that miss a missing odometry.
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
