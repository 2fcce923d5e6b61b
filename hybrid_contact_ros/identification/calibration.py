"""A margin with a stated coverage: split conformal prediction, and jackknife+ where there is too little for it.

A score is how far outside of its set an outcome was. Where the scores of n calibration landings and that of the next
are exchangeable, the next is at most the k-th smallest of the n with a probability of k/(n + 1) or more, over draws of
the calibration landings and of the next one together (Vovk, Gammerman, Shafer 2005; Lei et al., "Distribution-free
predictive inference for regression", JASA 2018). It is a statement about the whole procedure, not about one
calibration: that one's own coverage is Beta distributed, k against n + 1 − k. The fit must not have seen the landings
of the calibration.

Jackknife+ (Barber, Candès, Ramdas, Tibshirani, Annals of Statistics 2021) needs no landings set apart: each is scored
against a fit without its episode. Its guarantee is 1 − 2α, and where K episodes have n landings, less by what they call
CV+ (Theorem 4). Our set is that of the intervals which hold all of these fits, widened by the quantile of the scores.
It holds the jackknife+ set, but for what the generators' linearisation changes, and so keeps its guarantee.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

SPLIT, JACKKNIFE = "split", "jackknife+"


@dataclass(frozen=True, slots=True)
class Calibration:
    """A margin. ``level``: the coverage that is guaranteed. ``count``: of scores. ``method``: split or jackknife+."""

    margin: float
    level: float
    count: int
    method: str


def landings_needed(level: float) -> int:
    """Scores of which some quantile reaches a level 1 − α: ⌈1/α⌉ − 1, and 19 for 0.95.

    >>> [landings_needed(level) for level in (0.5, 0.9, 0.95, 0.99)]
    [1, 9, 19, 99]
    """
    if not 0.0 < level < 1.0:
        raise ValueError(f"the level is {level}; a number between 0 and 1 is needed")
    return math.ceil(1.0 / (1.0 - level) - 1e-9) - 1


def quantile_of_next(scores: Array, level: float) -> float:
    """The smallest of the scores that the next one does not exceed with the probability ``level``; inf where there are
    too few of them.

    >>> quantile_of_next(np.arange(1.0, 20.0), 0.95), quantile_of_next(np.arange(1.0, 20.0), 0.5)
    (19.0, 10.0)
    """
    n = len(scores)
    k = math.ceil(level * (n + 1) - 1e-9)
    return float(np.sort(scores)[k - 1]) if k <= n else math.inf


def split(scores: Array, level: float) -> Calibration:
    """The margin by landings that the fit has not seen; with too few for ``level``, of the level n/(n + 1) that they
    reach.

    Raises:
        ValueError: there is no score.
    """
    n = len(scores)
    if not n:
        raise ValueError("there are no landings to calibrate the margin on")
    reached = level if n >= landings_needed(level) else n / (n + 1.0)
    return Calibration(max(0.0, quantile_of_next(scores, reached)), reached, n, SPLIT)


def jackknife(scores: Array, episodes: int, level: float) -> Calibration:
    """The margin by scores of landings against fits without their episodes (how many: ``episodes``); guaranteed are
    1 − 2α for 1 − α asked for, or reached, less what folds of several landings cost.

    Raises:
        ValueError: there are too few scores for any guarantee.
    """
    n = len(scores)
    reached = min(level, n / (n + 1.0))
    folds = min(2.0 * (1.0 - 1.0 / episodes) / (n / episodes + 1.0), (1.0 - episodes / n) / (episodes + 1.0))
    guaranteed = 2.0 * reached - 1.0 - max(0.0, folds)
    if guaranteed <= 0.0:
        raise ValueError(f"{n} landings of {episodes} episodes give no guarantee by jackknife+; record more of them")
    return Calibration(max(0.0, quantile_of_next(scores, reached)), guaranteed, n, JACKKNIFE)
