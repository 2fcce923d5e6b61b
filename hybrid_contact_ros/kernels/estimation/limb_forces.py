"""Contact forces by the torques of each limb's own joints alone.

A rope, a hand or a wind that pulls at the trunk is in the generalised force of the base, and in that of no leg. The
forces that explain the whole residual best (:mod:`.observed_forces`) have a part of such a pull; what the joints of a
limb with three or more of them for each foot say has none. Those of a leg that moves in a plane say nothing of what is
across it, and the whole residual may have that of something else, a boom or a rail: only what is in the plane counts.
"""

from __future__ import annotations

import math

from hybrid_contact_ros.kernels.algebra.dense import cholesky_factor, cholesky_solve
from hybrid_contact_ros.kernels.compiling import kernel
from hybrid_contact_ros.kernels.estimation.observed_forces import world_forces

_WIDTH = 3
_PLANAR = 2  # joints of a leg that moves in a plane
# The joints of a straight leg say nothing of what it carries: normal forces that differ by more than this part of what
# explains the whole residual are not believed.
_AGREES, _AGREES_IN_PLANE = 0.5, 0.25
_FLAT = 1e-9  # of the cube of the mean square of a row: joints by which a point moves in a plane alone
_STRAIGHT = 400.0  # times the variance that a force has by a limb that is bent well
_REGULARISATION = 1e-8  # of the mean of the diagonal: of forces that the points of a sole share in many ways the least


@kernel
def limb_forces(contact_limb, limb, link, closed, normals, tangents, rows, residual, chosen, A, x, forces):
    """Replace the forces at closed contacts by those that their limb's joints explain, where these suffice and agree in
    what presses. Of a limb that moves in a plane, whose joints do not agree, they are unknown.

    Args:
        contact_limb: (m,) int64, limb of each contact, negative without. limb: (nv,) int64, of each coordinate.
        link: (m,) int64, first contact on the same link. closed: (m,) uint8. normals: (m, 3). tangents: (m, 2, 3).
        rows: J (m, 3, nv), normal first. residual: r (nv,), N m (N), of the momentum observer.
        chosen: (m,) int64, A: (≥ 3 m, ≥ 3 m), x: (≥ 3 m,), scratch.
        forces: in and out (m, 3), N, world frame; NaN where unknown, and then unchanged.
    """
    for of in range(_limbs(contact_limb)):
        count, links = _closed_of(of, contact_limb, link, closed, chosen)
        joints = _joints_of(of, limb)
        if count == 0 or joints < _PLANAR * links or not abs(forces[chosen[0], 0]) < 1e300:
            continue
        solved, flat, _ = _explain(of, count, limb, rows, residual, chosen, A, x)
        if not solved:
            continue
        push = said = 0.0
        for a in range(count):
            i = chosen[a]
            said += x[_WIDTH * a]
            for k in range(3):
                push += forces[i, k] * normals[i, k]
        planar = joints < _WIDTH * links or flat
        agree = abs(said - push) <= (_AGREES_IN_PLANE if planar else _AGREES) * abs(push)
        if not agree and not planar:
            continue
        for a in range(count):
            i = chosen[a]
            for k in range(_WIDTH):
                forces[i, k] = x[_WIDTH * a + k] if agree else math.nan
            world_forces(normals[i : i + 1], tangents[i : i + 1], forces[i : i + 1], forces[i : i + 1])


