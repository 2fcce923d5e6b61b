"""Contact forces that explain an observed generalised force.

The force is observed as the change of a momentum M v, and errs as the velocities do that it is made from: by noise of
v, whose coordinates err by themselves, in about the same measure of m/s and rad/s. Forces f at the contacts therefore
explain it best where M⁻¹ (r − Jᵀf) is least. In the metric of the kinetic energy, where M⁻¹ stands between two of
these, the noise of a base's velocity becomes forces of the feet as large as those that carry light robots.

The efforts of an arm err more than its velocities: by the friction of gears, by a part of the weight that the last
links have nothing of. M⁻¹ would believe those at a wrist, which moves 10 g, a thousand times as much as those of a
shoulder. There W = (M + D)⁻¹ takes its place, with a D (diagonal) by which both err alike.
"""

from __future__ import annotations

from hybrid_contact_ros.codes import Status
from hybrid_contact_ros.kernels.algebra.dense import backward_solve, cholesky_factor, cholesky_solve, row_products
from hybrid_contact_ros.kernels.compiling import kernel

_SOLVED, _SINGULAR = int(Status.SOLVED), int(Status.SINGULAR)
_MIN_DIAGONAL = 1e-300  # of H: contacts that no force moves still have a solution, zero forces
REGULARISATION_OF_ALL = 1e-9
"""Of :func:`explaining_forces` for all contacts, closed or not, which are redundant more often than closed ones."""


@kernel
def contact_motions(n, L, half, motions, products):
    """How forces at the contacts change the velocities of all coordinates, and the products of these changes.

    Args:
        n: rows of J. L: Cholesky factor of M (nv, nv). half: its first rows are those of L⁻¹ Jᵀ (n, nv).
        motions: out (n, nv), M⁻¹ Jᵀ as rows. products: out (n, n), H = J M⁻² Jᵀ.
    """
    nv = L.shape[0]
    for i in range(n):
        for k in range(nv):
            motions[i, k] = half[i, k]
        backward_solve(nv, L, motions[i])
    row_products(nv, n, motions, products)


@kernel
def weigh_motions(n, L, half, rows, doubt, weighing, motions, products):
    """:func:`contact_motions` of M + D: ``doubt`` (nv,) is D; where it is zero, ``half`` is used.

    Args:
        rows: J (n, nv). weighing: out (nv, nv), the Cholesky factor of M + D.
    """
    nv = L.shape[0]
    doubted = False
    for k in range(nv):
        doubted = doubted or doubt[k] > 0.0
        for j in range(k + 1):
            weighing[k, j] = L[k, j]
    if not doubted:
        contact_motions(n, L, half, motions, products)
        return
    for k in range(nv - 1, -1, -1):
        for j in range(k, -1, -1):
            total = 0.0
            for c in range(j + 1):
                total += weighing[k, c] * weighing[j, c]
            weighing[k, j] = total
        weighing[k, k] += doubt[k]
    cholesky_factor(nv, 0.0, weighing, weighing)
    for i in range(n):
        for k in range(nv):
            motions[i, k] = rows[i, k]
        cholesky_solve(nv, weighing, motions[i])
    row_products(nv, n, motions, products)


@kernel
def contact_response(n, L, motions, force, shifted, response):
    """Write J M⁻² r of a generalised force, the right-hand side of :func:`explaining_forces`.

    Args:
        n: rows of J. L: Cholesky factor of M (nv, nv). motions: M⁻¹ Jᵀ, as rows (n, nv).
        force: r (nv,), N or N m.
        shifted: out (≥ nv,), M⁻¹ r; it may be ``force`` itself. response: out (≥ n,).
    """
    nv = L.shape[0]
    for k in range(nv):
        shifted[k] = force[k]
    cholesky_solve(nv, L, shifted)
    for i in range(n):
        total = 0.0
        for k in range(nv):
            total += motions[i, k] * shifted[k]
        response[i] = total


@kernel
def explaining_forces(
    # constants:
    width, regularisation, ridge,
    # problem:
    products, response, chosen,
    # scratch:
    L, x,
    # out:
    forces,
):  # fmt: skip
    """Solve (H_cc + δ I) f_c = J_c M⁻² r for the chosen contacts, H = J M⁻² Jᵀ, with δ = ``regularisation`` times the
    mean of the diagonal of H_cc, at least ``ridge``: |M⁻¹ (r − J_cᵀ f_c)|² + δ |f_c|² is least.

    Args:
        width: rows of a contact, 1 + d. products: H (m width, m width).
        response: J M⁻² r (m width,). chosen: (k,) int64, indices of contacts.
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
        diagonal += products[row, row]
        for j in range(i + 1):
            L[i, j] = products[row, chosen[j // width] * width + j % width]
    shift = max(regularisation * max(diagonal / n, _MIN_DIAGONAL), ridge)
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
