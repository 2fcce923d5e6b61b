"""∂x(t)/∂parameters: friction, restitution, the ground's height and controls, against differences of ``simulate``."""

import numpy as np
import pytest
import sympy

from hybrid_contact_ros import Constraint, LagrangianSystem, simulate
from hybrid_contact_ros.orbits.flow import variational_flow

EXACT = {"rtol": 1e-11, "atol": 1e-13}
x, y = sympy.symbols("x y")
Q, V = [0.1, 0.2], [2.0, 0.0]


def point(friction=0.4, restitution=0.0, height=0.0, gains=(0.5, 0.2), lean=0.0):
    """A point over a gently curved ground, pulled by u₀ x and, in contact, by u₁ along y."""

    def force(time, q, v, mode):
        return [-gains[0] * q[0], -gains[1] * v[1] + 0.3 * gains[1]]

    ground = Constraint(
        "ground", y - 0.1 * sympy.sin(x) - height, (sympy.Matrix([[1, 0.1 * sympy.cos(x)]]),), friction, restitution
    )
    return LagrangianSystem("point", [x, y], sympy.eye(2), 9.81 * y + lean * x, [ground], force)


def controls(time, q, v, mode):
    return np.array([[-q[0], 0.0], [0.0, -v[1] + 0.3]])


def outcome(t, **parameters):
    execution = simulate(point(**parameters), Q, V, t, **EXACT)
    return execution.word, np.concatenate((execution.q[-1], execution.v[-1]))


def difference(t, make, value, step):
    changed = [outcome(t, **make(value + sign * step)) for sign in (1.0, -1.0)]
    assert changed[0][0] == changed[1][0]
    return (changed[0][1] - changed[1][1]) / (2.0 * step)


@pytest.mark.parametrize(
    ("kind", "index", "make", "value", "restitution"),
    [
        ("friction", 0, lambda value: {"friction": value}, 0.4, 0.0),
        ("restitution", 0, lambda value: {"restitution": value, "friction": 0.0}, 0.5, 0.5),
        ("height", 0, lambda value: {"height": value}, 0.0, 0.0),
        ("height", 0, lambda value: {"height": value, "restitution": 0.5, "friction": 0.0}, 0.0, 0.5),
        ("control", 0, lambda value: {"gains": (value, 0.2)}, 0.5, 0.0),
        ("control", 1, lambda value: {"gains": (0.5, value)}, 0.2, 0.0),
    ],
)
def test_column_of_a_parameter_is_its_difference(kind, index, make, value, restitution):
    options, t = ({"restitution": 0.5, "friction": 0.0}, 0.5) if restitution else ({}, 0.9)  # two bounces
    execution = simulate(point(**options), Q, V, t, **EXACT)
    flow = variational_flow(execution, controls)
    assert flow.inadmissible is None and len(flow.saltations) > 0
    column = flow.parameter_matrix[:, flow.parameters.index((kind, index))]
    assert np.abs(column).max() > 1e-3
    errors = [np.abs(difference(t, make, value, step) - column).max() for step in (4e-4, 2e-4)]
    assert errors[1] < 1e-4 * max(1.0, float(np.abs(column).max())), errors
    assert errors[1] < 1e-7 or np.log2(errors[0] / errors[1]) > 1.6, errors
