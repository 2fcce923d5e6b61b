"""Massless limbs: those that contacts hold move by the balance of forces, those in the air by their own motion."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from hybrid_contact_ros.mechanics.problem import ContactProblem
from hybrid_contact_ros.sensitivity.gradients import (
    ProblemGradient,
    asker,
    differences,
    problem_gradient,
)
from hybrid_contact_ros.systems.robot import RobotSystem

Array = NDArray[np.float64]
_MASSLESS = 1e-12  # of the largest entry of M: a coordinate with less in its row has no mass
_UNSEEN = 1e-9  # of the largest entry of the closed rows: less is none


def loose_limbs(problem: ContactProblem, closed: frozenset[int]) -> list[int]:
    """Coordinates without mass that no closed contact feels, neither along its normal nor along its tangents.

    The balance of forces does not decide their motion (Johnson, Assumption A6).
    """
    weight = np.abs(problem.mass).max(axis=1, initial=0.0)
    light = weight <= _MASSLESS * weight.max(initial=0.0)
    if not light.any():
        return []
    if closed:
        rows = problem.jacobian().reshape(problem.contacts, -1, problem.nv)[sorted(closed)]
        felt = np.abs(rows).max(axis=(0, 1))
        light &= felt <= _UNSEEN * felt.max()
    return np.flatnonzero(light).tolist()


def with_limbs(problem: ContactProblem, closed: frozenset[int], own: Array) -> ContactProblem:
    """The problem where loose limbs have a mass of 1 and the force that gives them their ``own`` acceleration (nv,).

    These coordinates then are in no equation of the others: they keep their velocity in an impact, and otherwise move
    as the system says.
    """
    loose = loose_limbs(problem, closed)
    if not loose:
        return problem
    mass, bias = problem.mass.copy(), problem.bias_force.copy()
    mass[loose, loose] = 1.0
    bias[loose] = -own[loose]
    return problem.replace_trusted(mass=mass, bias_force=bias)


def has_massless_limbs(problem: ContactProblem) -> bool:
    """Whether some coordinates have no mass: then contacts slide without friction (Johnson's Assumption A12)."""
    return bool(loose_limbs(problem, frozenset()))


def limb_problem(system: Any, q: Array, v: Array, time: float, mode: frozenset[int]) -> ContactProblem:
    """The contact problem of a system in a mode, with the own motion of limbs that no closed contact holds."""
    problem: ContactProblem = asker(system, time, mode)(q, v)
    if isinstance(system, RobotSystem) or not has_massless_limbs(problem):
        return problem
    return with_limbs(problem, mode, _own_motion(system, np.asarray(q), np.asarray(v), time, mode))


def limb_gradient(
    system: Any, q: Array, v: Array, time: float = 0.0, mode: frozenset[int] = frozenset()
) -> ProblemGradient:
    """:func:`limb_problem` with its derivatives; those of the limbs' own motion are differences."""
    found = problem_gradient(system, q, v, time, mode)
    if isinstance(system, RobotSystem) or not has_massless_limbs(found.problem):
        return found

    def own(moved: Array, pushed: Array) -> Array:
        return _own_motion(system, q + moved, v + pushed, time, mode)

    n = found.problem.nv
    none = np.zeros(n)
    by_q = differences(lambda moved: own(moved, none), n)
    return LimbGradient(found, mode, (own(none, none), by_q, differences(lambda pushed: own(none, pushed), n)))


def _own_motion(system: Any, q: Array, v: Array, time: float, mode: frozenset[int]) -> Array:
    moves = getattr(system, "limb_acceleration", None)
    return np.zeros(v.size) if moves is None else np.asarray(moves(q, v, time, mode), dtype=np.float64)


class LimbGradient:
    """A ``ProblemGradient`` of a system with massless limbs, for one set of closed contacts.

    Args:
        inner: the gradient with the singular M. closed: contacts that hold limbs.
        own: the acceleration (nv,) of limbs in the air, and its derivatives by q and v (nv, nv).
    """

    def __init__(self, inner: Any, closed: frozenset[int], own: tuple[Array, Array, Array]) -> None:
        self._inner, self._own = inner, own
        self._loose = loose_limbs(inner.problem, closed)
        self.problem: ContactProblem = with_limbs(inner.problem, closed, own[0])
        self.coefficients: Array | None = getattr(inner, "coefficients", None)

    def within(self, closed: frozenset[int]) -> LimbGradient:
        """The same state with other contacts closed."""
        return LimbGradient(self._inner, closed, self._own)

    def momentum(self, velocity: Array) -> Array:
        """∂(M w)/∂q (nv, nv)."""
        return np.asarray(self._inner.momentum(velocity))

    def rates(self, velocity: Array) -> Array:
        """∂(J w)/∂q (m, 1 + d, nv)."""
        return np.asarray(self._inner.rates(velocity))

    def pushes(self, force: Array) -> Array:
        """∂(Jᵀλ)/∂q (nv, nv)."""
        return np.asarray(self._inner.pushes(force))

    def motion(self, acceleration: Array) -> Any:
        """The derivatives of motion, with those of the limbs' own."""
        found = self._inner.motion(acceleration)
        if not self._loose:
            return found
        force_q, force_v = found.force_q.copy(), found.force_v.copy()
        force_q[self._loose], force_v[self._loose] = -self._own[1][self._loose], -self._own[2][self._loose]
        return found._replace(force_q=force_q, force_v=force_v)
