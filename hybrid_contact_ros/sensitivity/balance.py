"""The linear equations of impacts and of motion, M x − Wᵀλ = f and A x = g, for many right-hand sides at once."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.linalg.lapack import dgecon, dgetrf, dgetrs, dlange

from hybrid_contact_ros.mechanics.problem import ContactProblem
from hybrid_contact_ros.sensitivity.contact_mode import Direction

Array = NDArray[np.float64]
Rows = list[tuple[int, int]]
_WELL = 1e-6  # ratio of pivots above which a matrix is inverted without further questions
_REGULAR = 1e-13  # reciprocal condition of a matrix that is inverted as it stands
_RANK = 1e-10  # smaller singular values, relative to the largest, are zero
_CONSISTENT = 1e-7  # relative: equations that miss by more contradict each other
_PARALLEL = 1e-9  # of two unit vectors


class Unsolvable(Exception):  # noqa: N818 - it names a state of the equations
    """The equations have no solution, or not one."""

    def __init__(self, unique: bool, why: str) -> None:
        super().__init__(why)
        self.unique, self.why = unique, why


class Balance:
    """The equations of a set of closed rows, with friction at the edge of its cone where contacts slide.

    Args:
        problem: for M, J and μ. rows: the closed rows, as (contact, row of it), k of them.
        edges: by contact the unit vector s of its slip (d,), against which friction of μ times its normal force acts.
        more: (nv, nv) to add to M: the part of the forces that is linear in x.

    Attributes:
        rows: as given. undecided: (k, r), changes of the rows' λ that no motion feels: there are some where rows depend
            on each other, and ``solve`` then finds the smallest λ.

    Raises:
        Unsolvable: the matrix is singular, and not only by rows that depend on each other.
    """

    def __init__(
        self, problem: ContactProblem, rows: Rows, edges: dict[int, Direction], more: Array | None = None
    ) -> None:
        n, k = problem.nv, len(rows)
        stacked = problem.jacobian().reshape(problem.contacts, -1, n)
        contact, row = np.array(rows, dtype=np.intp).reshape(k, 2).T
        self.rows, self.nv, self._bent = rows, n, more is not None
        self.place = contact, row
        self._edges, self._friction = edges, problem.friction
        self.closed = stacked[contact, row] if k else np.zeros((0, n))
        self.push = self.closed
        if edges:
            self.push = self.closed.copy()
            for at, (i, r) in enumerate(rows):
                if r == 0 and i in edges:
                    self.push[at] -= problem.friction[i] * (edges[i] @ problem.tangent_jacobian[i])
        self._matrix = matrix = np.zeros((n + k, n + k))
        matrix[:n, :n] = problem.mass if more is None else problem.mass + more
        if k:
            np.negative(self.push.T, out=matrix[:n, n:])
            matrix[n:, :n] = self.closed
        self._shape = problem.contacts, 1 + problem.tangents
        factors, pivots, failed = dgetrf(matrix)
        sizes = np.abs(factors.diagonal())
        self.redundant = bool(failed)
        if not self.redundant and not sizes.min(initial=np.inf) > _WELL * sizes.max(initial=0.0):
            self.redundant = float(dgecon(factors, dlange("1", matrix))[0]) < _REGULAR
        self._factors = factors, pivots
        self.undecided = np.zeros((k, 0))
        if self.redundant:
            self._examine()

    def _examine(self) -> None:
        """Make sure that only forces are left open, and in no way that the motion feels."""
        left, sizes, right = np.linalg.svd(self._matrix)
        rank = int((sizes > _RANK * sizes[0]).sum())
        slips = list(self._edges.values())
        dependent = np.linalg.matrix_rank(self.closed, tol=1e-9) < len(self.rows)
        if dependent and any(np.abs(slip - slips[0]).max() > _PARALLEL for slip in slips):
            raise Unsolvable(False, "redundant contacts slide in different directions: their forces are not unique")
        if np.abs(right[rank:, : self.nv]).max(initial=0.0) > 1e-6:
            raise Unsolvable(True, "the mass matrix is singular, and the closed contacts do not decide the motion")
        self.undecided = right[rank:, self.nv :].T
        self._inverse = (right[:rank].T / sizes[:rank]) @ left[:, :rank].T

    def fits(self, rows: Rows, edges: dict[int, Direction]) -> bool:
        """Whether these rows without slip have the same equations: M and J are those of the configuration."""
        return not edges and not self._edges and not self._bent and rows == self.rows

    def solve(self, force: Array, target: Array) -> tuple[Array, Array]:
        """x (nv, c) and λ of the closed rows (k, c), for columns ``force`` (nv, c) and ``target`` (k, c).

        Raises:
            Unsolvable: rows that depend on each other are given targets that contradict each other.
        """
        right = np.concatenate((force, target)) if self.rows else force
        if self.redundant:
            found = self._inverse @ right
            missed = float(np.abs(self._matrix @ found - right).max(initial=0.0))
            if missed > _CONSISTENT * max(1.0, float(np.abs(right).max(initial=0.0))):
                raise Unsolvable(True, "the closed contacts contradict each other")
        else:
            found = dgetrs(*self._factors, right)[0]
        return found[: self.nv], found[self.nv :]

    def forces(self, pushing: Array) -> Array:
        """Forces or impulses λ (m, 1 + d) of all contacts, friction at edges included, from those of the closed rows
        (k,)."""
        force = np.zeros(self._shape)
        force[self.place] = pushing
        for i, slip in self._edges.items():
            force[i, 1:] = -self._friction[i] * force[i, 0] * slip
        return force
