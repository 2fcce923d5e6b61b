"""The impact of one contact along its normal impulse, against exact paths, fine steps and the sets' samples."""

from __future__ import annotations

import numpy as np
import pytest

from hybrid_contact_ros.impacts.routh import routh_path
from hybrid_contact_ros.impacts.single_contact import fit_friction, fit_restitution
from hybrid_contact_ros.impacts.velocity_set import impulse_scale, post_impact_set
from hybrid_contact_ros.kernels.impacts.impact_path import impact_path
from hybrid_contact_ros.mechanics.problem import ContactProblem

MASS, INERTIA = 0.37, 0.00081


def rod(rng: np.random.Generator, friction: float) -> ContactProblem:
    """A body in the plane that touches with one point."""
    x, y = rng.uniform(-0.06, 0.06), rng.uniform(-0.08, -0.03)
    v = np.r_[rng.uniform(-0.6, 0.6), -rng.uniform(0.5, 1.5), rng.normal() * 3.0]
    return ContactProblem(
        np.diag([MASS, MASS, INERTIA]), v, [[0.0, 1.0, x]], [[[1.0, 0.0, -y]]], friction=[friction]
    )  # fmt: skip


def corner(rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """G and u⁻ of a cube's corner in space."""
    arm = rng.normal(size=3)
    arm[2] = -abs(arm[2]) - 0.3
    arm *= 0.09 / np.linalg.norm(arm)
    frame = np.array([[0.0, 0, 1], [1, 0, 0], [0, 1, 0]])
    J = np.hstack([frame, np.cross(arm, frame)])
    return J @ np.diag([1 / MASS] * 3 + [1 / INERTIA] * 3) @ J.T, np.r_[
        -rng.uniform(0.3, 2.0), rng.normal(size=2) * 0.5
    ]


def delassus(problem: ContactProblem) -> np.ndarray:
    J = problem.jacobian()
    return J @ np.linalg.solve(problem.mass, J.T)


def fine_steps(G: np.ndarray, u: np.ndarray, mu: float, e: float, law: str, count: int = 4000) -> np.ndarray:
    """Impulse (3,) of a whole impact in equal steps of the normal impulse, with the circular cone."""
    step = 2.0 * -u[0] / np.linalg.eigvalsh(G)[0] / count
    total, pressed, lost, won, u = np.zeros(3), 0.0, 0.0, 0.0, u.copy()
    for _ in range(20 * count):
        free = u[1:] + G[1:, 0] * step
        push = np.linalg.solve(G[1:, 1:], -free)
        if np.linalg.norm(push) > mu * step:  # slips: the direction at the end of the step, by Newton's scalar equation
            low, high = 0.0, np.linalg.norm(free) / (mu * step)
            for _ in range(40):
                k = 0.5 * (low + high)
                push = -np.linalg.solve(G[1:, 1:] + k * np.eye(2), free)
                low, high = (k, high) if np.linalg.norm(push) > mu * step else (low, k)
        z = np.r_[step, push]
        after = u + G @ z
        work = 0.5 * step * (u[0] + after[0])
        if u[0] < 0.0:
            part = min(-u[0] / (after[0] - u[0]), 1.0) if after[0] > u[0] else 1.0
            pressed, lost = pressed + part * step, lost + 0.5 * part * step * (u[0] + min(after[0], 0.0))
        else:
            left = (e * pressed - (total[0] - pressed)) / step if law == "poisson" else (-e * e * lost - won) / work
            if left <= 1.0:
                return total + max(left, 0.0) * z
            won += work
        total, u = total + z, after
    raise AssertionError("the impact does not end")


def test_in_the_plane_it_is_routh_s_path():
    """Slip that goes on, stops or reverses: the end of compression is where the exact inelastic path ends."""
    rng = np.random.default_rng(0)
    kinds = set()
    for _ in range(300):
        problem = rod(rng, rng.uniform(0.02, 1.0))
        if (problem.normal_jacobian @ problem.velocity)[0] > -0.1:
            continue
        path = routh_path(problem)
        push, u = path.impulses[-1][0], problem.jacobian() @ path.velocity
        G, mu = np.diag([0.0, 0.0, 1.0]), float(problem.friction[0])
        G[:2, :2] = delassus(problem)
        x, _, pressed, _, won, after, _, sticks = impact_path(
            G, np.r_[problem.jacobian() @ problem.velocity, 0], mu, push[0]
        )
        assert x == pytest.approx(push[1], abs=1e-6 * push[0])
        assert pressed == pytest.approx(push[0], rel=1e-6) and abs(after) < 1e-6 and abs(won) < 1e-9
        assert sticks == (abs(u[1]) < 1e-9)
        kinds.add((sticks, len(path.s) > 2))
    assert len(kinds) >= 3


@pytest.mark.parametrize("law", ["poisson", "stronge"])
def test_friction_and_restitution_of_known_impacts_in_space_are_found(law):
    rng = np.random.default_rng(1)
    stuck = 0
    for _ in range(20):
        (G, u), mu, e = corner(rng), rng.uniform(0.1, 0.6), rng.uniform(0.2, 0.9)
        impulse = fine_steps(G, u, mu, e, law)
        found = fit_friction(G, u, impulse)
        if found.sticks_from < mu:
            stuck += 1
            assert found.friction == pytest.approx(found.sticks_from, abs=0.01)
        else:
            assert found.near(mu, 0.01) == pytest.approx(mu, abs=2e-3)  # nearly plane reversals have two
        assert found.misfit < 2e-3
        assert fit_restitution(G, u, impulse, mu, law) == pytest.approx(e, abs=2e-3)
    assert 0 < stuck < 20


@pytest.mark.parametrize("law", ["poisson", "stronge"])
def test_what_a_set_was_given_is_found_from_its_outcome(law):
    """The numbers are those that post_impact_set takes (in the plane, where its friction cone is exact)."""
    rng = np.random.default_rng(2)
    for _ in range(15):
        mu, e = rng.uniform(0.05, 0.4), rng.uniform(0.2, 0.9)
        problem = rod(rng, mu)
        scale = impulse_scale(problem)
        if scale == 0.0 or (problem.normal_jacobian @ problem.velocity)[0] > -0.1:
            continue
        outcome = post_impact_set(problem, 0.01 * scale, 1, 4000, directions=2, law=law, restitution=e)
        one = delassus(problem), problem.jacobian() @ problem.velocity, outcome.impulses[0, 0]
        found = fit_friction(*one)
        assert found.near(mu, 0.01) == pytest.approx(min(mu, found.sticks_from), abs=0.01)
        assert fit_restitution(*one, mu, law) == pytest.approx(e, abs=0.01)


def test_where_slip_keeps_its_direction_the_textbook_ratios_are_found():
    found = fit_friction(np.eye(3), [-1.0, 3.0, 4.0], [1.4, -0.14 * 0.6, -0.14 * 0.8])
    assert found.friction == pytest.approx(0.1, abs=1e-7) and found.misfit < 1e-7
    assert found.sticks_from == pytest.approx(5.0 / 1.4, rel=1e-5)
    for law in ("poisson", "stronge"):
        assert fit_restitution(np.eye(3), [-1.0, 3.0, 4.0], [1.4, -0.084, -0.112], 0.1, law) == pytest.approx(0.4)


@pytest.mark.parametrize("law", ["poisson", "stronge"])
def test_an_impulse_that_did_not_stop_the_approach_has_negative_restitution(law):
    """So that noise about e = 0 has no direction."""
    short, long = (fit_restitution(np.eye(2), [-1.0, 0.0], [1.0 + x, 0.0], 0.1, law) for x in (-0.01, 0.01))
    assert short < 0.0 < long and short == pytest.approx(-long, rel=0.02)


def test_without_friction_in_the_path_nothing_turns_slip():
    x, y, pressed, *_ = impact_path(np.eye(3), np.array([-1.0, 0.5, 0.0]), 0.0, 1.5)
    assert (x, y, pressed) == (0.0, 0.0, pytest.approx(1.0))


def test_wrong_arguments_are_named():
    with pytest.raises(ValueError, match="one contact with 1 or 2 tangents"):
        fit_friction(np.eye(4), np.zeros(4), np.ones(4))
    with pytest.raises(ValueError, match="must be > 0"):
        fit_friction(np.eye(3), [-1.0, 0, 0], [0.0, 0, 0])
    with pytest.raises(ValueError, match=r"law is .newton.;"):
        fit_restitution(np.eye(3), [-1.0, 0, 0], [1.0, 0, 0], 0.1, "newton")
