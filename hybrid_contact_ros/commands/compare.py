"""``hybrid-contact compare``: result files beside each other, with what is better as far as can be told."""

from __future__ import annotations

import argparse
import csv
import json
import math
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from rich.table import Table
from rich.text import Text

from hybrid_contact_ros.commands.terminal import console

if TYPE_CHECKING:
    from hybrid_contact_ros.results.comparison import Row

_SHOWN = 12  # parameters that differ


class _Found(NamedTuple):
    """One comparison: names of the results, scores, and what was run differently."""

    first: str
    other: str
    rows: list[Row]
    different: list[tuple[str, Any, Any]]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "results", type=Path, nargs="+", metavar="RESULT", help="result files; the first is compared with"
    )
    parser.add_argument(
        "--unpaired", action="store_true", help="the results may be of different recordings: intervals are wider"
    )
    parser.add_argument("--fail-if-worse", action="store_true", help="exit code 1 where one is worse in any score")
    out = parser.add_mutually_exclusive_group()
    out.add_argument("--json", action="store_true", help="print as JSON, and nothing else")
    out.add_argument("--csv", action="store_true", help="print as CSV, and nothing else")
    parser.epilog = (
        "Better or worse is said only where the interval of the difference, from drawing stretches of the recording "
        "again, excludes 0. Exit code: 0, compared; 1, --fail-if-worse and one is; 2, a mistake in the files."
    )


def run(args: argparse.Namespace) -> int:
    """0: compared. 1: one is worse, and that was asked for."""
    from hybrid_contact_ros.results.comparison import compared, differences
    from hybrid_contact_ros.results.file import plain, read

    if len(args.results) < 2:
        raise ValueError("two result files or more are needed; `hybrid-contact score` makes them")
    needed = ("states", "contacts", "truth")
    first, *others = [read(path, needed) for path in args.results]
    labels = _labels(args.results)
    found = [
        _Found(labels[0], label, compared(first, other, not args.unpaired), differences(first.summary, other.summary))
        for label, other in zip(labels[1:], others, strict=True)
    ]
    if args.json:
        told = [each._asdict() | {"rows": [_fields(row) for row in each.rows]} for each in found]
        json.dump(plain(told), sys.stdout, indent=2, allow_nan=False)
        print()
    elif args.csv:
        writer = csv.writer(sys.stdout, lineterminator="\n")
        writer.writerow(
            ["first", "other", "score", "unit", "count", "first_value", "other_value", "low", "high", "verdict"]
        )
        for each in found:
            for row in each.rows:
                values = (row.count, row.first, row.other, row.low, row.high, row.verdict)
                writer.writerow([each.first, each.other, row.name, row.unit, *values])
    else:
        for each in found:
            _show(each)
    worse = any(row.verdict == "worse" for each in found for row in each.rows)
    return 1 if args.fail_if_worse and worse else 0


def _show(found: _Found) -> None:
    out = console()
    table = Table(
        "score", "of", found.first, found.other, "difference", "99% interval", "", title="second against first"
    )
    for row in found.rows:
        said = (
            "-" if math.isnan(row.low) else f"{_number(row.low, row.unit, True)} … {_number(row.high, row.unit, True)}"
        )
        style = {"better": "green", "worse": "red"}.get(row.verdict, "")
        table.add_row(
            row.name, str(row.count), _number(row.first, row.unit), _number(row.other, row.unit),
            _number(row.other - row.first, row.unit, True), said, Text(row.verdict, style=style),
        )  # fmt: skip
    out.print(table)
    different = found.different
    for name, one, other in different[:_SHOWN]:
        out.print(Text(f"{name}: {one} | {other}"), soft_wrap=True)
    if len(different) > _SHOWN:
        out.print(f"and {len(different) - _SHOWN} more parameters differ (--json lists them)")


def _fields(row: Row) -> dict[str, Any]:
    return {name: getattr(row, name) for name in row.__slots__}


def _labels(paths: list[Path]) -> list[str]:
    """Names of the files without their suffix, or their paths where two have the same."""
    short = [path.name.removesuffix(".zip").removesuffix(".result") for path in paths]
    return short if len(set(short)) == len(short) else [str(path) for path in paths]


def _number(value: float, unit: str, signed: bool = False) -> str:
    if math.isnan(value):
        return "-"
    sign = "+" if signed else ""
    if unit == "s":
        return f"{value * 1e3:{sign}.3f} ms"
    return f"{value:{sign}.0f}" if unit == "count" else f"{value:{sign}.4f}"
