"""Whether what is said of a time is a density that can be believed.

Quantiles are read as :class:`~hybrid_contact_ros.time_density.TimeDensity` does. A median that has bounds alone is read
as two halves of normal densities, whose widths are those of its bounds: these are two standard deviations away
(``prediction.bound_sigmas``).
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
    # Two half normal densities of different widths meet at the median; each has half of the mass.
    logs = norm.logpdf(e, scale=_sigma(e, a, b))
    return Density(e.size, distance(transforms(e, a, b)), float(np.mean(logs)) - np.log(1e3), _constant(e))


def of_quantiles(errors: Sequence[float], transformed: Sequence[float], logs: Sequence[float]) -> Density:
    """The same of densities whose transforms and logs, a ms, are known."""
    if not len(transformed):
        return Density(0, float("nan"), float("nan"), float("nan"))
    return Density(
        len(transformed), distance(np.array(transformed)), float(np.mean(logs)), _constant(np.array(errors))
    )  # fmt: skip


def distance(transformed: Array) -> float:
    """The largest one of the distribution of transforms (k,) from a uniform one (Kolmogorov and Smirnov).

    Example:
        >>> distance(np.array([0.25, 0.75]))
        0.25
    """
    u = np.sort(transformed)
    steps = np.arange(u.size + 1) / u.size
    return max(float((steps[1:] - u).max()), float((u - steps[:-1]).max()))


def _constant(errors: Array) -> float:
    """Mean log density, a ms, of the errors under the best normal density of one width."""
    width = max(float(np.sqrt(np.mean(errors**2))), _LEAST)
    return float(np.mean(norm.logpdf(errors, scale=width))) - float(np.log(1e3))


def _sigma(errors: Array, low: Array, high: Array) -> Array:
    return np.clip(np.where(errors > 0.0, low, high) / _SIGMAS, _LEAST, _MOST)
