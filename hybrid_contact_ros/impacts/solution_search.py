"""All solutions of the LCPs of one contact problem: whether they are unique, how dear a search is, and the search."""

from __future__ import annotations

from copy import copy
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import linprog

from hybrid_contact_ros.impacts.contact_space import Array, ContactSpace
from hybrid_contact_ros.kernels.impacts.all_solutions import search
from hybrid_contact_ros.kernels.impacts.increment_modes import ACTIVE, CAPPED, OPEN, effort
from hybrid_contact_ros.kernels.impacts.orientation import coherent, fold
from hybrid_contact_ros.kernels.impacts.residual import axes_residual

MOST = 64
"""Solutions of one LCP that a search stops at."""
_PIECES = 1000  # looked at for uniqueness where there are no more; robots need none of them (the matrix is dominant)
_CHEAP = 1000  # modes that are always searched
_RARELY = 1.0 / 1024
_SPOT = 1.0 / 64  # where there seem to be no others
_MODES = 4000  # that are looked at for that
_WORK = 4096  # units of a search within sampling
_NODES = 1 << 20  # of a search that is asked for by name
_COLUMNS = 1 << 17  # modes of a contact that are looked at, at most: all with up to 20 friction directions
_LOOSE = 4096
_SAME = 1e-8


@dataclass(frozen=True, slots=True)
class Solutions:
    """All solutions of one LCP with different velocities: impulses z (n, p) and velocities after (n, p), scaled."""

    z: Array
    after: Array
    continuum: bool
    complete: bool


class SolutionSearch:
    """The search for all solutions in one contact space, with its scratch.

    Attributes:
        unique: True if every increment LCP of this configuration has one solution; None if that is not known.
        chance: the probability with which an increment is searched so that sampling stays cheap: 0 where solutions are
            unique, 1/64 where there is no sign of others, and otherwise 1 where there are at most some hundred modes,
            and inversely as their number beyond.
        limit: units of work (:func:`~hybrid_contact_ros.kernels.impacts.increment_modes.effort`) of one search within
            sampling: a millisecond or two at most, whatever the contacts and directions. whole: of a search asked for
            by name.
    """

    def __init__(self, space: ContactSpace) -> None:
        m, p = space.c.size, space.w.size
        self.space = space
        self.T = np.empty((m + 1, p, p + 1))
        self.A = np.empty((p + 1, p + 1))
        self.states = np.empty((5, p), dtype=np.int64)
        self.modes = np.empty((m, min(2 + 2 * 3**space.g, _COLUMNS)), dtype=np.int64)
        self.z, self.after = np.empty((MOST + 3, p)), np.empty((MOST + 3, p))
        rubs = space.c > 0.0
        pieces = float(np.prod(np.where(rubs, 2.0**space.g + 3.0**space.g, 2.0)))
        limit = _PIECES if pieces <= _PIECES else 0  # 0: only whether feet hardly feel each other, which is cheap
        self.unique: bool | None = coherent(space.g, limit, space.H, space.c, self.T, self.states) == 1 or None
        size = float(np.prod(np.where(rubs, 1.0 + 2.0 * 3.0**space.g, 3.0)))
        self.chance = 0.0 if self.unique else min(1.0, max(_CHEAP / size, _RARELY))
        limit = _MODES if self.chance > _SPOT and size <= _MODES else 0
        S, A, B = np.empty((p, p)), np.empty((p, p)), np.empty((p, p))
        # called in any case: a kernel must not be met for the first time after compilation was forbidden
        if fold(space.g, limit, space.H, space.c, S, A, B, self.states) == 0:
            self.chance = min(self.chance, _SPOT)
        self.limit = _WORK
        self.whole = 3 * _NODES * int(np.ceil(effort(space.g, p)))

    def copy(self) -> SolutionSearch:
        """The same with scratch of its own, for another thread."""
        other = copy(self)
        for name in ("T", "A", "states", "modes", "z", "after"):
            setattr(other, name, np.empty_like(getattr(self, name)))
        return other

    def all(self, w: Array, cap: Array, limit: int | None = None) -> Solutions:
        """All solutions for scaled velocities w (p,) and caps (m,), which may be inf. limit: in place of ``whole``."""
        space = self.space
        loose = np.empty((_LOOSE, w.size), dtype=np.int64)
        count, _, continua, unresolved, complete = search(
            space.g,
            self.whole if limit is None else limit,
            np.inf,
            MOST,
            0,
            space.H,
            w,
            cap,
            space.c,
            self.T,
            self.A,
            self.states,
            self.modes,
            loose,
            0,
            self.z,
            self.after,
        )
        z, after = list(self.z[:count].copy()), list(self.after[:count].copy())
        continuum = continua > 0
        for states in loose[: min(unresolved, _LOOSE)]:
            first: Array | None = None
            for end in self._ends(w, cap, states, after):
                out = np.empty_like(w)
                if not axes_residual(space.g, space.H, w, cap, space.c, end, out) <= 1e-9:
                    continue
                first = out if first is None else first
                continuum |= bool(np.abs(out - first).max() > _SAME)
                if all(np.abs(out - other).max() > _SAME for other in after):
                    z.append(end)
                    after.append(out)
        complete &= unresolved <= _LOOSE and len(z) < MOST
        p = w.size
        return Solutions(np.reshape(z, (-1, p)), np.reshape(after, (-1, p)), continuum, complete)

    def _ends(self, w: Array, cap: Array, states: NDArray[np.int64], known: list[Array]) -> list[Array]:
        """Points of one mode's solutions that are extreme in some component of the velocity; one if it is constant."""
        space = self.space
        n, p = 1 + space.g, w.size
        # z = base + P x with the unknowns x of the mode; conditions Q x ≤ r, and the rows of the unknowns say w' = 0.
        base, columns, rows, Q, r = np.zeros(p), [], [], [], []

        def at_least_zero(row: Array, value: float) -> None:
            Q.append(-row)
            r.append(value)

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
        P = np.array(columns).T.reshape(p, -1)
        motion, still = space.H @ P, w + space.H @ base
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
                if space.c[k] == 0.0:
                    continue
                if states[q] != 0:
                    at_least_zero(-states[q] * motion[q], -states[q] * still[q])
                else:
                    for sign in (1.0, -1.0):
                        at_least_zero(space.c[k] * P[a] - sign * P[q], space.c[k] * base[a] - sign * base[q])
        _, values, basis = np.linalg.svd(motion[rows])
        free = basis[np.sum(values > 1e-9) :]  # impulses that leave the mode's own rows as they are
        moving = np.abs(motion @ free.T).max(axis=1, initial=0.0) > 1e-8
        x, *_ = np.linalg.lstsq(motion[rows], -still[rows], rcond=None)
        if not moving.any():
            after = still + motion @ x
            if any(np.abs(after - other).max() <= _SAME for other in known):
                return []
        found = []
        aims = [sign * motion[i] for i in np.flatnonzero(moving) for sign in (1.0, -1.0)] or [np.zeros(x.size)]
        # x = x₀ + freeᵀ y: the equations hold by construction, and the LP has the free unknowns only
        for aim in aims:
            bounds = np.array(r) - np.array(Q) @ x + 1e-10
            answer = linprog(free @ aim, A_ub=np.array(Q) @ free.T, b_ub=bounds, bounds=(-1e4, 1e4))
            if answer.status == 2:
                return []
            if answer.status == 0:
                found.append(base + P @ (x + free.T @ answer.x))
        return found
