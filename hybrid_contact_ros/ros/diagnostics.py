"""The verdict of a :class:`~hybrid_contact_ros.monitoring.monitor.Monitor` as ``/diagnostics``, and faults in the
log."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Mapping
from typing import Any

from diagnostic_msgs.msg import DiagnosticArray, DiagnosticStatus, KeyValue

from hybrid_contact_ros.messages.intake import Intake
from hybrid_contact_ros.messages.refusals import Fault
from hybrid_contact_ros.monitoring.verdict import Level

_TITLE = "{}: contact prediction"
_LEVELS = {
    Level.OK: DiagnosticStatus.OK,
    Level.WARN: DiagnosticStatus.WARN,
    Level.ERROR: DiagnosticStatus.ERROR,
    Level.STALE: DiagnosticStatus.STALE,
}
_EVERY = 5.0  # s between two lines about the same kind of fault
_QUIET = ("odometry_late",)  # happens now and then in any stream; the diagnostics tell when it is frequent
NOT_CONFIGURED, NO_DESCRIPTION = "not configured", "no robot description yet"


def unconfigured(name: str, hardware_id: str, why: str) -> DiagnosticArray:
    """The diagnostics of a node that is not configured."""
    return diagnosis(name, hardware_id, [(Level.WARN, why)], {})


def tells_of_failure(said: str) -> bool:
    """Whether this message of a node that is not configured says that configuring was tried and failed."""
    return said.startswith(f"{NOT_CONFIGURED}: ") and not said.startswith(f"{NOT_CONFIGURED}: {NO_DESCRIPTION}")


def diagnosis(
    name: str, hardware_id: str, verdict: list[tuple[Level, str]], values: Mapping[str, str]
) -> DiagnosticArray:
    """One status of all sentences, at the level of the worst one, which comes first. The caller sets the stamp."""
    status = DiagnosticStatus(
        level=_LEVELS[max(level for level, _ in verdict)],
        name=_TITLE.format(name),
        message=" | ".join(text for _, text in verdict),
        hardware_id=hardware_id,
        values=[KeyValue(key=key, value=value) for key, value in values.items()],
    )
    return DiagnosticArray(status=[status])


class FaultLog:
    """Writes faults of the input into the log, each kind at most every five seconds, whatever the other kinds do."""

    def __init__(self, logger: Any) -> None:
        self._logger = logger
        self._total = 0
        self._told: dict[Fault, float] = {}
        self._counts: Counter[Fault] = Counter()

    def tell(self, intake: Intake) -> None:
        """Write what is new since the last call."""
        total = intake.kinds.total()
        if total == self._total:
            return
        self._total = total
        now = time.monotonic()
        for fault, count in intake.kinds.items():
            new = count - self._counts[fault]
            if not new or fault.reason in _QUIET or now - self._told.get(fault, -_EVERY) < _EVERY:
                continue
            self._told[fault], self._counts[fault] = now, count
            again = f" ({new} times since the last such line)" if new > 1 else ""
            self._logger.warning(intake.sentences[fault] + again)
