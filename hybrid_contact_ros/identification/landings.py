"""What a robot's landings are like, from recordings: the intervals of the group ``landing``, and a calibrated margin.

Landings are divided by episode: some fit the intervals, others, which the fit has not seen, calibrate the margin, and
the rest tests both.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from hybrid_contact_ros.bags.streams import Streams
from hybrid_contact_ros.config import EstimatorConfig
from hybrid_contact_ros.identification.calibration import Calibration, landings_needed, split
from hybrid_contact_ros.identification.episodes import read_episodes
from hybrid_contact_ros.identification.landing_division import (
    LEAST,
    LEVEL,
    best_price,
    divide,
    fitted,
    jackknifed,
    rounded,
)
from hybrid_contact_ros.identification.landing_fit import Case
from hybrid_contact_ros.identification.landing_friction import with_seen_friction
from hybrid_contact_ros.identification.landing_records import RecordedLanding
from hybrid_contact_ros.impacts.landing_model import LandingTerms
from hybrid_contact_ros.scoring.containment import SetScores, summary


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
    if len(found) < LEAST:
        raise ValueError(f"there are {len(found)} landings; {LEAST} are needed. Record more of them")
    fit, calibration, test = divide([landing.episode for landing in found], level, seed)
    # The fit may look at a whole episode; sets know what a robot knows before a landing.
    seen = [Case(landing) for landing in with_seen_friction(found, True)]
    known = [Case(landing) for landing in with_seen_friction(found, False, friction)]
    names_of = [landing.episode for landing in found]

    def some(cases: Sequence[Case], chosen: Sequence[int]) -> list[Case]:
        return [cases[i] for i in chosen]

    price = best_price(some(seen, fit), some(known, fit), [names_of[i] for i in fit], level)
    terms = fitted(some(seen, fit), price)
    if calibration:
        scores = [case.score(terms).distance for case in some(known, calibration)]
        margin = split(np.array(scores), level)
    else:
        terms, margin = jackknifed(some(seen, fit), some(known, fit), [names_of[i] for i in fit], price, terms, level)
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
