"""``hybrid-contact identify --noise``: what a recording tells of its sensors and its ground, and a parameter file
of it."""

from __future__ import annotations

import argparse
import json
import sys
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rich.console import Console
from rich.table import Table

from hybrid_contact_ros.bags.folder import check_folder
from hybrid_contact_ros.commands.arguments import streams
from hybrid_contact_ros.commands.terminal import console

if TYPE_CHECKING:
    from hybrid_contact_ros.identification.parameters import Parameters


def run_noise(args: argparse.Namespace) -> int:
    """0: identified. 3: from what could be read of a damaged recording.

    Raises:
        ValueError: something cannot be used, or the file that would be written is the given one.
    """
    from hybrid_contact_ros.bags.streams import Streams
    from hybrid_contact_ros.commands.report import show_reading
    from hybrid_contact_ros.config import EstimatorConfig
    from hybrid_contact_ros.identification.noise_file import noise_file
    from hybrid_contact_ros.identification.parameters import identify_parameters
    from hybrid_contact_ros.identification.recorded_truth import read_recordings
    from hybrid_contact_ros.mechanics.model import RigidBodyModel
    from hybrid_contact_ros.parameter_file import read_parameters

    if args.out is not None:
        if args.out.resolve() == args.config.resolve():
            raise ValueError(f"--out is the given file {args.config}, whose comments would be lost: name another one")
        check_folder(args.out)
    config = EstimatorConfig.from_file(args.config)
    named = streams(args)
    twist_in_world = named.pop("twist_in_world")
    read = read_recordings([args.bag, *args.more], config, args.urdf, Streams(**named), twist_in_world, args.truth)
    urdf = _urdf(args.urdf, args.bag, Streams(**named), config.floating_base)
    quiet = console(stderr=True)
    found = identify_parameters(
        lambda changed: RigidBodyModel.from_urdf(urdf, changed),
        config,
        read.episodes,
        lambda text: quiet.print(f"{text} …"),
    )
    if args.out is not None:
        text = noise_file(found, read_parameters(args.config))
        args.out.write_text(text, encoding="utf-8")
        EstimatorConfig.from_file(args.out)  # what cannot be loaded is not left unsaid
    if args.json:
        json.dump(as_data(found), sys.stdout, indent=2)
        print()
    else:
        _show(found, console(), args.out)
    show_reading(read, quiet)
    return 0 if read.damage is None else 3


def _urdf(given: Path | None, bag: Path, names: Any, floating_base: bool) -> Any:
    """What :meth:`RigidBodyModel.from_urdf` takes."""
    from hybrid_contact_ros.bags.reader import BagReader

    with BagReader(bag) as reader:
        return names.found_in(reader, floating_base).urdf(reader, given)


def as_data(found: Parameters) -> dict[str, Any]:
    """For JSON."""
    return {
        "states": found.states,
        "episodes": found.episodes,
        "with_truth": found.with_truth,
        "reference": found.reference,
        "measured": [f.to_dict() for f in found.measured.all()],
        "values": found.values,
        "kept": {p.path: p.kept for p in found.proposals if p.kept},
        "tried": [asdict(t) for t in found.tried],
        "held_out": {"given": found.default.score, "identified": found.score.score, "can_tell": found.default.tells},
    }


def _show(found: Parameters, out: Console, file: Path | None) -> None:
    from hybrid_contact_ros.identification.parameters import REFERENCES

    table = Table("", "value", "95 % interval", "samples, blocks", title=f"measured on {found.states} states")
    unknown: dict[str, list[str]] = {}
    for f in found.measured.all():
        if f.known:
            unit = "" if f.unit == "-" else f" {f.unit}"
            table.add_row(f.name, f"{f.value:.4g}{unit}", f"{f.low:.4g} to {f.high:.4g}", f"{f.samples}, {f.blocks}")
        else:
            unknown.setdefault(f.why, []).append(f.name)
    out.print(table)
    for why, names in unknown.items():
        more = f" and {len(names) - 3} more" if len(names) > 3 else ""
        out.print(f"not identifiable: {'; '.join(names[:3])}{more}: {why}", highlight=False, soft_wrap=True)
    if found.tried:
        out.print(f"tried by {REFERENCES[found.reference]}:", highlight=False, soft_wrap=True)
    for t in found.tried:
        word = "taken" if t.taken else "not taken"
        out.print(
            f"{t.what}: {t.before:.4f} -> {t.score:.4f} on the held-out part ({t.low:+.4f} to {t.high:+.4f}): {word}",
            highlight=False, soft_wrap=True,
        )  # fmt: skip
    if not found.default.tells:
        out.print(
            "[yellow]too few events in the held-out part:[/] nothing could be tried; record strides, or give --truth"
        )
    for path, value in found.values.items():
        out.print(f"  {path}: {value}", highlight=False)
    kept = sum(bool(p.kept) for p in found.proposals)
    out.print(
        f"{len(found.values)} parameters have new values, {kept} keep theirs"
        + ("" if file is None else f"; {file} says why")
    )
