"""A block that lands flat, for ``sensitivity_filter`` and a test: the order of its corners decides how it turns."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from hybrid_contact_ros import simulate, touchdown_words, variational_flow
from hybrid_contact_ros.sensitivity.consistency import Consistency, consistency
from hybrid_contact_ros.sensitivity.salted import SaltedBranch, merged_branches, salted_branches
from hybrid_contact_ros.systems.planar_box import Corner, PlanarBox

Array = NDArray[np.float64]

WIDTH, HEIGHT, FRICTION = 0.4, 0.4 * 2.0**0.5, 0.8  # m; orthogonal normals, and yet the order matters
TIME = 8.0  # s, times the scale: from the start to the corner's instant, and from there to the end
CORNERS = [Corner("left", -WIDTH / 2, -HEIGHT / 2, (0.0, 1.0)), Corner("right", WIDTH / 2, -HEIGHT / 2, (0.0, 1.0))]
OPTIONS = {"law": "simultaneous", "rtol": 1e-10, "atol": 1e-13, "gap_tolerance": 1e-13}


class Found(NamedTuple):
    """NEES of the mixture and of the likelier word alone; the probability of that word, and its share of the runs."""

    words: Consistency
    one: Consistency
    probability: float
    share: float


def filters(scale: float, runs: int) -> Found:
    """Filters through both touchdowns, beside ``runs`` of ``simulate``.

    The deviations at the start are ``scale`` in m, rad, m/s and rad/s.
    """
    system, time = _block(CORNERS), TIME * scale
    v = np.array([0.0, -1.0, 0.0])
    corner = np.array([0.0, HEIGHT / 2, 0.3 * scale])  # the left one is somewhat likelier to be first
    words = touchdown_words(system, corner, v, [0, 1])
    fall = np.array([0.0, -9.81, 0.0])
    flow = np.block([[np.eye(3), time * np.eye(3)], [np.zeros((3, 3)), np.eye(3)]])
    branches = []
    prior = scale**2 * flow @ flow.T
    for branch in salted_branches((corner, v), prior, words):
        (word,) = (word for word in words.words if word.word == branch.word)
        (foot,) = word.chain[-1].rests
        branches.append(_carried(branch, foot, time))
    mixture, likely = merged_branches(tuple(branches)), max(branches, key=lambda branch: branch.probability)
    rng = np.random.default_rng(5)
    errors, first = [], 0
    for _ in range(runs):
        x = scale * rng.normal(size=6)
        q = corner - time * v + 0.5 * time**2 * fall + x[:3]
        run = simulate(system, q, v - time * fall + x[3:], 2.0 * time, **OPTIONS)
        errors.append(np.r_[run.q[-1], run.v[-1]])
        first += likely.word.startswith(f"{min(run.events[0].contacts)}→")
    seen = np.array(errors)
    return Found(
        consistency(seen - np.concatenate(mixture.mean), mixture.covariance, smallest=scale**1.5),  # first order
        consistency(seen - np.concatenate(likely.mean), likely.covariance, smallest=1e-6),
        likely.probability,
        first / runs,
    )


def _block(corners: list[Corner]) -> PlanarBox:
    return PlanarBox(WIDTH, HEIGHT, 1.0, FRICTION, corners)


def _carried(branch: SaltedBranch, foot: int, time: float) -> SaltedBranch:
    """A branch at the end, while it rocks on one corner: the other is in the air, and below the ground in its motion
    continued back to the corner's instant."""
    system, (q, v) = _block([CORNERS[foot]]), branch.mean
    for _ in range(4):
        problem = system.problem(q, v)
        q = q - np.linalg.pinv(problem.normal_jacobian) @ problem.gap
    problem = system.problem(q, v)
    rows = np.vstack((problem.normal_jacobian, problem.tangent_jacobian[0]))
    run = simulate(system, q, v - np.linalg.pinv(rows) @ rows @ v, time, mode=[0], **OPTIONS)
    after = variational_flow(run).matrix
    return branch._replace(mean=(run.q[-1], run.v[-1]), covariance=after @ branch.covariance @ after.T)
