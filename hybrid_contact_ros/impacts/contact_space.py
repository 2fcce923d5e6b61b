"""A contact problem in contact space, with the scratch that the kernels need: made once for every impact."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from hybrid_contact_ros.codes import Status
from hybrid_contact_ros.kernels.impacts import fast_bounds, friction_axes
from hybrid_contact_ros.kernels.impacts.tableau import BLOCK, LINES
from hybrid_contact_ros.mechanics.problem import ContactProblem

Array = NDArray[np.float64]

SEPARATING = 1e-9
"""Scaled: a contact that approaches no faster has separated."""


class ContactSpace:
    """The Delassus matrix of a problem, and the problem on friction axes, scaled.

    The scaling is that of :mod:`hybrid_contact_ros.kernels.impacts.friction_axes`. With r = m (1 + d) rows, g friction
    axes a contact and p = m (1 + g) unknowns:

    Attributes:
        status: SOLVED, or SINGULAR where M is not positive definite; then no other attribute is meaningful.
        speed: V, √J, the speed that a scaled velocity of 1 stands for; 0 if nothing moves.
        g: friction axes a contact: 1 in the plane, half the number of directions in space.
        L (n, n), Y (r, n), R (r, n): M = L Lᵀ, the rows L⁻¹ Jᵀ, and the rows M⁻¹ Jᵀ.
        G (r, r), u (r,): J M⁻¹ Jᵀ, 1/kg, and J v⁻, m/s; rows contact by contact, normal first.
        A (g, d), scale (m,): unit vectors of the axes, and √G_nn.
        H (p, p), w (p,): scaled Delassus matrix and contact velocities on the axes.
        c (m,): bound of the impulse along an axis, per unit of normal impulse.
        tableau, lines: scratch of :func:`~hybrid_contact_ros.kernels.impacts.increment.increment`.
    """

    __slots__ = ("A", "G", "H", "L", "R", "Y", "c", "g", "lines", "scale", "speed", "status", "tableau", "u", "w")

    def __init__(self, problem: ContactProblem, directions: int) -> None:
        m, d, n = problem.tangent_jacobian.shape
        self._lay_out(m, d, n, directions)
        status, self.speed = friction_axes.prepare(
            directions,
            # configuration:
            problem.mass,
            problem.jacobian(),
            problem.velocity,
            problem.friction,
            *self.response,
            *self.axes,
        )
        self.status = Status(status)

    @classmethod
    def blank(cls, m: int, d: int, n: int, directions: int) -> ContactSpace:
        """The space of m contacts with d tangents and n velocities, for somebody else to fill in."""
        self = cls.__new__(cls)
        self._lay_out(m, d, n, directions)
        return self

    def _lay_out(self, m: int, d: int, n: int, directions: int) -> None:
        g = self.g = 1 if d == 1 else directions // 2
        r, p = m * (1 + d), m * (1 + g)
        empty = np.empty
        self.L, self.Y, self.R = np.zeros((n, n)), empty((r, n)), empty((r, n))
        self.G, self.u = empty((r, r)), empty(r)
        self.A, self.scale, self.H, self.w, self.c = empty((g, d)), empty(m), empty((p, p)), empty(p), empty(m)
        self.tableau, self.lines = empty((2 * p + 5, -(-p // BLOCK) * BLOCK)), empty((LINES, p + 3))
        self.status, self.speed = Status.SINGULAR, 0.0

    @property
    def response(self) -> tuple[Array, ...]:
        """The fields of :class:`~hybrid_contact_ros.kernels.impacts.friction_axes.Response`."""
        return self.L, self.Y, self.R, self.G, self.u

    @property
    def axes(self) -> tuple[Array, ...]:
        """The fields of :class:`~hybrid_contact_ros.kernels.impacts.friction_axes.AxesProblem`."""
        return self.A, self.scale, self.H, self.w, self.c

    def impulses(self, z: Array) -> Array:
        """Impulses (m, 1 + d), N s, normal first, from scaled impulses z (p,) on axes."""
        impulse = np.zeros((self.scale.size, 1 + self.A.shape[1]))
        friction_axes.expand(self.A, self.scale, self.speed, z, impulse)
        return impulse

    def velocity_after(self, velocity: Array, impulse: Array) -> Array:
        """v + M⁻¹ Jᵀ Λ (n,), from v (n,) and impulses Λ (m, 1 + d), N s."""
        after = velocity.copy()
        friction_axes.add_impulse(self.R, impulse, after)
        return after

    def bounds(
        self,
        velocity: Array,
        friction: Array,
        restitution_gain: Array,
        residual_slack: float,
        separated: bool = True,
    ) -> tuple[Array, Array, Array, Array]:
        """Bounds of v⁺ (n,), lower and upper, and of the normal impulses (m,), N s, least and most.

        They are those of :func:`hybrid_contact_ros.impacts.bounds.outcome_bounds` with effort "fast".

        Args:
            velocity: v⁻ (n,). friction: μ (m,).
            restitution_gain, residual_slack: as of :class:`~hybrid_contact_ros.impacts.restitution.Material`.
            separated: whether the contacts have separated. If not, the bounds hold on the way to v⁺ too.
        """
        n, m = velocity.shape[0], friction.shape[0]
        low, high = np.zeros(m), np.full(m, np.inf)
        if self.status != Status.SOLVED:
            return np.full(n, -np.inf), np.full(n, np.inf), low, high
        if not (self.w[:: 1 + self.g] < 0.0).any():
            high[:] = 0.0
            return velocity.copy(), velocity.copy(), low, high
        lower, upper = np.empty(n), np.empty(n)
        d = self.Y.shape[0] // m - 1
        fast_bounds.energy_bounds(self.L, self.Y, velocity, np.empty((n + 1, n)), lower, upper)
        fast_bounds.impulse_bounds(
            d,
            self.G,
            self.u,
            friction,
            restitution_gain,
            residual_slack,
            self.speed,
            np.empty((m, m)),
            low,
            high,
        )
        if not separated:
            low[:] = 0.0
        fast_bounds.tighten(d, self.R, velocity, friction, low, high, lower, upper)
        return lower, upper, low, high


def check_directions(directions: int) -> None:
    """Raise ValueError unless the friction polygon is possible: an even number of vertices, 2 or more."""
    if not isinstance(directions, (int, np.integer)) or directions < 2 or directions % 2:
        raise ValueError(f"directions is {directions!r}; an even number of friction directions, 2 or more, is needed")
