"""Parameters of the ground that is learned from contact: what is known beforehand, and what counts as stance."""

from __future__ import annotations

from dataclasses import dataclass

from hybrid_contact_ros.parameter_values import leaf


@dataclass(frozen=True, slots=True)
class GroundConfig:
    """The configured planes are where learning begins; these say how far to believe them (docs/ground.md)."""

    learn: bool = leaf(True, "-", None, None, "heights of the ground are learned from feet that stand on it")
    plane_sigma: float = leaf(0.001, "m", 0.0, 1.0, "standard deviation of the configured planes' offsets")
    slope_sigma: float = leaf(0.01, "-", 0.0, 1.0, "the same of their slopes, rise over run")
    step_sigma: float = leaf(0.0005, "m", 0.0, 1.0, "the same of the ground's height about a plane, at first; learned")
    foot_sigma: float = leaf(0.0005, "m", 0.0, 1.0, "the same of each foot's radius and frame")
    length: float = leaf(0.12, "m", 1e-3, 100.0, "places nearer than this have about the same height")
    drift: float = leaf(0.005, "m/sqrt(s)", 0.0, 1.0, "drift of the base's height while nothing stands, in a second")
    fading: float = leaf(0.001, "m/sqrt(s)", 0.0, 1.0, "what is known of a foothold fades by this in a second")
    still_speed: float = leaf(0.05, "m/s", 0.0, 10.0, "a foot that stands is slower than this, over 10 ms")
    still_time: float = leaf(0.012, "s", 0.0, 10.0, "a foot that bears load and is still this long stands")
    still_time_unloaded: float = leaf(0.06, "s", 0.0, 10.0, "the same of a foot whose load is not known")
    load_share: float = leaf(0.15, "-", 0.0, 1.0, "a foot that stands bears this part of its share of the weight")
