"""Heights of the ground at any place, by the footholds of :mod:`.ground_map`.

Heights are offsets h from the configured plane, along its normal. With places x measured from the centre of the
footholds, the prior of h is a Gaussian process

    cov(h, h') = σ_b² + σ_s² x·x' + κ exp(−|x − x'|² / 2 ℓ²) + σ_f² [same foot],

a plane of uncertain height and slope, steps of the ground about it, and a constant error of each foot (radius, frame).
σ_b and σ_s are the configured ones or, where the footholds say more, as large as what they say (empirical Bayes); κ
follows the innovations of new footholds. The posterior is exact: a Cholesky factor of at most FOOTHOLDS rows.

Treads and blocks are no such process: it goes on rising beyond a riser, where the tread is level. There the foothold
that is most like a place says how high it is. Which of the two the ground is is a choice between models by how well
they foretold the last footholds (:func:`note_surprise`); the smooth one is right until something speaks against it.
"""

from __future__ import annotations

import math

from hybrid_contact_ros.kernels.algebra.dense import backward_solve, cholesky_factor, forward_solve
from hybrid_contact_ros.kernels.compiling import kernel
from hybrid_contact_ros.kernels.estimation.ground_map import (
    BASE_VARIANCE,
    FITTED_AT,
    MISSED,
    NEW,
    PLANE_VARIANCE,
    SLOPE_VARIANCE,
    STEP_VARIANCE,
    STEPPED,
    TIME,
    forget,
    square_distance,
)

_LATELY = 12.0  # footholds that this is of
_BEFORE = 4.0  # as many, which is what a height that nobody has touched counts for
_PRIOR_GROWTH = 2.0
_APART = 0.06  # m, root mean square distance of footholds from their centre, from which on they tell of a slope
_ADAPTATION = 0.3  # weight of one innovation in κ
_MOST_SURPRISE = 16.0  # squared innovations above this many variances count as this
_MOST_STEP = 0.04**2  # m², of κ
_MISS = 0.003  # m: half of what misses a height that is on the right tread, in a Cauchy density
_STEPS = 3.0  # logarithm of the odds from which on the ground has steps


@kernel
def likeness(ground, a, b):
    """In [0, 1], how alike the prior has the steps of the ground at places a and b (3,), m."""
    return math.exp(-0.5 * square_distance(a, b) / (ground.correlation_length * ground.correlation_length))


@kernel
def covariance(ground, numbers, centre, a, first, b, second):
    """Of the heights at places a and b (3,), m, of two contacts that touch the same plane."""
    along = 0.0
    for k in range(3):
        along += (a[k] - centre[k]) * (b[k] - centre[k])
    found = numbers[PLANE_VARIANCE] + numbers[SLOPE_VARIANCE] * along
    found += numbers[STEP_VARIANCE] * likeness(ground, a, b)
    if first == second:
        found += ground.foot_sigma * ground.foot_sigma
    return found


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
    """Height of the ground for contact i at ``place`` (3,), m, and its variance, m². row: (N,), scratch.

    On ground with steps the foothold that is most like this place counts as far as the prior has it alike, and the
    smooth ground for the rest.
    """
    height, variance = predict_smooth(ground, group, map, i, place, row)
    if map.map_numbers[STEPPED] > _STEPS:
        tread, apart, alike = nearest_tread(ground, group, map, i, place)
        if alike > 0.0:
            return height + alike * (tread - height), apart
    return height, variance


@kernel
def nearest_tread(ground, group, map, i, place):
    """The height of the foothold that differs least from ``place`` (3,), m, by the prior; the variance of that, m²; and
    in [0, 1] how alike they are, 0 where there is none."""
    numbers, best, least, most = map.map_numbers, -1, math.inf, 0.0
    for k in range(map.map_size[0]):
        if group[map.map_contact[k]] == group[i]:
            alike = likeness(ground, map.map_place[k], place)
            apart = 2.0 * numbers[STEP_VARIANCE] * (1.0 - alike) + map.map_variance[k]
            apart += ground.fading * ground.fading * (numbers[TIME] - map.map_seen[k])
            if map.map_contact[k] != i:
                apart += 2.0 * ground.foot_sigma * ground.foot_sigma
            if apart < least:
                best, least, most = k, apart, alike
    if best < 0:
        return 0.0, least, 0.0
    return map.map_height[best], least + 2.0 * ground.nugget * ground.nugget + numbers[BASE_VARIANCE], most


@kernel
def predict_smooth(ground, group, map, i, place, row):
    """As :func:`predict`, by the posterior of the process alone."""
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
def note_surprise(ground, group, map, i, place, height, innovation, variance, row):
    """Let κ follow how far the height of a new foothold was from what was predicted, with that variance, m²; note it
    for :func:`height_sigma`, and which of the two models had foretold it better."""
    note_miss(map, innovation)
    _note_step(ground, group, map, i, place, height, row)
    ratio = min(innovation * innovation / variance, _MOST_SURPRISE)
    found = map.map_numbers[STEP_VARIANCE] * (1.0 + _ADAPTATION * (ratio - 1.0))
    least = 0.25 * ground.step_sigma * ground.step_sigma
    map.map_numbers[STEP_VARIANCE] = min(max(found, least), max(_MOST_STEP, least))


@kernel
def _note_step(ground, group, map, i, place, height, row):
    """How much likelier a new foothold is by the one that is most like it than by the smooth ground: both densities are
    Cauchy's, for either is far off now and then; what was long ago fades."""
    smooth, _ = predict_smooth(ground, group, map, i, place, row)
    tread, _, alike = nearest_tread(ground, group, map, i, place)
    if alike > 0.0:
        better = math.log((1.0 + ((height - smooth) / _MISS) ** 2) / (1.0 + ((height - tread) / _MISS) ** 2))
        map.map_numbers[STEPPED] = (1.0 - 1.0 / _LATELY) * map.map_numbers[STEPPED] + better


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
