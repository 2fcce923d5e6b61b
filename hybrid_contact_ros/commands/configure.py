"""``hybrid-contact configure``: a parameter file to begin with, from the shapes in a URDF."""

from __future__ import annotations

import argparse
import json
import re
import sys
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from hybrid_contact_ros.mechanics.contact_draft import Draft, DraftContact

_FRICTION = 0.6


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("urdf", type=Path, help="robot model")
    parser.add_argument("--out", type=Path, metavar="FILE", help="write it there; without it, it is printed")
    parser.add_argument("--contact", nargs="+", metavar="LINK", help="links that may touch (default: a guess)")
    base = parser.add_mutually_exclusive_group()
    base.add_argument("--floating-base", dest="floating_base", action="store_true", default=None, help="it walks")
    base.add_argument("--fixed-base", dest="floating_base", action="store_false", help="its root link is bolted down")
    parser.epilog = "What it guesses stands beside each value as a comment: read it, then run `hybrid-contact check`."


def run(args: argparse.Namespace) -> int:
    """0: a file was written or printed."""
    from hybrid_contact_ros.mechanics.contact_draft import NO_SHAPE, draft_contacts, draft_links  # Pinocchio

    if not args.urdf.is_file():
        raise ValueError(f"no such URDF: {args.urdf}")
    if args.out is not None and args.out.exists():
        raise ValueError(f"{args.out} exists already: remove it, or write to another file")
    if args.contact and len(set(args.contact)) < len(args.contact):
        raise ValueError(f"--contact names a link twice: {' '.join(args.contact)}")
    if args.contact:
        draft = draft_links(args.urdf, tuple(args.contact), args.floating_base)
    else:
        draft = draft_contacts(args.urdf, args.floating_base)
    if len(draft.wheels) > 1:  # one is the wrist of an arm
        print(f"left out as wheels, for they turn without end: {', '.join(draft.wheels)}", file=sys.stderr)
    if draft.turned:
        print(
            f"the meshes of {args.urdf.name} are turned as the up_axis of their .dae files says: otherwise centres of "
            "mass lie outside of their links. RViz does not heed it, and shows them as they stand",
            file=sys.stderr,
        )
    for contact in draft.contacts:
        if contact.source == NO_SHAPE:
            print(f"{contact.link}: {NO_SHAPE}, and write them into the file", file=sys.stderr)
    text = written(draft, args.urdf.name)
    if args.out is None:
        print(text, end="")
        return 0
    args.out.write_text(text, encoding="utf-8")
    base = "floating base" if draft.floating_base else "fixed base"
    print(f"{args.out}: {base}, contacts {', '.join(contact.link for contact in draft.contacts)}")
    print(f"next: hybrid-contact check {args.urdf} {args.out}")
    return 0


def written(draft: Draft, urdf: str) -> str:
    """The parameter file as text."""
    names = [_name(contact.link) for contact in draft.contacts]
    lines = [
        f"# Drafted from {urdf} by hybrid-contact configure: every value here is a guess to be looked at.",
        "/**:",
        "  ros__parameters:",
        f"    floating_base: {'true' if draft.floating_base else 'false'}",
    ]
    if draft.locked:
        lines.append(
            f"    locked_joints: [{', '.join(draft.locked)}]  # they move nothing that has inertia in the URDF"
        )
    if not draft.floating_base:
        lines += [
            "    environment_names: [table]",
            "    environments:",
            "      table: {normal: [0.0, 0.0, 1.0], offset: 0.0}  # measure its height, m, from the root link",
        ]
    lines += [f"    contact_names: [{', '.join(names)}]", "    contacts:  # m, in each link's frame"]
    plane = "" if draft.floating_base else ", environment: table"
    lines += [_contact(contact, plane) for contact in draft.contacts]
    return "\n".join(lines) + "\n"


def _contact(contact: DraftContact, plane: str) -> str:
    points = ""
    if contact.points.any() or len(contact.points) > 1:
        points = f", points: [{', '.join(_number(x) for x in contact.points.ravel())}]"
    radius = f", radius: {_number(contact.radius)}" if contact.radius > 0.0 else ""
    link = contact.link if _name(contact.link) == contact.link else json.dumps(contact.link)
    entry = f"{{link: {link}{radius}, friction: {_FRICTION}{plane}{points}}}"
    return f"      {_name(contact.link)}: {entry}  # {contact.source}"


def _name(link: str) -> str:
    """A link's name as the name of a contact: ROS has dots between groups of parameters."""
    name = re.sub(r"\W", "_", link)
    return name if name[:1].isalpha() else f"c_{name}"


def _number(x: float) -> str:
    """To a hundredth of a millimetre, with the point that ROS asks for; without an exponent, which without a point is
    text to YAML."""
    from numpy import format_float_positional

    return format_float_positional(round(float(x), 5) + 0.0, trim="0")
