"""``hybrid-contact report``: a result file in, one page for a browser and figures for papers out."""

from __future__ import annotations

import argparse
import sys
from importlib.util import find_spec
from pathlib import Path


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("result", type=Path, help="result file (.result.zip) of `hybrid-contact replay --result`")
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
    from hybrid_contact_ros.reporting.page import write_report

    write_report(out, result.summary, result.tables)
    print(f"{out}: {out.stat().st_size / 1e6:.1f} MB", file=sys.stderr)
    if args.figures is not None:
        from hybrid_contact_ros.reporting.figures import write_figures

        files = write_figures(args.figures, result.summary, result.tables)
        print(f"{args.figures}: {len(files)} figures", file=sys.stderr)
    return 0


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
    if out.exists() and not force:
        raise ValueError(f"{out} exists already: name another file with -o, or replace it (--force)")
    if not out.absolute().parent.is_dir():
        raise ValueError(f"{out} cannot be written: there is no folder {out.absolute().parent}")
