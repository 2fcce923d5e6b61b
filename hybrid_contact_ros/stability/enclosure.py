"""A box that a chatter never leaves, and what follows for its end: Or, Lemmas 1 to 3 with boxes in place of balls."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from hybrid_contact_ros.stability.inclusion import Bounces, bounces
from hybrid_contact_ros.stability.intervals import Interval
from hybrid_contact_ros.stability.ranges import Bouncing, RangeFinder, Ranges

Array = NDArray[np.float64]

_ROUNDS = 12  # in which the box may grow
_TIGHTENINGS = 1  # rounds in which it shrinks again
_TINY = 1e-13  # relative half-width of the box of a state, which may not be a point: nothing lies strictly inside one


@dataclass(frozen=True, slots=True, eq=False)
class Enclosure:
    """Everything that all executions from one state have in common, until the chatter is over.

    Attributes:
        box: (2n,) of (q, v), which contains the execution. limit: (2n,), which contains the Zeno point.
        bounces: bounds of times and speeds. a_min, a_max: bounds of −φ̈ in the box, m/s².
    """

    box: Interval
    limit: Interval
    bounces: Bounces
    a_min: float
    a_max: float


@np.errstate(all="ignore")  # what overflows is infinite or not a number, and bounds nothing
def enclose(
    find: RangeFinder,
    q: Array,
    v: Array,
    height: float,
    speed: float,
    restitution: float,
    guess: Bouncing,
) -> Enclosure | str:
    """Find the :class:`Enclosure` of all executions from a state, or say why there is none.

    As in the proof of Lemma 2 of Or: as long as an execution is in a box, its bounds there hold, and with these it has
    not gone far enough to leave. The box grows from a first guess until its bounds keep executions strictly inside, and
    then shrinks to what they reach. The Zeno point's velocity is the sum of all impacts and of the flight:

        v∞ = v − D̄ φ̇ + ∫ (v̇ − D̄ φ̈) dt + Σ (D_i − D̄) Δφ̇_i,

    since φ̇ ends at 0. The first two terms are the plastic impact, the third slides along the constraint, and the
    last is of second order, whereas Or (15) adds up |D| Δφ̇ and |v̇| T with one sign. The same goes for q, the integral.

    Args:
        find: ranges over boxes. q, v: (n,) the state, with φ = ``height`` ≥ 0 (m) and φ̇ = ``speed`` (m/s).
        restitution: e. guess: φ̈, D and v̇ at the state.
    """
    if not guess.acceleration < 0.0:
        return f"the released contact does not return: φ̈ = {guess.acceleration:.3g} m/s² ≥ 0"
    ball = bounces(height, speed, restitution, -guess.acceleration, -guess.acceleration)
    if ball is None:
        return "bounces with e = 1 do not die out"
    x = np.concatenate([q, v])
    start = Interval.of(x).widened(_TINY * (1.0 + np.abs(x)))
    reach = _reach(start, Ranges.at(guess), ball, height, speed)
    for _ in range(_ROUNDS):
        box = _grown(reach, x)
        bounded = _bounds(find(box), height, speed, restitution)
        if isinstance(bounded, str):
            return bounded
        ranges, ball = bounded
        reach = _reach(start, ranges, ball, height, speed)
        if reach.inside(box):
            break
    else:
        return "no box keeps the chatter inside: it is too fast for how quickly φ̈ and the impacts change with the state"
    for _ in range(_TIGHTENINGS):
        tighter = _bounds(find(reach), height, speed, restitution)
        if isinstance(tighter, str):  # ranges of a smaller box are not larger; sampled ones may be
            break
        ranges, ball = tighter
        reach = _reach(start, ranges, ball, height, speed)
    acceleration = ranges.gap_acceleration
    limit = _limit(start, ranges, ball, height, speed, reach)
    return Enclosure(reach, limit, ball, -float(acceleration.hi), -float(acceleration.lo))


def _bounds(ranges: Ranges | None, height: float, speed: float, restitution: float) -> tuple[Ranges, Bounces] | str:
    """Check a box: Or (6), and that no other contact interferes."""
    if ranges is None:
        return "where the chatter may go the inertia may be singular, or held contacts leave no way to move"
    a_min, a_max = -float(ranges.gap_acceleration.hi), -float(ranges.gap_acceleration.lo)
    ball = bounces(height, speed, restitution, a_min, a_max)
    if ball is None:
        return (
            f"where the chatter may go φ̈ is only known to be in [{-a_max:.3g}, {-a_min:.3g}] m/s²; it must be negative "
            f"with e² below the ratio of its ends (Or (6))"
        )
    if not ranges.others > 0.0:
        return "another contact may close before the chatter is over"
    if not ranges.held > 0.0:
        return "a held contact may open: its force or its share of an impact may vanish"
    return ranges, ball


def _reach(start: Interval, ranges: Ranges, ball: Bounces, height: float, speed: float) -> Interval:
    """Where an execution may get in a box with these ranges, from now until the chatter is over."""
    time, impulse = Interval.of(0.0, ball.zeno_time[1]), Interval.of(0.0, ball.impulse[1])
    gap, rate = Interval.of(0.0, ball.peak), Interval.of(-ball.impact_speed[1], ball.rise)
    fine = _moved(start, ranges, time, impulse, gap - height, rate - speed, speed)
    n = start.lo.size // 2
    return _joined(fine[:n].cut(start[:n] + time * fine[n:]), fine[n:])


def _limit(start: Interval, ranges: Ranges, ball: Bounces, height: float, speed: float, reach: Interval) -> Interval:
    """Where the execution may be when the chatter is over and φ = φ̇ = 0."""
    time, impulse = Interval.of(*ball.zeno_time), Interval.of(*ball.impulse)
    return _moved(start, ranges, time, impulse, Interval.of(-height), Interval.of(-speed), speed).cut(reach)


def _moved(
    start: Interval,
    ranges: Ranges,
    time: Interval,
    impulse: Interval,
    climbed: Interval,
    gained: Interval,
    speed: float,
) -> Interval:
    """Where ``start`` gets to in ``time``, while φ̇ jumps by ``impulse`` in all, φ changes by ``climbed``, φ̇ by
    ``gained``.

    v is the sum of :func:`enclose`, cut with the plain one; q is its integral, in which the integral of φ̇ is the change
    of φ.
    """
    n = start.lo.size // 2
    middle, turned = ranges.middle, impulse * (ranges.direction - ranges.middle)
    fine = start[n:] + gained * middle + time * ranges.slide + turned
    v = fine.cut(start[n:] + impulse * ranges.direction + time * ranges.free)
    late = (time * turned).hull(Interval.of(np.zeros(n)))  # an impact's share of q grows from when it happens
    q = start[:n] + time * (start[n:] - Interval.of(speed) * middle) + 0.5 * time.power(2) * ranges.slide
    return _joined(q + climbed * middle + late, v)


def _grown(box: Interval, x: Array) -> Interval:
    """The box, wider by a tenth on each side."""
    return box.widened(0.1 * (box.hi - box.lo) + _TINY * (1.0 + np.abs(x)))


def _joined(first: Interval, second: Interval) -> Interval:
    return Interval(np.concatenate([first.lo, second.lo]), np.concatenate([first.hi, second.hi]))
