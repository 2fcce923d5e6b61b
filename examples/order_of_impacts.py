"""When does it matter which of two contacts lands first?

Two frictionless plastic impacts commute if their constraints are orthogonal in the metric of the inertia,
cos = ⟨Dφ₁, Dφ₂⟩_{M⁻¹} / (‖Dφ₁‖ ‖Dφ₂‖) = 0; Pace and Burden (2017), equation (14) and Assumption 4. For a box that
lands on two corners, cos = (I/m − w²/4) / (I/m + w²/4), which vanishes for the height h = √2 w: each corner is then the
other's centre of percussion. Where cos < 0 each impact sets the other corner moving towards the ground again; both are
at rest in the end, in either order, but only after infinitely many impacts.
"""

import numpy as np

from hybrid_contact_ros import constraint_angles, sequential_impact
from hybrid_contact_ros.systems.rocking_block import rocking_block


def landing(height: float):
    """A box of width 1 m that comes down on both corners at 1 m/s, without friction."""
    return rocking_block(1.0, height, friction=0.0).problem((0.0, height / 2, 0.0), (0.0, -1.0, 0.0))


def difference(height: float) -> float:
    """How much the velocity after the landing depends on the order, in m/s and rad/s."""
    first, second = (sequential_impact(landing(height), order) for order in ([0, 1], [1, 0]))
    return float(np.abs(first.velocity - second.velocity).max())


cosine_slender = float(constraint_angles(landing(2.0))[0, 1])
cosine_special = float(constraint_angles(landing(np.sqrt(2.0)))[0, 1])

if __name__ == "__main__":
    for height in (2.0, np.sqrt(2.0), 1.0):
        cosine = constraint_angles(landing(height))[0, 1]
        print(f"height {height:.3f} m: cosine {cosine:+.3f}, the order changes v⁺ by {difference(height):.3f}")
