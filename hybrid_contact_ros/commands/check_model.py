"""What ``hybrid-contact check`` finds: the model as plain values, and what is wrong or most likely not meant."""

from __future__ import annotations

from dataclasses import fields, is_dataclass
from pathlib import Path
from typing import Any

import numpy as np

from hybrid_contact_ros.commands.check_soles import overlapping
from hybrid_contact_ros.config import EstimatorConfig
from hybrid_contact_ros.mechanics.contact_balls import odd_balls
from hybrid_contact_ros.mechanics.contact_draft import NO_SHAPE, likely_feet, without_shape
from hybrid_contact_ros.mechanics.model import RigidBodyModel
from hybrid_contact_ros.mechanics.state import RobotState
from hybrid_contact_ros.messages.intake import Intake
from hybrid_contact_ros.modes.critical_friction import critical_friction, jamming
from hybrid_contact_ros.parameter_file import NODES, block_nodes, read_parameters

ERROR, WARNING = "error", "warning"
_DEEP = 0.02  # m; a contact point that is deeper inside its plane at the neutral configuration is worth a look
_HIGH = 10.0  # m; a gap that is larger at the neutral configuration is worth a look


def inspect(urdf: str | Path, config: EstimatorConfig) -> dict[str, Any]:
    """The model as plain values, with each contact at the neutral configuration.

    There the joints are at 0, or as near to it as their limits allow, and the base is at the origin. ``findings`` is a
    list of mappings with ``level`` ("error" or "warning"), ``text``, one line, and ``detail``, what stands behind it.

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
        "findings": _model_findings(model, contacts)
        + _shape_findings(urdf, config)
        + _feet_findings(urdf, config)
        + _input_findings(model, config),
    }


def finding(level: str, text: str, detail: str = "") -> dict[str, str]:
    """One entry of ``findings``."""
    return {"level": level, "text": text, "detail": detail}


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
    jams = jamming(critical_friction(model))
    if jams is not None:
        found.append(finding(WARNING, *jams))
    for contact in contacts:
        if not any(contact["normal"]):
            continue  # a joint limit
        name = contact["name"]
        if contact["effective_mass"] is None:
            where = f"no joint moves {contact['frame']} along its normal"
            posture = " in the neutral posture, which may be a straight arm" if model.nv else ""
            found.append(finding(WARNING, f"{name} can be pushed by nothing: {where}{posture}"))
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
    for one, other, depth in overlapping(model):
        text = f"the soles of {one} and {other} overlap by {100 * depth:.1f} cm at the neutral configuration"
        found.append(finding(WARNING, f"{text}: look at the axes of their points"))
    return found


def _shape_findings(urdf: str | Path, config: EstimatorConfig) -> list[dict[str, str]]:
    """Balls that are not the spheres of their links in the URDF, and feet of which nothing is known."""
    found = [finding(WARNING, text) for text in odd_balls(urdf, config)]
    bare = {name: c.link for name, c in config.contacts.items() if not c.radius and not any(c.points)}
    if config.floating_base and bare:
        shapeless = without_shape(urdf, tuple(bare.values()))
        names = ", ".join(name for name, link in bare.items() if link in shapeless)
        if names:
            found.append(finding(WARNING, f"{names}: the origin of the link is taken for what touches; {NO_SHAPE}"))
    return found


def _feet_findings(urdf: str | Path, config: EstimatorConfig) -> list[dict[str, str]]:
    """Legs that the configuration makes nothing of."""
    feet, left_out = likely_feet(urdf, [contact.link for contact in config.contacts.values()])
    if feet and not config.floating_base:
        text = f"the base is bolted down, though this looks like a robot that walks on {', '.join(feet)}"
        return [finding(WARNING, f"{text}: floating_base: true where it does, and a contact for each foot")]
    if left_out:
        return [finding(WARNING, f"no contact on what look like feet, too: {', '.join(left_out)}")]
    return []


def _input_findings(model: RigidBodyModel, config: EstimatorConfig) -> list[dict[str, str]]:
    """Why the inputs do not go with the robot."""
    try:
        Intake(model, config.input)
    except ValueError as error:
        return [finding(ERROR, str(error))]
    return []


def _effective_mass(mass: np.ndarray[Any, Any], row: np.ndarray[Any, Any]) -> float | None:
    """1 / (J M⁻¹ Jᵀ), the mass (kg) that a push along the contact normal meets; None where no joint gives way."""
    inverse = float(row @ np.linalg.lstsq(mass, row, rcond=None)[0])
    return 1.0 / inverse if inverse > 1e-12 else None
