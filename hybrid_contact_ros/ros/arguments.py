"""Why a node does not start: one sentence on its arguments instead of a traceback."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import pairwise

from hybrid_contact_ros.parameter_file import check_for_nodes

LEVELS = ("debug", "info", "warn", "error", "fatal")
_RCL = re.compile(r"(?:failed to initialize rcl: )?(?P<what>.*?)(?:, at /\S+)*\s*$", re.DOTALL)


def start_fault(error: Exception, arguments: Sequence[str]) -> str | None:
    """What is wrong with the command-line arguments of a process that rclpy refused to start, in one sentence; None
    where ``error`` is not about the arguments."""
    text = str(error)
    if "Couldn't parse log level" in text or "severity level" in text:
        given = " ".join(_after(arguments, "--log-level")) or "?"
        return f"--log-level {given}: one of {', '.join(LEVELS)} is needed, alone or as LOGGER:=LEVEL"
    for file in _after(arguments, "--params-file"):
        try:
            check_for_nodes(file)
        except ValueError as fault:
            return f"--params-file: {fault}"
    if type(error).__module__.startswith("rclpy") and "rcl" in text:
        found = _RCL.match(text)
        return " ".join((found["what"] if found else text).split())
    return None


def _after(arguments: Sequence[str], flag: str) -> list[str]:
    return [value for name, value in pairwise(arguments) if name == flag]
