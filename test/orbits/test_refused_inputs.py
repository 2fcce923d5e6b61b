"""Bad input of the functions of orbits: a sentence that says what was wrong, never an answer."""

import numpy as np
import pytest
import sympy

from hybrid_contact_ros import (
    Constraint,
    LagrangianSystem,
    PoincareMap,
    Section,
    orbit_stability,
    periodic_orbit,
    simulate,
)
from hybrid_contact_ros.orbits.controllability import local_controllability
from hybrid_contact_ros.orbits.directional import directional_flow
from hybrid_contact_ros.orbits.piecewise import piecewise_linear


@pytest.mark.parametrize(
    ("wrong", "sentence"),
    [
        ({"error": np.nan}, "error must be ≥ 0, got nan"),
        ({"error": -1.0}, "error must be ≥ 0, got -1.0"),
        ({"error": np.inf}, "error must be a finite number"),
        ({"length": 0}, "length must be a whole number ≥ 1, got 0"),
        ({"length": -1}, "length must be a whole number ≥ 1, got -1"),
        ({"length": 1.5}, "length must be a whole number ≥ 1"),
        ({"words": 0}, "words must be a whole number ≥ 1"),
    ],
)
def test_stability_refuses_errors_and_lengths_that_prove_nothing(wrong, sentence):
    with pytest.raises(ValueError, match=f"^{sentence}"):
        orbit_stability([[0.5]], **wrong)


@pytest.mark.parametrize(
    ("matrix", "sentence"),
    [
        ([[0.5j]], "real numbers"),
        (np.array([[0.5 + 1j]]), "real numbers"),
        (np.zeros((0, 0)), "square and not empty"),
        ([[0.5, 0.1]], "square and not empty"),
        ([[np.nan]], "finite"),
        ("a", "real numbers"),
    ],
)
def test_stability_refuses_what_is_no_return_map(matrix, sentence):
    with pytest.raises(ValueError, match=sentence):
        orbit_stability(matrix)


def test_cones_of_another_size_are_refused():
    with pytest.raises(ValueError, match=r"rows of 1 numbers are needed"):
        piecewise_linear([[[1.0]], [[-2.0]]], [[[1.0, 0.0]], [[-1.0, 0.0]]])


def ball():
    """It bounces without loss on a floor."""
    y = sympy.Symbol("y")
    return LagrangianSystem("ball", [y], sympy.Matrix([[1.0]]), 9.81 * y, [Constraint("floor", y, restitution=1.0)])


APEX = Section(lambda q, v: -v[0])


@pytest.mark.parametrize(
    ("section", "options", "sentence"),
    [
        (APEX, {"shortest": np.nan}, "shortest must be ≥ 0, got nan"),
        (APEX, {"shortest": -1.0}, "shortest must be ≥ 0, got -1.0"),
        (APEX, {"shortest": 2.0}, "shortest is 2.0 s; it must be below longest"),
        (APEX, {"longest": np.nan}, "longest must be a finite number"),
        (APEX, {"longest": 0.0}, "longest is 0.0; a time"),
        (APEX, {"rtoll": 1e-9}, "simulate has no option rtoll; it has .*rtol"),
        (lambda q, v: -v[0], {}, r"section is .*; give Section\(value\)"),
        (Section(3.0), {}, r"section is .*; give Section\(value\)"),
        (Section(lambda q, v: -v[0], [0.0, -1.0]), {}, "the section's gradient is .*; give a function"),
    ],
)
def test_a_return_map_refuses_what_it_cannot_follow_when_it_is_made(section, options, sentence):
    with pytest.raises(ValueError, match=f"^{sentence}"):
        PoincareMap(ball(), section, **{"longest": 2.0} | options)


@pytest.mark.parametrize("gradient", [[0.0, -1.0, 0.0], [0.0, np.nan], [[0.0, -1.0]], 1.0, [0.0, 1j]])
def test_a_return_map_refuses_a_gradient_of_another_size_or_that_is_not_finite(gradient):
    returning = PoincareMap(ball(), Section(APEX.value, lambda q, v: gradient), longest=2.0)
    for ask in (returning.derivative, returning.directions):
        with pytest.raises(ValueError, match=r"^the section's gradient "):
            ask([0.5], [0.0])


@pytest.mark.parametrize("name", ["within", "directions"])
@pytest.mark.parametrize(
    "wrong", [[1.0, 0.0, 0.0], [np.nan, 0.0], np.zeros((2, 0)), np.ones((2, 2)), 1.0, "a", [1j, 0]]
)
def test_an_orbit_is_looked_for_in_independent_directions_only(name, wrong):
    returning = PoincareMap(ball(), APEX, longest=2.0)
    with pytest.raises(ValueError, match=f"^{name} (has|must)"):
        periodic_orbit(returning, [0.5], [0.0], **{name: wrong})


@pytest.mark.parametrize("wrong", [{("restitution", 0): "a"}, {("restitution", 0): np.nan}, {("mass", 0): 1.0}, 3])
def test_a_directional_flow_refuses_what_is_no_change_of_a_parameter(wrong):
    run = simulate(ball(), [0.5], [0.0], 0.1)
    with pytest.raises(ValueError, match=r"^parameter"):
        directional_flow(run, [1.0, 0.0], parameters=wrong)


def test_controllability_refuses_a_plain_array():
    with pytest.raises(ValueError, match=r"^inputs is ndarray; give a PiecewiseLinear"):
        local_controllability(np.eye(2))
