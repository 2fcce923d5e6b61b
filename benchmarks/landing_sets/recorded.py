"""Landings of the benchmarks as the package takes them, and tables of their scores."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from benchmarks.landing_sets.records import Known, Landing
from hybrid_contact_ros.identification.landing_fit import Case
from hybrid_contact_ros.identification.landing_records import RecordedLanding
from hybrid_contact_ros.impacts.landing_model import LandingTerms
from hybrid_contact_ros.scoring.containment import SetScore, summary

Array = NDArray[np.float64]
HEAD = (
    "| set | n | distance median / p90 / p95 | < 5 % | < 10 % | radius | half-width | ball 5 % | ball 10 % |\n"
    "|---|---|---|---|---|---|---|---|---|"
)


def recorded(landing: Landing, known: Known | None = None) -> RecordedLanding:
    """The landing with all that is true of it, or with what was ``known``."""
    known = known or landing.truth
    chosen = known.active
    return RecordedLanding(
        episode=landing.source,
        time_ns=0,
        mass=known.mass,
        bias=known.bias,
        rows=np.ascontiguousarray(known.rows[chosen].reshape(-1, known.velocity.size)),
        hitting=known.hitting[chosen],
        velocity=known.velocity,
        after=landing.after,
        friction=known.friction[chosen],
        restitution=np.zeros(chosen.size),
        duration=landing.duration,
        driven=np.arange(known.velocity.size) >= 6,
    )


def scored(landing: Landing, terms: LandingTerms, friction: tuple[float, float] | None = None) -> SetScore:
    """Against the set of these terms with all that is true; ``friction``: the interval of μ, if not the true one."""
    known = landing.truth
    if friction is not None:
        low, high = friction
        known = known.with_friction(0.5 * (low + high))
        terms = replace(terms, friction=(high - low) / (high + low))
    return Case(recorded(landing, known)).score(terms)


def gait(landing: Landing) -> str:
    """``drop``, ``trot``, …: the recordings are named by it."""
    return landing.source.replace("_", " ").split()[0]


def row(name: str, scores: Sequence[SetScore]) -> str:
    """A line of a table: distance median/p90/p95 (%), within 5 and 10 % (%), radius, half-width, and the ball's."""
    found = summary(scores)
    d = 100.0 * np.array([score.distance for score in scores])
    cells = [name, str(len(scores)), " / ".join(f"{x:.1f}" for x in np.percentile(d, [50, 90, 95]))]
    cells += [f"{100.0 * share:.0f}" for share in (found.within_5, found.within_10)]
    cells += [f"{100.0 * size:.1f}" for size in (found.radius, found.half_width)]
    cells += [f"{100.0 * ball:.0f}" for ball in (found.ball_5, found.ball_10)]
    return "| " + " | ".join(cells) + " |"


def rows(name: str, landings: Sequence[Landing], scores: Sequence[SetScore]) -> None:
    """Print the lines of all landings, of those out of flight, and of those with others standing."""
    for group in ("all", "flight", "standing"):
        chosen = [s for landing, s in zip(landings, scores, strict=True) if group in ("all", landing.group)]
        if chosen:
            print(row(f"{name}, {group}", chosen), flush=True)
