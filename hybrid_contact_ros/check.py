"""``hybrid-contact check``: what the suite sees of a robot model and a configuration, before anything runs."""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

import numpy as np
from rich import box
from rich.console import Console
from rich.table import Table

from hybrid_contact_ros.config import EstimatorConfig
from hybrid_contact_ros.mechanics.model import RigidBodyModel
from hybrid_contact_ros.mechanics.state import RobotState


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("urdf", type=Path, help="robot model")
    parser.add_argument("config", type=Path, help="parameter file (YAML)")
    parser.add_argument("--json", action="store_true", help="print it as JSON")


def run(args: argparse.Namespace) -> int:
    if not args.urdf.is_file():
        raise ValueError(f"no such URDF: {args.urdf}")
    seen = inspect(args.urdf, EstimatorConfig.from_file(args.config))
    if args.json:
        print(json.dumps(seen, indent=2))
    else:
        show(seen, Console())
    return 0


def inspect(urdf: str | Path, config: EstimatorConfig) -> dict[str, Any]:
    """What the model holds, and each contact at the neutral configuration (joints at 0 or nearest to it, the base at
    the origin).

    Raises:
        ValueError: what does not fit, from the URDF reader or the model.
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
    }


def show(seen: dict[str, Any], console: Console) -> None:
    """Print it."""
    base = "floating base" if seen["floating_base"] else "fixed base"
    console.print(
        f"[bold]{seen['robot']}[/]: {base}, {seen['nv']} velocity coordinates (nq {seen['nq']}), "
        f"{len(seen['joints'])} joints, {seen['mass']:.4g} kg, {len(seen['contacts'])} contacts, "
        f"hash {seen['model_hash']:#018x}",
        highlight=False,
        soft_wrap=True,
    )
    console.print(f"joints: {', '.join(seen['joints']) or 'none'}", highlight=False, soft_wrap=True)
    table = Table(
        title="contacts at the neutral configuration", box=box.SIMPLE_HEAD, pad_edge=False, collapse_padding=True
    )
    for column in ("contact", "frame"):
        table.add_column(column, overflow="fold", min_width=7)
    for column in ("position m", "normal", "gap m", "mu", "e", "felt"):  # eighty columns are enough for these
        table.add_column(column, justify="right", no_wrap=True)
    for c in seen["contacts"]:
        mass = c["effective_mass"]
        table.add_row(
            c["name"],
            c["frame"],
            " ".join(f"{x:.3f}" for x in c["position"]),
            " ".join(f"{x:.2g}" for x in c["normal"]),
            f"{c['gap']:.4f}",
            f"{c['friction']:.3g}",
            f"{c['restitution']:.3g}",
            "-" if mass is None else f"{mass:.4g}",
        )
    console.print(table)
    console.print("mu: friction, e: restitution, felt: the mass (kg) that a push along the normal meets")
    if not seen["contacts"]:
        console.print("[yellow]no contact is configured: nothing will be predicted[/]")


def _effective_mass(mass: np.ndarray[Any, Any], row: np.ndarray[Any, Any]) -> float | None:
    """1 / (J M⁻¹ Jᵀ): how heavy the robot feels to a push along the contact normal."""
    inverse = float(row @ np.linalg.lstsq(mass, row, rcond=None)[0])
    return 1.0 / inverse if inverse > 1e-12 else None
