"""O Theorems 1 and 2, Corollary 1, and the chatter of several contacts."""

import numpy as np
import pytest
import sympy
from hypothesis import given, settings
from hypothesis import strategies as st

from helpers.reference_execution import hybrid_execution, zeno_point
from hybrid_contact_ros.codes import Flag
from hybrid_contact_ros.mechanics.problem import ContactProblem
from hybrid_contact_ros.stability.chatter import chatter
from hybrid_contact_ros.stability.ranges import bouncing
from hybrid_contact_ros.stability.zeno import zeno_analysis
from hybrid_contact_ros.systems.ball import zeno_time
from hybrid_contact_ros.systems.ball_on_sinusoid import ball_on_sinusoid
from hybrid_contact_ros.systems.lagrangian import Constraint, LagrangianSystem
from hybrid_contact_ros.systems.pendulum_with_stop import pendulum_with_stop
from hybrid_contact_ros.systems.planar_box import Corner, PlanarBox

BALL, PENDULUM = ball_on_sinusoid(), pendulum_with_stop()
seeds = st.integers(0, 10**6)
EQUILIBRIA = [
    (BALL, [-1.0, np.sin(-1.0)], [0.5, 0.5 * np.cos(1.0)]),
    (BALL, [1.337, np.sin(1.337)], [-0.121, -0.121 * np.cos(1.337)]),
    (PENDULUM, [-0.7, 0.0], [0.3, 0.0]),
]


@pytest.mark.parametrize(("system", "q", "v"), EQUILIBRIA)
@pytest.mark.parametrize("size", [0.1, 1e-3])
def test_theorem_2_executions_from_w_stay_in_v_and_end_in_time(system, q, v, size):
    found = zeno_analysis(system, q, v, neighbourhood=(size, size, size))
    assert found.equilibrium and found.proved and found.guaranteed
    assert found.bounded_time_stability == found.constraint_stability == Flag.HOLDS
    near = found.neighbourhoods
    for inner, outer in ((near.W, near.first_impacts), (near.first_impacts, near.V), (near.V, near.U)):
        assert 0.0 < inner[0] <= outer[0] and 0.0 < inner[1] <= outer[1]
    rng = np.random.default_rng(1)
    for _ in range(8):
        dq, dv = (r * _in_ball(rng, 2) for r in near.W)
        start_q, start_v = q + dq, v + dv
        if system.gap(start_q)[0] < 0.0:
            start_q = start_q - 1.001 * bouncing(system.problem(start_q, start_v), 0).direction * system.gap(start_q)[0]
        time, end_q, end_v, run = zeno_point(system, start_q, start_v)
        assert time < size
        assert np.linalg.norm(end_q - q) < near.V[0] and np.linalg.norm(end_v - v) < near.V[1]
        assert max(run.speeds) < near.impact_speed


def _in_ball(rng, n):
    direction = rng.normal(size=n)
    return direction / np.linalg.norm(direction) * rng.uniform() ** (1 / n)


def test_theorem_2_part_2_executions_leave_where_the_gap_accelerates():
    q, v = np.array([np.pi / 2, 1.0]), np.array([1.5, 0.0])  # φ̈ = 2.25 − 1
    found = zeno_analysis(BALL, q, v, neighbourhood=(0.1, 0.1, 0.1))
    assert found.equilibrium and not found.proved
    assert found.bounded_time_stability == found.constraint_stability == Flag.FAILS
    assert found.neighbourhoods is None and np.isnan(found.zeno_time)
    for speed in (1e-3, 1e-6):
        run = hybrid_execution(BALL, q, np.array([1.5, speed]), horizon=0.4)
        assert not run.times  # off for 0.4 s, however small the first step


@settings(max_examples=40)
@given(seeds)
def test_corollary_1_force_and_stability_agree(seed):
    rng = np.random.default_rng(seed)
    x, speed = rng.uniform(-3, 3), rng.uniform(-2, 2)
    found = zeno_analysis(BALL, [x, np.sin(x)], [speed, speed * np.cos(x)])
    acceleration = speed**2 * np.sin(x) - 1.0  # O Example 3
    np.testing.assert_allclose(found.gap_acceleration, acceleration, atol=1e-6)
    np.testing.assert_allclose(found.constraint_force, -acceleration / (1 + np.cos(x) ** 2), atol=1e-6)
    if abs(acceleration) > 1e-4:
        assert found.bounded_time_stability == found.constraint_stability
        assert (found.constraint_stability == Flag.HOLDS) == (acceleration < 0)


