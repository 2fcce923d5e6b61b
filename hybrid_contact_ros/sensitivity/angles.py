"""Angles between constraints: whether the order of impacts changes the outcome (Pace and Burden)."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from hybrid_contact_ros.mechanics.contact_sets import contact_set, not_negative
from hybrid_contact_ros.mechanics.problem import ContactProblem

Array = NDArray[np.float64]

_ZERO = 1e-14  # a constraint whose ⟨Dφ, Dφ⟩ is this small beside the largest is one that no motion changes


def constraint_angles(problem: ContactProblem) -> Array:
    """Cosines (m, m) between the constraints in the inner product of M⁻¹, Pace (14).

    They are ⟨Dφ_i, Dφ_j⟩ / (‖Dφ_i‖ ‖Dφ_j‖), where Dφ is J_n. Where one is zero, the two impacts can happen in either
    order, or together, with the same plastic outcome (Pace, Assumption 4 for this pair). Where it is ±1, the two are
    one constraint. The diagonal is 1. Impacts are taken to be frictionless, as in Pace. A row of J_n that is zero gives
    zeros, on the diagonal too.

    Raises:
        ValueError: M is singular, so that ⟨·,·⟩_{M⁻¹} does not exist (Pace assumes M to be regular).

    >>> legs = [[1.0, 0.5], [1.0, -0.5]]  # at the radius of gyration they do not feel each other
    >>> rod = ContactProblem(np.diag([2.0, 0.5]), [0.0, 0.0], legs, np.zeros((2, 1, 2)), [0.0, 0.0])
    >>> constraint_angles(rod).round(6) + 0.0
    array([[1., 0.],
           [0., 1.]])
    """
    try:
        factor = np.linalg.cholesky(problem.mass)
    except np.linalg.LinAlgError:
        raise ValueError(
            "mass is singular: angles in the metric of its inverse do not exist; "
            "give massless limbs a small inertia, or leave them out"
        ) from None
    half = np.linalg.solve(factor, problem.normal_jacobian.T)
    products = half.T @ half
    size = np.sqrt(np.diag(products))
    inverse = np.zeros_like(size)
    moves = size > np.sqrt(_ZERO) * size.max(initial=0.0)
    inverse[moves] = 1.0 / size[moves]
    cosines = products * inverse[:, None] * inverse
    np.clip(cosines, -1.0, 1.0, out=cosines)
    np.fill_diagonal(cosines, moves.astype(np.float64))
    return cosines


def coupled_pairs(
    problem: ContactProblem, tolerance: float = 1e-9, contacts: Iterable[int] | None = None
) -> list[tuple[int, int, float]]:
    """List the pairs (i, j, cosine), i < j, that are not orthogonal (Pace, Assumption 4): |cosine| > ``tolerance``.

    Whether the order of their impacts matters is another question: :func:`~.orders.order_sensitive_pairs`.

    ``contacts`` limits the pairs to those among them, for instance the ones that may touch together; by default all are
    looked at.

    Raises:
        ValueError: as :func:`constraint_angles`, or for an index out of range or a tolerance that is none.
    """
    not_negative(tolerance=tolerance)
    chosen = sorted(
        contact_set("contacts", range(problem.contacts) if contacts is None else contacts, problem.contacts)
    )
    cosines = constraint_angles(problem)
    return [
        (i, j, float(cosines[i, j]))
        for a, i in enumerate(chosen)
        for j in chosen[a + 1 :]
        if abs(cosines[i, j]) > tolerance
    ]
