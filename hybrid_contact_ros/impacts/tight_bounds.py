"""What the total impulses of all outcomes satisfy, as rows of a polyhedron: input of the tight outer bounds."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from hybrid_contact_ros.impacts.contact_space import Array, ContactSpace
from hybrid_contact_ros.impacts.contact_states import Mode, contact_modes
from hybrid_contact_ros.impacts.impulse_laws import cone_rows, restitution_row
from hybrid_contact_ros.impacts.restitution import Material
from hybrid_contact_ros.impacts.support_functions import ContactBlocks, templates
from hybrid_contact_ros.kernels.impacts.hull_lp import OWN_CUTS, descend, extremes, start
from hybrid_contact_ros.kernels.impacts.linear_bound import maximum
from hybrid_contact_ros.mechanics.problem import ContactProblem

ROOM = 1e-8  # of √G_nn ‖v‖_M: for the solvers' residuals
SEPARATED = 2e-8  # m/s; the published implementation takes contacts that approach by 1e-8 m/s as separated
_ROUNDS = 12
_WORK = 2e7  # of templates, modes and squared impulses: above, fewer rounds
_CUTS = 100  # tangent planes of the ball of energy
_FAR = 1e9  # impulse that stands for unbounded ones
_MOST = 400  # functions whose bounds are lowered
_SIZE = 2e7  # of modes, impulses and squared functions: above, fewer functions
_SPARE = 0.4  # part of these that duals may ask for in addition
_ALIKE = 1.0 - 1e-7  # cosine of templates that are the same
_INCREASE = 1e-12  # per impulse and 1 + μ
_LONGEST = 1000  # pivots of the first linear program


class ImpulsePolyhedron:
    """Rows on total impulses Λ, scaled: contact i's by √G_nn / ‖v‖, so that velocities and impulses are about 1.

    Restitution is a contact of its own at the same place, that may push while it separates; how much, the law says
    (:func:`~hybrid_contact_ros.impacts.impulse_laws.restitution_row`).

    Friction between two ends: impulses are in the cone of the largest μ; what a sliding contact demands is the same for
    every μ, and what it can increase is decided at both ends.

    Args:
        problem, space: of one configuration, with the largest μ; M positive definite and some contact approaching.
        material: e, μ, and the law. directions: of the friction polygon, or None for all polygons and the circle.
        queries: (q, nv); their bounds are lowered on the way as well.
    """

    def __init__(
        self, problem: ContactProblem, space: ContactSpace, material: Material, directions: int | None, queries: Array
    ) -> None:
        m, d = problem.contacts, problem.tangents
        self.w = w = 1 + d
        self.parents = np.concatenate([np.arange(m), np.flatnonzero(material.e_high > 0.0)])
        self.mu, self.mu_low = problem.friction[self.parents], material.mu_low[self.parents]
        q, s, _ = np.linalg.svd(space.Y.T, full_matrices=False)
        q = q[:, s > 1e-11 * s[0]]
        x = q.T @ (space.L.T @ problem.velocity)
        self.speed = float(np.linalg.norm(x)) * (1.0 + 1e-12)
        scale = np.sqrt(np.diag(space.G)[::w])
        self.known = bool(self.speed > 0.0 and scale.min() > 1e-6 * scale.max())
        if not self.known:
            return
        self.x0 = x / self.speed
        own = np.repeat(scale, w)[:, None]
        here = (space.Y @ q) / own
        self.u0 = (here @ self.x0).reshape(m, w)
        index = (self.parents[:, None] * w + np.arange(w)).ravel()
        self.A = np.ascontiguousarray(here[index])
        self.response = (self.speed * (space.R @ queries.T) / own)[index].T  # queries' change per scaled impulse
        self.room = ROOM * max(1.0, float(np.linalg.norm(self.A, axis=1).max()))
        self.final_room = self.room + SEPARATED / (scale * self.speed)
        self.blocks = ContactBlocks(self.A, self.mu, self.parents, w, directions)
        self._modes(d, directions)
        self._templates(q.T @ (np.linalg.solve(space.L, queries.T)))
        self._rows(material)

    def _modes(self, d: int, directions: int | None) -> None:
        first = int(self.u0.shape[0])
        self.modes: list[tuple[int, Mode]] = []
        rows, sides, begin = [], [], [0]
        for contact, parent in enumerate(self.parents):
            for mode in contact_modes(d, float(self.mu[contact]), directions, contact < first):
                self.modes.append((contact, mode))
                here = self.A[parent * self.w : (parent + 1) * self.w]
                rows.append(mode.velocity @ here @ self.A.T)
                sides.append(self.room - mode.velocity @ self.u0[parent])
                begin.append(begin[-1] + len(mode.velocity))
        self.conditions, self.sides = np.concatenate(rows), np.concatenate(sides)
        self.begin = np.array(begin)

    def _templates(self, queries: Array) -> None:
        """Rows whose bounds are lowered, with what is known of them at the start."""
        most = min(_MOST, int(np.sqrt(_SIZE / (len(self.modes) * len(self.A)))))
        impulses, velocities = templates(self.blocks, queries, most)
        t = np.concatenate([velocities, -velocities])
        far = np.linalg.norm(t, axis=1) * (1.0 + ROOM) - t @ self.x0  # t (x − x0) within the ball of energy
        T = np.concatenate([impulses, t @ self.A.T])
        bound = np.concatenate([np.full(len(impulses), np.inf), np.maximum(far, 0.0)])
        size = np.linalg.norm(T, axis=1)
        moving = size > 1e-12
        T, bound = T[moving] / size[moving, None], bound[moving] / size[moving]
        _, first = np.unique(np.round(T, 8), axis=0, return_index=True)
        self.T, self.bound = T[np.sort(first)], bound[np.sort(first)]
        self.spare = int(_SPARE * most) if len(self.T) < 1.5 * most else 0

    def _increases(self, T: Array) -> NDArray[np.bool_]:
        """Whether a mode (columns) can increase a template (rows)."""
        answer = np.zeros((len(T), len(self.modes)), dtype=np.bool_)
        for k, (contact, mode) in enumerate(self.modes):
            part = T[:, contact * self.w : (contact + 1) * self.w]
            for mu in {float(self.mu[contact]), float(self.mu_low[contact])}:
                answer[:, k] |= mode.most(part[:, 0], part[:, 1:], mu) > _INCREASE * (1.0 + mu)
        return answer

    def _rows(self, material: Material) -> None:
        p, m = self.A.shape[0], len(self.u0)
        C, known = cone_rows(self.blocks)
        laws = [
            restitution_row(self.blocks, block, material, self.u0, self.final_room) for block in range(m, len(self.mu))
        ]
        C = np.concatenate([C, *(row[None] for row, _ in laws)])
        known = np.concatenate([known, [side for _, side in laws]])
        self.template = 2 * p + len(C)
        self.cut = self.template + len(self.T) + self.spare
        self.final = self.cut + _CUTS
        standing = self.final + m
        self.standing = standing
        self.rows = np.zeros((standing + int(np.diff(self.begin).max()) + OWN_CUTS, p))
        self.rhs = np.full(len(self.rows), np.inf)
        self.rows[:p], self.rows[p : 2 * p] = np.eye(p), -np.eye(p)
        self.rhs[: 2 * p] = _FAR
        self.rows[2 * p : self.template] = C
        self.rhs[2 * p : self.template] = known
        given = slice(self.template, self.template + len(self.T))
        self.rows[given], self.rhs[given] = self.T, self.bound
        self.rows[self.final : standing] = -self.A[: m * self.w : self.w] @ self.A.T

    def bounds(self, rounds: int = _ROUNDS) -> tuple[Array, Array] | None:
        """Least and most (q,) change of the queries; None where impulses are unbounded (the cone is not pointed)."""
        if not self.known:
            return None
        p = self.A.shape[0]
        basis, work, inverse, vectors = np.empty(p, np.int64), np.empty((p, p)), np.empty((p, p)), np.empty((4, p))
        box = self._box(basis, work, inverse, vectors)
        if box is None:
            return None
        self.rhs[: 2 * p] = np.tile(box, 2)
        self._lower(rounds, box, (basis, work, inverse, vectors))
        most = self._most * self._size
        q = len(self.response)
        if not np.isfinite(most).all():
            return None
        return -most[q:], most[:q]

    def _lower(self, rounds: int, box: Array, scratch: tuple[NDArray[np.int64], Array, Array, Array]) -> None:
        """Lower the templates' bounds, add those that the duals ask for, and bound the queries."""
        p = self.A.shape[0]
        count, capacity = len(self.T), len(self.T) + self.spare
        rounds = int(np.clip(_WORK / (count * len(self.modes) * p * p), 2, rounds))
        T = self.rows[self.template : self.template + capacity]
        b = self.rhs[self.template : self.template + capacity]
        bases, mix = np.empty((capacity, p), np.int64), np.zeros((capacity, p + 1))
        order = np.tile(np.arange(len(self.modes)), (capacity, 1))
        increases = np.zeros((capacity, len(self.modes)), np.bool_)
        slack = np.full(capacity, self.room + 2.0 * _INCREASE * box.max())
        first, used, self.rounds = 0, 0, 0
        signed = np.concatenate([self.response, -self.response])
        self._size = np.maximum(np.linalg.norm(signed, axis=1), 1e-300)
        signed /= self._size[:, None]
        asked, self._most = np.zeros((len(signed), p + 1)), np.empty(len(signed))
        while True:
            increases[first:count] = self._increases(T[first:count])
            for k in range(first, count):
                start(p, T[k], bases[k])
            first = count
            done, used = descend(
                rounds if count == capacity else 2, self.template, count, self.standing, self.cut, _CUTS, used, self.A,
                self.x0, box, increases, self.conditions, self.sides, self.begin, slack, order, self.rows, self.rhs,
                bases, mix, *scratch,
            )  # fmt: skip
            self.rounds += done
            self.rhs[self.final : self.standing] = self.u0[:, 0] + self.final_room  # no contact approaches in the end
            used = extremes(
                self.template, count, self.standing, self.cut, _CUTS, used, self.A, self.x0, box, signed,
                self.conditions, self.sides, self.begin, self.rows, self.rhs, asked, np.empty(p, np.int64), *scratch,
                self._most,
            )  # fmt: skip
            self.rhs[self.final : self.standing] = np.inf
            if count == capacity:
                break
            for row in np.concatenate([asked, mix[:first]]):
                size = np.linalg.norm(row[:p])
                if count < capacity and size > 1e-6 and not (T[:count] @ row[:p] > _ALIKE * size).any():
                    T[count], b[count] = row[:p] / size, row[p] / size + self.room
                    count += 1
            if first == count:
                capacity = count
        self.templates = count

    def _box(self, basis: NDArray[np.int64], work: Array, inverse: Array, vectors: Array) -> Array | None:
        """Bounds (p,) of all |Λ|, by a bound of the sum of the normal impulses; None where there is none."""
        p = self.A.shape[0]
        c = np.zeros(p)
        c[:: self.w] = 1.0
        start(p, c, basis)
        value = maximum(p, self.standing, _LONGEST, self.rows, self.rhs, c, np.zeros(p), basis, work, inverse, vectors)
        y = vectors[0]
        if not np.isfinite(value) or (y[basis < 2 * p] > 1e-9).any():
            return None
        y = np.where(basis < 2 * p, 0.0, y)
        wrong = np.abs(c - y @ self.rows[basis]).reshape(-1, self.w)
        share = (wrong[:, 0] + self.mu * wrong[:, 1:].sum(axis=1)).max()
        if not share < 0.5:
            return None
        most = max(float(y @ self.rhs[basis]), 0.0) * (1.0 + 1e-9) / (1.0 - share) + self.room
        reach = np.ones((len(self.mu), self.w))
        reach[:, 1:] = self.mu[:, None]
        return most * reach.ravel() + self.room
