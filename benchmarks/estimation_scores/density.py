"""Whether a median with its bounds is a density that can be believed.

A prediction is read as two halves of normal densities about its median, whose widths are those of its bounds: these
are two standard deviations away (``prediction.bound_sigmas``).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.stats import norm

from benchmarks.estimation_scores.episodes import Array

_SIGMAS = 2.0
_LEAST, _MOST = 0.0002, 0.1  # s: no stamp is known better, and no horizon is longer
ENOUGH = 100  # events


@dataclass(frozen=True, slots=True)
class Density:
    """``distance``: largest one of the distribution of the probability-integral transforms from a uniform one.
    ``score``: mean log density of the true times, per ms; ``constant``: that of the best normal density of one width
    about the same medians."""

    events: int
    distance: float
    score: float
    constant: float

    def text(self) -> str:
        if not self.events:
            return "–"
        few = "" if self.events >= ENOUGH else f" ({self.events} events)"
        return f"{self.distance:.2f}; {self.score:+.2f} ({self.constant:+.2f}){few}"


def transforms(errors: Array, low: Array, high: Array) -> Array:
    """Where in its density each true time lies, from 0 to 1. errors: predicted less true, low, high: half-widths of the
    bounds, all (k,) s.

    Example:
        >>> transforms(np.array([0.0, -0.002]), np.array([0.001, 0.001]), np.array([0.001, 0.002])).round(3).tolist()
        [0.5, 0.977]
    """
    return np.asarray(norm.cdf(-errors / _sigma(errors, low, high)))


def density(errors: Sequence[float], low: Sequence[float], high: Sequence[float]) -> Density:
    e, a, b = (np.asarray(x, dtype=float) for x in (errors, low, high))
    if not e.size:
        return Density(0, float("nan"), float("nan"), float("nan"))
    u = np.sort(transforms(e, a, b))
    steps = np.arange(u.size + 1) / u.size
    distance = max(float((steps[1:] - u).max()), float((u - steps[:-1]).max()))
    # Two half normal densities of different widths meet at the median; each has half of the mass.
    logs = norm.logpdf(e, scale=_sigma(e, a, b))
    width = max(float(np.sqrt(np.mean(e**2))), _LEAST)
    constant = norm.logpdf(e, scale=width)
    return Density(e.size, distance, float(np.mean(logs)) - np.log(1e3), float(np.mean(constant)) - np.log(1e3))


def _sigma(errors: Array, low: Array, high: Array) -> Array:
    return np.clip(np.where(errors > 0.0, low, high) / _SIGMAS, _LEAST, _MOST)
