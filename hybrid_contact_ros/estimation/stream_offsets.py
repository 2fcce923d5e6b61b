"""What was learned of how late one stream comes against another, in numbers and words."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

from hybrid_contact_ros.kernels.estimation.effort_correction import LATE, EffortCorrection
from hybrid_contact_ros.kernels.estimation.effort_errors import EffortErrors
from hybrid_contact_ros.kernels.estimation.error_forecasts import FORETOLD, JUDGED, LATENESS, LATENESS_SIGMA, MEASURED
from hybrid_contact_ros.kernels.estimation.error_squares import LEAST_LATE, SURE_LATE
from hybrid_contact_ros.kernels.estimation.stream_offsets import BASE, UNIT, OffsetMemory
from hybrid_contact_ros.mechanics.state import RobotState

_NAMES = {BASE: "the base", UNIT: "the inertial unit"}
_AGAINST = {BASE: "joint states", UNIT: "the base"}
_PARAMETER = {BASE: "input.odometry_delay (of an inertial unit: imu_delay)", UNIT: "input.imu_delay"}
# Nothing comes before it was measured: what seems early shows that the other stream is late.
_ELSE = {UNIT: "input.odometry_delay"}
_CORRELATED = 0.05  # s, over which what is left keeps its sign
_SEEN = 2.0  # s of motion before anything is told
_NOTABLE = 0.0015  # s
_SURE, _WIDEST, _WIDEST_EFFORTS = 4.0, 0.001, 0.002  # deviations, s
_MOSTLY = 0.5  # of what is left in squares; rolling and slipping feet explain 0.4 at most (docs/inputs.md)
_MOST = 0.03  # s: a delay beyond that of the low-pass is not linear any more


@dataclass(frozen=True, slots=True)
class StreamOffset:
    """How late a stream comes.

    Attributes:
        stream: "efforts", "the base" or "the inertial unit". against: the stream that it is compared with.
        parameter: that makes up for it; ``early``: that of the other stream, which is late where this one seems early.
        least: s, below which it is not worth a word.
        seconds, sigma: s, positive where its stamps are later than what they measure; NaN and inf where the motion
            does not tell.
        explained: share of what is left, in squares, that such an offset explains; of efforts, that it explains
            together with their scales, biases and frictions.
        sure: deviations, and ``mostly``: share of what is left, from which on it is worth a word.
        made_up: whether it is made up for.
    """

    stream: str
    against: str
    seconds: float
    sigma: float
    parameter: str = ""
    early: str = ""
    least: float = 0.0
    explained: float = 1.0
    sure: float = _SURE
    mostly: float = _MOSTLY
    made_up: bool = False

    @property
    def notable(self) -> bool:
        """Whether it is there for certain, and worth a word."""
        there = abs(self.seconds) > self.least and abs(self.seconds) > self.sure * self.sigma
        return there and self.explained > self.mostly

    @property
    def sentence(self) -> str:
        """For diagnostics."""
        if self.seconds < 0.0 and self.early:
            return f"{self.against}: {-1e3 * self.seconds:.1f} ms too late against {self.stream}; set {self.early}"
        way = "late" if self.seconds > 0.0 else "early"
        text = f"{self.stream}: {1e3 * abs(self.seconds):.1f} ms too {way} against {self.against}"
        if self.made_up:
            return f"{text}; this is made up for"
        return f"{text}; set {self.parameter}" if self.parameter else text


def stream_offsets(
    memory: OffsetMemory, correction: EffortCorrection, errors: EffortErrors
) -> tuple[StreamOffset, ...]:
    """Of each stream that was there."""
    found = _efforts(correction, errors)
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
        other = _ELSE.get(k, "")
        found.append(StreamOffset(name, _AGAINST[k], late, sigma, _PARAMETER[k], other, _NOTABLE, explained))
    return tuple(found)


def odometry_offset(late: float) -> StreamOffset:
    """Of an odometry that is so much later (s) than its stamps, which is made up for (``RobotState.base_late``)."""
    return StreamOffset("odometry", _NAMES[UNIT], late, 0.0, least=_NOTABLE, made_up=True)


def joint_offset(late: float, sigma: float) -> StreamOffset:
    """Of joint velocities that are so much later (s) than positions, which is made up for."""
    return StreamOffset("joint velocities", "positions", late, sigma, least=_NOTABLE, made_up=True)


def _efforts(correction: EffortCorrection, errors: EffortErrors) -> list[StreamOffset]:
    """Of efforts, once their errors were learned."""
    numbers = errors.numbers.tolist()
    if numbers[JUDGED] <= 0.0:
        return []
    explained = 1.0 - numbers[FORETOLD] / numbers[MEASURED] if numbers[MEASURED] > 0.0 else 0.0
    offset = StreamOffset(
        stream="efforts",
        against="joint states",
        seconds=numbers[LATENESS],
        sigma=numbers[LATENESS_SIGMA],
        least=LEAST_LATE,
        explained=explained,
        sure=SURE_LATE,
        mostly=0.0 if numbers[LATENESS] > 0.0 else math.inf,  # early: a late base, or damping
        made_up=bool(correction.active[0] & LATE),
    )
    return [offset if offset.sigma <= _WIDEST_EFFORTS else replace(offset, seconds=math.nan, sigma=math.inf)]


def note_spin(memory: OffsetMemory, state: RobotState) -> None:
    """Write the rates that an inertial unit measured, where a state has them."""
    unit = state.imu
    memory.spin[3] = 0.0
    if unit is not None and unit.angular_velocity is not None:
        memory.spin[:3] = unit.angular_velocity
        memory.spin[3] = 1.0 + 1e-9 * (state.stamp_ns - unit.stamp_ns)
