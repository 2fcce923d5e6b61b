"""Whether a robot stands on its contacts, or its base holds it and they only press: what that makes of defaults."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
import pinocchio

from hybrid_contact_ros.config import EstimatorConfig
from hybrid_contact_ros.config_belief import BeliefConfig
from hybrid_contact_ros.config_engine import ActivationConfig
from hybrid_contact_ros.config_ground import GroundConfig
from hybrid_contact_ros.kernels.estimation.free_forces import MOST_CONTACTS

if TYPE_CHECKING:
    from hybrid_contact_ros.mechanics.model import RigidBodyModel

_Group = TypeVar("_Group", ActivationConfig, BeliefConfig, GroundConfig)

_GRAVITY = 9.81
_PRESSES = 0.04  # of the weight of an arm: a contact that presses on purpose bears this, or more
_KNOWN = 0.2  # of that: a force that is known to this is averaged no further
_SURFACE = 0.002  # m, standard deviation of the height of what an arm touches
_FLAT = 1e-4  # m, of the height of single places of it, where it is learned
_STAYS = 2e-4  # m/sqrt(s), by which what is known of it fades
_LEVEL = 0.003  # of its slope, rise over run
_LASTS = 0.002  # s, least time over which errors of observed forces of an arm are correlated
_LEAVES = 0.001  # m: the tip of an arm has left what it touched when it is this far above where it may touch
_UPRIGHT = 0.5  # least vertical part of a rail's direction


def stands(model: RigidBodyModel) -> bool:
    """Whether contacts bear the robot: its base floats, or slides along an upright rail (a leg on a test stand).

    An arm is held by its base. Its tip may rest anywhere, so that a tip at rest is no sign of a contact, and it presses
    with a small part of the arm's weight.
    """
    if model.floating_base:
        return True
    robot = model.pinocchio_model
    if robot.nv == 0 or not robot.joints[1].shortname().startswith("JointModelP"):
        return False
    data = robot.createData()
    of_mass = np.reshape(pinocchio.jacobianCenterOfMass(robot, data, pinocchio.neutral(robot)), (3, robot.nv))
    return bool(abs(of_mass[2, 0]) > _UPRIGHT)


def mass(model: RigidBodyModel) -> float:
    """Of all that moves, kg."""
    return float(sum(inertia.mass for inertia in list(model.pinocchio_model.inertias)[1:]))


def weight(model: RigidBodyModel) -> float:
    """Of all that moves, N."""
    return _GRAVITY * mass(model)


def shared_weight(model: RigidBodyModel) -> float:
    """What m contacts bear together when all of them do, N: the weight of a robot that stands. Each contact of an arm
    bears ``_PRESSES`` of the arm's weight, however many there are."""
    return weight(model) if stands(model) else _PRESSES * weight(model) * max(model.contacts, 1)


def force_level(model: RigidBodyModel) -> float:
    """Standard deviation (N) to which forces of an arm's contacts are averaged; 0 for robots that stand: never."""
    return 0.0 if stands(model) else _KNOWN * (_PRESSES * weight(model))


def suited(model: RigidBodyModel, config: EstimatorConfig) -> EstimatorConfig:
    """The configuration as the engine takes it: as it is for a robot that stands, with other defaults for an arm.

    Efforts that are off by a newton or two would put a table under every place where the tip of an arm rests: what the
    tip touches is where it was configured, and learned from where it presses for certain alone
    (``kernels/estimation/felt_surface.py``).
    """
    if stands(model):
        return config
    return replace(
        config,
        belief=_belief(model, config.belief, config.ground.learn),
        ground=_ground(config.ground, _unless_chosen(config.belief, gap_sigma=_SURFACE).gap_sigma),
        activation=_activation(config.activation),
    )


def _unless_chosen(config: _Group, **values: float) -> _Group:
    """The group of parameters with these ``values`` where it has its defaults."""
    common = type(config)()
    changed: dict[str, Any] = {k: x for k, x in values.items() if getattr(config, k) == getattr(common, k)}
    return replace(config, **changed)


def _ground(config: GroundConfig, surface: float) -> GroundConfig:
    """A table's offset is known to ``surface``, m, its slope to ``_LEVEL``, and it stays where it is (``_STAYS``)."""
    return _unless_chosen(config, plane_sigma=surface, slope_sigma=_LEVEL, fading=_STAYS)


def _belief(model: RigidBodyModel, config: BeliefConfig, learns: bool) -> BeliefConfig:
    """Velocities of an arm's tip say nothing of its contacts. Where forces are observed, neither do those of the mode,
    which ask what would hold a closed contact: an arm that stops above the table needs some, too. What an arm touches
    was measured when it was configured, and is no rough ground: the error of its height is that of the table as a whole
    (:func:`_ground`) or, where none is learned, ``gap_sigma`` is ``_SURFACE``, unless it was chosen. Its force and its
    gap alone decide. What is wrong in its force lasts: no state counts more than one of 2 ms whose error is its own.
    """
    observed = model.nv > model.contact_rank and model.contacts <= MOST_CONTACTS
    return replace(
        replace(config, gap_sigma=_FLAT) if learns else _unless_chosen(config, gap_sigma=_SURFACE),
        velocity_correlation=math.inf,
        force_correlation=max(config.force_correlation, _LASTS),
        load_correlation=math.inf if observed else config.load_correlation,
    )


def _activation(config: ActivationConfig) -> ActivationConfig:
    """Nothing carries an arm away from the plane that was configured: a smaller gap than that of a leg opens a contact,
    unless ``gap_off`` was chosen."""
    return _unless_chosen(config, gap_off=max(config.gap_on, min(config.gap_off, config.gap_on + _LEAVES)))
