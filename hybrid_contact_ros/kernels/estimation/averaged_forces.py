"""The residual of the momentum observer, averaged for as long as it takes to know a force that is looked for.

The tip of an arm presses with a few newtons. Encoders that are off by milliradians make tens of newtons of noise of
every state, which is that of a momentum, differentiated: its mean over some time is known the better, the longer that
is. An arm that rests on a table does so for long enough. Feet do not: their forces are not averaged.

One low-pass leaves of a derivative white noise that falls as the inverse of its time constant; two of them, one behind
the other, leave noise that falls as its power of 1.5, from a much lower level: for what is to be known they take a
third of the time.
"""

from __future__ import annotations

import math

from hybrid_contact_ros.kernels.compiling import kernel

SPAN, ROUGH, WHITE = range(3)
"""Of ``averaging``: s, by which the average lags behind, 0 for none; mean square of the noise of single states, (m/s²)²
or (rad/s²)², negative before any is known; and N², the largest variance of a force by the noise of the last state's
efforts."""
AVERAGING = 3
AVERAGED = 3
ONCE, TWICE, BEFORE = range(AVERAGED)
"""Rows of the memory of a residual: after one low-pass, after two, and its last value before them."""
LONGEST = 0.08
"""s, of the lag."""
_RECALL = 0.1  # s, over which the noise of single states is averaged
# Of the cube of a low-pass's time constant over the time between states: the noise of states that are differences of
# white noise has three times its square, of which two low-passes leave a quarter over that cube; and 1.7 deviations of
# what is left are to be within the level.
_DIFFERENCED = 0.25
# Of the time constant itself: they leave a quarter of the variance of white noise over it, which is not alone.
_OF_WHITE = 0.4


@kernel
def average(first, level, dt, change, lever, residual, averaged, averaging):
    """Take the residual of one state, and write the average in its place.

    Args:
        first: whether there is none before. level: N, standard deviation that a force may have. dt: s.
        change: (m/s²)² or (rad/s²)², mean square of the part of the last step of ``residual`` that no contact force
            explains. lever: N/(m/s²) or N/(rad/s²), from that noise to the force.
        residual: in and out (nv,). averaged: in and out (AVERAGED, nv), of which ``BEFORE`` is not touched.
        averaging: in and out (AVERAGING,).
    """
    nv, once, twice = residual.shape[0], averaged[ONCE], averaged[TWICE]
    if first:
        averaging[SPAN], averaging[ROUGH], averaging[WHITE] = 0.0, -1.0, 0.0
        for k in range(nv):
            once[k] = residual[k]
            twice[k] = residual[k]
        return
    if not dt > 0.0:
        for k in range(nv):
            residual[k] = twice[k]
        return
    noise = 0.5 * change  # two states differ by the noise of both
    if averaging[ROUGH] < 0.0:
        averaging[ROUGH] = noise
    averaging[ROUGH] += min(1.0, dt / _RECALL) * (noise - averaging[ROUGH])
    rough = lever * lever * averaging[ROUGH] / level**2
    span = 2.0 * dt * max((_DIFFERENCED * rough) ** (1.0 / 3.0), _OF_WHITE * averaging[WHITE] / level**2)
    averaging[SPAN] = min(span, LONGEST) if span > dt else 0.0
    new = 1.0 - math.exp(-2.0 * dt / averaging[SPAN]) if averaging[SPAN] > 0.0 else 1.0
    for k in range(nv):
        once[k] += new * (residual[k] - once[k])
        twice[k] += new * (once[k] - twice[k])
        residual[k] = twice[k]


@kernel
def white_share(dt, averaging):
    """The part of the variance of white noise of single states that is left in their average."""
    return min(0.5 * max(dt, 0.0) / averaging[SPAN], 1.0) if averaging[SPAN] > 0.0 else 1.0
