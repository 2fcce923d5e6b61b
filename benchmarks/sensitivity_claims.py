"""What docs/sensitivity.md says of Pace and Burden, as numbers: ``python -m benchmarks.sensitivity_claims``."""

from __future__ import annotations

import numpy as np
import sympy
from numpy.typing import NDArray
from scipy.integrate import solve_ivp

from hybrid_contact_ros import (
    Constraint,
    ContactProblem,
    EstimatorConfig,
    LagrangianSystem,
    RigidBodyModel,
    bouligand_derivative,
    impulse_velocity_mode,
    simulate,
    variational_flow,
)
from hybrid_contact_ros.mechanics.example_data import example_urdf
from hybrid_contact_ros.mechanics.state import RobotState
from hybrid_contact_ros.sensitivity.saltation import saltation
from hybrid_contact_ros.systems.trotters import soft_trotter, soft_trotter_apex

Array = NDArray[np.float64]


def projector(problem: ContactProblem, contacts: list[int]) -> Array:
    """Δ_J of a plastic frictionless impact, Pace (2) with γ = 0."""
    rows = problem.normal_jacobian[contacts]
    lift = np.linalg.solve(problem.mass, rows.T)
    return np.eye(problem.nv) - lift @ np.linalg.solve(rows @ lift, rows)


def nested_projections() -> float:
    """Largest |Δ_ij Δ_i − Δ_ij| over pairs of feet of random postures of a Go2: Pace (13) minus (12)."""
    model = RigidBodyModel.from_urdf(
        example_urdf("go2_description/urdf/go2.urdf"), EstimatorConfig.from_file("config/go2.yaml")
    )
    rng, worst = np.random.default_rng(0), 0.0
    for _ in range(20):
        q = model.integrate(model.neutral(), rng.uniform(-1.0, 1.0, model.nv))
        problem = model.problem(RobotState(0, q, np.zeros(model.nv)))
        for i in range(4):
            for j in set(range(4)) - {i}:
                both = projector(problem, [i, j])
                worst = max(worst, float(np.abs(both @ projector(problem, [i]) - both).max()))
    return worst


def chain(problem: ContactProblem, order: list[int], closed: frozenset[int]) -> Array:
    """v⁺ where contacts hit one after the other, each a complementarity problem of all that touch by then."""
    velocity, touching = problem.velocity, set(closed)
    for i in order:
        touching.add(i)
        for _ in range(20):
            rate = problem.normal_jacobian @ velocity
            if not any(rate[k] < -1e-12 for k in touching):
                break
            velocity = impulse_velocity_mode(problem.with_velocity(velocity), touching).velocity
    return velocity


def spread(problem: ContactProblem, closed: frozenset[int] = frozenset()) -> float:
    """Kinetic distance between the two orders of contacts 0 and 1 over the jump of their simultaneous impact."""
    first, second = chain(problem, [0, 1], closed), chain(problem, [1, 0], closed)
    together = impulse_velocity_mode(problem, closed | {0, 1}).velocity

    def size(v: Array) -> float:
        return float(np.sqrt(max(v @ problem.mass @ v, 0.0)))

    jump = size(together - problem.velocity)
    return size(first - second) / jump if jump > 0.0 else 0.0


def two_contacts(cosine: float) -> float:
    """The spread for two frictionless contacts whose normals have this cosine, both approached at 1 m/s."""
    rows = np.array([[1.0, 0.0], [cosine, np.sqrt(1.0 - cosine**2)]])
    velocity = np.linalg.solve(rows, [-1.0, -1.0])
    return spread(ContactProblem(np.eye(2), velocity, rows, np.zeros((2, 1, 2)), np.zeros(2)))


def third_contact(cases: int = 600) -> tuple[int, int]:
    """How often the order matters although the pair's cosine is below −0.05, with a third contact closed."""
    rng, seen, matters = np.random.default_rng(1), 0, 0
    while seen < cases:
        rows = rng.normal(size=(3, 4))
        rows /= np.linalg.norm(rows, axis=1)[:, None]
        if rows[0] @ rows[1] > -0.05:
            continue
        velocity = np.linalg.lstsq(rows, [-1.0, -1.0, 0.0], rcond=None)[0]
        problem = ContactProblem(np.eye(4), velocity, rows, np.zeros((3, 1, 4)), np.zeros(3))
        seen += 1
        matters += spread(problem, frozenset({2})) > 1e-6
    return matters, seen


