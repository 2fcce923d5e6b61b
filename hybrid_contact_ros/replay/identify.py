"""Restitution and friction from a recording, with intervals for :func:`~hybrid_contact_ros.post_impact_set`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hybrid_contact_ros.config import EstimatorConfig
from hybrid_contact_ros.impacts.velocity_set import impulse_scale, post_impact_set
from hybrid_contact_ros.intake import Intake
from hybrid_contact_ros.mechanics.model import RigidBodyModel
from hybrid_contact_ros.mechanics.state import RobotState
from hybrid_contact_ros.replay.bags import BagError, BagReader
from hybrid_contact_ros.replay.identify_impacts import ObservedImpact, find_impacts
from hybrid_contact_ros.replay.run import JOINT_STATE, ODOMETRY, _description

Array = NDArray[np.float64]

CONFIDENCE = 0.95
SPREAD = 0.90
TOLERANCES = (0.05, 0.10, 0.15, 0.20)
_RESAMPLES = 2000
_DOMINANT = 0.9  # share of the normal impulse that makes an impact that of one contact
_EXPLAINED = 0.15  # most of the jump that its impulses may leave
_COMPLETE = 0.1  # of the approach: what may be left of it after an impact that has ended
_SLIDES = 0.1  # slip after the impact, over the normal approach, from which on the contact slid to the end
_FEWEST = 3


@dataclass(frozen=True, slots=True)
class Estimate:
    """A parameter.

    Attributes:
        value: median over ``count`` impacts (the least absolute deviations).
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
        restitution: of them. slow, fast: its median over the slower and the faster half of the approaches.
        friction: of those of them that slid to the end, or None if fewer than three did.
        friction_at_least: largest |Λ_t| / Λ_n of those that did not (their 95 % quantile), or None if all slid.
        unexplained: median part of the jump that no impulse at the contacts explains: the model's geometry or inertia,
            the timing, or noise.
        tested: impacts, also of several contacts, whose v⁺ was compared with a set whose intervals were identified
            from the other half of the recording. contained: part of them within :data:`TOLERANCES` of the jump, in the
            kinetic norm; radius: median of the sets' radius over the jump.
    """

    states: int
    impacts: int
    used: int
    restitution: Estimate
    slow: float
    fast: float
    friction: Estimate | None
    friction_at_least: float | None
    unexplained: float
    tested: int
    contained: tuple[float, ...]
    radius: float | None

    def to_dict(self) -> dict[str, Any]:
        """For JSON."""
        return asdict(self)


def identify_material(
    bag: str | Path,
    config: EstimatorConfig | str | Path,
    urdf: str | Path | None = None,
    *,
    joint_states: str = "/joint_states",
    odometry: str = "/odom",
    robot_description: str = "/robot_description",
    twist_in_world: bool = False,
    speed: float = 0.15,
    reach: float = 0.02,
    together: float = 0.003,
    seed: int = 0,
) -> Identification:
    """Identify e and μ, one material for all contacts, from the impacts of a recording.

    Args:
        bag, config, urdf, joint_states, odometry, robot_description, twist_in_world: as of
            :func:`~hybrid_contact_ros.replay.run.replay_bag`.
        speed, reach, together: what counts as an impact, and which contacts take part; see
            :func:`~hybrid_contact_ros.replay.identify_impacts.find_impacts`.
        seed: of the bootstrap and of the sets.

    Raises:
        BagError: the recording or its topics.
        ValueError: the configuration, the URDF, or too few impacts.
    """
    for name, number in (("speed", speed), ("reach", reach), ("together", together)):
        if not 0.0 <= number < np.inf:
            raise ValueError(f"{name} is {number}; a finite number ≥ 0 is needed")
    if not isinstance(config, EstimatorConfig):
        config = EstimatorConfig.from_file(config)
    with BagReader(bag) as reader:
        model = RigidBodyModel.from_urdf(_description(reader, urdf, robot_description), config)
        wanted = {joint_states: JOINT_STATE} if model.joint_names else {}
        wanted |= {odometry: ODOMETRY} if config.floating_base else {}
        reader.require(wanted)
        intake = Intake(model, config.input, twist_in_world)
        states: list[RobotState] = []
        for topic, time_ns, msg in reader.messages([*wanted]):
            state = intake.joint_state(msg, time_ns) if topic == joint_states else intake.odometry(msg, time_ns)
            if state is not None:
                states.append(state)
    if not states:
        raise BagError(f"{bag} gives no state: {intake.last_fault or 'no messages'}")
    return identify(len(states), find_impacts(model, states, speed, reach, together), seed)


def identify(states: int, impacts: Sequence[ObservedImpact], seed: int = 0) -> Identification:
    """The same from impacts already found.

    Raises:
        ValueError: fewer than three of them tell e.
    """
    used = [impact for impact in impacts if _single(impact)]
    if len(used) < _FEWEST:
        raise ValueError(
            f"{len(impacts)} impacts in {states} states, {len(used)} of them of one contact and explained by it; "
            f"{_FEWEST} are needed. Record drops onto single contacts, or check the model (hybrid-contact check)"
        )
    rng = np.random.default_rng(seed)
    e, approach, mu, slid = _material(used)
    half = np.median(approach)
    contained, radius, tested = _cross_validate(impacts, seed)
    return Identification(
        states=states,
        impacts=len(impacts),
        used=len(used),
        restitution=_estimate(e, 1.0, rng),
        slow=float(np.median(e[approach <= half])),
        fast=float(np.median(e[approach >= half])),
        friction=_estimate(mu[slid], np.inf, rng) if slid.sum() >= _FEWEST else None,
        friction_at_least=float(np.quantile(mu[~slid], 0.95)) if (~slid).any() else None,
        unexplained=float(np.median([impact.unexplained for impact in impacts])),
        tested=tested,
        contained=contained,
        radius=radius,
    )


def _single(impact: ObservedImpact) -> bool:
    normal = impact.impulse[:, 0]
    main = int(normal.argmax())
    before, after = (u[main, 0] for u in impact.velocities)
    alone = normal[main] >= _DOMINANT * normal.sum() > 0.0
    return bool(alone and impact.unexplained <= _EXPLAINED and before < 0.0 and after >= _COMPLETE * before)


def _material(used: Sequence[ObservedImpact]) -> tuple[Array, Array, Array, NDArray[np.bool_]]:
    """Of each impact e, the speed of approach, |Λ_t| / Λ_n, and whether it slid to its end."""
    e, approach, mu, slid = [], [], [], []
    for impact in used:
        i = int(impact.impulse[:, 0].argmax())
        before, after = (u[i] for u in impact.velocities)
        along = impact.impulse[i]
        e.append(-after[0] / before[0])
        approach.append(-before[0])
        mu.append(float(np.linalg.norm(along[1:])) / along[0])
        against = float(along[1:] @ after[1:]) < 0.0
        slid.append(against and float(np.linalg.norm(after[1:])) > _SLIDES * -before[0])
    return np.array(e), np.array(approach), np.array(mu), np.array(slid, dtype=bool)


def _estimate(values: Array, most: float, rng: np.random.Generator) -> Estimate:
    tail = 0.5 * (1.0 - CONFIDENCE), 0.5 * (1.0 + CONFIDENCE)
    medians = np.median(rng.choice(values, (_RESAMPLES, values.size)), axis=1)
    low, high = np.clip(np.quantile(medians, tail), 0.0, most)
    from_, to = np.clip(np.quantile(values, (0.5 - 0.5 * SPREAD, 0.5 + 0.5 * SPREAD)), 0.0, most)
    value = float(np.clip(np.median(values), 0.0, most))
    return Estimate(value, float(low), float(high), float(from_), float(to), values.size)


def _cross_validate(impacts: Sequence[ObservedImpact], seed: int) -> tuple[tuple[float, ...], float | None, int]:
    """Sets with the intervals of one half of the recording against the other half's impacts, and the reverse."""
    middle = len(impacts) // 2
    distances, radii = [], []
    for train, test in ((impacts[:middle], impacts[middle:]), (impacts[middle:], impacts[:middle])):
        used = [impact for impact in train if _single(impact)]
        if len(used) < _FEWEST:
            continue
        e, _, mu, slid = _material(used)
        e_low, e_high = np.clip(np.quantile(e, (0.05, 0.95)), 0.0, 1.0)
        mu_low, mu_high = np.quantile(mu[slid] if slid.sum() >= _FEWEST else mu, (0.05, 0.95))
        for impact in test:
            scale = impulse_scale(impact.problem)
            if scale == 0.0:
                continue
            found = post_impact_set(
                impact.problem, 0.5 * scale, 256, 100, seed, 8, "poisson", solutions="one",
                restitution=(e_low, e_high), friction=(mu_low, mu_high),
            )  # fmt: skip
            root = np.linalg.cholesky(impact.problem.mass).T
            ends = found.velocities[found.terminated] @ root.T
            if not ends.size:
                continue
            jump = np.linalg.norm(root @ (impact.after - impact.problem.velocity))
            distances.append(np.linalg.norm(ends - root @ impact.after, axis=1).min() / jump)
            radii.append(np.linalg.norm(ends - ends.mean(axis=0), axis=1).max() / jump)
    if not distances:
        return (), None, 0
    contained = tuple(float(np.mean(np.array(distances) <= t)) for t in TOLERANCES)
    return contained, float(np.median(radii)), len(distances)
