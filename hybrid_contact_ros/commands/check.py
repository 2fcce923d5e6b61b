"""``hybrid-contact check``: a robot model and a configuration as the suite sees them, before anything runs."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from dataclasses import fields, is_dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from hybrid_contact_ros.commands.explain import explain, show_parameters
from hybrid_contact_ros.commands.terminal import console
from hybrid_contact_ros.config import EstimatorConfig
from hybrid_contact_ros.mechanics.model import RigidBodyModel
from hybrid_contact_ros.mechanics.state import RobotState
from hybrid_contact_ros.messages.intake import Intake
from hybrid_contact_ros.modes.critical_friction import critical_friction
from hybrid_contact_ros.parameter_file import NODES, block_nodes, read_parameters

ERROR, WARNING = "error", "warning"
_DEEP = 0.02  # m; a contact point that is deeper inside its plane at the neutral configuration is worth a look
_HIGH = 10.0  # m; a gap that is larger at the neutral configuration is worth a look
_FILES = (".urdf", ".xml", ".yaml", ".yml")
_WIDEST = 100_000  # columns, in which any table fits


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("urdf", type=Path, help="robot model")
    parser.add_argument("config", type=Path, help="parameter file (YAML)")
    parser.add_argument("--json", action="store_true", help="print it as JSON")
    parser.add_argument(
        "--explain",
        nargs="?",
        const="",
        metavar="WORD",
        help="also every parameter with value, unit, range and meaning; WORD: those that have it in them",
    )
    parse = parser.parse_known_args
    parser.parse_known_args = lambda args=None, namespace=None: parse(_words(args or ()), namespace)  # type: ignore
    parser.epilog = "Exit code: 0, warnings or not; 2 where a node would refuse to be configured."


def run(args: argparse.Namespace) -> int:
    """0: nodes can use the model and the configuration. 2: they would refuse them."""
    if not args.urdf.is_file():
        raise ValueError(f"no such URDF: {args.urdf}")
    config = EstimatorConfig.from_file(args.config)
    seen = inspect(args.urdf, config)
    if args.explain is not None:
        seen["parameters"] = explain(config, args.explain)
    seen["findings"] = node_findings(args.config) + seen["findings"]
    if args.json:
        print(json.dumps(seen, indent=2))
    else:
        show(seen, console())
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


def inspect(urdf: str | Path, config: EstimatorConfig) -> dict[str, Any]:
    """The model as plain values, with each contact at the neutral configuration.

    There the joints are at 0, or as near to it as their limits allow, and the base is at the origin. ``findings`` is a
    list of mappings with ``level`` ("error" or "warning") and ``text``.

    Raises:
        ValueError: the URDF cannot be read, or the configuration does not fit it.
    """
    model = RigidBodyModel.from_urdf(urdf, config)
    state = RobotState(0, model.neutral(), np.zeros(model.nv))
    problem = model.problem(state)
    contacts = [
        {
            "name": model.contact_names[i],
            "frame": model.contact_frames[i],
            "position": model.contact_positions[i].tolist(),
            "normal": model.contact_normals[i].tolist(),
            "gap": float(problem.gap[i]),
            "friction": float(model.friction[i]),
            "restitution": float(model.restitution[i]),
            "effective_mass": _effective_mass(problem.mass, problem.normal_jacobian[i]),
        }
        for i in range(model.contacts)
    ]
    return {
        "robot": str(model.pinocchio_model.name),
        "floating_base": bool(model.floating_base),
        "nq": int(model.nq),
        "nv": int(model.nv),
        "joints": list(model.joint_names),
        "mass": float(sum(inertia.mass for inertia in model.pinocchio_model.inertias)),
        "model_hash": int(model.hash),
        "contacts": contacts,
        "findings": _model_findings(model, contacts) + _input_findings(model, config),
    }


def finding(level: str, text: str) -> dict[str, str]:
    """One entry of ``findings``."""
    return {"level": level, "text": text}


def node_findings(path: str | Path) -> list[dict[str, str]]:
    """What a node would find wrong with a parameter file that this command could read: ROS is strict about types, and
    needs lists of names."""
    data = read_parameters(path)
    blocks = block_nodes(path)
    if not blocks:
        return [
            finding(WARNING, f"{path} is no file for nodes, replay reads it: they need /**: {{ros__parameters: …}}")
        ]
    found = []
    if not {*NODES, "*", "**"} & set(blocks):
        found.append(
            finding(
                ERROR,
                f"the parameters are those of a node called {blocks[0]}; nodes of the suite read those below /**: or "
                f"{', '.join(NODES)}:",
            )
        )
    for names, entries, default in (
        ("contact_names", "contacts", []),
        ("environment_names", "environments", ["ground"]),
    ):
        given = list(data.get(entries) or ())
        if names not in data and [name for name in given if name not in default]:
            found.append(
                finding(
                    ERROR,
                    f"{names} is missing, by which nodes know what is in {entries}: {names}: [{', '.join(given)}]",
                )
            )
    for spec in fields(EstimatorConfig):
        group = spec.default_factory() if callable(spec.default_factory) else None
        if not is_dataclass(group) or not isinstance(data.get(spec.name), dict):
            continue
        for leaf in fields(group):
            value = data[spec.name].get(leaf.name)
            if isinstance(leaf.default, int) and isinstance(value, float):
                found.append(finding(ERROR, f"{spec.name}.{leaf.name} is {value!r}; nodes need it whole: {int(value)}"))
    return found


def _model_findings(model: RigidBodyModel, contacts: list[dict[str, Any]]) -> list[dict[str, str]]:
    """What fits the model and is most likely not meant."""
    found = []
    if not contacts:
        found.append(finding(WARNING, "no contact is configured: nothing will be predicted"))
    found += [finding(WARNING, c.finding) for c in critical_friction(model) if c.finding is not None]
    for contact in contacts:
        if not any(contact["normal"]):
            continue  # a joint limit
        name = contact["name"]
        if contact["effective_mass"] is None:
            found.append(
                finding(WARNING, f"{name} can be pushed by nothing: no joint moves {contact['frame']} along its normal")
            )
        if not model.floating_base and contact["gap"] < -_DEEP:
            found.append(
                finding(
                    WARNING,
                    f"{name} is {-contact['gap']:.3f} m inside its plane at the neutral configuration: "
                    "look at the plane's offset and normal",
                )
            )
        if not model.floating_base and contact["gap"] > _HIGH:
            found.append(
                finding(WARNING, f"{name} is {contact['gap']:.1f} m from its plane at the neutral configuration")
            )
    places: dict[tuple[Any, ...], str] = {}
    for contact in contacts:
        key = (contact["frame"], *np.round(contact["position"], 6), *np.round(contact["normal"], 6))
        if any(contact["normal"]) and key in places:
            found.append(finding(WARNING, f"{contact['name']} and {places[key]} are the same point on the same plane"))
        places.setdefault(key, contact["name"])
    return found


def _input_findings(model: RigidBodyModel, config: EstimatorConfig) -> list[dict[str, str]]:
    """Why the inputs do not go with the robot."""
    try:
        Intake(model, config.input)
    except ValueError as error:
        return [finding(ERROR, str(error))]
    return []


def show(seen: dict[str, Any], out: Console) -> None:
    """Print what was seen. Names are never broken: where a table is too wide, each contact gets lines of its own."""
    base = "floating base" if seen["floating_base"] else "fixed base"
    text = Text(seen["robot"], style="bold")
    text.append(
        f": {base}, {seen['nv']} velocity coordinates (nq {seen['nq']}), {len(seen['joints'])} joints, "
        f"{seen['mass']:.4g} kg, {len(seen['contacts'])} contacts, hash {seen['model_hash']:#018x}",
        style="not bold",
    )
    out.print(text)
    out.print(Text(f"joints: {', '.join(seen['joints']) or 'none'}"))
    if seen["contacts"]:
        table = _table(seen["contacts"])
        if out.measure(table, options=out.options.update(width=_WIDEST)).maximum <= out.width:
            out.print(table)
        else:
            out.print("contacts at the neutral configuration")
            for contact in seen["contacts"]:
                out.print(_block(contact))
        out.print(
            "mu: friction, e: restitution, felt: the mass (kg) that a push along the normal meets", highlight=False
        )
    for found in seen["findings"]:
        line = Text(f"{found['level']}: ", style="red" if found["level"] == ERROR else "yellow")
        out.print(line.append(found["text"], style="default"))


_NUMBERS = ("position m", "normal", "gap m", "mu", "e", "felt")


def _numbers(contact: dict[str, Any]) -> tuple[str, ...]:
    """The texts in the columns :data:`_NUMBERS`."""
    mass = contact["effective_mass"]
    return (
        " ".join(f"{x:.3f}" for x in contact["position"]),
        " ".join(f"{x:.2g}" for x in contact["normal"]),
        f"{contact['gap']:.4f}",
        f"{contact['friction']:.3g}",
        f"{contact['restitution']:.3g}",
        "-" if mass is None else f"{mass:.4g}",
    )


def _table(contacts: list[dict[str, Any]]) -> Table:
    table = Table(
        title="contacts at the neutral configuration", box=box.SIMPLE_HEAD, pad_edge=False, collapse_padding=True
    )
    for column in ("contact", "frame"):
        table.add_column(column, no_wrap=True)
    for column in _NUMBERS:
        table.add_column(column, justify="right", no_wrap=True)
    for contact in contacts:
        table.add_row(Text(contact["name"]), Text(contact["frame"]), *_numbers(contact))
    return table


def _block(contact: dict[str, Any]) -> Text:
    numbers = ", ".join(f"{name} {number}" for name, number in zip(_NUMBERS, _numbers(contact), strict=True))
    text = Text(contact["name"], style="bold")
    return text.append(f" (frame {contact['frame']})\n  {numbers}", style="not bold")


def _effective_mass(mass: np.ndarray[Any, Any], row: np.ndarray[Any, Any]) -> float | None:
    """1 / (J M⁻¹ Jᵀ), the mass (kg) that a push along the contact normal meets; None where no joint gives way."""
    inverse = float(row @ np.linalg.lstsq(mass, row, rcond=None)[0])
    return 1.0 / inverse if inverse > 1e-12 else None
