"""How hard may a box be pushed before it tips, and which contacts hold as the push grows?

A box on rough ground is pushed at half its height. Its contact mode solves force-acceleration complementarity: each
touching contact i has 0 ≤ λ_n ⊥ a_n ≥ 0 and |λ_t| ≤ μ λ_n, with M v̇ + h = Jᵀλ; Johnson, Burden, Koditschek (2016),
equation (38). Statics gives the same answer by hand: the box tips at F = m g w / (2 c), if friction holds it that long.
"""

import numpy as np

from hybrid_contact_ros import ContactProblem, ContactStatus, force_acceleration_mode

WIDTH, HEIGHT, MASS, FRICTION, GRAVITY = 0.4, 0.6, 2.0, 0.8, 9.81  # m, m, kg, -, m/s²
PUSH_HEIGHT = HEIGHT / 2  # m above the ground: through the centre, so that the push makes no moment about it


def pushed(force: float) -> ContactProblem:
    """The contact problem of the box at rest, v = (ẋ, ẏ, θ̇) of its centre, pushed towards +x with ``force`` (N)."""
    corners = np.array([[-WIDTH / 2, -HEIGHT / 2], [WIDTH / 2, -HEIGHT / 2]])  # back and front, from the centre
    return ContactProblem(
        mass=np.diag([MASS, MASS, MASS * (WIDTH**2 + HEIGHT**2) / 12]),
        velocity=np.zeros(3),
        normal_jacobian=[[0.0, 1.0, x] for x, _ in corners],  # (m, nv): the rate of each gap
        tangent_jacobian=[[[1.0, 0.0, -y]] for _, y in corners],  # (m, d, nv): each corner's speed along +x
        friction=[FRICTION, FRICTION],
        bias_force=[-force, MASS * GRAVITY, 0.0],  # h − Sᵀτ: what the contacts must balance
        names=["back", "front"],
    )


def tips(force: float) -> bool:
    """Whether the back corner opens."""
    return 0 not in force_acceleration_mode(pushed(force)).mode


low, high = 0.0, 2 * MASS * GRAVITY
while high - low > 1e-6:
    middle = (low + high) / 2
    low, high = (low, middle) if tips(middle) else (middle, high)
tipping_force = low  # N
by_hand = MASS * GRAVITY * WIDTH / (2 * PUSH_HEIGHT)  # N

standing = force_acceleration_mode(pushed(0.5 * tipping_force))
share_of_front = standing.forces[1, 0] / (MASS * GRAVITY)  # 1/2 + F c / (m g w)

if __name__ == "__main__":
    for part in (0.5, 1.1, 1.5):
        solution = force_acceleration_mode(pushed(part * tipping_force))
        back, front = (ContactStatus(code).name.lower() for code in solution.contact_status)
        print(f"F = {part * tipping_force:5.2f} N: back {back}, front {front}, v̇ = {solution.acceleration.round(3)}")
    print(f"the box tips at {tipping_force:.6f} N; by hand {by_hand:.6f} N")
