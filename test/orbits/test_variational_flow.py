"""∂x(t)/∂x(0) of executions against differences of ``simulate``, with the order in which these approach it."""

import numpy as np
import pytest
import sympy

from helpers.massless_leg import LENGTH, one_leg
from hybrid_contact_ros import Constraint, LagrangianSystem, Tolerances, simulate
from hybrid_contact_ros.orbits.flow import variational_flow
from hybrid_contact_ros.sensitivity.saltation import Validity
from hybrid_contact_ros.systems.ball_on_sinusoid import ball_on_sinusoid, state_before_first_impact
from hybrid_contact_ros.systems.box_and_wall import box_and_wall
from hybrid_contact_ros.systems.ceiling import ceiling
from hybrid_contact_ros.systems.compass_gait import compass_gait
from hybrid_contact_ros.systems.curves import curve
from hybrid_contact_ros.systems.disk_stacking import DiskStack
from hybrid_contact_ros.systems.painleve_rod import painleve_rod, rod_state
from hybrid_contact_ros.systems.pendulum_with_stop import pendulum_with_stop, published_state
from hybrid_contact_ros.systems.point_and_hill import point_and_hill
from hybrid_contact_ros.systems.ramone import ramone
from hybrid_contact_ros.systems.rocking_block import rocking_block
from hybrid_contact_ros.systems.settling_block import settling_block
from hybrid_contact_ros.systems.zeno_block import zeno_block

G = 9.81
EXACT = {"rtol": 1e-11, "atol": 1e-13}
x, y, z, w = sympy.symbols("x y z w")


def row(*entries):
    return sympy.Matrix([list(entries)])


def plane(slope=0.0, mu=0.5, force=None, surface=y):
    """A point on rough ground in the plane, with a pull of ``slope`` along it."""
    ground = Constraint("ground", surface, (row(1, 0),) if mu else (), mu)
    return LagrangianSystem("point", [x, y], sympy.eye(2), G * y + slope * x, [ground], force)


def space(slope=0.0, mu=0.5):
    """A point on rough ground in space."""
    ground = Constraint("ground", z, (row(1, 0, 0), row(0, 1, 0)), mu)
    return LagrangianSystem("point in space", [x, y, z], sympy.eye(3), G * z + slope * x, [ground])


def coupled():
    """A point on curved rough ground in space, tied to a fourth coordinate by its inertia."""
    mass = sympy.Matrix([[1, 0.3, 0.2, 0.1], [0.3, 1.6, 0.1, 0.2], [0.2, 0.1, 1.2, 0.1], [0.1, 0.2, 0.1, 0.8]])
    ground = Constraint("ground", z + 0.1 * x * x, (row(1, 0, 0, 0), row(0, 1, 0, 0)), 0.6)
    potential = G * z + 2.0 * x + 0.8 * x * y + 3 * w**2
    return LagrangianSystem("coupled point", [x, y, z, w], mass, potential, [ground])


def pushed(time, q, v, mode):
    return [10.0 * time + 0.3 * np.sin(q[0]), 0.5 * time]


def thrust(time, q, v, mode):
    """Efforts that switch with the contact: a lift that grows with time and on the way, and more of it in the air."""
    return [1.5 * (0 in mode), 25.0 * time + 8.0 * q[0] + 3.0 * (0 not in mode)]


def bounced(state):
    return {"system": ball_on_sinusoid(), "q": state[0], "v": state[1], "t": 0.6, "steps": 2e-4}


