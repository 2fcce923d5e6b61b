"""The configuration of the estimator: one set of names, units and defaults for the nodes and for replay.

A configuration file is an ordinary ROS 2 parameter file, so that the same file serves ``ros2 launch`` and
``hybrid-contact replay --config``. Every leaf below is a ROS parameter of the same dotted name.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any

from hybrid_contact_ros.parameter_file import read_parameters
from hybrid_contact_ros.parameter_values import check_intervals, checked, group, named


def _leaf(default: Any, unit: str, low: float | None, high: float | None, text: str) -> Any:
    """A parameter with its unit, its closed range and what it does."""
    return field(default=default, metadata={"unit": unit, "low": low, "high": high, "text": text})


@dataclass(frozen=True, slots=True)
class Environment:
    """A plane {x : normal · x = offset} in the world frame; the robot is on the side that the normal points to."""

    normal: tuple[float, ...] = _leaf((0.0, 0.0, 1.0), "-", None, None, "outward normal (x, y, z), any length")
    offset: float = _leaf(0.0, "m", None, None, "distance of the plane from the world origin along the normal")


@dataclass(frozen=True, slots=True)
class Contact:
    """The contact points of one link. Several points make several contacts, named NAME_0, NAME_1, …"""

    link: str = _leaf("", "-", None, None, "URDF link or frame that carries the points")
    points: tuple[float, ...] = _leaf((0.0, 0.0, 0.0), "m", None, None, "x, y, z of each point in the link's frame")
    radius: float = _leaf(0.0, "m", 0.0, 10.0, "radius of the sphere around each point; the gap is measured from it")
    friction: float = _leaf(0.7, "-", 0.0, 10.0, "Coulomb coefficient")
    restitution: float = _leaf(0.0, "-", 0.0, 1.0, "normal restitution")
    environment: str = _leaf("ground", "-", None, None, "name of the plane that the points may touch")


@dataclass(frozen=True, slots=True)
class ActivationConfig:
    """When a measured gap counts as closed. All of these are statements about the noise of the sensors."""

    gap_on: float = _leaf(0.003, "m", -0.1, 0.5, "a contact may close below this gap")
    gap_off: float = _leaf(0.008, "m", -0.1, 0.5, "a closed contact opens above this gap, whatever its force")
    velocity_tolerance: float = _leaf(0.1, "m/s", 0.0, 10.0, "a gap that grows faster than this speaks for open")
    force_on: float = _leaf(5.0, "N", 0.0, 1e5, "a closed contact carries this much more than force_off, or more")
    force_off: float = _leaf(2.0, "N", -1e5, 1e5, "a load above this speaks for closed, below for open")
    slip_on: float = _leaf(0.05, "m/s", 0.0, 10.0, "a point that moves faster along the surface, over 10 ms, slips")
    slip_off: float = _leaf(0.02, "m/s", 0.0, 10.0, "a slipping point sticks again below this speed")
    gap_sigma: float = _leaf(0.001, "m", 1e-9, 0.5, "standard deviation of the gap, for scores and time bounds")
    velocity_sigma: float = _leaf(0.02, "m/s", 1e-9, 10.0, "standard deviation of the gap's rate")
    acceleration_sigma: float = _leaf(10.0, "m/s^2", 0.0, 1e4, "the same of its acceleration by the model")
    force_sigma: float = _leaf(5.0, "N", 1e-9, 1e5, "standard deviation of the model's normal force")


@dataclass(frozen=True, slots=True)
class PredictionConfig:
    """How far ahead events are looked for."""

    horizon: float = _leaf(0.1, "s", 0.0, 10.0, "events later than this are not predicted")
    rollout: float = _leaf(0.05, "s", 0.0, 1.0, "the sequence of modes is followed for this time; 0 switches it off")
    rollout_events: int = _leaf(8, "-", 1, 64, "the sequence of modes has at most this many events")
    bound_sigmas: float = _leaf(2.0, "-", 0.0, 10.0, "half-width of time bounds, in standard deviations")
    rhythm: bool = _leaf(True, "-", None, None, "the last strides of a steady gait also foretell events")


@dataclass(frozen=True, slots=True)
class StabilityConfig:
    """Dead bands of the tri-state flags: inside them a flag is UNDECIDED."""

    force_tolerance: float = _leaf(1.0, "N", 0.0, 1e5, "dead band of constraint stability and friction")
    acceleration_tolerance: float = _leaf(0.2, "m/s^2", 0.0, 1e4, "dead band of the released gap's acceleration")
    grazing_speed: float = _leaf(0.1, "m/s", 0.0, 10.0, "a touchdown below this speed is grazing")
    pseudo_impulse_duration: float = _leaf(0.03, "s", 0.0, 1.0, "bounces shorter than about this count as none")
    coupling_tolerance: float = _leaf(
        0.02, "-", 0.0, 1.0, "order matters to a pair whose outcomes differ by more, in jumps"
    )


@dataclass(frozen=True, slots=True)
class ImpactConfig:
    """How post-impact velocity sets are drawn."""

    horizon: float = _leaf(0.05, "s", 0.0, 10.0, "a set is computed for touchdowns within this time")
    window: float = _leaf(0.01, "s", 0.0, 1.0, "no landing takes longer from its first touch to its last")
    samples: int = _leaf(256, "-", 1, 65536, "number of draws")
    step: float = _leaf(1.0, "-", 1e-6, 100.0, "bound of an impulse increment, in largest impulses of a contact")
    max_steps: int = _leaf(100, "-", 1, 100000, "increments that a draw may take")
    law: str = _leaf("poisson", "-", None, None, "poisson, stronge, or inelastic (restitution is not used)")
    restitution_margin: float = _leaf(0.0, "-", 0.0, 1.0, "the set covers restitution up to this much above and below")
    friction_margin: float = _leaf(
        0.45,
        "-",
        0.0,
        1.0,
        "the set covers friction up to this part above and below, as far as landings did not show more",
    )
    directions: int = _leaf(4, "-", 2, 32, "edges of the linearised friction cone; even")
    deadline: float = _leaf(0.001, "s", 0.0, 10.0, "longest computation of one set, all of it; 0 for any")
    seed: int = _leaf(0, "-", 0, 2**31 - 1, "seed of the draws; the same state and seed give the same set")
    request_deadline: float = _leaf(1.0, "s", 0.001, 10.0, "longest computation of a set asked for by ~/predict_impact")


@dataclass(frozen=True, slots=True)
class LandingConfig:
    """What a robot's landing adds to its impact law, as intervals; each term is off where its numbers are 0."""

    duration_min: float = _leaf(0.001, "s", 0.0, 0.1, "gravity and measured torques act at least this long")
    duration_max: float = _leaf(0.004, "s", 0.0, 0.1, "and at most this long")
    rebound_min: float = _leaf(-0.07, "-", -1.0, 1.0, "least part of its approach that a hitting foot leaves with")
    rebound_max: float = _leaf(0.18, "-", -1.0, 1.0, "greatest part; both add to restitution")
    drive_min: float = _leaf(0.0, "kg m^2", 0.0, 10.0, "least inertia that drives seem to add to every joint")
    drive_max: float = _leaf(
        0.0024, "kg m^2", 0.0, 10.0, "greatest, at most half of a joint's own: armature, damping gain times duration"
    )
    drive_own: float = _leaf(0.0, "kg m^2", 0.0, 10.0, "of each joint by itself, above and below; linearised")
    slip: float = _leaf(0.005, "-", 0.0, 1.0, "part of its approach that a hitting foot may move along the ground")
    creep: float = _leaf(0.15, "-", 0.0, 1.0, "part of its tangential speed that a hitting foot may keep")
    settling: float = _leaf(0.6, "-", 0.0, 2.0, "part of its velocity by which a standing, moving foot may change")
    bounce: float = _leaf(0.05, "-", 0.0, 1.0, "part of the fastest approach that such a foot may move, too")
    damping_min: float = _leaf(1.0, "N m s/rad", 0.0, 1e4, "least gain of drives, between touchdowns of a cluster")
    damping_max: float = _leaf(3.0, "N m s/rad", 0.0, 1e4, "and greatest; used where duration_max is not 0")
    each_foot: bool = _leaf(True, "-", None, None, "also the sets after the first feet of a cluster")
    course: float = _leaf(3.0, "-", 0.0, 100.0, "v- follows the acceleration's course for this many times its past")
    spread: float = _leaf(0.95, "-", 0.0, 0.999, "share of the errors of v- that the set holds; 0: none are added")
    load_rate: float = _leaf(12.0, "1/s", 0.0, 1e4, "contacts may lose friction this fast unforeseen, in weights")
    effort_rate: float = _leaf(20.0, "N m/s", 0.0, 1e5, "standard deviation of how fast efforts change unforeseen")
    margin: float = _leaf(0.0, "-", 0.0, 1.0, "the set is wider by this part of the nominal jump, in any direction")
    level: float = _leaf(0.0, "-", 0.0, 1.0, "share of landings that the set with its margin holds; 0: not calibrated")
    calibration_count: int = _leaf(0, "-", 0, 10**9, "number of landings that the margin was calibrated on")
    calibration_method: str = _leaf("", "-", None, None, "split or jackknife+; empty: not calibrated")

    def check(self) -> None:
        """Raise ValueError for intervals that are empty, and for half a calibration."""
        check_intervals("landing", self, ("duration", "rebound", "drive", "damping"))
        told = self.level > 0.0, self.calibration_count > 0, self.calibration_method != ""
        if any(told) and not all(told):
            raise ValueError(
                "landing.level, calibration_count and calibration_method come together, as identify writes them: "
                f"they are {self.level:g}, {self.calibration_count} and {self.calibration_method!r}"
            )
        if self.level >= 1.0:
            raise ValueError("landing.level is 1; no number of landings can tell that")


