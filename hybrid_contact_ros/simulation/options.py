"""How an execution is computed: laws, tolerances and limits."""

from __future__ import annotations

import math
from dataclasses import dataclass, fields

LAWS = ("impulse-velocity", "pseudo-impulse", "simultaneous")


@dataclass(frozen=True, slots=True)
class Tolerances:
    """Largest errors of a truncated Zeno execution (Or, Definition 6).

    Attributes:
        epsilon_q: of the configuration, m or rad. epsilon_v: of the velocity, m/s or rad/s; both in the Euclidean norm.
        epsilon_t: of the Zeno time, s.

    Raises:
        ValueError: one that is not positive.
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
    """The keywords of :func:`~hybrid_contact_ros.simulation.simulate.simulate` that hold for a whole execution, and the
    time (of ``time.monotonic``, s) until which it may go on.

    Raises:
        ValueError: an unknown law, or a number out of range.
    """

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
    until: float = math.inf

    def __post_init__(self) -> None:
        if self.law not in LAWS:
            raise ValueError(f"law is {self.law!r}; choose one of {', '.join(LAWS)}")
        if not (math.isfinite(self.duration) and self.duration >= 0.0):
            raise ValueError(f"duration must be a number of seconds ≥ 0, got {self.duration}")
        for field in fields(self):
            value = getattr(self, field.name)
            if field.name in ("law", "duration", "sliding_friction", "until"):
                continue
            if not (math.isfinite(value) and value > 0):
                raise ValueError(f"{field.name} must be a positive number, got {value}")