@pytest.mark.parametrize(("system", "q", "v"), EQUILIBRIA)
def test_first_order_prediction_is_second_order_right(system, q, v):
    """A hundredth of the height and a tenth of the speed: a hundredth of the error, in time and place."""
    direction = bouncing(system.problem(q, v), 0).direction
    errors = []
    for speed in (1e-2, 1e-3):
        here_q, here_v = q + direction * speed**2, v + direction * 0.4 * speed
        found = zeno_analysis(system, here_q, here_v)
        time, end_q, end_v, _ = zeno_point(system, here_q, here_v)
        errors.append(
            [abs(found.zeno_time - time), np.abs(found.zeno_q - end_q).max(), np.abs(found.zeno_v - end_v).max()]
        )
        assert not found.equilibrium
        assert found.zeno_time_bounds[0] <= found.zeno_time <= found.zeno_time_bounds[1]
    assert (np.array(errors[1]) < np.array(errors[0]) / 30 + 1e-9).all()


@given(st.floats(0, 0.9), st.floats(0, 2), st.floats(-3, 3))
@settings(max_examples=12)
def test_ball_ends_after_the_geometric_series(e, height, speed):
    y = sympy.Symbol("y")
    system = LagrangianSystem("ball", (y,), sympy.eye(1), 9.81 * y, [Constraint("ground", y, restitution=e)])
    found = zeno_analysis(system, [height], [speed])
    assert found.zeno_time == pytest.approx(zeno_time(height, speed, e), rel=1e-12, abs=1e-15)
    np.testing.assert_allclose(found.zeno_time_bounds, found.zeno_time, rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose([found.zeno_q, found.zeno_v], 0.0, atol=1e-9)


def balls(restitution):
    """Two balls beside each other on the ground."""
    a, b = sympy.symbols("a b")
    ground = [Constraint(str(s), s, restitution=e) for s, e in zip((a, b), restitution, strict=True)]
    return LagrangianSystem("balls", (a, b), sympy.diag(1, 3), 9.81 * (a + 3 * b), ground)


def test_several_contacts_that_do_not_meet_are_over_with_the_last():
    system = balls((0.5, 0.2))
    found = zeno_analysis(system, [0.1, 0.3], [1.0, -2.0], (0, 1))
    last = max(zeno_time(0.1, 1.0, 0.5), zeno_time(0.3, -2.0, 0.2))
    assert found.zeno_time == pytest.approx(last, rel=1e-5)
    assert not found.proved and "several contacts" in found.why
    assert found.bounded_time_stability == found.constraint_stability == Flag.HOLDS
    np.testing.assert_allclose(found.constraint_force, [9.81, 3 * 9.81], rtol=1e-6)


def test_one_failing_contact_fails_them_all():
    a, b = sympy.symbols("a b")
    system = LagrangianSystem("pulled", (a, b), sympy.eye(2), a - b, [Constraint("a", a), Constraint("b", b)])
    found = zeno_analysis(system, [0.0, 0.0], [0.0, 0.0], (0, 1))
    assert found.constraint_stability == Flag.FAILS
    assert zeno_analysis(system, [0.0, 0.0], [0.0, 0.0], 0).constraint_stability == Flag.HOLDS
    assert np.isnan(found.zeno_time)


@pytest.mark.parametrize("e", [0.0, 0.2, 0.5])
def test_tall_block_rocks_to_rest_however_elastic(e):
    """A corner that lands at speed s lifts the other with r s, r = G_AB / G_BB. While the first chatters, φ_A − r φ_B
    knows nothing of its impacts: the second returns with r s after 2 r s / (g (1 − r)), whatever e is."""
    width, height, speed = 0.2, 1.0, 2e-3
    corners = [Corner(name, x, -height / 2, (0, 1)) for name, x in (("A", -width / 2), ("B", width / 2))]
    box = PlanarBox(width, height, 2.0, 0.0, corners, restitution=e)
    found = zeno_analysis(box, [0.0, height / 2, 0.0], [0.0, -speed / 2, -speed / width], (0, 1))
    turn = (width / 2) ** 2 * 12 / (width**2 + height**2)
    r = (1 - turn) / (1 + turn)
    assert found.zeno_time == pytest.approx(2 * speed * r / (9.81 * (1 - r) ** 2), rel=1e-5)
    assert found.constraint_stability == Flag.HOLDS


def test_first_order_end_of_several_contacts_needs_no_impacts():
    """φ = φ̇ = 0 in the end and everything constant: only where they slide to is left, along the closed contacts."""
    box = PlanarBox(1.0, 0.2, 2.0, 0.0, [Corner(n, x, -0.1, (0, 1)) for n, x in (("A", -0.5), ("B", 0.5))], 0.5)
    found = zeno_analysis(box, [0.0, 0.101, 0.001], [0.7, -0.01, 0.02], (0, 1))
    assert 0.0 < found.zeno_time < 1.0
    np.testing.assert_allclose(found.zeno_q, [0.7 * found.zeno_time, 0.1, 0.0], atol=1e-9)
    np.testing.assert_allclose(found.zeno_v, [0.7, 0.0, 0.0], atol=1e-12)


def test_chatter_that_never_ends_is_none():
    one = np.ones((1, 1))
    assert chatter(np.array([0.1]), np.zeros(1), np.array([1.0]), one, np.array([0.5])) is None  # flies away
    assert chatter(np.zeros(1), np.zeros(1), np.array([1.0]), one, np.array([0.5])) is None  # pulled open
    assert chatter(np.array([0.1]), np.zeros(1), np.array([-1.0]), one, np.array([1.0])) is None  # e = 1


def test_rest_is_no_zeno_equilibrium():
    """O Definition 3 asks for f(x*) ≠ 0."""
    x = sympy.Symbol("x")
    floating = LagrangianSystem("floating", (x,), sympy.eye(1), 0 * x, [Constraint("wall", x, restitution=0.5)])
    assert not zeno_analysis(floating, [0.0], [0.0]).equilibrium
    assert zeno_analysis(BALL, [0.0, 0.0], [0.0, 0.0]).equilibrium


def test_massless_limbs_leave_it_undecided():
    class Massless:
        def problem(self, q, v):
            return ContactProblem(np.diag([1.0, 0.0]), v, [[1.0, 1.0]], np.zeros((1, 1, 2)), [0.0], [0.5])

    found = zeno_analysis(Massless(), [0.0, 0.0], [-1.0, 0.0])
    assert not found.proved and found.why
    assert np.isnan(found.zeno_time)


def test_arguments_that_make_no_sense_are_refused():
    for changes, message in (
        ({"contact": ()}, "contact is empty"),
        ({"contact": 2}, "numbered 0..0"),
        ({"neighbourhood": (1.0, -1.0, 1.0)}, "all > 0"),
        ({"neighbourhood": (1.0, 1.0)}, "ε_q, ε_v, ε_t"),
        ({"neighbourhood": (1.0, np.nan, 1.0)}, "all > 0"),
        ({"contact": "ball"}, "indices of contacts"),
        ({"held": 0}, "indices of contacts"),
        ({"tolerance": -1.0}, "tolerance"),
        ({"tolerance": np.nan}, "tolerance"),
        ({"force_tolerance": -1.0}, "force_tolerance"),
        ({"acceleration_tolerance": np.nan}, "acceleration_tolerance"),
    ):
        with pytest.raises(ValueError, match=message):
            zeno_analysis(BALL, [0.0, 0.0], [1.0, 0.9], **changes)
    with pytest.raises(ValueError, match=r"object has no problem"):
        zeno_analysis(object(), [0.0], [1.0])
    with pytest.raises(ValueError, match="finite"):
        zeno_analysis(BALL, [0.0, np.nan], [1.0, 0.9])
