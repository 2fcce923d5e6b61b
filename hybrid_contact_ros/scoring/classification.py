"""How often a yes/no answer was right, and how far its probabilities can be trusted. Pure functions of arrays."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
Bools = NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class Classification:
    """Counts of a yes/no answer. A score without a denominator is NaN."""

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
    """Compare two arrays of the same shape, entry by entry.

    Raises:
        ValueError: the shapes differ.

    Example:
        >>> classify(np.array([True, True, False]), np.array([True, False, False])).precision
        0.5
    """
    if predicted.shape != truth.shape:
        raise ValueError(f"predictions have shape {predicted.shape}, the truth {truth.shape}")
    return Classification(
        int(np.sum(predicted & truth)),
        int(np.sum(predicted & ~truth)),
        int(np.sum(~predicted & truth)),
        int(np.sum(~predicted & ~truth)),
    )


def brier(probability: Array, truth: Bools) -> float:
    """Mean squared error of probabilities: 0 is perfect, and 0.25 is what a constant one half gets.

    Example:
        >>> brier(np.array([1.0, 0.5]), np.array([True, False]))
        0.125
    """
    return float(np.mean((probability - truth) ** 2)) if probability.size else float("nan")


@dataclass(frozen=True, slots=True)
class CalibrationBin:
    """The predictions with a probability in [low, high): their number and mean, and how often they came true."""

    low: float
    high: float
    count: int
    mean_probability: float
    frequency: float


def calibration(probability: Array, truth: Bools, bins: int = 10) -> list[CalibrationBin]:
    """The reliability table. Empty bins are left out, and the last bin holds the probability 1."""
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
