"""An event as a filter sees it: one affine map for each word. Checks of what a filter hands in."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from hybrid_contact_ros.sensitivity.saltation import Saltation
from hybrid_contact_ros.sensitivity.words import TouchdownWords

Array = NDArray[np.float64]

_INDEFINITE = 1e-9  # of the largest eigenvalue of the correlations: what a covariance may have below zero by rounding
_ROUNDING = 1e-13  # of the largest eigenvalue of the covariance itself


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


def checked_covariance(given: ArrayLike, size: int, name: str) -> tuple[Array, Array]:
    """A covariance as it is, and a factor L (size, size) of it, L Lᵀ.

    Raises:
        ValueError: its shape, numbers that are not finite, not symmetric, or indefinite.
    """
    sigma = np.asarray(given, dtype=np.float64)
    if sigma.shape != (size, size) or not np.isfinite(sigma).all():
        raise ValueError(f"{name} has shape {sigma.shape}; finite numbers of {(size, size)} are needed")
    if size == 0:
        return sigma, np.zeros((0, 0))
    if np.abs(sigma - sigma.T).max() > _INDEFINITE * np.abs(sigma).max():
        raise ValueError(f"{name} is not symmetric")
    deviations = np.sqrt(np.diag(sigma).clip(0.0))
    # In units of its deviations, so that metres and radians compare; as it is, where some of these are rounding alone.
    for scale, least in ((np.where(deviations > 0.0, deviations, 1.0), _INDEFINITE), (np.ones(size), _ROUNDING)):
        values, axes = np.linalg.eigh(0.5 * (sigma + sigma.T) / np.outer(scale, scale))
        if values[0] >= -least * max(float(values[-1]), 0.0):
            return sigma, scale[:, None] * axes * np.sqrt(values.clip(0.0))
    raise ValueError(f"{name} is indefinite: its least eigenvalue is {values[0]:.2g}, its largest {values[-1]:.2g}")


def checked_vector(given: ArrayLike, name: str) -> Array:
    found = np.array(given, dtype=np.float64)
    if found.ndim != 1 or not np.isfinite(found).all():
        raise ValueError(f"{name} has shape {found.shape}; one row of finite numbers is needed")
    return found
