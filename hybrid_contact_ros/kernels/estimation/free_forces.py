"""The normal forces that the momentum observer would lay to the contacts if all of them could push, and how certain
they are. Unlike the forces of a mode they do not presuppose which contacts touch."""

from __future__ import annotations

import math
from typing import NamedTuple

from hybrid_contact_ros.codes import Status
from hybrid_contact_ros.kernels.algebra.dense import backward_solve, cholesky_solve
from hybrid_contact_ros.kernels.compiling import kernel
from hybrid_contact_ros.kernels.estimation.averaged_forces import BEFORE, SPAN, WHITE, average, white_share
from hybrid_contact_ros.kernels.estimation.observed_forces import (
    REGULARISATION_OF_ALL,
    contact_response,
    explaining_forces,
)
from hybrid_contact_ros.kernels.estimation.records import Array

MOST_CONTACTS = 16
"""The forces of more contacts are not looked for: the work grows with the cube of their number."""
_WIDTH = 3
_SOLVED = int(Status.SOLVED)
_NOISE_TIME = 0.02  # s, over which the noise is averaged: twice as long as the observer remembers an impact
# The noise of one state counts for this part of itself where it is above the average: an impact shows at once.
_PRESENT = 0.5
# Of the variance of a force by white noise of efforts, what the observer, its lead and the mean over a step leave, and
# what they make neighbouring states have in common.
_WHITE = 0.6
_SQUEEZE = 3.0  # shares of the weight, with which points of one link may press or pull against each other
_SPANS = 3.0  # time constants of an average, over which its noise is averaged


class FreeForces(NamedTuple):
    """Memory and result for m contacts, n = 3 m rows and nv coordinates."""

    last: Array  # (nv,), the observer's residual of the last state, N or N m
    noise: Array  # (1,), (m/s²)² or (rad/s²)², mean square of what no contact force explains; negative before the first
    force: Array  # (m,), N
    covariance: Array  # (m, m), N²
    doubt: Array  # (m,), N², the part of the variance of each force that is of wrong or noisy efforts, without average
    averaged: Array  # (AVERAGED, nv), N or N m, of :func:`~.averaged_forces.average`
    averaging: Array  # (AVERAGING,), of :mod:`.averaged_forces`
    inverse: Array  # (m, n), scratch: rows of the inverse factor of J M⁻² Jᵀ


