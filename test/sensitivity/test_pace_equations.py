"""Equations of Pace and Burden as printed, beside what is true: what docs/papers.md says of their misprints."""

import math

import numpy as np
import pytest
import sympy
from hypothesis import given
from hypothesis import strategies as st

from helpers.landing_feet import CASES, EXACT, feet
from hybrid_contact_ros import (
    Constraint,
    ContactProblem,
    LagrangianSystem,
    bouligand_derivative,
    plastic_impact,
    simulate,
)
from hybrid_contact_ros.orbits.flow import variational_flow
from hybrid_contact_ros.sensitivity.gradients import differences
from hybrid_contact_ros.sensitivity.saltation import Validity
from hybrid_contact_ros.systems.trotters import soft_trotter, soft_trotter_apex


def random_problem(seed, nv=4, contacts=2, orthogonal=False):
    rng = np.random.default_rng(seed)
    root = rng.normal(size=(nv, nv))
    mass = root @ root.T + np.eye(nv)
    rows = rng.normal(size=(contacts, nv))
    if orthogonal:  # in M⁻¹
        half = np.linalg.cholesky(mass)
        rows = np.linalg.qr(np.linalg.solve(half, rows.T))[0].T @ half.T
    velocity = -np.linalg.lstsq(rows, rng.uniform(0.5, 2.0, contacts), rcond=None)[0]
    return ContactProblem(mass, velocity, rows, np.zeros((contacts, 1, nv)), np.zeros(contacts))


def reset(problem, chosen, gamma=0.0):
    """Δ_J of (2), with Λ_J of (3), which is |J| × |J|."""
    rows = problem.normal_jacobian[sorted(chosen)]
    lift = np.linalg.solve(problem.mass, rows.T)
    spread = np.linalg.inv(rows @ lift)
    assert spread.shape == (len(chosen), len(chosen))
    return np.eye(problem.nv) - (1.0 + gamma) * lift @ spread @ rows


@given(st.integers(0, 2**32 - 1))
def test_pace_eq_2_and_3_are_the_plastic_impact_and_no_contact_resets_nothing(seed):
    problem = random_problem(seed)
    scale = np.abs(np.linalg.inv(problem.mass)).sum() * np.abs(problem.mass).sum()
    for chosen in ([0], [1], [0, 1]):
        found = plastic_impact(problem, chosen).velocity
        np.testing.assert_allclose(found, reset(problem, chosen) @ problem.velocity, rtol=1e-9, atol=1e-12 * scale)
    found = plastic_impact(problem, []).velocity  # Remark 1: Δ_∅
    np.testing.assert_allclose(found, problem.velocity, rtol=1e-9, atol=1e-12 * scale)


def test_the_reset_is_an_orthogonal_projection_for_plastic_impacts_only():
    # "Recalling that Δ_J is an orthogonal projection" (after (13)) needs γ = 0
    problem = random_problem(3)
    for gamma, projects in ((0.0, True), (0.5, False)):
        delta = reset(problem, [0], gamma)
        assert np.allclose(delta @ delta, delta, atol=1e-10) == projects
        np.testing.assert_allclose(problem.mass @ delta, (problem.mass @ delta).T, atol=1e-10)


@given(st.integers(0, 2**32 - 1), st.floats(0.1, 1.0))
def test_pace_eq_13_with_restitution_depends_on_the_order_unless_constraints_are_orthogonal(seed, gamma):
    """What the sentence after (13) says is so with restitution, where only the contact that arrives is reset."""
    straight, oblique = random_problem(seed, orthogonal=True), random_problem(seed)
    for problem, equal in ((straight, True), (oblique, False)):
        one = reset(problem, [1], gamma) @ reset(problem, [0], gamma)
        other = reset(problem, [0], gamma) @ reset(problem, [1], gamma)
        rows = problem.normal_jacobian
        grams = rows @ np.linalg.solve(problem.mass, rows.T)
        cosine = abs(grams[0, 1]) / math.sqrt(grams[0, 0] * grams[1, 1])
        if equal:
            np.testing.assert_allclose(one, other, atol=1e-8 * np.abs(one).max())
        elif cosine > 1e-3:
            assert np.abs(one - other).max() > 1e-6 * gamma**2 * cosine


