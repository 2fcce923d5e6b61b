"""How an execution is computed: laws, tolerances and limits."""

from __future__ import annotations

import math
from dataclasses import dataclass, fields

LAWS = ("impulse-velocity", "pseudo-impulse", "simultaneous")


@dataclass(frozen=True, slots=True)
class Tolerances:
    """How far a truncated Zeno execution may be from the true one (O Definition 6).

    Attributes:
        epsilon_q: of the configuration. epsilon_v: of the velocity. epsilon_t: of the Zeno time, s.
    """

    epsilon_q: float = 1e-4
    epsilon_v: float = 1e-3
    epsilon_t: float = 1e-3

    def __post_init__(self) -> None:
        for field in fields(self):
            value = getattr(self, field.name)
            if not value > 0.0:
                raise ValueError(f"{field.name} must be > 0, got {value}")


@dataclass(frozen=True, slots=True)
class Options:
    """See :func:`~hybrid_contact_ros.simulation.simulate.simulate`."""

    law: str = "impulse-velocity"
    duration: float = 0.03
    sliding_friction: bool | None = None
    rtol: float = 1e-9
    atol: float = 1e-11
    max_step: float = 0.02
    max_events: int = 1000
    max_steps: int = 100_000
    gap_tolerance: float = 1e-9
    velocity_tolerance: float = 1e-6

    def __post_init__(self) -> None:
        if self.law not in LAWS:
            raise ValueError(f"law is {self.law!r}; choose one of {', '.join(LAWS)}")
        if not (math.isfinite(self.duration) and self.duration >= 0.0):
            raise ValueError(f"duration must be a number of seconds ≥ 0, got {self.duration}")
        for field in fields(self):
            value = getattr(self, field.name)
            if field.name in ("law", "duration", "sliding_friction"):
                continue
            if not (math.isfinite(value) and value > 0):
                raise ValueError(f"{field.name} must be a positive number, got {value}")
