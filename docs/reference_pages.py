"""Pages of the site that are made from the sources: the messages and services, and the Python interface."""

from __future__ import annotations

import inspect
from pathlib import Path

import hybrid_contact_ros

ROOT = Path(__file__).resolve().parent.parent
MESSAGES = ROOT / "hybrid_contact_msgs"

_ROOMS = {
    "": "The estimator and its configuration",
    "mechanics": "Robots, states and contact problems",
    "modes": "Contact modes",
    "impacts": "Impacts and post-impact velocity sets",
    "stability": "Constraint stability and Zeno",
    "sensitivity": "Sensitivities and saltation matrices",
    "simulation": "Executions of the hybrid system",
    "continuous_time": "Impacts in continuous time",
    "systems": "Systems without a URDF",
    "orbits": "Periodic orbits and controllability",
    "identification": "Identification",
    "messages": "Readers of messages",
    "recordings": "Recordings",
    "replay": "Replay",
}
"""Titles of the groups of public names, by the room of the package that they live in."""


def write(folder: Path) -> None:
    """Write all pages; a page that would say the same as before is left alone, so that builds can skip it."""
    folder.mkdir(exist_ok=True)
    pages = {"messages.md": messages(), "api.md": interface()}
    for name, text in pages.items():
        path = folder / name
        if not path.is_file() or path.read_text(encoding="utf-8") != text:
            path.write_text(text, encoding="utf-8")


def messages() -> str:
    """The definitions as they are: their comments are the documentation of every field."""
    parts = ["# Messages and services\n", "From `hybrid_contact_msgs`. The comments give meaning, unit and frame.\n"]
    for kind, suffix in (("msg", "Messages"), ("srv", "Services")):
        parts.append(f"## {suffix}\n")
        for path in sorted((MESSAGES / kind).glob(f"*.{kind}")):
            about, fields = split(path.read_text(encoding="utf-8"))
            parts.append(f"### {path.stem}\n\n{about}\n\n```text\n{fields}\n```\n")
    return "\n".join(parts)


def split(text: str) -> tuple[str, str]:
    """A definition's first block of comments as prose, and the rest of it as it stands."""
    lines = text.strip().splitlines()
    head = 0
    while head < len(lines) and lines[head].startswith("#"):
        head += 1
    about = "\n".join(line.removeprefix("#").strip() for line in lines[:head])
    return about, "\n".join(lines[head:]).strip()


def interface() -> str:
    """Every public name with its docstring, by room."""
    homes = {name: home.partition(".") for name, home in hybrid_contact_ros._HOMES.items()}
    rooms = {name: room if dot else "" for name, (room, dot, _) in homes.items()}
    unknown = sorted(set(rooms.values()) - set(_ROOMS))
    if unknown:
        raise KeyError(f"rooms of public names without a title in {Path(__file__).name}: {', '.join(unknown)}")
    parts = ["# Python interface\n", "All of these are imported from `hybrid_contact_ros`.\n"]
    for room, title in _ROOMS.items():
        parts.append(f"## {title}\n")
        for name in sorted((n for n, r in rooms.items() if r == room), key=str.lower):
            kind = "autoclass" if inspect.isclass(getattr(hybrid_contact_ros, name)) else "autofunction"
            members = ["   :members:"] if kind == "autoclass" else []
            home = f"hybrid_contact_ros.{hybrid_contact_ros._HOMES[name]}"
            parts.append("\n".join(["```{eval-rst}", f".. {kind}:: {home}.{name}", *members, "```", ""]))
    return "\n".join(parts)