def test_pace_footnote_4_lacks_the_velocity():
    x, y = sympy.symbols("x y")
    mass = sympy.Matrix([[2 + sympy.cos(y), x * y / 4], [x * y / 4, 3 + x**2]])
    system = LagrangianSystem("curved", [x, y], mass, sympy.Integer(0), [Constraint("c", y)])
    q, v = [0.4, -0.7], np.array([1.3, 0.8])
    here = dict(zip((x, y), q, strict=True))

    def coriolis(weights):
        """c(q, q̇) as footnote 4 has it, the sum over k with these weights."""
        found = np.zeros((2, 2))
        for i in range(2):
            for m in range(2):
                for k, s in enumerate((x, y)):
                    terms = sympy.diff(mass[i, m], s) + sympy.diff(mass[i, k], (x, y)[m])
                    terms -= sympy.diff(mass[k, m], (x, y)[i])
                    found[i, m] -= 0.5 * weights[k] * float(terms.subs(here))
        return found

    truth = -system.problem(q, v).bias_force  # M q̈ = c q̇, without other forces
    np.testing.assert_allclose(coriolis(v) @ v, truth, rtol=1e-12)
    assert np.abs(coriolis(np.ones(2)) @ v - truth).max() > 0.1 * np.abs(truth).max()  # as printed


def test_pace_remark_4_away_from_activations_a_contact_leaves_without_velocity_or_acceleration():
    run = simulate(soft_trotter(), *soft_trotter_apex(tilt=1e-3), 0.8, **EXACT)
    leaving = [event for event in run.events if event.kind.value == "liftoff"]
    assert len(leaving) == 2
    for event in leaving:
        (contact,) = event.contacts
        force = []
        for time in (event.time - 1e-4, event.time + 1e-4):
            problem = run.system.problem(*run.at(time), time, frozenset())
            free = np.linalg.solve(problem.mass, -problem.bias_force)
            force.append(-float(problem.normal_jacobian[contact] @ free) * problem.mass[contact + 2, contact + 2])
        problem = run.system.problem(event.q, event.velocity_after, event.time, frozenset())
        free = np.linalg.solve(problem.mass, -problem.bias_force)
        assert abs(problem.normal_jacobian[contact] @ event.velocity_after) < 1e-8
        assert abs(problem.normal_jacobian[contact] @ free) < 1e-5 * 9.81
        assert force[0] > 0.0 > force[1]  # (8) (ii): the force falls through zero


@pytest.mark.parametrize("name", ["two feet", "three feet", "curved"])
def test_pace_eq_17_to_21_multiplied_out_are_the_selections(name):
    """(18) and (20) as matrices of (1 + 2d)², with the cumulative Δ of (19), in every order: plastic, orthogonal."""
    system, q, v, closed = CASES[name]
    q, v, n = np.array(q, float), np.array(v, float), len(v)
    landing = bouligand_derivative(system, q, v, closed=closed)

    def velocity(at, chosen):
        problem = system.problem(at, v)
        return reset(problem, chosen) @ v if chosen else v

    def field(chosen):
        problem = system.problem(q, velocity(q, chosen))
        rows, drift = problem.normal_jacobian[sorted(chosen)], problem.jacobian_drift[sorted(chosen), 0]
        k = len(chosen)
        matrix = np.block([[problem.mass, -rows.T], [rows, np.zeros((k, k))]])
        return np.concatenate(
            (problem.velocity, np.linalg.solve(matrix, np.concatenate((-problem.bias_force, -drift)))[:n])
        )

    for selection in landing.selections():
        (order,), product, chosen = selection.orders, np.eye(1 + 2 * n), []
        for contact in order:
            f = field(chosen)
            g = np.concatenate((system.problem(q, v).normal_jacobian[contact], np.zeros(n)))
            flow = np.eye(1 + 2 * n)
            flow[0, 1:], flow[1:, 1:] = g / (g @ f), np.eye(2 * n) - np.outer(f, g) / (g @ f)  # (18)
            before = velocity(q, chosen)
            chosen = [*chosen, contact]
            jump = np.eye(1 + 2 * n)
            jump[1 + n :, 1 + n :] = reset(system.problem(q, v), chosen)  # (20)
            now = tuple(chosen)
            turned = lambda moved, now=now, b=before: reset(system.problem(q + moved, v), now) @ b  # noqa: E731
            jump[1 + n :, 1 : 1 + n] = differences(turned, n)
            product = jump @ flow @ product
        last = np.hstack((field(chosen)[:, None], np.eye(2 * n)))  # Dφ_m
        np.testing.assert_allclose(last @ product, selection.matrix, atol=1e-8)