def bounced_again() -> tuple[float, float]:
    """(19) with restitution: J_i v⁺ of the contact that has bounced, by the cumulative Δ and with it left alone."""
    rows = np.array([[1.0, 0.0], [0.2, np.sqrt(0.96)]])
    velocity, e = np.linalg.solve(rows, [-1.0, -1.0]), 0.5

    def reset(contacts: list[int], v: Array) -> Array:
        chosen = rows[contacts]
        return v - (1.0 + e) * chosen.T @ np.linalg.solve(chosen @ chosen.T, chosen @ v)

    first = reset([0], velocity)
    return float(rows[0] @ reset([0, 1], first)), float(rows[0] @ reset([1], first))


def selections(damping: float) -> tuple[float, float, int]:
    """Two simultaneous activations with orthogonal constraints q₀ ≥ 0, q₁ ≥ 0 of four coordinates, M = 1.

    A damper that is cubic in v₀ + v₁ − v₂ couples body and limbs. Returns the difference of the two selections
    Ξ_ij Ξ_i, its distance from the formula of docs/sensitivity.md, and its rank.
    """

    def field(closed: set[int], v: Array) -> Array:
        gap = v[0] + v[1] - v[2]
        force = np.array([-1.0, -2.0, 0.5, 0.3]) - damping * gap**3 * np.array([1.0, 1.0, -1.0, 0.0])
        force -= 0.7 * np.array([v[0] ** 3, v[1], v[2], 0.0])  # forces of one coordinate each
        force[list(closed)] = 0.0
        return np.concatenate((v, force))

    start = np.array([-1.0, -1.5, 0.4, 0.2])

    def stopped(closed: set[int]) -> Array:
        v = start.copy()
        v[list(closed)] = 0.0
        return v

    def fields(closed: set[int]) -> Array:
        return field(closed, stopped(closed))

    def step(before: set[int], contact: int) -> Array:
        reset, guard = np.eye(8), np.zeros(8)
        reset[4 + contact, 4 + contact], guard[contact] = 0.0, 1.0
        return saltation(reset, guard, fields(before), fields(before | {contact})).required()

    difference = step({0}, 1) @ step(set(), 0) - step({1}, 0) @ step(set(), 1)
    both = np.diag([1.0, 1, 1, 1, 0, 0, 1, 1])
    jump = fields({0, 1}) - both @ (fields({0}) + fields({1}) - fields(set()))
    covector = np.zeros(8)
    covector[0], covector[1] = 1.0 / start[0], -1.0 / start[1]
    formula = np.outer(jump, covector)
    off = min(float(np.abs(difference - sign * formula).max()) for sign in (1.0, -1.0))
    return float(np.abs(difference).max()), off, int(np.linalg.matrix_rank(difference, tol=1e-10))


def mixed_case(coupling: float, step: float) -> float:
    """Pace, Fig. 2: contact 1 is released at t = 1 as contact 2 touches down. How far the derivatives of x(1.5) to both
    sides are apart, as differences of ``simulate`` with this step, along the four coordinates that decide the order.

    The force on contact 1 is 2 (1 − c), which falls to zero, less ``coupling`` times the change of v₂ in the impact.
    """

    def force(time: float, q: Array, v: Array, mode: frozenset[int]) -> list[float]:
        return [-2.0 * (1.0 - q[2]) + coupling * (v[1] + 2.0), -1.0 - 0.4 * v[0], 0.3 * v[0] - 0.2 * v[1]]

    a, b, c = sympy.symbols("a b c")
    contacts = [Constraint("1", a), Constraint("2", b)]
    system = LagrangianSystem("mixed", [a, b, c], sympy.eye(3), sympy.Integer(0), contacts, force)

    def outcome(change: Array) -> Array:
        q, v = np.array([0.0, 1.5, -2.0 / 15.0]) + change[:3], np.array([0.0, -1.0, 1.0]) + change[3:]
        end = simulate(system, q, v, 1.5, mode=[0], rtol=1e-12, atol=1e-14)
        return np.concatenate((end.q[-1], end.v[-1]))

    here, worst = outcome(np.zeros(6)), 0.0
    for i in (1, 2, 4, 5):
        moved = step * np.eye(6)[i]
        worst = max(worst, float(np.abs(outcome(moved) + outcome(-moved) - 2.0 * here).max()) / step)
    return worst


