"""Ranges over boxes for any system that has a contact problem at every state: by samples, without guarantee."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from hybrid_contact_ros.mechanics.problem import ContactProblem
from hybrid_contact_ros.stability.intervals import Interval
from hybrid_contact_ros.stability.ranges import Bouncing, Ranges, System, bouncing

Array = NDArray[np.float64]
Sample = tuple[ContactProblem, Bouncing]


class SampledRanges:
    """The value at the centre ± Σ L_j r_j, where L_j is ``margin`` times the steepest slope along coordinate j.

    r_j is half the width of the box. Slopes are taken over r_j at ``points`` places, the centre and random ones (the
    same each time); the steepest is assumed to exceed those seen by half their spread. That is no guarantee, for the
    samples may all have missed the steepest place.
    """

    guaranteed = False

    def __init__(self, system: System, contact: int, held: Sequence[int], points: int = 4, margin: float = 1.5) -> None:
        self._system, self._contact, self._held = system, contact, list(held)
        self._points, self._margin = points, margin

    def __call__(self, box: Interval) -> Ranges | None:
        """The ranges over ``box``; None where the system cannot be evaluated at a sample."""
        samples = self._samples(box)
        if samples is None:
            return None
        i, middle = self._contact, samples[0][0][1].direction
        cone = self._enclosed(samples, lambda _, point: point.cone)
        others = self._enclosed(samples, lambda problem, _: np.delete(problem.gap, [i, *self._held]))
        return Ranges(
            self._enclosed(samples, lambda _, point: point.acceleration),
            Interval(cone.lo.min(axis=0), cone.hi.max(axis=0)),
            self._enclosed(samples, lambda _, point: point.free),
            middle,
            self._enclosed(samples, lambda _, point: point.free - middle * point.acceleration),
            float(others.lo.min(initial=np.inf)),
            float(self._enclosed(samples, lambda _, point: point.held).lo.min(initial=np.inf)),
        )

    def gaps(self, box: Interval) -> tuple[Interval, Interval] | None:
        """The ranges of φ and φ̇ over ``box``; None where the system cannot be evaluated at a sample."""
        samples, i = self._samples(box), self._contact
        if samples is None:
            return None
        return (
            self._enclosed(samples, lambda problem, _: problem.gap[i]),
            self._enclosed(samples, lambda problem, _: problem.normal_jacobian[i] @ problem.velocity),
        )

    def _enclosed(
        self, samples: list[list[Sample]], part: Callable[[ContactProblem, Bouncing], Array | float]
    ) -> Interval:
        seen = np.array([[part(*sample) for sample in row] for row in samples])
        _, ways = _places(self._points, seen.shape[1] - 1)
        slopes = (seen[:, 1:] - seen[:, :1]) * ways.reshape(*ways.shape, *(1,) * (seen.ndim - 2))
        steepest = np.abs(slopes).max(axis=0) + 0.5 * np.ptp(slopes, axis=0)
        centre, spread = seen[0, 0], self._margin * steepest.sum(axis=0)
        return Interval(
            np.minimum(seen.min(axis=(0, 1)), centre - spread), np.maximum(seen.max(axis=(0, 1)), centre + spread)
        )

    def _samples(self, box: Interval) -> list[list[Sample]] | None:
        """For each place: there, and one radius away along each coordinate."""
        centre, radius = 0.5 * (box.lo + box.hi), 0.5 * (box.hi - box.lo)
        places, ways = _places(self._points, centre.size)
        steps = np.vstack([np.zeros(centre.size), np.eye(centre.size)])
        try:
            return [
                [self._at(centre + radius * (place + step * way)) for step in steps]
                for place, way in zip(places, ways, strict=True)
            ]
        except (ValueError, np.linalg.LinAlgError):
            return None

    def _at(self, x: Array) -> Sample:
        n = x.size // 2
        problem = self._system.problem(x[:n], x[n:])
        return problem, bouncing(problem, self._contact, self._held)


def _places(points: int, size: int) -> tuple[Array, Array]:
    """Where in [−1, 1]^size to take slopes, (points, size), and whether up or down, ±1: towards the farther side."""
    places = np.random.default_rng(0).uniform(-1.0, 1.0, (points, size))
    places[0] = 0.0
    return places, np.where(places < 0.0, 1.0, -1.0)