@kernel
def free_forces(
    lead, level, rank, share, gain, dt, L, motions, products, residual, every, unsure, jitter, memory, A, work, forces
):  # fmt: skip
    """Find the forces f of all contacts for which |M⁻¹ (r − Jᵀf)| is least (:mod:`.observed_forces`), and write their
    normal parts with their covariance.

    The residual r of the observer lags behind the forces by 1/``gain``. What is solved for is r + ``lead`` ṙ/gain: the
    observer's own equation makes this the force of the moment for a lead of 1, at the price of more noise. The noise
    is measured: the part of M⁻¹ r that no contact force explains has nv − ``rank`` directions, and its mean square is
    that of all others. The covariance of f is (J M⁻² Jᵀ)⁻¹ times this. Where the rank is nv, contact forces explain
    everything and nothing tells how wrong they are: there are none then. The points of one link share its force and its
    moment in many ways, of which the least is written; by the covariance it may be any other one with which they press
    against each other with some times their ``share`` of the weight.

    Where a ``level`` is asked for, noisy residuals are averaged until forces are known to that
    (:mod:`.averaged_forces`).

    What the efforts are wrong by comes to it, as far as that is known (``unsure``), and what they err by from state to
    state (``jitter``): that part of it which contacts could explain is not seen in the noise.

    Args:
        level: N, standard deviation that is asked for; 0 for none. rank: of J, in general. share: N, of a contact.
        dt: s since the last state. L, motions, products: of :func:`~.observed_forces.weigh_motions`. residual: r (nv,).
        every: (m,) int64, 0 … m − 1.
        unsure, jitter: (nv,), N m (N), standard deviations of the efforts' errors and of their noise.
        memory: in and out, FreeForces. A: (≥ n, ≥ n), work: (2, ≥ max(n, nv)), forces: (m, 3); scratch.

    Returns:
        Whether there are forces.
    """
    m, nv = memory.force.shape[0], residual.shape[0]
    n = _WIDTH * m
    free = nv - rank
    if m == 0 or m > MOST_CONTACTS or free <= 0:
        return False
    response, shifted = work[0], work[1]
    ridge = max(memory.noise[0], 0.0) / (_SQUEEZE * share) ** 2 if rank < n else 0.0
    ahead = lead / (gain * dt) if dt > 0.0 and memory.noise[0] >= 0.0 else 0.0
    for k in range(nv):
        shifted[k] = residual[k] + ahead * (residual[k] - memory.last[k])
        memory.last[k] = residual[k]
    if level > 0.0:
        before, lever = memory.averaged[BEFORE], 0.0
        for k in range(nv):
            now = shifted[k]
            shifted[k] -= before[k]
            before[k] = now
        change = _unexplained(n, ridge, L, motions, products, every, A, response, shifted, forces)
        if change < 0.0:
            return False
        for i in range(m):  # of the last state
            square = 0.0
            for c in range(n):
                square += memory.inverse[i, c] * memory.inverse[i, c]
            lever = max(lever, square)
        for k in range(nv):
            shifted[k] = before[k]
        average(
            memory.noise[0] < 0.0, level, dt, change / free, math.sqrt(lever), shifted, memory.averaged,
            memory.averaging,
        )  # fmt: skip
    energy = _unexplained(n, ridge, L, motions, products, every, A, response, shifted, forces)
    if energy < 0.0:
        return False
    noise = energy / free
    if memory.noise[0] < 0.0:
        memory.noise[0] = noise
    recall = max(_NOISE_TIME, _SPANS * memory.averaging[SPAN])
    memory.noise[0] += min(1.0, max(dt, 0.0) / recall) * (noise - memory.noise[0])
    noise = max(memory.noise[0], _PRESENT * noise)
    inverse = memory.inverse
    for i in range(m):
        memory.force[i] = forces[i, 0]
        first = _WIDTH * i  # A unit vector: above it the solution is zero.
        for c in range(n):
            total = 1.0 if c == first else 0.0
            for k in range(first, c):
                total -= A[c, k] * inverse[i, k]
            inverse[i, c] = total / A[c, c] if c >= first else 0.0
        for j in range(i + 1):
            total = 0.0
            for c in range(_WIDTH * i, n):
                total += inverse[i, c] * inverse[j, c]
            memory.covariance[i, j] = noise * total
            memory.covariance[j, i] = noise * total
    left = _WHITE * white_share(dt, memory.averaging)
    memory.averaging[WHITE] = 0.0
    for i in range(m):
        wrong, white = _doubts(i, n, unsure, jitter, L, motions, A, inverse, response, shifted)
        memory.doubt[i] = wrong + white
        memory.covariance[i, i] += wrong + left * white
        memory.averaging[WHITE] = max(memory.averaging[WHITE], _WHITE * white)
    return True


@kernel
def _unexplained(n, ridge, L, motions, products, every, A, response, shifted, forces):
    """Explain a generalised force, ``shifted`` (nv,), by contact forces, and return the square of M⁻¹ times the rest;
    −1 where it cannot be done. ``forces``: out (m, 3). ``A``: out, the factor of :func:`explaining_forces`."""
    contact_response(n, L, motions, shifted, shifted, response)
    energy = 0.0
    for k in range(L.shape[0]):
        energy += shifted[k] * shifted[k]
    status = explaining_forces(_WIDTH, REGULARISATION_OF_ALL, ridge, products, response, every, A, shifted, forces)
    if status != _SOLVED:
        return -1.0
    for i in range(n):
        energy -= response[i] * shifted[i]
    return max(energy, 0.0)


@kernel
def _doubts(i, n, unsure, jitter, L, motions, A, inverse, y, z):
    """The variances (N²) that errors of the efforts and their noise give to the normal force of contact i:
    f = (J W² Jᵀ)⁻¹ J W² r."""
    nv = L.shape[0]
    for c in range(n):
        y[c] = inverse[i, c] if c >= _WIDTH * i else 0.0
    backward_solve(n, A, y)
    for k in range(nv):
        z[k] = 0.0
        for c in range(n):
            z[k] += motions[c, k] * y[c]
    cholesky_solve(nv, L, z)
    wrong, white = 0.0, 0.0
    for k in range(nv):
        wrong += (unsure[k] * z[k]) ** 2
        white += (jitter[k] * z[k]) ** 2
    return wrong, white
