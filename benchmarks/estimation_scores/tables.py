"""The tables of ``./run bench estimation``: each prints its lines as they come, and returns its numbers for JSON."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.estimation_scores.ahead import Horizon, Reliability, extrapolated, horizons, reliability
from benchmarks.estimation_scores.answers import KINDS
from benchmarks.estimation_scores.baselines import RULES, Seen, gap_histogram, halves, tuned
from benchmarks.estimation_scores.blocks import counts, difference, macro_f1, stride_blocks
from benchmarks.estimation_scores.ceilings import ceiling
from benchmarks.estimation_scores.episodes import Source
from benchmarks.estimation_scores.faults import FAULTS
from benchmarks.estimation_scores.features import features
from benchmarks.estimation_scores.runs import Options, Run, Runner
from benchmarks.estimation_scores.scores import Scores, true_events
from benchmarks.estimation_scores.steps import STEPS

ENOUGH = 10  # true events in each half; recordings with fewer are reported only
WORSE = 0.002  # of an F1 or a Brier score: less is no difference to speak of
SHIFTS = (-0.002, 0.0, 0.002)  # s, by which an inferred truth may be wrong


def line(*cells: object) -> None:
    print("| " + " | ".join(str(c) for c in cells) + " |", flush=True)


def head(*cells: str) -> None:
    line(*cells)
    print("|" + "---|" * len(cells), flush=True)


def available(sources: Sequence[Source]) -> list[Source]:
    for source in sources:
        if source.missing:
            line(source.name, f"skipped: {source.missing}")
    return [s for s in sources if not s.missing]


def has_truth(source: Source) -> bool:
    """Whether the true gaps, velocities and forces are known: it is simulated."""
    return source.name.startswith(("trot", "drop", "go2", "anymal"))


def scores_table(sources: Sequence[Source], options: Options, both: bool) -> dict[str, Any]:
    """``both``: simulated recordings are scored as they are, and with noise."""
    head("recording", "states", "F1 closed", "F1 open", "balanced", "Brier", "F1, all", "touchdowns", "error",
         "liftoffs", "error")  # fmt: skip
    written: dict[str, Any] = {}
    for source in available(sources):
        runner = Runner(source, options)
        for states in ("recorded", "noise") if both and has_truth(source) else (options.states,):
            run = runner.run(states)
            scores = run.scores()
            _scores_line(source.name, states, scores)
            written.setdefault(source.name, {})[states] = numbers(scores)
            for label in run.episodes[0].labels:
                if label != "raw":
                    other = scores.mode(label=label)
                    both_labels = [(e.truth, e.labels[label]) for e in run.episodes]
                    differ = np.mean(np.concatenate([(a != b).ravel() for a, b in both_labels]))
                    line(source.name, f"against {label}: {100 * differ:.1f} % of samples differ",
                         *(f"{x:.4f}" for x in asdict(other).values()))  # fmt: skip
                    written[source.name][label] = asdict(other)
            if source.name == "cassie":
                written[source.name]["shifted"] = _shifted(run)
    return written


def _shifted(run: Run) -> dict[str, list[float]]:
    """Scores with an inferred truth that comes earlier or later."""
    found = []
    for shift in SHIFTS:
        scores = Scores(run.source.window)
        for episode, told in zip(run.episodes, run.told, strict=True):
            time = episode.recording.time
            at = np.clip(np.searchsorted(time, time - shift + 1e-9, side="right") - 1, 0, time.size - 1)
            scores.add(replace(episode, recording=replace(episode.recording, closed=episode.truth[at])), told)
        found.append(scores.mode().closed)
    line(run.source.name, "truth shifted by −2, 0, 2 ms", *(f"{x:.4f}" for x in found))
    return {"shift": list(SHIFTS), "closed": found}


def _scores_line(name: str, states: str, scores: Scores) -> None:
    mode, every = scores.mode(), scores.mode(certain=False)
    cells = [f"{x:.4f}" for x in (mode.closed, mode.open, mode.balanced, mode.brier, every.closed)]
    for events in scores.events.values():
        cells.append(f"{events.true}/{events.missed}/{events.false}")
        cells.append(f"{1e3 * events.error(0.5):.1f} ({1e3 * events.error(0.95):.1f})" if events.errors else "–")
    line(name, states, *cells)


def numbers(scores: Scores) -> dict[str, Any]:
    """For JSON: times in s, and None for what does not exist."""
    found: dict[str, Any] = {"certain": asdict(scores.mode()), "all": asdict(scores.mode(certain=False))}
    for kind, events in scores.events.items():
        errors = {"error_median": events.error(0.5), "error_p95": events.error(0.95)}
        found[kind] = {"true": events.true, "missed": events.missed, "false": events.false, **errors}
    return {k: {n: (x if np.isfinite(x) else None) for n, x in v.items()} for k, v in found.items()}


def compare(before: dict[str, Any], now: dict[str, Any]) -> list[str]:
    """Print scores beside those of another revision (both as ``--json`` of the table of scores writes them), where both
    have them.

    Returns:
        what is worse: an F1 or a Brier score by more than ``WORSE``, or more events missed or false.
    """
    print("\nbefore → now")
    head("recording", "states", "F1 closed", "F1 open", "Brier", "touchdowns missed/false", "liftoffs missed/false")
    worse = []
    for name, states in now.items():
        for state, new in states.items():
            old = before.get(name, {}).get(state)
            if not old or "certain" not in new or "certain" not in old:
                continue
            cells = []
            for key, sign in (("closed", 1.0), ("open", 1.0), ("brier", -1.0)):
                a, b = old["certain"][key], new["certain"][key]
                cells.append("–" if a is None or b is None else f"{a:.4f} → {b:.4f}")
                if a is not None and b is not None and sign * (b - a) < -WORSE:
                    worse.append(f"{name}, {state}: {key} {a:.4f} → {b:.4f}")
            for kind in KINDS:
                a, b = ([x[kind][k] for k in ("missed", "false")] for x in (old, new))
                cells.append(f"{a[0]}/{a[1]} → {b[0]}/{b[1]}")
                if sum(b) > sum(a):
                    worse.append(f"{name}, {state}: {kind}s missed/false {cells[-1]}")
            line(name, state, *cells)
    print("\nworse: " + ("; ".join(worse) or "nothing"))
    return worse


def faults_table(sources: Sequence[Source], options: Options) -> dict[str, Any]:
    """The defaults, under each fault of the sensors and under all."""
    head("recording", "fault", "F1 closed", "F1 open", "Brier", "touchdowns", "liftoffs")
    written: dict[str, Any] = {}
    for source in available(sources):
        runner = Runner(source, options)
        for fault in FAULTS:
            scores = runner.run(fault).scores()
            mode = scores.mode()
            counted = [f"{e.true}/{e.missed}/{e.false}" for e in scores.events.values()]
            line(source.name, fault, *(f"{x:.4f}" for x in (mode.closed, mode.open, mode.brier)), *counted)
            written.setdefault(source.name, {})[fault] = numbers(scores)
    return written


def steps_table(sources: Sequence[Source], options: Options) -> dict[str, Any]:
    """The defaults with what a robot may have, from joints and an inertial unit to foot sensors."""
    head("recording", "given", "F1 closed", "F1 open", "Brier", "touchdowns", "error", "liftoffs", "error")
    written: dict[str, Any] = {}
    for source in available(sources):
        runner = Runner(source, options)
        for name in STEPS:
            run = runner.step(name)
            if run is None:
                continue
            scores = run.scores()
            mode = scores.mode()
            cells = []
            for e in scores.events.values():
                cells += [f"{e.true}/{e.missed}/{e.false}", f"{1e3 * e.error(0.5):.1f} ({1e3 * e.error(0.95):.1f})"]
            line(source.name, name, *(f"{x:.4f}" for x in (mode.closed, mode.open, mode.brier)), *cells)
            written.setdefault(source.name, {})[name] = numbers(scores)
    return written


def baselines_table(sources: Sequence[Source], options: Options) -> dict[str, Any]:
    """The defaults against rules that were tuned on the other half of the same recording."""
    head("recording", "rule", "F1 closed", "F1 open", "macro", "defaults' macro", "difference", "verdict")
    pooled: dict[str, list[tuple[np.ndarray, np.ndarray]]] = {}
    written: dict[str, Any] = {}
    for source in available(sources):
        run = Runner(source, options).run()
        seen, first = [], 0
        for episode, half in zip(run.episodes, halves(run.episodes), strict=True):
            block = np.zeros(half.size, dtype=int) if len(run.episodes) > 1 else stride_blocks(episode)
            seen.append(Seen(episode, features(source, run.model, episode), first + block, half))
            first += int(block.max()) + 1
        enough = min(_events(seen, half) for half in (0, 1)) >= ENOUGH
        ours = _tables(seen, [t.closed for t in run.told], first)
        briers = [_brier(seen, p) for p in (gap_histogram(seen), [t.probability for t in run.told])]
        line(source.name, "histogram of the gap", "Brier", f"{briers[0]:.4f}", "defaults", f"{briers[1]:.4f}", "", "")
        written[source.name] = {"histogram of the gap": {"brier": briers[0], "ours": briers[1]}}
        for name, rule in RULES.items():
            said = tuned(rule, seen)
            if said is None:
                line(source.name, name, "–")
                continue
            theirs = _tables(seen, said, first)
            if enough:
                pooled.setdefault(name, []).append((ours, theirs))
            written.setdefault(source.name, {})[name] = _compared(source.name, name, ours, theirs, enough)
    for name, pairs in pooled.items():
        ours, theirs = (np.concatenate([pair[i] for pair in pairs]) for i in (0, 1))
        written.setdefault("pooled", {})[name] = _compared("**pooled**", name, ours, theirs, True)
    return written


def _events(seen: list[Seen], half: int) -> int:
    count = 0
    for s in seen:
        time = s.episode.recording.time[s.half == half]
        if time.size:
            for kind in KINDS:
                for true, *_ in true_events(s.episode, kind):
                    count += int(((true >= time[0]) & (true <= time[-1])).sum())
    return count


def _tables(seen: list[Seen], closed: list[np.ndarray], blocks: int) -> np.ndarray:
    found = np.zeros((blocks, 4))
    for s, c in zip(seen, closed, strict=True):
        some = counts(c, s.episode.truth, s.episode.certain, s.block)
        found[: len(some)] += some
    return found


def _brier(seen: list[Seen], probability: list[np.ndarray]) -> float:
    errors = [(p - s.episode.truth)[s.episode.certain] for s, p in zip(seen, probability, strict=True)]
    return float(np.mean(np.concatenate(errors) ** 2))


def _compared(recording: str, name: str, ours: np.ndarray, theirs: np.ndarray, enough: bool) -> dict[str, Any]:
    apart = difference(ours, theirs)
    tp, fp, fn, tn = theirs.sum(axis=0)
    f1 = 2 * tp / max(2 * tp + fp + fn, 1), 2 * tn / max(2 * tn + fp + fn, 1)
    values = float(macro_f1(theirs.sum(axis=0))), float(macro_f1(ours.sum(axis=0)))
    line(recording, name, *(f"{x:.4f}" for x in (*f1, *values)),
         f"{apart.value:+.4f} [{apart.low:+.4f}, {apart.high:+.4f}]",
         apart.verdict if enough else f"({apart.verdict}; too few events)")  # fmt: skip
    return {"closed": f1[0], "open": f1[1], "macro": values[0], "ours": values[1], **asdict(apart), "enough": enough}


def ceilings_table(sources: Sequence[Source], options: Options, others: Sequence[Source]) -> dict[str, Any]:
    """A classifier that is given the truth, fitted on all other simulated recordings, beside the defaults."""
    head("recording", "samples", "ceiling F1", "ceiling Brier", "defaults' F1", "defaults' Brier")
    written: dict[str, Any] = {}
    loaded = {s.name: s.load() for s in others if has_truth(s) and not s.missing}
    for source in available([s for s in sources if has_truth(s)]):
        runner = Runner(source, options)
        mass = float(sum(i.mass for i in runner.model.pinocchio_model.inertias))
        others_ = [e for name, found in loaded.items() if name != source.name for e in found]
        best = ceiling(runner.recorded, others_, 9.81 * mass)
        scores = runner.run().scores()
        for name, mode in best.items():
            mine = scores.mode(certain=name == "certain")
            line(source.name, name, *(f"{x:.4f}" for x in (mode.closed, mode.brier, mine.closed, mine.brier)))
            written.setdefault(source.name, {})[name] = {"ceiling": asdict(mode), "defaults": asdict(mine)}
    return written


def probabilities_table(sources: Sequence[Source], options: Options) -> dict[str, Any]:
    """How often contacts are closed, by the probability that was said, pooled over recordings: of all samples that are
    scored, and of those where ``probability_valid`` is true."""
    head("samples", "share", "probability said", "samples", "events", "true", "interval", "holds")
    runs = [Runner(source, options).run() for source in available(sources)]
    pairs = [(t, e) for run in runs for t, e in zip(run.told, run.episodes, strict=True)]
    said, truth = [t.probability for t, _ in pairs], [e.truth for _, e in pairs]
    written: dict[str, Any] = {}
    for name in ("all", "valid"):
        chosen = [e.certain if name == "all" else e.certain & np.asarray(t.valid)[:, None] for t, e in pairs]
        share = sum(float(x.sum()) for x in chosen) / max(sum(float(e.certain.sum()) for _, e in pairs), 1.0)
        bins = reliability(said, truth, chosen)
        for b in bins:
            line(name, f"{share:.3f}", f"{b.said:.3f}", b.samples, b.events, f"{b.true:.3f}",
                 f"[{b.low:.2f}, {b.high:.2f}]", "yes" if b.holds else "no")  # fmt: skip
        written[name] = {"share": share, "reliability": [asdict(b) for b in bins]}
    return written


def events_table(sources: Sequence[Source], options: Options, picture: Path | None = None) -> dict[str, Any]:
    """Predicted events by horizon, what their bounds hold, and the reliability of probabilities; drawn, too."""
    pooled: dict[str, Horizon] = {}
    bins: dict[str, list[Reliability]] = {}
    print("densities: distance of their transforms from uniform; log score a ms (of the best constant width)")
    head("recording", "event", "gait", "ms ahead", "error", "missed + off", "false an event, a foot",
         "bounds hold", "densities")  # fmt: skip
    written: dict[str, Any] = {}
    runs = [Runner(source, options).run() for source in available(sources)]
    for run in runs:
        plain = []
        for e, t in zip(run.episodes, run.told, strict=True):
            seen = features(run.source, run.model, e)
            plain.append(replace(t, ahead={"touchdown": extrapolated(t.time, seen["gap"], seen["rate"])}))
        for steady in (True, False):
            for h, found in horizons(run.episodes, plain, "touchdown", steady).items():
                if found.events:
                    line(run.source.name, "touchdown, extrapolated", "steady" if steady else "other",
                         f"{1e3 * h:.0f}", *found.cells()[:2], "", "", "")  # fmt: skip
        for kind in KINDS:
            for steady in (True, False):
                for h, found in horizons(run.episodes, run.told, kind, steady).items():
                    into = pooled.setdefault(f"{kind}, {'steady' if steady else 'other'}, {1e3 * h:.0f} ms", Horizon())
                    for name in ("errors", "low", "high", "transforms", "logs", "valid"):
                        getattr(into, name).extend(getattr(found, name))
                    if found.events or found.false:
                        gait = "steady" if steady else "other"
                        line(run.source.name, kind, gait, f"{1e3 * h:.0f}", *found.cells())
                        written.setdefault(run.source.name, {})[f"{kind} {gait} {1e3 * h:.0f} ms"] = asdict(found)
    print()
    head("recording", "probability said", "samples", "events", "true", "interval", "holds")
    for run in runs:
        columns = zip(*((t.probability, e.truth, e.certain) for t, e in zip(run.told, run.episodes, strict=True)),
                      strict=True)  # fmt: skip
        bins[run.source.name] = reliability(*(list(c) for c in columns))
        for b in bins[run.source.name]:
            line(run.source.name, f"{b.said:.3f}", b.samples, b.events, f"{b.true:.3f}",
                 f"[{b.low:.2f}, {b.high:.2f}]", "yes" if b.holds else "no")  # fmt: skip
            written.setdefault(run.source.name, {}).setdefault("reliability", []).append(asdict(b))
    if picture is not None:
        from benchmarks.estimation_scores.plots import plot

        plot(picture, pooled, bins)
    return written
