"""A stick that is pushed over a rough table judders, because its sliding end jams. From which angle on?

A normal force of 1 N with its friction accelerates the sliding end of a uniform rod away from the table by
(1 + 3 cos² θ − 3 μ sin θ cos θ)/m. Where that is negative no contact force fits the contact laws (Painlevé), and an
impact without collision ends the slide; Génot and Brogliato (1999), Halm and Posa §2.2.3. With μ = 2 the first such
angle has tan θ = 3 − √5, the smaller root of tan² θ − 3 μ tan θ + 4 = 0.
"""

from math import atan, tan

from hybrid_contact_ros import Status, force_acceleration_mode, simulate
from hybrid_contact_ros.systems.painleve_rod import painleve_rod, rod_state

rod = painleve_rod(friction=2.0)


def jams(angle: float) -> bool:
    """Whether no contact mode has forces that fit, as the end slides towards −x at 1 m/s."""
    problem = rod.problem(*rod_state(angle, slip=-1.0, rate=0.0))
    return force_acceleration_mode(problem, enumerate_all=True).status is Status.NONE_FOUND


low, high = 0.1, atan(2.0)  # rad
while high - low > 1e-7:
    middle = (low + high) / 2
    low, high = (low, middle) if jams(middle) else (middle, high)
jamming_tangent = tan(high)

execution = simulate(rod, *rod_state(atan(2.0), slip=-1.0, rate=0.0), t_final=0.05)
first = execution.events[0]

if __name__ == "__main__":
    print(f"the slide jams from tan θ = {jamming_tangent:.6f} on; by hand {3 - 5**0.5:.6f}")
    print(f"at tan θ = 2 an {first.kind.value} of Λ = {first.impulse[0].round(4)} N s stops it at {first.time:g} s")
