"""The tight outer bounds: rows that the total impulses of all outcomes satisfy, and linear programs over them."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from hybrid_contact_ros.impacts.contact_space import Array, ContactSpace
from hybrid_contact_ros.impacts.contact_states import PushMode, push_modes
from hybrid_contact_ros.impacts.impulse_laws import cone_rows, restitution_row
from hybrid_contact_ros.impacts.restitution import Material
from hybrid_contact_ros.impacts.support_functions import ContactBlocks, templates
from hybrid_contact_ros.kernels.impacts.hull_lp import (
    OWN_CUTS,
    HullProblem,
    HullRows,
    SimplexScratch,
    bound_queries,
    box_basis,
    lower_templates,
)
from hybrid_contact_ros.kernels.impacts.linear_bound import maximum
from hybrid_contact_ros.mechanics.problem import ContactProblem

ROOM = 1e-8
"""Part of √G_nn ‖v‖_M that is left for the solvers' residuals."""
SEPARATED = 2e-8
"""m/s; the published implementation takes contacts that approach by 1e-8 m/s as separated."""
_ROUNDS = 12  # over all templates, at most
_LOWERING_WORK = 2e7  # rounds × templates × modes × squared impulses: fewer rounds where there would be more
_CUTS = 100  # tangent planes of the ball of energy, at most
_UNBOUNDED = 1e9  # scaled impulse that stands for unbounded ones
_TEMPLATES = 400  # functions whose bounds are lowered, at most
_TEMPLATE_WORK = 2e7  # modes × impulses × squared templates: fewer templates where there would be more
_SPARE = 0.4  # part of the templates that duals may ask for in addition
_ALIKE = 1.0 - 1e-7  # cosine from which two templates are the same
_INCREASE = 1e-12  # per impulse and 1 + μ: a mode that can add no more to a template does not increase it
_BOX_PIVOTS = 1000  # that the first linear program may take


