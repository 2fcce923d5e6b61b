"""The configuration of the estimator: one set of names, units and defaults for the nodes and for replay.

A configuration file is an ordinary ROS 2 parameter file, so that the same file serves ``ros2 launch`` and
``hybrid-contact replay --config``. Every leaf below is a ROS parameter of the same dotted name.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any

from hybrid_contact_ros.config_belief import BeliefConfig
from hybrid_contact_ros.config_engine import (
    ActivationConfig,
    ObserverConfig,
    PredictionConfig,
    SensitivityConfig,
    StabilityConfig,
    TrustConfig,
)
from hybrid_contact_ros.config_friction import FrictionConfig
from hybrid_contact_ros.config_ground import GroundConfig
from hybrid_contact_ros.config_impacts import ImpactConfig, LandingConfig
from hybrid_contact_ros.config_node import DiagnosticsConfig, InputConfig, RealtimeConfig
from hybrid_contact_ros.config_own import OWN
from hybrid_contact_ros.config_sensors import SensorsConfig
from hybrid_contact_ros.parameter_file import read_parameters
from hybrid_contact_ros.parameter_values import checked, group, leaf, named

__all__ = [
    "ActivationConfig",
    "BeliefConfig",
    "Contact",
    "DiagnosticsConfig",
    "Environment",
    "EstimatorConfig",
    "FrictionConfig",
    "GroundConfig",
    "ImpactConfig",
    "InputConfig",
    "LandingConfig",
    "ObserverConfig",
    "PredictionConfig",
    "RealtimeConfig",
    "SensitivityConfig",
    "SensorsConfig",
    "StabilityConfig",
    "TrustConfig",
]


@dataclass(frozen=True, slots=True)
class Environment:
    """A plane {x : normal · x = offset} in the world frame; the robot is on the side that the normal points to."""

    normal: tuple[float, ...] = leaf((0.0, 0.0, 1.0), "-", None, None, "outward normal (x, y, z), any length")
    offset: float = leaf(0.0, "m", None, None, "distance of the plane from the world origin along the normal")


@dataclass(frozen=True, slots=True)
class Contact:
    """The contact points of one link. Several points make several contacts, named NAME_0, NAME_1, …"""

    link: str = leaf("", "-", None, None, "URDF link or frame that carries the points")
    points: tuple[float, ...] = leaf((0.0, 0.0, 0.0), "m", None, None, "x, y, z of each point in the link's frame")
    radius: float = leaf(0.0, "m", 0.0, 10.0, "radius of the sphere around each point; the gap is measured from it")
    friction: float = leaf(0.7, "-", 0.0, 10.0, "Coulomb coefficient")
    restitution: float = leaf(0.0, "-", 0.0, 1.0, "normal restitution")
    environment: str = leaf("ground", "-", None, None, "name of the plane that the points may touch")


@dataclass(frozen=True, slots=True)
class EstimatorConfig:
    """Everything that the estimator needs beside the URDF, in groups that are the same in a parameter file.

    Attributes:
        floating_base: whether the root link floats; then odometry is needed.
        contacts: :class:`Contact` by name: the points of a link that may touch, with friction and restitution.
        environments: :class:`Environment` by name: the planes that contacts may touch.
        allow_no_contacts: whether a configuration without any contact is accepted.
        joint_limits: names of the joints whose position limits are contacts.
        locked_joints: names of the joints that no message has; these are held at zero.
        activation: :class:`ActivationConfig`: when a measured gap counts as closed, and the noise of the sensors.
        ground: :class:`GroundConfig`: how the ground is learned from contact.
        belief: :class:`BeliefConfig`: densities and rates of the filter over open, sticking and slipping.
        sensors: :class:`SensorsConfig`: densities of foot sensors, shocks and commanded contacts.
        friction: :class:`FrictionConfig`: bounds of each contact's friction, and when a slip is warned of.
        prediction: :class:`PredictionConfig`: how far ahead events and modes are predicted.
        stability: :class:`StabilityConfig`: the dead bands of the flags.
        impact: :class:`ImpactConfig`: the impact law, and how the set of velocities after an impact is drawn.
        landing: :class:`LandingConfig`: what drives, soft ground and the duration of a landing add to the impact law.
        sensitivity: :class:`SensitivityConfig`: for which events, and from which noise, sensitivities are computed.
        observer: :class:`ObserverConfig`: the bandwidth of the momentum observer that estimates forces.
        trust: :class:`TrustConfig`: how far measured efforts are believed, by what they explain of the motion.
        input: :class:`InputConfig`: which input counts as late or implausible.
        diagnostics: :class:`DiagnosticsConfig`: the shares of faulty messages above which a node warns.
        realtime: :class:`RealtimeConfig`: what a node asks of the operating system.

    >>> config = EstimatorConfig.from_mapping({"contacts": {"tip": {"link": "finger"}}, "prediction": {"horizon": 0.2}})
    >>> config.contacts["tip"].friction, config.prediction.horizon
    (0.7, 0.2)
    """

    floating_base: bool = leaf(True, "-", None, None, "the root link floats: odometry is needed")
    contacts: Mapping[str, Contact] = field(default_factory=dict)
    environments: Mapping[str, Environment] = field(default_factory=lambda: {"ground": Environment()})
    allow_no_contacts: bool = leaf(False, "-", None, None, "work without any contact, and so predict nothing")
    joint_limits: tuple[str, ...] = leaf((), "-", None, None, "joints whose position limits are contacts")
    locked_joints: tuple[str, ...] = leaf((), "-", None, None, "joints that no message has; they are held at zero")
    activation: ActivationConfig = field(default_factory=ActivationConfig)
    ground: GroundConfig = field(default_factory=GroundConfig)
    belief: BeliefConfig = field(default_factory=BeliefConfig)
    sensors: SensorsConfig = field(default_factory=SensorsConfig)
    friction: FrictionConfig = field(default_factory=FrictionConfig)
    prediction: PredictionConfig = field(default_factory=PredictionConfig)
    stability: StabilityConfig = field(default_factory=StabilityConfig)
    impact: ImpactConfig = field(default_factory=ImpactConfig)
    landing: LandingConfig = field(default_factory=LandingConfig)
    sensitivity: SensitivityConfig = field(default_factory=SensitivityConfig)
    observer: ObserverConfig = field(default_factory=ObserverConfig)
    trust: TrustConfig = field(default_factory=TrustConfig)
    input: InputConfig = field(default_factory=InputConfig)
    diagnostics: DiagnosticsConfig = field(default_factory=DiagnosticsConfig)
    realtime: RealtimeConfig = field(default_factory=RealtimeConfig)

    @classmethod
    def from_file(cls, path: str | Path) -> EstimatorConfig:
        """Read a ROS 2 parameter file (``/**: ros__parameters: …``, see
        :func:`~hybrid_contact_ros.parameter_file.read_parameters`) or the bare mapping inside one.

        Raises:
            ValueError: naming the file, the entry and what would be right; also for a file without contacts
                (:meth:`require_contacts`).
        """
        data = read_parameters(path)
        try:
            config = cls.from_mapping(data)
            config.require_contacts()
        except ValueError as error:
            raise ValueError(f"{path}: {error}") from None
        return config

    def require_contacts(self) -> None:
        """Refuse to work without contacts: nothing would be predicted, and most likely it is the wrong file.

        Raises:
            ValueError: there are neither contacts nor joint limits, and ``allow_no_contacts`` is false.
        """
        if not (self.contacts or self.joint_limits or self.allow_no_contacts):
            raise ValueError(
                "no contact is configured, so that nothing would be predicted: contacts (in ROS also contact_names) or "
                "joint_limits are needed, or allow_no_contacts: true"
            )

    @classmethod
    def from_mapping(cls, data: Mapping[str, Any]) -> EstimatorConfig:
        """Make a configuration from nested mappings.

        ``contact_names`` and ``environment_names`` give the order where the mapping has none of its own (ROS
        parameters), and must then name every entry.

        Raises:
            ValueError: an unknown name, a value of the wrong type or out of range, or a contradiction.
        """
        known = {f.name: f for f in fields(cls)}
        values: dict[str, Any] = {}
        for key, value in data.items():
            if key in ("contact_names", "environment_names", *IGNORED):
                continue
            if key not in known:
                raise ValueError(f"unknown parameter {key!r}; known are {', '.join(known)}")
            if key == "contacts":
                values[key] = named(Contact, key, value, data.get("contact_names"))
            elif key == "environments":
                values[key] = named(Environment, key, value, data.get("environment_names"))
            elif key in _GROUPS:
                values[key] = group(_GROUPS[key], key, value)
            else:
                values[key] = checked(known[key], key, value)
        config = cls(**values)
        for name, contact in config.contacts.items():
            if not contact.link:
                raise ValueError(f"contacts.{name}.link is missing: name the URDF link that carries the contact")
            if len(contact.points) % 3 or not contact.points:
                raise ValueError(f"contacts.{name}.points has {len(contact.points)} numbers; x, y, z of each is needed")
            if contact.environment not in config.environments:
                raise ValueError(
                    f"contacts.{name}.environment is {contact.environment!r}; "
                    f"known are {', '.join(config.environments) or 'none'}"
                )
        for name, environment in config.environments.items():
            if len(environment.normal) != 3 or not sum(x * x for x in environment.normal) > 0:
                raise ValueError(f"environments.{name}.normal must be three numbers, not all zero")
        if config.activation.gap_off < config.activation.gap_on:
            raise ValueError("activation.gap_off must not be below activation.gap_on")
        if config.activation.slip_off > config.activation.slip_on:
            raise ValueError("activation.slip_off must not be above activation.slip_on")
        if config.impact.directions % 2:
            raise ValueError("impact.directions must be even")
        config.belief.check()
        config.trust.check()
        config.landing.check()
        config.realtime.check()
        config.input.check()
        return config


# Parameters of nodes, not of the estimator, that may stand in the same file.
IGNORED = ("use_sim_time", "qos_overrides", "start_type_description_service", *OWN)

_GROUPS: dict[str, type] = {
    "activation": ActivationConfig,
    "ground": GroundConfig,
    "sensors": SensorsConfig,
    "belief": BeliefConfig,
    "friction": FrictionConfig,
    "prediction": PredictionConfig,
    "stability": StabilityConfig,
    "impact": ImpactConfig,
    "landing": LandingConfig,
    "sensitivity": SensitivityConfig,
    "observer": ObserverConfig,
    "trust": TrustConfig,
    "input": InputConfig,
    "diagnostics": DiagnosticsConfig,
    "realtime": RealtimeConfig,
}
