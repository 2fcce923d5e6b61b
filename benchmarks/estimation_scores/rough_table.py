"""The table ``rough``: the defaults with uncalibrated joints and an inertial unit alone, beside tuned rules."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from benchmarks.estimation_scores.answers import answers
from benchmarks.estimation_scores.episodes import Array, Bools, Source
from benchmarks.estimation_scores.features import features
from benchmarks.estimation_scores.rough import Rough, based, rough
from benchmarks.estimation_scores.runs import Options, Runner
from benchmarks.estimation_scores.scores import Scores, mode_scores
from benchmarks.estimation_scores.tables import available, head, line

DRAWS = 2
RATES = {"as recorded": Rough(), "200 Hz, jitter": Rough(200.0, 0.2)}
LOWEST = 0.039  # m, over the lowest foot
_LEVELS = 60


def rough_table(sources: Sequence[Source], options: Options) -> dict[str, Any]:
    """Each row is a mean over ``DRAWS`` draws. Rules look at the same states; their thresholds are the best ones for
    the very draw that they are scored on."""
    rules = ("lowest foot + 39 mm", "lowest foot + x", "gap", "foot speed")
    head("recording", "rate", "F1 closed", "F1 open", "Brier", "touchdowns", "liftoffs", *rules)
    written: dict[str, Any] = {}
    for source in available(sources):
        runner = Runner(source, options)
        if any(e.recording.position is None for e in runner.recorded):
            continue
        for name, how in RATES.items():
            rows = [_draw(runner, source, how, draw) for draw in range(DRAWS)]
            mean = {key: np.mean([row[key] for row in rows], axis=0) for key in rows[0]}
            events = ["/".join(f"{x:.0f}" for x in mean[kind]) for kind in ("touchdown", "liftoff")]
            beside = ["{:.3f} / {:.3f}".format(*mean[rule]) for rule in rules]
            line(source.name, name, *(f"{x:.3f}" for x in mean["mode"]), *events, *beside)
            written.setdefault(source.name, {})[name] = {key: x.tolist() for key, x in mean.items()}
    return written


def _draw(runner: Runner, source: Source, how: Rough, draw: int) -> dict[str, Any]:
    """F1 closed, open and Brier score of the defaults, F1 closed and open of the rules, and events (true, missed,
    false)."""
    scores, seen = Scores(source.window), []
    for episode in runner.recorded:
        found, made = based(runner.model, *rough(episode, how, draw))
        scores.add(found, answers(source, runner.estimator, found, lambda model, e, made=made: made))
        seen.append((found, features(source, runner.model, found)))
    mode = scores.mode()
    row: dict[str, Any] = {"mode": (mode.closed, mode.open, mode.brier)}
    row |= {kind: (e.true, e.missed, e.false) for kind, e in scores.events.items()}
    truth = np.concatenate([e.truth[e.certain] for e, _ in seen])

    def column(name: str) -> Array:
        return np.concatenate([f[name][e.certain] for e, f in seen])

    if "height" in seen[0][1]:
        row["lowest foot + 39 mm"] = _f1(column("height") < LOWEST, truth)
    for rule, name in (("lowest foot + x", "height"), ("gap", "gap"), ("foot speed", "speed")):
        if name in seen[0][1]:
            row[rule] = _best(column(name), truth)
    return row


def _f1(says: Bools, truth: Bools) -> tuple[float, float]:
    mode = mode_scores(says, says.astype(float), truth)
    return mode.closed, mode.open


def _best(x: Array, truth: Bools) -> tuple[float, float]:
    """F1 of the threshold whose mean of both is best."""
    levels = np.unique(np.quantile(x, np.linspace(0.005, 0.995, _LEVELS)))
    return max((_f1(x < level, truth) for level in levels), key=lambda f: f[0] + f[1])
