"""How noisy the rates of gaps are, learned from the rates themselves: for contacts whose forces nothing is known of.

The third difference of a smooth motion over some milliseconds is near zero, that of noise is not, as in
``estimation/velocity_noise.py``; here it is taken of each contact's φ̇, whatever the noise comes from (encoders, springs
that ring, a slow base), and its spread is followed by steps of its logarithm instead of a median over many states.
"""

from __future__ import annotations

import math
from typing import NamedTuple

from hybrid_contact_ros.kernels.compiling import kernel
from hybrid_contact_ros.kernels.estimation.difference_noise import third_difference
from hybrid_contact_ros.kernels.estimation.momentum_observer import LONGEST_PAUSE
from hybrid_contact_ros.kernels.estimation.records import Array, Indices

KEPT = 64
"""States that are remembered."""
_APART = 0.004  # s, between the states of a difference
_SMOOTH = 0.05  # s: over a longer time the motion of a foot is not smooth, and its differences are no noise
_QUARTILE = 1.1503  # Three quarters of |x| are below this, x of variance 1.
_UP, _DOWN = 0.3, 0.1  # steps of the logarithm, up for one of four states and down for three
_FLOOR, _CEILING = 1e-3, 1.0  # m/s
_EXPECTED = 3.0  # Only noise above this many configured deviations is noise that these do not know.
_SIGMAS = 3.0  # deviations of a rate that speaks for nothing


class RateNoise(NamedTuple):
    """What is remembered; m contacts."""

    noise_rates: Array  # (KEPT, m), m/s
    noise_times: Array  # (KEPT,), s
    noise_count: Indices  # (2,), states since the beginning, and the place of the next
    noise_sigma: Array  # (m,), m/s


@kernel
def learn_rate_noise(dt, rate, memory):
    """Take the rates (m,) of one state; a second state of the same time changes nothing, and a pause starts anew."""
    m, count = rate.shape[0], memory.noise_count
    if dt <= 0.0 and count[0] > 0:
        return
    if dt > LONGEST_PAUSE:
        count[0] = 0
    here = count[1]
    memory.noise_times[here] = 0.0 if count[0] == 0 else memory.noise_times[(here - 1) % KEPT] + dt
    for i in range(m):
        memory.noise_rates[here, i] = rate[i]
    count[1] = (here + 1) % KEPT
    count[0] = min(count[0] + 1, KEPT)
    step = min(max(round(_APART / dt), 1), (KEPT - 1) // 3) if dt > 0.0 else KEPT
    if count[0] <= 3 * step:
        return
    a, b, c = (here - step) % KEPT, (here - 2 * step) % KEPT, (here - 3 * step) % KEPT
    t0, ta, tb, tc = memory.noise_times[here], memory.noise_times[a], memory.noise_times[b], memory.noise_times[c]
    if t0 - tc > _SMOOTH:
        return
    w0, wa, wb, wc, size = third_difference(t0, ta, tb, tc)
    for i in range(m):
        x = w0 * rate[i] + wa * memory.noise_rates[a, i] + wb * memory.noise_rates[b, i] + wc * memory.noise_rates[c, i]
        up = abs(x) > _QUARTILE * size * memory.noise_sigma[i]
        changed = memory.noise_sigma[i] * math.exp(_UP if up else -_DOWN)
        memory.noise_sigma[i] = min(max(changed, _FLOOR), _CEILING)


@kernel
def tolerate_rate_noise(weight, memory, tolerances, sigmas):
    """Widen the tolerances and standard deviations (m,), m/s, of rates by noise that is far above what is configured,
    as far as forces have no ``weight`` (m,): where they have, they tell what rates do not."""
    for i in range(tolerances.shape[0]):
        noise = (1.0 - weight[i]) * (memory.noise_sigma[i] - _EXPECTED * sigmas[i])
        if noise > 0.0:
            tolerances[i] += _SIGMAS * noise
            sigmas[i] = math.sqrt(sigmas[i] * sigmas[i] + noise * noise)
