"""Impact problems for tests: random and degenerate ones, Halm's LCP in its own variables, and slow reference
solvers."""

from __future__ import annotations

import itertools

import numpy as np

from hybrid_contact_ros.mechanics.problem import ContactProblem

KINDS = (
    "plain",
    "integers",
    "duplicated",
    "duplicated frictionless",
    "zero contact velocities",
    "frictionless",
    "some frictionless",
    "separating",
    "box corners",
    "few coordinates",
    "uneven masses",
)


def random_problem(rng: np.random.Generator, kind: str = "plain", m: int | None = None, d: int | None = None):
    """A ContactProblem of one of KINDS; v is a velocity of the coordinates, so J v is consistent with J."""
    if kind == "box corners":
        return box(rng, 8 if m is None else m)
    m = int(rng.integers(1, 7)) if m is None else m
    d = int(rng.integers(1, 3)) if d is None else d
    nv = int(rng.integers(2, 4)) if kind == "few coordinates" else int(rng.integers(3, 19))
    root = rng.normal(size=(nv, nv))
    mass = root @ root.T + 0.3 * np.eye(nv)
    rows = rng.normal(size=(m, 1 + d, nv))
    v = rng.normal(size=nv)
    friction = rng.uniform(0.0, 1.3, m)
    if kind == "integers":
        mass, rows, v = np.round(mass) + nv * np.eye(nv), np.round(rows), np.round(v)
    if kind == "uneven masses":
        size = 10.0 ** rng.uniform(-1, 1, nv)  # inertias over four decades
        mass = mass * size[:, None] * size
    if kind.startswith("duplicated") and m > 1:
        rows[m // 2 :] = rows[: m - m // 2]
        friction[m // 2 :] = friction[: m - m // 2]
    if kind in ("frictionless", "duplicated frictionless"):
        friction[:] = 0.0
    if kind == "some frictionless":
        friction[rng.random(m) < 0.5] = 0.0
    if kind == "zero contact velocities":
        still = rows.reshape(-1, nv)[rng.random(m * (1 + d)) < 0.4]
        v = v - np.linalg.pinv(still) @ (still @ v)
    elif kind == "separating":
        v = np.linalg.pinv(rows[:, 0]) @ np.abs(rng.normal(size=m))
    else:
        v = v - np.linalg.pinv(rows[:, 0]) @ np.abs(rng.normal(size=m))
    return ContactProblem(mass, v, rows[:, 0], rows[:, 1:], friction)


def box(rng: np.random.Generator, corners: int = 8) -> ContactProblem:
    """A cube of side 2 m with its 4 (or, twice over, 8) lower corners on a plane: G is singular from 3 corners on."""
    points = [(x, y, -1.0) for x in (-1.0, 1.0) for y in (-1.0, 1.0)]
    points = (points * 2)[:corners]
    rows = np.zeros((corners, 3, 6))
    for i, point in enumerate(points):
        for a, axis in enumerate(((0, 0, 1.0), (1.0, 0, 0), (0, 1.0, 0))):
            rows[i, a, :3] = axis
            rows[i, a, 3:] = np.cross(point, axis)
    v = np.zeros(6)
    v[2] = -1.0
    v += rng.choice([0.0, 0.0, 0.5, 1.0], 6) * rng.normal(size=6)
    return ContactProblem(
        np.diag([1, 1, 1, 0.6, 0.6, 0.6]), v, rows[:, 0], rows[:, 1:], np.full(corners, rng.choice([0, 0.3, 1.0]))
    )


def polygon(directions: int, d: int) -> np.ndarray:
    """Halm's D: the unit vectors of the linearised friction, (k, d)."""
    if d == 1:
        return np.array([[1.0], [-1.0]])
    angle = 2 * np.pi * np.arange(directions) / directions
    return np.stack([np.cos(angle), np.sin(angle)], axis=1)


def halm_posa_lcp(problem: ContactProblem, cap: np.ndarray | None, directions: int):
    """W, w of H eq. (75) (or of 31–35 without cap) and a function from z to the impulse (m, 1 + d)."""
    m, d = problem.contacts, problem.tangents
    D = polygon(directions, d)
    k = len(D)
    rows = np.concatenate(
        [problem.normal_jacobian, np.einsum("kx,mxn->mkn", D, problem.tangent_jacobian).reshape(m * k, -1)]
    )
    G = rows @ np.linalg.solve(problem.mass, rows.T)
    E = np.kron(np.eye(m), np.ones((k, 1)))
    size = m + m * k
    W = np.zeros((size + m, size + m))
    W[:size, :size] = G
    W[m:size, size:] = E
    W[size:, :m] = np.diag(problem.friction)
    W[size:, m:size] = -E.T
    w = np.concatenate([rows @ problem.velocity, np.zeros(m)])
    first = 0
    if cap is not None:
        big = np.zeros((size + 2 * m, size + 2 * m))
        big[m:, m:] = W
        big[:m, m : 2 * m] = -np.eye(m)
        big[m : 2 * m, :m] = np.eye(m)
        W, w, first = big, np.concatenate([cap, w]), m

    def impulse(z: np.ndarray) -> np.ndarray:
        answer = np.zeros((m, 1 + d))
        answer[:, 0] = z[first : first + m]
        answer[:, 1:] = z[first + m : first + size].reshape(m, k) @ D
        return answer

    return W, w, impulse


def enumerate_lcp(W: np.ndarray, w: np.ndarray, tolerance: float = 1e-9) -> list[np.ndarray]:
    """Every complementary basic solution of a tiny LCP, by trying all bases."""
    n, found = len(w), []
    for active in itertools.product((False, True), repeat=n):
        z, on = np.zeros(n), np.array(active)
        if on.any():
            block = W[np.ix_(on, on)]
            if np.linalg.matrix_rank(block) < on.sum():
                continue
            z[on] = np.linalg.solve(block, -w[on])
        if (z >= -tolerance).all() and (W @ z + w >= -tolerance).all():
            found.append(z)
    return found


def numpy_lemke(W: np.ndarray, q: np.ndarray, limit: int = 1000) -> np.ndarray | None:
    """Lemke's method, plainly: refactored in every step, lexicographic by comparing whole rows. None on a ray."""
    n = len(q)
    if (q >= 0).all():
        return np.zeros(n)
    columns = np.hstack([np.eye(n), -W, -np.ones((n, 1))])
    basis = list(range(n))
    row, entering = int(np.argmin(q)), 2 * n
    for _ in range(limit):
        leaving, basis[row] = basis[row], entering
        inverse = np.linalg.inv(columns[:, basis])
        if leaving == 2 * n:
            z = np.zeros(2 * n)
            z[basis] = inverse @ q
            return np.maximum(z[n:], 0.0)
        entering = leaving + n if leaving < n else leaving - n
        column = inverse @ columns[:, entering]
        rows = [r for r in range(n) if column[r] > 1e-10]
        if not rows:
            return None
        table = np.hstack([(inverse @ q)[:, None], inverse])
        keys = {r: tuple(np.round(table[r] / column[r], 10)) for r in rows}
        least = min(key[0] for key in keys.values())
        ending = [r for r in rows if basis[r] == 2 * n and keys[r][0] <= least]
        row = ending[0] if ending else min(rows, key=keys.__getitem__)
    return None
