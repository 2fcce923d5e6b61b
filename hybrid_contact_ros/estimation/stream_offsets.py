"""What was learned of how late one stream comes against another, in numbers and words."""

from __future__ import annotations

import math
from dataclasses import dataclass

from hybrid_contact_ros.kernels.estimation.stream_offsets import BASE, EFFORTS, UNIT, OffsetMemory
from hybrid_contact_ros.mechanics.state import RobotState

_NAMES = {EFFORTS: "efforts", BASE: "the base", UNIT: "the inertial unit"}
_AGAINST = {EFFORTS: "joint states", BASE: "joint states", UNIT: "the base"}
_PARAMETER = {BASE: "input.odometry_delay (of an inertial unit: imu_delay)", UNIT: "input.imu_delay"}
_CORRELATED = 0.05  # s, over which what is left keeps its sign
_SEEN = 2.0  # s of motion before anything is told
_NOTABLE = {EFFORTS: 0.0025, BASE: 0.0015, UNIT: 0.0015}  # s; efforts seem up to 1 ms late where nothing is
_SURE, _WIDEST = 4.0, 0.001  # deviations, s
_MOSTLY = 0.5  # of what is left in squares; rolling and slipping feet explain 0.4 at most (docs/inputs.md)
_MOST = 0.03  # s: a delay beyond that of the low-pass is not linear any more


@dataclass(frozen=True, slots=True)
class StreamOffset:
    """How late a stream comes.

    Attributes:
        stream: "efforts", "the base" or "the inertial unit". against: the stream that it is compared with.
        parameter: that makes up for it. least: s, below which it is not worth a word.
        seconds, sigma: s, positive where its stamps are later than what they measure; NaN and inf where the motion
            does not tell.
        explained: share of what is left, in squares, that such an offset explains.
    """

    stream: str
    against: str
    seconds: float
    sigma: float
    parameter: str = ""
    least: float = 0.0
    explained: float = 1.0

    @property
    def notable(self) -> bool:
        """Whether it is there for certain, and worth a word."""
        there = abs(self.seconds) > self.least and abs(self.seconds) > _SURE * self.sigma
        return there and self.explained > _MOSTLY

    @property
    def sentence(self) -> str:
        """For diagnostics."""
        way = "late" if self.seconds > 0.0 else "early"
        text = f"{self.stream}: {1e3 * abs(self.seconds):.1f} ms too {way} against {self.against}"
        return f"{text}; set {self.parameter}" if self.parameter else text


def stream_offsets(memory: OffsetMemory) -> tuple[StreamOffset, ...]:
    """Of each stream that was there."""
    found = []
    for k, name in _NAMES.items():
        cross, square, left, seconds = memory.sums[k].tolist()
        if seconds <= 0.0:
            continue
        late, sigma, explained = math.nan, math.inf, 0.0
        if seconds >= _SEEN and square > 0.0:
            late = cross / square
            rest = max(left - late * cross, 0.0)
            explained = 1.0 - rest / left if left > 0.0 else 0.0
            sigma = math.sqrt(rest / seconds * _CORRELATED / square)
            if sigma > _WIDEST or abs(late) > _MOST:
                late, sigma = math.nan, math.inf
        found.append(StreamOffset(name, _AGAINST[k], late, sigma, _PARAMETER.get(k, ""), _NOTABLE[k], explained))
    return tuple(found)


def note_spin(memory: OffsetMemory, state: RobotState) -> None:
    """Write the rates that an inertial unit measured, where a state has them."""
    unit = state.imu
    memory.spin[3] = 0.0
    if unit is not None and unit.angular_velocity is not None:
        memory.spin[:3] = unit.angular_velocity
        memory.spin[3] = 1.0 + 1e-9 * (state.stamp_ns - unit.stamp_ns)