def test_pace_eq_24_as_printed_does_not_tend_to_zero():
    """The derivative stands inside of the bracket that is divided by α; it belongs outside, or needs a factor α."""
    system, q, v = feet(), np.array([0.0, 0.0, 0.38]), np.array([-1.0, -1.3, -0.9])
    landing = bouligand_derivative(system, q, v)
    side = landing.corners[0].after
    run = simulate(system, q, side.velocity, 0.02, mode=sorted(side.mode), **EXACT)
    flow = landing.then(variational_flow(run).matrix)
    end = np.concatenate((run.q[-1], run.v[-1]))
    direction = np.array([0.2, 0.5, 0.9, -0.3, 0.4, -0.2, 0.1])  # feet above the ground
    slope = flow.apply(direction)
    printed, meant = [], []
    for alpha in (1e-2, 1e-3, 1e-4):
        x = alpha * direction
        there = simulate(system, q + x[1:4], v + x[4:], 0.02 + x[0], gap_tolerance=1e-12, **EXACT)
        change = np.concatenate((there.q[-1], there.v[-1])) - end
        printed.append(np.abs((change - slope) / alpha).max())
        meant.append(np.abs(change / alpha - slope).max())
    assert meant[2] < 0.05 * meant[0]
    assert printed[2] > 50 * printed[0]


def test_pace_figure_2_the_cumulative_reset_of_a_released_contact_needs_orthogonality():
    """μ of the proof is {1, 2} at the end of Fig. 2, whose mode is {2}: the same outcome for orthogonal constraints."""
    for orthogonal in (True, False):
        problem = random_problem(5, orthogonal=orthogonal)
        first = reset(problem, [0]) @ problem.velocity  # contact 0 rests
        both, alone = reset(problem, [0, 1]) @ first, reset(problem, [1]) @ first
        assert np.allclose(both, alone, atol=1e-9) == orthogonal


def test_pace_remark_13_beside_a_ball_at_rest_all_executions_are_zeno():
    y = sympy.Symbol("y")
    ball = LagrangianSystem("ball", [y], sympy.eye(1), 9.81 * y, [Constraint("floor", y, restitution=0.5)])
    rest = variational_flow(simulate(ball, [0.0], [0.0], 1.0))
    assert rest.inadmissible is None and rest.end == 1.0
    for q, v in (([1e-3], [0.0]), ([0.0], [1e-2])):
        beside = variational_flow(simulate(ball, q, v, 1.0)).inadmissible
        assert beside is not None and beside.validity is Validity.ZENO


def test_pace_section_6_1_1_a_bouncing_ball_has_the_same_outcome_after_its_chatter():
    y = sympy.Symbol("y")
    ball = LagrangianSystem("ball", [y], sympy.eye(1), 9.81 * y, [Constraint("floor", y, restitution=0.5)])
    for height in (0.1, 0.11):
        run = simulate(ball, [height], [0.0], 2.0)
        assert run.zeno_times and run.word[-1] == "{floor}"
        np.testing.assert_allclose(np.concatenate((run.q[-1], run.v[-1])), 0.0, atol=1e-8)
