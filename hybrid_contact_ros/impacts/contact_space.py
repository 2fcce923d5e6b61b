"""A contact problem in contact space, with the scratch that the kernels need: made once for every impact."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from hybrid_contact_ros.codes import Status
from hybrid_contact_ros.kernels.impacts import delassus, fast_bounds
from hybrid_contact_ros.kernels.impacts.tableau import BLOCK, LINES
from hybrid_contact_ros.mechanics.problem import ContactProblem

Array = NDArray[np.float64]


class ContactSpace:
    """Delassus matrix of a problem, on normals and friction axes, scaled (:mod:`~.kernels.impacts.delassus`).

    Attributes:
        status: SOLVED, or SINGULAR where M is not positive definite; nothing else is meaningful then.
        speed: V, √J: scaled velocity 1.
        L, Y, R, G, u: M = L Lᵀ, L⁻¹ Jᵀ and M⁻¹ Jᵀ by rows, J M⁻¹ Jᵀ, J v; rows contact by contact.
        A, scale, H, w, c: axes (g, d), √G_nn (m,), scaled Delassus matrix (p, p) and velocities (p,), bound of an axis
            per normal impulse (m,); p = m (1 + g).
    """

    __slots__ = ("A", "G", "H", "L", "R", "Y", "c", "g", "lines", "scale", "speed", "status", "tableau", "u", "w")

    def __init__(self, problem: ContactProblem, directions: int) -> None:
        m, d, n = problem.tangent_jacobian.shape
        g = self.g = 1 if d == 1 else directions // 2
        r, p = m * (1 + d), m * (1 + g)
        empty = np.empty
        self.L, self.Y, self.R = empty((n, n)), empty((r, n)), empty((r, n))
        self.G, self.u = empty((r, r)), empty(r)
        self.A, self.scale, self.H, self.w, self.c = empty((g, d)), empty(m), empty((p, p)), empty(p), empty(m)
        self.tableau, self.lines = empty((p + 3, -(-p // BLOCK) * BLOCK)), empty((LINES, p + 3))
        status, self.speed = delassus.prepare(
            directions,
            problem.mass,
            problem.jacobian(),
            problem.velocity,
            problem.friction,
            self.L,
            self.Y,
            self.R,
            self.G,
            self.u,
            self.A,
            self.scale,
            self.H,
            self.w,
            self.c,
        )
        self.status = Status(status)

    def bounds(
        self, velocity: Array, friction: Array, give: Array, loose: float, separated: bool = True
    ) -> tuple[Array, Array, Array, Array]:
        """Bounds of v⁺ (n,), lower and upper, and of the normal impulses (m,), N s, least and most.

        See :func:`hybrid_contact_ros.impacts.bounds.outcome_bounds`; give (m,) and loose as in
        :func:`~.fast_bounds.impulse_bounds`; not ``separated``, they hold on the way there too.
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
        fast_bounds.impulse_bounds(d, self.G, self.u, friction, give, loose, self.speed, np.empty((m, m)), low, high)
        if not separated:
            low[:] = 0.0
        fast_bounds.tighten(d, self.R, velocity, friction, low, high, lower, upper)
        return lower, upper, low, high


def check_directions(directions: int) -> None:
    """Raise ValueError unless the friction polygon is possible: an even number of vertices, 2 or more."""
    if not isinstance(directions, (int, np.integer)) or directions < 2 or directions % 2:
        raise ValueError(f"directions is {directions!r}; an even number of friction directions, 2 or more, is needed")
