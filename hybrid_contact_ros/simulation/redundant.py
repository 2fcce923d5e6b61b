"""Forces of redundant contacts of which some slide: four corners of a face, say."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import nnls

from hybrid_contact_ros.mechanics.problem import ContactProblem
from hybrid_contact_ros.simulation.mode import Mode

Array = NDArray[np.float64]
RANK = 1e-11
"""Singular values smaller than this, relative to the largest, are zero."""
_EDGES = 16  # of the cone within the friction cone that forces are looked for in
_ROUNDING = 1e-12


def cone_rows(problem: ContactProblem, mode: Mode, held: NDArray[np.bool_]) -> Array:
    """C (k, r) with C λ ≥ 0 where the r forces of the ``held`` rows push, and those of sticking contacts are in (a cone
    with edges within) their friction cones."""
    place = np.cumsum(held.reshape(-1)).reshape(held.shape) - 1
    rows = []
    for i in sorted(mode.closed):
        row = np.zeros(int(held.sum()))
        row[place[i, 0]] = 1.0
        rows.append(row)
        tangents = int(held[i].sum()) - 1
        if tangents < 1:
            continue
        count = 2 if tangents == 1 else _EDGES
        for edge in range(count):
            angle = 2.0 * np.pi * edge / count
            row = np.zeros(int(held.sum()))
            row[place[i, 0]] = problem.friction[i] * (1.0 if tangents == 1 else np.cos(np.pi / count))
            row[place[i, 1]] = np.cos(angle)
            if tangents == 2:
                row[place[i, 2]] = np.sin(angle)
            rows.append(row)
    return np.array(rows)


def within(matrix: Array, solution: Array, cones: Array) -> Array:
    """The solution of ``matrix x = …`` nearest to the given one, x = (v̇, λ), whose forces satisfy ``cones λ ≥ 0``.

    By least distance programming (Lawson and Hanson, Solving Least Squares Problems, ch. 23), so that it changes
    continuously with the state. The given one where it is such, or where there is none. Unless all sliding contacts
    slide in parallel, friction, and so the motion, depends on which forces are taken: rigid bodies leave that open.
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
    rest = part @ nnls(part, goal)[0] - goal
    if not rest[-1] < -RANK:
        return solution
    moved: Array = solution - free @ (rest[:-1] * np.abs(here).max() / rest[-1])
    return moved if (cones @ moved[n:]).min() >= -1e3 * limit else solution
