"""How often a yes/no answer was right, and how far its probabilities can be trusted. Pure functions of arrays."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
Bools = NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class Classification:
    """Counts of a yes/no answer. Scores without a denominator are NaN."""

    true_positive: int
    false_positive: int
    false_negative: int
    true_negative: int

    @property
    def f1(self) -> float:
        return _ratio(2 * self.true_positive, 2 * self.true_positive + self.false_positive + self.false_negative)

    @property
    def accuracy(self) -> float:
        right = self.true_positive + self.true_negative
        return _ratio(right, right + self.false_positive + self.false_negative)

    @property
    def precision(self) -> float:
        return _ratio(self.true_positive, self.true_positive + self.false_positive)

    @property
    def recall(self) -> float:
        return _ratio(self.true_positive, self.true_positive + self.false_negative)


def classify(predicted: Bools, truth: Bools) -> Classification:
    """Compare two equally shaped arrays, entry by entry."""
    if predicted.shape != truth.shape:
        raise ValueError(f"predictions have shape {predicted.shape}, the truth {truth.shape}")
    return Classification(
        int(np.sum(predicted & truth)),
        int(np.sum(predicted & ~truth)),
        int(np.sum(~predicted & truth)),
        int(np.sum(~predicted & ~truth)),
    )


def brier(probability: Array, truth: Bools) -> float:
    """Mean squared error of probabilities; 0 is perfect, 0.25 is what always saying one half gets."""
    return float(np.mean((probability - truth) ** 2)) if probability.size else float("nan")


@dataclass(frozen=True, slots=True)
class CalibrationBin:
    """Predictions with a probability in [low, high): their mean, and how often they came true."""

    low: float
    high: float
    count: int
    mean_probability: float
    frequency: float


def calibration(probability: Array, truth: Bools, bins: int = 10) -> list[CalibrationBin]:
    """Reliability table; empty bins are left out. The last bin holds probability 1."""
    p, y = probability.ravel(), truth.ravel()
    place = np.clip((p * bins).astype(int), 0, bins - 1)
    table = []
    for b in range(bins):
        chosen = place == b
        if chosen.any():
            table.append(
                CalibrationBin(
                    b / bins, (b + 1) / bins, int(chosen.sum()), float(p[chosen].mean()), float(y[chosen].mean())
                )
            )
    return table


def _ratio(part: int, whole: int) -> float:
    return part / whole if whole else float("nan")
