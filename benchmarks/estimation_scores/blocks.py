"""Differences of scores with an interval, from blocks that are drawn again and again: strides, or whole episodes."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from benchmarks.estimation_scores.answers import rises
from benchmarks.estimation_scores.episodes import Array, Bools, Episode

DRAWS, SEED = 2000, 11


def stride_blocks(episode: Episode, longest: float = 2.0) -> np.ndarray:
    """Number of the stride (n,) that each sample is in: strides begin with the touchdowns of the contact that has most
    of them; where none comes for ``longest`` s, a block ends as well."""
    time = episode.recording.time
    downs = max((rises(time, column) for column in episode.truth.T), key=len)
    cuts = [float(time[0])]
    for t in [*downs, float(time[-1])]:
        while t - cuts[-1] > longest:
            cuts.append(cuts[-1] + longest)
        cuts.append(float(t))
    return np.searchsorted(np.unique(cuts[1:-1]), time, side="right")


def counts(closed: Bools, truth: Bools, certain: Bools, block: np.ndarray) -> Array:
    """(blocks, 4): true and false positives, false and true negatives of each block; arrays (n, k), blocks (n,)."""
    code = np.where(truth, np.where(closed, 0, 2), np.where(closed, 1, 3))
    found = np.zeros((int(block.max()) + 1, 4))
    where = np.broadcast_to(block[:, None], code.shape)
    np.add.at(found, (where[certain], code[certain]), 1.0)
    return found


def macro_f1(table: Array) -> Array:
    """The mean of the F1 of closed and of open, of counts (..., 4). What has no samples at all is left out of the mean.

    Example:
        >>> macro_f1(np.array([2.0, 1.0, 1.0, 2.0])).round(3).item()
        0.667
    """
    tp, fp, fn, tn = np.moveaxis(np.asarray(table, dtype=float), -1, 0)
    with np.errstate(invalid="ignore", divide="ignore"):
        both = np.stack([2 * tp / (2 * tp + fp + fn), 2 * tn / (2 * tn + fp + fn)])
    some = np.isfinite(both)
    return np.asarray(np.where(some, both, 0.0).sum(axis=0) / np.maximum(some.sum(axis=0), 1))


@dataclass(frozen=True, slots=True)
class Difference:
    """Of macro F1, ours less theirs, with its 95 % interval."""

    value: float
    low: float
    high: float

    @property
    def verdict(self) -> str:
        return "better" if self.low > 0.0 else "worse" if self.high < 0.0 else "equal"


def difference(ours: Array, theirs: Array, draws: int = DRAWS) -> Difference:
    """Of two tables (blocks, 4) over the same blocks, which are drawn with replacement."""
    b = len(ours)
    chosen = np.random.default_rng(SEED).multinomial(b, np.full(b, 1.0 / b), size=draws)
    values = macro_f1(chosen @ ours) - macro_f1(chosen @ theirs)
    low, high = np.quantile(values, [0.025, 0.975])
    return Difference(float(macro_f1(ours.sum(axis=0)) - macro_f1(theirs.sum(axis=0))), float(low), float(high))


def binomial_interval(hits: int, of: int, level: float = 0.95) -> tuple[float, float]:
    """Clopper and Pearson's interval for a probability.

    Example:
        >>> [round(x, 3) for x in binomial_interval(95, 100)]
        [0.887, 0.984]
    """
    from scipy.stats import beta

    tail = 0.5 * (1.0 - level)
    low = float(beta.ppf(tail, hits, of - hits + 1)) if hits else 0.0
    return low, float(beta.ppf(1.0 - tail, hits + 1, of - hits)) if hits < of else 1.0
