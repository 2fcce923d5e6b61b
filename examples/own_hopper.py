"""A leg with a spring hops: how much height does it lose to the impact of its foot?

This system of one's own has two masses and a spring, whose force is a part of the bias force h. A plastic impact takes
the kinetic energy of the foot, m v²/2. The leg lifts off where the stretched spring carries the foot, k (l − l₀) = m g;
from then on the masses also swing against each other, which does not lift their centre. Johnson, Burden, Koditschek
(2016), equations (23) and (38); the height of the hop follows by hand from the energy of the body.
"""

import numpy as np

from hybrid_contact_ros import ContactProblem, simulate

BODY, FOOT, STIFFNESS, LENGTH, GRAVITY = 8.0, 0.5, 4000.0, 0.5, 9.81  # kg, kg, N/m, m, m/s²
DROP = 0.2  # m, of the foot above the ground


class Hopper:
    """q = (height of the body, height of the foot), m."""

    contact_names = ("foot",)

    def problem(self, q, v) -> ContactProblem:
        spring = STIFFNESS * (LENGTH - (q[0] - q[1]))  # N, pushes both apart
        return ContactProblem(
            mass=np.diag([BODY, FOOT]),
            velocity=v,
            normal_jacobian=[[0.0, 1.0]],
            tangent_jacobian=np.zeros((1, 1, 2)),
            friction=[0.0],
            gap=[q[1]],
            bias_force=[BODY * GRAVITY - spring, FOOT * GRAVITY + spring],
        )


def centre(q) -> float:
    """Height of the centre of mass, m."""
    return (BODY * q[0] + FOOT * q[1]) / (BODY + FOOT)


execution = simulate(Hopper(), [DROP + LENGTH, DROP], [0.0, 0.0], t_final=0.65)
landing, liftoff = execution.events[:2]
apex = max(centre(execution.at(time)[0]) for time in np.arange(liftoff.time, execution.times[-1], 1e-4))  # m

stretch = FOOT * GRAVITY / STIFFNESS  # m, of the spring at liftoff
fall = 2 * GRAVITY * DROP  # square of the landing speed, m²/s²
rise = fall - 2 * GRAVITY * stretch - STIFFNESS * stretch**2 / BODY  # square of the body's speed at liftoff
apex_by_hand = centre([LENGTH + stretch, 0.0]) + (BODY / (BODY + FOOT)) ** 2 * rise / (2 * GRAVITY)

if __name__ == "__main__":
    print(execution)
    print(f"the centre of mass fell from {centre([DROP + LENGTH, DROP]):.4f} m and rises to {apex:.6f} m")
    print(f"by hand {apex_by_hand:.6f} m")
