"""The table ``liftoffs``: sources of liftoffs that the estimator does not have, beside what it says.

- *landing*: a foot leaves as long after another one has landed as it did the last time that this was the last one to
  land before.
- *pressure*: a sole of several points leaves as long after its centre of pressure was at a place as the last time.
- *load*: the same of the load of the whole sole.

All take what the estimator detected, and its forces. Errors are of true liftoffs of which both say something; the best
weight is that of the source in a weighted mean with what is told, chosen in hindsight: 0 where it brings nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from benchmarks.estimation_scores.ahead import HORIZONS, steady_spans
from benchmarks.estimation_scores.answers import Answers
from benchmarks.estimation_scores.episodes import Array, Episode, Source, states
from benchmarks.estimation_scores.runs import Options, Run, Runner
from benchmarks.estimation_scores.scores import true_events
from benchmarks.estimation_scores.tables import available, head, line
from hybrid_contact_ros.estimator import Parts
from hybrid_contact_ros.scoring.event_timing import asked_at

SOURCES = ("landing", "pressure", "load")
_RECENT = 0.3  # s, that another foot has landed ago at most
_SAME = 0.02  # s, between a true liftoff and the detected one
_MOST = 0.02  # s: no error counts for more in a mean square
_REACH = 0.15  # s, before a liftoff, that are remembered of a sole


def liftoffs_table(sources: Sequence[Source], options: Options) -> dict[str, Any]:
    """Pooled over the recordings: steady gaits, and all the rest."""
    pooled: dict[tuple[str, str, float], list[tuple[float, float]]] = {}
    for source in available(sources):
        runner = Runner(source, options)
        run = runner.run()
        for episode, told in zip(run.episodes, run.told, strict=True):
            soles = _soles(runner, episode) if max(map(len, source.members)) > 1 else None
            for key, pairs in _errors(run, episode, told, soles).items():
                pooled.setdefault(key, []).extend(pairs)
    head("source", "gait", "ms ahead", "liftoffs", "told", "its own", "correlation", "best weight")
    written = {}
    for (name, gait, h), pairs in sorted(pooled.items()):
        e = np.array(pairs)
        weights = np.linspace(0.0, 1.0, 11)
        squares = [np.mean(np.minimum(np.abs(w * e[:, 1] + (1.0 - w) * e[:, 0]), _MOST) ** 2) for w in weights]
        best = weights[int(np.argmin(squares))]
        both = float(np.corrcoef(e.T)[0, 1]) if len(e) > 2 else np.nan
        line(name, gait, f"{1e3 * h:.0f}", len(e), _text(e[:, 0]), _text(e[:, 1]), f"{both:.2f}", f"{best:.1f}")
        written[f"{name} {gait} {1e3 * h:.0f} ms"] = {"liftoffs": len(e), "best": float(best)}
    return written


def _text(errors: Array) -> str:
    """Median (95 %), ms."""
    size = 1e3 * np.abs(errors)
    return f"{np.median(size):.1f} ({np.quantile(size, 0.95):.1f})"


def _errors(
    run: Run, episode: Episode, told: Answers, soles: list[tuple[Array, Array]] | None
) -> dict[tuple[str, str, float], list[tuple[float, float]]]:
    """By source, gait and horizon, errors (s) of what is told and of the source."""
    found: dict[tuple[str, str, float], list[tuple[float, float]]] = {}
    time, said = told.time, told.ahead["liftoff"].time
    for i, (true, *_) in enumerate(true_events(episode, "liftoff")):
        steady, _ = steady_spans(time, true)
        ups = told.detected["liftoff"][i]
        for h in HORIZONS:
            for t, even, k in zip(true, steady, asked_at(time, true, h), strict=True):
                if k < 0 or not np.isfinite(said[k, i]):
                    continue
                before = ups[ups < t - _SAME]
                others = {"landing": by_landing(told.detected, i, t, float(time[k]))}
                if soles is not None and before.size:
                    place, load = soles[i]
                    others |= {"pressure": as_before(time, place, float(before[-1]), k),
                               "load": as_before(time, load[:, None], float(before[-1]), k)}  # fmt: skip
                for name, when in others.items():
                    if np.isfinite(when):
                        key = (name, "steady" if even else "other", h)
                        found.setdefault(key, []).append((float(time[k] + said[k, i] - t), when - t))
    return found


def by_landing(detected: dict[str, list[Array]], foot: int, true: float, now: float) -> float:
    """When a foot leaves by the last landing of another one, s; NaN where that is not known ``now``, or new."""

    def last(at: float) -> tuple[float, int]:
        landed = [
            (float(d[d < at][-1]), j) for j, d in enumerate(detected["touchdown"]) if j != foot and (d < at).any()
        ]
        return max(landed, default=(-np.inf, -1))

    landing, other = last(true)
    if landing > now or true - landing > _RECENT:
        return float("nan")
    ups = detected["liftoff"][foot]
    for t in ups[ups < true - _SAME][::-1]:
        when, which = last(float(t))
        if which == other and t - when <= _RECENT:
            return landing + float(t) - when
    return float("nan")


def as_before(time: Array, course: Array, before: float, now: int) -> float:
    """When a sole leaves, s: as long after state ``now`` as it left, at ``before``, after its ``course`` (n, c) was
    nearest to what it is now."""
    last = int(np.searchsorted(time, before))
    first = int(np.searchsorted(time, before - _REACH))
    if last - first < 2:
        return float("nan")
    then = first + int(np.argmin(np.linalg.norm(course[first:last] - course[now], axis=1)))
    return float(time[now] + before - time[then])


def _soles(runner: Runner, episode: Episode) -> list[tuple[Array, Array]]:
    """Of each sole the centre of pressure (n, 2), m, from its middle, and its load (n,), N, as estimated."""
    runner.estimator.reset()
    rows = []
    for state in states(runner.estimator.model, episode.recording):
        mode = runner.estimator.update(state, Parts.MODE).mode
        rows.append((mode.force_estimate[:, 2].copy(), mode.position[:, :2].copy()))
    loads = np.maximum(np.nan_to_num(np.array([r[0] for r in rows])), 0.0)
    places = np.array([r[1] for r in rows])
    found = []
    for group in runner.source.members:
        g = list(group)
        load = loads[:, g].sum(axis=1)
        apart = places[:, g] - places[:, g].mean(axis=1, keepdims=True)
        found.append(((loads[:, g, None] * apart).sum(axis=1) / np.maximum(load, 1.0)[:, None], load))
    return found
