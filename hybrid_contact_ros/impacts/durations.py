"""How long impacts last and how much energy they lose, as numbers (Halm, Lemmas 2 and 3, Theorem 3).

An impact runs along s, the sum of all normal impulses, in N s. Halm proves by compactness that constants exist; here
are some. All norms of velocities are kinetic, ‖v‖_M = √(vᵀ M v): Halm's Lemma 2 has ‖v‖₂ in coordinates in which M is
the identity.
"""

from __future__ import annotations

from math import ceil, cos, inf, pi, sqrt

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import nnls

from hybrid_contact_ros.impacts.theory import friction_vertices
from hybrid_contact_ros.mechanics.problem import ContactProblem

Array = NDArray[np.float64]
VERTICES = 32
"""Of the polygon around a friction cone in space, which makes it up to 1/cos(π/32), half a percent, wider."""
_JAMS = 1e-9  # of the fastest velocity that a unit impulse causes: a net one below that may be none


def single_impact_constant(problem: ContactProblem, contact: int = 0) -> float:
    """κ of Halm's Lemma 2: a single contact's impact is over at an s ≤ κ ‖v⁻‖_M (κ in √kg).

    With G the contact's Delassus matrix, ‖Rᵀv‖ = √(uᵀ G⁻¹ u) of the contact velocity u falls at least at the rate 1/κ
    for 1/κ the least of |u_n| + μ‖u_t‖ where it is 1. The sum is a norm with corners on the normal and the tangents, so
    that κ = max(√(G⁻¹)_nn, √λ_max((G⁻¹)_tt) / μ). The proof's 1/(ε min(μ, 1)) is this or larger
    (:func:`printed_single_impact_constant`). Both grow without bound as μ → 0. Friction that is too weak to turn the
    impact, μ ‖G_nt‖ < G_nn, lets u_n rise at least at G_nn − μ ‖G_nt‖, so that κ ≤ √G_nn / (G_nn − μ ‖G_nt‖) too: the
    least of both is returned, 1/√G_nn without friction.

    Raises:
        ValueError: M is singular, the normal moves nothing, or no contact has that index.
    """
    G, mu = _delassus(problem, contact)
    normal, tangential = _reciprocals(G)
    bounds = [max(normal, tangential / mu)] if mu > 0.0 else []
    rising = float(G[0, 0] - mu * np.linalg.norm(G[0, 1:]))
    if rising > 0.0:
        bounds.append(sqrt(G[0, 0]) / rising)
    return min(bounds)


def printed_single_impact_constant(problem: ContactProblem, contact: int = 0) -> float:
    """κ = 1/(ε min(μ, 1)) as the proof of Halm's Lemma 2 has it, with the largest ε of (94); infinite without
    friction."""
    G, mu = _delassus(problem, contact)
    return max(_reciprocals(G)) / min(mu, 1.0) if mu > 0.0 else inf


def net_force_size(problem: ContactProblem) -> float:
    """ν = min ‖M⁻¹ Jᵀ λ‖_M over all forces in the friction cones with ‖λ_n‖₁ = 1, in 1/√kg; 0 if objects may jam.

    It is the size of the slowest change of v along s, and 1/ν that of the least r of Halm's Lemma 6 (‖r‖ in the norm of
    M⁻¹). In space cones are made wider by half a percent, so that ν is not too large.

    Raises:
        ValueError: M is not positive definite.
    """
    m, d, nv = problem.tangent_jacobian.shape
    if m == 0:
        return inf
    corners = friction_vertices(VERTICES, d) / (cos(pi / VERTICES) if d > 1 else 1.0)
    pushed = problem.friction[:, None, None] * np.einsum("kx,mxn->mkn", corners, problem.tangent_jacobian)
    rays = (problem.normal_jacobian[:, None] + pushed).reshape(-1, nv)
    moved = np.linalg.solve(_factor(problem), rays.T)  # columns of L⁻¹ Jᵀ
    size = float(np.linalg.norm(moved, axis=0).max())
    if size == 0.0:
        return 0.0
    # The nearest point to 0 of a hull: min ‖A x‖² + (1ᵀx − 1)² / h² has its solution in the same direction.
    weights, _ = nnls(np.vstack([moved / size, np.ones(moved.shape[1])]), np.append(np.zeros(nv), 1.0))
    nearest = moved @ (weights / weights.sum())
    length = float(np.linalg.norm(nearest))
    if length <= _JAMS * size:
        return 0.0
    return max(0.0, float((nearest @ moved).min()) / length)  # the support along it: holds whatever nnls' rounding


