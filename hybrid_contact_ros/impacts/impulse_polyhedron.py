"""What the total impulses of all outcomes satisfy, as rows of a polyhedron: input of the tight outer bounds."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from hybrid_contact_ros.impacts.contact_space import Array, ContactSpace
from hybrid_contact_ros.impacts.push_modes import SECTORS, Mode, contact_modes, unit
from hybrid_contact_ros.kernels.impulse_hull import descend, extremes, start
from hybrid_contact_ros.kernels.linear_bound import maximum
from hybrid_contact_ros.mechanics.problem import ContactProblem

ROOM = 1e-8  # of √G_nn ‖v‖_M: for the solvers' residuals
SEPARATED = 2e-8  # m/s; the published implementation takes contacts that approach by 1e-8 m/s as separated
_ROUNDS = 12
_WORK = 2e7  # of templates, modes and squared impulses: above, fewer rounds
_CUTS = 100  # tangent planes of the ball of energy
_FAR = 1e9  # impulse that stands for unbounded ones
_MOST = 300  # functions whose bounds are lowered
_SIZE = 2.4e6  # of modes, impulses and squared functions: above, fewer functions
_SPARE = 0.4  # part of these that duals may ask for in addition
_ALIKE = 1.0 - 1e-7  # cosine of templates that are the same
_INSIDE = 1e-6  # so that rounding does not decide whether friction in an arc increases a function
_INCREASE = 1e-12  # per impulse and 1 + μ
_LONGEST = 256  # pivots of the first linear program


class ImpulsePolyhedron:
    """Rows on total impulses Λ, scaled: contact i's by √G_nn / ‖v‖, so that velocities and impulses are about 1.

    Restitution is a contact of its own at the same place, that may push while it separates, and whose impulse is at
    most e times that of the compression.

    Args:
        problem, space: of one configuration, M positive definite and some contact approaching.
        restitution: Poisson's (m,). directions: of the friction polygon, or None for all polygons and the circle.
        queries: (q, nv); their bounds are lowered on the way as well.
    """

    def __init__(
        self, problem: ContactProblem, space: ContactSpace, restitution: Array, directions: int | None, queries: Array
    ) -> None:
        m, d = problem.contacts, problem.tangents
        self.w = w = 1 + d
        self.parents = np.concatenate([np.arange(m), np.flatnonzero(restitution > 0.0)])
        self.mu = problem.friction[self.parents]
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
        self._modes(d, directions)
        self._templates(d, directions, q.T @ (np.linalg.solve(space.L, queries.T)))
        self._rows(m, d, restitution, directions)

    def _put(self, contact: int, local: tuple[float, ...] | Array) -> Array:
        row = np.zeros(self.A.shape[0])
        row[contact * self.w : (contact + 1) * self.w] = local
        return row

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

    def _templates(self, d: int, directions: int | None, queries: Array) -> None:
        """Functions whose bounds are lowered: of one contact's impulse, of velocities, and of pairs of velocities."""
        rows = []
        if d == 1:
            axes: list[tuple[float, ...]] = [(1.0,), (-1.0,)]
            aside = 1.0
        else:
            count = SECTORS if directions is None else directions
            axes = [unit(2.0 * np.pi * j / count) for j in range(count)]
            aside = float(np.cos(np.pi / count + np.pi / 4.0)) - _INSIDE if directions is None else 1.0
        for contact, mu in enumerate(self.mu):
            rows += [self._put(contact, (sign,) + (0.0,) * d) for sign in (1.0, -1.0)]
            if mu > 0.0:
                rows += [self._put(contact, (0.0, *axis)) for axis in axes]
                rows += [self._put(contact, (mu * aside, *axis)) for axis in axes]  # how far from sliding against axis
        own = np.array(rows)
        m, p = self.u0.shape[0], len(self.A)
        most = min(_MOST, int(np.sqrt(_SIZE / (len(self.modes) * p))))
        u = self.A[: m * self.w]
        i, j = np.triu_indices(len(u), 1)
        near = [np.concatenate([u[i] + c * u[j], u[i] - c * u[j]]) for c in (1.0, 0.5, 2.0, 0.25, 4.0)]
        e = np.eye(p)
        k, n = np.triu_indices(p, 1)
        pushes = [np.concatenate([e[k] + c * e[n], e[k] - c * e[n]]) for c in (1.0, 0.5, 2.0)]
        push, speed = (index.ravel() for index in np.indices((p, len(u))))
        turned = u @ self.A.T
        turned /= np.maximum(np.linalg.norm(turned, axis=1), 1e-300)[:, None]
        both = np.concatenate([e[push] + turned[speed], e[push] - turned[speed]])
        velocities, impulses = [u], [own]
        room = most - len(own) - 2 * len(u)
        for to, group in (
            (velocities, queries.T), (velocities, near[0]), (impulses, pushes[0]), (impulses, both),
            (impulses, pushes[1]), (impulses, pushes[2]), *((velocities, each) for each in near[1:]),
        ):  # fmt: skip
            if 2 * len(group) <= room:
                to.append(group)
                room -= 2 * len(group)
        t = np.concatenate(velocities)
        t = t[np.linalg.norm(t, axis=1) > 1e-9 * np.linalg.norm(t, axis=1).max()]
        t = np.concatenate([t, -t])
        far = np.linalg.norm(t, axis=1) * (1.0 + ROOM) - t @ self.x0  # t (x − x0) within the ball of energy
        pairs = np.concatenate([np.zeros((0, p)), *impulses[1:]])
        T = np.concatenate([own, pairs, -pairs, t @ self.A.T])
        bound = np.concatenate([np.full(len(T) - len(t), np.inf), np.maximum(far, 0.0)])
        size = np.linalg.norm(T, axis=1)
        moving = size > 1e-12
        self.T, self.bound = T[moving] / size[moving, None], bound[moving] / size[moving]
        self.spare = int(_SPARE * most) if len(self.T) < 1.5 * most else 0

    def _increases(self, T: Array) -> NDArray[np.bool_]:
        """Whether a mode (columns) can increase a template (rows)."""
        answer = np.empty((len(T), len(self.modes)), dtype=np.bool_)
        for k, (contact, mode) in enumerate(self.modes):
            part = T[:, contact * self.w : (contact + 1) * self.w]
            rate = mode.most(part[:, 0], part[:, 1:], float(self.mu[contact]))
            answer[:, k] = rate > _INCREASE * (1.0 + self.mu[contact])
        return answer

    def _rows(self, m: int, d: int, restitution: Array, directions: int | None) -> None:
        p = self.A.shape[0]
        cone = []
        for contact, mu in enumerate(self.mu):
            cone.append(self._put(contact, (-1.0,) + (0.0,) * d))
            sides: list[tuple[float, ...]] = [(1.0,), (-1.0,)] if d == 1 else []
            radius = mu
            if d == 2:
                count, turn = (SECTORS, 0.0) if directions is None else (max(directions, 4), np.pi / max(directions, 4))
                sides = [unit(2.0 * np.pi * j / count + turn) for j in range(count)]
                radius = mu if directions in (None, 2) else mu * float(np.cos(turn))
            cone += [self._put(contact, (-radius, *side)) for side in sides]
        for contact in range(m, len(self.parents)):
            parent = self.parents[contact]
            first = (-restitution[parent],) + (0.0,) * d
            cone.append(self._put(contact, (1.0,) + (0.0,) * d) + self._put(parent, first))
        C = np.array(cone)
        C /= np.linalg.norm(C, axis=1)[:, None]
        self.template = 2 * p + len(C)
        self.cut = self.template + len(self.T) + self.spare
        self.final = self.cut + _CUTS
        standing = self.final + m
        self.standing = standing
        self.rows = np.zeros((standing + int(np.diff(self.begin).max()), p))
        self.rhs = np.full(len(self.rows), np.inf)
        self.rows[:p], self.rows[p : 2 * p] = np.eye(p), -np.eye(p)
        self.rhs[: 2 * p] = _FAR
        self.rows[2 * p : self.template] = C
        self.rhs[2 * p : self.template] = 0.0
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
