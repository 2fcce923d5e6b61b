"""The interval of μ, learned from landing to landing.

A ratio of impulses that was seen is a lower bound of μ; where a foot slid to the end, against its impulse, it is an
upper one, too. The interval begins as configured ± ``part`` and is cut by what was seen since an episode began.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from benchmarks.landing_sets.records import STEP, Landing

Array = NDArray[np.float64]
_BELOW, _ABOVE = 0.95, 1.08  # of what was seen, for what it is seen with
_HIGHEST = 3.0  # a ratio above is none of friction
_SLIDES = 0.15  # of |u_n⁻|: a foot that leaves with more tangential speed slid to the end
_MAIN = 0.5  # of the largest normal impulse; smaller ones tell little


def ratios(landing: Landing) -> Iterator[tuple[float, bool]]:
    """Of each hitting foot with a large impulse: tangential over normal impulse, and whether it slid to the end. The
    impulses are those that explain the jump best, less what gravity and the measured torques did."""
    known = landing.truth
    J = known.rows[known.active].reshape(-1, known.velocity.size)
    jump = landing.after - known.velocity - np.linalg.solve(known.mass, landing.efforts.sum(axis=0) * STEP)
    G = J @ np.linalg.solve(known.mass, J.T)
    impulse = (np.linalg.pinv(G, rcond=1e-6, hermitian=True) @ (J @ jump)).reshape(-1, 3)
    before, after = (J @ known.velocity).reshape(-1, 3), (J @ landing.after).reshape(-1, 3)
    fastest = -before[:, 0].min()
    for i in np.flatnonzero(known.hitting[known.active]):
        if impulse[i, 0] <= _MAIN * impulse[:, 0].max():
            continue
        force, speed = np.linalg.norm(impulse[i, 1:]), np.linalg.norm(after[i, 1:])
        slid = speed > _SLIDES * fastest and -(after[i, 1:] @ impulse[i, 1:]) > 0.9 * speed * force
        yield float(force / impulse[i, 0]), bool(slid)


def intervals(found: list[Landing], part: float) -> list[tuple[float, float]]:
    """(lowest, highest) μ for each of the landings, in their order, from the landings of its episode before it."""
    answers: list[tuple[float, float]] = []
    episode, low, high = None, 0.0, np.inf
    for landing in found:
        if landing.source != episode:
            episode, low, high = landing.source, 0.0, np.inf
        middle = float(landing.configured[0])
        first, last = middle * (1.0 - part), middle * (1.0 + part)
        first, last = max(first, _BELOW * low), min(last, _ABOVE * high)
        if first > last:  # what was seen contradicts the configuration: it is believed
            first, last = (_BELOW * low, 1.1 * low) if low > last else (_BELOW * high, _ABOVE * high)
        answers.append((first, last))
        for ratio, slid in ratios(landing):
            if ratio < _HIGHEST:
                low = max(low, ratio)
                high = max(min(high, ratio) if slid else high, low)
    return answers
