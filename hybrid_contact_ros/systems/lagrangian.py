"""Mechanical systems written down as energies and gaps; everything else is derived symbolically.

A textbook system is given by its coordinates, its inertia matrix, its potential and its gap functions. The Coriolis
terms, the gradients and the drift of the constraints follow from these and are derived here by sympy, so that no system
can have them wrong. Massless limbs are welcome: the inertia may be singular (Johnson §2.3).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import isfinite
from typing import Any

import numpy as np
import sympy
from numpy.typing import ArrayLike, NDArray

from hybrid_contact_ros.mechanics.problem import ContactProblem

Array = NDArray[np.float64]
Force = Callable[[float, Array, Array, frozenset[int]], ArrayLike]
"""Generalised force (n,) as a function of (t, q, v, mode); ``mode`` holds the indices of the closed contacts (Johnson
§4.6)."""


@dataclass(frozen=True, slots=True)
class Constraint:
    """A unilateral constraint ``gap(q) ≥ 0`` and, with friction, the velocities along its surface.

    Attributes:
        name: of the contact.
        gap: φ(q), a sympy expression, m (or rad).
        tangents: rows of J_t as 1 × n matrices of expressions in q, which map v to m/s along each tangent; empty
        without
            friction.
        friction: μ. restitution: e.
    """

    name: str
    gap: sympy.Expr
    tangents: tuple[sympy.Matrix, ...] = ()
    friction: float = 0.0
    restitution: float = 0.0


class LagrangianSystem:
    """``M(q) v̇ + c(q, v) + ∂V/∂q = f(t, q, v, mode) + Jᵀλ`` with v = q̇ and gaps φ(q) ≥ 0.

    A bead of 2 kg on a wire that rises at 45°, above the ground:

    >>> import sympy
    >>> s = sympy.Symbol("s")
    >>> height = s / sympy.sqrt(2)
    >>> ground = Constraint("ground", height, restitution=0.5)
    >>> bead = LagrangianSystem("bead", [s], sympy.Matrix([[2]]), 2 * 9.81 * height, [ground])
    >>> bead.problem(q=[0.1], v=[0.0]).bias_force.round(4).tolist()  # gravity along the wire
    [13.8734]
    >>> from hybrid_contact_ros import simulate
    >>> [event.kind.name for event in simulate(bead, [0.1], [0.0], 0.3).events]
    ['TOUCHDOWN']

    Args:
        name: of the system.
        coordinates: n sympy symbols.
        inertia: M(q), n × n, symmetric positive semidefinite.
        potential: V(q), J.
        constraints: the contacts; those with friction need as many tangents as each other (one in the plane).
        force: f, zero by default.

    Attributes:
        symbols, expressions: all that :meth:`problem` evaluates, but for f: M, c + ∂V/∂q, the rows of J contact by
            contact, J̇v and φ, in this order and row by row, in terms of the 2n symbols (q, v). parts: a slice of them
            for each of the five.

    Raises:
        ValueError: shapes that do not fit, or symbols that are not coordinates.
    """

    def __init__(
        self,
        name: str,
        coordinates: Sequence[sympy.Symbol],
        inertia: sympy.Matrix,
        potential: sympy.Expr,
        constraints: Sequence[Constraint],
        force: Force | None = None,
    ) -> None:
        n, m = len(coordinates), len(constraints)
        if inertia.shape != (n, n):
            raise ValueError(f"inertia has shape {inertia.shape}; ({n}, {n}) is needed, one row per coordinate")
        d = max([1, *(len(c.tangents) for c in constraints)])
        for c in constraints:
            if c.friction > 0.0 and len(c.tangents) != d:
                raise ValueError(f"contact {c.name!r} has friction and {len(c.tangents)} tangents; {d} are needed")
        self.name = name
        self.coordinates = tuple(coordinates)
        self.inertia, self.potential, self.constraints = inertia, sympy.sympify(potential), tuple(constraints)
        self.force = force
        self.contact_names = tuple(c.name for c in constraints)
        self.friction = np.array([c.friction for c in constraints])
        self.restitution = np.array([c.restitution for c in constraints])
        self.contacts, self.nv, self._d = m, n, d
        self._derive()

    def _derive(self) -> None:
        """Compile M, c + ∂V/∂q, J, J̇v and φ as one function of (q, v), and φ and V each as a function of q."""
        n, m, d = self.nv, self.contacts, self._d
        q = sympy.Matrix(self.coordinates)
        v = sympy.Matrix(sympy.symbols(f"_v0:{n}"))
        M = self.inertia
        momentum = M * v
        coriolis = momentum.jacobian(q) * v - sympy.Matrix([(v.T * M * v)[0] / 2]).jacobian(q).T
        bias = coriolis + sympy.Matrix([self.potential]).jacobian(q).T
        rows = sympy.zeros(m * (1 + d), n)
        for i, c in enumerate(self.constraints):
            rows[i * (1 + d), :] = sympy.Matrix([c.gap]).jacobian(q)
            for k, tangent in enumerate(c.tangents):
                rows[i * (1 + d) + 1 + k, :] = tangent
        speed = rows * v
        drift = speed.jacobian(q) * v if m else sympy.zeros(0, 1)
        gaps = sympy.Matrix([c.gap for c in self.constraints])
        unknown = set().union(*(x.free_symbols for x in (M, bias, rows, gaps))) - {*self.coordinates, *v}
        if unknown:
            raise ValueError(f"{self.name}: {sorted(map(str, unknown))} are neither coordinates nor numbers")
        parts = [*M, *bias, *rows, *drift, *gaps]
        self.symbols, self.expressions = (*q, *v), tuple(parts)
        ends = np.cumsum([0, n * n, n, m * (1 + d) * n, m * (1 + d), m]).tolist()
        self.parts = [slice(*pair) for pair in pairwise(ends)]
        self._all = _compiled([*q, *v], parts)
        self._gap = _compiled([*q], [*gaps])
        self._potential = _compiled([*q], [self.potential])

    def problem(
        self, q: ArrayLike, v: ArrayLike, time: float = 0.0, mode: frozenset[int] = frozenset()
    ) -> ContactProblem:
        """The contact problem at (q, v); the bias force contains −f(time, q, v, mode)."""
        q_, v_ = self._coordinates("q", q), self._coordinates("v", v)
        n, m, d = self.nv, self.contacts, self._d
        numbers = np.array(self._all(*q_.tolist(), *v_.tolist()), dtype=np.float64)
        mass, bias, rows, drift, gap = (numbers[part] for part in self.parts)
        if self.force is not None:
            bias = bias - np.asarray(self.force(time, q_, v_, mode), dtype=np.float64)
        stacked = rows.reshape(m, 1 + d, n)
        return ContactProblem.trusted(
            mass=np.ascontiguousarray(mass.reshape(n, n)),
            velocity=v_,
            normal_jacobian=np.ascontiguousarray(stacked[:, 0]),
            tangent_jacobian=np.ascontiguousarray(stacked[:, 1:]),
            friction=self.friction,
            restitution=self.restitution,
            gap=gap.copy(),
            bias_force=bias.copy(),
            jacobian_drift=drift.reshape(m, 1 + d).copy(),
            names=self.contact_names,
        )

    def gap(self, q: ArrayLike) -> Array:
        """φ(q), (m,)."""
        return np.array(self._gap(*self._coordinates("q", q).tolist()), dtype=np.float64)

    def energy(self, q: ArrayLike, v: ArrayLike) -> float:
        """Kinetic and potential energy, J."""
        v_ = self._coordinates("v", v)
        return float(0.5 * v_ @ self.problem(q, v_).mass @ v_ + self._potential(*self._coordinates("q", q).tolist())[0])

    def _coordinates(self, name: str, values: ArrayLike) -> Array:
        array = np.array(values, dtype=np.float64)
        if array.shape != (self.nv,) or not all(map(isfinite, array.tolist())):
            order = ", ".join(map(str, self.coordinates))
            raise ValueError(f"{self.name}: {name} must be {self.nv} finite numbers ({order}), got {array}")
        return array


def _compiled(symbols: list[sympy.Symbol], expressions: list[sympy.Expr]) -> Callable[..., Any]:
    # Plain Python with functions of math and common subexpressions takes a few microseconds, numpy scalars take tens.
    return sympy.lambdify(symbols, expressions, modules="math", cse=True)  # type: ignore[no-any-return]
