"""Joint velocities that are later than the positions of their joints, and what these positions tell of them.

Drivers and state estimators low-pass velocities, or make them of positions, over 5 to 50 ms. A foot that an impact has
stopped then seems to fall on, and one that leaves to stand. The positions are not late: what they moved by, less the
integral of the velocity, D = q − ∫ v dt, is constant where the velocity is right, and τ v + constant where it is what
a low-pass of one pole with the time constant τ leaves; of other filters τ is how late they are. Least squares of D on
v, both without what is slower than some 20 ms, give τ.

Its remedy knows nothing of the filter: the slope of D over the last milliseconds is what v misses, as it was on average
half that time ago. A longer window has less of the noise of the positions, a shorter one is less late. The one is
learned from second differences of D, the other follows from how much joints accelerate, and the window with the
least sum of both is taken, where it is better than the velocity as it is.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from hybrid_contact_ros.kernels.compiling import kernel
from hybrid_contact_ros.kernels.estimation.records import Array, Indices
from hybrid_contact_ros.kernels.given import members

KEPT = 64
"""States whose D is remembered."""
STAMP, FILLED, PLACE = range(3)
"""Entries of ``counts``: ns, of the last state; how many D there are, and where the last one is."""
OVER, NEXT, STEP = range(3)
"""Entries of ``seconds``, s: that the sums are over, until windows are chosen again, and of the last step."""
CROSS, SQUARE, LEFT, NOISE = range(4)
"""Columns of ``sums``: of D v, v² and D² over time, both high-passed; and the variance of positions, rad² (m²)."""
_PAUSE = 0.03  # s between states, beyond which nobody knows the integral of the velocity
_SMOOTH = 0.02  # s, of the high-pass
_RECALL = 20.0  # s, over which a lag is learned
_NOISE_TIME = 1.0  # s, over which the noise of positions is
_EVEN = 0.2  # part by which two steps may differ for a second difference
_SECOND = 6.0  # variance of a second difference of noise of variance 1
_EVERY = 0.05  # s, between choices of the windows
_SEEN = 0.3  # s of motion before any is chosen
_CORRELATED = 0.05  # s, over which what a lag does not explain keeps its sign
_SURE, _MOSTLY = 4.0, 0.5  # deviations of a lag; share of what is left, in squares, that it explains
_WORTH = 0.5  # of the squares that a lag costs, which its remedy must spare before it is begun
_LINE = 12.0  # n³ times the variance of the slope through n points, by the square of their distance in time
_LEAST, _MOST = 3, 0.04  # points, s, of a window
_TURN = 2.0 * math.pi


class LateRates(NamedTuple):
    """What is remembered of n joints; rad and s, or m and s."""

    counts: Indices  # (3,)
    stamps: Indices  # (KEPT,), ns
    rest: Array  # (KEPT, n), D
    position: Array  # (n,), of the last state
    rate: Array  # (n,)
    slow: Array  # (2, n), low-passed D and v
    change: Array  # (n,), what D changed by in the last step, of which second differences are made
    sums: Array  # (n, 4)
    seconds: Array  # (3,)
    window: Array  # (n,), s, 0 where the velocity is taken as it is


@kernel
def prompt_rates(stamp, position, rate, memory, out):
    """Write the velocities of a state, the next in time, as prompt as they can be told: out (n,). Remembers nothing.

    Args:
        stamp: ns. position, rate: (n,), as they were measured.

    Returns:
        Whether any is another one than was measured.
    """
    changed = False
    step = 1e-9 * (stamp - memory.counts[STAMP])
    usable = memory.counts[FILLED] > 0 and 0.0 < step <= _PAUSE
    for i in range(rate.shape[0]):
        out[i] = rate[i]
        if usable and memory.window[i] > 0.0:
            missed = _slope(i, stamp, _rest(i, step, position, rate, memory), memory)
            if math.isfinite(missed):  # else it is refused, for what was measured
                out[i] += missed
                changed = True
    return changed


@kernel
def prompt_rates_given(given, stamp, position, rate, out):
    """:func:`prompt_rates`; ``given`` holds the memory."""
    return prompt_rates(stamp, position, rate, LateRates(*members(given)), out)


@kernel
def note_rates(stamp, position, rate, memory):
    """Remember a state that was not refused; one of an earlier or the same stamp as the last, or after a pause, begins
    a new integral."""
    n, count = rate.shape[0], memory.counts
    step = 1e-9 * (stamp - count[STAMP])
    if count[FILLED] and step == 0.0:
        return
    begins = count[FILLED] == 0 or not 0.0 < step <= _PAUSE
    place = 0 if begins else (count[PLACE] + 1) % KEPT
    for i in range(n):
        now = 0.0 if begins else _rest(i, step, position, rate, memory)
        if begins:
            memory.slow[0, i], memory.slow[1, i] = now, rate[i]
        else:
            _learn(i, step, now, rate[i], memory)
        memory.rest[place, i] = now
        memory.position[i], memory.rate[i] = position[i], rate[i]
    memory.stamps[place] = stamp
    count[STAMP], count[PLACE] = stamp, place
    count[FILLED] = 1 if begins else min(count[FILLED] + 1, KEPT)
    memory.seconds[STEP] = 0.0 if begins else step
    if begins:
        return
    memory.seconds[OVER] = math.exp(-step / _RECALL) * memory.seconds[OVER] + step
    memory.seconds[NEXT] -= step
    if memory.seconds[NEXT] <= 0.0:
        memory.seconds[NEXT] = _EVERY
        for i in range(n):
            memory.window[i] = _chosen(i, step, memory)


@kernel
def note_rates_given(given, stamp, position, rate):
    """:func:`note_rates`; ``given`` holds the memory."""
    note_rates(stamp, position, rate, LateRates(*members(given)))


@kernel
def lag_of(sums, seconds):
    """How late the velocity of a joint is, its standard deviation (both s), and the share of what is left, in squares,
    that it explains. sums: (4,)."""
    if not (sums[SQUARE] > 0.0 and sums[LEFT] > 0.0 and seconds > 0.0):
        return 0.0, math.inf, 0.0
    late = sums[CROSS] / sums[SQUARE]
    rest = max(sums[LEFT] - late * sums[CROSS], 0.0)
    return late, math.sqrt(rest / seconds * _CORRELATED / sums[SQUARE]), 1.0 - rest / sums[LEFT]


@kernel
def _rest(i, step, position, rate, memory):
    """D of joint i, ``step`` s after the last state."""
    moved = position[i] - memory.position[i]
    moved -= _TURN * math.floor(moved / _TURN + 0.5)  # no joint turns by half a turn, or moves by 3 m, in a state
    return memory.rest[memory.counts[PLACE], i] + moved - 0.5 * step * (memory.rate[i] + rate[i])


@kernel
def _slope(i, stamp, now, memory):
    """The slope of D of joint i over its window, up to ``now``, that of this state; 0 where too few are known."""
    # Sums about this state, whose time and D are zero.
    t, tt, d, td, points = 0.0, 0.0, 0.0, 0.0, 1
    for back in range(memory.counts[FILLED]):
        place = (memory.counts[PLACE] - back) % KEPT
        age = 1e-9 * (stamp - memory.stamps[place])
        if age > _MOST or (age > memory.window[i] and points >= _LEAST):
            break
        off = memory.rest[place, i] - now
        t, tt, d, td, points = t - age, tt + age * age, d + off, td - age * off, points + 1
    if points < _LEAST:
        return 0.0
    return (td - t * d / points) / (tt - t * t / points)


@kernel
def _learn(i, step, now, rate, memory):
    """Add one state to what is known of joint i."""
    share = 1.0 - math.exp(-step / _SMOOTH)
    memory.slow[0, i] += share * (now - memory.slow[0, i])
    memory.slow[1, i] += share * (rate - memory.slow[1, i])
    x, y, keep, sums = now - memory.slow[0, i], rate - memory.slow[1, i], math.exp(-step / _RECALL), memory.sums[i]
    sums[CROSS] = keep * sums[CROSS] + step * x * y
    sums[SQUARE] = keep * sums[SQUARE] + step * y * y
    sums[LEFT] = keep * sums[LEFT] + step * x * x
    change = now - memory.rest[memory.counts[PLACE], i]
    if abs(step - memory.seconds[STEP]) < _EVEN * step:
        bend = change - memory.change[i]
        sums[NOISE] += (1.0 - math.exp(-step / _NOISE_TIME)) * (bend * bend / _SECOND - sums[NOISE])
    memory.change[i] = change


@kernel
def _chosen(i, step, memory):
    """The window of joint i, 0 where its velocity is best taken as it is.

    A slope over w is late by w/2 and has the variance 12 σ² dt/w³ of noise σ of the positions; with the mean square A²
    of the joint's acceleration their sum A² w²/4 + 12 σ² dt/w³ is least at w⁵ = 72 σ² dt/A².
    """
    sums, seconds = memory.sums[i], memory.seconds[OVER]
    late, sigma, explained = lag_of(sums, seconds)
    if seconds < _SEEN or late <= _SURE * sigma or explained < _MOSTLY:
        return 0.0
    square = sums[SQUARE] / seconds / (_SMOOTH * _SMOOTH)
    noise = _LINE * sums[NOISE] * step
    window = min(max((6.0 * noise / square) ** 0.2, (_LEAST - 1) * step), _MOST)
    costs = 0.25 * square * window * window + noise / window**3
    worth = 1.0 if memory.window[i] > 0.0 else _WORTH
    return window if costs < worth * late * late * square else 0.0


def late_rates(n: int) -> LateRates:
    """Nothing is known of n joints."""
    return LateRates(
        counts=np.zeros(3, np.int64), stamps=np.zeros(KEPT, np.int64), rest=np.zeros((KEPT, n)), position=np.zeros(n),
        rate=np.zeros(n), slow=np.zeros((2, n)), change=np.zeros(n), sums=np.zeros((n, 4)), seconds=np.zeros(3),
        window=np.zeros(n),
    )  # fmt: skip