CASES = {
    "ball on sinusoid, two bounces": bounced(state_before_first_impact(0.5)),
    "ball on sinusoid, plastic": bounced(state_before_first_impact(0.5))
    | {"system": ball_on_sinusoid(restitution=0.0)},
    "pendulum with stop": dict(zip("qv", published_state(), strict=True)) | {"system": pendulum_with_stop(), "t": 2.0},
    "rod that sticks": {"system": painleve_rod(1.0), "q": [0.36, 1.03, 1.2], "v": [0.2, 0.1, 0.3], "t": 0.3},
    "rod that slides": {"system": painleve_rod(0.1), "q": [0.36, 1.03, 1.2], "v": [0.2, 0.1, 0.3], "t": 0.3},
    "block on a corner": {"system": rocking_block(), "q": [0, 1.2, 0.3], "v": [0.3, 0, 0.4], "t": 0.35},
    "block that bounces and sticks": {
        "system": rocking_block(restitution=0.5), "q": [0, 1.2, 0.3], "v": [0.3, 0, 0.4], "t": 0.3, "steps": 2e-5,
    },
    "settling block": {"system": settling_block(), "q": [0, 0.06, 0.17], "v": [0.0, 0, 0], "t": 0.2, "steps": 1e-5},
    "zeno block": {"system": zeno_block(), "q": [0, 1.2, 0.2], "v": [0.0, 0, -0.2], "t": 0.5, "steps": 1e-4},
    "box and wall": {"system": box_and_wall(), "q": [-1.0, 0.75, 1.3], "v": [1.0, 0, 0], "t": 0.35},
    "point and hill": {"system": point_and_hill(0.5), "q": [-0.5, 0.05], "v": [2.0, 0], "t": 0.4},
    "ceiling": {"system": ceiling(), "q": [0.5], "v": [4.0], "t": 0.4},
    "curve b": {"system": curve("b"), "q": [-0.2, 0.05], "v": [0.5, -0.3], "t": 0.3},
    "compass gait": {
        "system": compass_gait(), "q": [0, 1.05, 0.3, -0.35], "v": [0.2, 0, 0.4, -0.2], "t": 0.3, "steps": 2e-4,
    },
    "disk stack": {
        "system": DiskStack(),
        "q": [0.05, 2.9, 0, -1.001, 1.002, 0, 1.001, 1.01, 0],
        "v": [0, 0, 0, 0.01, 0, 0, 0, 0, 0],
        "t": 0.2,
        "steps": 1e-5,
    },
    "RAMone": {
        "system": ramone(),
        "q": [0, 0.62, 0.1, -0.3, 0.4, 0.5, 0.3], "v": [0.2, 0, 0.1, 0.1, 0.2, 0, 0], "t": 0.16, "steps": 2e-5,
    },
    "slip that ends in the plane": {"system": plane(), "q": [0, 0.1], "v": [1.0, 0], "t": 0.6},
    "slip that turns back": {"system": plane(slope=6.0, mu=0.3), "q": [0, 0.1], "v": [1.5, 0], "t": 0.8},
    "stick that ends under a force in time": {
        "system": plane(force=pushed), "q": [0, 0.1], "v": [0.1, 0], "t": 0.7,
    },
    "liftoff where efforts switch": {
        "system": plane(mu=0.0, force=thrust), "q": [0.0, 0.01], "v": [0.3, 0.0], "t": 0.6, "steps": 1e-4,
    },
    "liftoff from a curve": {
        "system": plane(mu=0.0, surface=y - 0.3 * sympy.sin(2 * x), slope=0.5),
        "q": [0.1, 0.1], "v": [4.2, 1.5], "t": 0.4, "steps": 1e-4,
    },
    "slip that ends in space": {"system": space(), "q": [0, 0, 0.05], "v": [0.8, 0.5, 0], "t": 0.5},
    "slip that ends on a slope in space": {"system": space(slope=2.0), "q": [0, 0, 0.05], "v": [0.3, 0.5, 0], "t": 0.7},
    "slip that ends among couplings in space": {
        "system": coupled(), "q": [0, 0, 0.05, 0.1], "v": [0.3, 0.4, 0, 0.1], "t": 0.9,
    },
}  # fmt: skip


