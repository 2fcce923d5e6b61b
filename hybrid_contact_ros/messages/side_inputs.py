"""Inputs that a robot may have or not: their newest message is part of each state that comes within a time of it.

They go through the same order of stamps, the same counts and the same refusals as joint states and odometry, but no
state ever waits for one of them, and none of their faults costs a state. Without messages on them nothing changes.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from hybrid_contact_ros.messages.parts import Parts, PartsReader
from hybrid_contact_ros.messages.refusals import DoubtedError, RefusedError
from hybrid_contact_ros.messages.stamps import StampOrder, StreamRate, stamp_of

SIDE_TYPES = {
    "JointState": "sensor_msgs/msg/JointState",
    "JointTrajectory": "trajectory_msgs/msg/JointTrajectory",
    "JointCommand": "hybrid_contact_msgs/msg/JointCommand",
    "Imu": "sensor_msgs/msg/Imu",
    "WrenchStamped": "geometry_msgs/msg/WrenchStamped",
}
"""Types of messages of these inputs, by the names that the rest of this room knows them by."""
Count = Callable[[str, str, str], None]
"""Told of a fault: topic, reason, detail."""
InOrder = Callable[[str, StampOrder, int, int], bool]
"""Looks at order and age of a stamp (topic, order, stamp, receive time); raises RefusedError."""


class SideInput:
    """One such input.

    Args:
        topic: by which it is known in counts and diagnostics. kind: type of its messages.
        reader: takes the messages apart. convert: makes of the parts of one, and its stamp, what becomes part of
            states; raises RefusedError.
        timeout: s, between a state and the newest message at most; 0: no message is used.
        delay: s, by which its stamps are later than what they measure.

    Attributes:
        rate: period and losses of the stream. used: number of states that it became part of.
    """

    def __init__(
        self,
        topic: str,
        kind: str,
        reader: PartsReader,
        convert: Callable[[Parts, int], Any],
        timeout: float,
        delay: float = 0.0,
    ) -> None:
        self.topic, self.kind = topic, kind
        self._delay_ns = round(delay * 1e9)
        self._reader, self._convert, self._timeout_ns = reader, convert, round(timeout * 1e9)
        self.rate = StreamRate()
        self.used = 0
        self.reset()

    def reset(self) -> None:
        """Forget the stream so far; counts stay."""
        self.order = StampOrder()
        self.rate.forget()
        self._newest: tuple[int, Any] | None = None
        self._late = False

    def take(self, msg: Any, receive_ns: int, number: int | None, writer: Any, in_order: InOrder, count: Count) -> Any:
        """A message has come, or its bytes: what it becomes, or None where it is refused."""
        try:
            stamp = 0
            try:
                parts = self._reader.read(msg)
                stamp = stamp_of(parts.sec, parts.nanosec)
            finally:
                self.rate.note(stamp, number, writer)  # one that is refused did come, too
            in_order(self.topic, self.order, stamp, receive_ns)
            measured = stamp - self._delay_ns
            made = self._convert(parts, measured)
            self._newest, self._late = (measured, made), False
            return made
        except DoubtedError:
            return None
        except RefusedError as fault:
            count(self.topic, fault.reason, fault.detail)
            return None

    @property
    def stamp_ns(self) -> int:
        """Stamp of the newest message that can be used; 0 before the first."""
        return 0 if self._newest is None else self._newest[0]

    @property
    def there(self) -> bool:
        """Whether a message has come."""
        return self._newest is not None

    def near(self, stamp_ns: int) -> Any:
        """The same as :meth:`at`, which alone counts and tells."""
        if self._newest is None or abs(stamp_ns - self._newest[0]) > self._timeout_ns:
            return None
        return self._newest[1]

    def at(self, stamp_ns: int, count: Count) -> Any:
        """What is part of the state of a stamp; None where the newest message is too far away, which is told once."""
        if self._newest is None:
            return None
        at, made = self._newest
        away = abs(stamp_ns - at)
        if away <= self._timeout_ns:
            self.used += 1
            return made
        if not self._late and self._timeout_ns:
            self._late = True
            limit = f"{away * 1e-9:.3f} s from the state, at most {self._timeout_ns * 1e-9:g} s are configured"
            count(self.topic, "side_late", limit)
        return None
