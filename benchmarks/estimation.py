"""The estimator's defaults on recordings with truths: ``./run bench estimation [RECORDING ...]``.

A line for each recording: F1 of closed and of open, balanced accuracy and Brier score where the truth is certain; F1 of
closed on all samples; and touchdowns and liftoffs as true/missed/false with the error (median, 95 %) of the times told,
ms. ``--noise`` adds the noise of ``benchmarks/estimator.py``; ``--set activation.gap_on=0.004`` changes a parameter
(``contacts.*.radius=0.02`` of all contacts); ``--seconds`` takes the beginning of each recording; ``--json OUT`` writes
the numbers. docs/estimation.md says what the recordings are and what the numbers mean.
"""

from __future__ import annotations

import argparse
import json
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.estimation_scores.answers import answers
from benchmarks.estimation_scores.episodes import Episode, Source, override
from benchmarks.estimation_scores.faults import noisy
from benchmarks.estimation_scores.scores import Scores
from benchmarks.estimation_scores.simulated import simulated_sources
from benchmarks.estimation_scores.sources import shared_sources
from hybrid_contact_ros.estimator import ContactEstimator, Parts

HEAD = (
    "| recording | states | F1 closed | F1 open | balanced | Brier | F1, all | touchdowns | error | liftoffs | error |\n"
    "|---|---|---|---|---|---|---|---|---|---|---|"
)


def episodes(source: Source, seconds: float | None, noise: bool) -> list[Episode]:
    found = source.load()
    if seconds is not None:
        found = [e.part(e.recording.time <= e.recording.time[0] + seconds) for e in found]
    return [noisy(e) for e in found] if noise else found


def score(source: Source, found: list[Episode], settings: list[str]) -> Scores:
    config = override(source.config, settings)
    estimator = ContactEstimator(source.model(config), config)
    estimator.warm(parts=Parts.MODE)
    scores = Scores(source.window)
    for episode in found:
        scores.add(episode, answers(source, estimator, episode))
    return scores


def row(name: str, states: str, scores: Scores) -> str:
    mode, every = scores.mode(), scores.mode(certain=False)
    cells = [name, states, *(f"{x:.4f}" for x in (mode.closed, mode.open, mode.balanced, mode.brier, every.closed))]
    for counts in scores.events.values():
        cells.append(f"{counts.true}/{counts.missed}/{counts.false}")
        cells.append(f"{1e3 * counts.error(0.5):.1f} ({1e3 * counts.error(0.95):.1f})" if counts.errors else "–")
    return "| " + " | ".join(cells) + " |"


def numbers(scores: Scores) -> dict[str, Any]:
    """For JSON: times in s, and None for what does not exist."""
    found: dict[str, Any] = {"certain": asdict(scores.mode()), "all": asdict(scores.mode(certain=False))}
    for kind, counts in scores.events.items():
        errors = {"error_median": counts.error(0.5), "error_p95": counts.error(0.95)}
        found[kind] = {"true": counts.true, "missed": counts.missed, "false": counts.false, **errors}
    return {k: {n: (x if np.isfinite(x) else None) for n, x in v.items()} for k, v in found.items()}


def main() -> None:
    sources = shared_sources() | simulated_sources()
    parser = argparse.ArgumentParser(prog="./run bench estimation", description="The estimator on recordings.")
    parser.add_argument("names", nargs="*", metavar="RECORDING", help=f"of {', '.join(sources)}; without any, those of the shared data")
    parser.add_argument("--noise", action="store_true", help="only noisy states; without it Go2 is scored both ways")
    parser.add_argument("--exact", action="store_true", help="only the states as they were recorded")
    parser.add_argument("--set", action="append", default=[], metavar="GROUP.PARAMETER=VALUE", dest="settings")
    parser.add_argument("--seconds", type=float, help="of each recording, from its beginning")
    parser.add_argument("--json", type=Path, metavar="OUT")
    chosen = parser.parse_args()
    unknown = sorted(set(chosen.names) - set(sources))
    if unknown:
        parser.error(f"no recording named {', '.join(unknown)}; there are {', '.join(sources)}")
    written: dict[str, dict[str, Any]] = {}
    print(HEAD, flush=True)
    for name in chosen.names or shared_sources():
        source = sources[name]
        if source.missing:
            print(f"| {name} | skipped: {source.missing} |", flush=True)
            continue
        simulated = name.startswith(("trot", "drop", "go2", "anymal"))
        for noise in (False, True):
            if (noise and chosen.exact) or (not noise and chosen.noise):
                continue
            if noise and not (simulated or chosen.noise):  # Real sensors have their own.
                continue
            states = "noise" if noise else "exact" if simulated else "real"
            scores = score(source, episodes(source, chosen.seconds, noise), chosen.settings)
            print(row(name, states, scores), flush=True)
            written.setdefault(name, {})[states] = numbers(scores)
    if chosen.json:
        chosen.json.write_text(json.dumps(written, indent=1) + "\n")


if __name__ == "__main__":
    main()