def directional(case, direction, step):
    """Central difference of the outcome along one direction, within one word."""
    system, t = case["system"], case["t"]
    q, v = np.array(case["q"], float), np.array(case["v"], float)
    n, found, words = len(v), [], set()
    for sign in (1.0, -1.0):
        moved = sign * step * direction
        there = simulate(system, q + moved[:n], v + moved[n:], t, **EXACT)
        words.add(there.word)
        found.append(np.concatenate((there.q[-1], there.v[-1])))
    assert len(words) == 1, words
    return (found[0] - found[1]) / (2.0 * step)


@pytest.mark.parametrize("name", CASES)
def test_derivative_of_an_execution_is_its_difference(name):
    case = CASES[name]
    execution = simulate(case["system"], case["q"], case["v"], case["t"], **EXACT)
    flow = variational_flow(execution)
    assert flow.inadmissible is None, flow.inadmissible
    assert flow.end == case["t"]
    assert len(execution.events) > 0
    rng = np.random.default_rng(3)
    step = case.get("steps", 1e-3)
    direction = rng.normal(size=2 * len(case["v"]))
    exact = flow.matrix @ direction
    size = max(1.0, float(np.abs(exact).max()))
    errors = [float(np.abs(directional(case, direction, h) - exact).max()) / size for h in (2 * step, step)]
    assert errors[1] < 2e-4, errors
    # Below 1e-6 differences feel the tolerances of the executions.
    assert errors[1] < 1e-6 or np.log2(errors[0] / errors[1]) > 1.6, errors


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("liftoff from a curve", "liftoff"),
        ("liftoff where efforts switch", "liftoff"),
        ("slip that ends in the plane", "stick"),
        ("slip that ends in space", "stick"),
        ("slip that turns back", "reversal"),
        ("stick that ends under a force in time", "slip"),
        ("ceiling", "touchdown"),
    ],
)
def test_the_cases_have_the_events_that_they_are_named_after(name, kind):
    case = CASES[name]
    flow = variational_flow(simulate(case["system"], case["q"], case["v"], case["t"]))
    found = [one for one in flow.saltations if one.kind == kind]
    assert found
    identity = np.array_equal(found[-1].matrix, np.eye(2 * len(case["v"])))
    assert identity == (kind in ("liftoff", "slip") and "switch" not in name)


INADMISSIBLE = {
    "grazing a ceiling": (ceiling(), [0.0], [np.sqrt(2 * 9.81)], 0.6, {}, Validity.GRAZING),
    "a bouncing ball, truncated": (
        ball_on_sinusoid(), *state_before_first_impact(0.5), 3.0, {"truncation": Tolerances()}, Validity.ZENO,
    ),
    "a bouncing ball, followed to rest": (
        ball_on_sinusoid(), *state_before_first_impact(0.5), 3.0, {}, Validity.ZENO,
    ),
    "a block that lands flat": (rocking_block(), [0, 1.1, 0.0], [0, 0, 0], 0.3, {}, Validity.SIMULTANEOUS),
    "a massless leg that slips under its mass": (
        one_leg(0.4, torque=lambda time, q, v: -60.0 * time),
        [0.0, LENGTH * np.cos(0.3), 0.3], np.zeros(3), 0.3, {}, Validity.SINGULAR,
    ),
    "a rod that jams": (
        painleve_rod(2.0), *rod_state(np.arctan(2.0) * 0.9, -3.0, 0.0), 0.1, {}, Validity.WITHOUT_COLLISION,
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", INADMISSIBLE)
def test_the_first_inadmissible_event_ends_the_derivative_and_says_why(name):
    system, q, v, t, options, validity = INADMISSIBLE[name]
    flow = variational_flow(simulate(system, q, v, t, **options))
    assert flow.inadmissible is not None
    assert flow.inadmissible.validity is validity, flow.inadmissible
    assert flow.inadmissible.why
    assert flow.end < t
    assert np.isfinite(flow.matrix).all()
    with pytest.raises(ValueError, match="is not within"):
        flow.at(t)
