"""Identified parameters against defaults and hand-tuned ones: ``./run bench identified [RECORDING ...] [--noise]
[--without-chatter]``.

Of each recording the first half (of four episodes or more: the first half of these) is identified from, without a
truth and with it, and tuned on by hand with the truth; the second half is scored, by the mean of the F1 of closed and
of open. Differences have 95 % intervals from strides that are drawn (``estimation_scores/blocks.py``).
``--hindsight`` scores what stands for a truth without one. docs/identification.md has the tables.
"""

from __future__ import annotations

import argparse
import json
from dataclasses import replace
from pathlib import Path

import numpy as np

from benchmarks.estimation import wanted
from benchmarks.estimation_scores.blocks import difference
from benchmarks.estimation_scores.episodes import Array, Episode, Source, states
from benchmarks.estimation_scores.faults import FAULTS, noisy
from benchmarks.estimation_scores.hand_tuned import macro, plain_override, tables, tuned
from benchmarks.estimation_scores.simulated import left_out_sources, simulated_sources
from benchmarks.estimation_scores.sources import shared_sources
from hybrid_contact_ros.config import EstimatorConfig
from hybrid_contact_ros.identification.held_out import check
from hybrid_contact_ros.identification.hindsight import hindsight
from hybrid_contact_ros.identification.noise import Episodes
from hybrid_contact_ros.identification.parameters import Parameters, identify_parameters

MANY = 4  # episodes, of which whole ones make a half


def halves(episodes: list[Episode]) -> tuple[list[Episode], list[Episode]]:
    """What is identified from, and what is scored."""
    if len(episodes) >= MANY:
        middle = len(episodes) // 2
        return episodes[:middle], episodes[middle:]
    cuts = [e.recording.time.size // 2 for e in episodes]
    return (
        [e.part(slice(0, cut)) for e, cut in zip(episodes, cuts, strict=True)],
        [e.part(slice(cut, None)) for e, cut in zip(episodes, cuts, strict=True)],
    )


def identified(source: Source, episodes: list[Episode], with_truth: bool) -> Parameters:
    """What ``hybrid-contact identify --noise`` would find in these."""
    model = source.model(source.config)
    given = Episodes(tuple(states(model, e.recording) for e in episodes))
    if with_truth:
        members = np.concatenate([[k] * len(group) for k, group in enumerate(source.members)])
        order = np.argsort([i for group in source.members for i in group])
        each = members[order]  # the truth's contact of each of the estimator's
        given = replace(
            given, truth=tuple(e.truth[:, each] for e in episodes), certain=tuple(e.certain[:, each] for e in episodes)
        )
    return identify_parameters(source.model, source.config, given)


def compare(source: Source, noise: bool, chatter: bool) -> dict:
    """Scores of one recording's second half. ``chatter``: also where the truth is doubtful."""
    episodes = [noisy(e) for e in source.load()] if noise else source.load()
    if not chatter:
        episodes = [e.without_chatter() for e in episodes]
    first, second = halves(episodes)
    settings = tuned(source, first)
    found = {"identified": identified(source, first, False), "with truth": identified(source, first, True)}
    configs: dict[str, EstimatorConfig] = {
        "default": source.config,
        "hand-tuned": plain_override(source.config, settings),
    }
    configs |= {name: each.config for name, each in found.items()}
    counted = {name: tables(source, config, second) for name, config in configs.items()}
    scores = {name: macro(each) for name, each in counted.items()}
    joined: dict[str, Array] = {name: np.concatenate(each) for name, each in counted.items()}
    print(f"| {source.name} | " + " | ".join(f"{scores[name]:.4f}" for name in configs), end="")
    row: dict = {"scores": scores, "hand-tuned": settings, "values": {k: each.values for k, each in found.items()}}
    for name in found:
        for other in ("default", "hand-tuned"):
            d = difference(joined[name], joined[other])
            row[f"{name} - {other}"] = (d.value, d.low, d.high, d.verdict)
            print(f" | {d.value:+.4f} [{d.low:+.4f}, {d.high:+.4f}]", end="")
    print(" |", flush=True)
    return row


def looking_back(source: Source, fault: str) -> None:
    """How right hindsight is where it says something and the truth is certain, and how right the defaults are there."""
    episodes = [(noisy if fault == "noise" else FAULTS[fault])(e).without_chatter() for e in source.load()]
    model = source.model(source.config)
    given = Episodes(tuple(states(model, e.recording) for e in episodes))
    found = hindsight(model, source.config, given)
    if found is None or found.truth is None or found.certain is None:
        print(f"| {source.name} | {fault} | none | | | |", flush=True)
        return
    sure, told = np.concatenate(found.certain), np.concatenate(found.truth)
    right, certain = (np.concatenate(x) for x in ([e.truth for e in episodes], [e.certain for e in episodes]))
    here = told[sure & certain], right[sure & certain]
    wrong = [float((here[0] != here[1])[here[0] == closed].mean()) for closed in (True, False)]
    score = check(source.model, source.config, found).score
    print(
        f"| {source.name} | {fault} | {sure.mean():.3f} | {wrong[0]:.5f} | {wrong[1]:.5f} | {score:.4f} |", flush=True
    )


def main() -> None:
    parser = argparse.ArgumentParser(prog="./run bench identified", description="Identified parameters, scored.")
    parser.add_argument("names", nargs="*", metavar="RECORDING", help="by default shared; also simulated, left_out")
    parser.add_argument("--noise", action="store_true", help="noise on all states (benchmarks/estimator.py)")
    parser.add_argument("--hindsight", action="store_true", help="how right it is: what stands for a truth without one")
    parser.add_argument("--fault", choices=list(FAULTS), default="none", help="with --hindsight: of the sensors")
    parser.add_argument("--without-chatter", action="store_true", help="neither tune nor score where the truth is none")
    parser.add_argument("--json", type=Path, metavar="OUT")
    chosen = parser.parse_args()
    try:
        sources = wanted(chosen.names, shared_sources(), simulated_sources(), left_out=left_out_sources())
    except ValueError as error:
        parser.error(str(error))
    if chosen.hindsight:
        print(
            "| recording | fault | speaks of | closed, wrong | open, wrong | F1 of the defaults |\n"
            "|---|---|---|---|---|---|"
        )
        for source in sources:
            if not source.missing:
                looking_back(source, "noise" if chosen.noise else chosen.fault)
        return
    print(
        "| recording | default | hand-tuned | identified | with truth | identified - default | - hand-tuned | "
        "with truth - default | - hand-tuned |\n|---|---|---|---|---|---|---|---|---|"
    )
    written = {}
    for source in sources:
        if source.missing:
            print(f"| {source.name} | skipped: {source.missing} | | | | | | | |")
            continue
        written[source.name] = compare(source, chosen.noise, not chosen.without_chatter)
    if chosen.json:
        chosen.json.write_text(json.dumps(written, indent=1, default=float) + "\n")


if __name__ == "__main__":
    main()
