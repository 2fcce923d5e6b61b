"""A point of an execution: where the system is, and in which mode."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from hybrid_contact_ros.simulation.mode import HybridMode

Array = NDArray[np.float64]


class HybridState(NamedTuple):
    """The continuous state and the mode of a system at one time.

    Attributes:
        time: s. q: (nq,). v: (nv,). mode: the active one.
        directions: unit vectors (d,) along which contacts slide, or start to slide, by contact. A contact that starts
            from rest has no velocity that could say so.
    """

    time: float
    q: Array
    v: Array
    mode: HybridMode
    directions: Mapping[int, Array]
