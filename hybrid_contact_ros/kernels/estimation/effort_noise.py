"""How noisy measured efforts are, from state to state, learned from the efforts themselves.

Currents of motors have noise that no motion has: it is in the forces that efforts say, and most of all in those of a
foot that bears little. Third differences of efforts tell it, as in :mod:`.rate_noise`. Impacts and steps of a
controller are in some of these differences, noise is in all of them: it is the least quarter that is followed.
"""

from __future__ import annotations

import math
from typing import NamedTuple

from hybrid_contact_ros.kernels.compiling import kernel
from hybrid_contact_ros.kernels.estimation.difference_noise import third_difference
from hybrid_contact_ros.kernels.estimation.records import Array, Indices

BEFORE = 3
"""States that are remembered."""
_LONGEST = 0.05  # s, from the first state of a difference to the last: efforts are not smooth over longer times
_QUARTILE = 0.3186  # A quarter of |x| is below this, x of variance 1.
_UP, _DOWN = 0.03, 0.09  # steps of the logarithm, up for three of four states and down for one
_LEAST = 1e-9  # N m (N), and of a load


class EffortNoise(NamedTuple):
    """What is remembered."""

    jitter_efforts: Array  # (BEFORE, nv), N m (N), of the last states, the latest first
    jitter_ages: Array  # (BEFORE,), s since these
    jitter_count: Indices  # (1,), how many there are
    jitter_sigma: Array  # (nv,), N m (N), standard deviation of the noise; 0 where nothing is known


@kernel
def follow_noise(sigma, x):
    """The standard deviation of a noise, after |x| of the same variance was seen: a step up or down."""
    return max(sigma * math.exp(_UP if x > _QUARTILE * sigma else -_DOWN), _LEAST)


@kernel
def learn_effort_noise(dt, effort, memory):
    """Take the efforts (nv,) of one state, with what was added to them, which has noise as well; a second state of the
    same time changes nothing, and a pause starts anew."""
    count, ages, before, sigma = memory.jitter_count, memory.jitter_ages, memory.jitter_efforts, memory.jitter_sigma
    if dt <= 0.0 and count[0] > 0:
        return
    for a in range(BEFORE):
        ages[a] += dt
    if count[0] > 0 and not ages[min(count[0], BEFORE) - 1] <= _LONGEST:
        count[0] = 0
    if count[0] == BEFORE:
        w, wa, wb, wc, size = third_difference(0.0, -ages[0], -ages[1], -ages[2])
        for k in range(effort.shape[0]):
            x = abs(w * effort[k] + wa * before[0, k] + wb * before[1, k] + wc * before[2, k]) / size
            sigma[k] = follow_noise(sigma[k], x) if sigma[k] > 0.0 else max(x, _LEAST)
    for a in range(BEFORE - 1, 0, -1):
        ages[a] = ages[a - 1]
        for k in range(effort.shape[0]):
            before[a, k] = before[a - 1, k]
    ages[0] = 0.0
    for k in range(effort.shape[0]):
        before[0, k] = effort[k]
    count[0] = min(count[0] + 1, BEFORE)
