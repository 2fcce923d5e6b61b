"""What Halm proves of Algorithms 1 and 2, in numbers: when impacts terminate, and how many samples cover their
outcomes.

These bounds are worst cases. The examples of Halm terminate in some three increments where Theorem 8 promises some
hundred, and the sample counts of Theorem 9 are astronomic, of no practical use as Halm says.
:func:`~.velocity_set.post_impact_set` reports a statistical coverage instead.
"""

from __future__ import annotations

from math import ceil, exp, isfinite, log, log1p, sqrt

import numpy as np
from scipy.optimize import linprog

from hybrid_contact_ros.impacts.contact_space import Array, check_directions
from hybrid_contact_ros.mechanics.kinetic_norm import kinetic_norm
from hybrid_contact_ros.mechanics.problem import ContactProblem


def friction_vertices(directions: int, tangents: int) -> Array:
    """The vertices (k, d) of the friction polygon of radius 1 (Halm's D): at angles 2πj/k in space, ±1 in the plane."""
    check_directions(directions)
    if tangents == 1:
        return np.array([[1.0], [-1.0]])
    angle = 2 * np.pi * np.arange(directions) / directions
    return np.stack([np.cos(angle), np.sin(angle)], axis=1)


def net_force_direction(problem: ContactProblem, directions: int = 4) -> Array | None:
    """r (nv,) with r · M⁻¹ J̄ᵀ λ̄ ≥ ‖λ_n‖₁ for all forces in the linearised friction cones (Halm, Lemma 6, equation
    (77)).

    Every impulse increment moves v along r by at least its normal impulse. Of all such r, in the unit of an impulse
    over a velocity, this is the one with the least ‖r‖₁, by a linear program. None if there is none: the friction cone
    is not pointed (Halm, Assumption 2), as of an object jammed between two walls, and termination is not guaranteed.

    Raises:
        ValueError: M is singular, or ``directions`` is odd or below 2.
    """
    m, d, nv = problem.tangent_jacobian.shape
    vertices = friction_vertices(directions, d)
    pushed = problem.friction[:, None, None] * np.einsum("kx,mxn->mkn", vertices, problem.tangent_jacobian)
    extreme = (problem.normal_jacobian[:, None] + pushed).reshape(-1, nv)
    try:
        moved = np.linalg.solve(problem.mass, extreme.T).T  # velocities that the cone's edges cause
    except np.linalg.LinAlgError:
        raise ValueError("mass is singular: a unit impulse may cause any velocity") from None
    if m == 0:
        return np.zeros(nv)
    size = np.linalg.norm(moved, axis=1).max()
    if size == 0.0:
        return None
    sides = np.hstack([moved, -moved]) / size  # r as a difference of two non-negative vectors
    answer = linprog(np.ones(2 * nv), A_ub=-sides, b_ub=-np.ones(len(moved)), bounds=(0, None))
    if answer.status != 0:
        return None
    r = (answer.x[:nv] - answer.x[nv:]) / size
    return r / min(1.0, float((moved @ r).min()))  # the solver's tolerance is not to cost the inequality


def termination_constant(problem: ContactProblem, step: float, directions: int = 4) -> int | None:
    """The c of Halm (78): c ⌈‖v⁻‖_M⌉ + k increments suffice except with probability e^{−k/(m + 1)²} (Theorem 8).

    For uniform draws c = 4 ⌈(m + 1) ‖r‖₂ / (step √σ)⌉, with r of :func:`net_force_direction`, ``step`` in N s (Halm's
    h) and σ the least eigenvalue of M. In SI units ‖v⁻‖_M is in √J and rounded up, so that the bound depends on the
    units chosen. None if the friction cone is not pointed.
    """
    if not 0.0 < step < np.inf:
        raise ValueError(f"step is {step}; a positive, finite impulse in N s is needed")
    r = net_force_direction(problem, directions)
    if r is None:
        return None
    least = float(np.linalg.eigvalsh(problem.mass)[0])
    return 4 * ceil((problem.contacts + 1) * float(np.linalg.norm(r)) / (step * sqrt(least)))


def sufficient_steps(problem: ContactProblem, step: float, failure: float, directions: int = 4) -> int | None:
    """Increments after which a sample has terminated with probability ≥ 1 − ``failure`` (Halm, Theorem 8).

    None if the friction cone is not pointed. As ``max_steps`` of ``post_impact_set`` it is safe, and usually far too
    large.
    """
    _check_probability("failure", failure)
    c = termination_constant(problem, step, directions)
    if c is None:
        return None
    energy_norm = kinetic_norm(problem.mass, problem.velocity)
    return c * ceil(energy_norm) + max(1, ceil((problem.contacts + 1) ** 2 * log(1.0 / failure)))


