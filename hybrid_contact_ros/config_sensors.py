"""Parameters of what sensors beside joints and odometry say of the contacts (``docs/contact_belief.md``)."""

from __future__ import annotations

from dataclasses import dataclass

from hybrid_contact_ros.parameter_values import leaf


@dataclass(frozen=True, slots=True)
class SensorsConfig:
    """The densities of foot sensors, shocks and commanded contacts. Zero, gain, noise and lag are learned."""

    outliers: float = leaf(0.01, "-", 1e-6, 0.5, "share of a foot sensor's measurements that nothing explains")
    correlation: float = leaf(0.001, "s", 0.0, 10.0, "time over which a foot sensor's errors are correlated")
    decide: bool = leaf(True, "-", None, None, "foot sensors that are believed let the belief decide without efforts")
    shock_width: float = leaf(
        5.0, "-", 1.1, 100.0, "an acceleration in an impact is this many times as wide as without"
    )
    shock_most: float = leaf(30.0, "-", 1.0, 1e4, "a shock makes touchdowns at most so many times as likely; 1: none")
    command_lag: float = leaf(0.0, "s", -0.2, 0.2, "a contact follows its command after this time; learned")
    command_spread: float = leaf(0.03, "s", 0.005, 0.1, "standard deviation of that time; learned")
    command_share: float = leaf(0.9, "-", 0.0, 0.99, "share of commanded contacts that come true")
