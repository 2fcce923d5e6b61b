"""What the measured states of a recording tell of its truth: a classifier that is shown the truth of the rest of the
very recording, with what simple rules decide on (:mod:`.features`) of all feet and 0.3 s of their past.

No default can be expected to know the rest of a recording. Where the classifier does not reach a goal either, the
measured states do not hold what the goal asks for.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

import numpy as np

from benchmarks.estimation_scores.boosting import boost
from benchmarks.estimation_scores.episodes import Array, Episode, Source
from benchmarks.estimation_scores.features import delayed, features
from benchmarks.estimation_scores.runs import Options, Runner
from benchmarks.estimation_scores.scores import ModeScores, mode_scores
from benchmarks.estimation_scores.tables import available, head, line

_LAGS = (0.0, 0.002, 0.005, 0.01, 0.02, 0.04, 0.08, 0.15, 0.3)  # s
_BLOCKS = 10  # of a recording of one episode; episodes are left out one by one
_MOST = 40_000  # samples that are fitted, drawn from all of them
_SEED = 7


def past(time: Array, found: dict[str, Array]) -> Array:
    """Rows (n, k, columns) of each foot: its own features, those of the other feet in their order, and which it is,
    now and some time ago. Nothing of the future."""
    now = np.stack([found[name] for name in sorted(found)], axis=2)
    n, k, _ = now.shape
    others = np.stack([np.delete(now, i, axis=1).reshape(n, -1) for i in range(k)], axis=1)
    columns = delayed(time, np.concatenate([now, others], axis=2), _LAGS)
    columns.append(np.broadcast_to(np.arange(k, dtype=np.float64)[None, :, None], (n, k, 1)))
    return np.concatenate(columns, axis=2)


def blocks(episodes: Sequence[Episode]) -> list[np.ndarray]:
    """Which samples (n,) of each episode are left out together."""
    if len(episodes) > 1:
        return [np.full(e.recording.time.size, i) for i, e in enumerate(episodes)]
    time = episodes[0].recording.time
    return [np.minimum(_BLOCKS * (time - time[0]) / (time[-1] - time[0]), _BLOCKS - 1).astype(np.int64)]


def told_within(rows: Sequence[Array], episodes: Sequence[Episode]) -> ModeScores:
    """Scores of the certain samples, each block by what was fitted to the others.

    Args:
        rows: of :func:`past`, of each episode.
    """
    x = np.concatenate([r.reshape(-1, r.shape[2]) for r in rows])
    y = np.concatenate([e.truth.ravel() for e in episodes])
    certain = np.concatenate([e.certain.ravel() for e in episodes])
    block = np.concatenate([np.repeat(b, e.truth.shape[1]) for b, e in zip(blocks(episodes), episodes, strict=True)])
    p, rng = np.zeros(y.size), np.random.default_rng(_SEED)
    for left_out in np.unique(block):
        others = np.flatnonzero((block != left_out) & certain)
        chosen = rng.permutation(others)[:_MOST]
        p[block == left_out] = boost(x[chosen], y[chosen]).probability(x[block == left_out])
    return mode_scores(p[certain] > 0.5, p[certain], y[certain])


def within_table(sources: Sequence[Source], options: Options) -> dict[str, Any]:
    """That classifier, beside the defaults."""
    head("recording", "states", "classifier's F1, closed / open", "Brier", "defaults' F1, closed / open", "Brier")
    written: dict[str, Any] = {}
    for source in available(sources):
        run = Runner(source, options).run()
        rows = [past(e.recording.time, features(source, run.model, e)) for e in run.episodes]
        best, mine = told_within(rows, run.episodes), run.scores().mode()
        line(
            source.name, options.states,
            f"{best.closed:.4f} / {best.open:.4f}", f"{best.brier:.4f}", f"{mine.closed:.4f} / {mine.open:.4f}",
            f"{mine.brier:.4f}",
        )  # fmt: skip
        written[source.name] = {"within": asdict(best), "defaults": asdict(mine)}
    return written
