"""Landings that are divided by episode: which fit the intervals, which calibrate the margin, which test both."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields

import numpy as np

from hybrid_contact_ros.identification.calibration import (
    Calibration,
    jackknife,
    landings_needed,
    quantile_of_next,
)
from hybrid_contact_ros.identification.landing_fit import INTERVALS, Case, fit_terms
from hybrid_contact_ros.impacts.landing_model import LandingTerms

LEVEL = 0.95
PRICES = (1.0, 2.0, 4.0, 8.0)
"""Prices of what a fit leaves over; the one whose sets are smallest with their margin is taken."""
LEAST = 10
"""Landings that a fit needs."""
_MOST = 120  # landings that a fit sees; more change nothing but the time


def divide(episodes: Sequence[str], level: float, seed: int) -> tuple[list[int], list[int], list[int]]:
    """Landings for fit, calibration and test, by episode: a quarter of the episodes tests; a quarter of the landings or
    more, and as many as ``level`` needs, calibrate. Where less than half of the rest would be left for the fit, none is
    set apart for calibration: jackknife+ does without."""
    names = np.array(sorted(set(episodes)))
    names = names[np.random.default_rng(seed).permutation(len(names))]
    members = {name: [i for i, episode in enumerate(episodes) if episode == name] for name in names}
    tests = len(names) // 4
    test = [i for name in names[:tests] for i in members[name]]
    rest = len(episodes) - len(test)
    wanted = max(landings_needed(level), rest // 4)
    calibration: list[int] = []
    first = tests
    while first < len(names) - 1 and len(calibration) < wanted:
        calibration += members[names[first]]
        first += 1
    fit = [i for name in names[first:] for i in members[name]]
    if len(calibration) < landings_needed(level) or len(fit) < max(LEAST, rest // 3):
        fit, calibration = [i for name in names[tests:] for i in members[name]], []
    return sorted(fit), sorted(calibration), sorted(test)


def least_terms(
    seen: Sequence[Case], known: Sequence[Case], episodes: Sequence[str], level: float = LEVEL
) -> LandingTerms:
    """The intervals that these landings make; arguments as of :func:`best_price`."""
    return fitted(seen, best_price(seen, known, episodes, level))


def best_price(seen: Sequence[Case], known: Sequence[Case], episodes: Sequence[str], level: float) -> float:
    """The price whose sets, fitted to one half of the episodes, are smallest with the margin that the other half needs.

    Args:
        seen: landings as the fit sees them. known: the same landings, as sets know them. episodes: of each.
    """
    first = set(sorted(set(episodes))[::2])
    one = [i for i, episode in enumerate(episodes) if episode in first]
    other = [i for i, episode in enumerate(episodes) if episode not in first]
    if min(len(one), len(other)) < LEAST // 2:
        return PRICES[len(PRICES) // 2]

    def size(price: float) -> float:
        terms = fitted([seen[i] for i in one], price)
        scores = [known[i].score(terms) for i in other]
        distances = np.array([score.distance for score in scores])
        margin = quantile_of_next(distances, min(level, len(scores) / (len(scores) + 1.0)))
        return float(np.median([score.half_width for score in scores])) + margin

    return min(PRICES, key=size)


def fitted(cases: Sequence[Case], price: float) -> LandingTerms:
    """The intervals that these landings make at a price; of many landings, of some."""
    order = np.random.default_rng(0).permutation(len(cases))[:_MOST]
    return fit_terms([cases[i] for i in sorted(order)], price)


def jackknifed(
    seen: Sequence[Case],
    known: Sequence[Case],
    episodes: Sequence[str],
    price: float,
    terms: LandingTerms,
    level: float,
) -> tuple[LandingTerms, Calibration]:
    """Terms that hold every fit without one of the episodes, and the margin by the scores of the ones left out."""
    distances: list[float] = []
    for name in sorted(set(episodes)):
        without = fitted([case for case, own in zip(seen, episodes, strict=True) if own != name], price)
        distances += [case.score(without).distance for case, own in zip(known, episodes, strict=True) if own == name]
        terms = _both(terms, without)
    return terms, jackknife(np.array(distances), len(set(episodes)), level)


def _both(a: LandingTerms, b: LandingTerms) -> LandingTerms:
    """Intervals that hold those of both."""
    least = [f"{name}_min" for name in INTERVALS]
    names = [field.name for field in fields(LandingTerms)]
    return LandingTerms(**{n: (min if n in least else max)(getattr(a, n), getattr(b, n)) for n in names})


def rounded(terms: LandingTerms) -> LandingTerms:
    """The terms with two significant digits, and never narrower."""
    values = {}
    for field in fields(LandingTerms):
        value = getattr(terms, field.name)
        unit = 10.0 ** (np.floor(np.log10(abs(value))) - 1.0) if abs(value) > 1e-9 else 1.0
        down = field.name.endswith("_min")
        value = (np.floor(value / unit + 1e-9) if down else np.ceil(value / unit - 1e-9)) * unit
        values[field.name] = float(f"{value:.2g}") if abs(value) > 1e-9 else 0.0
    return LandingTerms(**values)
