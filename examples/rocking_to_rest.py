"""A block rocks from corner to corner, ever faster and lower. How does a simulation bring it to rest?

Each plastic impact leaves 0.7 of the motion, so that there are infinitely many. With the pseudo-impulse of δt = 0.03 s
the block rests after the first impact slower than 6.3 cm/s: to hold the corner that would lift takes less impulse then
than half of the weight gives in δt, Λ + δt m g / 2 ≥ 0; Johnson, Burden, Koditschek (2016), (102), Figures 8 and 9.
"""

import numpy as np

from hybrid_contact_ros import pseudo_impulse_mode, simulate
from hybrid_contact_ros.systems.settling_block import DURATION, HEIGHT, WIDTH, leaning, settling_block

block = settling_block()
execution = simulate(block, leaning(0.2), np.zeros(3), t_final=1.0, law="pseudo-impulse", duration=DURATION)
landings = [abs(event.velocity_before[1]) for event in execution.events if event.kind.value == "touchdown"]  # m/s


def rests(speed: float) -> bool:
    """Whether the block, turning about its left corner l, rests when the corner r lands, its centre falling at that."""
    rate = -2.0 * speed / WIDTH
    problem = block.problem([0.0, HEIGHT / 2, 0.0], [-HEIGHT / 2 * rate, WIDTH / 2 * rate, rate])
    return len(pseudo_impulse_mode(problem, {0, 1}, DURATION).mode) == 2


low, high = 0.0, 1.0
while high - low > 1e-9:
    middle = (low + high) / 2
    low, high = (middle, high) if rests(middle) else (low, middle)
resting_speed = low  # m/s

if __name__ == "__main__":
    print("word:", " ".join(execution.word))
    print("its centre lands with", ", ".join(f"{100 * speed:.2f}" for speed in landings), "cm/s")
    print(f"it rests below {100 * resting_speed:.4f} cm/s")
