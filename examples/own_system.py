"""A bead slides down a frictionless round hill. At which height does it leave the hill?

A system of one's own for ``simulate`` is any object with ``problem(q, v)``: it says M, h and, for each contact, the gap
φ(q), its gradient J_n, the tangent J_t, and J̇v. Modes, impacts, slip and liftoff follow from those. Closed form, from
energy and the vanishing contact force: the bead leaves at cos θ = 2/3 + v₀² / (3 g R), a textbook problem.
"""

import numpy as np

from hybrid_contact_ros import ContactProblem, simulate

GRAVITY = 9.81  # m/s²


class BeadOnHill:
    """A bead of 1 kg outside of a circle of ``radius`` (m) about the origin; q = (x, y), v = q̇."""

    name = "bead on a hill"

    def __init__(self, radius: float) -> None:
        self.radius = radius

    def problem(self, q, v) -> ContactProblem:
        distance = np.hypot(*q)
        normal = np.asarray(q) / distance  # from the hill to the bead
        tangent = np.array([normal[1], -normal[0]])
        turning = -(tangent @ v) / distance  # rate of the normal's direction, rad/s
        return ContactProblem(
            mass=np.eye(2),
            velocity=v,
            normal_jacobian=[normal],
            tangent_jacobian=[[tangent]],
            friction=[0.0],
            gap=[distance - self.radius],
            bias_force=[0.0, GRAVITY],  # h: M v̇ + h = Jᵀλ
            jacobian_drift=[[-turning * (tangent @ v), turning * (normal @ v)]],  # J̇v, normal first
            names=["hill"],
        )


radius, speed = 0.5, 0.3  # m, m/s along the top
execution = simulate(BeadOnHill(radius), q=[0.0, radius], v=[speed, 0.0], t_final=1.0)
leaving = execution.events[0]
leaving_cosine = leaving.q[1] / radius
by_hand = 2 / 3 + speed**2 / (3 * GRAVITY * radius)

if __name__ == "__main__":
    print(execution)
    print(f"it leaves at cos θ = {leaving_cosine:.9f}; by hand {by_hand:.9f}")
