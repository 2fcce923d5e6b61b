"""A planar robot of RHex's kind, with massless legs that turn about its hips (Johnson, Figs. 1, 3-6).

The parameters of the paper are not in it (they are those of Johnson and Koditschek 2013a, Appendix G). The ones here
have the size of X-RHex and were chosen for this file: a body of 9 kg and half a metre, legs of 15 cm, and motors whose
torque falls linearly with speed (Johnson §3.2.4), within a limit. The legs are straight with a point toe, where those
of RHex are half circles. :mod:`~hybrid_contact_ros.systems.rhex_leaps` has the paper's leaps.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import sympy
from numpy.typing import ArrayLike, NDArray

from hybrid_contact_ros.systems.lagrangian import Constraint, LagrangianSystem

Array = NDArray[np.float64]
FRONT, REAR, NOSE, TAIL = range(4)


@dataclass(frozen=True, slots=True)
class RHexParameters:
    """Sizes, masses and motors, in SI units.

    Hips are ``hip`` (m) before and behind the point ``hip_offset`` (m) ahead of the body's centre. ``friction`` is that
    of both toes, or of the front one where ``rear_friction`` is given. ``torque`` (N m) is that of all motors of one
    hip at rest; it vanishes at ``no_load_speed`` (rad/s). ``rear_turn`` is the direction in which the rear motors turn.
    ``retract_acceleration`` (rad/s²) turns a leg in the air further until ``retract_speed`` (rad/s): Johnson,
    Assumption A6, and the note to Fig. 1 that legs are turned out of the way once they have left the ground. With None
    the motor turns it back to the ground, its torque over ``rotor_inertia`` (kg m²): §2.7.2, Fig. 4.
    """

    mass: float = 9.0
    inertia: float = 0.2
    hip: float = 0.22
    hip_offset: float = 0.0
    leg: float = 0.15
    body_length: float = 0.49
    body_height: float = 0.08
    friction: float = 2.0
    rear_friction: float | None = None
    torque: float = 30.0
    no_load_speed: float = 30.0
    rear_turn: float = -1.0
    start_delay: float = 0.01
    stiffness: float = 300.0
    damping: float = 6.0
    retract_acceleration: float | None = 400.0
    retract_speed: float = 20.0
    rotor_inertia: float = 0.01
    gravity: float = 9.81


class PlanarRHex(LagrangianSystem):
    """The robot; q = (x, z of the body, pitch, front and rear leg angle relative to the body), counter-clockwise.

    A leg with angle 0 points down, and with a positive angle its toe is ahead of the hip. The contacts are the toes
    "front" and "rear", with friction, and the body's lower corners "nose" and "tail", without (Johnson §2.8). The
    motors turn the legs backward (negative), the rear one forward where ``rear_turn`` is 1: then the legs push against
    each other (Johnson §2.8, the vertical leap). The front one starts at the time ``start`` and the rear one
    ``start_delay`` later, t₂ (Johnson, note 2); until then a leg is held at ``stance`` (rad; the rear one at
    ``rear_stance``, if given), with its toe on the side that it turns away from. After its start a leg in the air is
    not driven but retracts.
    """

    def __init__(
        self,
        parameters: RHexParameters | None = None,
        start: float = 0.0,
        stance: float = 1.0,
        rear_stance: float | None = None,
    ) -> None:
        p = self.parameters = parameters or RHexParameters()
        self.start, self.stance = start, stance
        self.rear_stance = stance if rear_stance is None else rear_stance
        x, z, pitch, front, rear = q = sympy.symbols("x z pitch front rear")
        toes, corners = [], []
        for name, side, leg in (("front", 1, front), ("rear", -1, rear)):
            hip = p.hip_offset + side * p.hip
            place_x = x + hip * sympy.cos(pitch) + p.leg * sympy.sin(pitch + leg)
            place_z = z + hip * sympy.sin(pitch) - p.leg * sympy.cos(pitch + leg)
            tangent = sympy.Matrix([place_x]).jacobian(sympy.Matrix(q))
            rough = p.friction if side > 0 or p.rear_friction is None else p.rear_friction
            toes.append(Constraint(name, place_z, (tangent,), rough))
        for name, side in (("nose", 1), ("tail", -1)):
            half = side * p.body_length / 2
            corners.append(Constraint(name, z + half * sympy.sin(pitch) - p.body_height / 2 * sympy.cos(pitch)))
        super().__init__(
            "planar RHex",
            q,
            sympy.diag(p.mass, p.mass, p.inertia, 0, 0),
            p.mass * p.gravity * z,
            [*toes, *corners],
            self._torque,
        )

    def _torque(self, time: float, q: Array, v: Array, mode: frozenset[int]) -> Array:
        p = self.parameters
        force = np.zeros(5)
        for leg, begin, turn in self._legs():
            if time >= begin:
                force[leg] = turn * p.torque * min(1.0, 1.0 - turn * v[leg] / p.no_load_speed)
            else:
                stance = self.stance if leg == 3 + FRONT else self.rear_stance
                force[leg] = p.stiffness * (-turn * stance - q[leg]) - p.damping * v[leg]
        return force

    def _legs(self) -> tuple[tuple[int, float, float], ...]:
        """Index of its angle, start (s) and direction of turning of the front and the rear leg."""
        p = self.parameters
        return ((3 + FRONT, self.start, -1.0), (3 + REAR, self.start + p.start_delay, p.rear_turn))

    def limb_acceleration(self, q: ArrayLike, v: ArrayLike, time: float, mode: frozenset[int]) -> Array:
        """Angular acceleration (5,) of legs in the air relative to the body: their motor's, or retracting (Johnson,
        A6)."""
        p, rates = self.parameters, np.asarray(v, dtype=np.float64)
        own = self._torque(time, np.asarray(q, dtype=np.float64), rates, mode) / p.rotor_inertia
        for leg, begin, turn in self._legs():
            if time >= begin and p.retract_acceleration is not None:
                turning = min(1.0, max(0.0, 1.0 - turn * rates[leg] / p.retract_speed))
                own[leg] = turn * p.retract_acceleration * turning
        return own

    def crouch(self) -> Array:
        """Configuration (5,) with both toes on the ground and both legs in their stance."""
        p, front = self.parameters, self.stance
        rear = -p.rear_turn * self.rear_stance
        pitch = np.arctan2(p.leg * (np.cos(front) - np.cos(rear)), 2 * p.hip + p.leg * (np.sin(front) - np.sin(rear)))
        height = p.leg * np.cos(pitch + front) - (p.hip_offset + p.hip) * np.sin(pitch)
        return np.array([0.0, height, pitch, front, rear])
