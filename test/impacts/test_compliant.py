"""Compliant impacts (H 88–90): they dissipate, and as bodies get stiffer they end where rigid impacts may end."""

import numpy as np
import pytest

from hybrid_contact_ros.codes import Status
from hybrid_contact_ros.impacts.compliant import compliant_impact
from hybrid_contact_ros.impacts.routh import routh_path
from hybrid_contact_ros.impacts.velocity_set import post_impact_set
from hybrid_contact_ros.mechanics.problem import ContactProblem
from hybrid_contact_ros.systems.box_and_wall import box_and_wall_impact
from hybrid_contact_ros.systems.compass_gait import compass_gait_impact
from hybrid_contact_ros.systems.disk_stacking import disk_stacking_impact
from hybrid_contact_ros.systems.painleve_rod import painleve_rod, rod_state
from hybrid_contact_ros.systems.rocking_block import rocking_block_impact


def at_the_ends(rng, shape):
    return rng.beta(0.1, 0.1, shape)


def outside(problem, outcome, velocities):
    """Distance to the nearest of the velocities, over the jump; both in the norm of the mass."""
    factor = np.linalg.cholesky(problem.mass)
    jump = np.linalg.norm((outcome - problem.velocity) @ factor)
    return np.linalg.norm((velocities - outcome) @ factor, axis=1).min() / jump


@pytest.mark.parametrize("make", [rocking_block_impact, box_and_wall_impact, compass_gait_impact])
def test_stiff_and_damped_bodies_end_in_the_set_whatever_their_stiffness_ratio(make):
    example = make()
    problem = example.problem
    draws = (None, at_the_ends)
    found = [post_impact_set(problem, example.step, 2048, 400, seed=1, density=p).velocities for p in draws]
    rigid = np.vstack(found)
    rng = np.random.default_rng(0)
    for _ in range(4):
        ratio = 10.0 ** rng.uniform(0, 5, problem.contacts)
        outcome = compliant_impact(problem, 1e10 * ratio / ratio.min(), damping_ratio=50.0)
        assert outcome.status is Status.SOLVED
        assert outside(problem, outcome.velocity, rigid) < 0.01


def test_distance_to_the_set_shrinks_with_stiffness_and_damping():
    example = box_and_wall_impact()
    problem = example.problem
    found = post_impact_set(problem, example.step, 4096, 400, seed=1, density=at_the_ends).velocities
    away = [
        outside(problem, compliant_impact(problem, [k, 30 * k], damping_ratio=zeta).velocity, found)
        for k, zeta in ((1e6, 5.0), (1e10, 5.0), (1e10, 50.0))
    ]
    assert 0.02 < away[0] < 0.03 and away[1] < 0.6 * away[0] and away[2] < 0.003


def test_single_contact_is_rouths_method():
    for friction in (0.3, 2.0):
        problem = painleve_rod(friction).problem(*rod_state(0.7, -1.0, -1.0))
        hit = problem.with_velocity(problem.velocity - [0.0, 0.5, 0.0])
        outcome, rigid = compliant_impact(hit, 1e10, damping_ratio=50.0), routh_path(hit)
        np.testing.assert_allclose(outcome.velocity, rigid.velocity, atol=2e-3)
        np.testing.assert_allclose(outcome.impulse, rigid.impulses[-1], atol=2e-3)


@pytest.mark.parametrize("make", [rocking_block_impact, box_and_wall_impact, compass_gait_impact, disk_stacking_impact])
def test_energy_never_rises_and_momentum_balances(make):
    problem = make().problem
    stiffness = 1e6 * 10.0 ** np.arange(problem.contacts)
    outcome = compliant_impact(problem, stiffness)
    assert outcome.status is Status.SOLVED
    assert np.diff(outcome.energy).max() < 1e-7 * outcome.energy[0]
    change = problem.mass @ (outcome.velocity - problem.velocity) + outcome.t[-1] * problem.bias_force
    np.testing.assert_allclose(change, problem.jacobian().T @ outcome.impulse.reshape(-1), atol=1e-8)
    cone = problem.friction * outcome.impulse[:, 0]
    assert (outcome.impulse[:, 0] >= 0).all() and (np.abs(outcome.impulse[:, 1]) <= cone * (1 + 1e-9) + 1e-12).all()


def test_who_touches_first_is_resolved_first():
    example = rocking_block_impact().problem
    late = ContactProblem(
        example.mass,
        example.velocity,
        example.normal_jacobian,
        example.tangent_jacobian,
        example.friction,
        gap=[0.0, 1e-3],
    )
    outcome = compliant_impact(late, 1e8)
    rates = late.normal_jacobian @ outcome.velocity
    assert outcome.gaps[:, 1].min() < 0.0  # B has arrived
    assert rates[0] > 0.05 and abs(rates[1]) < 1e-6  # and has thrown A up


def test_friction_in_space_opposes_slipping():
    point = ContactProblem(
        np.eye(3), [3.0, 4.0, -1.0], [[0, 0, 1.0]], [[[1.0, 0, 0], [0, 1.0, 0]]], [0.5], bias_force=[0, 0, 0]
    )
    outcome = compliant_impact(point, 1e8)
    np.testing.assert_allclose(outcome.velocity, [2.7, 3.6, 0.0], atol=1e-6)
    np.testing.assert_allclose(outcome.impulse, [[1.0, -0.3, -0.4]], atol=1e-6)


def test_nothing_to_do_too_little_time_and_too_few_steps():
    problem = rocking_block_impact().problem
    rising = compliant_impact(problem.with_velocity([0.0, 1.0, 0.0]))
    assert rising.status is Status.SOLVED and rising.t.tolist() == [0.0]
    assert compliant_impact(problem, duration=1e-6).status is Status.STEP_LIMIT
    short = compliant_impact(problem, max_steps=5)
    assert short.status is Status.STEP_LIMIT and short.t.size == 6


@pytest.mark.parametrize(
    ("keywords", "what"),
    [
        ({"stiffness": [1.0, 2.0, 3.0]}, "stiffness"),
        ({"stiffness": -1.0}, "stiffness"),
        ({"mass": 0.0}, "mass"),
        ({"damping_ratio": 0.0}, "damping_ratio"),
        ({"slip_speed": np.inf}, "slip_speed"),
        ({"duration": -1.0}, "duration"),
        ({"rtol": 0.0}, "rtol"),
        ({"max_steps": 0}, "max_steps"),
    ],
)
def test_bad_arguments_are_named(keywords, what):
    with pytest.raises(ValueError, match=what):
        compliant_impact(rocking_block_impact().problem, **keywords)


def test_penetration_and_singular_masses_are_refused():
    rows = {"normal_jacobian": [[0, 1.0]], "tangent_jacobian": [[[1.0, 0]]], "friction": [0.5]}
    with pytest.raises(ValueError, match="penetrate"):
        compliant_impact(ContactProblem(np.eye(2), [0, -1.0], gap=[-1e-3], **rows))
    with pytest.raises(ValueError, match="mass"):
        compliant_impact(ContactProblem(np.diag([0.0, 1.0]), [0, -1.0], **rows))
