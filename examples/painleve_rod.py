"""A stick pushed over a rough table judders: its end jams. From which friction on?

A normal force of 1 N with its friction accelerates the sliding end A of a uniform rod by
(1 + 3 cos² θ − 3 μ sin θ cos θ)/m away from the ground. Where that is negative no contact force is consistent
(Painlevé), and an impact without collision stops the slide; Génot and Brogliato (1999), Halm and Posa §2.2.3. The least
friction for that is μ = (4 + tan² θ)/(3 tan θ), 4/3 at tan θ = 2.
"""

from math import atan

from hybrid_contact_ros import Status, force_acceleration_mode, simulate
from hybrid_contact_ros.systems.painleve_rod import painleve_rod, rod_state

ANGLE = atan(2.0)  # with the ground, rad
q, v = rod_state(ANGLE, slip=-1.0, rate=0.0)  # the end slides towards −x at 1 m/s


def jams(friction: float) -> bool:
    """Whether no contact mode has forces that fit."""
    problem = painleve_rod(friction).problem(q, v)
    return force_acceleration_mode(problem, enumerate_all=True).status is Status.NONE_FOUND


low, high = 1.0, 2.0
while high - low > 1e-6:
    middle = (low + high) / 2
    low, high = (low, middle) if jams(middle) else (middle, high)
jamming_friction = high

execution = simulate(painleve_rod(friction=2.0), q, v, t_final=0.05)
first = execution.events[0]

if __name__ == "__main__":
    print(f"the slide jams from μ = {jamming_friction:.6f} on; by hand {4 / 3:.6f}")
    print(f"with μ = 2 an {first.kind.value} of Λ = {first.impulse[0].round(4)} N s stops it at {first.time:g} s")