@dataclass(frozen=True, slots=True)
class SensitivityConfig:
    """How predicted events change with the state before them (``event_sensitivity``)."""

    horizon: float = _leaf(
        0.05, "s", 0.0, 10.0, "events later than this have no sensitivity; 0 switches the output off"
    )
    interval: float = _leaf(0.01, "s", 0.0, 10.0, "least time between the states that it is computed for; 0 for all")
    words: int = _leaf(24, "-", 1, 64, "sequences of impacts that a message holds, the most probable first")
    joint_position_sigma: float = _leaf(0.001, "rad, m", 0.0, 1.0, "standard deviation of joint positions")
    joint_velocity_sigma: float = _leaf(0.05, "rad/s, m/s", 0.0, 100.0, "the same of joint velocities")


@dataclass(frozen=True, slots=True)
class ObserverConfig:
    """The momentum observer that estimates contact forces."""

    gain: float = _leaf(100.0, "1/s", 0.0, 1e4, "bandwidth of the observer; 0 switches it off")


@dataclass(frozen=True, slots=True)
class InputConfig:
    """What counts as a fault of the input."""

    stale_after: float = _leaf(0.1, "s", 0.0, 1e6, "a state older than this is used but reported; 0 for never")
    odometry_timeout: float = _leaf(0.05, "s", 0.0, 1e6, "joint states further than this from an odometry are dropped")
    limit_factor: float = _leaf(
        10.0, "-", 0.0, 1e6, "values beyond this many times the URDF's limits are refused; 0: none is"
    )
    lost_before_less: float = _leaf(0.25, "-", 0.0, 1.0, "share of states lost above which less is computed; 1: never")
    use_covariance: bool = _leaf(True, "-", None, None, "covariances of the odometry, if any, widen the time bounds")


