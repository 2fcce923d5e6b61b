"""The salted Kalman filter's step at an event: mean and covariance through saltation matrices."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from hybrid_contact_ros.sensitivity.checked import checked_covariance, checked_vector
from hybrid_contact_ros.sensitivity.cones import certain_rows, irredundant
from hybrid_contact_ros.sensitivity.event_map import EventMap, event_parts
from hybrid_contact_ros.sensitivity.saltation import Saltation
from hybrid_contact_ros.sensitivity.truncated_normal import truncated_normal
from hybrid_contact_ros.sensitivity.words import TouchdownWords

Array = NDArray[np.float64]

_NEGLIGIBLE = 1e-9  # the probability of words that are left out


class SaltedState(NamedTuple):
    """What a filter carries: mean (q, v), and covariance (2 nv, 2 nv) of x = (δq, δv) in the tangent space at it."""

    mean: tuple[Array, Array]
    covariance: Array


class SaltedBranch(NamedTuple):
    """The states of one word: its name and probability, and the mean and covariance of those that take it."""

    word: str
    probability: float
    mean: tuple[Array, Array]
    covariance: Array


def salted_update(
    mean: tuple[ArrayLike, ArrayLike],
    covariance: ArrayLike,
    event: Saltation | TouchdownWords | EventMap,
    *,
    system: Any = None,
    parameter_covariance: ArrayLike | None = None,
) -> SaltedState:
    """Carry mean and covariance of a Kalman filter through a contact event (Kong, Payne, Council and Johnson 2021,
    "The Salted Kalman Filter", Automatica 131).

    Of one event, with the mean at it and Ξ its saltation matrix,

        (q, v) → (q, v⁺),      P → Ξ P Ξᵀ.

    Of a cluster of touchdowns, the mean is that of the state which the motion without these impacts has at the corner's
    instant; so is P, and the answer is that of the states after them, continued to the same instant. Each word w takes
    the part of the normal distribution in its cone through x⁺ = (0, v⁺_w) + S_w δx; mean and covariance of all parts
    together are returned, the jump between words included. Words follow Halm's simultaneous impact, as ``simulate``
    does with ``law="simultaneous"``; its default law slides otherwise. Mean and covariance are the exact moments of
    that map and not those of Gaussians with weights: P_w is the covariance of δx given the word.
    :func:`salted_branches` returns the parts.

    A P of lower rank stays of lower rank: no noise is added, and none is needed. Where P leaves the order of touchdowns
    without any doubt, one word has the probability 1.

    >>> import numpy as np
    >>> from hybrid_contact_ros import salted_update
    >>> from hybrid_contact_ros.sensitivity.saltation import saltation
    >>> bounce = saltation(np.diag([1.0, -0.5]), np.array([1.0, 0.0]), np.array([-2.0, -9.81]), np.array([1.0, -9.81]),
    ...     velocity_after=np.array([1.0]))
    >>> (q, v), covariance = salted_update(([0.0], [-2.0]), np.diag([1e-4, 0.0]), bounce)
    >>> float(v[0]), np.sqrt(np.diag(covariance)).round(4).tolist()  # a centimetre of doubt makes 7 cm/s
    (1.0, [0.005, 0.0736])

    Args:
        mean: (q, v), (nq,) and (nv,), v before the event.
        covariance: P (2 nv, 2 nv) of (δq, δv), symmetric, not indefinite.
        event: a :class:`Saltation` that was taken at the mean, :class:`TouchdownWords` near it, or their parts.
        system: a RigidBodyModel or RobotSystem; needed where nq ≠ nv and the event is a cluster.
        parameter_covariance: (p, p) of ``event.parameters`` (μ, e, heights) about the values that the event was
            computed with, independent of the state: X Σ Xᵀ is added, X = ∂x⁺/∂p. Of a :class:`Saltation` only.

    Raises:
        ValueError: an event without a matrix (the text says why), words without a map that have a probability, a mean
            on the border of two words whose order P leaves certain, sizes that do not fit, numbers that are not finite,
            a P that is not symmetric or is indefinite.
    """
    branches = salted_branches(mean, covariance, event, system=system)
    if len(branches) == 1:
        found = SaltedState(branches[0].mean, branches[0].covariance)
    else:
        found = merged_branches(branches, system=system)
    if parameter_covariance is None:
        return found
    columns = event.parameter_matrix if isinstance(event, Saltation) else None
    if columns is None:
        raise ValueError("only a Saltation has columns of parameters")
    noise = checked_covariance(parameter_covariance, columns.shape[1], "parameter_covariance")[0]
    return found._replace(covariance=_symmetric(found.covariance + columns @ noise @ columns.T))


def salted_branches(
    mean: tuple[ArrayLike, ArrayLike],
    covariance: ArrayLike,
    event: Saltation | TouchdownWords | EventMap,
    *,
    system: Any = None,
) -> tuple[SaltedBranch, ...]:
    """The parts of :func:`salted_update`, word by word: for filters that carry several hypotheses on.

    Words of a probability below 1e-9 are left out; the others' add up to 1. Arguments and errors are those of
    :func:`salted_update`.
    """
    if not isinstance(mean, (tuple, list)) or len(mean) != 2:
        raise ValueError(f"mean is {mean!r}; give (q, v)")
    q, v = checked_vector(mean[0], "q"), checked_vector(mean[1], "v")
    nv = len(v)
    sigma, factor = checked_covariance(covariance, 2 * nv, "covariance")
    velocities, matrices, cones, corner, names = event_parts(event, nv)
    if not cones:
        velocity, matrix = velocities[0], matrices[0]
        if velocity is None or matrix is None:
            raise ValueError(f"the {names[0]} does not say the velocity after it, which the mean needs")
        carried = matrix @ factor
        return (SaltedBranch(names[0], 1.0, (q, velocity.copy()), _symmetric(carried @ carried.T)),)
    assert corner is not None
    deviation = np.r_[_difference(system, corner[0], q, nv), v - corner[1]]
    shares = [_share(cone, deviation, sigma, factor) for cone in cones]
    if not any(share[0] > 0.0 for share in shares):
        raise ValueError("the cones of the words do not cover the states about the mean")
    found = []
    for name, velocity, matrix, share in zip(names, velocities, matrices, shares, strict=True):
        probability, centre, spread = share
        if probability < _NEGLIGIBLE:
            continue
        if matrix is None or velocity is None:
            raise ValueError(f"the word {name} has no map, and a probability of {probability:.2g}")
        change = matrix @ centre
        there = _integrate(system, corner[0], change[:nv]), velocity + change[nv:]
        carried = matrix @ factor
        found.append(SaltedBranch(name, probability, there, _symmetric(carried @ spread @ carried.T)))
    total = sum(branch.probability for branch in found)
    return tuple(branch._replace(probability=branch.probability / total) for branch in found)


def merged_branches(branches: tuple[SaltedBranch, ...], *, system: Any = None) -> SaltedState:
    """Mean and covariance of all branches together: Σ p_w (P_w + d_w d_wᵀ), d_w from the common mean.

    ``system`` as of :func:`salted_update`. Differences of q are those from the likeliest branch, small by assumption.

    Raises:
        ValueError: no branch, or nq ≠ nv without a system.
    """
    if not branches:
        raise ValueError("there is no branch")
    weights = np.array([branch.probability for branch in branches])
    weights /= weights.sum()
    q, v = branches[int(weights.argmax())].mean
    nv = len(v)
    apart = np.array([np.r_[_difference(system, q, b.mean[0], nv), b.mean[1] - v] for b in branches])
    centre = weights @ apart
    apart -= centre
    covariance = np.einsum("w,wij->ij", weights, np.array([b.covariance for b in branches]))
    covariance += np.einsum("w,wi,wj->ij", weights, apart, apart)
    return SaltedState((_integrate(system, q, centre[:nv]), v + centre[nv:]), _symmetric(covariance))


def _share(cone: Array, deviation: Array, sigma: Array, factor: Array) -> tuple[float, Array, Array]:
    """Probability of a cone, the mean (2 nv,) of the states in it, and the covariance of s in x = mean + L s."""
    bounds = irredundant(cone)
    slopes, offsets = bounds @ factor, bounds @ deviation
    sure = certain_rows(bounds, deviation, sigma, factor)
    if (offsets[sure] < 0.0).any():
        return 0.0, deviation, np.eye(len(sigma))
    if sure.all():
        return 1.0, deviation, np.eye(len(sigma))
    probability, centre, spread = truncated_normal(slopes[~sure], offsets[~sure])
    return probability, deviation + factor @ centre, spread


def _difference(system: Any, start: Array, end: Array, nv: int) -> Array:
    """The displacement (nv,) from one configuration to another."""
    if start.shape != end.shape:
        raise ValueError(f"q has shape {end.shape}; {start.shape} is needed")
    difference = getattr(system, "difference", None)
    if callable(difference):
        return np.asarray(difference(start, end), dtype=np.float64)
    if len(start) != nv:
        raise ValueError("q and v have different sizes: give the system, which knows what a displacement is")
    return np.asarray(end - start)


def _integrate(system: Any, q: Array, step: Array) -> Array:
    integrate = getattr(system, "integrate", None)
    if callable(integrate):
        return np.asarray(integrate(q, step), dtype=np.float64)
    if len(q) != len(step):
        raise ValueError("q and v have different sizes: give the system, which knows what a displacement is")
    return np.asarray(q + step)


def _symmetric(matrix: Array) -> Array:
    return np.asarray(0.5 * (matrix + matrix.T))
