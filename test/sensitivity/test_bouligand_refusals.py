"""Where there is no Bouligand derivative, and why: each assumption that fails is named."""

import math
from types import SimpleNamespace

import numpy as np
import pytest
import sympy

from helpers.landing_feet import CASES, EXACT, G, feet
from helpers.robot_systems import example
from hybrid_contact_ros import Constraint, LagrangianSystem, Validity, bouligand_derivative, simulate
from hybrid_contact_ros.mechanics.state import RobotState
from hybrid_contact_ros.systems.ceiling import ceiling
from hybrid_contact_ros.systems.planar_box import Corner, PlanarBox


def state(name="two feet", **changes):
    system, q, v, closed = CASES[name]
    return {"system": system, "q": list(q), "v": list(v), "closed": closed} | changes


s0, s1, s2 = sympy.symbols("s0 s1 s2")
TWISTED = LagrangianSystem(
    "twisted", [s0, s1, s2], sympy.eye(3), G * (s0 + s1), [Constraint("a", s0), Constraint("b", s1 + s0 * s2)]
)
CORNERS = [Corner("left", -0.2, -0.1, (0.0, 1.0)), Corner("right", 0.2, -0.1, (0.0, 1.0))]


def bouncing(friction=0.0, restitution=0.0):
    rows = (sympy.Matrix([[0, 0, 1]]),)
    contacts = [Constraint("a", s0, rows, friction, restitution), Constraint("b", s1)]
    return LagrangianSystem("bouncing", [s0, s1, s2], sympy.eye(3), G * (s0 + s1), contacts)


def reclosing(v):
    """The third foot is pulled up only while the first one stands and the second one falls."""
    return [0.0, 0.0, 80.0 * -v[1] * (1.0 + v[0]), 0.0]


REFUSALS = {
    "not orthogonal": (
        {"system": PlanarBox(0.4, 0.2, 1.0, 0.0, CORNERS), "q": [0, 0.1, 0], "v": [0, -1.0, 0]},
        Validity.SIMULTANEOUS,
        "not orthogonal",
    ),
    "orthogonal at the state only": (
        {"system": TWISTED, "q": [0, 0, 0], "v": [-1, -1, 0]},
        Validity.SIMULTANEOUS,
        "not where they touch nearby",
    ),
    "friction": ({"system": bouncing(0.5), "q": [0] * 3, "v": [-1, -1, 0]}, Validity.SIMULTANEOUS, "friction"),
    "restitution": ({"system": bouncing(0, 0.5), "q": [0] * 3, "v": [-1, -1, 0]}, Validity.ZENO, "chatter"),
    "grazing": (state(v=[-1.0, 0.0, -0.9], contacts=[0, 1]), Validity.GRAZING, "touches at"),
    "another grazes": (state(v=[-1.0, 0.0, -0.9]), Validity.GRAZING, "contact 1"),
    "another lands": (state(contacts=[0]), Validity.SIMULTANEOUS, "contact 1 touches down"),
    "above": (state(q=[0, 0.01, 0.38], contacts=[0, 1]), Validity.NOT_TOUCHING, "above"),
    "below": (state(q=[0, -0.01, 0.38]), Validity.NOT_TOUCHING, "below"),
    "leaving": (state(v=[-1.0, 1.0, 0.0], contacts=[0, 1]), Validity.NOT_TOUCHING, "leaves"),
    "none": (state(v=[1.0, 1.0, 0.0]), Validity.NOT_TOUCHING, "no contact"),
    "closed but moving": (state("one stands", v=[-1.0, -1.3, 0.2, -0.9]), Validity.NOT_TOUCHING, "is closed, with"),
    "closed but pulled": (
        state("one stands", system=feet(3, more=lambda v: [0, 0, 500.0, 0])),
        Validity.NOT_TOUCHING,
        "forces lift contact 2",
    ),
    "released and pressed again": (
        state("one stands", system=feet(3, 0.0, more=reclosing), v=[-1.0, -1.3, 0.0, -0.9]),
        Validity.GRAZING,
        "pressed again",
    ),
    "massless": (
        {
            "system": LagrangianSystem("light", [s0, s1], sympy.diag(1, 0), G * s0, [Constraint("a", s0)]),
            "q": [0, 0],
            "v": [-1, 0],
        },
        Validity.SINGULAR,
        "singular",
    ),
}


