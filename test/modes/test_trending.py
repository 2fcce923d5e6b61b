"""Johnson, Definition 1 and Lemmas 1-3: signs by higher Lie derivatives."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hybrid_contact_ros.modes.trending import trending


def clock(_time, _state):
    """x(t) = t: Lie derivatives along it are derivatives."""
    return [1.0]


@given(st.integers(0, 4), st.floats(0.2, 5.0), st.sampled_from([-1.0, 1.0]), st.floats(-3.0, 3.0))
def test_definition_1_first_derivative_that_is_not_zero_decides(order, size, sign, rest):
    def function(_time, x):
        return sign * size * x[0] ** order + rest * x[0] ** (order + 1)

    trend = trending(function, clock, 0.0, [0.0])
    assert trend.sign[0] == sign
    assert trend.order[0] == order


def test_identically_zero():
    trend = trending(lambda t, x: 0.0, clock, 0.0, [0.0])
    assert trend.sign[0] == 0
    assert trend.order[0] == -1


@given(st.integers(1, 3), st.sampled_from([-1.0, 1.0]), st.floats(0.1, 10.0), st.floats(-1.0, 1.0))
def test_lemma_2_a_positive_factor_changes_nothing(order, sign, factor, slope):
    def product(_time, x):
        return factor * np.exp(slope * x[0]) * sign * x[0] ** order

    trend = trending(product, clock, 0.0, [0.0])
    assert (trend.sign[0], trend.order[0]) == (sign, order)


@given(st.floats(-2.0, 2.0), st.floats(-2.0, 2.0), st.floats(-0.5, 0.5))
def test_lemma_3_trending_positive_is_positive_just_after(speed, force, cubic):
    def function(_time, x):
        return speed * x[0] + force * x[0] ** 2 + cubic * x[0] ** 3

    trend = trending(function, clock, 0.0, [0.0])
    if max(abs(speed), abs(force)) > 1e-2:
        soon = 1e-4 if abs(speed) > 1e-2 else None
        if soon is not None:
            assert trend.sign[0] == np.sign(function(0.0, [soon]))


def test_several_functions_along_a_flow_with_forces():
    def pendulum(_time, x):
        return [x[1], -9.81 * np.sin(x[0])]

    def functions(_time, x):
        return [x[1], x[0] - 0.5, np.cos(x[0]) - np.cos(0.5), 1.0 - x[0]]

    trend = trending(functions, pendulum, 0.0, [0.5, 0.0])
    np.testing.assert_array_equal(trend.sign, [-1, -1, 1, 1])  # it starts to fall back
    np.testing.assert_array_equal(trend.order, [1, 2, 2, 0])


def test_flow_that_breaks_off_decides_by_the_value():
    trend = trending(lambda t, x: [x[0], x[0] - 1.0], lambda t, x: [np.nan], 0.0, [1.0])
    np.testing.assert_array_equal(trend.sign, [1, 0])


def test_bad_arguments_are_refused():
    with pytest.raises(ValueError, match="orders"):
        trending(lambda t, x: 0.0, clock, 0.0, [0.0], orders=9)
    with pytest.raises(ValueError, match="positive"):
        trending(lambda t, x: 0.0, clock, 0.0, [0.0], scale=0.0)
