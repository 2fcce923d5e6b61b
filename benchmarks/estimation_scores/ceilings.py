"""The best that could be hoped for: a classifier that is given the true gap, velocity and force of a foot and their
history, fitted on other recordings than the one that it is scored on."""

from __future__ import annotations

import numpy as np

from benchmarks.estimation_scores.boosting import boost
from benchmarks.estimation_scores.episodes import Array, Bools, Episode
from benchmarks.estimation_scores.features import delayed
from benchmarks.estimation_scores.scores import ModeScores, mode_scores

_LAGS = (0.0, 0.001, 0.002, 0.005, 0.01, 0.02, 0.04)  # s
_MOST = 60_000  # samples that are fitted, drawn from all of them
_SEED = 7


def history(episode: Episode, weight: float) -> Array:
    """Rows (n k, features): gap, normal and tangential speed and normal force over the weight, now and some time ago,
    and the time since the foot last carried a load, up to 0.1 s. Nothing of the future."""
    assert episode.gap is not None and episode.velocity is not None and episode.force is not None
    time = episode.recording.time
    slide = np.linalg.norm(episode.velocity[:, :, :2], axis=2)
    now = np.stack([episode.gap, episode.velocity[:, :, 2], slide, episode.force[:, :, 2] / weight], axis=2)
    columns = delayed(time, now, _LAGS)
    loaded = np.where(episode.force[:, :, 2] > 0.002 * weight, np.arange(time.size)[:, None], -1)
    since = time[:, None] - time[np.maximum(np.maximum.accumulate(loaded, axis=0), 0)]
    columns.append(np.minimum(since, 0.1)[:, :, None])
    return np.concatenate(columns, axis=2).reshape(-1, 4 * len(_LAGS) + 1)


def ceiling(scored: list[Episode], others: list[Episode], weight: float) -> dict[str, ModeScores]:
    """Of the certain samples, and of all; fitted on the certain samples, or on all, of the others."""
    found = {}
    for name in ("certain", "all"):
        x, y = _rows(others, weight, name == "certain")
        chosen = np.random.default_rng(_SEED).permutation(len(y))[:_MOST]
        fitted = boost(x[chosen], y[chosen])
        x, y = _rows(scored, weight, name == "certain")
        p = fitted.probability(x)
        found[name] = mode_scores(p > 0.5, p, y)
    return found


def _rows(episodes: list[Episode], weight: float, certain: bool) -> tuple[Array, Bools]:
    rows = [(history(e, weight), e.truth.ravel(), e.certain.ravel() | (not certain)) for e in episodes]
    return np.concatenate([x[c] for x, _, c in rows]), np.concatenate([y[c] for _, y, c in rows])
