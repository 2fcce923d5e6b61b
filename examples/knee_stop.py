"""A swinging leg's knee chatters against its stop and locks. When does it unlock?

The lower link of a double pendulum bends in one direction only, θ₂ ≥ 0. While the knee is locked, both links swing as
one, and the stop pushes as long as gravity bends the knee into it, φ̈ = g sin θ₁ / l < 0; Or and Ames (2011), Example 4
and Corollary 1. The knee therefore unlocks where the leg hangs straight down, θ₁ = 0.
"""

import numpy as np

from hybrid_contact_ros import simulate
from hybrid_contact_ros.systems.pendulum_with_stop import pendulum_with_stop, published_state

execution = simulate(pendulum_with_stop(), *published_state(), t_final=6.0)
locked = execution.zeno_times[0][1]  # s, when the chatter is over
unlocking = next(event for event in execution.events if event.time > locked and event.kind.value == "liftoff")
unlocking_angle = np.degrees(unlocking.q[0])  # θ₁ in degrees
locking_angle = np.degrees(execution.at(locked)[0][0])

if __name__ == "__main__":
    print(f"the knee locks at {locked:.3f} s with θ₁ = {locking_angle:.2f}°")
    print(f"it unlocks at {unlocking.time:.3f} s with θ₁ = {unlocking_angle:.6f}°")
