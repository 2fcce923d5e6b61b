"""``hybrid-contact report``: a result file in, one page for a browser and figures for papers out."""

from __future__ import annotations

import argparse
import sys
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

from hybrid_contact_ros.bags.folder import check_folder

if TYPE_CHECKING:
    from hybrid_contact_ros.results.file import Result


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("result", type=Path, help="result file (.result.zip) of `hybrid-contact score`")
    parser.add_argument(
        "-o", "--out", type=Path, metavar="FILE", help="HTML file to write (default: beside the result, with its name)"
    )
    parser.add_argument("--force", action="store_true", help="replace the HTML file where it exists")
    parser.add_argument(
        "--figures", type=Path, metavar="DIR",
        help="also write every plot there as PNG and as PDF; older ones are replaced",
    )  # fmt: skip
    parser.epilog = "Exit code: 0, it was written; 2, a mistake in the arguments or files."


def run(args: argparse.Namespace) -> int:
    """0: everything was written."""
    from hybrid_contact_ros.results.file import read

    out = args.out or default_output(args.result)
    check_report(out, args.force)
    result = read(args.result)
    report(out, result)
    if args.figures is not None:
        from hybrid_contact_ros.reporting.figures import write_figures

        files = write_figures(args.figures, result.summary, result.tables)
        print(f"{args.figures}: {len(files)} figures", file=sys.stderr)
    return 0


def report(out: Path, result: Result) -> None:
    """Write the page of a result, and say where.

    Raises:
        ValueError: the result holds no state.
        OSError: the page cannot be written there.
    """
    # Imported here, because Bokeh takes a second that --help need not wait for.
    from hybrid_contact_ros.reporting.page import write_report
    from hybrid_contact_ros.results.file import FORMAT

    write_report(out, {"format": FORMAT} | result.summary, result.tables)  # one that was not read has no format yet
    print(f"{out}: {out.stat().st_size / 1e6:.1f} MB", file=sys.stderr)


def report_replayed(out: Path, result: Result) -> None:
    """The same of a replay, of which nothing may have come: then that is said and no page is written."""
    if result.summary["states"]:
        report(out, result)
    else:
        print(f"{out} is not written: no state came of it, so there is nothing to report", file=sys.stderr)


def default_output(result: Path) -> Path:
    """The name of the page, beside the result."""
    return result.with_name(result.name.removesuffix(".zip").removesuffix(".result") + ".html")


def check_report(out: Path, force: bool) -> None:
    """Check that a report can be written, before any work is done for it.

    Raises:
        ValueError: it cannot; the text says what to do.
    """
    missing = [name for name in ("bokeh", "matplotlib") if find_spec(name) is None]
    if missing:
        raise ValueError(f"reports need {' and '.join(missing)}: pip install 'hybrid_contact_ros[report]'")
    if out.is_dir():
        raise ValueError(f"{out} is a folder: name a file for the report")
    if out.suffix.lower() not in (".html", ".htm"):  # a slip would otherwise replace a recording or a result
        raise ValueError(f"{out}: the name of a report ends in .html")
    if out.exists() and not force:
        raise ValueError(f"{out} exists already: name another file, or replace it (--force)")
    check_folder(out)
