"""The pseudo-impulse flag, Johnson (55)–(58), against the mode that Johnson's predicate chooses."""

import numpy as np
import pytest
from hypothesis import given

from helpers.mode_problems import seeds
from hybrid_contact_ros.codes import Flag
from hybrid_contact_ros.mechanics.problem import ContactProblem
from hybrid_contact_ros.modes.impulse_velocity import impulse_velocity_mode
from hybrid_contact_ros.modes.pseudo_impulse import pseudo_impulse_mode
from hybrid_contact_ros.stability.constraint import constraint_stability

pytestmark = pytest.mark.usefixtures("rounding")

G = 9.81


def dumbbell(height, rate):
    """Nearly level, 1 kg, 1 m, I = 1 kg m²: the left end stands, the right one comes down at ``rate`` (m/s)."""
    return ContactProblem(
        np.eye(3),
        [0.0, -0.5 * rate, -rate],
        [[0.0, 1.0, -0.5], [0.0, 1.0, 0.5]],
        [[[1.0, 0.0, 0.0]], [[1.0, 0.0, 0.0]]],
        [0.5, 0.5],
        None,
        [0.0, height],
        [0.0, G, 0.0],
    )


@pytest.mark.parametrize("rate", [0.02, 0.05, 0.1, 0.3, 1.0])
def test_an_end_that_the_impact_throws_off_holds_where_the_pseudo_impulse_pushes(rate):
    """Slow impacts: the bounce of the standing end would end within δt. The verdict is that of Johnson's PIV mode."""
    duration = 0.03
    result = constraint_stability(dumbbell(1e-9, rate), [0], duration=duration)
    at_impact = dumbbell(0.0, rate)
    assert impulse_velocity_mode(at_impact, [0, 1]).mode == {1}  # thrown off by the impact alone
    mode = pseudo_impulse_mode(at_impact, [0, 1], duration).mode
    assert (result.pseudo_impulse[0] == Flag.HOLDS) == (0 in mode)
    assert (result.pseudo_impulse[0] == Flag.FAILS) == (0 not in mode)
    assert result.pseudo_impulse[1] == Flag.HOLDS
    H = at_impact.normal_jacobian @ at_impact.normal_jacobian.T
    impulse = np.linalg.solve(H, -at_impact.normal_jacobian @ at_impact.velocity)
    np.testing.assert_allclose(result.pseudo_impulse_margin, impulse + duration * G / 2, rtol=1e-5)


def test_verdict_changes_with_the_speed_of_the_impact():
    verdicts = {constraint_stability(dumbbell(1e-9, rate), [0]).pseudo_impulse[0] for rate in (0.02, 1.0)}
    assert verdicts == {Flag.HOLDS, Flag.FAILS}


def test_without_an_impact_to_come_the_steady_force_decides():
    standing = dumbbell(0.0, 0.0)
    result = constraint_stability(standing, [0, 1], duration=0.1)
    np.testing.assert_allclose(result.pseudo_impulse_margin, 0.1 * G / 2, rtol=1e-6)
    assert (result.pseudo_impulse == Flag.HOLDS).all()


def test_an_open_contact_without_touchdown_within_the_horizon_is_undecided():
    high = dumbbell(5.0, 0.0)
    result = constraint_stability(high, [0], horizon=0.1)
    assert result.pseudo_impulse[1] == Flag.UNDECIDED and np.isnan(result.pseudo_impulse_margin[1])
    assert result.pseudo_impulse[0] == Flag.HOLDS


@given(seeds)
def test_a_single_contact_that_lands_holds(seed):
    rng = np.random.default_rng(seed)
    root = rng.normal(size=(4, 4))
    problem = ContactProblem(
        root @ root.T + 0.1 * np.eye(4),
        rng.normal(size=4),
        rng.normal(size=(1, 4)),
        rng.normal(size=(1, 2, 4)),
        [0.0],
        None,
        [0.01],
        10 * rng.normal(size=4),
    )
    result = constraint_stability(problem, [], duration=0.0)
    if result.touchdown_speed[0] > 0.3 and problem.normal_jacobian[0] @ problem.velocity < -0.5:  # within the horizon
        assert result.pseudo_impulse[0] == Flag.HOLDS
        inertia = problem.normal_jacobian[0] @ np.linalg.solve(problem.mass, problem.normal_jacobian[0])
        np.testing.assert_allclose(result.pseudo_impulse_margin[0], result.touchdown_speed[0] / inertia, rtol=1e-6)