def step_response(problem: ContactProblem, directions: int = 4) -> float:
    """The ψ of Halm's Algorithm 2, line 2: ‖v' − v‖₂ ≤ ψ ε for caps ε at every contact.

    ψ = σ_max(M⁻¹ J̄ᵀ) m (1 + max μ) + 1, with J̄ the rows of all normals and friction directions.
    """
    m, d, nv = problem.tangent_jacobian.shape
    rows = np.einsum("kx,mxn->mkn", friction_vertices(directions, d), problem.tangent_jacobian).reshape(-1, nv)
    stacked = np.vstack([problem.normal_jacobian, rows])
    largest = np.linalg.norm(np.linalg.solve(problem.mass, stacked.T), 2) if m else 0.0
    return float(largest) * m * (1.0 + float(problem.friction.max(initial=0.0))) + 1.0


def covering_samples(size: float, lipschitz: float, dimensions: int, radius: float, failure: float) -> int:
    """The N of Halm's Lemma 1: N uniform draws x from [0, size]ⁿ make g(x) an ε-net of g([0, size]ⁿ), save with chance
    δ.

    With n = ``dimensions``, ε = ``radius``, δ = ``failure`` and L = ``lipschitz``, a Lipschitz constant of g,
    N ≥ ln(δΩ) / ln(1 − Ω) for Ω = ⌈size L √n / ε⌉^{−n}. It is exact while 1/Ω < 10¹², and a little larger beyond.
    """
    _check_probability("failure", failure)
    _check_net(size, lipschitz, dimensions, radius)
    ratio = size * lipschitz * sqrt(dimensions) / radius
    if not isfinite(ratio):
        raise ValueError("size × lipschitz / radius overflows")
    return _net(max(ceil(ratio), 1), dimensions, failure)


def covering_probability(samples: int, size: float, lipschitz: float, dimensions: int, radius: float) -> float:
    """The probability that N draws make an ε-net, at least 1 − (1 − Ω)^N / Ω by Halm (1), or 0 where that is negative.

    N = ``samples``; Ω and the other arguments are those of :func:`covering_samples`.
    """
    _check_net(size, lipschitz, dimensions, radius)
    if samples < 0:
        raise ValueError(f"samples is {samples}; 0 or more is needed")
    ratio = max(ceil(size * lipschitz * sqrt(dimensions) / radius), 1)
    cells = ratio**dimensions
    if cells == 1:
        return 1.0 if samples >= 1 else 0.0
    exponent = samples * log1p(-1.0 / cells) if cells < 10**300 else -samples / cells
    missing = exponent + dimensions * log(ratio)
    return max(0.0, 1.0 - exp(missing)) if missing < 0.0 else 0.0


def outcome_set_samples(step: float, contacts: int, steps: int, lipschitz: float, radius: float, failure: float) -> int:
    """The sample count of Halm's Theorem 9: samples of N increments that are an ε-net of what N increments can reach.

    It is at least ln(δΩ) / ln(1 − Ω) for Ω = ⌈step L^N √(N m) / ε⌉^{−N m}, with m = ``contacts``, N = ``steps``,
    ε = ``radius`` in the Euclidean norm of v, δ = ``failure``, and L = ``lipschitz`` a constant of one increment (Halm,
    Lemma 7: finite where increments are unique, but not given by a formula). It is an integer of any size.
    """
    if contacts < 1 or steps < 1:
        raise ValueError(f"contacts ({contacts}) and steps ({steps}) must be 1 or more")
    try:
        power = lipschitz**steps
    except OverflowError:
        power = np.inf
    return covering_samples(step, power, steps * contacts, radius, failure)


def _net(ratio: int, dimensions: int, failure: float) -> int:
    """N ≥ ln(δΩ) / ln(1 − Ω) for Ω = ratio^{−dimensions}."""
    cells = ratio**dimensions
    if cells == 1:
        return 1
    inside = log(1.0 / failure) + dimensions * log(ratio)  # −ln(δΩ)
    if cells < 10**12:
        return ceil(inside / -log1p(-1.0 / cells))
    return (ceil(inside * 2**20) * cells >> 20) + 1  # −ln(1 − Ω) > Ω


def _check_net(size: float, lipschitz: float, dimensions: int, radius: float) -> None:
    for name, value in (("size", size), ("lipschitz", lipschitz), ("radius", radius)):
        if not 0.0 < value < np.inf:
            raise ValueError(f"{name} is {value}; a positive, finite number is needed")
    if dimensions < 1 or dimensions != int(dimensions):
        raise ValueError(f"dimensions is {dimensions}; a whole number, 1 or more, is needed")


def _check_probability(name: str, value: float) -> None:
    if not 0.0 < value < 1.0:
        raise ValueError(f"{name} is {value}; a probability between 0 and 1 is needed")
