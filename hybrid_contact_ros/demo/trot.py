"""Leg geometry and gait of the demo's quadruped: inverse kinematics, joint torques of foot forces, and the trot.

Legs are numbered FL, FR, RL, RR. x is forward, y left, z up, all seen from the hip joint of the leg in the trunk frame.
The numbers are plain floats and not arrays, because this code runs 1000 times a second beside the estimator and the
overhead of numpy's calls would dominate.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

Vector = tuple[float, float, float]

LINK = 0.213  # m, thigh and calf of the Go2
HIP_OFFSET = 0.0955  # m, hip joint to thigh joint
SIDES = (1.0, -1.0, 1.0, -1.0)
HIPS: tuple[Vector, ...] = tuple((x, y, 0.0) for x in (0.1934, -0.1934) for y in (0.0465, -0.0465))

_REACH = 2.0 * LINK * 0.98  # m; the knee then stays away from its straight pose, which is singular


def leg_angles(foot: Vector, side: float) -> Vector:
    """Hip, thigh and calf angles (rad) that put the foot at ``foot`` (m), or as far as the leg reaches in that
    direction."""
    x, y, z = foot
    offset = side * HIP_OFFSET
    down = math.sqrt(max(y * y + z * z - offset * offset, 1e-6))
    length = math.hypot(x, down)
    if length > _REACH:
        x, down = x * _REACH / length, down * _REACH / length
    hip = math.atan2(z, y) - math.atan2(-down, offset)
    hip = math.remainder(hip, 2.0 * math.pi)
    calf = -math.acos(max(-1.0, (x * x + down * down) / (2.0 * LINK * LINK) - 1.0))
    return hip, math.atan2(-x, down) - 0.5 * calf, calf


def foot_position(angles: Vector, side: float) -> Vector:
    """Position of the foot (m) at these angles (rad): the inverse of :func:`leg_angles`."""
    hip, thigh, calf = angles
    x = -LINK * (math.sin(thigh) + math.sin(thigh + calf))
    down = LINK * (math.cos(thigh) + math.cos(thigh + calf))
    sin, cos, offset = math.sin(hip), math.cos(hip), side * HIP_OFFSET
    return x, cos * offset + sin * down, sin * offset - cos * down


def force_torques(angles: Vector, side: float, force: Vector) -> Vector:
    """Joint torques (N m) of a weightless leg on whose foot the ground acts with ``force`` (N, trunk axes).

    They are −Jᵀ f, with the Jacobian J of the foot.
    """
    hip, thigh, calf = angles
    x, y, z = foot_position(angles, side)
    sin, cos = math.sin(hip), math.cos(hip)
    low_x, low_down = -LINK * math.sin(thigh + calf), LINK * math.cos(thigh + calf)
    down = low_down + LINK * math.cos(thigh)
    fx, fy, fz = force
    along_down = fy * sin - fz * cos  # force along the "down" direction of the leg itself
    return -(fz * y - fy * z), fx * down - along_down * x, fx * low_down - along_down * low_x


@dataclass(frozen=True, slots=True)
class Trunk:
    """What the controller knows of the trunk.

    Attributes:
        roll, pitch: tilt, rad.
        forward, left: horizontal velocity along and across the heading, m/s.
        roll_rate, pitch_rate: angular velocity in trunk axes, rad/s.
    """

    roll: float
    pitch: float
    forward: float
    left: float
    roll_rate: float
    pitch_rate: float

    def levelling(self, x: float, y: float) -> float:
        """Vertical force (N) that a foot at ``x``, ``y`` of the trunk (m) adds against the tilt; standing feet share
        it."""
        roll_moment = 150.0 * self.roll + 12.0 * self.roll_rate
        pitch_moment = 150.0 * self.pitch + 12.0 * self.pitch_rate
        return pitch_moment / x - roll_moment / y


@dataclass(frozen=True, slots=True)
class Trot:
    """Schedule of a trot: FL and RR swing together, FR and RL half a period later.

    Attributes:
        period: duration of one stride, s.
        duty: part of the stride for which a foot stands; above 0.5 all four feet stand between two steps.
        height: greatest clearance of a swinging foot, m.
        press: depth below the ground at which a swing ends, so that the foot surely arrives, m.
    """

    period: float = 0.5
    duty: float = 0.6
    height: float = 0.07
    press: float = 0.004

    def swing(self, leg: int, time: float) -> float:
        """Part of the swing that is done, in (0, 1), ``time`` s after the start; -1 while the foot stands."""
        phase = (time / self.period + (0.0 if leg in (0, 3) else 0.5)) % 1.0
        return -1.0 if phase < self.duty else (phase - self.duty) / (1.0 - self.duty)

    def clearance(self, swing: float) -> float:
        """Height (m) of the target of a swinging foot over the ground. It leaves and arrives without vertical speed."""
        return self.height * 0.5 * (1.0 - math.cos(2.0 * math.pi * swing)) - self.press * swing


class TrotController:
    """Foot targets and ground forces of a trot, with light feedback of velocity and tilt.

    Standing feet push with their share of the weight, and more on the side that sinks. Swinging feet land ahead by half
    of the distance that the trunk moves during a stance, and by more where the trunk is faster than asked (Raibert's
    rule).

    Args:
        neutral: where the foot FL stands, seen from its hip, m; mirrored for the others.
        weight: of the robot, N.
        speed: forward speed to keep, m/s.
        gait: the schedule.
    """

    def __init__(self, neutral: Vector, weight: float, speed: float, gait: Trot | None = None) -> None:
        self.gait = gait or Trot()
        self.height = -neutral[2]
        self.weight, self.speed = weight, speed
        self._neutral = tuple((neutral[0], SIDES[leg] * neutral[1]) for leg in range(4))
        self._foot = [list(p) for p in self._neutral]  # present horizontal targets
        self._from = [list(p) for p in self._neutral]  # where the last swing began

    def targets(self, time: float, step: float, trunk: Trunk) -> tuple[list[Vector], list[float]]:
        """Foot targets (m, from each hip) and vertical ground forces (N) at ``time``, ``step`` s after the last
        call."""
        gait = self.gait
        speed = self.speed * min(1.0, time)
        error = trunk.forward - speed
        stance_time = gait.duty * gait.period
        ahead = 0.5 * stance_time * speed + 0.5 * stance_time * error + 0.05 * error
        across = (0.5 * stance_time + 0.05) * trunk.left
        swings = [gait.swing(leg, time) for leg in range(4)]
        standing = sum(s < 0.0 for s in swings)
        feet: list[Vector] = []
        forces = []
        for leg, swing in enumerate(swings):
            foot, neutral = self._foot[leg], self._neutral[leg]
            if swing < 0.0:
                foot[0] -= speed * step
                self._from[leg][:] = foot
                x, y = HIPS[leg][0] + foot[0], HIPS[leg][1] + foot[1]
                force = (self.weight + trunk.levelling(x, y)) / standing
                forces.append(min(max(force, 0.0), self.weight))
                feet.append((foot[0], foot[1], -self.height))
            else:
                blend = 0.5 * (1.0 - math.cos(math.pi * min(1.0, swing * 1.15)))
                start = self._from[leg]
                foot[0] = start[0] + blend * (neutral[0] + ahead - start[0])
                foot[1] = start[1] + blend * (neutral[1] + across - start[1])
                forces.append(0.0)
                feet.append((foot[0], foot[1], -self.height + gait.clearance(swing)))
        return feet, forces
