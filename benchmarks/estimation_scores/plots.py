"""A picture of events and probabilities: transforms that should be uniform, and bins that should be true."""

from __future__ import annotations

from pathlib import Path

import matplotlib
import numpy as np

from benchmarks.estimation_scores.ahead import Horizon, Reliability

matplotlib.use("Agg")

import matplotlib.pyplot as plt

_LEAST = 20  # events; a curve of fewer says nothing


def plot(path: Path, events: dict[str, Horizon], bins: dict[str, list[Reliability]]) -> None:
    """Left: distribution of the probability-integral transforms of each kind, gait and horizon, pooled over recordings,
    and the band of ± 0.1 about a uniform one. Right: how often what was said was true, with its interval."""
    figure, (left, right) = plt.subplots(1, 2, figsize=(11, 5))
    ends = np.array([0.0, 1.0])
    for name, found in events.items():
        if len(found.transforms) >= _LEAST:
            u = np.sort(found.transforms)
            left.step(u, (np.arange(u.size) + 1) / u.size, label=f"{name} ({u.size})")
    for name, each in bins.items():
        said, true = (np.array([getattr(b, k) for b in each]) for k in ("said", "true"))
        spread = np.array([[max(b.true - b.low, 0.0) for b in each], [max(b.high - b.true, 0.0) for b in each]])
        right.errorbar(said, true, spread, marker="o", capsize=2, label=name)
    for axes in (left, right):
        axes.plot(ends, ends, "k:")
        axes.fill_between(ends, ends - 0.1, ends + 0.1, color="0.9")
        axes.set(xlim=(0, 1), ylim=(0, 1), aspect="equal")
        if axes.get_legend_handles_labels()[0]:
            axes.legend(fontsize=7)
    left.set(xlabel="transform of the true time", ylabel="share of events below", title="predicted times")
    right.set(xlabel="probability of closed", ylabel="share that was closed", title="probabilities")
    figure.tight_layout()
    figure.savefig(path, dpi=110)
    plt.close(figure)
