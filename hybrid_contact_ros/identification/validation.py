"""Whether sets with identified intervals contain the outcomes of impacts that the intervals do not come from."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from hybrid_contact_ros.estimation.impact import impulse_unit
from hybrid_contact_ros.identification.material import MIN_IMPACTS, material, quantile, tells
from hybrid_contact_ros.identification.observed_impacts import ObservedImpact
from hybrid_contact_ros.impacts.contact_space import ContactSpace
from hybrid_contact_ros.impacts.simultaneous import simultaneous_impact
from hybrid_contact_ros.impacts.velocity_set import post_impact_set

TOLERANCES = (0.05, 0.10, 0.15, 0.20)
"""Distances from a set within which an outcome counts as contained, as parts of the jump of the velocity."""
_DIRECTIONS = 8  # of friction
_SAMPLES, _MAX_STEPS = 256, 100  # of a set


def cross_validated(
    impacts: Sequence[ObservedImpact], law: str, spread: float, seed: int
) -> tuple[tuple[float, ...], float | None, int]:
    """Compare the impacts of each half of the recording with sets whose intervals come from the other half.

    Returns:
        the contained parts, the median radius, and the number of impacts, as of :class:`Identification`.
    """
    middle = len(impacts) // 2
    distances, radii = [], []
    for train, test in ((impacts[:middle], impacts[middle:]), (impacts[middle:], impacts[:middle])):
        used = [impact for impact in train if tells(impact)]
        if len(used) < MIN_IMPACTS:
            continue
        found = material(used, law)
        ends = 0.5 - 0.5 * spread, 0.5 + 0.5 * spread
        e = tuple(np.clip(np.quantile(found.restitution, ends), 0.0, 1.0))
        mu = tuple(float(quantile(found.friction, found.sticks_from, part)) for part in ends)
        for impact in test:
            nominal = simultaneous_impact(impact.problem, _DIRECTIONS)
            unit = impulse_unit(ContactSpace(impact.problem, _DIRECTIONS), nominal)
            if unit == 0.0:
                continue
            outcomes = post_impact_set(
                impact.problem,
                0.5 * unit,
                _SAMPLES,
                _MAX_STEPS,
                seed,
                _DIRECTIONS,
                law,
                solutions="one",
                restitution=e,
                friction=mu,
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
