"""The check that the mass matrix of a model can be inverted, which names the links to blame where it cannot."""

from __future__ import annotations

import numpy as np
import pinocchio as pin
from numpy.typing import NDArray

from hybrid_contact_ros.mechanics.coordinates import Coordinates

# A joint that moves less inertia than this (kg or kg m²) moves nothing. The lightest real part has far more: a rubber
# foot of 1 g and 3 cm has 5e-7 kg m².
_MASSLESS = 1e-12
# M is singular where, scaled to a unit diagonal, it has an eigenvalue below this. Legged robots and arms have 1e-4 and
# more.
_SINGULAR = 1e-10
_RANDOM_CONFIGURATIONS = 4


class NoInertiaError(ValueError):
    """A model that cannot be used because joints move no inertia.

    Attributes:
        joints: their names; locking the last one is a step towards a model that can be used.
    """

    def __init__(self, text: str, joints: tuple[str, ...]) -> None:
        super().__init__(text)
        self.joints = joints


def check_inertia(model: pin.Model, coordinates: Coordinates) -> None:
    """Refuse a model with negative or missing inertia.

    Links without inertia are fine where they are welded to one that has it. A joint that moves only massless links is
    not, nor is any combination of joints that moves no inertia. M is examined in the neutral configuration and in a few
    random ones, with a fixed seed.

    Raises:
        ValueError: naming the links or the joints (:class:`NoInertiaError`, where joints move none).
    """
    for joint in range(1, model.njoints):
        inertia = model.inertias[joint]
        least = float(np.linalg.eigvalsh(inertia.inertia)[0])
        if not (inertia.mass >= 0 and least >= -_MASSLESS - 1e-9 * float(np.abs(inertia.inertia).max())):
            raise ValueError(
                f"the inertia of link(s) {', '.join(_links(model, {joint}))} is not physical: "
                f"mass {inertia.mass:g} kg, least principal moment {least:g} kg m² (both must be ≥ 0)"
            )
    if coordinates.nv == 0:
        raise ValueError("the robot cannot move: floating_base is false and the URDF has no moving joint")
    data = model.createData()
    rng = np.random.default_rng(0)
    neutral = pin.neutral(model)
    for trial in range(1 + _RANDOM_CONFIGURATIONS):
        step = rng.uniform(-np.pi, np.pi, model.nv) if trial else np.zeros(model.nv)
        full = np.array(pin.crba(model, data, pin.integrate(model, neutral, step))).reshape(model.nv, model.nv)
        mass = full if coordinates.reduction is None else coordinates.reduction.T @ full @ coordinates.reduction
        _check_mass(model, coordinates, mass, "at a random" if trial else "in the neutral")


def _check_mass(model: pin.Model, coordinates: Coordinates, mass: NDArray[np.float64], where: str) -> None:
    diagonal = np.diag(mass)
    if not np.isfinite(mass).all():
        raise ValueError("the mass matrix is not finite: look for inf or nan in the URDF's inertials and origins")
    empty = np.flatnonzero(diagonal < _MASSLESS)
    if empty.size:
        joints = {_joint_of(model, coordinates, int(k)) for k in empty}
        links = _links(model, {j for joint in joints for j in model.subtrees[joint]})
        names = tuple(model.names[j] for j in sorted(joints))
        raise NoInertiaError(
            f"nothing that joint(s) {', '.join(names)} move has inertia: "
            f"give link(s) {', '.join(links)} an <inertial>, or hold the joint(s) still with locked_joints",
            names,
        )
    scaled = mass / np.sqrt(np.outer(diagonal, diagonal))
    values, vectors = np.linalg.eigh(scaled)
    if values[0] < _SINGULAR:
        size = np.abs(vectors[:, 0])
        joints = {_joint_of(model, coordinates, int(k)) for k in np.flatnonzero(size > 0.1 * size.max())}
        names = tuple(model.names[j] for j in sorted(joints))
        raise NoInertiaError(
            f"the mass matrix is singular {where} configuration: moving joint(s) {', '.join(names)} together moves no "
            f"inertia; give the links between them ({', '.join(_links(model, joints))}) an <inertial> with mass and "
            f"moments, or hold one of the joints still with locked_joints",
            names,
        )


def _joint_of(model: pin.Model, coordinates: Coordinates, index: int) -> int:
    """Pinocchio's joint with the independent velocity coordinate ``index``."""
    full = index if coordinates.reduction is None else int(np.argmax(coordinates.reduction[:, index] != 0))
    return next(j for j in range(1, model.njoints) if 0 <= full - model.joints[j].idx_v < model.joints[j].nv)


def _links(model: pin.Model, joints: set[int]) -> list[str]:
    """The links that any of these joints carries directly."""
    return [f.name for f in model.frames if f.type == pin.FrameType.BODY and f.parentJoint in joints]