@dataclass(frozen=True, slots=True)
class DiagnosticsConfig:
    """Shares of a period's messages above which the diagnostics warn; the shares themselves are always reported."""

    lost: float = _leaf(0.05, "-", 0.0, 1.0, "states that were sent and that the node never got")
    refused: float = _leaf(0.01, "-", 0.0, 1.0, "messages refused, of one input")
    reported: float = _leaf(0.05, "-", 0.0, 1.0, "messages with something odd, or that waited in vain for odometry")


GARBAGE = ("automatic", "idle", "off")
_CORES = 1024  # as many as a set of the C library holds


@dataclass(frozen=True, slots=True)
class RealtimeConfig:
    """What a node asks of the operating system; replay does not use it. See docs/realtime.md."""

    lock_memory: bool = _leaf(False, "-", None, None, "keep the node's memory from being paged out")
    cpus: tuple[float, ...] = _leaf((), "-", None, None, "cores that the node's threads may use; empty: any")
    worker_cpus: tuple[float, ...] = _leaf((), "-", None, None, "the same for impact sets and requests; empty: as cpus")
    priority: int = _leaf(0, "-", 0, 98, "SCHED_FIFO priority of the thread that answers states; 0: an ordinary one")
    garbage_collection: str = _leaf("automatic", "-", None, None, "automatic, idle (once a second), or off")

    @property
    def cores(self) -> tuple[int, ...]:
        """``cpus`` as whole numbers."""
        return tuple(int(core) for core in self.cpus)

    @property
    def worker_cores(self) -> tuple[int, ...]:
        """``worker_cpus`` as whole numbers."""
        return tuple(int(core) for core in self.worker_cpus)

    def check(self) -> None:
        """Raise ValueError for what no machine could do."""
        for name, cores in (("cpus", self.cpus), ("worker_cpus", self.worker_cpus)):
            wrong = [core for core in cores if core != int(core) or not 0 <= core < _CORES]
            if wrong:
                raise ValueError(f"realtime.{name} has {wrong[0]:g}; numbers of cores, 0 to {_CORES - 1}, are needed")
        if self.garbage_collection not in GARBAGE:
            raise ValueError(
                f"realtime.garbage_collection is {self.garbage_collection!r}; one of {', '.join(GARBAGE)} is needed"
            )


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
        prediction: :class:`PredictionConfig`: how far ahead events and modes are predicted.
        stability: :class:`StabilityConfig`: the dead bands of the flags.
        impact: :class:`ImpactConfig`: the impact law, and how the set of velocities after an impact is drawn.
        landing: :class:`LandingConfig`: what drives, soft ground and the duration of a landing add to the impact law.
        sensitivity: :class:`SensitivityConfig`: for which events, and from which noise, sensitivities are computed.
        observer: :class:`ObserverConfig`: the bandwidth of the momentum observer that estimates forces.
        input: :class:`InputConfig`: which input counts as late or implausible.
        diagnostics: :class:`DiagnosticsConfig`: the shares of faulty messages above which a node warns.
        realtime: :class:`RealtimeConfig`: what a node asks of the operating system.

    >>> config = EstimatorConfig.from_mapping({"contacts": {"tip": {"link": "finger"}}, "prediction": {"horizon": 0.2}})
    >>> config.contacts["tip"].friction, config.prediction.horizon
    (0.7, 0.2)
    """

    floating_base: bool = _leaf(True, "-", None, None, "the root link floats: odometry is needed")
    contacts: Mapping[str, Contact] = field(default_factory=dict)
    environments: Mapping[str, Environment] = field(default_factory=lambda: {"ground": Environment()})
    allow_no_contacts: bool = _leaf(False, "-", None, None, "work without any contact, and so predict nothing")
    joint_limits: tuple[str, ...] = _leaf((), "-", None, None, "joints whose position limits are contacts")
    locked_joints: tuple[str, ...] = _leaf((), "-", None, None, "joints that no message has; they are held at zero")
    activation: ActivationConfig = field(default_factory=ActivationConfig)
    prediction: PredictionConfig = field(default_factory=PredictionConfig)
    stability: StabilityConfig = field(default_factory=StabilityConfig)
    impact: ImpactConfig = field(default_factory=ImpactConfig)
    landing: LandingConfig = field(default_factory=LandingConfig)
    sensitivity: SensitivityConfig = field(default_factory=SensitivityConfig)
    observer: ObserverConfig = field(default_factory=ObserverConfig)
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
        config.landing.check()
        config.realtime.check()
        return config


# Parameters of nodes, not of the estimator, that may stand in the same file.
IGNORED = (
    "use_sim_time",
    "qos_overrides",
    "start_type_description_service",
    "robot_description",
    "urdf_file",
    "twist_in_world",
    "serialized_io",
    "autostart",
    "reconfigure_on_new_description",
    "marker_rate",
    "marker_size",
)

_GROUPS: dict[str, type] = {
    "activation": ActivationConfig,
    "prediction": PredictionConfig,
    "stability": StabilityConfig,
    "impact": ImpactConfig,
    "landing": LandingConfig,
    "sensitivity": SensitivityConfig,
    "observer": ObserverConfig,
    "input": InputConfig,
    "diagnostics": DiagnosticsConfig,
    "realtime": RealtimeConfig,
}
