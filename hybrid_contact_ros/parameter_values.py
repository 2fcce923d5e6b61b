"""From nested mappings of parameters to records: types and ranges, by the metadata of the fields."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import MISSING, Field, field, fields
from typing import Any


def leaf(default: Any, unit: str, low: float | None, high: float | None, text: str) -> Any:
    """A parameter with its unit, its closed range and what it does."""
    return field(default=default, metadata={"unit": unit, "low": low, "high": high, "text": text})


def check_intervals(group: str, record: object, names: Iterable[str]) -> None:
    """Raise ValueError where NAME_min of a record is more than NAME_max."""
    for name in names:
        low, high = getattr(record, f"{name}_min"), getattr(record, f"{name}_max")
        if low > high:
            raise ValueError(f"{group}.{name}_min is {low:g}, which is more than {group}.{name}_max, {high:g}")


def named(kind: type, key: str, value: Any, order: Any) -> dict[str, Any]:
    """Entries by name, in the given order, or in that of the mapping where ``order`` is None."""
    if not isinstance(value, Mapping):
        raise ValueError(f"{key} must be a mapping from names to entries")
    if isinstance(order, str):
        raise ValueError(f"{key[:-1]}_names must be a list of names, got {order!r}")
    names = list(order) if order is not None else list(value)
    missing = [n for n in value if n not in names] + [n for n in names if n not in value]
    if missing:
        raise ValueError(f"{key[:-1]}_names and {key} do not name the same entries: {', '.join(missing)}")
    if len(set(names)) != len(names):
        raise ValueError(f"{key[:-1]}_names holds a name twice: {', '.join(names)}")
    return {name: group(kind, f"{key}.{name}", value[name]) for name in names}


def group(kind: type, key: str, value: Any) -> Any:
    """One dataclass of parameters from a mapping; ``key`` is its dotted name."""
    if not isinstance(value, Mapping):
        raise ValueError(f"{key} must be a mapping, got {value!r}")
    known: dict[str, Field[Any]] = {f.name: f for f in fields(kind)}
    unknown = [k for k in value if k not in known]
    if unknown:
        raise ValueError(f"unknown parameter {key}.{unknown[0]}; known are {', '.join(known)}")
    return kind(**{k: checked(known[k], f"{key}.{k}", v) for k, v in value.items()})


def checked(spec: Field[Any], key: str, value: Any) -> Any:
    """Convert one value to the type of its default, and check its range."""
    default = spec.default if spec.default is not MISSING else None
    unit = spec.metadata.get("unit", "-")
    if isinstance(default, bool):
        if not isinstance(value, bool):
            raise ValueError(f"{key} must be true or false, got {value!r}")
        return value
    if isinstance(default, str):
        if not isinstance(value, str):
            raise ValueError(f"{key} must be a string, got {value!r}")
        return value
    if isinstance(default, tuple):
        if isinstance(value, str | bytes) or not hasattr(value, "__iter__"):
            raise ValueError(f"{key} must be a list, got {value!r}")
        items = tuple(value)
        if key in ("joint_limits", "locked_joints") or unit == "text":
            return tuple(str(item) for item in items)
        return tuple(_number(key, item, unit) for item in items)
    number = _number(key, value, unit)
    if isinstance(default, int):
        if number != int(number):
            raise ValueError(f"{key} must be a whole number, got {value!r}")
        number = int(number)
    low, high = spec.metadata.get("low"), spec.metadata.get("high")
    if (low is not None and number < low) or (high is not None and number > high):
        raise ValueError(f"{key} = {value!r} is outside [{low}, {high}]{'' if unit == '-' else f' {unit}'}")
    return number


def _number(key: str, value: Any, unit: str) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise ValueError(f"{key} must be a number{'' if unit == '-' else f' ({unit})'}, got {value!r}")
    if value != value or value in (float("inf"), float("-inf")):
        raise ValueError(f"{key} must be finite, got {value!r}")
    return float(value)
