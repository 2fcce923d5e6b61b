"""The suite's own ``/diagnostics``, taken apart again: who says it, rates, and why inputs were refused."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

TITLE = ": contact prediction"
"""What the names of the suite's statuses end in, behind the full name of the node."""
LEVELS = ("OK", "WARN", "ERROR", "STALE")
_FAULT, _LATEST = "input fault: ", "latest "
_RATE = " rate [Hz]"


@dataclass(frozen=True, slots=True)
class Diagnosis:
    """One status of one node.

    Attributes:
        node: full name. level: of :data:`LEVELS`. message: its sentences, worst first, with " | " between them.
        received_ns: system time of its reception, ns.
        rates: messages a second, by topic. refused: number of refused or odd inputs since the start, by reason.
        sentences: the last fault of each kind of the last second, in words; ``latest``: the last one of all.
        values: everything that it says.
    """

    node: str
    level: str
    message: str
    received_ns: int
    rates: dict[str, float]
    refused: dict[str, int]
    sentences: dict[str, str]
    latest: str = ""
    values: dict[str, str] = field(default_factory=dict)

    @property
    def namespace(self) -> str:
        """The namespace of the node."""
        return self.node.rpartition("/")[0] or "/"

    def to_dict(self) -> dict[str, Any]:
        """For JSON."""
        return {
            "node": self.node,
            "level": self.level,
            "message": self.message,
            "rates": self.rates,
            "refused": self.refused,
            "sentences": self.sentences,
            "latest_fault": self.latest,
            "answered": self.values.get("share answered", ""),
            "left_out": self.values.get("left out", ""),
            "values": self.values,
        }


def of_suite(status: Any) -> bool:
    """Whether a ``DiagnosticStatus`` is of a node of the suite."""
    return bool(status.name.endswith(TITLE))


def read(status: Any, received_ns: int) -> Diagnosis:
    """A ``DiagnosticStatus`` of a node of the suite."""
    values = {pair.key: pair.value for pair in status.values}
    rates, refused, sentences = {}, {}, {}
    for key, value in values.items():
        if key.endswith(_RATE) and (rate := _number(value)) is not None:
            rates[key.removesuffix(_RATE)] = rate
        elif key.startswith(_FAULT) and value.isdigit():
            refused[key.removeprefix(_FAULT)] = int(value)
        elif key.startswith(_LATEST) and key != "latest input fault":
            sentences[key.removeprefix(_LATEST)] = value
    level = status.level if isinstance(status.level, int) else int.from_bytes(status.level, "little")
    return Diagnosis(
        node=status.name.removesuffix(TITLE),
        level=LEVELS[level] if 0 <= level < len(LEVELS) else f"level {level}",
        message=status.message,
        received_ns=received_ns,
        rates=rates,
        refused=refused,
        sentences=sentences,
        latest=values.get("latest input fault", ""),
        values=values,
    )


def _number(text: str) -> float | None:
    try:
        return float(text)
    except ValueError:
        return None