class VaryingBounce:
    """A point of 1 kg over level ground, whose restitution falls with the speed of approach: e = 0.8/(1 + 0.2 |v|).

    With ``smooth_coefficients`` False its derivatives are those of Pace (20), which takes γ for a constant.
    """

    contact_names = ("ground",)

    def __init__(self, smooth_coefficients: bool) -> None:
        self.smooth_coefficients = smooth_coefficients

    def problem(self, q: Array, v: Array) -> ContactProblem:
        """The contact problem at (q, v)."""
        e = [0.8 / (1.0 + 0.2 * abs(v[0]))]
        return ContactProblem([[1.0]], v, [[1.0]], np.zeros((1, 1, 1)), [0.0], e, q, [9.81])


def varying_restitution(step: float) -> tuple[float, float, float]:
    """Errors of ∂x(0.7)/∂x(0) after four bounces, with the term ∂Δ/∂q̇ and without it, and its size.

    Against central differences of ``simulate`` with this step.
    """
    system, options = VaryingBounce(True), {"rtol": 1e-11, "atol": 1e-13}
    start = np.array([0.2, -1.0])

    def outcome(change: Array) -> Array:
        end = simulate(system, start[:1] + change[:1], start[1:] + change[1:], 0.7, **options)
        return np.concatenate((end.q[-1], end.v[-1]))

    found = np.array([(outcome(h) - outcome(-h)) / (2.0 * step) for h in step * np.eye(2)]).T
    exact, published = (
        variational_flow(simulate(VaryingBounce(term), start[:1], start[1:], 0.7, **options)).matrix
        for term in (True, False)
    )
    return float(np.abs(found - exact).max()), float(np.abs(found - published).max()), float(np.abs(exact).max())


def damped_feet(damping: float = 0.17) -> LagrangianSystem:
    """Two feet of 0.1 kg on springs of 100 N/m, 0.5 m long, under a body of 1 kg, with a damper of ``damping``
    (N s³/m³) that is cubic in ż − mean(ż_foot): Pace, Fig. 1 right, upright."""
    left, right, z = sympy.symbols("left right z")

    def force(time: float, q: Array, v: Array, mode: frozenset[int]) -> list[float]:
        pull = damping * float(v[2] - 0.5 * (v[0] + v[1])) ** 3
        return [0.5 * pull, 0.5 * pull, -pull]

    potential = 9.81 * (0.1 * (left + right) + z) + 50.0 * ((z - left - 0.5) ** 2 + (z - right - 0.5) ** 2)
    feet = [Constraint("left", left), Constraint("right", right)]
    return LagrangianSystem("damped feet", [left, right, z], sympy.diag(0.1, 0.1, 1.0), potential, feet, force)


def both_selections(alphas: tuple[float, ...]) -> tuple[float, list[float], list[float]]:
    """Both feet of :func:`damped_feet` land at 1 m/s, with z = 0.5 m. How far the two selections are apart, relative to
    the first (spectral norm), and the errors of the active one and of the other for steps of length α, likewise.

    Steps are along the direction in which the selections differ most; outcomes are those 10 ms after the touchdown.
    """
    system, q, v, options = damped_feet(), np.array([0.0, 0.0, 0.5]), -np.ones(3), {"rtol": 1e-12, "atol": 1e-14}
    landing = bouligand_derivative(system, q, v)
    one, other = landing.selections()
    size = float(np.linalg.norm(one.matrix[:, 1:], 2))
    gap = one.matrix[:, 1:] - other.matrix[:, 1:]
    along = np.linalg.svd(gap)[2][0]
    active, passive = (one, other) if one.holds([0.0, *along]) else (other, one)
    later = variational_flow(simulate(system, q, [0.0, 0.0, -1.0], 0.01, mode=[0, 1], **options)).matrix
    early = 0.005  # s before the touchdowns: the state there by the motion back in time

    def outcome(change: Array) -> Array:
        there = backwards(change)
        end = simulate(system, there[:3], there[3:], early + 0.01, **options)
        return np.concatenate((end.q[-1], end.v[-1]))

    def backwards(change: Array) -> Array:
        state = np.concatenate((q, v)) + change

        def rate(_time: float, x: Array) -> Array:
            problem = system.problem(x[:3], x[3:])
            return np.concatenate((x[3:], np.linalg.solve(problem.mass, -problem.bias_force)))

        return np.asarray(solve_ivp(rate, (0.0, -early), state, rtol=1e-12, atol=1e-14).y[:, -1])

    here = outcome(np.zeros(6))
    errors: tuple[list[float], list[float]] = ([], [])
    for alpha in alphas:
        moved = (outcome(alpha * along) - here) / alpha
        for found, selection in zip(errors, (active, passive), strict=True):
            miss = moved - later @ selection.matrix[:, 1:] @ along
            found.append(float(np.linalg.norm(miss)) / size)
    return float(np.linalg.norm(gap, 2)) / size, *errors


