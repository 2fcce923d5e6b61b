"""The clock of the simulated robot: what its states are stamped with."""

from __future__ import annotations

BEHIND_NS = 50_000_000
"""How far states may be older than the machine's time. A processor that other programs need for a moment catches up
from there, and half of it remains to ``input.stale_after``, from which on states are reported as too old."""


class RobotClock:
    """Stamps that advance with the simulation.

    The stamps of a real robot's states are apart by the time in which the robot moved. A stamp of the moment at which a
    state is published is not that: where the simulator is late and catches up, states come faster than they belong, and
    their velocities contradict their positions. These stamps keep to the simulation's time, and states that come late
    are late, as those of a real robot.

    A machine that is too slow for the simulator would fall behind for good. A state that is more than ``BEHIND_NS``
    late is therefore stamped now, and the robot's time goes on from there: stamps leap, as after a pause, in which the
    robot has not moved. Whoever reads scores of such a run should know of it.

    Args:
        begin_ns: the time, ns, at which the simulation's is 0.

    Attributes:
        pauses: how many there were. paused_ns: how long they were in all, ns.

    Example:
        >>> clock = RobotClock(70)
        >>> [clock.stamp(time, now) for time, now in ((0.0, 71), (1e-9, 75), (2e-9, 75))]
        [70, 71, 72]
    """

    def __init__(self, begin_ns: int) -> None:
        self._begin = begin_ns
        self.pauses = 0
        self.paused_ns = 0

    def due(self, time: float) -> int:
        """When a state at the simulated ``time``, s, is to be published, ns."""
        return self._begin + self.paused_ns + round(1e9 * time)

    def stamp(self, time: float, now_ns: int) -> int:
        """The stamp (ns) of a state at the simulated ``time``, s, that is published at ``now_ns``."""
        behind = now_ns - self.due(time)
        if behind > BEHIND_NS:
            self.pauses, self.paused_ns = self.pauses + 1, self.paused_ns + behind
        return self.due(time)
