"""The ground where a foot has stood: it is where it was, and no rougher than it was felt to be.

How high the surface is at a place that nobody has stepped on is known to some millimetres. A foot that is lifted slowly
is over the place where it stood, and its height over that is known to a millimetre. But soft ground follows a foot that
leaves it, by what it gave way.
"""

from __future__ import annotations

import math

from hybrid_contact_ros.kernels.compiling import kernel
from hybrid_contact_ros.kernels.estimation.ground_map import square_distance
from hybrid_contact_ros.kernels.estimation.unrest import DOWN, UP

_OWN = 0.02  # m: ground that is so near to where a foot stood is as high as there
_GIVES = 0.1  # s, in which ground gives way at the speed that feet on it have


@kernel
def roughness(i, place, map_contact, map_place, map_size):
    """How much of the surface's deviation there is at ``place`` (3,), m: from none, where contact i itself stood, to
    all of it, some centimetres away. map_contact, map_place, map_size: of GroundMap."""
    nearest = math.inf
    for k in range(map_size[0]):
        if map_contact[k] == i:
            nearest = min(nearest, square_distance(map_place[k], place))
    return math.sqrt(1.0 - math.exp(-0.5 * nearest / (_OWN * _OWN)))


@kernel
def known_surfaces(sigma, map_contact, map_place, map_size, under, unrest, noise, surfaces):
    """Write how far (m,), m, the surface under each contact may be from where the map expects it: at most ``sigma``.

    Args:
        sigma: m, of a place that nobody has stepped on. under: (m, 3), m, of GroundScratch. unrest: (m, 4), of
            :mod:`.unrest`. noise: (m,), m/s, of the rates of gaps, which are unrest as well.
    """
    for i in range(surfaces.shape[0]):
        square = 2.0 * min(unrest[i, UP], unrest[i, DOWN]) - noise[i] * noise[i]
        gives = _GIVES * math.sqrt(max(square, 0.0))
        rough = sigma * roughness(i, under[i], map_contact, map_place, map_size)
        surfaces[i] = min(math.hypot(rough, gives), sigma)
