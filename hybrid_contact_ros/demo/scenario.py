"""What the robot of the demo does when: a drop, hops, a trot."""

from __future__ import annotations

import math
from dataclasses import dataclass

GRAVITY = 9.81  # m/s², MuJoCo's default


@dataclass(frozen=True, slots=True)
class Scenario:
    """When the robot does what; times in s since the drop.

    Attributes:
        drop: m, of the lowest foot above the ground at the start.
        hops: when each hop's crouch begins.
        trot: when the trot begins.
        speed: m/s, forward, of the trot.
    """

    drop: float = 0.27
    hops: tuple[float, ...] = (2.5, 4.5)
    trot: float = 6.5
    speed: float = 0.1


@dataclass(frozen=True, slots=True)
class Hop:
    """Crouch, push off at constant acceleration, and draw the legs in again for the landing."""

    low: float = 0.20  # m, hips above the feet
    high: float = 0.33
    crouch: float = 0.6  # s
    acceleration: float = 8.0  # m/s²
    retract: float = 0.12  # s

    def height(self, time: float, neutral: float) -> tuple[float, float]:
        """Hip height (m) and the multiple of the weight that the legs push with, ``time`` s after its beginning."""
        if time < self.crouch:
            return neutral + (self.low - neutral) * smooth(time / (0.8 * self.crouch)), 1.0
        time -= self.crouch
        push = math.sqrt(2.0 * (self.high - self.low) / self.acceleration)
        if time < push:
            return self.low + 0.5 * self.acceleration * time * time, 1.0 + self.acceleration / GRAVITY
        time -= push
        return self.high + (neutral - self.high) * smooth(time / self.retract), taken_over(time)


def taken_over(airborne: float) -> float:
    """Part of the weight that feedforward carries, so many s after the feet left the ground: landings are plain PD."""
    return smooth((airborne - 0.6) / 0.5)


def smooth(part: float) -> float:
    return 0.5 * (1.0 - math.cos(math.pi * min(max(part, 0.0), 1.0)))
