"""Johnson's ⪰ for a single mode: what ``force_acceleration_mode`` asks where a force or an acceleration vanishes."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from hybrid_contact_ros.codes import ContactStatus
from hybrid_contact_ros.simulation.adapter import AdaptedSystem
from hybrid_contact_ros.simulation.guards import Guards
from hybrid_contact_ros.simulation.hybrid_state import HybridState
from hybrid_contact_ros.simulation.mode import HybridMode
from hybrid_contact_ros.simulation.options import Options
from hybrid_contact_ros.systems.robot import Effort, as_system


class ModeTrends:
    """The modes that the sign of higher derivatives along the motion decides (Johnson (38), Definition 1).

    It is called with the scope, the touching contacts, and answers with the statuses (m,) of all contacts and the
    highest Lie derivative that was needed, as :func:`~.simulate.simulate` finds its mode at a start; None where no mode
    satisfies the conditions.

    Args:
        system, effort: as of :func:`~.simulate.simulate`. q, v: the state of the problem. time: s.
        sliding_friction, velocity_tolerance: as of :func:`~.simulate.simulate`.

    Raises:
        ValueError: as :func:`~.simulate.simulate`.

    Example:
        A point passes the top of y = −x³/8. Nothing presses or pulls there, but the surface then falls away.

        >>> from hybrid_contact_ros import force_acceleration_mode
        >>> from hybrid_contact_ros.systems.curves import curve
        >>> system, q, v = curve("c"), [0.0, 0.0], [1.0, 0.0]
        >>> problem = system.problem(q, v)
        >>> sorted(force_acceleration_mode(problem).mode)
        [0]
        >>> sorted(force_acceleration_mode(problem, trends=ModeTrends(system, q, v)).mode)
        []
    """

    def __init__(
        self,
        system: Any,
        q: ArrayLike,
        v: ArrayLike,
        time: float = 0.0,
        *,
        effort: Effort = None,
        sliding_friction: bool | None = None,
        velocity_tolerance: float = 1e-6,
    ) -> None:
        self.system = AdaptedSystem(as_system(system, effort), q, v)
        options = Options(sliding_friction=sliding_friction, velocity_tolerance=velocity_tolerance)
        self._guards = Guards(self.system, options)
        place = self.system.on_manifold(np.array(q, dtype=np.float64))
        self._state = HybridState(float(time), place, np.array(v, dtype=np.float64), HybridMode(), {})

    def __call__(self, scope: frozenset[int]) -> tuple[NDArray[np.uint8], int] | None:
        """The statuses (m,) and the order of the derivative that decided."""
        found = self._guards.select(self._state, scope, self._guards.regular(self._state))
        if found.mode is None or not found.decided:
            return None
        status = np.full(self.system.contacts, ContactStatus.OPEN, dtype=np.uint8)
        status[sorted(found.mode.closed)] = ContactStatus.STICKING
        status[sorted(found.mode.sliding)] = ContactStatus.SLIPPING
        return status, found.trend_order
