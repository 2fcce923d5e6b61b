"""Contact forces that explain an observed generalised force."""

from __future__ import annotations

from hybrid_contact_ros.codes import Status
from hybrid_contact_ros.kernels.algebra.dense import cholesky_factor, cholesky_solve, forward_solve
from hybrid_contact_ros.kernels.compiling import kernel

_SOLVED, _SINGULAR = int(Status.SOLVED), int(Status.SINGULAR)
_MIN_DIAGONAL = 1e-300  # 1/kg, of G: contacts that no force moves still have a solution, zero forces
REGULARISATION_OF_ALL = 1e-6
"""Of :func:`explaining_forces` for all contacts, closed or not, which are redundant more often than closed ones."""


@kernel
def contact_response(n, L, half, force, shifted, response):
    """Write J M⁻¹ r of a generalised force: how it accelerates the contacts.

    Args:
        n: rows of J. L: Cholesky factor of M (nv, nv). half: its first rows are those of L⁻¹ Jᵀ (n, nv).
        force: r (nv,), N or N m.
        shifted: out (≥ nv,), L⁻¹ r; it may be ``force`` itself. response: out (≥ n,), m/s².
    """
    nv = L.shape[0]
    for k in range(nv):
        shifted[k] = force[k]
    forward_solve(nv, L, shifted)
    for i in range(n):
        total = 0.0
        for k in range(nv):
            total += half[i, k] * shifted[k]
        response[i] = total


@kernel
def explaining_forces(
    # constants:
    width, regularisation,
    # problem:
    G, response, chosen,
    # scratch:
    L, x,
    # out:
    forces,
):  # fmt: skip
    """Solve (G_cc + δ I) f_c = J_c M⁻¹ r for the chosen contacts, with δ = ``regularisation`` times the mean of the
    diagonal of G_cc.

    Args:
        width: rows of a contact, 1 + d. G: Delassus matrix (m width, m width), 1/kg.
        response: J M⁻¹ r (m width,), m/s². chosen: (k,) int64, indices of contacts.
        L: (k width, k width), x: (k width,), scratch.
        forces: in and out (m, width), N, normal first; only the rows of the chosen contacts are written.

    Returns:
        SOLVED, or SINGULAR, and then ``forces`` are unchanged.
    """
    n = chosen.shape[0] * width
    diagonal = 0.0
    for i in range(n):
        row = chosen[i // width] * width + i % width
        x[i] = response[row]
        diagonal += G[row, row]
        for j in range(i + 1):
            L[i, j] = G[row, chosen[j // width] * width + j % width]
    shift = regularisation * max(diagonal / n, _MIN_DIAGONAL)
    for i in range(n):
        L[i, i] += shift
    if cholesky_factor(n, 0.0, L, L) < n:
        return _SINGULAR
    cholesky_solve(n, L, x)
    for i in range(n):
        forces[chosen[i // width], i % width] = x[i]
    return _SOLVED


@kernel
def world_forces(normals, tangents, forces, out):
    """Forces (m, 3), normal and two tangents, in the world frame: out (m, 3), which may be ``forces`` itself.

    normals: (m, 3). tangents: (m, 2, 3).
    """
    for i in range(forces.shape[0]):
        push, x, y = forces[i, 0], forces[i, 1], forces[i, 2]
        for k in range(3):
            out[i, k] = push * normals[i, k] + x * tangents[i, 0, k] + y * tangents[i, 1, k]