def simultaneous_liftoff(step: float) -> float:
    """Pace, Fig. 3: how far derivatives to both sides are apart where both legs of the soft trotter lift off at once.

    From the nadir at t = 0.4 to 10 ms after the liftoffs, by differences of ``simulate`` along z, θ and their rates,
    the largest of four, relative to the size of the derivative.
    """
    system, options = soft_trotter(), {"rtol": 1e-12, "atol": 1e-14}
    q, v = simulate(system, *soft_trotter_apex(), 0.4, **options).at(0.4)

    def outcome(change: Array) -> Array:
        end = simulate(system, q + change[:4], v + change[4:], 0.31, mode=[0, 1], **options)
        return np.concatenate((end.q[-1], end.v[-1]))

    here, apart, size = outcome(np.zeros(8)), 0.0, 0.0
    for i in (0, 1, 4, 5):
        ahead, back = (outcome(sign * step * np.eye(8)[i]) for sign in (1.0, -1.0))
        apart = max(apart, float(np.abs(ahead + back - 2.0 * here).max()) / step)
        size = max(size, float(np.abs(ahead - back).max()) / (2.0 * step))
    return apart / size


def main() -> None:
    """Print the numbers."""
    print(f"P (13) − (12) on a Go2, plastic: at most {nested_projections():.1e}")
    print("two plastic frictionless contacts, spread of the orders over the jump:")
    for cosine in (-0.9, -0.5, -0.1, 0.1, 0.5, 0.9):
        print(f"  cosine {cosine:4.1f}: {two_contacts(cosine):.3f}")
    matters, seen = third_contact()
    print(f"with a third contact closed and a cosine below −0.05 the order matters in {matters} of {seen} cases")
    again, alone = bounced_again()
    print(f"(19) with e = 0.5: the contact that has bounced leaves at {again:.3f} m/s, left alone {alone:.3f} m/s")
    for damping in (0.0, 0.8):
        size, off, rank = selections(damping)
        print(f"selections, coupling damper {damping}: differ by {size:.3f}, formula off by {off:.0e}, rank {rank}")
    for coupling in (0.0, 1.0, -0.3):
        apart = " and ".join(f"{mixed_case(coupling, step):.1e}" for step in (1e-3, 1e-4))
        print(f"Fig. 2, coupling {coupling}: derivatives to both sides differ by {apart} for steps of 1e-3 and 1e-4")
    with_term, without, size = varying_restitution(1e-3)
    print(f"(20), e = 0.8/(1 + 0.2 |v|): off by {with_term:.0e} with ∂Δ/∂q̇, by {without:.2f} without, of {size:.1f}")
    alphas = (1e-3, 1e-4, 1e-5)
    apart_, active, passive = both_selections(alphas)
    listed = [", ".join(f"{error:.1e}" for error in errors) for errors in (active, passive)]
    print(f"damper on ż − mean(ż_foot): selections differ by {apart_:.1%}; errors {listed[0]} and {listed[1]}")
    apart = " and ".join(f"{simultaneous_liftoff(step):.1e}" for step in (1e-3, 1e-4))
    print(f"Fig. 3, liftoffs at once: derivatives to both sides differ by {apart} of their size")


if __name__ == "__main__":
    main()
