"""Landings of legged robots in recordings of 1 kHz, with what is true of them and what was known ahead of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from benchmarks.estimator import NOISE, states
from hybrid_contact_ros.config import EstimatorConfig
from hybrid_contact_ros.estimator import ContactEstimator, Parts
from hybrid_contact_ros.impacts.convex_set import convex_set
from hybrid_contact_ros.mechanics.model import RigidBodyModel
from hybrid_contact_ros.mechanics.state import RobotState
from hybrid_contact_ros.prediction import ImpactPrediction
from hybrid_contact_ros.scoring.containment import SetScore, set_score

Array = NDArray[np.float64]
STEP = 0.001  # s, between samples
Place = tuple[int, int, dict[int, int]]
LEADS = (0, 5, 10, 20)  # samples before v⁻
_ARRESTED, _LONGEST, _SLOWEST = 0.1, 25, 0.3  # part of the speed of approach; samples; m/s
_WARM = 40  # samples that the estimator sees before it is asked


@dataclass(frozen=True, slots=True, eq=False)
class Known:
    """What a set is made from.

    Attributes:
        mass (nv, nv), bias = h − Sᵀτ (nv,), rows (m, 3, nv; normal first), gap (m,): before the landing.
        velocity: v⁻ (nv,). standing (m,), hitting (m,): bool. friction (m,).
        delays: (m,) s, from v⁻ to the touch of each hitting contact; 0 for those that stand.
    """

    mass: Array
    bias: Array
    rows: Array
    gap: Array
    velocity: Array
    standing: NDArray[np.bool_]
    hitting: NDArray[np.bool_]
    friction: Array
    delays: Array

    @property
    def active(self) -> NDArray[np.intp]:
        return np.flatnonzero(self.standing | self.hitting)

    def with_friction(self, mu: float) -> Known:
        return replace(self, friction=np.full(self.friction.size, mu))


@dataclass(frozen=True, slots=True, eq=False)
class Landing:
    """One landing.

    Attributes:
        source: of the recording. group: "flight" (no foot stood before it) or "standing".
        truth: what a set with all knowledge is made from: true v⁻, contacts, times of touch, friction.
        after: true v⁺ (nv,). duration: from v⁻ to v⁺, s.
        efforts: (k, nv) −bias by the true torques of each sample from v⁻ to v⁺: M Δv = Σ efforts · STEP + Jᵀλ.
        configured: friction that the robot believes in, (m,).
        impulses: (m, 3) N s, true, where the recording has them.
        ahead: scores of the sets that the estimator published (lead in samples, noisy); None where there was no set.
    """

    source: str
    group: str
    truth: Known
    after: Array
    duration: float
    efforts: Array
    configured: Array
    impulses: Array | None = None
    ahead: dict[tuple[int, bool], SetScore | None] = field(default_factory=dict)


def find(closed: NDArray[np.bool_], vertical: Array, window: int = 0) -> list[Place]:
    """Landings of an episode: sample of v⁻, sample of v⁺, and the sample of touch of each foot in it.

    The rule is that of ``recordings/go2.py``: v⁻ is the sample before the first touch; v⁺ the first sample at which
    every foot of the landing has lost nine tenths of its speed of approach (taken two samples before its touch); feet
    that touch before that end belong to the landing. Landings where no foot approaches at v⁻ with 0.3 m/s or more, or
    longer than 25 ms, are left out.
    Clusters are therefore as long as the robot makes them; with a ``window`` (samples) feet that touch within it of the
    first belong to the landing, too.
    """
    rises = np.argwhere(closed[1:] & ~closed[:-1])
    rises[:, 0] += 1
    found, i = [], 0
    while i < len(rises):
        first, end, speed = int(rises[i][0]), 0, 0.0
        touches: dict[int, int] = {}
        while i < len(rises) and (not touches or rises[i][0] <= max(end, first + window)):
            k, foot = (int(x) for x in rises[i])
            approach = max(0.0, -float(vertical[max(k - 2, 0), foot]))
            arrested = np.flatnonzero(vertical[k:, foot] >= -_ARRESTED * approach)
            end = max(end, k + int(arrested[0]) if arrested.size else len(closed))
            speed = max(speed, -float(vertical[first - 1, foot]))
            touches.setdefault(foot, k)
            i += 1
        if first >= 1 and end < len(closed) and end - first <= _LONGEST and speed > _SLOWEST:
            found.append((first - 1, end, touches))
    return found


def landings(
    model: RigidBodyModel,
    config: EstimatorConfig,
    data: dict[str, Array],
    source: str,
    ahead: bool = True,
    window: int = 0,
) -> list[Landing]:
    """The landings of an episode laid out as the Go2 recordings, or as ``benchmarks.gaits.record`` makes them."""
    n = int(np.searchsorted(data["time"], data["valid_until"], "right"))
    closed = data["foot_contact"][:n].astype(bool)
    exact = states(model, data, None)
    found = []
    places = find(closed, data["foot_vel"][:n, :, 2], window)
    for before, end, touches in places:
        hitting = np.zeros(closed.shape[1], dtype=bool)
        hitting[list(touches)] = True
        standing = closed[before] & ~hitting
        known = _known(model, exact[before], standing, hitting, np.full(closed.shape[1], float(data["mu"])))
        approach = np.minimum(known.rows[:, 0] @ known.velocity, -1e-3)
        # To the touch itself: of the first by its gap, of the others by the sample in which they touch.
        delays = np.where(hitting, np.clip(-known.gap / approach, 0.0, STEP), 0.0)
        for foot, k in touches.items():
            delays[foot] += max(k - before - 1, 0) * STEP
        efforts = np.array([-model.problem(exact[k]).bias_force for k in range(before, end)])
        impulses = data["foot_impulse"][before:end].sum(axis=0) if "foot_impulse" in data else None
        found.append(
            Landing(
                source=source,
                group="standing" if standing.any() else "flight",
                truth=replace(known, delays=delays),
                after=exact[end].v.astype(np.float64),
                duration=(end - before) * STEP,
                efforts=efforts,
                configured=model.friction.copy(),
                impulses=impulses,
            )
        )
    if ahead:
        for noisy in (False, True):
            seen = states(model, data, NOISE) if noisy else exact
            _look_ahead(model, config, seen, places, found, noisy)
    return found


def _known(
    model: RigidBodyModel, state: RobotState, standing: NDArray[np.bool_], hitting: NDArray[np.bool_], friction: Array
) -> Known:
    problem = model.problem(state)
    rows = problem.jacobian().reshape(problem.contacts, 3, problem.nv).copy()
    return Known(
        mass=problem.mass.copy(),
        bias=problem.bias_force.copy(),
        rows=rows,
        gap=problem.gap.copy(),
        velocity=state.v.astype(np.float64),
        standing=standing,
        hitting=hitting,
        friction=friction,
        delays=np.zeros(problem.contacts),
    )


def _look_ahead(
    model: RigidBodyModel,
    config: EstimatorConfig,
    seen: Sequence[RobotState],
    places: Sequence[Place],
    found: Sequence[Landing],
    noisy: bool,
) -> None:
    """Score the sets that the estimator publishes ahead of each landing, as it is configured, without a deadline: of
    those of a state the one with the landing's contacts, or else the main one.

    A landing that is not the next one, since another foot touches between the state and v⁻, is not asked for.
    """
    estimator = ContactEstimator(model, replace(config, impact=replace(config.impact, deadline=0.0)))
    asked: dict[int, list[tuple[int, int]]] = {}
    touches = np.array(sorted(k for _, _, feet in places for k in feet.values()))
    for i, place in enumerate(places):
        for lead in LEADS:
            if place[0] - lead > _WARM and not is_later(place, lead, touches):
                asked.setdefault(place[0] - lead, []).append((i, lead))
    for k, state in enumerate(seen):
        answer = estimator.update(state, Parts.MODE | Parts.IMPACT if k in asked else Parts.MODE)
        for i, lead in asked.get(k, ()):
            one = None if answer.impact is None else of_landing(answer.impact, found[i])[0]
            known = one is not None and one.jump > 0.0 and len(one.velocities) > 0
            found[i].ahead[lead, noisy] = (
                set_score(convex_set(one), one.nominal, found[i].after) if one is not None and known else None
            )


def is_later(place: Place, lead: int, touches: NDArray[np.intp]) -> bool:
    """Whether another foot touches between a state, ``lead`` samples before v⁻, and v⁻; touches: samples, ascending."""
    before = place[0]
    return bool(((touches > before - lead) & (touches <= before)).any())


def of_landing(published: ImpactPrediction, landing: Landing) -> tuple[ImpactPrediction, bool]:
    """Of the sets of one state, the last with the landing's contacts, or the main one; whether there is one."""
    wanted = landing.truth.active.tolist()
    every = (*published.after_each, published)
    same = [one for one in every if one.contacts.tolist() == wanted and one.jump > 0.0]
    return (same[-1], True) if same else (published, False)
