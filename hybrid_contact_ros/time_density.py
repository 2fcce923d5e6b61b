"""When an event comes, as a density: five quantiles, and the family between them (docs/event_densities.md)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

Array = NDArray[np.float64]

LEVELS = (0.05, 0.25, 0.5, 0.75, 0.95)
"""Of the quantiles."""
_LOGITS = np.log(np.array(LEVELS) / (1.0 - np.array(LEVELS)))
# s: quantiles that are nearer together (no time is known better, and 0 is the least of all) count as this far apart.
_LEAST = 1e-6


QUANTILE_FIELDS = ("time_to_event_q05", "time_to_event_q25", "time_to_event", "time_to_event_q75", "time_to_event_q95")
"""Fields of a ``ContactState`` with the quantiles, in their order."""


@dataclass(frozen=True, slots=True, eq=False)
class TimeDensity:
    """The density of the time to an event, given that it comes.

    Between two quantiles the logit of the distribution function, log F / (1 − F), is a line in time, and beyond the
    outermost ones the lines go on: the density is piecewise logistic, continuous in F, with exponential tails.

    Attributes:
        quantiles: (5,) s after the stamp, rising, at 5, 25, 50, 75 and 95 % (:data:`LEVELS`). NaN where no event is
            foretold; all functions are then NaN.
        probability: in [0, 1], that the event comes within ``prediction.horizon`` at all; NaN where none is foretold.
        valid: whether both are calibrated (docs/event_densities.md).

    Example:
        >>> density = TimeDensity(np.array([0.016, 0.019, 0.02, 0.021, 0.024]), probability=0.98, valid=True)
        >>> density.cdf([0.018, 0.02, 0.03]).round(3).tolist()
        [0.153, 0.5, 0.999]
        >>> density.quantile([0.025, 0.5, 0.975]).round(4).tolist()
        [0.0148, 0.02, 0.0252]
        >>> density.log_density(0.02).round(2)  # of 1/s
        np.float64(5.62)
    """

    quantiles: Array
    probability: float
    valid: bool

    @classmethod
    def known(cls, quantiles: Array, probability: float, valid: bool) -> TimeDensity:
        """The density with these quantiles, all of which are NaN if one is."""
        return cls(quantiles if np.isfinite(quantiles).all() else np.full(5, np.nan), float(probability), bool(valid))

    def cdf(self, time: ArrayLike) -> Any:
        """The probability (…) that the event has come by a time (…), s after the stamp, given that it comes. Of the
        true time it is the probability-integral transform."""
        _, logit = self._line(np.asarray(time, np.float64))
        with np.errstate(over="ignore"):
            return 1.0 / (1.0 + np.exp(-logit))

    def quantile(self, probability: ArrayLike) -> Any:
        """The time (…), s, by which the event has come with a probability (…) in (0, 1), given that it comes."""
        p = np.asarray(probability, np.float64)
        with np.errstate(divide="ignore", invalid="ignore"):
            logit = np.log(p) - np.log1p(-p)
        knots = self._knots()
        piece = np.clip(np.searchsorted(_LOGITS, logit, side="right") - 1, 0, len(LEVELS) - 2)
        part = (logit - _LOGITS[piece]) / (_LOGITS[piece + 1] - _LOGITS[piece])
        return knots[piece] + part * (knots[piece + 1] - knots[piece])

    def log_density(self, time: ArrayLike) -> Any:
        """The natural logarithm (…) of the density, of 1/s, at a time (…), given that the event comes."""
        slope, logit = self._line(np.asarray(time, np.float64))
        # F (1 − F) of a logit, without under- or overflow.
        return np.log(slope) - np.abs(logit) - 2.0 * np.log1p(np.exp(-np.abs(logit)))

    def _knots(self) -> Array:
        q = np.asarray(self.quantiles, np.float64)
        steps = np.maximum(np.diff(q), _LEAST)
        return q[2] + np.array([-steps[1] - steps[0], -steps[1], 0.0, steps[2], steps[2] + steps[3]])

    def _line(self, time: Array) -> tuple[Array, Array]:
        """Slope (1/s) and value of the logit at these times."""
        knots = self._knots()
        piece = np.clip(np.searchsorted(knots, time, side="right") - 1, 0, len(LEVELS) - 2)
        slope = (_LOGITS[piece + 1] - _LOGITS[piece]) / (knots[piece + 1] - knots[piece])
        return slope, _LOGITS[piece] + slope * (time - knots[piece])