def termination_rate(problem: ContactProblem) -> float:
    """The largest s / ‖v⁻‖_M of an impact by Halm's inclusion (39): it is over at an s ≤ 2/ν ‖v⁻‖_M, in √kg.

    Along the least r of Lemma 6, r · v rises by at least ds, and it stays between ±‖v⁻‖_M/ν, for energy never rises.
    That is Halm's Proposition 4 with a number, and inf s/α(s) of Lemma 3 needs to be no larger. Infinite where objects
    may jam (Halm's Assumption 2 fails).
    """
    nu = net_force_size(problem)
    return 2.0 / nu if nu > 0.0 else inf


def least_dissipation(problem: ContactProblem, s: float) -> float | None:
    """An α(s) of Halm's Theorem 3: while an impact that begins with ‖v‖_M = 1 goes on, ‖v(s)‖_M ≤ 1 − α(s).

    Halm's proof is by contradiction and gives no number. This one is α = 1 − √(1 − a s²) with the a of
    :func:`loss_rate`, and 1 beyond :func:`termination_rate`, where nothing goes on. It is guaranteed, and small: four
    to six decades below what solutions were seen to lose with two strongly coupled contacts, hopeless with five.

    Returns:
        α(s) in (0, 1]; None where objects may jam (Halm's Assumption 2 fails).

    Raises:
        ValueError: s is not positive, or M is not positive definite.
    """
    if not 0.0 < s < inf:
        raise ValueError(f"s is {s}; a positive, finite impulse over the speed ‖v‖_M is needed")
    a = loss_rate(problem)
    if a is None:
        return None
    lost = a * s**2
    if lost >= 1.0 or s > termination_rate(problem):
        return 1.0
    return lost / (1.0 + sqrt(1.0 - lost))


def loss_rate(problem: ContactProblem) -> float | None:
    """a > 0, 1/kg: an impact that goes on after the normal impulse s has lost ½ a s² of kinetic energy; None if it may
    jam.

    Where the matrix Ĝ of :func:`loss_matrix` is positive definite, min Λᵀ Ĝ Λ over ΣΛ = 1 is such a number: 1/κ² with
    one contact. The other one holds for all: cut s into K pieces of length h.

    * A contact that pushes less than β h in one of them is forgotten there: the others push (1 − β) h, and v is
      disturbed by c β h, with c = max ‖M⁻¹ J_iᵀ λ_i‖_M. Repeat this with one contact less; the last one loses
      ½ (1 − β)² h²/κ² by Lemma 2, less the disturbances.
    * If all push β h in each piece and lose little, each must have had little velocity ‖Π_i v‖ (what its own impulses
      can take) at some moment of the first piece and of the last. But then v cannot have changed by ν (K − 2) h in
      between (:func:`net_force_size`), since ‖Δv‖² is at most c (K − 2) h times the largest ‖Π_i Δv‖.
    """
    m = problem.contacts
    nu = net_force_size(problem)
    if nu == 0.0:
        return None
    loss = loss_matrix(problem)
    coupled = 0.0
    if m == 0 or np.linalg.eigvalsh(loss)[0] > 0.0:
        # off the diagonal Ĝ is not positive, so that Ĝ⁻¹ 1 ≥ 0 is inside of the simplex
        coupled = 1.0 / float(np.linalg.solve(loss, np.ones(m)).sum()) if m else inf
    if m < 2:
        return coupled
    kappa = 1.0 / sqrt(float(np.diag(loss).min()))
    rows = np.linalg.norm(np.linalg.solve(_factor(problem), problem.jacobian().T), axis=0).reshape(m, -1)
    c = float((rows[:, 0] + problem.friction * np.sqrt((rows[:, 1:] ** 2).sum(axis=1))).max())
    pieces = 2.0 + ceil(4.0 * (c / nu) ** 2)
    last = (0.9 / pieces) ** (m - 1)  # length that is left for one contact, β ≤ 0.1
    worst = 0.5 * (last / kappa) ** 2
    for level in range(m - 1):  # of m − level contacts
        beta = min(0.1, last * pieces ** (level + 1) / (4.0 * kappa * c * (m - 1)))
        h = (0.9 / pieces) ** level / pieces
        worst = min(worst, beta * c * h**2 / kappa)
    return max(coupled, worst)


