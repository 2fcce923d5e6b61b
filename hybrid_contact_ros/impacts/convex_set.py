"""A convex set of velocities: hull of points, plus a zonotope, plus a ball, with distances in the kinetic norm."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray

from hybrid_contact_ros.codes import Status

Array = NDArray[np.float64]

_GREATEST = 1e100  # of a velocity: squares must not overflow
_TOLERANCE = 1e-9  # of distances, in parts of that of the farthest corner
_STEPS = 5000  # of the search for the nearest point; a hundred are many
_CLIMBS, _DIRECTIONS = 12, 16  # of the search for the farthest point


class Velocities(Protocol):
    """A set as a prediction or a reader tells it; arrays may be None or empty where there is nothing."""

    @property
    def velocities(self) -> Array: ...
    @property
    def generators(self) -> Array | None: ...
    @property
    def margin(self) -> float: ...
    @property
    def mass(self) -> Array | None: ...
    @property
    def jump(self) -> float: ...


@dataclass(frozen=True, slots=True, eq=False)
class Nearest:
    """The point of a set that is nearest to a velocity, with the proof.

    Attributes:
        distance: √J, to the set with its margin; 0 inside. upper, lower: √J, of the set without its margin: between
            them is the true distance. point: (nv,) the nearest one, without the margin.
        share: (n,) ≥ 0 of sum 1, part: (g,) in [−1, 1]: ``point`` is share @ velocities + part @ generators.
        normal: (nv,) c with c M⁻¹ c = 1 and c (p − v) ≥ lower for all p of the set without its margin; 0 inside.
        status: SOLVED where the bounds agree to 1e-9 of the distance of the farthest corner, or why not.
    """

    distance: float
    upper: float
    lower: float
    point: Array
    share: Array
    part: Array
    normal: Array
    status: Status


@dataclass(frozen=True, slots=True, eq=False)
class ConvexSet:
    """hull(velocities) + {Σ aᵢ generatorsᵢ : |aᵢ| ≤ 1} + {w : ‖w‖_M ≤ margin}.

    Attributes:
        velocities: (n, nv). generators: (g, nv). margin: √J. mass: M (nv, nv), positive definite, at v⁻, where the
            impact happens: configuration and M do not change in an impact.
        jump: √J, in parts of which sizes are told.

    Raises:
        ValueError: shapes that do not fit, numbers that are not finite, or M that is not positive definite.

    Example:
        >>> square = ConvexSet(np.zeros((1, 2)), np.eye(2), 0.5, np.diag([4.0, 1.0]), 1.0)
        >>> square.distance([2.0, 0.0])
        1.5
        >>> square.distance([1.1, 0.0])
        0.0
    """

    velocities: Array
    generators: Array
    margin: float
    mass: Array
    jump: float
    _factor: Array = field(init=False, repr=False)
    _points: Array = field(init=False, repr=False)
    _axes: Array = field(init=False, repr=False)

    def __post_init__(self) -> None:
        points, axes, M = (np.ascontiguousarray(a, np.float64) for a in (self.velocities, self.generators, self.mass))
        n = M.shape[0]
        shapes = M.shape == (n, n) and points.ndim == axes.ndim == 2 and points.shape[1] == axes.shape[1] == n
        if not shapes:
            raise ValueError(f"velocities {points.shape}, generators {axes.shape} and mass {M.shape} do not fit")
        if not all(np.isfinite(a).all() for a in (points, axes, M)) or not 0.0 <= self.margin < np.inf:
            raise ValueError("a set's numbers must be finite, and its margin 0 or more")
        try:
            L = np.linalg.cholesky(M)
        except np.linalg.LinAlgError:
            raise ValueError("the mass matrix is not positive definite: there is no kinetic norm") from None
        own = {"velocities": points, "generators": axes, "mass": M, "_factor": L}
        own |= {"_points": points @ L, "_axes": axes @ L}
        for name, value in own.items():
            object.__setattr__(self, name, value)

    def distance(self, v: ArrayLike) -> float:
        """How far a velocity v (nv,) is from the set, √J, in the kinetic norm; 0 inside; inf where the set is empty.

        Exact to 1e-9 of the distance of the set's farthest corner; :meth:`nearest` has the proof of each answer.

        Raises:
            ValueError: v is not (nv,) and finite.
        """
        return self.nearest(v).distance

    def nearest(self, v: ArrayLike) -> Nearest:
        """The point of the set that is nearest to v (nv,): Wolfe's method, in coordinates Lᵀ v with M = L Lᵀ.

        Raises:
            ValueError: v is not (nv,) and finite.
        """
        from hybrid_contact_ros.kernels.impacts.nearest_point import nearest_point  # here: readers do without kernels

        given, n = np.asarray(v, dtype=np.float64), self.mass.shape[0]
        if given.shape != (n,) or not np.isfinite(given).all():
            raise ValueError(f"v is {given} of shape {given.shape}; ({n},) finite numbers are needed")
        if np.abs(given).max(initial=0.0) > _GREATEST:
            raise ValueError(f"v has {np.abs(given).max():g}; numbers up to {_GREATEST:g} can be squared")
        k, g = len(self._points), len(self._axes)
        share, part, normal = np.zeros(k), np.zeros(g), np.zeros(n)
        if not k:
            return Nearest(np.inf, np.inf, np.inf, np.full(n, np.nan), share, part, normal, Status.SOLVED)
        status, upper, lower, _ = nearest_point(
            _TOLERANCE, _STEPS, self._points, self._axes, given @ self._factor,
            np.empty((n + 2, n)), np.empty(n + 2, np.int64), np.empty((n + 2, g)), np.empty(n + 2),
            np.empty((n + 1, n)), np.empty((n + 1, n + 1)), np.empty(n + 2), np.empty(n + 2), np.empty(n),
            share, part, normal,
        )  # fmt: skip
        inside = not normal.any()
        return Nearest(
            distance=0.0 if inside else max(0.0, float(upper) - self.margin),
            upper=float(upper),
            lower=float(lower),
            point=share @ self.velocities + part @ self.generators,
            share=share,
            part=part,
            normal=self._factor @ normal,
            status=Status(status),
        )

    @property
    def half_widths(self) -> Array:
        """(nv,) over the jump: half of the set's extent along each axis of the basis of the rows of L⁻¹, M = L Lᵀ by
        Cholesky, which is M-orthonormal: the first axis moves the first coordinate alone, and so on."""
        if not len(self._points):
            return np.zeros(self.mass.shape[0])
        return self._parts(0.5 * np.ptp(self._points, axis=0) + np.abs(self._axes).sum(axis=0) + self.margin)

    @property
    def half_width(self) -> float:
        """Mean of :attr:`half_widths`."""
        return float(self.half_widths.mean())

    @property
    def radius(self) -> float:
        """Largest distance of a point of the set from the middle of its extents along the axes of :attr:`half_widths`,
        over the jump.

        Exact without generators. With them the largest of many corners that climbing does not improve, since the
        farthest one is found for certain by trying all of them only.
        """
        if not len(self._points):
            return 0.0
        V = self._points - 0.5 * (self._points.max(axis=0) + self._points.min(axis=0))
        best = float(np.linalg.norm(V, axis=1).max())
        if len(self._axes):
            draws = np.random.default_rng(0).normal(size=(_DIRECTIONS, V.shape[1]))
            x = np.vstack([self._axes, V, draws])
            for _ in range(_CLIMBS):
                corners = V[(x @ V.T).argmax(axis=1)] + np.sign(x @ self._axes.T) @ self._axes
                if np.array_equal(corners, x):
                    break
                x = corners
            best = max(best, float(np.linalg.norm(x, axis=1).max()))
        return float(self._parts(np.array(best + self.margin)))

    def _parts(self, sizes: Array) -> Array:
        """Sizes over the jump; of a set without a jump they are infinite, unless they are 0."""
        if self.jump > 0.0:
            return np.asarray(sizes / self.jump)
        return np.where(sizes > 0.0, np.inf, 0.0)


def convex_set(of: Velocities) -> ConvexSet:
    """The convex set that a prediction, or what a reader made of a message, tells.

    The kinetic norm is that of the M that goes with it, of the model at v⁻.

    Args:
        of: an :class:`~hybrid_contact_ros.prediction.ImpactPrediction`, or a
            :class:`~hybrid_contact_ros.messages.views.PostImpactVelocitySetView`.

    Raises:
        ValueError: M is not told or not positive definite, or as of :class:`ConvexSet`.
    """
    points = np.asarray(of.velocities, np.float64)
    if of.mass is None or not np.size(of.mass):
        raise ValueError("the set does not tell its mass matrix: there is no kinetic norm")
    generators = of.generators if of.generators is not None else np.empty((0, points.shape[1]))
    return ConvexSet(points, np.asarray(generators), float(of.margin), np.asarray(of.mass), float(of.jump))
