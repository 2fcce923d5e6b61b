"""Parameters of the nodes: faults of the input, diagnostics, and what is asked of the operating system."""

from __future__ import annotations

from dataclasses import dataclass

from hybrid_contact_ros.parameter_values import leaf

BASES = ("odometry", "imu")
COMMANDS = ("joint_state", "joint_trajectory", "joint_command")
GARBAGE = ("automatic", "idle", "off")
_CORES = 1024  # as many as a set of the C library holds


@dataclass(frozen=True, slots=True)
class InputConfig:
    """What counts as a fault of the input."""

    stale_after: float = leaf(0.1, "s", 0.0, 1e6, "a state older than this is used but reported; 0 for never")
    odometry_timeout: float = leaf(0.05, "s", 0.0, 1e6, "joint states further than this from an odometry are dropped")
    limit_factor: float = leaf(
        10.0, "-", 0.0, 1e6, "values beyond this many times the URDF's limits are refused; 0: none is"
    )
    lost_before_less: float = leaf(0.25, "-", 0.0, 1.0, "share of states lost above which less is computed; 1: never")
    use_covariance: bool = leaf(
        True,
        "-",
        None,
        None,
        "covariances of the odometry, if any, widen time bounds and let standing feet hold the base",
    )
    command: str = leaf("joint_state", "-", None, None, "type on joint_command: joint_state, _trajectory or _command")
    command_timeout: float = leaf(0.05, "s", 0.0, 1e6, "a command further than this from the state is not used")
    command_stiffness: tuple[float, ...] = leaf(
        (), "N m/rad", None, None, "of drives, where messages have none: one for all joints or one each; empty: unknown"
    )
    command_damping: tuple[float, ...] = leaf((), "N m s/rad", None, None, "the same of damping")

    base: str = leaf("odometry", "-", None, None, "where a floating base comes from: odometry, or imu (and the legs)")
    odometry_delay: float = leaf(0.0, "s", -0.1, 0.1, "stamps of odom are this much later than what they measure")
    imu_delay: float = leaf(0.0, "s", -0.1, 0.1, "the same of imu")
    imu: bool = leaf(False, "-", None, None, "take inertial measurements on the topic imu into states")
    contact_sensors: bool = leaf(False, "-", None, None, "the same of readings of foot sensors on contact_sensors")
    commanded_contacts: bool = leaf(False, "-", None, None, "the same of what a controller wants closed")
    wrench_topics: tuple[str, ...] = leaf(
        (), "text", None, None, "of force sensors, one for each link with contacts, in their order; empty text: none"
    )
    sensor_timeout: float = leaf(
        0.05, "s", 0.0, 1e6, "measurements of these further than this from the state are not used"
    )

    def check(self) -> None:
        """Raise ValueError for a source or a type that there is not, and for gains below zero."""
        if self.base not in BASES:
            raise ValueError(f"input.base is {self.base!r}; one of {', '.join(BASES)} is needed")
        if self.command not in COMMANDS:
            raise ValueError(f"input.command is {self.command!r}; one of {', '.join(COMMANDS)} is needed")
        for name in ("command_stiffness", "command_damping"):
            if any(gain < 0.0 for gain in getattr(self, name)):
                raise ValueError(f"input.{name} has {min(getattr(self, name)):g}; gains are not below zero")


@dataclass(frozen=True, slots=True)
class DiagnosticsConfig:
    """Shares of a period's messages above which the diagnostics warn; the shares themselves are always reported."""

    lost: float = leaf(0.05, "-", 0.0, 1.0, "states that were sent and that the node never got")
    refused: float = leaf(0.01, "-", 0.0, 1.0, "messages refused, of one input")
    reported: float = leaf(0.05, "-", 0.0, 1.0, "messages with something odd, or that waited in vain for odometry")


@dataclass(frozen=True, slots=True)
class RealtimeConfig:
    """What a node asks of the operating system; replay does not use it. See docs/realtime.md."""

    lock_memory: bool = leaf(False, "-", None, None, "keep the node's memory from being paged out")
    cpus: tuple[float, ...] = leaf((), "-", None, None, "cores that the node's threads may use; empty: any")
    worker_cpus: tuple[float, ...] = leaf((), "-", None, None, "the same for impact sets and requests; empty: as cpus")
    priority: int = leaf(0, "-", 0, 98, "SCHED_FIFO priority of the thread that answers states; 0: an ordinary one")
    garbage_collection: str = leaf("automatic", "-", None, None, "automatic, idle (once a second), or off")

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
