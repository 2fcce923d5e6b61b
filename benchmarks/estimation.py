"""The estimator's defaults on recordings with truths: ``./run bench estimation [RECORDING ...] [--table TABLE]``.

Without names: the recordings of the shared data; ``simulated``: those that are made here, in MuJoCo, and kept out of
the checkout; ``left_out``: the same of robots that nothing was chosen with; ``arms``: arms that press on a table;
``humanoids``: two that step, of which Talos is left out; ``stepped``: stairs and blocks of 5 cm.
Tables:

- ``scores``: F1 of closed and of open, balanced accuracy and Brier score where the truth is certain, F1 of closed on
  all samples; touchdowns and liftoffs as true/missed/false with the error (median, 95 %) of the times told, ms.
- ``baselines``: simple rules that were tuned on one half of a recording and scored on the other, against the defaults.
- ``ceilings``: a classifier that is given the true gap, velocity and force, fitted on other recordings.
- ``within``: a classifier that is given the measured states, and was shown the truth of the rest of a recording.
- ``events``: touchdowns and liftoffs ahead, their bounds, and the reliability of probabilities.
- ``probabilities``: the same reliability alone, pooled over the recordings, with shares of ``probability_valid``.
- ``faults``: each fault of the sensors alone, and all together.
- ``forces``: share of the true normal forces within 1 and 2 deviations of the observed ones.
- ``rough``: with positions of joints and an inertial unit that nobody has calibrated, beside tuned rules.
- ``liftoffs``: sources of liftoffs that the estimator does not have, beside what it says.
- ``treads``: touchdowns ahead on steps of 5 cm, apart for treads that a foot has touched before.
- ``steps``: with joint states and an inertial unit alone, with odometry, efforts, foot sensors, a schedule.

docs/estimation.md says what the recordings are and what the numbers mean.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path

from benchmarks.estimation_scores import tables
from benchmarks.estimation_scores.arms import arm_sources
from benchmarks.estimation_scores.episodes import Source
from benchmarks.estimation_scores.faults import FAULTS
from benchmarks.estimation_scores.forces import forces_table
from benchmarks.estimation_scores.humanoids import humanoid_sources
from benchmarks.estimation_scores.liftoff_sources import liftoffs_table
from benchmarks.estimation_scores.rough_table import rough_table
from benchmarks.estimation_scores.runs import Options
from benchmarks.estimation_scores.simulated import left_out_sources, simulated_sources, stepped_sources
from benchmarks.estimation_scores.sources import shared_sources
from benchmarks.estimation_scores.treads import treads_table
from benchmarks.estimation_scores.within import within_table

TABLES = (
    "scores", "baselines", "ceilings", "events", "probabilities", "faults", "forces", "rough", "steps", "liftoffs",
    "within", "treads",
)  # fmt: skip


def wanted(
    names: list[str],
    shared: dict[str, Source],
    simulated: dict[str, Source],
    **more: dict[str, Source],
) -> list[Source]:
    """The sources by name; ``shared``, ``simulated`` and each name in ``more`` stand for all of these.

    Raises:
        ValueError: a name that is none.
    """
    members = {"shared": shared, "simulated": simulated} | more
    every = {name: source for group in members.values() for name, source in group.items()}
    groups = {name: list(group) for name, group in members.items()}
    chosen = [each for name in names or ["shared"] for each in groups.get(name, [name])]
    unknown = sorted(set(chosen) - set(every))
    if unknown:
        raise ValueError(f"no recording named {', '.join(unknown)}; there are {', '.join(groups)}, {', '.join(every)}")
    return [every[name] for name in dict.fromkeys(chosen)]


def main() -> None:
    parser = argparse.ArgumentParser(prog="./run bench estimation", description="The estimator on recordings.")
    parser.add_argument("names", nargs="*", metavar="RECORDING", help="by default shared; simulated: those made here")
    parser.add_argument("--table", choices=TABLES, default="scores")
    parser.add_argument("--noise", action="store_true", help="noise on all states (benchmarks/estimator.py)")
    parser.add_argument("--exact", action="store_true", help="scores: only the states as they were recorded")
    parser.add_argument("--fault", choices=list(FAULTS), default=None, help="of the sensors, for all states")
    parser.add_argument("--without-efforts", action="store_true", help="no measured efforts are given")
    parser.add_argument("--all-samples", action="store_true", help="score where truths disagree, too")
    parser.add_argument(
        "--without-chatter",
        action="store_true",
        help="do not score where the truth is none: a foot is open between two impulses at most 5 ms apart, or closed "
        "although its sole has tilted off the ground",
    )
    parser.add_argument("--set", action="append", default=[], metavar="GROUP.PARAMETER=VALUE", dest="settings",
                        help="change a parameter: activation.gap_on=0.004, contacts.*.radius=0.02")  # fmt: skip
    parser.add_argument("--seconds", type=float, help="of each recording, from its beginning")
    parser.add_argument("--after", type=float, default=0.0, help="scores: of samples from so many seconds on")
    parser.add_argument("--plot", type=Path, metavar="PNG", help="events: transforms and reliability, drawn")
    parser.add_argument("--against", type=Path, metavar="JSON", help="scores: beside those that --json wrote before")
    parser.add_argument("--json", type=Path, metavar="OUT")
    chosen = parser.parse_args()
    shared, simulated = shared_sources(), simulated_sources()
    try:
        sources = wanted(
            chosen.names, shared, simulated, left_out=left_out_sources(), arms=arm_sources(),
            humanoids=humanoid_sources(), stepped=stepped_sources(),
        )  # fmt: skip
    except ValueError as error:
        parser.error(str(error))
    options = Options(
        chosen.fault or ("noise" if chosen.noise else "recorded"),
        chosen.seconds,
        tuple(chosen.settings),
        uncertain=chosen.all_samples,
        efforts=not chosen.without_efforts,
        chatter=not chosen.without_chatter,
        after=chosen.after,
    )
    if chosen.table == "scores":
        written = tables.scores_table(sources, options, both=not (chosen.noise or chosen.exact or chosen.fault))
        if chosen.against:
            tables.compare(json.loads(chosen.against.read_text()), written)
    elif chosen.table == "ceilings":
        written = tables.ceilings_table(sources, options, list((shared | simulated).values()))
    elif chosen.table == "forces":
        written = forces_table(sources, options)
    elif chosen.table == "liftoffs":
        written = liftoffs_table(sources, options)
    elif chosen.table == "rough":
        written = rough_table(sources, options)
    elif chosen.table == "treads":
        written = treads_table(sources, options)
    elif chosen.table == "within":
        written = within_table(sources, options)
    elif chosen.table == "events":
        written = tables.events_table(sources, options, chosen.plot)
    else:
        written = getattr(tables, f"{chosen.table}_table")(sources, options)
    if chosen.json:
        chosen.json.write_text(json.dumps(written, indent=1, default=float) + "\n")


if __name__ == "__main__":
    main()
