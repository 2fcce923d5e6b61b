"""All solutions of the increment LCPs of one contact problem: are they unique, how dear is a search, and the search."""

from __future__ import annotations

from copy import copy
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from hybrid_contact_ros.impacts.contact_space import Array, ContactSpace
from hybrid_contact_ros.kernels.impacts.all_solutions import search
from hybrid_contact_ros.kernels.impacts.folding import fold
from hybrid_contact_ros.kernels.impacts.increment_modes import ACTIVE, CAPPED, OPEN, effort
from hybrid_contact_ros.kernels.impacts.orientation import coherent
from hybrid_contact_ros.kernels.impacts.planar_pieces import piece_sizes
from hybrid_contact_ros.kernels.impacts.planar_search import search_planar
from hybrid_contact_ros.kernels.impacts.planar_tree import tree_sizes
from hybrid_contact_ros.kernels.impacts.residual import axes_residual

SOLUTIONS_LIMIT = 64
"""Solutions of one LCP at which a search stops."""
_PIECES = 1000  # pieces looked at for uniqueness, where there are no more; robots need none (their H is dominant)
_CHEAP = 1000  # modes of an LCP up to which every increment is searched
_RARELY = 1.0 / 1024  # least chance that an increment is searched where there are many modes
_SPOT = 1.0 / 64  # chance where there seem to be no other solutions
_FOLD_MODES = 4000  # modes looked at for a fold, where there are no more
_SAMPLING_WORK = 4096  # units of a search within sampling
_NODES = 1 << 20  # nodes of a search that is asked for by name
_CONTACT_MODES = 1 << 17  # modes of a contact that are looked at, at most: all with up to 20 friction directions
_UNRESOLVED = 4096  # modes without a regular system that are looked into
_SAME = 1e-8  # scaled velocities closer than this are one outcome


@dataclass(frozen=True, slots=True)
class Solutions:
    """All solutions of one LCP with different velocities, scaled.

    Attributes:
        z, after: impulses and velocities (n, p). continuum: some of them are ends of a continuum of velocities.
        complete: there are no others.
    """

    z: Array
    after: Array
    continuum: bool
    complete: bool


class PlanarScratch:
    """What :mod:`~hybrid_contact_ros.kernels.impacts.planar_sampling` keeps of one configuration in the plane.

    Attributes:
        pieces: the fields of :class:`~hybrid_contact_ros.kernels.impacts.planar_pieces.Pieces`, none made yet.
        tree: those of :class:`~hybrid_contact_ros.kernels.impacts.planar_tree.PlanarTree`.
    """

    __slots__ = ("pieces", "tree")

    def __init__(self, m: int) -> None:
        signs, maps, tests, counts, order, system, columns, ints = piece_sizes(m)
        self.pieces = (
            np.zeros(signs, dtype=np.int64),
            *(np.empty(shape) for shape in (maps, tests)),
            *(np.zeros(shape, dtype=np.int64) for shape in (counts, order)),
            *(np.empty(shape) for shape in (system, columns)),
            np.zeros(ints, dtype=np.int64),
        )
        T, bounds, A, rows, modes, at = tree_sizes(m)
        integers = (np.empty(shape, dtype=np.int64) for shape in (rows, modes, at))
        self.tree = (*(np.empty(shape) for shape in (T, bounds, A)), *integers)


