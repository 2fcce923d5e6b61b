"""Why a node does not start: one sentence about its arguments instead of rcl's traceback."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

import yaml

LEVELS = ("debug", "info", "warn", "error", "fatal")
_RCL = re.compile(r"(?:failed to initialize rcl: )?(?P<what>.*?)(?:, at /\S+)*\s*$", re.DOTALL)


def start_fault(error: Exception, arguments: Sequence[str]) -> str | None:
    """What is wrong with the command-line arguments of a process that rclpy refused to start; None when ``error`` is
    not about them."""
    text = str(error)
    if "Couldn't parse log level" in text or "severity level" in text:
        given = " ".join(_after(arguments, "--log-level")) or "?"
        return f"--log-level {given}: one of {', '.join(LEVELS)} is needed, alone or as LOGGER:=LEVEL"
    for file in _after(arguments, "--params-file"):
        fault = file_fault(Path(file))
        if fault is not None:
            return f"--params-file {file}: {fault}"
    if type(error).__module__.startswith("rclpy") and "rcl" in text:
        found = _RCL.match(text)
        return " ".join((found["what"] if found else text).split())
    return None


def file_fault(path: Path) -> str | None:
    """What keeps ROS from reading a parameter file; None where nothing is seen."""
    if path.is_dir():
        return "that is a folder"
    if not path.is_file():
        return f"there is no such file ({path.expanduser().absolute()})"
    try:
        data = yaml.safe_load(path.read_text(encoding="utf-8"))
    except OSError as error:
        return str(error.strerror)
    except (yaml.YAMLError, UnicodeDecodeError) as error:
        return f"not valid YAML: {' '.join(str(error).split())}"
    if data is None:
        return None  # an empty file is one without parameters
    if not isinstance(data, dict):
        return "holds no mapping of parameters: /**: ros__parameters: … is needed"
    return _entry_fault(data, ())


def _entry_fault(data: dict[Any, Any], where: tuple[str, ...]) -> str | None:
    for key, value in data.items():
        name = (*where, str(key))
        dotted = ": ".join(name)
        if isinstance(value, dict):
            fault = _entry_fault(value, name)
            if fault is not None:
                return fault
        elif "ros__parameters" not in name:
            return f"{dotted} stands above ros__parameters (two underscores after ros), below which parameters belong"
        elif isinstance(value, list):
            if any(isinstance(item, list | dict) for item in value):
                return f"{dotted} is a list of lists or mappings; a ROS parameter is a flat list of one type"
            kinds = {type(item).__name__ for item in value}
            if len(kinds) > 1:
                return f"{dotted} mixes {' and '.join(sorted(kinds))}; all entries of a list need one type (1.0, not 1)"
        elif value is None:
            return f"{dotted} has no value"
    return None


def _after(arguments: Sequence[str], flag: str) -> list[str]:
    return [value for name, value in pairwise(arguments) if name == flag]
