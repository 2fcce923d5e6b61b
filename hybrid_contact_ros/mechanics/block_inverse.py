"""Motion and reaction under constraints where the inertia may be singular (massless limbs; Johnson §2.3-2.5)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

_RANK = 1e-10  # after scaling, singular values below this part of the largest count as zero
_MASSLESS = 1e-7  # a coordinate with less than this part of the largest √M_ii has no mass
_UNSEEN = 1e-7  # a contact row does not see a direction along which it has less than this part of the largest entry
_DISAGREE = 1e-8  # redundant rows may miss their targets by this, relative to the largest target where that is above 1


@dataclass(frozen=True, slots=True, eq=False)
class BlockInverse:
    """[M Aᵀ; A 0]⁻¹ = [mass_dagger  rows_daggerᵀ; rows_dagger  minus_effective_mass] (Johnson (8)–(9)).

    Attributes:
        mass_dagger: M† (nv, nv). rows_dagger: A† (k, nv).
        minus_effective_mass: (k, k), the paper's Λ; −(A M⁻¹ Aᵀ)⁻¹ where M is regular.
    """

    mass_dagger: Array
    rows_dagger: Array
    minus_effective_mass: Array


def block_inverse(mass: Array, rows: Array) -> BlockInverse | None:
    """Invert the block matrix of a contact mode; ``None`` where it is singular (Johnson: Assumption A2 or A5 fails)."""
    nv, k = mass.shape[0], rows.shape[0]
    matrix = np.zeros((nv + k, nv + k))
    matrix[:nv, :nv] = mass
    matrix[:nv, nv:] = rows.T
    matrix[nv:, :nv] = rows
    scale = _equilibrium(matrix)
    scaled = matrix * scale[:, None] * scale
    if nv + k and np.linalg.matrix_rank(scaled, tol=_RANK) < nv + k:
        return None
    inverse = np.linalg.inv(scaled) * scale[:, None] * scale
    return BlockInverse(inverse[:nv, :nv], inverse[nv:, :nv], inverse[nv:, nv:])


@dataclass(frozen=True, slots=True, eq=False)
class ConstrainedMotion:
    """Solution of ``M x − Aᵀ λ = force``, ``A x = target``.

    Attributes:
        motion: x (nv,), an acceleration, or a velocity after an impact. It has no component along unconstrained
        massless
            limbs, whose motion these equations do not decide (Johnson, Assumption A6).
        reaction: λ (k,), positive along the rows; the least in the Euclidean norm where rows are redundant.
        regular: whether massless directions are constrained or move no closed contact. False means that Johnson's
            Assumption A5 fails, and then the other fields are zero.
        consistent: whether redundant rows agree about the target.
        redundancy: (k, r), an orthonormal basis of the reactions that move nothing, Aᵀ ν = 0.
        undecided: (nv, nv), the projector onto the directions that Assumption A6 leaves out; zero without such limbs.
    """

    motion: Array
    reaction: Array
    regular: bool
    consistent: bool
    redundancy: Array
    undecided: Array


def constrained_motion(mass: Array, rows: Array, points: Array, force: Array, target: Array) -> ConstrainedMotion:
    """Solve the equations of one contact mode through the block inverse (Johnson (8)–(9), (12)–(13), (23)–(25)).

    The paper's λ and P̂ are the negative of the reaction, for here λ ≥ 0 pushes. For forces, ``force`` is −bias,
    ``target`` −J̇v and the motion v̇; for impacts, ``force`` is M v⁻, ``target`` zero and the motion v⁺.

    Args:
        mass: M (nv, nv), symmetric positive semidefinite. rows: A (k, nv).
        points: (p, nv), all rows (normal and tangent) of the closed contacts. A massless direction that none of them
            sees belongs to a limb that is not in contact, and is left out (A6); one that they see breaks A5.
        force: (nv,). target: (k,).
    """
    nv, k = mass.shape[0], rows.shape[0]
    zero = ConstrainedMotion(np.zeros(nv), np.zeros(k), False, False, np.zeros((k, 0)), np.zeros((nv, nv)))
    # Scaling the coordinates makes kg and kg m² comparable; massless coordinates get the scale of their constraints.
    size = np.sqrt(np.maximum(np.diag(mass), 0.0))
    reach = np.sqrt((np.vstack((rows, points)) ** 2).sum(axis=0))
    heavy = size > _MASSLESS * (size.max() if nv else 1.0)
    scale = np.where(heavy, size, np.where(reach > 0.0, reach, 1.0))
    M = mass / scale[:, None] / scale
    A = rows / scale
    f = force / scale
    length = np.sqrt((A * A).sum(axis=1))
    length[length == 0.0] = 1.0
    A = A / length[:, None]
    goal = target / length
    free = _null_space(np.vstack((M, A)))
    basis = np.eye(nv)
    undecided = np.zeros((nv, nv))
    if free.shape[1]:
        seen = points / scale
        if points.size and np.abs(seen @ free).max() > _UNSEEN * np.abs(seen).max():
            return zero
        basis = _null_space(free.T)
        undecided = free @ free.T * scale / scale[:, None]
        M, A, f = basis.T @ M @ basis, A @ basis, basis.T @ f
    n = M.shape[0]
    left, sizes, right = np.linalg.svd(A, full_matrices=True)
    rank = int((sizes > _RANK * max(1.0, sizes.max(initial=0.0))).sum())
    top = left[:, :rank]
    reduced = sizes[:rank, None] * right[:rank]
    agreed = top.T @ goal
    missed = float(np.abs(goal - top @ agreed).max(initial=0.0))
    consistent = missed <= _DISAGREE * max(1.0, float(np.abs(goal).max(initial=0.0)))
    matrix = np.zeros((n + rank, n + rank))
    matrix[:n, :n] = M
    matrix[:n, n:] = -reduced.T
    matrix[n:, :n] = reduced
    balance = _equilibrium(matrix)
    values = np.linalg.solve(matrix * balance[:, None] * balance, np.concatenate((f, agreed)) * balance) * balance
    motion = basis @ values[:n] / scale
    pushed = top @ values[n:] / length  # Aᵀλ is right; of all such λ the least is taken next
    spare = _null_space((rows / scale @ basis).T) if k else np.zeros((0, 0))
    reaction = pushed - spare @ (spare.T @ pushed)
    return ConstrainedMotion(motion, reaction, True, consistent, spare, undecided)


def _null_space(matrix: Array) -> Array:
    """Orthonormal basis (columns) of {x : matrix x = 0}."""
    columns = matrix.shape[1]
    if matrix.shape[0] == 0 or columns == 0:
        return np.eye(columns)
    _, sizes, right = np.linalg.svd(matrix, full_matrices=True)
    rank = int((sizes > _RANK * max(sizes.max(initial=0.0), 1e-300)).sum())
    return np.ascontiguousarray(right[rank:].T)


def _equilibrium(matrix: Array) -> Array:
    """The vector s that brings the largest entry of each row of diag(s) A diag(s), A symmetric, near 1."""
    scale = np.ones(matrix.shape[0])
    for _ in range(3):
        size = np.abs(matrix * scale[:, None] * scale).max(axis=1, initial=0.0)
        size[size == 0.0] = 1.0
        scale /= np.sqrt(size)
    return scale
