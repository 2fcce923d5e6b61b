"""``hybrid-contact check``: a robot model and a configuration as the suite sees them, before anything runs."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path

ERROR = "error"
_FILES = (".urdf", ".xml", ".yaml", ".yml")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("urdf", type=Path, help="robot model")
    parser.add_argument("config", type=Path, help="parameter file (YAML)")
    parser.add_argument("--json", action="store_true", help="print it as JSON")
    parser.add_argument(
        "--explain",
        nargs="?",
        const="",
        metavar="WORD",
        help="also what stands behind each finding, and every parameter with value, unit, range and meaning; WORD: "
        "those that have it in them",
    )
    parse = parser.parse_known_args
    parser.parse_known_args = lambda args=None, namespace=None: parse(_words(args or ()), namespace)  # type: ignore
    parser.epilog = "Exit code: 0, warnings or not; 2 where a node would refuse to be configured."


def run(args: argparse.Namespace) -> int:
    """0: nodes can use the model and the configuration. 2: they would refuse them."""
    if not args.urdf.is_file():
        raise ValueError(f"no such URDF: {args.urdf}")
    from hybrid_contact_ros.commands.check_model import inspect, node_findings  # numba and Pinocchio
    from hybrid_contact_ros.commands.check_tables import show
    from hybrid_contact_ros.commands.explain import explain, show_parameters
    from hybrid_contact_ros.commands.terminal import compiling, console
    from hybrid_contact_ros.config import EstimatorConfig

    config = EstimatorConfig.from_file(args.config)
    with compiling():
        seen = inspect(args.urdf, config)
    if args.explain is not None:
        seen["parameters"] = explain(config, args.explain)
    seen["findings"] = node_findings(args.config) + seen["findings"]
    if args.json:
        print(json.dumps(seen, indent=2))
    else:
        show(seen, console(), explained=args.explain is not None)
        if args.explain is not None:
            show_parameters(seen["parameters"], console())
    for found in seen["findings"]:
        if found["level"] == ERROR:
            print(f"hybrid-contact check: {found['text']}", file=sys.stderr)
    return 2 if any(found["level"] == ERROR for found in seen["findings"]) else 0


def _words(arguments: Sequence[str]) -> list[str]:
    """The arguments, with an ``--explain`` that stands before a file as one without a word: argparse would take the
    file for its word."""
    found = list(arguments)
    for i, (word, following) in enumerate(pairwise(arguments)):
        if word == "--explain" and (Path(following).suffix in _FILES or Path(following).is_file()):
            found[i] = "--explain="
    return found
