"""Leg geometry and gait of the demo's quadruped: inverse kinematics, foot forces to joint torques, trot schedule.

Legs are numbered FL, FR, RL, RR; x forward, y left, z up, all seen from the leg's hip joint in the trunk frame. Plain
floats, not arrays: these run 1000 times a second beside the estimator, and numpy's call overhead would dominate.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

Vector = tuple[float, float, float]

LINK = 0.213  # m, thigh and calf of the Go2
HIP_OFFSET = 0.0955  # m, hip joint to thigh joint
SIDES = (1.0, -1.0, 1.0, -1.0)
HIPS: tuple[Vector, ...] = tuple((x, y, 0.0) for x in (0.1934, -0.1934) for y in (0.0465, -0.0465))

_REACH = 2.0 * LINK * 0.98  # m; keeps the knee off its singular, straight pose


def leg_angles(foot: Vector, side: float) -> Vector:
    """Hip, thigh and calf angles (rad) that put the foot at ``foot`` (m); out of reach, the nearest along the leg."""
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
    """Foot (m) of the leg at these angles (rad): the inverse of :func:`leg_angles`."""
    hip, thigh, calf = angles
    x = -LINK * (math.sin(thigh) + math.sin(thigh + calf))
    down = LINK * (math.cos(thigh) + math.cos(thigh + calf))
    sin, cos, offset = math.sin(hip), math.cos(hip), side * HIP_OFFSET
    return x, cos * offset + sin * down, sin * offset - cos * down


def force_torques(angles: Vector, side: float, force: Vector) -> Vector:
    """Joint torques (N m) of a weightless leg whose foot pushes the ground with ``-force``.

    ``force`` (N, trunk axes) is that of the ground on the foot; the torques are minus the transposed foot Jacobian
    times it.
    """
    hip, thigh, calf = angles
    x, y, z = foot_position(angles, side)
    sin, cos = math.sin(hip), math.cos(hip)
    low_x, low_down = -LINK * math.sin(thigh + calf), LINK * math.cos(thigh + calf)
    down = low_down + LINK * math.cos(thigh)
    fx, fy, fz = force
    along_down = fy * sin - fz * cos  # force along the leg's own "down" direction
    return -(fz * y - fy * z), fx * down - along_down * x, fx * low_down - along_down * low_x


@dataclass(frozen=True, slots=True)
class Trunk:
    """What the controller knows of the trunk: tilt, velocity in its heading frame, and angular velocity.

    Attributes:
        roll, pitch: rad.
        forward, left: m/s, horizontal velocity along and across the heading.
        roll_rate, pitch_rate: rad/s, trunk axes.
    """

    roll: float
    pitch: float
    forward: float
    left: float
    roll_rate: float
    pitch_rate: float

    def levelling(self, x: float, y: float) -> float:
        """Vertical force (N) that a foot at ``x``, ``y`` of the trunk adds, to be shared among those that stand."""
        roll_moment = 150.0 * self.roll + 12.0 * self.roll_rate
        pitch_moment = 150.0 * self.pitch + 12.0 * self.pitch_rate
        return pitch_moment / x - roll_moment / y


@dataclass(frozen=True, slots=True)
class Trot:
    """Schedule of a trot: FL and RR swing together, FR and RL half a period later.

    Attributes:
        period: s, of one stride.
        duty: part of the stride that a foot stands; above 0.5, all four stand between two steps.
        height: m, a swing foot's greatest clearance.
        press: m, depth below the ground that a swing ends at, so that the foot surely arrives.
    """

    period: float = 0.5
    duty: float = 0.6
    height: float = 0.07
    press: float = 0.004

    def swing(self, leg: int, time: float) -> float:
        """Part of the swing that is done, in (0, 1), or -1 while the foot stands; ``time`` in s since the start."""
        phase = (time / self.period + (0.0 if leg in (0, 3) else 0.5)) % 1.0
        return -1.0 if phase < self.duty else (phase - self.duty) / (1.0 - self.duty)

    def clearance(self, swing: float) -> float:
        """Height (m) of a swing foot's target over the ground; leaves and arrives without vertical speed."""
        return self.height * 0.5 * (1.0 - math.cos(2.0 * math.pi * swing)) - self.press * swing


class TrotController:
    """Joint targets and ground forces of a trot, with light feedback of velocity and tilt.

    Standing feet push with their share of the weight, more on the side that sinks; swinging feet land ahead by half of
    what the trunk moves during a stance, and by some more where it moves faster than asked (Raibert's rule).
    """

    def __init__(self, neutral: Vector, weight: float, speed: float, gait: Trot | None = None) -> None:
        """``neutral``: where FL's foot stands, from its hip (m), mirrored for others; N; m/s forward."""
        self.gait = gait or Trot()
        self.height = -neutral[2]
        self.weight, self.speed = weight, speed
        self._neutral = tuple((neutral[0], SIDES[leg] * neutral[1]) for leg in range(4))
        self._foot = [list(p) for p in self._neutral]  # present horizontal targets
        self._from = [list(p) for p in self._neutral]  # where the last swing began

    def targets(self, time: float, step: float, trunk: Trunk) -> tuple[list[Vector], list[float]]:
        """Foot targets (m, from each hip) and vertical ground forces (N) asked for, ``step`` s after the last call."""
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
