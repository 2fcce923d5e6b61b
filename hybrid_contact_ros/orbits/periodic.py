"""Periodic orbits: fixed points of a return map, by Newton's method with its Bouligand derivative."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.optimize import root

from hybrid_contact_ros.mechanics.contact_sets import not_negative
from hybrid_contact_ros.orbits.piecewise import PiecewiseLinear
from hybrid_contact_ros.orbits.poincare import PoincareMap, Return
from hybrid_contact_ros.orbits.stability import OrbitStability, orbit_stability
from hybrid_contact_ros.sensitivity.checked import checked_vector, real_numbers

Array = NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class PeriodicOrbit:
    """A periodic orbit, by its state in a section.

    Attributes:
        q (nq,), v (nv,): the fixed point of the return map. period: s. found: its return.
        residual: largest entry of P(x) − x along the directions that were asked for.
        derivative: DP there, in the coordinates of ``directions`` (2 nv, k).
    """

    q: Array
    v: Array
    period: float
    found: Return
    residual: float
    derivative: PiecewiseLinear
    directions: Array

    def stability(self, **options: Any) -> OrbitStability:
        """:func:`~.stability.orbit_stability` of its derivative, with that function's options."""
        return orbit_stability(self.derivative, **options)


def periodic_orbit(
    returning: PoincareMap,
    q: ArrayLike,
    v: ArrayLike,
    directions: ArrayLike | None = None,
    *,
    within: ArrayLike | None = None,
    tolerance: float = 1e-8,
) -> PeriodicOrbit:
    """Find a fixed point of a return map near a state of its section.

    The equation is solved by ``scipy.optimize.root`` (MINPACK's hybrid method) from the Bouligand derivative along the
    first step's piece; between changes of piece this is Newton's method with Broyden's updates.

    Args:
        returning: the map. q, v: a state of the section near the orbit.
        directions: (2 nv, k), of the derivative: as for :meth:`~.poincare.PoincareMap.derivative`.
        within: (2 nv, j), in which to look for the orbit, by default all ``directions``. An orbit at which several
            contacts touch together has to be looked for within a symmetry that makes them.
        tolerance: largest entry of P(x) − x along ``within``.

    Returns:
        The orbit, with the derivative at it.

    Raises:
        ValueError: none was found; a state without return on the way; the derivative does not exist at the start;
            ``directions`` or ``within`` of a wrong size, not finite, or dependent.
    """
    not_negative(tolerance=tolerance)
    q0, v0 = checked_vector(q, "q"), checked_vector(v, "v")
    size = 2 * v0.size
    chosen = returning.directions(q0, v0) if directions is None else _columns(directions, "directions", size)
    looked = chosen if within is None else _columns(within, "within", size)
    left = np.linalg.pinv(looked)

    def state(z: Array) -> tuple[Array, Array]:
        return returning.moved(q0, v0, looked @ z)

    def missed(z: Array) -> Array:
        here = state(z)
        found = returning(*here)
        return np.asarray(left @ returning.displacement(*here, found.q, found.v))

    def slope(z: Array) -> Array:
        pieces = returning.derivative(*state(z), looked).required()
        return np.asarray(pieces[0].matrix - np.eye(looked.shape[1]))

    try:
        solution = root(missed, np.zeros(looked.shape[1]), jac=slope, tol=0.01 * tolerance)
        z = solution.x
        residual = float(np.abs(missed(z)).max(initial=0.0))
    except ValueError as error:
        raise ValueError(f"no periodic orbit was found: {error}") from error
    if not residual <= tolerance:
        raise ValueError(f"no periodic orbit was found: P(x) − x is still {residual:.3g} ({solution.message})")
    q1, v1 = state(z)
    found = returning(q1, v1)
    derivative = returning.derivative(q1, v1, directions, found)
    return PeriodicOrbit(q1, v1, found.time, found, residual, derivative, chosen)


def _columns(given: ArrayLike, name: str, size: int) -> Array:
    """Independent columns (size, k); one may be given as a row of numbers."""
    found = real_numbers(given, name)
    columns = found.reshape(size, 1) if found.shape in ((size,), (1, size)) else found
    if columns.ndim != 2 or columns.shape[0] != size or not columns.shape[1] or not np.isfinite(columns).all():
        raise ValueError(f"{name} has shape {found.shape}; finite columns of {size} numbers are needed")
    if np.linalg.matrix_rank(columns) < columns.shape[1]:
        raise ValueError(f"{name} has columns that depend on each other")
    return columns
