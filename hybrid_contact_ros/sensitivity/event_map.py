"""An event as a filter sees it: one affine map for each word."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from hybrid_contact_ros.sensitivity.checked import checked_vector
from hybrid_contact_ros.sensitivity.saltation import Saltation
from hybrid_contact_ros.sensitivity.words import TouchdownWords

Array = NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class EventMap:
    """The parts of an event that carry mean and covariance: one affine map for each word, x⁺ = (0, v⁺) + S x.

    For events that come from elsewhere, such as a message; of a :class:`Saltation` or :class:`TouchdownWords` they
    are taken by :func:`~.salted.salted_update` itself.

    Attributes:
        velocities: v⁺ (w, nv), m/s or rad/s. matrices: S (w, 2 nv, 2 nv).
        cones: (r, 2 nv) for each word: the deviations δx of its states, cones[w] δx ≥ 0. None for a single word.
        corner: (q, v⁻), from which δx is counted; None for a single word, whose δx is counted from the mean itself.
        names: of the words.
    """

    velocities: ArrayLike
    matrices: ArrayLike
    cones: tuple[ArrayLike, ...] = ()
    corner: tuple[ArrayLike, ArrayLike] | None = None
    names: tuple[str, ...] = ()


def event_parts(
    event: Saltation | TouchdownWords | EventMap, nv: int
) -> tuple[list[Array | None], list[Array | None], list[Array], tuple[Array, Array] | None, tuple[str, ...]]:
    """Velocities, matrices, cones, corner and names of the words of an event, of checked sizes."""
    velocities: list[Array | None]
    matrices: list[Array | None]
    corner: tuple[Array, Array] | None = None
    names: tuple[str, ...]
    if isinstance(event, Saltation):
        velocities, matrices, cones, names = [event.velocity], [event.required()], [], (event.kind,)
    elif isinstance(event, TouchdownWords):
        velocities, matrices = [w.velocity for w in event.words], [w.matrix for w in event.words]
        cones, names = [w.cone for w in event.words], tuple(w.word for w in event.words)
        corner = event.q, event.v
    elif isinstance(event, EventMap):
        velocities, matrices = [*np.asarray(event.velocities, float)], [*np.asarray(event.matrices, float)]
        cones = [np.asarray(cone, dtype=np.float64) for cone in event.cones]
        if event.corner is not None:
            q, v = event.corner
            corner = checked_vector(q, "q of the corner"), checked_vector(v, "v of the corner")
        names = event.names or tuple(f"word {k}" for k in range(len(velocities)))
        if len(cones) != (len(velocities) if cones or len(velocities) > 1 else 0) or (cones and corner is None):
            raise ValueError(f"{len(velocities)} words need a cone each, and a corner; a single word needs none")
    else:
        raise ValueError(f"event is {type(event).__name__}; a Saltation, TouchdownWords or an EventMap is needed")
    if not len(velocities) == len(matrices) == len(names) or not velocities:
        raise ValueError(f"{len(velocities)} velocities, {len(matrices)} matrices and {len(names)} names are given")
    shapes = [(a, (nv,)) for a in velocities] + [(a, (2 * nv, 2 * nv)) for a in matrices]
    for array, shape in [*shapes, *((cone, (len(cone), 2 * nv)) for cone in cones)]:
        if array is not None and (array.shape != shape or not np.isfinite(array).all()):
            raise ValueError(f"an array of the event has shape {array.shape}; finite ones of {shape} are needed")
    return velocities, matrices, cones, corner, names
