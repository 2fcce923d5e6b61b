"""What a robot's landings are like, from recordings: the intervals of the group ``landing``, and a calibrated margin.

Landings are divided by episode: some fit the intervals, others, which the fit has not seen, calibrate the margin, and
the rest tests both.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, fields, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hybrid_contact_ros.bags.streams import Streams
from hybrid_contact_ros.config import EstimatorConfig
from hybrid_contact_ros.identification.calibration import (
    Calibration,
    jackknife,
    landings_needed,
    quantile_of_next,
    split,
)
from hybrid_contact_ros.identification.episodes import read_episodes
from hybrid_contact_ros.identification.landing_fit import INTERVALS, Case, fit_terms
from hybrid_contact_ros.identification.landing_friction import with_seen_friction
from hybrid_contact_ros.identification.landing_records import RecordedLanding
from hybrid_contact_ros.impacts.landing_model import LandingTerms
from hybrid_contact_ros.scoring.containment import SetScores, summary

Array = NDArray[np.float64]

LEVEL = 0.95
PRICES = (1.0, 2.0, 4.0, 8.0)
"""Prices of what a fit leaves over; the one whose sets are smallest with their margin is taken."""
_MOST = 120  # landings that a fit sees; more change nothing but the time
_LEAST = 10  # landings that a fit needs


@dataclass(frozen=True, slots=True)
class LandingIdentification:
    """What recordings say of landings.

    Attributes:
        episodes, landings: that were found. durations: s, quantiles 5, 50, 95 % from v⁻ to v⁺.
        fitted, tested: landings of the fit and of the test; of the calibration: ``calibration.count``.
        terms: the intervals; their margin is the calibrated one. calibration: of the margin.
        damping: gain of the drives, N m s/rad, where it was told; time_constant: s, drive_min and drive_max over it.
        before, after: scores of the test landings without and with the margin; None where none were left for a test.
        damage, warnings: as of :class:`~hybrid_contact_ros.replay.result.ReplayResult`.
    """

    episodes: int
    landings: int
    durations: tuple[float, float, float]
    fitted: int
    tested: int
    terms: LandingTerms
    calibration: Calibration
    damping: float | None
    before: SetScores | None
    after: SetScores | None
    damage: str | None = None
    warnings: tuple[str, ...] = ()

    @property
    def time_constant(self) -> tuple[float, float] | None:
        if self.damping is None:
            return None
        return self.terms.drive_min / self.damping, self.terms.drive_max / self.damping

    def to_dict(self) -> dict[str, Any]:
        """Plain values for JSON."""
        return asdict(self) | {"time_constant": self.time_constant}


def identify_landings(
    bags: Sequence[str | Path],
    config: EstimatorConfig | str | Path,
    urdf: str | Path | None = None,
    *,
    joint_states: str = "joint_states",
    odometry: str = "odom",
    robot_description: str = "robot_description",
    namespace: str = "",
    twist_in_world: bool = False,
    level: float = LEVEL,
    damping: float | None = None,
    reach: float = 0.02,
    seed: int = 0,
) -> LandingIdentification:
    """Identify what a robot's landings add to its impact law.

    Args:
        bags: recordings of one robot; each is an episode, but for copies, which count once, and predictions, which are
            passed over (:func:`~hybrid_contact_ros.identification.episodes.read_episodes`).
        config … twist_in_world: as of :func:`~hybrid_contact_ros.identification.identify.identify_material`.
        level: share of landings that sets with the margin are to hold. damping: gain of the drives, N m s/rad.
        reach: m, a foot with a larger gap does not land. seed: of the division into fit, calibration and test.

    Raises:
        BagError: a recording or its topics cannot be used.
        ValueError: too few episodes or landings, no efforts, states too far apart, or another robot in one of them.

    Example:
        >>> found = identify_landings(sorted(Path("drops").iterdir()), "config/go2.yaml")       # doctest: +SKIP
        >>> print(parameter_file(found))                                                        # doctest: +SKIP
    """
    landings_needed(level)
    if damping is not None and not 0.0 < damping < np.inf:
        raise ValueError(f"the damping gain is {damping}; a finite number > 0 is needed")
    if not isinstance(config, EstimatorConfig):
        config = EstimatorConfig.from_file(config)
    streams = Streams(joint_states, odometry, robot_description, namespace)
    read = read_episodes(bags, config, urdf, streams, twist_in_world, reach)
    result = identify(read.landings, read.episodes, level, damping, seed, config.impact.friction_margin)
    return replace(result, damage=read.damage, warnings=read.warnings)


def identify(
    found: Sequence[RecordedLanding],
    episodes: int,
    level: float = LEVEL,
    damping: float | None = None,
    seed: int = 0,
    friction: float = 0.0,
) -> LandingIdentification:
    """Identify from landings that were found. ``friction``: part of the configured μ by which its interval goes to both
    sides where an episode has not shown more (``impact.friction_margin``).

    Raises:
        ValueError: too few episodes or landings.
    """
    if not found:
        raise ValueError(
            f"there are no landings in {episodes} episodes: no foot is arrested from 0.3 m/s or more within 25 ms"
        )
    names = sorted({landing.episode for landing in found})
    if len(names) < 2:
        raise ValueError(
            f"all {len(found)} landings are of one episode; fit and calibration need landings of different ones"
        )
    if len(found) < _LEAST:
        raise ValueError(f"there are {len(found)} landings; {_LEAST} are needed. Record more of them")
    fit, calibration, test = divide([landing.episode for landing in found], level, seed)
    # The fit may look at a whole episode; sets know what a robot knows before a landing.
    seen = [Case(landing) for landing in with_seen_friction(found, True)]
    known = [Case(landing) for landing in with_seen_friction(found, False, friction)]
    names_of = [landing.episode for landing in found]

    def some(cases: Sequence[Case], chosen: Sequence[int]) -> list[Case]:
        return [cases[i] for i in chosen]

    price = best_price(some(seen, fit), some(known, fit), [names_of[i] for i in fit], level)
    terms = _fitted(some(seen, fit), price)
    if calibration:
        scores = [case.score(terms).distance for case in some(known, calibration)]
        margin = split(np.array(scores), level)
    else:
        terms, margin = _jackknifed(some(seen, fit), some(known, fit), [names_of[i] for i in fit], price, terms, level)
    before = [case.score(terms) for case in some(known, test)]
    terms = rounded(replace(terms, margin=margin.margin))
    after = [case.score(terms) for case in some(known, test)]
    return LandingIdentification(
        episodes=len(names),
        landings=len(found),
        durations=tuple(np.quantile([landing.duration for landing in found], [0.05, 0.5, 0.95]).tolist()),
        fitted=len(fit),
        tested=len(test),
        terms=terms,
        calibration=replace(margin, margin=terms.margin),
        damping=damping,
        before=summary(before) if test else None,
        after=summary(after) if test else None,
    )


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
    if len(calibration) < landings_needed(level) or len(fit) < max(_LEAST, rest // 3):
        fit, calibration = [i for name in names[tests:] for i in members[name]], []
    return sorted(fit), sorted(calibration), sorted(test)


def least_terms(
    seen: Sequence[Case], known: Sequence[Case], episodes: Sequence[str], level: float = LEVEL
) -> LandingTerms:
    """The intervals that these landings make; arguments as of :func:`best_price`."""
    return _fitted(seen, best_price(seen, known, episodes, level))


def best_price(seen: Sequence[Case], known: Sequence[Case], episodes: Sequence[str], level: float) -> float:
    """The price whose sets, fitted to one half of the episodes, are smallest with the margin that the other half needs.

    Args:
        seen: landings as the fit sees them. known: the same landings, as sets know them. episodes: of each.
    """
    first = set(sorted(set(episodes))[::2])
    one = [i for i, episode in enumerate(episodes) if episode in first]
    other = [i for i, episode in enumerate(episodes) if episode not in first]
    if min(len(one), len(other)) < _LEAST // 2:
        return PRICES[len(PRICES) // 2]

    def size(price: float) -> float:
        terms = _fitted([seen[i] for i in one], price)
        scores = [known[i].score(terms) for i in other]
        distances = np.array([score.distance for score in scores])
        margin = quantile_of_next(distances, min(level, len(scores) / (len(scores) + 1.0)))
        return float(np.median([score.half_width for score in scores])) + margin

    return min(PRICES, key=size)


def _fitted(cases: Sequence[Case], price: float) -> LandingTerms:
    order = np.random.default_rng(0).permutation(len(cases))[:_MOST]
    return fit_terms([cases[i] for i in sorted(order)], price)


def _jackknifed(
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
        without = _fitted([case for case, own in zip(seen, episodes, strict=True) if own != name], price)
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


def parameter_file(found: LandingIdentification) -> str:
    """The group ``landing`` as a part of a ROS parameter file."""
    terms, calibration = found.terms, found.calibration
    low, middle, high = (1e3 * value for value in found.durations)
    seconds = found.time_constant
    of_drive = "every joint: armature, and damping gain times duration"
    if seconds is not None:
        of_drive = (
            f"the damping gain, {found.damping:g} N m s/rad, times {1e3 * seconds[0]:.2g}-{1e3 * seconds[1]:.2g} ms"
        )
    said = {
        "duration_min": f"s; recorded landings took {low:.1f} to {high:.1f} ms, median {middle:.1f} ms",
        "rebound_min": "part of the approach of a hitting foot; below 0 it approaches still",
        "drive_min": f"kg m^2; {of_drive}",
        "drive_own": "kg m^2, of each joint by itself, above and below",
        "slip": "part of its approach that a hitting foot moves along the ground",
        "creep": "part of its tangential speed that a hitting foot keeps",
        "settling": "part of its velocity by which a standing, moving foot changes",
        "bounce": "part of the fastest approach, along the normal of such a foot",
        "margin": "of the nominal jump, relative to which distances are measured",
        "level": f"on average over calibrations and landings of episodes like the {found.episodes} recorded ones",
    }
    lines = [
        "/**:",
        "  ros__parameters:",
        "    landing:",
        f"      # Identified from {found.landings} landings of {found.episodes} episodes: {found.fitted} fitted the",
        f"      # intervals, {calibration.count} calibrated the margin, {found.tested} tested both.",
    ]
    values: dict[str, Any] = {f.name: getattr(terms, f.name) for f in fields(terms) if f.name != "friction"}
    values |= {
        "level": float(f"{calibration.level:.3g}"),
        "calibration_count": calibration.count,
        "calibration_method": calibration.method,
    }
    for name, value in values.items():
        text = f"{name}: {_plain(value)}"
        lines.append(f"      {text:<28}# {said[name]}" if name in said else f"      {text}")
    return "\n".join(lines) + "\n"


def _plain(value: float | int | str) -> str:
    if not isinstance(value, float):
        return str(value)
    text = f"{value:.6f}".rstrip("0")
    return text + "0" if text.endswith(".") else text
