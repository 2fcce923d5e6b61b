"""The systems of the examples of Or and Ames have the equations of the paper."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hybrid_contact_ros.stability.ranges import bouncing
from hybrid_contact_ros.systems.ball_on_sinusoid import FIRST_IMPACT, ball_on_sinusoid, state_before_first_impact
from hybrid_contact_ros.systems.pendulum_with_stop import pendulum_with_stop

PENDULUM = pendulum_with_stop()
numbers = st.floats(-3.0, 3.0)
positive = st.floats(0.2, 3.0)


@settings(max_examples=10)  # each derives a system
@given(numbers, numbers, positive)
def test_or_ames_example_3_gap_acceleration_of_the_ball(x, speed, gravity):
    system = ball_on_sinusoid(gravity=gravity)
    problem = system.problem([x, np.sin(x)], [speed, speed * np.cos(x)])
    np.testing.assert_allclose(problem.gap, 0.0, atol=1e-15)
    np.testing.assert_allclose(problem.normal_jacobian @ problem.velocity, 0.0, atol=1e-14)
    np.testing.assert_allclose(bouncing(problem, 0).acceleration, speed**2 * np.sin(x) - gravity, atol=1e-12)


@pytest.mark.parametrize("speed", [1.8, 2.5])
def test_published_ball_first_touches_where_the_paper_says(speed):
    q, v = state_before_first_impact(speed)
    time, x = FIRST_IMPACT
    there = q + v * time + np.array([0.0, -0.5 * time**2])
    np.testing.assert_allclose(there, [x, np.sin(x)], atol=1e-15)


@settings(max_examples=10)  # each derives a system
@given(numbers, numbers, positive, positive, positive, positive)
def test_or_ames_example_2_inertia_of_the_pendulum(first, second, m1, m2, l1, l2):
    mass = pendulum_with_stop((m1, m2), (l1, l2)).problem([first, second], [0.0, 0.0]).mass
    c = np.cos(second)
    upper = m1 * l1**2 / 3 + m2 * (l1**2 + l2**2 / 3 + l1 * l2 * c)
    coupling, lower = m2 * (3 * l1 * l2 * c + 2 * l2**2) / 6, m2 * l2**2 / 3
    np.testing.assert_allclose(mass, [[upper, coupling], [coupling, lower]], rtol=1e-12, atol=1e-12)


@settings(max_examples=10)  # each derives a system
@given(numbers, numbers, positive, positive, positive, positive, positive)
def test_or_ames_example_4_locked_pendulum_opens_by_sin_theta1(first, rate, m1, m2, l1, l2, gravity):
    problem = pendulum_with_stop((m1, m2), (l1, l2), gravity).problem([first, 0.0], [rate, 0.0])
    length = (4 * m1 + 3 * m2) * l1 * l2 / (3 * (m1 * (l1 + 2 * l2) + m2 * l2))
    np.testing.assert_allclose(bouncing(problem, 0).acceleration, gravity * np.sin(first) / length, atol=1e-9)


@given(numbers, numbers, numbers, numbers)
def test_flights_of_the_pendulum_keep_the_energy(first, second, first_rate, second_rate):
    q, v = np.array([first, second]), np.array([first_rate, second_rate])
    problem = PENDULUM.problem(q, v)
    a, step = np.linalg.solve(problem.mass, -problem.bias_force), 1e-5
    before, after = (PENDULUM.energy(q + s * v, v + s * a) for s in (-step, step))
    assert abs(after - before) / (2 * step) < 1e-7 * (1 + np.abs(v).max() * np.abs(a).max())
