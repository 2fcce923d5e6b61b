"""Makers of sets: what is known of a landing in, a set out. Each is a prototype of one combination of terms."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from benchmarks.landing_sets.law import in_order, simultaneous
from benchmarks.landing_sets.records import Known
from benchmarks.landing_sets.sets import LandingSet
from hybrid_contact_ros.impacts.velocity_set import impulse_scale, post_impact_set
from hybrid_contact_ros.mechanics.problem import ContactProblem

Array = NDArray[np.float64]
_FRICTIONS = 7  # from sticking to sliding an outcome bends: the ends alone leave out what lies between
Maker = Callable[[Known], LandingSet]


def today(samples: int = 64) -> Maker:
    """The inelastic set of Halm's Algorithm 1, as the suite publishes it."""

    def make(known: Known) -> LandingSet:
        chosen = known.active
        rows = known.rows[chosen]
        problem = ContactProblem(known.mass, known.velocity, rows[:, 0], rows[:, 1:], known.friction[chosen])
        scale = impulse_scale(problem)
        nominal = _nominal(known)
        if scale == 0.0:
            return LandingSet(nominal, known.velocity, nominal[None], np.zeros((0, nominal.size)), known.mass)
        found = post_impact_set(problem, scale, samples, 100)
        points = np.vstack([nominal, found.velocities[found.terminated]])
        return LandingSet(nominal, known.velocity, points, np.zeros((0, nominal.size)), known.mass)

    return make


@dataclass(frozen=True, slots=True)
class Terms:
    """Intervals of a landing's terms; each begins at 0 and is off at 0.

    Attributes:
        duration: s, for which gravity and measured torques act. rebound: of hitting contacts. friction: μ ± this part.
        damping: k, kg m² per joint (N m s²/rad): impulse −k Δq̇. slip: ± this part of |u_n⁻|, of hitting contacts.
        order: contacts land one after the other, with the flow between them. inside: k within the law, not linearised.
        shortest: s, lower end of the duration. least_rebound: lower end of the rebound.
    """

    duration: float = 0.0
    rebound: float = 0.0
    friction: float = 0.0
    damping: float = 0.0
    slip: float = 0.0
    order: bool = False
    inside: bool = False
    shortest: float = 0.0
    least_rebound: float = 0.0


def _stacked(known: Known) -> tuple[Array, Array, NDArray[np.bool_], Array, Array]:
    chosen = known.active
    J = np.ascontiguousarray(known.rows[chosen].reshape(-1, known.velocity.size))
    return J, known.friction[chosen], known.hitting[chosen], known.delays[chosen], chosen


def _nominal(known: Known) -> Array:
    J, mu, _, _, _ = _stacked(known)
    still = np.zeros(known.velocity.size)
    return simultaneous(known.mass, known.bias, J, known.velocity, mu, np.zeros(mu.size), still, 0.0)[0]


def outcome(known: Known, terms: Terms, s: float, e: Array | float, mu_factor: float, k: Array) -> Array:
    """v⁺ (nv,) for one value of each of the terms of the law."""
    J, mu, hitting, delays, _ = _stacked(known)
    e = np.where(hitting, e, 0.0)
    M, v = known.mass, known.velocity
    if terms.order:
        return in_order(M, known.bias, J, v, mu_factor * mu, e, k, s, delays, hitting)
    return simultaneous(M, known.bias, J, v, mu_factor * mu, e, k, s)[0]


def projector(known: Known) -> tuple[Array, Array]:
    """P (nv, nv) that takes from a velocity what contacts resist, P = 1 − M⁻¹Jᵀ(JM⁻¹Jᵀ)⁺J, and M⁻¹Jᵀ(JM⁻¹Jᵀ)⁺."""
    J = known.rows[known.active].reshape(-1, known.velocity.size)
    W = np.linalg.solve(known.mass, J.T)
    back = W @ np.linalg.pinv(J @ W, rcond=1e-9, hermitian=True)
    return np.eye(known.velocity.size) - back @ J, back


def linear(terms: Terms, joints: slice = slice(6, None)) -> Maker:
    """Points: the law at the ends and the middle of μ; generators for all other terms, linearised at the middle."""

    def make(known: Known) -> LandingSet:
        n = known.velocity.size
        zero = np.zeros(n)
        J, _, hitting, _, _ = _stacked(known)
        factors = [1.0] if not terms.friction else [1.0 - terms.friction, 1.0, 1.0 + terms.friction]
        s, e = 0.5 * (terms.shortest + terms.duration), 0.5 * (terms.least_rebound + terms.rebound)
        k = zero.copy()
        if terms.inside:
            k[joints] = 0.5 * terms.damping
        points = np.array([outcome(known, terms, s, e, f, k) for f in factors])
        middle = points[len(factors) // 2]
        P, back = projector(known)
        generators = []

        def difference(plus: Array, minus: Array) -> None:
            generators.append(0.5 * (plus - minus))

        if terms.duration > terms.shortest:
            difference(
                outcome(known, terms, terms.duration, e, 1.0, k), outcome(known, terms, terms.shortest, e, 1.0, k)
            )
        speeds = np.abs(np.minimum(J[::3] @ known.velocity, 0.0))
        for i in np.flatnonzero(hitting):
            if terms.rebound > terms.least_rebound:
                high, low = np.full(hitting.size, e), np.full(hitting.size, e)
                high[i], low[i] = terms.rebound, terms.least_rebound
                difference(outcome(known, terms, s, high, 1.0, k), outcome(known, terms, s, low, 1.0, k))
            for axis in (1, 2):
                if terms.slip:
                    generators.append(terms.slip * speeds[i] * back[:, 3 * i + axis])
        if terms.damping:
            inverse = np.linalg.inv(known.mass)
            jump = middle - known.velocity
            for j in range(*joints.indices(n)):
                pull = P @ inverse[:, j] * (-0.5 * terms.damping * jump[j])
                generators.append(pull)
                if not terms.inside:
                    points = points + pull
        nominal = _nominal(known)
        return LandingSet(nominal, known.velocity, points, np.array(generators).reshape(-1, n), known.mass)

    return make


def drawn(terms: Terms, draws: int = 256, joints: slice = slice(6, None), seed: int = 0) -> Maker:
    """The hull of random draws of the whole law, k inside, each joint and each foot by itself; slip as generators."""

    def make(known: Known) -> LandingSet:
        rng = np.random.default_rng(seed)
        n, m = known.velocity.size, known.active.size
        points = np.empty((draws, n))
        for i in range(draws):
            # Ends of the intervals come up as often as what is between them.
            s, f, *_ = _ends(rng, 2)
            k = np.zeros(n)
            k[joints] = terms.damping * _ends(rng, n)[joints]
            e = terms.least_rebound + (terms.rebound - terms.least_rebound) * _ends(rng, m)
            s = terms.shortest + (terms.duration - terms.shortest) * s
            points[i] = outcome(known, terms, float(s), e, float(1.0 + terms.friction * (2.0 * f - 1.0)), k)
        generators = linear(Terms(slip=terms.slip))(known).generators
        return LandingSet(_nominal(known), known.velocity, points, generators, known.mass)

    return make


def _ends(rng: np.random.Generator, size: int) -> Array:
    """Numbers in [0, 1], half of them at its ends."""
    return np.clip(2.0 * rng.random(size) - 0.5, 0.0, 1.0)
