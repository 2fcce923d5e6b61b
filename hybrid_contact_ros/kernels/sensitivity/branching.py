"""Which touchdowns may come next at a node of the tree of words, and the cone of the states where each does."""

from __future__ import annotations

import math

from hybrid_contact_ros.kernels.compiling import kernel
from hybrid_contact_ros.kernels.sensitivity.cones import cut

_SAME_TIME = 1e-9  # relative: touchdowns whose times differ by less for every state are one impact


@kernel
def next_touchdowns(level, resting, levels):
    """Write when each contact touches next, and which do so together; returns whether any does."""
    c, k = levels.gap.shape[1], levels.gap.shape[2]
    levels.next[level] = 0
    largest, any_due = 0.0, False
    for i in range(c):
        levels.group[level, i] = -1
        rate = levels.contact[level, 3 * i]
        if not levels.plays[level, i] or not rate < -resting:
            continue
        any_due = True
        levels.group[level, i] = i
        for j in range(k):
            levels.due[level, i, j] = levels.time[level, j] - levels.gap[level, i, j] / rate
            largest = max(largest, abs(levels.due[level, i, j]))
    for i in range(c):
        for e in range(i):
            if levels.group[level, i] != i or levels.group[level, e] != e:
                continue
            apart = 0.0
            for j in range(k):
                apart = max(apart, abs(levels.due[level, i, j] - levels.due[level, e, j]))
            if apart <= _SAME_TIME * largest:
                levels.group[level, i] = e
    return any_due


@kernel
def next_cone(level, problem, levels):
    """Find the next contacts that may come first at a level, and write the cone of the states where they do, and who
    they are, into the level after it; returns whether there are any."""
    c, k = levels.gap.shape[1], levels.gap.shape[2]
    above = level + 1
    while levels.next[level] < c:
        i = levels.next[level]
        levels.next[level] += 1
        if levels.group[level, i] != i:
            continue
        for o in range(levels.size.shape[1]):
            levels.size[above, o] = levels.size[level, o]
            for e in range(levels.size[level, o]):
                for r in range(3):
                    levels.corners[above, o, e, r] = levels.corners[level, o, e, r]
        count, open_ = levels.rows[level], True
        for e in range(c):
            if e == i or levels.group[level, e] != e:
                continue
            row = levels.cone[count]
            count += 1
            for j in range(k):
                row[j] = levels.due[level, e, j] - levels.due[level, i, j]
            # in times of touchdown, of which a common delay changes nothing: the first is taken for 0
            a = row[1] * problem.slope[1] if k > 1 else 0.0
            b = row[2] * problem.slope[2] if k > 2 else 0.0
            last = row[3] * problem.slope[3] if k > 3 else 0.0
            if not cut(a, b, last, levels.corners[above], levels.size[above]) or _improbable(row, problem):
                open_ = False
                break
        if not open_:
            continue
        levels.rows[above] = count
        for e in range(c):
            levels.struck[level, e] = levels.group[level, e] == i
        for j in range(k):
            levels.time[above, j] = levels.due[level, i, j]
        return True
    return False


@kernel
def _improbable(row, problem):
    """Whether row · δφ ≥ 0 is less probable than ``problem.chance`` says."""
    low = problem.chance[0]
    if low == -math.inf:
        return False
    mean, square = 0.0, 0.0
    for i in range(row.shape[0]):
        mean += row[i] * problem.gap_mean[i]
        for j in range(row.shape[0]):
            square += row[i] * problem.gap_covariance[i, j] * row[j]
    return mean < low * math.sqrt(max(square, 0.0))
