"""Lines through the rates of open contacts' gaps (``follow_line``): what is left of a rate without its noise, and how
it changes, where efforts do not say so; and the gaps, low-passed along their rates."""

from __future__ import annotations

import math

from hybrid_contact_ros.kernels.compiling import kernel
from hybrid_contact_ros.kernels.estimation.event_times import LINE_TIME_CONSTANT, SETTLED, follow_line

NOISE_LEFT = 0.4
"""Part of a rate's noise that its line has."""
_SHOWN = 4.0  # time constants, after which a line has nine tenths of a slope
_GAP_TIME = 0.008  # s, of the low-pass of a gap
_JUMPS = 5.0  # deviations of a gap, by which it is another one
COLUMNS = 5
"""Of a line: value, rate and age, as of ``follow_line``; the low-passed gap, m; and the last rate, m/s."""
GAP, RATE = 3, 4
# Part of a rate's deviation that its noise is at least, and deviations within which a rate differs from its line by it.
_NOISY, _SIGMAS = 0.5, 3.0


@kernel
def follow_rates(dt, closed, gap, gap_sigmas, rate, lines):
    """Take the gaps (m,), m, with their deviations, and the rates (m,), m/s, of one state; closed contacts have none.
    lines: in and out (m, COLUMNS)."""
    for i in range(rate.shape[0]):
        if closed[i]:
            lines[i, 2] = -1.0
            continue
        expected = lines[i, GAP] + 0.5 * max(dt, 0.0) * (lines[i, RATE] + rate[i])
        new = 1.0 - math.exp(-max(dt, 0.0) / _GAP_TIME)
        if lines[i, 2] < 0.0 or abs(gap[i] - expected) > _JUMPS * gap_sigmas[i]:
            new = 1.0
        lines[i, GAP] = expected + new * (gap[i] - expected)
        lines[i, RATE] = rate[i]
        follow_line(dt, LINE_TIME_CONSTANT, rate[i], lines[i])


@kernel
def is_followed(line):
    """Whether the line's rate may be used."""
    return line[2] > SETTLED * LINE_TIME_CONSTANT


@kernel
def shows_slope(line):
    """Whether the line's slope may be used."""
    return line[2] > _SHOWN * LINE_TIME_CONSTANT


@kernel
def without_noise(noise, sigmas, rate, lines, out):
    """Write the rates, m/s, of lines where rates are noisy, as far as the two differ by noise, and else the rates.

    Args: noise: (m,), m/s, of the rates, as it was measured. sigmas: (m,), m/s, deviations of the rates. rate: (m,).
        lines: (m, COLUMNS). out: (≥ m,).
    """
    for i in range(rate.shape[0]):
        noisy = noise[i] > _NOISY * sigmas[i] and is_followed(lines[i])
        out[i] = lines[i, 0] if noisy and abs(rate[i] - lines[i, 0]) < _SIGMAS * sigmas[i] else rate[i]


@kernel
def smooth_gaps(closed, gap, lines, out):
    """Write the gaps, m, low-passed along their rates, of open contacts, and else the gaps (m,). out: (≥ m,)."""
    for i in range(gap.shape[0]):
        out[i] = gap[i] if closed[i] else lines[i, GAP]
