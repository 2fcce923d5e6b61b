"""What the estimator knows at the state last updated, for the impact that may be ahead of it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from hybrid_contact_ros.mechanics.state import RobotState

Array = NDArray[np.float64]
Codes = NDArray[np.uint8]


@dataclass(slots=True, eq=False, kw_only=True)
class Moment:
    """The state last updated, and what its contacts do now and next.

    The arrays are the engine's memory: the next update overwrites them.

    Attributes:
        state: as it was given.
        closed, slipping: (m,) uint8. acceleration: v̇ (nv,) of the contact mode.
        backed: (m,) uint8, the next event (EventKind) without touchdowns that only the rhythm of the gait foretells.
        gap, gap_velocity: φ, φ̇ (m,), as measured.
        event_times: (m, 3), time, earliest, latest, s; NaN without an event.
    """

    state: RobotState
    closed: Codes
    slipping: Codes
    acceleration: Array
    backed: Codes
    event_times: Array
    gap: Array
    gap_velocity: Array

    @property
    def stamp_ns(self) -> int:
        return self.state.stamp_ns
