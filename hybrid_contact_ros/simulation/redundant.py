"""Forces of redundant contacts, as the four corners of a face are, where some of them slide."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import nnls

from hybrid_contact_ros.mechanics.problem import ContactProblem
from hybrid_contact_ros.simulation.mode import HybridMode

Array = NDArray[np.float64]
RANK = 1e-11
"""Singular values smaller than this, relative to the largest, are zero."""
_EDGES = 16  # of the polyhedral cone, within the friction cone, that forces are looked for in
_ROUNDING = 1e-12
_MAX_STEPS = 30  # of the active-set method, per force; three are the rule


def cone_rows(problem: ContactProblem, mode: HybridMode, closed: NDArray[np.bool_]) -> Array:
    """C (k, r) with C λ ≥ 0 where the forces of closed rows push, and those of sticking contacts are in their cones.

    In space the cone is a polyhedral one within the friction cone.

    Args:
        closed: mask (m, 1 + d) of the r rows that the mode closes.
    """
    place = np.cumsum(closed.reshape(-1)).reshape(closed.shape) - 1
    rows = []
    for i in sorted(mode.closed):
        row = np.zeros(int(closed.sum()))
        row[place[i, 0]] = 1.0
        rows.append(row)
        tangents = int(closed[i].sum()) - 1
        if tangents < 1:
            continue
        count = 2 if tangents == 1 else _EDGES
        for edge in range(count):
            angle = 2.0 * np.pi * edge / count
            row = np.zeros(int(closed.sum()))
            row[place[i, 0]] = problem.friction[i] * (1.0 if tangents == 1 else np.cos(np.pi / count))
            row[place[i, 1]] = np.cos(angle)
            if tangents == 2:
                row[place[i, 2]] = np.sin(angle)
            rows.append(row)
    return np.array(rows)


def forces_within_cones(matrix: Array, solution: Array, cones: Array) -> Array:
    """The solution x = (v̇, λ) of linear equations nearest to the one given whose forces satisfy ``cones`` λ ≥ 0.

    It is found by least distance programming (Lawson and Hanson, Solving Least Squares Problems, ch. 23), so that it
    changes continuously with the state. Where there is none, the one given is returned. Unless all sliding contacts
    slide in parallel, friction, and so the motion, depends on which forces are taken: rigid bodies leave that open.

    Args:
        matrix: (n + r, n + r) of the equations, singular. solution: (n + r,). cones: (k, r), see :func:`cone_rows`.
    """
    n = solution.size - cones.shape[1]
    here = cones @ solution[n:]
    limit = _ROUNDING * float(np.abs(solution[n:]).max(initial=0.0))
    if here.min() >= -limit:
        return solution
    _, size, basis = np.linalg.svd(matrix)
    free = basis[int((size > RANK * size[0]).sum()) :].T
    if not free.shape[1]:
        return solution
    reach = cones @ free[n:]
    part = np.vstack((reach.T, -here / np.abs(here).max()))
    goal = np.zeros(part.shape[0])
    goal[-1] = 1.0
    residual = part @ nnls(part, goal, maxiter=_MAX_STEPS * part.shape[1])[0] - goal
    if not residual[-1] < -RANK:
        return solution
    moved: Array = solution - free @ (residual[:-1] * np.abs(here).max() / residual[-1])
    return moved if (cones @ moved[n:]).min() >= -1e3 * limit else solution
