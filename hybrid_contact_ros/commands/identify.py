"""``hybrid-contact identify``: restitution and friction from a recording of impacts, what landings add to them, or
the noise of sensors, planes and tolerances as a parameter file."""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from rich.console import Console

from hybrid_contact_ros.commands.arguments import add_recording, streams
from hybrid_contact_ros.commands.terminal import console

if TYPE_CHECKING:
    from hybrid_contact_ros.identification.identify import Estimate, Identification
    from hybrid_contact_ros.identification.landings import LandingIdentification

_MUCH = 0.03  # unexplained part of a jump from which on the model is worth a look


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_recording(parser)
    parser.add_argument(
        "more",
        type=Path,
        nargs="*",
        help="with --landings or --noise: further recordings of the robot; each is an episode",
    )
    parser.epilog = (
        "Exit code: 0, identified; 2, a mistake, or too few impacts; 3, the recording is cut or damaged, and it was "
        "identified from what could be read."
    )
    parser.add_argument(
        "--speed", type=float, default=0.15, metavar="M_PER_S",
        help="jump of the normal velocity of a contact that makes an impact, m/s (default: %(default)s)",
    )  # fmt: skip
    parser.add_argument(
        "--reach", type=float, default=0.02, metavar="M",
        help="a contact with a larger gap cannot be in an impact, m (default: %(default)s)",
    )  # fmt: skip
    parser.add_argument(
        "--together", type=float, default=0.003, metavar="M",
        help="contacts up to this much above the lowest one are in its impact, m (default: %(default)s)",
    )  # fmt: skip
    parser.add_argument(
        "--law", choices=("poisson", "stronge"),
        help="impact law that the restitution belongs to (default: impact.law of the configuration)",
    )  # fmt: skip
    parser.add_argument(
        "--landings", action="store_true",
        help="identify the intervals and the margin of the parameters landing.*, from two recordings or more",
    )  # fmt: skip
    parser.add_argument(
        "--level", type=float, default=0.95, metavar="SHARE",
        help="with --landings: share of landings that sets with the margin are to hold (default: %(default)s)",
    )  # fmt: skip
    parser.add_argument(
        "--damping", type=float, metavar="GAIN",
        help="with --landings: damping gain of the drives, N m s/rad; their resistance is told as a time, too",
    )  # fmt: skip
    parser.add_argument(
        "--noise", action="store_true",
        help="identify noise of sensors, planes, errors of efforts, delays and tolerances (docs/identification.md)",
    )  # fmt: skip
    parser.add_argument(
        "--truth", metavar="TOPIC", help="with --noise: ContactMode messages that are believed, as /truth/contact_mode"
    )
    parser.add_argument(
        "--out", type=Path, metavar="FILE",
        help="write a parameter file there: of what --landings finds, else of what --noise does, which it implies",
    )  # fmt: skip
    parser.add_argument("--json", action="store_true", help="print the result as JSON, and nothing else")


def run(args: argparse.Namespace) -> int:
    """0: the material was identified. 3: it was, from what could be read of a damaged recording.

    Raises:
        ValueError: something cannot be used, or there are too few impacts.
    """
    # Imported here, because numba, Pinocchio and rosbags take a second that --help need not wait for.
    from hybrid_contact_ros.commands.identify_noise import run_noise
    from hybrid_contact_ros.commands.report import show_reading
    from hybrid_contact_ros.identification.identify import identify_material

    if args.landings:
        if args.noise or args.truth is not None:
            raise ValueError("--landings finds landings; leave it out for --noise and --truth")
        return _landings(args)
    if args.noise or args.out is not None:
        return run_noise(args)
    if args.truth is not None:
        raise ValueError("--truth is for --noise, or --out, which implies it")
    if args.more:
        raise ValueError(
            "restitution and friction are identified from one recording; several are for --landings or --noise"
        )
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


def _landings(args: argparse.Namespace) -> int:
    from hybrid_contact_ros.commands.report import show_reading
    from hybrid_contact_ros.identification.landing_file import parameter_file
    from hybrid_contact_ros.identification.landings import identify_landings

    found = identify_landings(
        [args.bag, *args.more],
        args.config,
        args.urdf,
        **streams(args),
        level=args.level,
        damping=args.damping,
        reach=args.reach,
    )
    if args.out is not None:
        args.out.write_text(parameter_file(found), encoding="utf-8")
    if args.json:
        json.dump(found.to_dict(), sys.stdout, indent=2)
        print()
    else:
        _show_landings(found, args.level, console())
        if args.out is None:
            console().print(parameter_file(found), highlight=False, soft_wrap=True)
    show_reading(found, console(stderr=True))
    return 0 if found.damage is None else 3


def _show_landings(found: LandingIdentification, level: float, out: Console) -> None:
    from hybrid_contact_ros.identification.calibration import landings_needed

    middle, calibration = 1e3 * found.durations[1], found.calibration
    out.print(f"{found.landings} landings in {found.episodes} episodes; they take {middle:.1f} ms (median)")
    out.print(
        f"intervals fitted to {found.fitted} of them; margin {calibration.margin:.3f} of the nominal jump, "
        f"calibrated on {calibration.count} ({calibration.method})"
    )
    out.print(
        f"sets with the margin hold {100 * calibration.level:.1f} % of landings, on average over calibrations, and of "
        "episodes like these only"
    )
    if calibration.level < level:
        out.print(
            f"  [yellow]this is below the level of {100 * level:g} % that was asked for:[/] it needs "
            f"{landings_needed(level)} calibration landings that the fit has not seen. Record more episodes, or ask "
            "for less by --level"
        )
    for name, scores in (("without", found.before), ("with", found.after)):
        if scores is not None:
            out.print(
                f"test, {name} the margin: {scores.count} landings, {100 * scores.inside:.0f} % inside, "
                f"{100 * scores.within_5:.0f} % within 5 % of the jump, {100 * scores.within_10:.0f} % within 10 %; "
                f"median radius {scores.radius:.2f}, half-width {scores.half_width:.3f}; a ball of {scores.ball_5:.2f} "
                "does the same within 5 %"
            )


def _show(found: Identification, out: Console) -> None:
    from hybrid_contact_ros.identification.validation import TOLERANCES

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
