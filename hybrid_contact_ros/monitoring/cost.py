"""What a state costs on this machine."""

from __future__ import annotations

import time
from dataclasses import dataclass

import numpy as np

from hybrid_contact_ros.estimator import BESIDE, ContactEstimator, Parts
from hybrid_contact_ros.mechanics.state import RobotState, UnusableStateError


@dataclass(frozen=True, slots=True)
class Cost:
    """What states cost in which as many contacts are closed as can be.

    Attributes:
        update, worst: median and maximum of the time for an update without an impact set, s.
        impact: time for an impact set on top, s; 0 where none was asked for.
        closed: number of contacts that were closed.
    """

    update: float
    worst: float
    impact: float
    closed: int


def measure(estimator: ContactEstimator, parts: Parts, states: int = 10, longest: float = 1.0) -> Cost | None:
    """What states cost on this machine, measured on some that are made up.

    In these the joints are near zero, the base is lowered until every contact with a plane is at the plane or below it,
    and the noise is like that of sensors. The estimator forgets earlier states.

    Args:
        estimator: of the robot; it must be warm.
        parts: the parts to compute.
        states: number of states to try.
        longest: time after which no further state is tried, s.

    Returns:
        the cost, or ``None`` where the estimator can compute with none of the states.
    """
    model = estimator.model
    generator = np.random.default_rng(0)
    still = np.zeros(model.nv)
    q = model.bent()
    joints = model.nv - 6 * model.floating_base
    if model.floating_base and model.contacts:
        plane = np.linalg.norm(model.contact_normals, axis=1) > 0.0
        gap = model.problem(RobotState(0, q, still)).gap[plane]
        if gap.size:
            # The base moves against the mean of the normals. Planes that face each other cannot all be touched.
            normal = model.contact_normals[plane].mean(axis=0)
            q[:3] -= (max(0.0, float(gap.max())) + 1e-3) * normal / max(float(np.linalg.norm(normal)), 1e-9)
    update: list[float] = []
    impact: list[float] = []
    closed = 0
    begin = time.perf_counter()
    for k in range(states):
        step = np.concatenate([np.zeros(model.nv - joints), 1e-4 * generator.standard_normal(joints)])
        v, effort = 1e-2 * generator.standard_normal(model.nv), generator.standard_normal(model.nv)
        effort[: model.nv - joints] = 0.0
        state = RobotState((k + 1) * 2_000_000, model.integrate(q, step), v, effort)
        try:
            start = time.perf_counter()
            prediction = estimator.update(state, parts & ~BESIDE)
            update.append(time.perf_counter() - start)
            closed = max(closed, int(prediction.mode.closed.sum()))
            if parts & Parts.IMPACT and model.contacts and k < 3:
                start = time.perf_counter()
                estimator.impact(state, contacts=range(model.contacts))
                impact.append(time.perf_counter() - start)
        except UnusableStateError:  # a posture that cannot be computed with says nothing of others
            pass
        if time.perf_counter() - begin > longest:
            break
    estimator.reset()
    if not update:
        return None
    return Cost(float(np.median(update)), max(update), float(np.median(impact)) if impact else 0.0, closed)
