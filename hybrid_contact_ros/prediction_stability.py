"""The stability flags that are predicted for one state."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
Codes = NDArray[np.uint8]


@dataclass(frozen=True, slots=True, eq=False)
class StabilityPrediction:
    """Stability flags of each contact and order sensitivity of pairs, with the margins they were decided on.

    Flags are arrays (m,) of uint8, :class:`Flag`. ``ConstraintStability.msg`` has the names, units and meanings. The
    arrays ``pair_…`` run along the listed pairs (first < second).
    """

    stamp_ns: int
    closed: NDArray[np.bool_]
    constraint_stability: Codes
    constraint_force: Array
    bounded_time_stability: Codes
    gap_acceleration: Array
    zeno: Codes
    chatter_end: Array
    chatter_end_earliest: Array
    chatter_end_latest: Array
    grazing: Codes
    touchdown_speed: Array
    friction: Codes
    friction_margin: Array
    pseudo_impulse: Codes
    pseudo_impulse_margin: Array
    pair_first: NDArray[np.uint32]
    pair_second: NDArray[np.uint32]
    pair_coupling: Array
    pair_order_sensitive: Codes
    pair_order_margin: Array
    chatter_bounds_valid: bool = False
