"""How well sets contain what robots do when they land: the product's sets, at their defaults and with intervals
identified on other landings.

``./run bench landings [go2 anymal solo12 hyq] [--ground soft|stiff] [--quick] [--ahead] [--candidates]``. All in the
kinetic norm over the nominal jump ‖v⁺ − v⁻‖ of the inelastic outcome, medians over landings: distance of the true v⁺
from the convex set; radius: of the farthest point of the set from its centre; half-width: mean over the axes of the
Cholesky factor of M; ball: radius of the smallest ball around the nominal outcome that holds as many landings as the
set does. How v⁻ and v⁺ are taken: :func:`benchmarks.landing_sets.records.find`.

Rows "fitted to" have intervals that the landings of the row did not make: half of the episodes scored by the other
(trots are cut into blocks of ten landings), all gaits but one, or another robot. ``--ahead``: the sets that the
estimator publishes 0 to 20 ms before v⁻, exact and with noise. ``--candidates``: prototypes of single terms, which
show where the distance comes from. ``python -m benchmarks.landing_sets.flow``: the time between touchdowns.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np

from benchmarks.landing_sets import sources
from benchmarks.landing_sets.candidates import Maker, Terms, drawn, linear, today
from benchmarks.landing_sets.friction import intervals
from benchmarks.landing_sets.recorded import HEAD, gait, recorded, row, rows, scored
from benchmarks.landing_sets.records import LEADS, Landing
from benchmarks.landing_sets.sets import score
from hybrid_contact_ros.config import LandingConfig
from hybrid_contact_ros.identification.calibration import landings_needed, quantile_of_next, split
from hybrid_contact_ros.identification.landing_division import least_terms
from hybrid_contact_ros.identification.landing_fit import Case
from hybrid_contact_ros.impacts.landing_model import LandingTerms

DURATION = Terms(duration=0.002)
REBOUND = replace(DURATION, rebound=0.2)
FRICTION = replace(REBOUND, friction=0.25)
DRIVES = replace(FRICTION, damping=0.004, slip=0.03)
CANDIDATES: dict[str, Maker] = {
    "today": today(),
    "duration 2 ms": linear(DURATION),
    "+ rebound 0.2": linear(REBOUND),
    "+ friction 25 %": linear(FRICTION),
    "+ damping 4e-3, slip 0.03": linear(DRIVES),
    "the same, drawn": drawn(DRIVES),
    "the same, in order, drawn": drawn(replace(DRIVES, order=True)),
}
PARTS = (0.45, 0.65)  # of the configured μ, to both sides: the default, and what the slippery trot needs
_BLOCK = 10  # landings; what is that far apart in a gait is taken for another episode
_SPLITS, _CALIBRATION = 10_000, 19
Friction = Sequence[tuple[float, float]] | None


def fit(landings: Sequence[Landing]) -> LandingTerms:
    """Intervals identified on these landings, with the true μ."""
    cases = [Case(recorded(landing)) for landing in landings]
    return least_terms(cases, cases, episodes(landings))


def episodes(landings: Sequence[Landing]) -> list[str]:
    count: dict[str, int] = {}
    names = []
    for landing in landings:
        i = count.get(landing.source, 0)
        count[landing.source] = i + 1
        names.append(f"{landing.source} {i // _BLOCK}")
    return names


def by_others(found: list[Landing], part: Sequence[str]) -> list[LandingTerms]:
    """For each landing the intervals fitted to the landings of all other parts."""
    of = {name: fit([x for x, p in zip(found, part, strict=True) if p != name]) for name in sorted(set(part))}
    return [of[name] for name in part]


def halves(found: list[Landing]) -> list[str]:
    names = episodes(found)
    order = np.random.default_rng(0).permutation(len(set(names)))
    half = {name: str(i % 2) for name, i in zip(sorted(set(names)), order, strict=True)}
    return [half[name] for name in names]


def at_once(robot: str, found: list[Landing], others: dict[str, LandingTerms]) -> None:
    """Tables of sets that know v⁻ and the contacts."""
    default = LandingTerms.of(LandingConfig())
    half, gaits = by_others(found, halves(found)), [gait(landing) for landing in found]
    sets: dict[str, Sequence[LandingTerms]] = {"default": [default] * len(found), "fitted to other episodes": half}
    if len(set(gaits)) > 1:
        sets["fitted to other gaits"] = by_others(found, gaits)
    for name, terms in others.items():
        if name != robot:
            sets[f"fitted to {name}"] = [terms] * len(found)

    frictions: dict[str, Friction] = {"true μ": None}
    for part in PARTS:
        frictions[f"configured μ ± {part:g}"] = [_around(x, part) for x in found]
        frictions[f"the same, learned in the episode from ± {part:g}"] = intervals(found, part)
    for title, friction in frictions.items():
        print(f"\n{robot}: {len(found)} landings, 0 ms ahead, {title}\n{HEAD}")
        for name, terms in sets.items():
            scores = [
                scored(x, t, None if friction is None else friction[i])
                for i, (x, t) in enumerate(zip(found, terms, strict=True))
            ]
            rows(name, found, scores)
            if name == "fitted to other gaits":
                for g in sorted(set(gaits)):
                    print(row(f"{name}: {g}", [s for s, own in zip(scores, gaits, strict=True) if own == g]))
            if friction is None:
                _coverage(name, np.array([s.distance for s in scores]), episodes(found))


def _around(landing: Landing, part: float) -> tuple[float, float]:
    middle = float(landing.configured[0])
    return (1.0 - part) * middle, (1.0 + part) * middle


def _coverage(name: str, distances: np.ndarray, names: list[str]) -> None:
    """Print what share of landings 10⁴ random calibrations of the margin hold: of 19 landings, drawn one by one, and
    of whole episodes, until they have 19 landings. What is left is the test."""
    rng = np.random.default_rng(0)
    number = np.unique(names, return_inverse=True)[1]
    single, whole, margins = [], [], []
    for _ in range(_SPLITS):
        order = rng.permutation(len(distances))
        margins.append(split(distances[order[:_CALIBRATION]], 0.95).margin)
        single.append(np.mean(distances[order[_CALIBRATION:]] <= margins[-1]))
        of_episode = rng.permutation(number.max() + 1)[number]
        order = np.argsort(of_episode, kind="stable")
        used = of_episode <= of_episode[order[_CALIBRATION - 1]]
        if not used.all():
            whole.append(np.mean(distances[~used] <= quantile_of_next(distances[used], 0.95)))
    print(
        f"{name}: margins of {landings_needed(0.95)} landings, median {100 * np.median(margins):.1f} %; 10⁴ splits "
        f"hold {np.mean(single):.3f} of the others (landings drawn one by one), {np.mean(whole):.3f} (whole episodes)"
    )


def ahead(robot: str, found: list[Landing]) -> None:
    """Tables of the sets that the estimator published."""
    for lead in LEADS:
        for noisy in (False, True):
            asked = [x for x in found if (lead, noisy) in x.ahead]
            told = [x for x in asked if x.ahead[lead, noisy] is not None]
            print(
                f"\n{robot}: {lead} ms ahead, {'noisy' if noisy else 'exact'}, as published, configured μ; "
                f"{len(found) - len(asked)} landings come after another one; of the others {len(asked) - len(told)} "
                f"are without a set\n{HEAD}"
            )
            if told:
                rows("published", told, [s for x in told if (s := x.ahead[lead, noisy]) is not None])


def candidates(robot: str, found: list[Landing]) -> None:
    """The table of prototypes."""
    print(f"\n{robot}: {len(found)} landings, prototypes of single terms, true μ\n{HEAD}")
    for name, make in CANDIDATES.items():
        rows(name, found, [score(make(x.truth), x.after) for x in found])


def main() -> None:
    parser = argparse.ArgumentParser(description="Containment and size of sets of landings.")
    parser.add_argument("robots", nargs="*", default=["go2", "anymal"], help="go2, anymal, solo12, hyq")
    parser.add_argument("--ground", default="soft", help="of the simulated robots: soft (solref 0.005) or stiff")
    parser.add_argument("--quick", action="store_true", help="fewer simulated landings")
    parser.add_argument("--ahead", action="store_true", help="sets as published, 0 to 20 ms ahead")
    parser.add_argument("--candidates", action="store_true", help="prototypes of single terms")
    chosen = parser.parse_args()
    least = {"frictions": (0.5, 1.0), "drops": 3, "gaits": ("trot",)} if chosen.quick else {}
    of: dict[str, Callable[[], list[Landing]]] = {
        name: (
            (lambda: list(sources.go2(chosen.ahead)))
            if name == "go2"
            else (lambda name=name: list(sources.simulated(name, chosen.ground, ahead=chosen.ahead, **least)))
        )
        for name in chosen.robots
    }
    found = {name: make() for name, make in of.items()}
    for name in [name for name, landings in found.items() if not landings]:
        print(f"{name}: no landings; recordings are looked for in {sources.SHARED / 'data'}")
        del found[name]
    fits = {name: fit(landings) for name, landings in found.items()}
    for name, terms in fits.items():
        print(f"fitted to all of {name}: {terms}")
    for name, landings in found.items():
        at_once(name, landings, fits)
        if chosen.ahead:
            ahead(name, landings)
        if chosen.candidates:
            candidates(name, landings)


if __name__ == "__main__":
    main()
