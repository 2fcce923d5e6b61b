"""Lines through the rates of open contacts' gaps (``follow_line``): what is left of a rate without its noise, and how
it changes, where efforts do not say so."""

from __future__ import annotations

from hybrid_contact_ros.kernels.compiling import kernel
from hybrid_contact_ros.kernels.estimation.event_times import LINE_TIME_CONSTANT, SETTLED, follow_line

NOISE_LEFT = 0.4
"""Part of a rate's noise that its line has."""
_SHOWN = 4.0  # time constants, after which a line has nine tenths of a slope
# Part of a rate's deviation that its noise is at least, and deviations within which a rate differs from its line by it.
_NOISY, _SIGMAS = 0.5, 3.0


@kernel
def follow_rates(dt, closed, rate, lines):
    """Take the rates (m,), m/s, of one state; closed contacts have none. lines: in and out (m, 3)."""
    for i in range(rate.shape[0]):
        if closed[i]:
            lines[i, 2] = -1.0
        else:
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
        lines: (m, 3). out: (≥ m,).
    """
    for i in range(rate.shape[0]):
        noisy = noise[i] > _NOISY * sigmas[i] and is_followed(lines[i])
        out[i] = lines[i, 0] if noisy and abs(rate[i] - lines[i, 0]) < _SIGMAS * sigmas[i] else rate[i]
