"""``hybrid-contact identify``: restitution and friction from a recording of impacts."""

from __future__ import annotations

import argparse
import json
import sys
from typing import TYPE_CHECKING

from rich.console import Console

from hybrid_contact_ros.commands.arguments import add_recording, streams
from hybrid_contact_ros.commands.terminal import console

if TYPE_CHECKING:
    from hybrid_contact_ros.identification.identify import Estimate, Identification

_MUCH = 0.03  # of the jump, unexplained


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_recording(parser)
    parser.epilog = (
        "Exit code: 0, identified; 2, a mistake, or too few impacts; 3, the recording is cut or damaged, and it was "
        "identified from what could be read."
    )
    parser.add_argument(
        "--speed", type=float, default=0.15, metavar="M_PER_S",
        help="a jump of a contact's normal velocity that makes an impact, m/s (default: %(default)s)",
    )  # fmt: skip
    parser.add_argument(
        "--reach", type=float, default=0.02, metavar="M",
        help="a contact with a larger gap cannot be in an impact, m (default: %(default)s)",
    )  # fmt: skip
    parser.add_argument(
        "--together", type=float, default=0.003, metavar="M",
        help="contacts this much above the lowest are in its impact, m (default: %(default)s)",
    )  # fmt: skip
    parser.add_argument(
        "--law", choices=("poisson", "stronge"),
        help="the law that the restitution is of (default: impact.law of the configuration)",
    )  # fmt: skip
    parser.add_argument("--json", action="store_true", help="print the result as JSON, and nothing else")


def run(args: argparse.Namespace) -> int:
    """0: identified. 3: from what could be read of a damaged recording. Too few impacts are an error."""
    # Imported here, because numba, Pinocchio and rosbags take a second that --help need not wait for.
    from hybrid_contact_ros.commands.report import show_reading
    from hybrid_contact_ros.identification.identify import identify_material

    found = identify_material(
        args.bag,
        args.config,
        args.urdf,
        **streams(args),
        speed=args.speed,
        reach=args.reach,
        together=args.together,
        law=args.law,
    )
    if args.json:
        json.dump(found.to_dict(), sys.stdout, indent=2)
        print()
    else:
        _show(found, console())
    show_reading(found, console(stderr=True))
    return 0 if found.damage is None else 3


def _show(found: Identification, out: Console) -> None:
    from hybrid_contact_ros.identification.identify import TOLERANCES

    out.print(
        f"{found.impacts} impacts in {found.states} states; {found.used} of one contact and explained by its impulse"
    )
    out.print(f"restitution ({found.law}) {_text(found.restitution)}")
    out.print(f"  slower half of the approaches: {found.slow:.3f}, faster half: {found.fast:.3f}")
    if found.friction is not None:
        out.print(f"friction    {_text(found.friction)}")
    elif found.friction_at_least is not None:
        out.print(f"friction    at least {found.friction_at_least:.3f}: too few impacts slipped to their end")
    out.print(f"part of a jump that no impulse at the contacts explains: {found.unexplained:.3f} (median)")
    if found.unexplained > _MUCH:
        out.print(
            "  [yellow]rather much:[/] check centre of mass, inertia and contact points of the model, and the "
            "velocities' timing, before widening intervals"
        )
    if found.radius is not None:
        parts = ", ".join(
            f"{100 * c:.0f} % at {100 * t:.0f} %" for c, t in zip(found.contained, TOLERANCES, strict=True)
        )
        out.print(
            f"sets with these intervals, identified from the other half of the recording, contain v+ of {found.tested} "
            f"impacts: {parts} of the jump; median radius {found.radius:.2f}"
        )
    e, mu = found.restitution, found.friction
    friction = "" if mu is None else f", friction=({mu.from_:.3f}, {mu.to:.3f})"
    out.print(
        f'use: post_impact_set(…, law="{found.law}", restitution=({e.from_:.3f}, {e.to:.3f}){friction})',
        highlight=False,
    )


def _text(x: Estimate) -> str:
    return (
        f"{x.value:.3f} (95 % interval {x.low:.3f} to {x.high:.3f}); single impacts {x.from_:.3f} to {x.to:.3f} "
        f"(5 to 95 % of {x.count})"
    )
