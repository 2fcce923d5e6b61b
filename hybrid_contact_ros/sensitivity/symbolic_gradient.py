"""The derivatives of a LagrangianSystem's contact problem by its state, derived by sympy."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from hybrid_contact_ros.sensitivity.differenced_gradient import differences
from hybrid_contact_ros.sensitivity.tensor_gradient import TensorGradient

if TYPE_CHECKING:
    from hybrid_contact_ros.systems.lagrangian import LagrangianSystem

Array = NDArray[np.float64]
_compiled: WeakKeyDictionary[LagrangianSystem, Any] = WeakKeyDictionary()


def symbolic_gradient(
    system: LagrangianSystem, q: Array, v: Array, time: float = 0.0, mode: frozenset[int] = frozenset()
) -> TensorGradient:
    """Derivatives by sympy, compiled at the first call for a system; those of its force, if any, are differences."""
    import sympy

    evaluate = _compiled.get(system)
    if evaluate is None:
        parts = sympy.Matrix(system.expressions).jacobian(sympy.Matrix(system.symbols))
        evaluate = _compiled[system] = sympy.lambdify(system.symbols, [*parts], modules="math", cse=True)
    problem = system.problem(q, v, time=time, mode=mode)
    n, m, d = problem.nv, problem.contacts, problem.tangents
    values = np.array(evaluate(*map(float, q), *map(float, v)), dtype=np.float64).reshape(-1, 2 * n)
    mass, bias, rows, drift, _ = (values[part] for part in system.parts)
    bias_q, bias_v = bias[:, :n].copy(), bias[:, n:].copy()
    force = system.force
    if force is not None:
        bias_q -= differences(lambda moved: np.asarray(force(time, q + moved, v, mode), dtype=np.float64), n)
        bias_v -= differences(lambda moved: np.asarray(force(time, q, v + moved, mode), dtype=np.float64), n)
    shape = (m, 1 + d, n)
    return TensorGradient(
        problem,
        mass[:, :n].reshape(n, n, n),
        rows[:, :n].reshape(m, 1 + d, n, n),
        bias_q,
        bias_v,
        drift[:, :n].reshape(shape),
        drift[:, n:].reshape(shape),
    )