class ImpulsePolyhedron:
    """Rows on the total impulses Λ (p,) of an impact, and bounds of linear functions of Λ.

    Everything is scaled: a contact's impulses by √G_nn / ‖v‖, so that velocities and impulses are about 1. Restitution
    is a contact of its own at the same place, which may push while it separates; how much, the law says
    (:func:`~hybrid_contact_ros.impacts.impulse_laws.restitution_row`).

    Where friction is an interval, impulses are in the cone of the largest μ; what a sliding contact demands of the
    velocity is the same for every μ, and what it can increase is decided at both ends.

    Args:
        problem, space: of one configuration, with the largest μ; M positive definite and some contact approaching.
        material: e, μ, and the law. directions: of the friction polygon, or None for all polygons and the circle.
        queries: (q, nv), whose change ``queries @ (v⁺ − v⁻)`` is to be bounded.
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
        self._list_modes(d, directions)
        self._choose_templates(q.T @ (np.linalg.solve(space.L, queries.T)))
        self._write_rows(material)

    def _list_modes(self, d: int, directions: int | None) -> None:
        """What each contact that pushes may be doing, and what that demands of Λ: conditions Λ ≤ sides."""
        compressing = int(self.u0.shape[0])  # blocks before this one are contacts in compression
        self.modes: list[tuple[int, PushMode]] = []
        rows, sides, begin = [], [], [0]
        for block, parent in enumerate(self.parents):
            for mode in push_modes(d, float(self.mu[block]), directions, block < compressing):
                self.modes.append((block, mode))
                here = self.A[parent * self.w : (parent + 1) * self.w]
                rows.append(mode.velocity @ here @ self.A.T)
                sides.append(self.room - mode.velocity @ self.u0[parent])
                begin.append(begin[-1] + len(mode.velocity))
        self.conditions, self.sides = np.concatenate(rows), np.concatenate(sides)
        self.begin = np.array(begin)

    def _choose_templates(self, queries: Array) -> None:
        """Choose the rows whose bounds are lowered, with what is known of them at the start."""
        most = min(_TEMPLATES, int(np.sqrt(_TEMPLATE_WORK / (len(self.modes) * len(self.A)))))
        impulses, velocities = templates(self.blocks, queries, most)
        t = np.concatenate([velocities, -velocities])
        reach = np.linalg.norm(t, axis=1) * (1.0 + ROOM) - t @ self.x0  # of t (x − x0) within the ball of energy
        T = np.concatenate([impulses, t @ self.A.T])
        bound = np.concatenate([np.full(len(impulses), np.inf), np.maximum(reach, 0.0)])
        size = np.linalg.norm(T, axis=1)
        moving = size > 1e-12
        T, bound = T[moving] / size[moving, None], bound[moving] / size[moving]
        _, first = np.unique(np.round(T, 8), axis=0, return_index=True)
        self.T, self.bound = T[np.sort(first)], bound[np.sort(first)]
        self.spare = int(_SPARE * most) if len(self.T) < 1.5 * most else 0

    def _increases(self, T: Array) -> NDArray[np.bool_]:
        """Whether each mode (columns) can increase each template (rows)."""
        answer = np.zeros((len(T), len(self.modes)), dtype=np.bool_)
        for k, (block, mode) in enumerate(self.modes):
            part = T[:, block * self.w : (block + 1) * self.w]
            for mu in {float(self.mu[block]), float(self.mu_low[block])}:
                answer[:, k] |= mode.largest_rate(part[:, 0], part[:, 1:], mu) > _INCREASE * (1.0 + mu)
        return answer

    def _write_rows(self, material: Material) -> None:
        """Write the rows in the order of :class:`~hybrid_contact_ros.kernels.impacts.hull_lp.HullRows`.

        They are the box, the laws of friction and restitution, the templates, tangent planes, and that no contact
        approaches in the end, which holds for the queries only.
        """
        p, m = self.A.shape[0], len(self.u0)
        C, known = cone_rows(self.blocks)
        laws = [
            restitution_row(self.blocks, block, material, self.u0, self.final_room) for block in range(m, len(self.mu))
        ]
        C = np.concatenate([C, *(row[None] for row, _ in laws)])
        known = np.concatenate([known, [side for _, side in laws]])
        self.first_template = 2 * p + len(C)
        self.first_cut = self.first_template + len(self.T) + self.spare
        self.final = self.first_cut + _CUTS
        standing = self.final + m
        self.standing = standing
        self.rows = np.zeros((standing + int(np.diff(self.begin).max()) + OWN_CUTS, p))
        self.rhs = np.full(len(self.rows), np.inf)
        self.rows[:p], self.rows[p : 2 * p] = np.eye(p), -np.eye(p)
        self.rhs[: 2 * p] = _UNBOUNDED
        self.rows[2 * p : self.first_template] = C
        self.rhs[2 * p : self.first_template] = known
        given = slice(self.first_template, self.first_template + len(self.T))
        self.rows[given], self.rhs[given] = self.T, self.bound
        self.rows[self.final : standing] = -self.A[: m * self.w : self.w] @ self.A.T

    def bounds(self, rounds: int = _ROUNDS) -> tuple[Array, Array] | None:
        """Least and largest (q,) change of the queries; None where impulses are unbounded (the cone is not pointed)."""
        if not self.known:
            return None
        p = self.A.shape[0]
        scratch = SimplexScratch(np.empty(p, np.int64), np.empty((p, p)), np.empty((p, p)), np.empty((4, p)))
        box = self._box(scratch)
        if box is None:
            return None
        self.rhs[: 2 * p] = np.tile(box, 2)
        signed = np.concatenate([self.response, -self.response])
        size = np.maximum(np.linalg.norm(signed, axis=1), 1e-300)
        most = self._lower(rounds, box, signed / size[:, None], scratch) * size
        q = len(self.response)
        if not np.isfinite(most).all():
            return None
        return -most[q:], most[:q]

    def _lower(self, rounds: int, box: Array, queries: Array, scratch: SimplexScratch) -> Array:
        """Lower the templates' bounds, bound the queries (q, p), and repeat with templates that the duals ask for."""
        p = self.A.shape[0]
        count, capacity = len(self.T), len(self.T) + self.spare
        rounds = int(np.clip(_LOWERING_WORK / (count * len(self.modes) * p * p), 2, rounds))
        T = self.rows[self.first_template : self.first_template + capacity]
        b = self.rhs[self.first_template : self.first_template + capacity]
        bases, mix = np.empty((capacity, p), np.int64), np.zeros((capacity, p + 1))
        order = np.tile(np.arange(len(self.modes)), (capacity, 1))
        increases = np.zeros((capacity, len(self.modes)), np.bool_)
        slack = np.full(capacity, self.room + 2.0 * _INCREASE * box.max())
        problem = HullProblem(self.A, self.x0, box, self.conditions, self.sides, self.begin)
        asked, most, first_basis = np.zeros((len(queries), p + 1)), np.empty(len(queries)), np.empty(p, np.int64)
        first, used, self.rounds = 0, 0, 0
        while True:
            increases[first:count] = self._increases(T[first:count])
            for k in range(first, count):
                box_basis(p, T[k], bases[k])
            first = count
            rows = HullRows(self.first_template, count, self.standing, self.first_cut, _CUTS, self.rows, self.rhs)
            done, used = lower_templates(
                *problem, *rows, rounds if count == capacity else 2, used, increases, slack, order, *scratch, bases, mix
            )
            self.rounds += done
            self.rhs[self.final : self.standing] = self.u0[:, 0] + self.final_room  # no contact approaches in the end
            used = bound_queries(*problem, *rows, used, queries, *scratch, first_basis, asked, most)
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
        return most

    def _box(self, scratch: SimplexScratch) -> Array | None:
        """Bounds (p,) of all |Λ|, by a bound of the sum of the normal impulses; None where there is none."""
        p, basis = self.A.shape[0], scratch.basis
        c = np.zeros(p)
        c[:: self.w] = 1.0
        box_basis(p, c, basis)
        value = maximum(p, self.standing, _BOX_PIVOTS, self.rows, self.rhs, c, np.zeros(p), *scratch)
        y = scratch.vectors[0]
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
