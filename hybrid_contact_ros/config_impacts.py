"""Parameters of impacts: the sets of velocities after them, and what landings add to the impact law."""

from __future__ import annotations

from dataclasses import dataclass

from hybrid_contact_ros.parameter_values import check_intervals, leaf


@dataclass(frozen=True, slots=True)
class ImpactConfig:
    """How post-impact velocity sets are drawn."""

    horizon: float = leaf(0.05, "s", 0.0, 10.0, "a set is computed for touchdowns within this time")
    window: float = leaf(0.01, "s", 0.0, 1.0, "no landing takes longer from its first touch to its last")
    samples: int = leaf(256, "-", 1, 65536, "number of draws")
    step: float = leaf(1.0, "-", 1e-6, 100.0, "bound of an impulse increment, in largest impulses of a contact")
    max_steps: int = leaf(100, "-", 1, 100000, "increments that a draw may take")
    law: str = leaf("poisson", "-", None, None, "poisson, stronge, or inelastic (restitution is not used)")
    restitution_margin: float = leaf(0.0, "-", 0.0, 1.0, "the set covers restitution up to this much above and below")
    friction_margin: float = leaf(
        0.45,
        "-",
        0.0,
        1.0,
        "the set covers friction up to this part above and below, as far as landings did not show more",
    )
    directions: int = leaf(4, "-", 2, 32, "edges of the linearised friction cone; even")
    deadline: float = leaf(0.001, "s", 0.0, 10.0, "longest computation of one set, all of it; 0 for any")
    seed: int = leaf(0, "-", 0, 2**31 - 1, "seed of the draws; the same state and seed give the same set")
    request_deadline: float = leaf(1.0, "s", 0.001, 10.0, "longest computation of a set asked for by ~/predict_impact")


@dataclass(frozen=True, slots=True)
class LandingConfig:
    """What a robot's landing adds to its impact law, as intervals; each term is off where its numbers are 0."""

    duration_min: float = leaf(0.001, "s", 0.0, 0.1, "gravity and measured torques act at least this long")
    duration_max: float = leaf(0.004, "s", 0.0, 0.1, "and at most this long")
    rebound_min: float = leaf(-0.07, "-", -1.0, 1.0, "least part of its approach that a hitting foot leaves with")
    rebound_max: float = leaf(0.18, "-", -1.0, 1.0, "greatest part; both add to restitution")
    drive_min: float = leaf(0.0, "kg m^2", 0.0, 10.0, "least inertia that drives seem to add to every joint")
    drive_max: float = leaf(
        0.0024, "kg m^2", 0.0, 10.0, "greatest, at most half of a joint's own: armature, damping gain times duration"
    )
    drive_own: float = leaf(0.0, "kg m^2", 0.0, 10.0, "of each joint by itself, above and below; linearised")
    slip: float = leaf(0.005, "-", 0.0, 1.0, "part of its approach that a hitting foot may move along the ground")
    creep: float = leaf(0.15, "-", 0.0, 1.0, "part of its tangential speed that a hitting foot may keep")
    settling: float = leaf(0.6, "-", 0.0, 2.0, "part of its velocity by which a standing, moving foot may change")
    bounce: float = leaf(0.05, "-", 0.0, 1.0, "part of the fastest approach that such a foot may move, too")
    damping_min: float = leaf(1.0, "N m s/rad", 0.0, 1e4, "least gain of drives, between touchdowns of a cluster")
    damping_max: float = leaf(3.0, "N m s/rad", 0.0, 1e4, "and greatest; used where duration_max is not 0")
    each_foot: bool = leaf(True, "-", None, None, "also the sets after the first feet of a cluster")
    course: float = leaf(3.0, "-", 0.0, 100.0, "v- follows the acceleration's course for this many times its past")
    spread: float = leaf(0.95, "-", 0.0, 0.999, "share of the errors of v- that the set holds; 0: none are added")
    load_rate: float = leaf(12.0, "1/s", 0.0, 1e4, "contacts may lose friction this fast unforeseen, in weights")
    effort_rate: float = leaf(20.0, "N m/s", 0.0, 1e5, "standard deviation of how fast efforts change unforeseen")
    remembered: int = leaf(16, "-", 0, 64, "landings of a contact whose v- teaches what extrapolations miss; 0: none")
    margin: float = leaf(0.0, "-", 0.0, 1.0, "the set is wider by this part of the nominal jump, in any direction")
    level: float = leaf(0.0, "-", 0.0, 1.0, "share of landings that the set with its margin holds; 0: not calibrated")
    calibration_count: int = leaf(0, "-", 0, 10**9, "number of landings that the margin was calibrated on")
    calibration_method: str = leaf("", "-", None, None, "split or jackknife+; empty: not calibrated")

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
