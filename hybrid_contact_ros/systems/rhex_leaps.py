"""The three leaps of Johnson's Figs. 1, 5 and 10, with parameters of our own, and the chatter of Fig. 4.

Friction, t₂, δt and frictionless sliding are Johnson's. Mass, legs, motors and posture are those of the companion
(Johnson and Koditschek 2013), which is not public text. Public are the body's size, 57 cm by 7.5 cm, and 12.5 cm below
it (Kod*lab, "X-RHex key features"); a hip in the middle of the body then has a leg of 16.25 cm. The rest is ours: 9 kg,
a uniform body, hips 20.5 cm apart, 37 N m a hip, the crouches, and a no-load speed that was chosen so that the
vertical leap rises by the published 37 cm. The other two follow with the crouches below. Ledges are no contacts here;
what counts is whether the body's nose comes above them.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from hybrid_contact_ros.systems.planar_rhex import PlanarRHex, RHexParameters

Array = NDArray[np.float64]
DURATION = 0.03
"""δt, s (Johnson, note 2)."""
LANDING_SPEED = -0.08
"""ż (m/s) of the body of :func:`two_footed_landing`."""
X_RHEX = RHexParameters(
    mass=9.0,
    inertia=9.0 * (0.57**2 + 0.075**2) / 12.0,
    hip=0.1025,
    hip_offset=-0.1025,  # the middle pair of legs under the centre, and the rear pair
    leg=0.1625,
    body_length=0.57,
    body_height=0.075,
    torque=37.0,
    no_load_speed=49.0,
)


@dataclass(frozen=True, slots=True)
class Leap:
    """A leap of the paper.

    Attributes:
        figure: of Johnson. published: height, m, of the leap (Fig. 5) or of the ledge. parameters: of the robot.
        stance, rear_stance: of the crouch, rad. t_final: s, past the highest point.
    """

    figure: str
    published: float
    parameters: RHexParameters
    stance: float
    rear_stance: float | None = None
    t_final: float = 0.45

    def robot(self) -> PlanarRHex:
        """The robot whose first motor starts at once, and the other |t₂| later."""
        start = max(0.0, -self.parameters.start_delay)
        return PlanarRHex(self.parameters, start, self.stance, self.rear_stance)


_FORWARD = replace(X_RHEX, friction=1.8, rear_friction=2.5, start_delay=0.01)
# front and rear pair, which turn against each other (Johnson §2.8)
_UPWARDS = replace(X_RHEX, hip=0.205, hip_offset=0.0, friction=0.8, start_delay=-0.06, rear_turn=1.0)
LEAPS = {
    "20 cm ledge": Leap("Fig. 1", 0.20, _FORWARD, stance=1.0, rear_stance=0.4),
    "vertical": Leap("Fig. 5", 0.37, _UPWARDS, stance=1.3),
    "73 cm ledge": Leap("Fig. 10", 0.73, replace(X_RHEX, friction=0.8, start_delay=0.06), stance=0.9),
}
"""By what is leapt on."""


def nose_height(robot: PlanarRHex, q: Array) -> Array:
    """Height of the body's lower front corner at configurations (k, 5), m."""
    p = robot.parameters
    return np.asarray(q[:, 1] + 0.5 * (p.body_length * np.sin(q[:, 2]) - p.body_height * np.cos(q[:, 2])))


def two_footed_landing() -> tuple[PlanarRHex, Array, Array]:
    """A robot that holds its legs nearly straight and lands on the front one and then, after 23 ms, on the rear one.

    It is Johnson's Figs. 3 and 4 in kind: the second landing pulls the front leg off the ground, the leg is back soon,
    its landing pulls off the rear one, and so on. Hips 10 cm before and behind the centre make that so: each landing
    takes the other hip up, 1/m > hip²/I.

    Returns:
        The robot, q (5,) with the front toe on the ground, and v (5,).
    """
    parameters = replace(X_RHEX, hip=0.1, hip_offset=0.0, friction=1.8, rear_friction=2.5)
    robot = PlanarRHex(parameters, start=10.0, stance=0.05)
    q = np.array([0.0, 0.0, -0.01, robot.stance, robot.stance])
    q[1] = -robot.gap(q)[0]
    return robot, q, np.array([0.0, LANDING_SPEED, 0.0, 0.0, 0.0])
