"""When does it matter which of two contacts lands first?

A box lands flat on two corners. Without friction cos = ⟨Dφ₁, Dφ₂⟩_{M⁻¹} / (‖Dφ₁‖ ‖Dφ₂‖), Pace and Burden (2017) (14),
tells: for a box it is (I/m − w²/4) / (I/m + w²/4), and only where it is positive the corner that lands first leaves
again, and the order matters. It vanishes for the height h = √2 w: each corner is then the other's centre of percussion.
With friction the cosine tells nothing: the corners share the tangential impulse, and the same box depends on the order.
"""

import numpy as np

from hybrid_contact_ros import constraint_angles
from hybrid_contact_ros.sensitivity.orders import order_outcomes
from hybrid_contact_ros.systems.rocking_block import rocking_block


def landing(height: float, friction: float = 0.0):
    """A box of width 1 m that comes down on both corners at 1 m/s."""
    return rocking_block(1.0, height, friction=friction).problem((0.0, height / 2, 0.0), (0.0, -1.0, 0.0))


def difference(height: float, friction: float = 0.0) -> float:
    """How much the velocity after the landing depends on the order, in m/s and rad/s."""
    first, second = order_outcomes(landing(height, friction), [0, 1]).orders
    return float(np.abs(first.velocity - second.velocity).max())


cosine_slender = float(constraint_angles(landing(2.0))[0, 1])
cosine_special = float(constraint_angles(landing(np.sqrt(2.0)))[0, 1])

if __name__ == "__main__":
    for height in (2.0, np.sqrt(2.0), 1.0):
        cosine = constraint_angles(landing(height))[0, 1]
        smooth, rough = difference(height), difference(height, 0.8)
        print(f"height {height:.3f} m: cosine {cosine:+.3f}, the order changes v⁺ by {smooth:.3f}, rough {rough:.3f}")
