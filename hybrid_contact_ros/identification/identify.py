"""Restitution and friction from a recording, with intervals for :func:`~hybrid_contact_ros.post_impact_set`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hybrid_contact_ros.bags.streams import Streams
from hybrid_contact_ros.config import EstimatorConfig
from hybrid_contact_ros.identification.material import MIN_IMPACTS, RESOLUTION, material, quantile, tells
from hybrid_contact_ros.identification.observed_impacts import ObservedImpact, find_impacts
from hybrid_contact_ros.identification.reading import read_states
from hybrid_contact_ros.identification.validation import cross_validated

Array = NDArray[np.float64]

CONFIDENCE = 0.95
"""Confidence of the bootstrap intervals."""
SPREAD = 0.90
"""Share of the single impacts that ``from_`` to ``to`` covers."""
LAWS = ("poisson", "stronge")
"""Impact laws with a restitution."""
_RESAMPLES = 2000  # of the bootstrap


@dataclass(frozen=True, slots=True)
class Estimate:
    """One parameter.

    Attributes:
        value: median over the impacts.
        low, high: 95 % bootstrap interval of ``value``; it says how well the value is known.
        from_, to: 5 and 95 % quantiles over the impacts, within what is possible; a set should cover them.
        count: number of impacts.
    """

    value: float
    low: float
    high: float
    from_: float
    to: float
    count: int


@dataclass(frozen=True, slots=True)
class Identification:
    """What a recording says of e and μ.

    Attributes:
        states: number of states that were read.
        impacts: number of impacts that were found.
        used: number of those that are of one contact and that its impulse explains.
        law: the impact law that e belongs to.
        restitution: e of the used impacts.
        slow, fast: median of e over the slower and the faster half of the approaches.
        friction: μ of the used impacts that slip to their end, or None where fewer than three clearly do.
        friction_at_least: least μ with which the impacts that stuck stick (95 % quantile), or None where none stuck.
        unexplained: median part of the jump that no impulse at the contacts explains. It comes from the geometry or the
            inertia of the model, from the timing, or from noise.
        tested: number of impacts, also of several contacts, whose v⁺ was compared with a set. The intervals of the set
            were identified from the other half of the recording.
        contained: part of them within each of :data:`~.validation.TOLERANCES`, in the kinetic norm.
        radius: median radius of the sets, as a part of the jump.
        damage, warnings: as of :class:`~hybrid_contact_ros.replay.result.ReplayResult`.
    """

    states: int
    impacts: int
    used: int
    law: str
    restitution: Estimate
    slow: float
    fast: float
    friction: Estimate | None
    friction_at_least: float | None
    unexplained: float
    tested: int
    contained: tuple[float, ...]
    radius: float | None
    damage: str | None = None
    warnings: tuple[str, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """Plain values for JSON."""
        return asdict(self)


def identify_material(
    bag: str | Path,
    config: EstimatorConfig | str | Path,
    urdf: str | Path | None = None,
    *,
    joint_states: str = "joint_states",
    odometry: str = "odom",
    robot_description: str = "robot_description",
    namespace: str = "",
    twist_in_world: bool = False,
    speed: float = 0.15,
    reach: float = 0.02,
    together: float = 0.003,
    law: str | None = None,
    seed: int = 0,
) -> Identification:
    """Identify e and μ, one material for all contacts, from the impacts of a recording.

    The path of the velocity is followed through each impact of one contact (:mod:`~.impacts.single_contact`). μ is the
    coefficient whose tangential impulse comes nearest to the observed one, and e is that of the law at this μ. These
    are the numbers that :func:`~hybrid_contact_ros.post_impact_set` takes. An impact that sticks to its end bounds μ
    from below, and the quantiles of μ are the censored ones of Powell, "Least absolute deviations estimation for the
    censored regression model", J. Econometrics 1984.

    Args:
        bag, config, urdf, joint_states, odometry, robot_description, namespace, twist_in_world: as of
            :func:`~hybrid_contact_ros.replay.run.replay_bag`.
        speed, reach, together: what counts as an impact, and which contacts take part; see
            :func:`~hybrid_contact_ros.identification.observed_impacts.find_impacts`.
        law: "poisson" or "stronge"; by default ``impact.law`` of the configuration.
        seed: seed of the bootstrap and of the sets.

    Raises:
        BagError: the recording or its topics cannot be used.
        ValueError: the configuration, the URDF or the law cannot be used, or there are too few impacts.

    Example:
        >>> found = identify_material("tosses.mcap", "config/cube.yaml", "config/cube.urdf")    # doctest: +SKIP
        >>> print(f"e = {found.restitution.value:.2f}, μ = {found.friction.value:.2f}")         # doctest: +SKIP
    """
    for name, number in (("speed", speed), ("reach", reach), ("together", together)):
        if not 0.0 <= number < np.inf:
            raise ValueError(f"{name} is {number}; a finite number ≥ 0 is needed")
    if not isinstance(config, EstimatorConfig):
        config = EstimatorConfig.from_file(config)
    law = config.impact.law if law is None else law
    if law not in LAWS:
        raise ValueError(f"the law is {law!r}, which has no restitution to identify; choose one of {', '.join(LAWS)}")
    names = Streams(joint_states, odometry, robot_description, namespace)
    read = read_states(bag, config, urdf, names, twist_in_world)
    states = read.states
    found = identify(len(states), find_impacts(read.model, states, speed, reach, together), law, seed)
    return replace(found, damage=read.damage, warnings=read.warnings)


def identify(states: int, impacts: Sequence[ObservedImpact], law: str = "poisson", seed: int = 0) -> Identification:
    """Identify e and μ from impacts that were found in this number of states.

    Raises:
        ValueError: fewer than three of them tell e.
    """
    used = [impact for impact in impacts if tells(impact)]
    if len(used) < MIN_IMPACTS:
        raise ValueError(
            f"{len(impacts)} impacts in {states} states, {len(used)} of them of one contact and explained by it; "
            f"{MIN_IMPACTS} are needed. Record drops onto single contacts, or check the model (hybrid-contact check)"
        )
    rng = np.random.default_rng(seed)
    found = material(used, law)
    e, approach = found.restitution, found.approach
    half = np.median(approach)
    contained, radius, tested = cross_validated(impacts, law, SPREAD, seed)
    return Identification(
        states=states,
        impacts=len(impacts),
        used=len(used),
        law=law,
        restitution=_estimate(e, np.full(e.size, np.inf), 1.0, rng),
        slow=float(np.median(e[approach <= half])),
        fast=float(np.median(e[approach >= half])),
        friction=_estimate(found.friction, found.sticks_from, np.inf, rng) if found.slips else None,
        friction_at_least=float(np.quantile(found.sticks_from[found.stuck], 0.95)) if found.stuck.any() else None,
        unexplained=float(np.median([impact.unexplained for impact in impacts])),
        tested=tested,
        contained=contained,
        radius=radius,
    )


def _estimate(values: Array, most: Array, top: float, rng: np.random.Generator) -> Estimate:
    tail = 0.5 * (1.0 - CONFIDENCE), 0.5 * (1.0 + CONFIDENCE)
    n = values.size
    weights = rng.multinomial(n, np.full(n, 1.0 / n), _RESAMPLES).astype(np.float64)
    low, high = np.quantile(quantile(values, most, 0.5, weights), tail)
    low, high = np.clip((low - RESOLUTION, high + RESOLUTION), 0.0, top)
    value, from_, to = (
        float(np.clip(quantile(values, most, part), 0.0, top)) for part in (0.5, 0.5 - 0.5 * SPREAD, 0.5 + 0.5 * SPREAD)
    )
    return Estimate(value, float(low), float(high), from_, to, int((most > value).sum()))
