"""Results beside each other: scores, what is better as far as can be told, and what was run differently."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from hybrid_contact_ros.results.file import Result, ResultError
from hybrid_contact_ros.results.scored import track_of, truth_of
from hybrid_contact_ros.scoring.blocks import Measure, interval, measures, on_common

_STRETCH = 1.0  # s, of a block; shorter in recordings with less than twenty
_STRETCHES, _SHORTEST = 20, 0.25


@dataclass(frozen=True, slots=True)
class Row:
    """One score of the first result and of another one.

    Attributes:
        name, unit: of the score; the unit is "s" or "" for a share.
        first, other: its values; NaN where there is none.
        low, high: bounds of the difference other − first (:func:`~hybrid_contact_ros.scoring.blocks.interval`), or NaN.
        verdict: "better" or "worse", that is the other one, where the bounds exclude 0; "" where nothing can be told.
        count: number of states or events in the first.
    """

    name: str
    unit: str
    first: float
    other: float
    low: float
    high: float
    verdict: str
    count: int


def compared(first: Result, other: Result, paired: bool = True) -> list[Row]:
    """Scores of two results.

    Args:
        paired: whether both are of the same recording; then they must be.

    Raises:
        ResultError: they are of different recordings or truths although ``paired``, or have no score in common.
    """
    if paired:
        _check_pair(first, other)
    held = [_measures(result) for result in (first, other)]
    length = min(_stretch(result) for result in (first, other))
    rows = [
        _row(name, held[0][name], held[1][name], paired, length) for name in held[0] if name in held[1]
    ]  # fmt: skip
    rows += _plain_rows(first, other)
    if not rows:
        raise ResultError("the results have no score in common: make them by `hybrid-contact score … --truth …`")
    return rows


def differences(first: Mapping[str, Any], other: Mapping[str, Any]) -> list[tuple[str, Any, Any]]:
    """Names and values of what two summaries say differently of program and parameters."""
    ours, theirs = (_flat(summary.get("configuration") or {}) for summary in (first, other))
    if not ours or not theirs:  # another estimator, whose parameters nobody knows
        ours = theirs = {}
    found = [
        (name, ours.get(name), theirs.get(name)) for name in [*ours, *theirs] if ours.get(name) != theirs.get(name)
    ]  # fmt: skip
    told = [(key, first.get(key), other.get(key)) for key in ("package_version", "estimate", "robot")]
    return [each for each in told if each[1] != each[2]] + list({x[0]: x for x in found}.values())


def _measures(result: Result) -> dict[str, Measure]:
    track, truth = track_of(result), truth_of(result)
    return {} if track is None or truth is None else measures(track, truth)


def _row(name: str, one: Measure, other: Measure, paired: bool, length: int) -> Row:
    if paired:
        one, other = on_common(one, other)
    bounds = interval(one, other, paired, length)
    low, high = (math.nan, math.nan) if bounds is None else bounds
    verdict = ""
    if bounds is not None and one.higher is not None and not low <= 0.0 <= high:
        verdict = "better" if (low > 0.0) == one.higher else "worse"
    return Row(name, one.unit, one.value, other.value, low, high, verdict, int(one.time_ns.size))


def _plain_rows(first: Result, other: Result) -> list[Row]:
    """What has no interval: it depends on the machine, or on what each saw itself."""
    rows = []
    for name, unit, *keys in (
        ("time of a state, p50", "s", "latency", "compute", "p50"),
        ("time of a state, p99", "s", "latency", "compute", "p99"),
        ("chatter, changes", "count", "self_consistency", "chatter"),
    ):
        one, two = (_at(result.summary, keys) for result in (first, other))
        if one is not None and two is not None:
            rows.append(Row(name, unit, float(one), float(two), math.nan, math.nan, "", first.summary["states"]))
    return rows


def _check_pair(first: Result, other: Result) -> None:
    """Raise ResultError where two results cannot be held against each other state by state."""
    one, two = first.summary, other.summary
    if one.get("recording") != two.get("recording"):
        bags = f"{one['bag']} and {two['bag']}"
        raise ResultError(f"these are results of different recordings, {bags}: compare them with --unpaired")
    truths = truth_of(first), truth_of(other)
    if truths[0] is None or truths[1] is None:
        return
    if not (
        np.array_equal(truths[0].stamps_ns, truths[1].stamps_ns)
        and np.array_equal(truths[0].closed, truths[1].closed)
        and np.array_equal(truths[0].known, truths[1].known)
    ):
        said = f"{', '.join(one['truth']) or 'none'} and {', '.join(two['truth']) or 'none'}"
        raise ResultError(f"these results were scored against different truths ({said}): score both against the same")


def _stretch(result: Result) -> int:
    duration = float(result.summary["duration"])
    return int(1e9 * min(_STRETCH, max(_SHORTEST, duration / _STRETCHES)))


def _at(summary: Mapping[str, Any], keys: Sequence[str]) -> Any:
    value: Any = summary
    for key in keys:
        value = value.get(key) if isinstance(value, Mapping) else None
    return value


def _flat(values: Mapping[str, Any], above: str = "") -> dict[str, Any]:
    flat: dict[str, Any] = {}
    for key, value in values.items():
        flat |= _flat(value, f"{above}{key}.") if isinstance(value, Mapping) else {f"{above}{key}": value}
    return flat
