"""The result of a replay as tables for a terminal."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from rich.console import Console
from rich.table import Column, Table
from rich.text import Text

from hybrid_contact_ros.identification.identify import Identification
from hybrid_contact_ros.identification.landings import LandingIdentification
from hybrid_contact_ros.identification.recorded_truth import Read
from hybrid_contact_ros.messages.refusals import REASONS
from hybrid_contact_ros.replay.result import ReplayResult
from hybrid_contact_ros.scoring.event_timing import EventTiming
from hybrid_contact_ros.scoring.scores import TOLERANCES, Scores

_WIDEST = 80  # columns of a sentence, also where nothing else limits a line: the whole table fits 120


def show(result: ReplayResult, console: Console) -> None:
    """Print the result of a replay."""
    if result.states:
        console.print(
            f"[bold]{result.states}[/] states of {result.duration:.2f} s in {result.wall:.2f} s "
            f"([bold]{result.speed:.1f} x[/] real time; {result.setup:.1f} s to load and compile); estimator "
            f"p50 {result.compute_p50 * 1e6:.0f} us, p99 {result.compute_p99 * 1e6:.0f} us; "
            f"{result.sets} post-impact sets, {result.events} contact events"
        )
    else:
        console.print("[bold red]no state came of it[/]")
    if result.out is not None:
        console.print(Text(f"predictions: {result.out}"), soft_wrap=True)
    show_reading(result, console)
    if result.faults:
        console.print(faults_table(result.faults, result.last_fault))
    if result.scores is not None:
        show_scores(result.scores, console)


def show_reading(read: ReplayResult | Identification | LandingIdentification | Read, console: Console) -> None:
    """Print the warnings on how a recording was read, and its damage."""
    for warning in read.warnings:
        console.print(Text("warning: ", style="yellow").append(warning, style="default"), soft_wrap=True)
    if read.damage is not None:
        line = Text("read as far as it goes: ", style="bold red")
        console.print(line.append(read.damage, style="not bold default"), soft_wrap=True)


def show_scores(scores: Scores, console: Console) -> None:
    """Print the scores."""
    if scores.contacts:
        console.print(_modes(scores))
        console.print(_timings(scores))
    if scores.calibration:
        table = Table("probability", "states", "mean", "came true", title=f"closed: Brier score {scores.brier:.4f}")
        for b in scores.calibration:
            table.add_row(
                f"{b.low:.1f} - {b.high:.1f}", str(b.count), f"{b.mean_probability:.3f}", f"{b.frequency:.3f}"
            )
        console.print(table)
    if scores.impacts:
        console.print(_sets(scores))


def faults_table(faults: Mapping[str, int], last: Sequence[str] | None) -> Table:
    """Inputs that were refused or reported, by reason; ``last``: reason and sentence of the last of them."""
    table = Table("inputs", "reason", Column("what", max_width=_WIDEST), title="refused or reported")
    for reason, count in sorted(faults.items(), key=lambda item: -item[1]):
        detail = REASONS[reason]
        if last is not None and last[0] == reason:
            detail = last[1]
        table.add_row(str(count), reason, detail)
    return table


def _modes(scores: Scores) -> Table:
    table = Table("contact", "F1", "accuracy", "precision", "recall", title=f"contact mode, {scores.states} states")
    for name, c in [*zip(scores.contacts, scores.per_contact, strict=True), ("all", scores.overall)]:
        table.add_row(name, *(f"{x:.4f}" for x in (c.f1, c.accuracy, c.precision, c.recall)))
    return table


def _timings(scores: Scores) -> Table:
    table = Table(
        "event", "horizon", "true", "missed", "false", "median", "p95", "bias", title="time of events, predicted - true"
    )
    for name, timings in (("touchdown", scores.touchdown), ("liftoff", scores.liftoff)):
        for x in timings:
            table.add_row(name, f"{x.horizon * 1e3:.0f} ms", *_row(x))
    for name, delay in (("touchdown seen", scores.touchdown_delay), ("liftoff seen", scores.liftoff_delay)):
        seen = delay[np.isfinite(delay)]
        middle = (f"{np.median(np.abs(seen)) * 1e3:.1f} ms", f"{np.percentile(np.abs(seen), 95) * 1e3:.1f} ms",
                  f"{np.median(seen) * 1e3:+.1f} ms") if seen.size else ("-", "-", "-")  # fmt: skip
        table.add_row(name, "", str(delay.size), str(delay.size - seen.size), "", *middle)
    return table


def _row(x: EventTiming) -> tuple[str, ...]:
    times = (f"{x.median * 1e3:.1f} ms", f"{x.p95 * 1e3:.1f} ms", f"{x.bias * 1e3:+.1f} ms")
    return (str(x.events), str(x.missed), str(x.false), *(times if x.errors.size else ("-", "-", "-")))


def _sets(scores: Scores) -> Table:
    sets = scores.sets
    table = Table("observed outcome", "", title=f"{scores.impacts} known impacts, {len(sets)} with a predicted set")
    if sets:
        for tolerance in TOLERANCES:
            inside = sum(s.within(tolerance) for s in sets)
            table.add_row(f"within {tolerance:.0%} of the jump of an outcome", f"{inside / len(sets):.1%}")
        table.add_row("inside the outer bounds", f"{sum(s.within_bounds for s in sets) / len(sets):.1%}")
        table.add_row("distance to the set, median", f"{np.median([s.distance for s in sets]):.1%} of the jump")
        nominal = np.median([s.nominal_distance for s in sets])
        table.add_row("distance to the simultaneous outcome, median", f"{nominal:.1%} of the jump")
        table.add_row("radius of the set, median", f"{np.median([s.radius for s in sets]):.1%} of the jump")
    return table
