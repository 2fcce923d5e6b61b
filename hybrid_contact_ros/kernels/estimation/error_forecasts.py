"""What errors of joints, and what acts from outside, leave of motion that they were not learned from.

Four forecasts are kept side by side: efforts as they were measured, with the constants that were learned of the joints
(:mod:`.error_squares`), with a push or a load (:mod:`.lasting_push`), and with both. What is left by them, over some
seconds, says what explains the motion, and how noisy it is.
"""

from __future__ import annotations

import math

from hybrid_contact_ros.kernels.compiling import kernel
from hybrid_contact_ros.kernels.estimation.contact_basis import take_off
from hybrid_contact_ros.kernels.estimation.error_squares import low_passed
from hybrid_contact_ros.kernels.estimation.lasting_push import PARTS, take_push

NUMBERS = 18
(
    SECONDS, ASIDE, SOLVED_AT, MEASURED, FORETOLD, JUDGED, USUAL, UNKNOWN, PUSHED, LATENESS, LATENESS_SIGMA, BOTH,
    NOISE, LEAST, RECENT, RECENT_BOTH, UNIT, WHITE,
) = range(NUMBERS)  # fmt: skip
"""Places in ``EffortErrors.numbers``."""
LEFT, REST, LEFTS = 0, 1, 2 + PARTS
"""Rows of ``EffortErrors.left``, of which the others are those of :func:`~.lasting_push.outside_columns`."""
ENOUGH_FORETOLD = 0.5
"""s of forecasts, before which they say nothing."""
_JUDGED_FOR = 4.0  # s of motion, over which forecasts are judged
_RECENT = 0.7  # s of motion, over which it is seen that forecasts fail
_LEAP, _LEAPED = 3.0, 8.0  # times what was left before; and s of motion, in which that is taken for e times as much
# Part of what the constants leave, of which something from outside leaves no more; and these s where it leaves more.
_OUTSIDE, _NOTHING = 0.5, 0.5
_PASSED_OVER = 0.1  # squares of the floor: what leaves less has not leaped
_NOISIER = 2.0  # times what was left before: then what was learned with less is no more certain than that
_QUIET = 0.002  # square of the floor: nothing that is left is taken for less noise


@kernel
def judge(step, square, unit, white, found, columns, table, trust, scratch, errors):
    """Add the squares of what the measured efforts leave, and of what the last constants, the last pushes, and both,
    which know nothing of this sample, leave of it; write what the constants leave. ``unit``, ``white``: ``square``, and
    the part of what is left that is noise, in squares of the floor. Returns the least that is left with the constants,
    by ``square``."""
    n, settled, numbers = errors.joint.shape[0], trust.begun[2], errors.numbers
    left, rest, work = errors.left[LEFT], errors.left[REST], errors.work
    for k in range(work.shape[0]):
        work[k] = 0.0
    for a in range(n):
        k = errors.joint[a]
        work[k] = low_passed(errors.estimate, a, table, trust, errors) * scratch.root[k] / settled
    take_off(found, scratch.basis, work, scratch.part)
    for k in range(work.shape[0]):
        rest[k] = left[k] - work[k]
        work[k] = left[k]
    measured, foretold = _square(left), _square(rest)
    pushed, both = measured, foretold
    if not table.fixed:
        take_push(columns, errors.push[0], work)
        pushed = _square(work)
        for k in range(work.shape[0]):
            work[k] = rest[k]
        take_push(columns, errors.push[1], work)
        both = _square(work)
    if numbers[SOLVED_AT] > 0.0:
        keep, share = math.exp(-step / _JUDGED_FOR), step / square
        numbers[MEASURED] = keep * numbers[MEASURED] + share * measured
        numbers[FORETOLD] = keep * numbers[FORETOLD] + share * foretold
        numbers[PUSHED] = keep * numbers[PUSHED] + share * pushed
        numbers[BOTH] = keep * numbers[BOTH] + share * both
        numbers[JUDGED] = keep * numbers[JUDGED] + step
        numbers[UNIT] += step / numbers[JUDGED] * (unit - numbers[UNIT])
        numbers[WHITE] += step / numbers[JUDGED] * (white - numbers[WHITE])
        news = -math.expm1(-step / _RECENT)
        numbers[RECENT] += news * (foretold / square - numbers[RECENT])
        numbers[RECENT_BOTH] += news * (both / square - numbers[RECENT_BOTH])
    return min(foretold, both) / square


@kernel
def _square(vector):
    total = 0.0
    for k in range(vector.shape[0]):
        total += vector[k] * vector[k]
    return total


@kernel
def forget_certainty(noise, numbers, errors):
    """Count what was learned while ``noise`` was less no more than what is learned now: constants that were known well
    do not explain the motion any more."""
    if noise > _NOISIER * numbers[NOISE]:
        part = numbers[NOISE] / noise
        for p in range(errors.cross.shape[0]):
            errors.cross[p] *= part
            for q in range(p + 1):
                errors.normal[p, q] *= part
        numbers[NOISE] = noise
    numbers[NOISE] = min(numbers[NOISE], noise)


@kernel
def with_constants(numbers):
    """What is left of the motion with what was learned of the joints, and what acts from outside where that helps."""
    return min(numbers[FORETOLD], numbers[BOTH])


@kernel
def without_constants(numbers):
    """What is left with efforts as they were measured, and what acts from outside where that helps."""
    return min(numbers[MEASURED], numbers[PUSHED])


@kernel
def noise_left(numbers):
    """The square, in squares of the floor, that is left of the motion by what was learned, at least ``_QUIET``."""
    return max(with_constants(numbers) / numbers[JUDGED], _QUIET) if numbers[JUDGED] > ENOUGH_FORETOLD else 1.0


@kernel
def has_come_on(step, numbers):
    """Whether the constants that were learned leave much more of the motion than they did.

    Errors of joints do not come on at once; a load that is put on does, a push, or a rope. It may look like errors of
    joints for as long as it lasts, which would be learned instead of those that the drives have. But constants that
    were learned while the robot crept leave more as soon as it trots, which nothing from outside explains either.
    """
    if numbers[JUDGED] < ENOUGH_FORETOLD:
        return False
    leapt = numbers[RECENT] > _LEAP * numbers[LEAST]
    nothing = leapt and numbers[RECENT_BOTH] > _OUTSIDE * numbers[RECENT]
    grown = math.exp(step / (_NOTHING if nothing else _LEAPED))
    least = numbers[LEAST] * grown if numbers[LEAST] > 0.0 else numbers[RECENT]
    numbers[LEAST] = max(min(least, numbers[RECENT]), _PASSED_OVER)
    return numbers[RECENT] > _LEAP * numbers[LEAST]