def loss_matrix(problem: ContactProblem) -> Array:
    """Ĝ (m, m): an impact that goes on after the normal impulses Λ has lost ½ Λᵀ Ĝ Λ of kinetic energy at least.

    Let P_i = √(u_iᵀ G_ii⁻¹ u_i) of contact i's velocity. A unit of its impulse costs |u_n| + μ‖u_t‖ ≥ P_i/κ_i (Lemma 2)
    and takes 1/κ_i at least from P_i; one of contact j changes P_i by b_ij at most. So at each of its pushes P_i is at
    least what contact i pushes from then until its last push over κ_i, less b_ij times what each contact j pushes
    meanwhile. Summed over all pushes: Ĝ_ii = 1/κ_i² and Ĝ_ij = −max(b_ij/κ_i, b_ji/κ_j). Between two contacts without
    friction, u_n has a sign: Ĝ_ij = min(G_ij, 0), for a push that opens the other is not needed to close it.
    """
    m = problem.contacts
    half = np.linalg.solve(_factor(problem), problem.jacobian().T)
    G = (half.T @ half).reshape(m, 1 + problem.tangents, m, 1 + problem.tangents)
    mu = problem.friction
    rate, reach = np.empty(m), np.empty((m, m))  # 1/κ_i and b_ij
    for i in range(m):
        rows = slice(None) if mu[i] > 0.0 else slice(0, 1)
        own = G[i, :, i, :][rows, rows]
        normal, tangential = _reciprocals(own)
        rate[i] = 1.0 / max(normal, tangential / mu[i] if mu[i] > 0.0 else 0.0)
        values, vectors = np.linalg.eigh(own)
        kept = values > 1e-12 * values[-1]
        root = (vectors[:, kept] / np.sqrt(values[kept])).T
        for j in range(m):
            part = root @ G[i, rows, j, :]
            reach[i, j] = np.linalg.norm(part[:, 0]) + mu[j] * np.linalg.norm(part[:, 1:], 2)
    cost = rate[:, None] * reach
    loss = -np.maximum(cost, cost.T)
    smooth = mu == 0.0
    both = smooth[:, None] & smooth
    loss[both] = np.minimum(G[:, 0, :, 0], 0.0)[both]
    np.fill_diagonal(loss, rate**2)
    return loss


def _delassus(problem: ContactProblem, contact: int) -> tuple[Array, float]:
    if not 0 <= contact < problem.contacts:
        raise ValueError(f"there is no contact {contact} among {problem.contacts}")
    rows = np.vstack([problem.normal_jacobian[contact], problem.tangent_jacobian[contact]])
    half = np.linalg.solve(_factor(problem), rows.T)
    G = half.T @ half
    if not G[0, 0] > 0.0:
        raise ValueError(f"the normal of contact {contact} moves nothing")
    return G, float(problem.friction[contact])


def _reciprocals(G: Array) -> tuple[float, float]:
    """√(G⁻¹)_nn and √λ_max((G⁻¹)_tt); the pseudo-inverse serves where rows of J depend on each other."""
    inverse = np.linalg.pinv(G, hermitian=True)
    tangential = inverse[1:, 1:]
    return sqrt(inverse[0, 0]), sqrt(float(np.linalg.eigvalsh(tangential)[-1])) if tangential.size else 0.0


def _factor(problem: ContactProblem) -> Array:
    try:
        return np.linalg.cholesky(problem.mass).astype(np.float64)
    except np.linalg.LinAlgError:
        raise ValueError("mass is not positive definite; every limb needs mass here") from None
