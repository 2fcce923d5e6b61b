"""The derivatives of any system's contact problem by its state, as central differences of fourth order."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from hybrid_contact_ros.mechanics.problem import ContactProblem
from hybrid_contact_ros.sensitivity.asked_systems import asker
from hybrid_contact_ros.sensitivity.tensor_gradient import TensorGradient

Array = NDArray[np.float64]
STEP = 1e-3
"""Step of differences, in units of the coordinates: errors of fourth order, near 1e-12 of a smooth function's scale,
and rounding near 1e-13."""


def differenced_gradient(
    system: Any, q: Array, v: Array, time: float = 0.0, mode: frozenset[int] = frozenset(), step: float = STEP
) -> TensorGradient:
    """Central differences of fourth order, by 8 nv contact problems.

    Args:
        system: has ``problem``; where v ≠ q̇ also ``integrate(q, step)``.
    """
    move = getattr(system, "integrate", None) or (lambda q_, moved: q_ + moved)
    ask = asker(system, time, mode)
    here = ask(q, v)
    n = here.nv

    def numbers(problem: ContactProblem) -> Array:
        drift = problem.jacobian_drift.reshape(-1)
        return np.concatenate((problem.mass.reshape(-1), problem.jacobian().reshape(-1), problem.bias_force, drift))

    def coefficients(problem: ContactProblem) -> Array:
        return np.concatenate((problem.friction, problem.restitution))

    by_q = differences(lambda moved: numbers(ask(move(q, moved), v)), n, step)
    by_v = differences(lambda moved: numbers(ask(q, v + moved)), n, step)
    change = None
    if getattr(system, "smooth_coefficients", False):
        along_q = differences(lambda moved: coefficients(ask(move(q, moved), v)), n, step)
        change = np.hstack((along_q, differences(lambda moved: coefficients(ask(q, v + moved)), n, step)))
    m, d = here.contacts, here.tangents
    ends = np.cumsum([n * n, m * (1 + d) * n, n])
    mass, rows, bias_q, drift_q = np.split(by_q, ends)
    _, _, bias_v, drift_v = np.split(by_v, ends)
    shape = (m, 1 + d, n)
    return TensorGradient(
        here,
        mass.reshape(n, n, n),
        rows.reshape(m, 1 + d, n, n),
        bias_q,
        bias_v,
        drift_q.reshape(shape),
        drift_v.reshape(shape),
        change,
    )


def differences(function: Any, size: int, step: float = STEP) -> Array:
    """Derivative (k, size) at zero of a function of (size,) with values (k,): central differences of fourth order."""
    columns = []
    for i in range(size):
        unit = np.zeros(size)
        unit[i] = step
        near = function(unit) - function(-unit)
        far = function(2.0 * unit) - function(-2.0 * unit)
        columns.append((8.0 * near - far) / (12.0 * step))
    return np.array(columns).T.reshape(-1, size)
