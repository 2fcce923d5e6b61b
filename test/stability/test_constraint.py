"""O Theorem 2 and Corollary 1, and the flags beside them."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from helpers.mode_problems import GRAVITY, foot, frictionless, massless_leg, point_on_slope, rod, seeds
from hybrid_contact_ros.codes import Flag, Status
from hybrid_contact_ros.mechanics.problem import ContactProblem
from hybrid_contact_ros.stability.constraint import constraint_stability

pytestmark = pytest.mark.usefixtures("rounding")


def ball(gap=0.0, velocity=0.0, restitution=0.5, acceleration=-GRAVITY):
    """A 2 kg ball over a floor; ``acceleration`` of the free ball, upwards."""
    return ContactProblem(
        [[2.0]], [velocity], [[1.0]], [[[0.0]]], [0.0], [restitution], gap=[gap], bias_force=[-2.0 * acceleration]
    )


@given(seeds)
def test_or_ames_eq_5_and_21_one_constraint_force_and_released_acceleration_agree(seed):
    problem = frictionless(seed, 1)
    result = constraint_stability(problem, [0])
    inverse = np.linalg.inv(problem.mass)
    row = problem.normal_jacobian[0]
    released = problem.jacobian_drift[0, 0] - row @ inverse @ problem.bias_force  # O 5
    force = -released / (row @ inverse @ row)  # O 21
    np.testing.assert_allclose(result.gap_acceleration[0], released, rtol=1e-6, atol=1e-8)
    np.testing.assert_allclose(result.constraint_force[0], force, rtol=1e-6, atol=1e-8)
    assert result.constraint_stability[0] == result.bounded_time_stability[0]
    assert result.closed[0] == (force > 0.0)


@pytest.mark.parametrize(
    ("acceleration", "flag"), [(-1.0, Flag.HOLDS), (1.0, Flag.FAILS), (-0.05, Flag.UNDECIDED), (0.05, Flag.UNDECIDED)]
)
def test_dead_bands_leave_flags_undecided(acceleration, flag):
    result = constraint_stability(ball(acceleration=acceleration), [0], force_tolerance=0.5, acceleration_tolerance=0.1)
    assert result.constraint_stability[0] == flag
    assert result.bounded_time_stability[0] == flag
    np.testing.assert_allclose(result.constraint_force[0], -2.0 * acceleration, rtol=1e-6)


def test_ball_on_a_sinusoid_or_ames_example_3():
    # h = y − sin x, ḧ = v_x² sin x − g: stable in the valleys, and on the hills when slow
    for x, speed, flag in ((-1.0, 5.0, Flag.HOLDS), (1.0, 1.0, Flag.HOLDS), (1.0, 5.0, Flag.FAILS)):
        slope = np.cos(x)
        problem = ContactProblem(
            np.eye(2),
            [speed, speed * slope],
            [[-slope, 1.0]],
            [[[1.0, slope]]],
            [0.0],
            [0.5],
            bias_force=[0.0, GRAVITY],
            jacobian_drift=[[speed**2 * np.sin(x), 0.0]],
        )
        result = constraint_stability(problem, [0])
        np.testing.assert_allclose(result.gap_acceleration[0], speed**2 * np.sin(x) - GRAVITY, rtol=1e-9)
        assert result.bounded_time_stability[0] == flag
        assert result.constraint_stability[0] == flag


@given(st.floats(0.05, 0.95), st.floats(0.0, 2.0), st.floats(-3.0, 3.0))
def test_chatter_end_is_the_sum_of_all_bounces(restitution, gap, velocity):
    result = constraint_stability(ball(gap, velocity, restitution), [])
    assert result.zeno[0] == Flag.HOLDS
    speed = np.sqrt(velocity**2 + 2 * GRAVITY * gap)
    time = (velocity + speed) / GRAVITY
    np.testing.assert_allclose(result.touchdown_speed[0], speed, atol=1e-12)
    for _ in range(2000):
        speed *= restitution
        time += 2 * speed / GRAVITY
    np.testing.assert_allclose(result.chatter_end[0], time, rtol=1e-9, atol=1e-12)


def test_zeno_needs_bounces_that_die_out_and_a_return():
    for problem in (ball(1.0, 0.0, 0.0), ball(1.0, 0.0, 1.0), ball(1.0, -1.0, 0.5, acceleration=1.0)):
        result = constraint_stability(problem, [])
        assert result.zeno[0] == Flag.FAILS
        assert np.isnan(result.chatter_end[0])
    assert constraint_stability(ball(1.0, -1.0, 0.5, acceleration=0.0), []).zeno[0] == Flag.UNDECIDED
    assert constraint_stability(ball(0.0, 0.0, 0.5), [0]).zeno[0] == Flag.FAILS  # at rest already


def test_elastic_bounces_do_not_die_out():
    result = constraint_stability(ball(0.0, 0.0, 1.0), [0])
    assert result.constraint_stability[0] == Flag.UNDECIDED
    assert result.bounded_time_stability[0] == Flag.UNDECIDED


def test_grazing_touchdowns_and_near_misses():
    def grazing(problem):
        result = constraint_stability(problem, [], grazing_speed=0.1)
        return result.grazing[0], result.touchdown_speed[0]

    assert grazing(ball(0.0, -0.05)) == (Flag.HOLDS, pytest.approx(0.05))
    assert grazing(ball(1.0, 0.0))[0] == Flag.FAILS
    flag, speed = grazing(ball(0.5, -1.0, acceleration=1.005))  # turns back 2.5 mm above the floor
    assert flag == Flag.UNDECIDED
    assert np.isnan(speed)
    assert grazing(ball(0.5, -1.0, acceleration=2.0))[0] == Flag.FAILS
    assert grazing(ball(0.5, -1.0, acceleration=0.5))[1] == pytest.approx(np.sqrt(0.5))


def test_friction_flag_and_margin():
    weight = 2.0 * GRAVITY
    for angle, friction, flag in ((0.2, 0.5, Flag.HOLDS), (0.6, 0.5, Flag.FAILS)):
        result = constraint_stability(point_on_slope(angle, friction), [0], force_tolerance=0.1)
        margin = max(0.0, weight * (friction * np.cos(angle) - np.sin(angle)))
        assert result.friction[0] == flag
        np.testing.assert_allclose(result.friction_margin[0], margin, rtol=1e-6, atol=1e-6)
    near = constraint_stability(point_on_slope(np.arctan(0.5) - 1e-4, 0.5), [0], force_tolerance=0.1)
    assert near.friction[0] == Flag.UNDECIDED
    assert constraint_stability(point_on_slope(0.2, 0.5), []).friction[0] == Flag.UNDECIDED


def test_released_end_of_a_rod_turns_about_the_other():
    result = constraint_stability(rod(friction=0.0), [0, 1])
    # released, an end of a uniform rod falls with 3/2 g: the other stays by complementarity
    np.testing.assert_allclose(result.gap_acceleration, -1.5 * GRAVITY, rtol=1e-6)
    np.testing.assert_allclose(result.constraint_force, 0.5 * GRAVITY, rtol=1e-6)
    assert (result.constraint_stability == Flag.HOLDS).all()
    assert (result.bounded_time_stability == Flag.HOLDS).all()


def test_lifting_end_of_a_tipping_rod_would_have_to_be_pulled():
    result = constraint_stability(rod(force_at=0.6, friction=0.0), [0, 1])
    np.testing.assert_array_equal(result.closed, [False, True])
    np.testing.assert_allclose(result.constraint_force[0], -0.1 * GRAVITY, rtol=1e-6)
    assert result.constraint_stability[0] == Flag.FAILS
    assert result.bounded_time_stability[0] == Flag.FAILS


@given(seeds, st.integers(1, 5))
def test_force_and_release_agree_in_sign_for_frictionless_contacts(seed, count):
    result = constraint_stability(frictionless(seed, count), range(count), 1e-4, 1e-4)
    for force, release in zip(result.constraint_stability, result.bounded_time_stability, strict=True):
        if Flag.UNDECIDED not in (force, release):
            assert force == release


def test_redundant_corner_is_undecided_when_released():
    result = constraint_stability(foot([0.0, 0.0, GRAVITY, 0.0, 0.0, 0.0]), range(4))
    assert (result.constraint_stability == Flag.HOLDS).all()
    # three corners carry the foot: the released one neither falls nor rises
    assert (result.bounded_time_stability == Flag.UNDECIDED).all()
    np.testing.assert_allclose(result.gap_acceleration, 0.0, atol=1e-6)


def test_massless_limbs_leave_the_flags_undecided():
    result = constraint_stability(massless_leg(), [0])
    assert result.status is Status.SINGULAR
    assert (result.constraint_stability == Flag.UNDECIDED).all()
    assert np.isnan(result.constraint_force).all()


def test_bad_arguments_are_refused():
    with pytest.raises(ValueError, match="grazing_speed"):
        constraint_stability(ball(), [0], grazing_speed=-1.0)
    with pytest.raises(ValueError, match="numbered"):
        constraint_stability(ball(), [1])


def test_an_elastic_contact_that_is_pulled_off_fails_and_one_that_is_pressed_is_undecided():
    for pull, flag in ((1.0, Flag.FAILS), (-1.0, Flag.UNDECIDED)):
        problem = ContactProblem([[1.0]], [0.0], [[1.0]], [[[0.0]]], [0.0], [1.0], bias_force=[-pull])
        result = constraint_stability(problem, [0])
        assert result.gap_acceleration[0] == pytest.approx(pull)
        assert result.bounded_time_stability[0] == result.constraint_stability[0] == flag


def test_contacts_and_tolerances_of_a_wrong_kind_are_refused():
    problem = point_on_slope(0.2, 0.5)
    for closed in (0, "0", np.array(0)):
        with pytest.raises(ValueError, match=r"indices of contacts .* such as \[0\]"):
            constraint_stability(problem, closed)
    for name in ("slip_speed", "force_tolerance", "horizon"):
        for value in (-1.0, np.nan, "1"):
            with pytest.raises(ValueError, match=name):
                constraint_stability(problem, [0], **{name: value})
