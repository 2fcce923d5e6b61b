"""What the sources of event times (:mod:`.event_sources`) say together, each with the variance that its errors had."""

from __future__ import annotations

import math

from hybrid_contact_ros.kernels.compiling import kernel
from hybrid_contact_ros.kernels.estimation.event_skill import (
    AHEAD,
    ALONE,
    BELIEVED_SHARE,
    FLOOR,
    HORIZONS,
    PATH,
    STATE,
    STRIDE,
    TOLD,
)

# Least share that came true, of liftoffs by the load: where nothing else foretells one, and where something else does,
# which may deny it.
_BELIEVED_ALONE, _BELIEVED_BESIDE = 0.65, 0.75
_NEAR = 0.02  # s, of a touchdown that the state tells best
_OWN = 0.25  # of the variance of the state's own bounds, which allow for more than its errors are
_APART = 3.0  # standard deviations between sources that cannot both be right
_OTHERS = 2.0  # events of its own that the errors of all contacts count as


@kernel
def _variance(i, lifts, source, left, skill):
    """Mean square error (s²) of a source for an event that is ``left`` s away."""
    if left <= AHEAD[0]:
        return _square(i, lifts, source, 0, skill)
    for h in range(1, HORIZONS):
        if left <= AHEAD[h]:
            share = (left - AHEAD[h - 1]) / (AHEAD[h] - AHEAD[h - 1])
            before, after = _square(i, lifts, source, h - 1, skill), _square(i, lifts, source, h, skill)
            return (1.0 - share) * before + share * after
    return _square(i, lifts, source, HORIZONS - 1, skill) * (left / AHEAD[HORIZONS - 1]) ** 2


@kernel
def _square(i, lifts, source, h, skill):
    """Of contact i and of all together: the fewer its own events are, the more do the others count."""
    own = skill.events[i, lifts, source, h] - 1.0
    every = skill.square[skill.square.shape[0] - 1, lifts, source, h]
    return (own * skill.square[i, lifts, source, h] + _OTHERS * every) / (own + _OTHERS)


@kernel
def _doubted(i, lifts, source, left, doubt, own, skill):
    """The same, times ``doubt`` for what goes by the last stride, and no less than the state's ``own`` is worth."""
    variance = _variance(i, lifts, source, left, skill)
    if source == STATE and not lifts:  # a foot that slows down may touch or not, however well it was foretold before
        return max(variance, _OWN * own * own)
    return variance * doubt if source == STRIDE or (source == PATH and not lifts) else variance


@kernel
def is_first(i, lifts, skill):
    """Whether no event of contact i was compared with what was told of it."""
    for h in range(HORIZONS):  # noqa: SIM110
        if skill.events[i, lifts, TOLD, h] > 1.0:
            return False
    return True


@kernel
def is_heard(i, lifts, source, skill):
    """Whether enough of what a source foretold of contact i came true."""
    least = BELIEVED_SHARE
    if lifts and source == PATH and skill.alone[i, ALONE] > 0.0:
        return skill.alone[i, 0] >= _BELIEVED_ALONE
    if lifts and source == PATH:
        said = skill.forecast[i]
        least = _BELIEVED_ALONE if math.isinf(said[STATE]) and math.isinf(said[STRIDE]) else _BELIEVED_BESIDE
    return skill.share[i, lifts, source] >= least


@kernel
def together(i, lifts, horizon, doubt, own, falls, skill):
    """The time (s) that sources make together, and its standard deviation; infinite where none says anything.

    The variance of those that go by the last stride is multiplied by ``doubt``, where the course is less like it.
    Sources that are too far from the best one for both to be right are left out. All are judged by their errors at the
    earliest of their times: one that says much later denies the others. Of a touchdown that is near, of a contact that
    ``falls``, the state itself is the best source: a stone is not in any last stride. ``own``: the standard deviation
    of a touchdown, s, by the state's bounds.
    """
    said, best, least, nearest = skill.forecast[i], -1, math.inf, math.inf
    near = not lifts and said[STATE] <= _NEAR and falls  # whatever the state's record is
    for source in range(TOLD):
        if is_heard(i, lifts, source, skill) or (near and source == STATE):
            nearest = min(nearest, said[source])
    if not nearest <= horizon:
        return math.inf, math.inf
    for source in range(TOLD):
        if math.isinf(said[source]) or not is_heard(i, lifts, source, skill):
            continue
        variance = _doubted(i, lifts, source, nearest, doubt, own, skill)
        if variance < least:
            best, least = source, variance
    if near:
        best, least = STATE, _doubted(i, lifts, STATE, nearest, doubt, own, skill)
    total = mean = 0.0
    for source in range(TOLD):
        if math.isinf(said[source]) or (source != best and not is_heard(i, lifts, source, skill)):
            continue
        variance = _doubted(i, lifts, source, nearest, doubt, own, skill)
        apart = said[source] - said[best]
        if apart * apart > _APART * _APART * (variance + least):
            continue
        total += 1.0 / variance
        mean += said[source] / variance
    found = mean / total
    return found, max(math.sqrt(_variance(i, lifts, TOLD, found, skill)), FLOOR)
