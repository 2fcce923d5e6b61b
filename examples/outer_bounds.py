"""A controller must be safe for every outcome of a landing, also for those that no sample has met. What are its bounds?

No impact adds kinetic energy, ‖v⁺‖_M ≤ ‖v⁻‖_M (Halm and Posa, Theorem 7), and contacts only push: these two make the
fast bounds. The tight ones come from linear programs over all impulses that the contacts can have had. Here both stand
beside the samples, for how fast a corner of the rocking block can lift; the true maximum is 0.21 v.
"""

import numpy as np

from hybrid_contact_ros import outcome_bounds, post_impact_set
from hybrid_contact_ros.systems.rocking_block import HEIGHT, rocking_block

speed = np.sqrt(2 * 9.81 * 0.01)  # m/s
problem = rocking_block().problem(q=(0.0, HEIGHT / 2, 0.0), v=(0.0, -speed, 0.0))
rows = problem.normal_jacobian  # bounds of rows @ v⁺: of the gap velocities

samples = post_impact_set(problem, step=0.3, samples=4096, max_steps=200).velocities @ rows.T
fast = outcome_bounds(problem, rows, effort="fast")[1]
tight = outcome_bounds(problem, rows, effort="tight")[1]

sampled_lift, tight_lift, fast_lift = (float(bound[0]) / speed for bound in (samples.max(axis=0), tight, fast))

if __name__ == "__main__":
    print(f"a corner lifts with {sampled_lift:.3f} v in the samples;")
    print(f"never faster than {tight_lift:.3f} v (tight) and {fast_lift:.3f} v (fast)")
