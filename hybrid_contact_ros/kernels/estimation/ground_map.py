"""The map of footholds: where feet stood, how high the ground was there, and what that says of other places.

Heights are offsets h from the configured plane, along its normal. With places x measured from the centre of the
footholds, the prior of h is a Gaussian process

    cov(h, h') = σ_b² + σ_s² x·x' + κ exp(−|x − x'|² / 2 ℓ²) + σ_f² [same foot],

a plane of uncertain height and slope, steps of the ground about it, and a constant error of each foot (radius, frame).
σ_b and σ_s are the configured ones or, where the footholds say more, as large as what they say (empirical Bayes); κ
follows the innovations of new footholds. The posterior is exact: a Cholesky factor of at most FOOTHOLDS rows.
"""

from __future__ import annotations

import math
from typing import NamedTuple

from hybrid_contact_ros.kernels.algebra.dense import backward_solve, cholesky_factor, forward_solve
from hybrid_contact_ros.kernels.compiling import kernel
from hybrid_contact_ros.kernels.estimation.records import Array, Indices

FOOTHOLDS = 24
"""That are remembered at most."""
TIME, LOADED_AT, FITTED_AT, CLOCKS_UNSUPPORTED, BASE_VARIANCE, STEP_VARIANCE, PLANE_VARIANCE, SLOPE_VARIANCE = range(8)
NEW, MISSED, SOFTNESS = 8, 9, 10
NUMBERS = 11
"""Of ``map_numbers``: s, s, s, s, m², m², m², 1; how many new footholds there were lately, and the sum of squares (m²)
of how far they were from what was expected; and on which part of them feet sank in (:mod:`.met_ground`)."""
_LATELY = 12.0  # footholds that this is of
_BEFORE = 4.0  # as many, which is what a height that nobody has touched counts for
_MERGED = 0.03  # m: a foothold takes the place of those nearer than this
_PRIOR_GROWTH = 2.0
_APART = 0.06  # m, root mean square distance of footholds from their centre, from which on they tell of a slope
_ADAPTATION = 0.3  # weight of one innovation in κ
_MOST_SURPRISE = 16.0  # squared innovations above this many variances count as this
_MOST_STEP = 0.04**2  # m², of κ


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
def covariance(ground, numbers, centre, a, first, b, second):
    """Of the heights at places a and b (3,), m, of two contacts that touch the same plane."""
    across, along = 0.0, 0.0
    for k in range(3):
        along += (a[k] - centre[k]) * (b[k] - centre[k])
        across += (a[k] - b[k]) ** 2
    found = numbers[PLANE_VARIANCE] + numbers[SLOPE_VARIANCE] * along
    found += numbers[STEP_VARIANCE] * math.exp(-0.5 * across / (ground.correlation_length * ground.correlation_length))
    if first == second:
        found += ground.foot_sigma * ground.foot_sigma
    return found


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
def fit(ground, group, map):
    """Let the variances of plane and slope follow the footholds, and factor the covariance of these."""
    n, numbers, centre = map.map_size[0], map.map_numbers, map.map_centre
    numbers[FITTED_AT] = numbers[TIME]
    if n == 0:
        return
    for k in range(3):
        centre[k] = 0.0
        for i in range(n):
            centre[k] += map.map_place[i, k] / n
    if not _weigh(ground, group, map):
        return
    level, apart, steep = 0.0, 0.0, 0.0
    for k in range(3):
        along = 0.0
        for i in range(n):
            off = map.map_place[i, k] - centre[k]
            along += map.map_weights[i] * off
            apart += off * off / n
        steep += (numbers[SLOPE_VARIANCE] * along) ** 2
    for i in range(n):
        level += map.map_weights[i]
    level *= numbers[PLANE_VARIANCE]
    if apart < _APART * _APART:  # heights of one foot that slips or bounces tell of no slope
        steep = 0.0
    numbers[PLANE_VARIANCE] = max(ground.plane_sigma * ground.plane_sigma, _PRIOR_GROWTH * level * level)
    numbers[SLOPE_VARIANCE] = max(ground.slope_sigma * ground.slope_sigma, _PRIOR_GROWTH * steep)
    _weigh(ground, group, map)  # weights of other variances would not go with what is predicted by these


