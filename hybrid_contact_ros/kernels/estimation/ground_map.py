"""The map of footholds: where feet stood, when, and how high the ground was there.

Heights are offsets from the configured plane, along its normal. What they say of other places: :mod:`.ground_heights`.
"""

from __future__ import annotations

from typing import NamedTuple

from hybrid_contact_ros.kernels.compiling import kernel
from hybrid_contact_ros.kernels.estimation.records import Array, Indices

FOOTHOLDS = 24
"""That are remembered at most."""
TIME, LOADED_AT, FITTED_AT, CLOCKS_UNSUPPORTED, BASE_VARIANCE, STEP_VARIANCE, PLANE_VARIANCE, SLOPE_VARIANCE = range(8)
NEW, MISSED, SOFTNESS, STEPPED = 8, 9, 10, 11
NUMBERS = 12
"""Of ``map_numbers``: s, s, s, s, m², m², m², 1; how many new footholds there were lately, and the sum of squares (m²)
of how far they were from what was expected; on which part of them feet sank in (:mod:`.met_ground`); and the logarithm
of how much better the single footholds foretold them than the smooth ground did."""
_MERGED = 0.03  # m: a foothold takes the place of those nearer than this


class GroundSettings(NamedTuple):
    """Members of GroundConfig, with the load in N; see there."""

    learn: bool
    felt: bool  # by an arm, whose tip presses (:mod:`.felt_surface`)
    nugget: float  # m, of each foothold: feet press in and roll
    plane_sigma: float
    slope_sigma: float
    step_sigma: float
    foot_sigma: float
    correlation_length: float
    base_drift: float
    fading: float
    still_speed: float
    still_time: float
    still_time_unloaded: float
    least_load: float


class GroundMap(NamedTuple):
    """What is remembered of the ground; N = FOOTHOLDS."""

    map_place: Array  # (N, 3), m, world frame, in the plane
    map_height: Array  # (N,), m, along the normal, over the configured plane
    map_variance: Array  # (N,), m²
    map_seen: Array  # (N,), s, when a foot was there last
    map_contact: Indices  # (N,), whose
    map_size: Indices  # (1,), how many there are
    map_factor: Array  # (N, N), Cholesky factor of the heights' covariance
    map_weights: Array  # (N,), covariance⁻¹ heights
    map_centre: Array  # (3,), m
    map_fitted: Array  # (N, 3), m, the places that factor and weights are of
    map_numbers: Array  # (NUMBERS,)


@kernel
def forget(ground, map):
    """Know nothing but the configured planes."""
    map.map_size[0] = 0
    for k in range(NUMBERS):
        map.map_numbers[k] = 0.0
    map.map_numbers[STEP_VARIANCE] = ground.step_sigma * ground.step_sigma
    map.map_numbers[PLANE_VARIANCE] = ground.plane_sigma * ground.plane_sigma
    map.map_numbers[SLOPE_VARIANCE] = ground.slope_sigma * ground.slope_sigma


@kernel
def shift_all(map, step):
    """All heights seem to have moved by ``step`` m, because the base has drifted."""
    for i in range(map.map_size[0]):
        map.map_height[i] += step


@kernel
def square_distance(a, b):
    """Of two places (3,), m: m²."""
    apart = 0.0
    for k in range(3):
        apart += (a[k] - b[k]) ** 2
    return apart


@kernel
def add_foothold(group, map, entry, i, place, height, variance):
    """Remember a foothold of contact i, in place of those beside it, or of the oldest where there is no room.

    ``entry``: in and out (m,) int64, the foothold on which each contact stands now, or −1; i has the new one then,
    unless feet stand on all of them.
    """
    k = 0
    while k < map.map_size[0]:
        apart = square_distance(map.map_place[k], place)
        used = entry[map.map_contact[k]] == k
        if not used and group[map.map_contact[k]] == group[i] and apart < _MERGED * _MERGED:
            remove_foothold(map, entry, k)
        else:
            k += 1
    if map.map_size[0] == map.map_height.shape[0]:
        oldest = -1
        for k in range(map.map_size[0]):
            used = entry[map.map_contact[k]] == k
            if not used and (oldest < 0 or map.map_seen[k] < map.map_seen[oldest]):
                oldest = k
        if oldest < 0:
            return
        remove_foothold(map, entry, oldest)
    k = map.map_size[0]
    map.map_size[0] = k + 1
    map.map_contact[k] = i
    entry[i] = k
    keep_foothold(map, k, place, height, variance)


@kernel
def keep_foothold(map, k, place, height, variance):
    """Write what is known now of foothold k, on which a foot stands."""
    for c in range(3):
        map.map_place[k, c] = place[c]
    map.map_height[k] = height
    map.map_variance[k] = variance
    map.map_seen[k] = map.map_numbers[TIME]


@kernel
def remove_foothold(map, entry, k):
    """Forget foothold k; ``entry`` (m,) int64, in and out, as of :func:`add_foothold`: nothing stands on it."""
    last = map.map_size[0] - 1
    owner = map.map_contact[last]
    if entry[owner] == last:
        entry[owner] = k
    for c in range(3):
        map.map_place[k, c] = map.map_place[last, c]
    map.map_height[k] = map.map_height[last]
    map.map_variance[k] = map.map_variance[last]
    map.map_seen[k] = map.map_seen[last]
    map.map_contact[k] = owner
    map.map_size[0] = last
