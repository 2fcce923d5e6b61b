"""Numbers that a recording tells, with intervals from blocks of it that are drawn again and again.

Neighbouring samples of a recording are alike, and so the samples are no independent draws; stretches of it that are
longer than what makes neighbours alike nearly are. A bootstrap draws such blocks with replacement (Künsch, Annals of
Statistics 1989). Of b blocks the percentile interval is too narrow by about √((b − 1)/b) and by what Student's t is
wider than a normal distribution; both are made up for.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

CONFIDENCE = 0.95
FEWEST_BLOCKS = 6
"""With fewer, an interval would say nothing."""
_DRAWS = 400


@dataclass(frozen=True, slots=True)
class Found:
    """One number that a recording tells, or the reason why it does not.

    Attributes:
        name: what it is. unit: of value, low and high. value: NaN where it is not identifiable.
        low, high: a 95 % interval. samples, blocks: what it was found from.
        why: not identifiable from this recording, because ...; empty where it is.
    """

    name: str
    unit: str
    value: float = math.nan
    low: float = math.nan
    high: float = math.nan
    samples: int = 0
    blocks: int = 0
    why: str = ""

    @property
    def known(self) -> bool:
        return not self.why

    def covers(self, value: float) -> bool:
        """Whether the interval has a value."""
        return self.low <= value <= self.high

    def to_dict(self) -> dict[str, Any]:
        """For JSON: None where a number is unknown."""
        return {k: None if isinstance(x, float) and math.isnan(x) else x for k, x in asdict(self).items()}


def not_found(name: str, unit: str, why: str, samples: int = 0, blocks: int = 0) -> Found:
    """A number that this recording does not tell."""
    return Found(name, unit, samples=samples, blocks=blocks, why=why)


def by_blocks(
    name: str,
    unit: str,
    blocks: int,
    samples: int,
    value: Callable[[NDArray[np.intp]], Array],
    least: float = -math.inf,
    seed: int = 0,
) -> Found:
    """A number with its interval.

    Args:
        value: of chosen blocks (draws, blocks), as indices, gives (draws,); NaN of a draw that tells nothing.
        least: that the number can be; the interval ends there.

    >>> x = np.random.default_rng(1).normal(3.0, 1.0, 400)
    >>> found = by_blocks("mean", "m", 400, 400, lambda chosen: x[chosen].mean(axis=1))
    >>> found.covers(3.0), round(found.high - found.low, 1)
    (True, 0.2)
    """
    if blocks < FEWEST_BLOCKS:
        why = f"{blocks} independent stretches of the recording tell of it, and {FEWEST_BLOCKS} are needed"
        return not_found(name, unit, why, samples, blocks)
    middle = float(value(np.arange(blocks)[None, :])[0])
    draws = value(np.random.default_rng(seed).integers(blocks, size=(_DRAWS, blocks)))
    draws = draws[np.isfinite(draws)]
    if not math.isfinite(middle) or draws.size < 0.8 * _DRAWS:
        return not_found(name, unit, "too much of the recording tells nothing of it", samples, blocks)
    low, high = (float(x) for x in np.quantile(draws, [0.5 - 0.5 * CONFIDENCE, 0.5 + 0.5 * CONFIDENCE]))
    wider = _widening(blocks)
    low, high = min(middle - wider * (middle - low), middle), max(middle + wider * (high - middle), middle)
    return Found(name, unit, middle, max(low, least), high, samples, blocks)


def _widening(blocks: int) -> float:
    """What a percentile interval of so many blocks is too narrow by."""
    from scipy.stats import norm, t

    tail = 0.5 + 0.5 * CONFIDENCE
    return float(math.sqrt(blocks / (blocks - 1)) * t.ppf(tail, blocks - 1) / norm.ppf(tail))
