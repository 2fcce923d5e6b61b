"""Parameters of the estimation itself: which contacts are closed, what they do next, and the noise of the sensors."""

from __future__ import annotations

from dataclasses import dataclass

from hybrid_contact_ros.parameter_values import leaf


@dataclass(frozen=True, slots=True)
class ActivationConfig:
    """When a measured gap counts as closed. All of these are statements about the noise of the sensors."""

    gap_on: float = leaf(0.003, "m", -0.1, 0.5, "a contact may close below this gap")
    gap_off: float = leaf(
        0.008,
        "m",
        -0.1,
        0.5,
        "a closed contact opens above this gap, whatever its force (a belief that decides may keep it)",
    )
    velocity_tolerance: float = leaf(0.1, "m/s", 0.0, 10.0, "a gap that grows faster than this speaks for open")
    force_on: float = leaf(5.0, "N", 0.0, 1e5, "a closed contact carries this much more than force_off, or more")
    force_off: float = leaf(2.0, "N", -1e5, 1e5, "a load above this speaks for closed, below for open")
    slip_on: float = leaf(0.05, "m/s", 0.0, 10.0, "a point that moves faster along the surface, over 10 ms, slips")
    slip_off: float = leaf(0.02, "m/s", 0.0, 10.0, "a slipping point sticks again below this speed")
    gap_sigma: float = leaf(0.001, "m", 1e-9, 0.5, "standard deviation of the gap, for scores and time bounds")
    velocity_sigma: float = leaf(0.02, "m/s", 1e-9, 10.0, "standard deviation of the gap's rate")
    acceleration_sigma: float = leaf(10.0, "m/s^2", 0.0, 1e4, "the same of its acceleration by the model")
    force_sigma: float = leaf(5.0, "N", 1e-9, 1e5, "standard deviation of the model's normal force")


@dataclass(frozen=True, slots=True)
class PredictionConfig:
    """How far ahead events are looked for."""

    horizon: float = leaf(0.1, "s", 0.0, 10.0, "events later than this are not predicted")
    rollout: float = leaf(0.05, "s", 0.0, 1.0, "the sequence of modes is followed for this time; 0 switches it off")
    rollout_events: int = leaf(8, "-", 1, 64, "the sequence of modes has at most this many events")
    bound_sigmas: float = leaf(2.0, "-", 0.0, 10.0, "half-width of time bounds, in standard deviations")
    rhythm: bool = leaf(True, "-", None, None, "the last strides of a steady gait also foretell events")


@dataclass(frozen=True, slots=True)
class StabilityConfig:
    """Dead bands of the tri-state flags: inside them a flag is UNDECIDED."""

    force_tolerance: float = leaf(1.0, "N", 0.0, 1e5, "dead band of constraint stability and friction")
    acceleration_tolerance: float = leaf(0.2, "m/s^2", 0.0, 1e4, "dead band of the released gap's acceleration")
    grazing_speed: float = leaf(0.1, "m/s", 0.0, 10.0, "a touchdown below this speed is grazing")
    pseudo_impulse_duration: float = leaf(0.03, "s", 0.0, 1.0, "bounces shorter than about this count as none")
    coupling_tolerance: float = leaf(
        0.02, "-", 0.0, 1.0, "order matters to a pair whose outcomes differ by more, in jumps"
    )


@dataclass(frozen=True, slots=True)
class SensitivityConfig:
    """How predicted events change with the state before them (``event_sensitivity``)."""

    horizon: float = leaf(0.05, "s", 0.0, 10.0, "events later than this have no sensitivity; 0 switches the output off")
    interval: float = leaf(0.01, "s", 0.0, 10.0, "least time between the states that it is computed for; 0 for all")
    words: int = leaf(24, "-", 1, 64, "sequences of impacts that a message holds, the most probable first")
    joint_position_sigma: float = leaf(0.001, "rad, m", 0.0, 1.0, "standard deviation of joint positions")
    joint_velocity_sigma: float = leaf(0.05, "rad/s, m/s", 0.0, 100.0, "the same of joint velocities")


@dataclass(frozen=True, slots=True)
class ObserverConfig:
    """The momentum observer that estimates contact forces."""

    gain: float = leaf(100.0, "1/s", 0.0, 1e4, "bandwidth of the observer; 0 switches it off")


@dataclass(frozen=True, slots=True)
class TrustConfig:
    """Whether measured efforts explain the motion, for each limb (docs/effort_trust.md)."""

    bandwidth: float = leaf(50.0, "1/s", 0.0, 1e3, "bandwidth of the check of efforts; 0 trusts them unchecked")
    memory: float = leaf(
        0.5, "s", 0.01, 100.0, "time over which the motion of a limb speaks for or against its efforts"
    )
    floor: float = leaf(
        0.06, "-", 1e-3, 10.0, "forces below this part of a limb's share of the weight contradict nothing"
    )
    full: float = leaf(0.6, "-", 0.0, 10.0, "efforts count fully while they leave less than this part unexplained")
    none: float = leaf(0.9, "-", 1e-3, 10.0, "efforts are ignored where they leave more than this part unexplained")
    correct: bool = leaf(
        True, "-", None, None, "errors of efforts and inertias of drives are learned and, where it helps, made up for"
    )

    def check(self) -> None:
        """Raise ValueError for efforts that would count fully where they are ignored."""
        if self.full > self.none:
            raise ValueError(f"trust.full, {self.full:g}, must not be above trust.none, {self.none:g}")
