"""The residual of the momentum observer, averaged for as long as it takes to know a force that is looked for.

The tip of an arm presses with a few newtons. Encoders that are off by milliradians make tens of newtons of noise of
every state, which is that of a momentum, differentiated: its mean over some time is known the better, the longer that
is. An arm that rests on a table does so for long enough. Feet do not: their forces are not averaged.
"""

from __future__ import annotations

import math

from hybrid_contact_ros.kernels.compiling import kernel

SPAN, ROUGH, WHITE = range(3)
"""Of ``averaging``: s, time constant of the average, 0 for none; mean square of the noise of single states, (m/s²)² or
(rad/s²)², negative before any is known; and N², the largest variance of a force by the noise of the last state's
efforts."""
AVERAGING = 3
LONGEST = 0.08
"""s, of the time constant."""
_RECALL = 0.1  # s, over which the noise of single states is averaged


@kernel
def average(first, level, dt, change, lever, residual, averaged, averaging):
    """Take the residual of one state, and write the average in its place.

    Noise of a derivative falls as the inverse of the time constant: that is so many states as single ones are noisier
    than they may be. White noise, as that of efforts, falls as its root.

    Args:
        first: whether there is none before. level: N, standard deviation that a force may have. dt: s.
        change: (m/s²)² or (rad/s²)², mean square of the part of the last step of ``residual`` that no contact force
            explains. lever: N/(m/s²) or N/(rad/s²), from that noise to the force.
        residual: in and out (nv,). averaged: in and out (nv,). averaging: in and out (AVERAGING,).
    """
    nv = residual.shape[0]
    if first:
        averaging[SPAN], averaging[ROUGH], averaging[WHITE] = 0.0, -1.0, 0.0
        for k in range(nv):
            averaged[k] = residual[k]
        return
    if not dt > 0.0:
        for k in range(nv):
            residual[k] = averaged[k]
        return
    noise = 0.5 * change  # two states differ by the noise of both
    if averaging[ROUGH] < 0.0:
        averaging[ROUGH] = noise
    averaging[ROUGH] += min(1.0, dt / _RECALL) * (noise - averaging[ROUGH])
    span = dt * max(lever * math.sqrt(averaging[ROUGH]) / level, 0.5 * averaging[WHITE] / level**2)
    averaging[SPAN] = min(span, LONGEST) if span > dt else 0.0
    new = 1.0 - math.exp(-dt / averaging[SPAN]) if averaging[SPAN] > 0.0 else 1.0
    for k in range(nv):
        averaged[k] += new * (residual[k] - averaged[k])
        residual[k] = averaged[k]


@kernel
def white_share(dt, averaging):
    """The part of the variance of white noise of single states that is left in their average."""
    return min(0.5 * max(dt, 0.0) / averaging[SPAN], 1.0) if averaging[SPAN] > 0.0 else 1.0
