"""Whether contacts that touch together meet the assumptions of Pace and Burden, and which one they do not."""

from __future__ import annotations

from itertools import combinations

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import null_space

from hybrid_contact_ros.mechanics.problem import ContactProblem
from hybrid_contact_ros.sensitivity.angles import constraint_angles
from hybrid_contact_ros.sensitivity.gradients import ProblemGradient
from hybrid_contact_ros.sensitivity.saltation import Validity
from hybrid_contact_ros.sensitivity.touchdown import refuse_touchdown

Array = NDArray[np.float64]
Reason = tuple[Validity, str]
_ALONG = 1e-6  # of the sizes of its terms, plus 1/m: a change of a cosine that is smaller is none


def touch_together(
    problem: ContactProblem, cluster: list[int], rests: frozenset[int], rate: Array, resting: float, touching: float
) -> Reason | None:
    """Why this is no instant at which these contacts touch, and these alone."""
    for i in cluster:
        fault = refuse_touchdown(problem, i, rests, resting, touching)
        if fault is not None:
            return fault.validity, fault.why
    for i in sorted(rests):
        if abs(problem.gap[i]) > touching or abs(rate[i]) > resting:
            why = f"contact {i} is closed, with a gap of {problem.gap[i]:.3g} m and {rate[i]:.3g} m/s"
            return Validity.NOT_TOUCHING, why
    for i in set(range(problem.contacts)) - set(cluster) - rests:
        if problem.gap[i] < -touching:
            return Validity.NOT_TOUCHING, f"contact {i} is {-problem.gap[i]:.3g} m below its surface"
        if problem.gap[i] <= touching and rate[i] < -resting:
            return Validity.SIMULTANEOUS, f"contact {i} touches down at the same instant"
        if problem.gap[i] <= touching and rate[i] <= resting:
            return Validity.GRAZING, f"contact {i} touches at {rate[i]:.3g} m/s"
    return None if cluster else (Validity.NOT_TOUCHING, "no contact touches down")


def plastic_and_frictionless(problem: ContactProblem, chosen: list[int]) -> Reason | None:
    """Whether a contact has friction or restitution, which Pace excludes."""
    for i in chosen:
        if problem.friction[i] > 0.0:
            why = f"contact {i} has friction, by which the order of impacts may matter: touchdown_words takes it in"
            return Validity.SIMULTANEOUS, why
        if problem.restitution[i] > 0.0:
            return Validity.ZENO, f"contact {i} has restitution, so that nearby executions chatter"
    return None


def orthogonal(gradient: ProblemGradient, cluster: list[int], rests: frozenset[int], tolerance: float) -> Reason | None:
    """Whether Assumption 4 fails, at the state or to first order along the states where a pair touches."""
    problem = gradient.problem
    chosen = [*cluster, *sorted(rests)]
    try:
        cosines = constraint_angles(problem)
    except ValueError as error:
        return Validity.SINGULAR, str(error)
    still = [i for i in chosen if cosines[i, i] == 0.0]
    if still:
        return Validity.SINGULAR, f"no motion changes the gap of contact {still[0]}"
    rows = problem.normal_jacobian
    lift = np.asarray(np.linalg.solve(problem.mass, rows.T), dtype=np.float64)
    size = np.sqrt(np.einsum("ij,ji->i", rows, lift))
    for i, j in combinations(chosen, 2):
        if abs(cosines[i, j]) > tolerance:
            why = f"constraints {i} and {j} are not orthogonal (cosine {cosines[i, j]:.3g}; Pace, Assumption 4)"
            return Validity.SIMULTANEOUS, why
        turned = gradient.rates(lift[:, j])[i, 0], gradient.rates(lift[:, i])[j, 0]
        weighed = lift[:, i] @ gradient.momentum(lift[:, j])
        change = (turned[0] + turned[1] - weighed) / (size[i] * size[j])
        scale = max(float(np.abs(part).max()) for part in (*turned, weighed)) / (size[i] * size[j])
        along = null_space(rows[[i, j, *sorted(rests - {i, j})]])
        if np.abs(change @ along).max(initial=0.0) > _ALONG * (1.0 + scale):
            why = f"constraints {i} and {j} are orthogonal here, but not where they touch nearby (Pace, Assumption 4)"
            return Validity.SIMULTANEOUS, why
    return None
