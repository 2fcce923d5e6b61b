"""A foot slides into the foot of a hill. Up to which speed does it stop there, and not go up?

An instantaneous impact knows no weight, so that it drives the point up the hill at any speed. The pseudo-impulse lets
the forces work for a short time δt beside the impact: contacts that they would close again anyway stay closed; Johnson,
Burden, Koditschek (2016), equation (58) and Figure 7. The point then stops below v = δt g tan θ.
"""

import numpy as np

from hybrid_contact_ros import impulse_velocity_mode, pseudo_impulse_mode
from hybrid_contact_ros.systems.point_and_hill import point_and_hill

SLOPE, DURATION = np.radians(30.0), 0.03  # rad, s
GROUND, HILL = 0, 1
hill = point_and_hill(SLOPE)


def modes(speed: float) -> tuple[frozenset[int], frozenset[int]]:
    """Contacts closed after the impact, without and with the pseudo-impulse."""
    problem = hill.problem([0.0, 0.0], [speed, 0.0])
    both = {GROUND, HILL}
    return impulse_velocity_mode(problem, both).mode, pseudo_impulse_mode(problem, both, DURATION).mode


low, high = 1e-3, 1.0
while high - low > 1e-9:
    middle = (low + high) / 2
    low, high = (middle, high) if modes(middle)[1] == {GROUND, HILL} else (low, middle)
stopping_speed = low  # m/s

if __name__ == "__main__":
    for speed in (0.9 * stopping_speed, 1.1 * stopping_speed):
        plain, pseudo = (sorted("GH"[i] for i in mode) for mode in modes(speed))
        print(f"at {speed:.4f} m/s an impact alone closes {plain}, with the pseudo-impulse {pseudo}")
    print(f"the point stops up to {stopping_speed:.6f} m/s; δt g tan θ = {DURATION * 9.81 * np.tan(SLOPE):.6f} m/s")