@kernel
def limb_pushes(contact_limb, limb, link, taken, rows, residual, chosen, A, x, y, pushes):
    """Write what the joints of each limb say presses on its links, if nothing else touches the limb: pushes (m,), N,
    the normal force on the whole link of each contact; NaN where the joints are too few to say, or the limb is
    straight.

    Args: those of :func:`limb_forces`; ``taken``: (m,) uint8, the contacts that may push, closed or not.
        x, y: (≥ 3 m,), scratch.
    """
    for i in range(taken.shape[0]):
        pushes[i] = math.nan
    for of in range(_limbs(contact_limb)):
        count, links = _closed_of(of, contact_limb, link, taken, chosen)
        joints = _joints_of(of, limb)
        if count == 0 or joints < _PLANAR * links:
            continue
        solved, _, size = _explain(of, count, limb, rows, residual, chosen, A, x)
        for a in range(count if solved else 0):
            if a > 0 and link[chosen[a]] == link[chosen[a - 1]]:  # another point of the same sole
                pushes[chosen[a]] = pushes[chosen[a - 1]]
            else:
                pushes[chosen[a]] = _push_on(link[chosen[a]], count, link, chosen, size, A, x, y)


@kernel
def _push_on(of, count, link, chosen, size, A, x, y):
    """The sum of the normal forces x of the points of a link; NaN where the torques of the joints hardly tell it, by
    the factor A of J Jᵀ, whose rows have the mean square ``size``. y: scratch."""
    for p in range(_WIDTH * count):
        y[p] = 1.0 if p % _WIDTH == 0 and link[chosen[p // _WIDTH]] == of else 0.0
    cholesky_solve(_WIDTH * count, A, y)
    push, unclear = 0.0, 0.0  # and its variance, by that of the torques
    for b in range(count):
        if link[chosen[b]] == of:
            push += x[_WIDTH * b]
            unclear += y[_WIDTH * b]
    return push if unclear * size < _STRAIGHT else math.nan


@kernel
def _limbs(contact_limb):
    """How many limbs have contacts."""
    limbs = 0
    for i in range(contact_limb.shape[0]):
        limbs = max(limbs, contact_limb[i] + 1)
    return limbs


@kernel
def _joints_of(of, limb):
    joints = 0
    for k in range(limb.shape[0]):
        joints += limb[k] == of
    return joints


@kernel
def _explain(of, count, limb, rows, residual, chosen, A, x):
    """Solve for the forces of ``count`` chosen contacts that the joints of limb ``of`` explain best: x (3 count,),
    normal first. Returns whether there are any, whether the joints move the first contact in a plane alone, and the
    mean square of a row. A: out, the Cholesky factor of J Jᵀ."""
    nv, n, diagonal = residual.shape[0], _WIDTH * count, 0.0
    for p in range(n):
        i, side = chosen[p // _WIDTH], p % _WIDTH
        x[p] = 0.0
        for k in range(nv):
            if limb[k] == of:
                x[p] += rows[i, side, k] * residual[k]
        for q in range(p + 1):
            j, other, total = chosen[q // _WIDTH], q % _WIDTH, 0.0
            for k in range(nv):
                if limb[k] == of:
                    total += rows[i, side, k] * rows[j, other, k]
            A[p, q] = total
        diagonal += A[p, p]
    flat = _is_flat(A)
    for p in range(n):
        A[p, p] += max(_REGULARISATION * diagonal / n, 1e-300)
    if cholesky_factor(n, 0.0, A, A) < n:
        return False, flat, diagonal / n
    cholesky_solve(n, A, x)
    return True, flat, diagonal / n


@kernel
def _is_flat(A):
    """Whether the joints move the first point in a plane alone: the products of its three rows, in the lower triangle
    of A, have a determinant of zero."""
    a, b, c, d, e, f = A[0, 0], A[1, 0], A[2, 0], A[1, 1], A[2, 1], A[2, 2]
    determinant = a * (d * f - e * e) - b * (b * f - e * c) + c * (b * e - d * c)
    return abs(determinant) <= _FLAT * ((a + d + f) / 3.0) ** 3


@kernel
def _closed_of(of, contact_limb, link, closed, chosen):
    """Write the closed contacts of a limb into ``chosen``: how many they are, and on how many links."""
    count, links = 0, 0
    for i in range(closed.shape[0]):
        if not closed[i] or contact_limb[i] != of:
            continue
        new = True
        for a in range(count):
            new = new and link[chosen[a]] != link[i]
        links += new
        chosen[count] = i
        count += 1
    return count, links
