"""How well sets contain what robots do when they land, and where the distance comes from.

``./run bench landings [go2|anymal|solo12 ...] [--rows NAME ...] [--ahead]``. Definitions, all in the kinetic norm, over
the nominal jump ‖v⁺ − v⁻‖ of the inelastic outcome, medians over landings: distance of the true v⁺ from the convex set;
radius: of the farthest point of the set from its centre; half-width: mean over the axes of the Cholesky factor of M;
ball: radius of the smallest ball around the nominal outcome that holds as many landings as the set does. How v⁻ and v⁺
are taken: :func:`benchmarks.landing_sets.records.find`. ``python -m benchmarks.landing_sets.flow``: the time
between touchdowns. Cassie and single bodies: ``./run bench real_impacts``.
"""

from __future__ import annotations

import argparse
from dataclasses import replace

from benchmarks.landing_sets import sources
from benchmarks.landing_sets.candidates import Maker, Terms, corners, drawn, linear, today
from benchmarks.landing_sets.friction import intervals
from benchmarks.landing_sets.records import LEADS, Known, Landing
from benchmarks.landing_sets.sets import HEAD, row, score

DURATION = Terms(duration=0.002)
REBOUND = replace(DURATION, rebound=0.2)
FRICTION = replace(REBOUND, friction=0.25)
DRIVES = replace(FRICTION, damping=0.004, slip=0.03)
ORDER = replace(DRIVES, order=True)
COMMON = Terms(
    shortest=0.001, duration=0.004, least_rebound=-0.07, rebound=0.18, drive=(0.0, 0.0024), slip=0.005, settling=0.6,
    bounce=0.05, creep=0.15,
)  # fmt: skip
# Of each robot, found by hand on its own landings: what identification has to find.
OWN = {
    "go2": replace(COMMON, duration=0.003, slip=0.01),
    "anymal": replace(COMMON, duration=0.005, drive=(0.0, 0.003), slip=0.02, settling=1.0, margin=0.01),
}
CANDIDATES: dict[str, Maker] = {
    "today": today(),
    "duration 2 ms": linear(DURATION),
    "+ rebound 0.2": linear(REBOUND),
    "+ friction 25 %": linear(FRICTION),
    "+ damping 4e-3, slip 0.03": linear(DRIVES),
    "the same, drawn": drawn(DRIVES),
    "the same, in order": linear(ORDER),
    "the same, in order, drawn": drawn(ORDER),
    "common": corners(COMMON),
    **{f"own of {name}": corners(terms) for name, terms in OWN.items()},
}


def known_of(landing: Landing, lead: int, noisy: bool, configured: bool) -> Known | None:
    """What a set is made from: the truth at a lead of 0, else what was foreseen."""
    if lead == 0:
        known = landing.truth
        return replace(known, friction=landing.configured) if configured else known
    return landing.ahead.get((lead, noisy))


def table(found: list[Landing], rows: list[str], lead: int = 0, noisy: bool = False, configured: bool = False) -> None:
    for name in rows:
        for group in ("all", "flight", "standing"):
            scores = []
            for landing in found:
                known = known_of(landing, lead, noisy, configured)
                if known is not None and group in ("all", landing.group):
                    scores.append(score(CANDIDATES[name](known), landing.after))
            if scores:
                print(row(f"{name}, {group}", scores), flush=True)


def learned(found: list[Landing], part: float) -> None:
    """The common set with the configured μ ± ``part``, cut by what earlier landings of the episode showed."""
    for name, ends in (("configured", None), ("learned", intervals(found, part))):
        scores = []
        for i, landing in enumerate(found):
            middle = float(landing.configured[0])
            low, high = ends[i] if ends else (middle * (1.0 - part), middle * (1.0 + part))
            known = landing.truth.with_friction(0.5 * (low + high))
            terms = replace(COMMON, friction=(high - low) / (high + low))
            scores.append(score(corners(terms)(known), landing.after))
        print(row(f"common, μ {name} ± {part}", scores), flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description="Containment and size of sets of landings.")
    parser.add_argument("robots", nargs="*", default=["go2", "anymal"], help="go2, anymal, solo12, hyq")
    parser.add_argument("--rows", nargs="*", default=list(CANDIDATES), help=", ".join(CANDIDATES))
    parser.add_argument("--ahead", action="store_true", help="tables of predictions, too, exact and with noise")
    chosen = parser.parse_args()
    for robot in chosen.robots:
        found = list(sources.go2(chosen.ahead) if robot == "go2" else sources.simulated(robot, ahead=chosen.ahead))
        if not found:
            print(f"{robot}: no landings; recordings are looked for in {sources.SHARED / 'data'}")
            continue
        print(f"\n{robot}: {len(found)} landings, v⁻, contacts and μ true\n{HEAD}")
        table(found, chosen.rows)
        print(f"\n{robot}: configured μ\n{HEAD}")
        table(found, chosen.rows, configured=True)
        for part in (0.25, 0.65):
            learned(found, part)
        for lead in LEADS if chosen.ahead else ():
            for noisy in (False, True):
                print(f"\n{robot}: {lead} ms ahead, {'noisy' if noisy else 'exact'}\n{HEAD}")
                table(found, chosen.rows, lead, noisy)


if __name__ == "__main__":
    main()
