"""How a path in continuous time is computed: preferences, tolerances and limits."""

from __future__ import annotations

import math
from dataclasses import dataclass

PREFERENCES = ("solver", "open", "closed", "impact")


@dataclass(frozen=True, slots=True)
class PathOptions:
    """The keywords of :func:`~hybrid_contact_ros.continuous_time.simulation.continuous_time_path` that are numbers.

    Raises:
        ValueError: an unknown preference, or a number out of range.
    """

    prefer: str
    zeno_tolerance: float
    rtol: float
    atol: float
    gap_tolerance: float
    velocity_tolerance: float
    max_pieces: int
    max_steps: int

    def __post_init__(self) -> None:
        if self.prefer not in PREFERENCES:
            raise ValueError(f"prefer is {self.prefer!r}; one of {', '.join(PREFERENCES)} is needed")
        for name in ("zeno_tolerance", "rtol", "atol", "gap_tolerance", "velocity_tolerance"):
            value = getattr(self, name)
            if not 0.0 <= value < math.inf or (value == 0.0 and name != "zeno_tolerance"):
                raise ValueError(f"{name} is {value}; a positive, finite number is needed")
        if self.max_pieces < 1 or self.max_steps < 1:
            raise ValueError(f"max_pieces ({self.max_pieces}) and max_steps ({self.max_steps}) must be 1 or more")
