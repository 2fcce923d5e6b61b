"""How a contact problem changes with the state: what every derivative of an impact or of a motion is made of.

Displacements δq (nv,) are those of the tangent space, q ⊕ δq; where v = q̇ this is q + δq. Friction and restitution do
not change with the state, or by jumps only, whose instants are no events here. A system where they change smoothly says
so by an attribute ``smooth_coefficients`` that is True; its derivatives are differences.
"""

from __future__ import annotations

import inspect
import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from hybrid_contact_ros.mechanics.problem import ContactProblem
from hybrid_contact_ros.systems.robot import RobotSystem

if TYPE_CHECKING:
    from hybrid_contact_ros.systems.lagrangian import LagrangianSystem

Array = NDArray[np.float64]
STEP = 1e-3
"""Step of differences, in units of the coordinates: errors of fourth order, near 1e-12 of a smooth function's scale,
and rounding near 1e-13."""


class MotionGradient(NamedTuple):
    """Derivatives of M v̇ + h − Sᵀτ, and of the contacts' accelerations J v̇ + J̇v, for a fixed v̇.

    Attributes:
        force_q, force_v: (nv, nv). acceleration_q, acceleration_v: (m, 1 + d, nv), normal first.
    """

    force_q: Array
    force_v: Array
    acceleration_q: Array
    acceleration_v: Array


class ProblemGradient(Protocol):
    """A contact problem at a state (q, v), and its derivatives there, contracted with what they multiply."""

    @property
    def problem(self) -> ContactProblem: ...

    def momentum(self, velocity: Array) -> Array:
        """∂(M w)/∂q (nv, nv) for a fixed w (nv,)."""

    def rates(self, velocity: Array) -> Array:
        """∂(J w)/∂q (m, 1 + d, nv) for a fixed w (nv,)."""

    def pushes(self, force: Array) -> Array:
        """∂(Jᵀλ)/∂q (nv, nv) for fixed forces or impulses λ (m, 1 + d)."""

    def motion(self, acceleration: Array) -> MotionGradient:
        """The derivatives of motion for a fixed v̇ (nv,)."""


@dataclass(frozen=True, slots=True, eq=False)
class TensorGradient:
    """Derivatives as full tensors: small systems, and the reference for robots.

    Attributes:
        problem: at the state. mass: ∂M/∂q (nv, nv, nv), the last index that of q. rows: ∂J/∂q (m, 1 + d, nv, nv).
        bias_q, bias_v: of h − Sᵀτ (nv, nv). drift_q, drift_v: of J̇v (m, 1 + d, nv).
        coefficients: ∂(μ, e)/∂(q, v) (2 m, 2 nv), or None where they do not change.
    """

    problem: ContactProblem
    mass: Array
    rows: Array
    bias_q: Array
    bias_v: Array
    drift_q: Array
    drift_v: Array
    coefficients: Array | None = None

    def momentum(self, velocity: Array) -> Array:
        """∂(M w)/∂q (nv, nv)."""
        return np.asarray(np.einsum("ijk,j->ik", self.mass, velocity))

    def rates(self, velocity: Array) -> Array:
        """∂(J w)/∂q (m, 1 + d, nv)."""
        return np.asarray(np.einsum("crjk,j->crk", self.rows, velocity))

    def pushes(self, force: Array) -> Array:
        """∂(Jᵀλ)/∂q (nv, nv)."""
        return np.asarray(np.einsum("crjk,cr->jk", self.rows, force))

    def motion(self, acceleration: Array) -> MotionGradient:
        """The derivatives of motion."""
        return MotionGradient(
            self.bias_q + self.momentum(acceleration),
            self.bias_v,
            self.drift_q + self.rates(acceleration),
            self.drift_v,
        )


def problem_gradient(
    system: Any, q: Array, v: Array, time: float = 0.0, mode: frozenset[int] = frozenset()
) -> ProblemGradient:
    """The contact problem of a system at (q, v), with its derivatives.

    A robot's are in closed form (:mod:`~.robot_gradient`), a LagrangianSystem's are derived by sympy, and those of any
    other system are central differences of ``problem`` of fourth order. So are, everywhere, those of an effort or
    force that is a function.

    Args:
        system: as for ``simulate``: it has ``problem(q, v[, time][, mode])``.
        mode: closed contacts, which forces are told of. M may be singular; :mod:`~.massless` is for that.
    """
    if isinstance(system, RobotSystem):
        from hybrid_contact_ros.sensitivity.robot_gradient import robot_gradient  # Pinocchio, for robots only

        return robot_gradient(system, q, v, time, mode)
    if _is_lagrangian(system):
        return symbolic_gradient(system, q, v, time, mode)
    return differenced_gradient(system, q, v, time, mode)


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


def coefficient_gradient(gradient: ProblemGradient) -> Array | None:
    """∂(μ, e)/∂(q, v) (2 m, 2 nv), or None where they do not change with the state."""
    found: Array | None = getattr(gradient, "coefficients", None)
    return found


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


def asker(system: Any, time: float, mode: frozenset[int]) -> Any:
    """problem(q, v) of a system, at a time and in a mode where it takes them."""
    if isinstance(system, RobotSystem) or _is_lagrangian(system):  # a signature costs as much as a problem
        return lambda q, v: system.problem(q, v, time, mode)
    takes, given = _arguments(system), {"time": time, "mode": mode}
    extra: dict[str, Any] = {name: value for name, value in given.items() if name in takes}
    return lambda q, v: system.problem(q, v, **extra)


def depends_on_time(system: Any) -> bool:
    """Whether the forces of a system may depend on time."""
    if isinstance(system, RobotSystem):
        return system.driven
    if _is_lagrangian(system):
        return system.force is not None
    return "time" in _arguments(system)


def _arguments(system: Any) -> frozenset[str]:
    """Which of time and mode the ``problem`` of a system takes."""
    takes = inspect.signature(system.problem).parameters
    every = any(p.kind is inspect.Parameter.VAR_KEYWORD for p in takes.values())
    return frozenset(name for name in ("time", "mode") if every or name in takes)


def _is_lagrangian(system: Any) -> bool:
    """Whether it is a LagrangianSystem, without loading sympy, which takes a second, for a robot."""
    module = sys.modules.get("hybrid_contact_ros.systems.lagrangian")
    return module is not None and isinstance(system, module.LagrangianSystem)


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