class SolutionSearch:
    """The search for all solutions in one contact space, with its scratch.

    Attributes:
        unique: True if every increment LCP of this configuration has one solution; None if that is not known.
        chance: the probability with which sampling searches an increment, so that it stays cheap: 0 where solutions are
            unique, 1/64 where there is no sign of others, and otherwise 1 up to a thousand modes, and inversely as
            their number beyond.
        limit: units of work (:func:`~hybrid_contact_ros.kernels.impacts.increment_modes.effort`) of one search within
            sampling: a millisecond or two at most, whatever the contacts and directions.
        whole: units of work of a search that is asked for by name.
        planar: scratch of the faster search in the plane; None in space.
    """

    def __init__(self, space: ContactSpace) -> None:
        m, p = space.c.size, space.w.size
        self.space = space
        self.T = np.empty((m + 1, p, p + 1))
        self.A = np.empty((p + 1, p + 1))
        self.states = np.empty((5, p), dtype=np.int64)
        self.modes = np.empty((m, min(2 + 2 * 3**space.g, _CONTACT_MODES)), dtype=np.int64)
        self.planar: PlanarScratch | None = (
            PlanarScratch(m) if space.g == 1 and m > 0 and space.A.shape[1] == 1 else None
        )
        self.z, self.after = np.empty((SOLUTIONS_LIMIT + 3, p)), np.empty((SOLUTIONS_LIMIT + 3, p))
        rubs = space.c > 0.0
        pieces = float(np.prod(np.where(rubs, 2.0**space.g + 3.0**space.g, 2.0)))
        limit = _PIECES if pieces <= _PIECES else 0  # 0: only whether feet hardly feel each other, which is cheap
        self.unique: bool | None = coherent(space.g, limit, space.H, space.c, self.T, self.states) == 1 or None
        size = float(np.prod(np.where(rubs, 1.0 + 2.0 * 3.0**space.g, 3.0)))
        self.chance = 0.0 if self.unique else min(1.0, max(_CHEAP / size, _RARELY))
        limit = _FOLD_MODES if self.chance > _SPOT and size <= _FOLD_MODES else 0
        S, A, B = np.empty((p, p)), np.empty((p, p)), np.empty((p, p))
        # called in any case: a kernel must not be met for the first time after compilation was forbidden
        if fold(space.g, limit, space.H, space.c, S, A, B, self.states) == 0:
            self.chance = min(self.chance, _SPOT)
        self.limit = _SAMPLING_WORK
        self.whole = 3 * _NODES * int(np.ceil(effort(space.g, p)))

    def copy(self) -> SolutionSearch:
        """The same with scratch of its own, for another thread."""
        other = copy(self)
        for name in ("T", "A", "states", "modes", "z", "after"):
            setattr(other, name, np.empty_like(getattr(self, name)))
        other.planar = None if self.planar is None else PlanarScratch(self.space.c.size)
        return other

    def all(self, w: Array, cap: Array, limit: int | None = None) -> Solutions:
        """All solutions for scaled velocities w (p,) and caps (m,), which may be inf. limit: in place of ``whole``."""
        space = self.space
        unresolved_states = np.empty((_UNRESOLVED, w.size), dtype=np.int64)
        budget = self.whole if limit is None else limit, np.inf, SOLUTIONS_LIMIT, 0
        problem = space.H, w, cap, space.c
        if self.planar is not None and np.isfinite(cap).all():
            found = search_planar(
                space.g, *budget, *problem, np.inf, *self.planar.tree, unresolved_states, 0, self.z, self.after
            )
        else:
            scratch = self.T, self.A, self.states, self.modes
            found = search(space.g, *budget, *problem, *scratch, unresolved_states, 0, self.z, self.after)
        count, _, continua, unresolved, complete = found
        z, after = list(self.z[:count].copy()), list(self.after[:count].copy())
        continuum = continua > 0
        for states in unresolved_states[: min(unresolved, _UNRESOLVED)]:
            first: Array | None = None
            for end in self._extreme_points(w, cap, states, after):
                out = np.empty_like(w)
                if not axes_residual(space.g, space.H, w, cap, space.c, end, out) <= 1e-9:
                    continue
                first = out if first is None else first
                continuum |= bool(np.abs(out - first).max() > _SAME)
                if all(np.abs(out - other).max() > _SAME for other in after):
                    z.append(end)
                    after.append(out)
        complete &= unresolved <= _UNRESOLVED and len(z) < SOLUTIONS_LIMIT
        p = w.size
        return Solutions(np.reshape(z, (-1, p)), np.reshape(after, (-1, p)), continuum, complete)

    def _extreme_points(self, w: Array, cap: Array, states: NDArray[np.int64], known: list[Array]) -> list[Array]:
        """Impulses of one mode's solutions that are extreme in some component of the velocity.

        One if the velocity is constant, and none if it is among those ``known``. The impulses are z = base + P x with
        the unknowns x of the mode.
        """
        from scipy.optimize import linprog  # here: it would be a third of what a node imports, which never comes here

        space = self.space
        base, P, rows = self._unknowns(cap, states)
        motion, still = space.H @ P, w + space.H @ base
        Q, r = self._conditions(cap, states, base, P, still, motion)
        _, values, basis = np.linalg.svd(motion[rows])
        free = basis[np.sum(values > 1e-9) :]  # changes of x that leave the mode's own rows at rest
        moving = np.abs(motion @ free.T).max(axis=1, initial=0.0) > 1e-8
        x, *_ = np.linalg.lstsq(motion[rows], -still[rows], rcond=None)
        if not moving.any():
            after = still + motion @ x
            if any(np.abs(after - other).max() <= _SAME for other in known):
                return []
        found = []
        objectives = [sign * motion[i] for i in np.flatnonzero(moving) for sign in (1.0, -1.0)] or [np.zeros(x.size)]
        # x = x₀ + freeᵀ y: the equations hold by construction, and the linear program has the free unknowns only
        for objective in objectives:
            bounds = r - Q @ x + 1e-10
            answer = linprog(free @ objective, A_ub=Q @ free.T, b_ub=bounds, bounds=(-1e4, 1e4))
            if answer.status == 2:
                return []
            if answer.status == 0:
                found.append(base + P @ (x + free.T @ answer.x))
        return found

    def _unknowns(self, cap: Array, states: NDArray[np.int64]) -> tuple[Array, Array, list[int]]:
        """Impulses z = base + P x of a mode with unknowns x, and the rows i in which the mode asks for w'_i = 0."""
        space = self.space
        n, p = 1 + space.g, space.w.size
        base, columns, rows = np.zeros(p), [], []
        for k in range(cap.size):
            a = k * n
            if states[a] == OPEN or cap[k] == 0.0:
                continue
            column = np.zeros(p)
            column[a] = 1.0
            column[a + 1 : a + n] = states[a + 1 : a + n] * space.c[k]
            if states[a] == ACTIVE:
                rows.append(a)
                columns.append(column)
            else:
                base += cap[k] * column
            for q in range(a + 1, a + n):
                if states[q] == 0:
                    rows.append(q)
                    columns.append(np.eye(p)[q])
        return base, np.array(columns).T.reshape(p, -1), rows

    def _conditions(
        self, cap: Array, states: NDArray[np.int64], base: Array, P: Array, still: Array, motion: Array
    ) -> tuple[Array, Array]:
        """The inequalities Q x ≤ r of a mode, whose velocities are w' = still + motion x."""
        c, n = self.space.c, 1 + self.space.g
        Q, r = [], []

        def at_least_zero(row: Array, value: float) -> None:
            Q.append(-row)
            r.append(value)

        for k in range(cap.size):
            a = k * n
            if cap[k] == 0.0:
                continue
            if states[a] == OPEN:
                at_least_zero(motion[a], still[a])
                continue
            if states[a] == CAPPED:
                at_least_zero(-motion[a], -still[a])
            else:
                at_least_zero(P[a], base[a])
                if cap[k] < np.inf:
                    at_least_zero(-P[a], cap[k] - base[a])
            for q in range(a + 1, a + n):
                if c[k] == 0.0:
                    continue
                if states[q] != 0:
                    at_least_zero(-states[q] * motion[q], -states[q] * still[q])
                else:
                    for sign in (1.0, -1.0):
                        at_least_zero(c[k] * P[a] - sign * P[q], c[k] * base[a] - sign * base[q])
        return np.array(Q), np.array(r)
