"""Linear functions of impulses (templates) whose bounds make the tight outer bounds."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from hybrid_contact_ros.impacts.contact_space import Array
from hybrid_contact_ros.impacts.contact_states import SECTORS, unit

_INSIDE = 1e-6  # so that rounding does not decide whether friction in an arc increases a function
_WEIGHTS = (1.0, 0.5, 2.0, 0.25, 4.0)


@dataclass(frozen=True, slots=True, eq=False)
class ContactBlocks:
    """Impulses of contacts, compression's and restitution's apart: blocks of w = 1 + d, normal first.

    Attributes:
        A: (p, k), what an impulse does to the velocity x. mu: (p / w,). parents: (p / w,), whose place a block has.
        directions: of the friction polygon, or None.
    """

    A: Array
    mu: Array
    parents: NDArray[np.int64]
    w: int
    directions: int | None

    def put(self, block: int, local: tuple[float, ...] | Array) -> Array:
        """The row that is ``local`` (w,) at one block."""
        row = np.zeros(len(self.A))
        row[block * self.w : (block + 1) * self.w] = local
        return row

    def most(self, F: Array, block: int) -> Array:
        """The least linear functions (t, w) ≥ max(0, F λ) for all impulses λ of a block that are in its cone.

        F (t, p). In the plane it is known at the two edges of the cone; in space it is a multiple of λ_n.
        """
        mu, part = float(self.mu[block]), F[:, block * self.w : (block + 1) * self.w]
        above = np.zeros_like(part)
        if self.w == 2 and mu > 0.0:
            a, b = np.maximum(part[:, 0] + mu * part[:, 1], 0.0), np.maximum(part[:, 0] - mu * part[:, 1], 0.0)
            above[:, 0], above[:, 1] = 0.5 * (a + b), 0.5 * (a - b) / mu
        else:
            above[:, 0] = np.maximum(self.rate(F, block), 0.0)
        return above

    def rate(self, F: Array, block: int) -> Array:
        """The most (t,) that a unit of normal impulse of a block can add to F (t, p)."""
        mu, part = float(self.mu[block]), F[:, block * self.w : (block + 1) * self.w]
        if self.directions is None or self.w == 2:
            return part[:, 0] + mu * np.linalg.norm(part[:, 1:], axis=1)
        vertices = np.array([unit(2.0 * np.pi * j / self.directions) for j in range(self.directions)])
        return part[:, 0] + mu * (part[:, 1:] @ vertices.T).max(axis=1)

    def absorbed(self, F: Array, contact: int) -> Array:
        """F (t, p) less the most that other contacts can add to it: so that ``contact`` alone can increase it."""
        F = F.copy()
        for block in np.flatnonzero(self.parents != contact):
            F[:, block * self.w : (block + 1) * self.w] -= self.most(F, int(block))
        return F


def _own(blocks: ContactBlocks) -> Array:
    """Of one contact's impulses: along axes, and how far friction is from full sliding at a vertex or an edge."""
    d, directions = blocks.w - 1, blocks.directions
    edges: list[tuple[float, ...]] = []
    if d == 1:
        axes: list[tuple[float, ...]] = [(1.0,), (-1.0,)]
        aside = 1.0
    else:
        count = SECTORS if directions is None else directions
        axes = [unit(2.0 * np.pi * j / count) for j in range(count)]
        aside = float(np.cos(np.pi / count + np.pi / 4.0)) - _INSIDE if directions is None else 1.0
        if directions is not None and directions > 2:
            edges = [unit(np.pi * (2 * j + 1) / directions) for j in range(directions)]
    rows: list[Array] = []
    for block, mu in enumerate(blocks.mu):
        rows += [blocks.put(block, (sign,) + (0.0,) * d) for sign in (1.0, -1.0)]
        if mu > 0.0:
            rows += [blocks.put(block, (0.0, *axis)) for axis in axes]
            rows += [blocks.put(block, (mu * aside, *axis)) for axis in axes]
            rows += [blocks.put(block, (mu * float(np.cos(np.pi / len(edges))), *edge)) for edge in edges]
    own = np.array(rows)
    whole = own.reshape(len(own), -1, blocks.w)
    again = np.zeros_like(whole)  # of compression and restitution of a contact together, which velocities depend on
    for block in range(int(blocks.parents.max()) + 1, len(blocks.mu)):
        again[:, block] = whole[:, blocks.parents[block]]
    both = again.any(axis=(1, 2))
    return np.concatenate([own, (whole + again)[both].reshape(-1, own.shape[1])])


def _directions(d: int) -> Array:
    """Functions (t, 1 + d) of one contact's velocity."""
    if d == 1:
        pairs = [(float(a), b) for a in (1, -1) for c in (1.0, 0.5, 2.0) for b in (c, -c)]
        return np.array([(1.0, 0.0), (-1.0, 0.0), (0.0, 1.0), (0.0, -1.0), *pairs])
    ways = [unit(np.pi * j / 4.0) for j in range(8)]
    return np.array([(1.0, 0.0, 0.0), (-1.0, 0.0, 0.0), *((a, *way) for a in (0.0, 1.0, -1.0) for way in ways)])


def templates(blocks: ContactBlocks, queries: Array, most: int) -> tuple[Array, Array]:
    """Functions of impulses (t, p), and of the velocity x (s, k) (to be taken with both signs), about ``most``.

    The first: each contact's impulses; velocities of a contact of which what the others add was taken away, which its
    own pushes bound (the feet of a robot hardly move each other); pairs of impulses, and of an impulse and a velocity.
    The second: velocities of contacts, the queries (k, q), and pairs of velocities.
    """
    A, w, p = blocks.A, blocks.w, len(blocks.A)
    m = int(blocks.parents.max()) + 1
    u = A[: m * w]
    own = _own(blocks)
    alone = [blocks.absorbed(_directions(w - 1) @ u[i * w : (i + 1) * w] @ A.T, i) for i in range(m)] if m > 1 else []
    i, j = np.triu_indices(len(u), 1)
    near = [np.concatenate([u[i] + c * u[j], u[i] - c * u[j]]) for c in _WEIGHTS]
    e = np.eye(p)
    k, n = np.triu_indices(p, 1)
    pushes = [np.concatenate([e[k] + c * e[n], e[k] - c * e[n]]) for c in _WEIGHTS[:3]]
    push, speed = (index.ravel() for index in np.indices((p, len(u))))
    turned = u @ A.T
    turned /= np.maximum(np.linalg.norm(turned, axis=1), 1e-300)[:, None]
    both = np.concatenate([e[push] + turned[speed], e[push] - turned[speed]])
    velocities, impulses = [u], [own, *alone]
    room = most - sum(len(each) for each in impulses) - 2 * len(u)
    for to, group in (
        (velocities, queries.T), (velocities, near[0]), (impulses, pushes[0]), (impulses, both),
        (impulses, pushes[1]), (impulses, pushes[2]), *((velocities, each) for each in near[1:]),
    ):  # fmt: skip
        if 2 * len(group) <= room:
            to.append(group if to is velocities else np.concatenate([group, -group]))
            room -= 2 * len(group)
    t = np.concatenate(velocities)
    return np.concatenate(impulses), t[np.linalg.norm(t, axis=1) > 1e-9 * np.linalg.norm(t, axis=1).max()]
