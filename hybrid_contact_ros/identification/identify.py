"""Restitution and friction from a recording, with intervals for :func:`~hybrid_contact_ros.post_impact_set`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hybrid_contact_ros.config import EstimatorConfig
from hybrid_contact_ros.estimation.impact import impulse_unit
from hybrid_contact_ros.identification.impacts import ObservedImpact, find_impacts
from hybrid_contact_ros.identification.single_body import FEWEST, RESOLUTION, material, quantile, tells
from hybrid_contact_ros.impacts.simultaneous import simultaneous_impact
from hybrid_contact_ros.impacts.velocity_set import post_impact_set
from hybrid_contact_ros.mechanics.model import RigidBodyModel
from hybrid_contact_ros.mechanics.state import RobotState
from hybrid_contact_ros.messages.intake import Intake
from hybrid_contact_ros.replay.bags import BagError, BagReader
from hybrid_contact_ros.replay.streams import Streams

Array = NDArray[np.float64]

CONFIDENCE = 0.95
SPREAD = 0.90
TOLERANCES = (0.05, 0.10, 0.15, 0.20)
_RESAMPLES = 2000
LAWS = ("poisson", "stronge")


@dataclass(frozen=True, slots=True)
class Estimate:
    """A parameter.

    Attributes:
        value: median over ``count`` impacts.
        low, high: 95 % bootstrap interval of ``value``: how well that is known.
        from_, to: 5 and 95 % quantiles over the impacts, within the possible: what a set should cover.
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
        states, impacts: read and found. used: impacts of one contact that its impulse explains.
        law: that e belongs to.
        restitution: of them. slow, fast: its median over the slower and the faster half of the approaches.
        friction: of those of them that slip to the end at that μ, or None if fewer than three clearly do.
        friction_at_least: least μ with which those that stuck to their end stick (95 % quantile), or None if none did.
        unexplained: median part of the jump that no impulse at the contacts explains: the model's geometry or inertia,
            the timing, or noise.
        tested: impacts, also of several contacts, whose v⁺ was compared with a set whose intervals were identified
            from the other half of the recording. contained: part of them within :data:`TOLERANCES` of the jump, in the
            kinetic norm; radius: median of the sets' radius over the jump.
        damage, warnings: as of :class:`~hybrid_contact_ros.replay.run.ReplayResult`.
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
        """For JSON."""
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

    Of each impact of one contact the path of its velocity is followed (:mod:`~.impacts.single_contact`): μ is the one
    whose tangential impulse comes nearest to the observed one, e the law's at that μ. These are the numbers that
    :func:`~hybrid_contact_ros.post_impact_set` takes. An impact that sticks to its end bounds μ from below; μ's
    quantiles are the censored ones of Powell, "Least absolute deviations estimation for the censored regression model",
    J. Econometrics 1984.

    Args:
        bag, config, urdf, joint_states, odometry, robot_description, namespace, twist_in_world: as of
            :func:`~hybrid_contact_ros.replay.run.replay_bag`.
        speed, reach, together: what counts as an impact, and which contacts take part; see
            :func:`~hybrid_contact_ros.identification.impacts.find_impacts`.
        law: "poisson" or "stronge"; that of the configuration (``impact.law``) by default.
        seed: of the bootstrap and of the sets.

    Raises:
        BagError: the recording or its topics.
        ValueError: the configuration, the URDF, the law, or too few impacts.
    """
    for name, number in (("speed", speed), ("reach", reach), ("together", together)):
        if not 0.0 <= number < np.inf:
            raise ValueError(f"{name} is {number}; a finite number ≥ 0 is needed")
    if not isinstance(config, EstimatorConfig):
        config = EstimatorConfig.from_file(config)
    law = config.impact.law if law is None else law
    if law not in LAWS:
        raise ValueError(f"the law is {law!r}, which has no restitution to identify; choose one of {', '.join(LAWS)}")
    with BagReader(bag) as reader:
        names = Streams(joint_states, odometry, robot_description, namespace)
        streams = names.found_in(reader, config.floating_base)
        model = RigidBodyModel.from_urdf(streams.urdf(reader, urdf), config)
        wanted = streams.needed(reader, model)
        intake = Intake(model, config.input, twist_in_world)
        states: list[RobotState] = []
        damage = reader.damage
        try:
            for topic, time_ns, msg in reader.messages(wanted):
                of_joints = topic == streams.joint_states
                state = intake.joint_state(msg, time_ns) if of_joints else intake.odometry(msg, time_ns)
                if state is not None:
                    states.append(state)
        except BagError as error:  # what came before it tells as much as it did
            damage = str(error)
    if not states:
        raise BagError(
            damage or f"{bag} gives no state: {intake.last_fault[1] if intake.last_fault else 'no messages'}"
        )
    found = identify(len(states), find_impacts(model, states, speed, reach, together), law, seed)
    return replace(found, damage=damage or None, warnings=(*reader.warnings, *streams.warnings))


def identify(states: int, impacts: Sequence[ObservedImpact], law: str = "poisson", seed: int = 0) -> Identification:
    """The same from impacts already found.

    Raises:
        ValueError: fewer than three of them tell e.
    """
    used = [impact for impact in impacts if tells(impact)]
    if len(used) < FEWEST:
        raise ValueError(
            f"{len(impacts)} impacts in {states} states, {len(used)} of them of one contact and explained by it; "
            f"{FEWEST} are needed. Record drops onto single contacts, or check the model (hybrid-contact check)"
        )
    rng = np.random.default_rng(seed)
    found = material(used, law)
    e, approach = found.restitution, found.approach
    half = np.median(approach)
    contained, radius, tested = _cross_validate(impacts, law, seed)
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


def _cross_validate(
    impacts: Sequence[ObservedImpact], law: str, seed: int
) -> tuple[tuple[float, ...], float | None, int]:
    """Sets with the intervals of one half of the recording against the other half's impacts, and the reverse."""
    middle = len(impacts) // 2
    distances, radii = [], []
    for train, test in ((impacts[:middle], impacts[middle:]), (impacts[middle:], impacts[:middle])):
        used = [impact for impact in train if tells(impact)]
        if len(used) < FEWEST:
            continue
        found = material(used, law)
        ends = 0.5 - 0.5 * SPREAD, 0.5 + 0.5 * SPREAD
        e = tuple(np.clip(np.quantile(found.restitution, ends), 0.0, 1.0))
        mu = tuple(float(quantile(found.friction, found.sticks_from, part)) for part in ends)
        for impact in test:
            unit = impulse_unit(impact.problem, simultaneous_impact(impact.problem, 8))
            if unit == 0.0:
                continue
            outcomes = post_impact_set(
                impact.problem, 0.5 * unit, 256, 100, seed, 8, law, solutions="one", restitution=e, friction=mu
            )
            root = np.linalg.cholesky(impact.problem.mass).T
            velocities = outcomes.velocities[outcomes.terminated] @ root.T
            if not velocities.size:
                continue
            jump = np.linalg.norm(root @ (impact.after - impact.problem.velocity))
            distances.append(np.linalg.norm(velocities - root @ impact.after, axis=1).min() / jump)
            radii.append(np.linalg.norm(velocities - velocities.mean(axis=0), axis=1).max() / jump)
    if not distances:
        return (), None, 0
    contained = tuple(float(np.mean(np.array(distances) <= t)) for t in TOLERANCES)
    return contained, float(np.median(radii)), len(distances)