@pytest.mark.parametrize("name", REFUSALS)
def test_it_is_refused_where_the_assumptions_fail(name):
    arguments, validity, why = REFUSALS[name]
    found = bouligand_derivative(**arguments)
    assert found.validity is validity and why in found.why and not found.valid
    for use in (found.required, found.selections, lambda: found.apply(np.zeros(7)), lambda: found.orders(np.zeros(7))):
        with pytest.raises(ValueError, match="no Bouligand derivative"):
            use()


def test_beyond_the_examined_a_direction_is_refused_and_others_are_not():
    system = feet(3, 0.0, more=reclosing)
    found = bouligand_derivative(system, [0, 0, 0, 0.38], [-1.0, -1.3, 0.0, -0.9], closed=[2], examined=1)
    assert found.valid
    assert np.isfinite(found.apply([0, 0.1, -0.1, 0, 0, 0, 0, 0, 0])).all()  # the second foot first
    with pytest.raises(ValueError, match="pressed again"):
        found.apply([0, -0.1, 0.1, 0, 0, 0, 0, 0, 0])
    with pytest.raises(ValueError, match="pressed again"):
        found.selections()


@pytest.mark.parametrize(
    ("changes", "text"),
    [
        ({"contacts": [5]}, "numbered 0..1"),
        ({"contacts": [0], "closed": [0]}, "as touching and as closed"),
        ({"q": [0.0, math.nan, 0.4]}, "finite"),
        ({"v": [0.0, -1.0]}, "3 finite numbers"),
    ],
)
def test_bad_input_is_an_error(changes, text):
    with pytest.raises(ValueError, match=text):
        bouligand_derivative(**state(**changes))


def test_under_a_ceiling_outcomes_follow_a_square_root_where_it_is_refused():
    """A ball that just reaches the ceiling (Pace, §6.1.1): no derivative of any kind."""
    system = ceiling()
    refused = bouligand_derivative(system, [1.0], [0.0])
    assert refused.validity is Validity.GRAZING
    speed = math.sqrt(2.0 * G * 0.5)

    def lost(rise):  # the speed at 0.5 s that the ceiling takes, where the ball would rise above it
        start = math.sqrt(2.0 * G * (0.5 + rise))
        assert start > speed
        return abs(simulate(system, [0.5], [start], 0.5, **EXACT).v[-1, 0] - (start - G * 0.5))

    for rise in (1e-3, 1e-5):
        assert lost(rise) == pytest.approx(math.sqrt(2.0 * G * rise), rel=1e-5)
    assert lost(1e-5) / 1e-5 == pytest.approx(
        10.0 * lost(1e-3) / 1e-3, rel=1e-4
    )  # the difference quotient has no limit
    # Beside it there is a derivative, and it grows without bound.
    sizes = [
        np.abs(bouligand_derivative(system, [1.0], [math.sqrt(2.0 * G * rise)]).selections()[0].matrix[1, 1])
        for rise in (1e-3, 1e-5)
    ]
    assert sizes[1] == pytest.approx(10.0 * sizes[0], rel=1e-9)


def test_feet_of_a_quadruped_are_refused_even_without_friction():
    model = example("go2", "go2_description/urdf/go2.urdf")
    q, v = model.neutral(), np.zeros(model.nv)
    q[2] -= model.problem(RobotState(0, q, v)).gap.min()
    v[2] = -1.0
    smooth = SimpleNamespace(problem=lambda q, v: model.problem(RobotState(0, q, v)).replace(friction=np.zeros(4)))
    smooth.integrate = model.integrate
    refused = bouligand_derivative(smooth, q, v)
    assert refused.validity is Validity.SIMULTANEOUS and "not orthogonal" in refused.why
