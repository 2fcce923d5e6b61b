"""One contact with restitution is Routh's process with Coulomb's friction, exactly, whatever the step."""

from __future__ import annotations

import numpy as np
import pytest

from benchmarks.impact_problems import box
from hybrid_contact_ros.impacts.velocity_set import impulse_scale, post_impact_set
from hybrid_contact_ros.mechanics.problem import ContactProblem

LAWS = ("stronge", "poisson")
GIVEN_UP = 2e-3  # of the speed: Stronge's last 1e-3 of a store's energy, which is e² of half the square of a speed


def routh(G: np.ndarray, u: np.ndarray, mu: float, e: float, law: str) -> np.ndarray:
    """u⁺ of a planar contact from event to event: slip stops, compression ends, restitution ends."""
    normal, slip = u
    pushed = work = compressed = stored = 0.0
    compressing = True
    while True:
        if slip == 0.0:
            ratio = -G[0, 1] / G[1, 1]
            ratio = ratio if abs(ratio) <= mu else np.copysign(mu, ratio)
        else:
            ratio = -mu * np.sign(slip)
        rate, slide = G @ [1.0, ratio]
        stops = -slip / slide if slide * slip < 0.0 else np.inf
        if compressing:
            ends = -normal / rate if rate > 0.0 else np.inf
        elif law == "poisson":
            ends = (1.0 + e) * compressed - pushed
        else:
            ends = 2.0 * stored / (normal + np.sqrt(normal**2 + 2.0 * rate * stored))
        push = min(stops, ends)
        work += normal * push + 0.5 * rate * push**2
        stored -= 0.0 if compressing else normal * push + 0.5 * rate * push**2
        normal, slip, pushed = normal + rate * push, slip + slide * push, pushed + push
        if stops <= ends:
            slip = 0.0
        elif compressing:
            compressing, normal, compressed, stored = False, 0.0, pushed, -e * e * work
        else:
            return np.array([normal, slip])


def body(rng: np.random.Generator, space: bool) -> ContactProblem:
    """A body that strikes with one point: random arm, inertia, velocity, friction and restitution."""
    if space:
        arm, frame = rng.uniform(-1, 1, 3), np.eye(3)
        rows = np.array([np.concatenate((axis, np.cross(arm, axis))) for axis in frame[[2, 0, 1]]])
        mass = np.diag([1, 1, 1, *10 ** rng.uniform(-1, 0.5, 3)])
    else:
        x, y = rng.uniform(-1, 1, 2)
        rows, mass = np.array([[0, 1, x], [1, 0, -y]]), np.diag([1, 1, 10 ** rng.uniform(-1, 0.5)])
    velocity = rng.normal(size=len(mass))
    if rows[0] @ velocity > 0:
        velocity = -velocity
    return ContactProblem(mass, velocity, rows[:1], rows[None, 1:], [rng.uniform(0, 1)], [rng.uniform(0, 1)])


@pytest.mark.parametrize("law", LAWS)
@pytest.mark.parametrize("step", [0.1, 1.0, 10.0])
def test_a_planar_contact_is_the_textbooks_for_any_step_where_slip_stops_and_reverses_too(law, step):
    rng, stopped = np.random.default_rng(5), 0
    for _ in range(40):
        problem = body(rng, space=False)
        J = problem.jacobian()
        u = J @ problem.velocity
        G = J @ np.linalg.solve(problem.mass, J.T)
        expected = routh(G, u, float(problem.friction[0]), float(problem.restitution[0]), law)
        stopped += expected[1] * u[1] <= 0
        found = post_impact_set(problem, step * impulse_scale(problem), 6, 3000, law=law, solutions="one")
        worst = np.abs(found.velocities @ J.T - expected).max() / np.abs(u).max()
        assert worst < (GIVEN_UP if law == "stronge" else 1e-4)
    assert stopped > 10


@pytest.mark.parametrize("law", LAWS)
@pytest.mark.parametrize("directions", [4, 8])
def test_a_contact_in_space_does_not_depend_on_the_step(law, directions):
    rng = np.random.default_rng(7)
    for _ in range(12):
        problem = body(rng, space=True)
        J, scale = problem.jacobian(), impulse_scale(problem)
        fine = post_impact_set(problem, 0.01 * scale, 1, 20000, law=law, solutions="one", directions=directions)
        found = post_impact_set(problem, scale, 6, 3000, law=law, solutions="one", directions=directions)
        worst = np.abs((found.velocities - fine.velocities[0]) @ J.T).max()
        assert worst < GIVEN_UP * np.abs(J @ problem.velocity).max()


@pytest.mark.parametrize("law", LAWS)
def test_slips_that_stop_do_not_keep_a_rigid_body_on_four_corners_from_ending(law):
    problem = box(np.random.default_rng(1), 4).with_velocity([0.1, 0.05, -1.0, 0.2, -0.3, 0.1])
    found = post_impact_set(problem, impulse_scale(problem), 64, 100, law=law, restitution=(0.2, 0.4), friction=0.4)
    assert found.terminated.all() and found.steps.mean() < 20
