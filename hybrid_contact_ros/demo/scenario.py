"""The scenario of the demo: a drop, hops, and a trot."""

from __future__ import annotations

import math
from dataclasses import dataclass

GRAVITY = 9.81  # m/s², MuJoCo's default


@dataclass(frozen=True, slots=True)
class Scenario:
    """When the robot does what.

    Attributes:
        drop: height of the lowest foot above the ground at the start, m.
        hops: when the crouch of each hop begins, s after the drop.
        trot: when the trot begins, s after the drop.
        speed: forward speed of the trot, m/s.
    """

    drop: float = 0.27
    hops: tuple[float, ...] = (2.5, 4.5)
    trot: float = 6.5
    speed: float = 0.1


@dataclass(frozen=True, slots=True)
class Hop:
    """The robot crouches, pushes off at constant acceleration, and draws its legs in again for the landing.

    Attributes:
        low, high: heights of the hips above the feet at the end of the crouch and of the push, m.
        crouch: duration of the crouch, s.
        acceleration: of the push, m/s².
        retract: time in which the legs are drawn in, s.
    """

    low: float = 0.20
    high: float = 0.33
    crouch: float = 0.6
    acceleration: float = 8.0
    retract: float = 0.12

    def height(self, time: float, neutral: float) -> tuple[float, float]:
        """Height of the hips (m), and the multiple of the weight with which the legs push, ``time`` s after the
        beginning; ``neutral`` is the height to stand at (m)."""
        if time < self.crouch:
            return neutral + (self.low - neutral) * smooth(time / (0.8 * self.crouch)), 1.0
        time -= self.crouch
        push = math.sqrt(2.0 * (self.high - self.low) / self.acceleration)
        if time < push:
            return self.low + 0.5 * self.acceleration * time * time, 1.0 + self.acceleration / GRAVITY
        time -= push
        return self.high + (neutral - self.high) * smooth(time / self.retract), taken_over(time)


def taken_over(airborne: float) -> float:
    """Part of the weight that the feedforward carries ``airborne`` s after the feet left the ground: landings are PD
    alone."""
    return smooth((airborne - 0.6) / 0.5)


def smooth(part: float) -> float:
    """A smooth step from 0 to 1 while ``part`` goes from 0 to 1."""
    return 0.5 * (1.0 - math.cos(math.pi * min(max(part, 0.0), 1.0)))
