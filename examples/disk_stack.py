"""A disk falls onto two others that touch each other and the ground: five contacts, one impact. How do they part?

The impact of all contacts at once solves 0 ≤ Λ_n ⊥ J_n v⁺ ≥ 0 with Coulomb friction and M (v⁺ − v⁻) = JᵀΛ; Anitescu
and Potra (1997), Halm and Posa, equation (31) and Table 8. Without friction symmetry gives it by hand: the upper disk
keeps 1/7 of its speed v, and the lower ones roll apart at √3/7 v. With friction the order of the impulses matters, and
the disks leave with velocities of a whole set.
"""

import numpy as np

from hybrid_contact_ros import post_impact_set, simultaneous_impact
from hybrid_contact_ros.systems.disk_stacking import DiskStack

q = (1.0, 1.0 + np.sqrt(3.0), 0.0, 0.0, 1.0, 0.0, 2.0, 1.0, 0.0)  # (x, y, θ) of the upper, left and right disk
v = (0.0, -1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0)  # m/s

smooth = simultaneous_impact(DiskStack(friction=0.0).problem(q, v))
kept_speed = -float(smooth.velocity[1])  # of the upper disk, m/s
parting_speed = -float(smooth.velocity[3])  # of the left disk, m/s

rough = post_impact_set(DiskStack(friction=np.sqrt(3.0)).problem(q, v), step=1.0, samples=2000, max_steps=200)
spread = np.ptp(rough.velocities[rough.terminated], axis=0)

if __name__ == "__main__":
    print(f"without friction the upper disk keeps {kept_speed:.6f} v, and the lower ones part at {parting_speed:.6f} v")
    print(f"with friction the upper disk's (ẋ, ẏ, θ̇) spread over {spread[:3].round(3)} m/s and rad/s")