@kernel
def _weigh(ground, group, map):
    """Factor the covariance of the footholds, and weigh their heights by its inverse; whether that could be done."""
    n, numbers = map.map_size[0], map.map_numbers
    for i in range(n):
        for j in range(i + 1):
            map.map_factor[i, j] = 0.0
            if group[map.map_contact[i]] == group[map.map_contact[j]]:
                map.map_factor[i, j] = covariance(
                    ground, numbers, map.map_centre, map.map_place[i], map.map_contact[i], map.map_place[j],
                    map.map_contact[j],
                )  # fmt: skip
        age = numbers[TIME] - map.map_seen[i]
        map.map_factor[i, i] += (
            map.map_variance[i] + ground.nugget * ground.nugget + ground.fading * ground.fading * age
        )
        map.map_weights[i] = map.map_height[i]
        for k in range(3):
            map.map_fitted[i, k] = map.map_place[i, k]
    if cholesky_factor(n, 0.0, map.map_factor, map.map_factor) < n:  # cannot be, but for heights that are no numbers
        forget(ground, map)
        return False
    forward_solve(n, map.map_factor, map.map_weights)
    backward_solve(n, map.map_factor, map.map_weights)
    return True


@kernel
def predict(ground, group, map, i, place, row):
    """Height of the ground for contact i at ``place`` (3,), m, and its variance, m². row: (N,), scratch."""
    n, numbers, centre = map.map_size[0], map.map_numbers, map.map_centre
    if n == 0:
        variance = numbers[PLANE_VARIANCE] + numbers[STEP_VARIANCE] + ground.foot_sigma * ground.foot_sigma
        return 0.0, variance + numbers[BASE_VARIANCE]
    height, variance = 0.0, covariance(ground, numbers, centre, place, i, place, i)
    for k in range(n):
        row[k] = 0.0
        if group[map.map_contact[k]] == group[i]:
            row[k] = covariance(ground, numbers, centre, place, i, map.map_fitted[k], map.map_contact[k])
        height += row[k] * map.map_weights[k]
    forward_solve(n, map.map_factor, row)
    for k in range(n):
        variance -= row[k] * row[k]
    return height, max(variance, 0.0) + ground.nugget * ground.nugget + numbers[BASE_VARIANCE]


@kernel
def note_surprise(ground, map, innovation, variance):
    """Let κ follow how far the height of a new foothold was from what was predicted, with that variance, m²; and note
    it for :func:`height_sigma`."""
    note_miss(map, innovation)
    ratio = min(innovation * innovation / variance, _MOST_SURPRISE)
    found = map.map_numbers[STEP_VARIANCE] * (1.0 + _ADAPTATION * (ratio - 1.0))
    least = 0.25 * ground.step_sigma * ground.step_sigma
    map.map_numbers[STEP_VARIANCE] = min(max(found, least), max(_MOST_STEP, least))


@kernel
def note_miss(map, innovation):
    """Note how far a new foothold was from what was predicted, m."""
    numbers = map.map_numbers
    keep = min(1.0, (_LATELY - 1.0) / max(numbers[NEW], 1.0))
    numbers[NEW] = keep * numbers[NEW] + 1.0
    numbers[MISSED] = keep * numbers[MISSED] + innovation * innovation


@kernel
def height_sigma(numbers, before):
    """The standard deviation (m) of the surface's height at a contact, which is ``before`` on ground that nobody has
    touched: the root mean square of that, four times, and of what the last footholds missed; never more than that."""
    square = (_BEFORE * before * before + numbers[MISSED]) / (_BEFORE + numbers[NEW])
    return min(math.sqrt(square), before)


@kernel
def shift_all(map, step):
    """All heights seem to have moved by ``step`` m, because the base has drifted."""
    for i in range(map.map_size[0]):
        map.map_height[i] += step


@kernel
def add_foothold(group, map, entry, i, place, height, variance):
    """Remember a foothold of contact i, in place of those beside it, or of the oldest where there is no room.

    ``entry``: in and out (m,) int64, the foothold on which each contact stands now, or −1; i has the new one then,
    unless feet stand on all of them.
    """
    k = 0
    while k < map.map_size[0]:
        apart = 0.0
        for c in range(3):
            apart += (map.map_place[k, c] - place[c]) ** 2
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
