"""Ranges over boxes contain what is found at the states inside."""

import numpy as np
import pytest
import sympy
from hypothesis import given, settings
from hypothesis import strategies as st

from hybrid_contact_ros.stability.interval_ranges import IntervalRanges, range_finder
from hybrid_contact_ros.stability.intervals import Interval
from hybrid_contact_ros.stability.ranges import bouncing
from hybrid_contact_ros.stability.sampled_ranges import SampledRanges
from hybrid_contact_ros.systems.ball_on_sinusoid import ball_on_sinusoid
from hybrid_contact_ros.systems.lagrangian import Constraint, LagrangianSystem
from hybrid_contact_ros.systems.pendulum_with_stop import pendulum_with_stop


def arm(held_friction=0.5, tip_friction=0.3):
    """Two links on a cart, its wheel on a floor and the tip over a bumpy one."""
    x, y, a, b = q = sympy.symbols("x y a b")
    elbow = sympy.Matrix([x + sympy.cos(a), y + sympy.sin(a)])
    tip = elbow + sympy.Matrix([sympy.cos(a + b), sympy.sin(a + b)]) / 2
    rows = [sympy.Matrix([p]).jacobian(sympy.Matrix(q)) for p in (x, tip[0])]
    inertia = sympy.eye(4)
    for point, mass in ((elbow, 2), (tip, sympy.Rational(1, 3))):
        inertia += mass * point.jacobian(q).T * point.jacobian(q)
    constraints = [
        Constraint("wheel", y, (rows[0],), held_friction),
        Constraint("tip", tip[1] - sympy.sin(tip[0]) / 5, (rows[1],), tip_friction, 0.5),
        Constraint("ceiling", 3 - elbow[1]),
    ]
    return LagrangianSystem("arm", q, inertia, 9 * (y + 2 * elbow[1] + tip[1]), constraints)


SYSTEMS = [
    (ball_on_sinusoid(), 0, []),
    (pendulum_with_stop(), 0, []),
    (arm(0.0, 0.0), 1, []),
    (arm(0.0, 0.3), 1, []),
    (arm(0.5, 0.3), 1, [0]),
    (arm(0.0, 0.0), 1, [0]),
]


@settings(max_examples=10)
@given(st.integers(0, 10**6), st.floats(1e-6, 0.05))
@pytest.mark.parametrize("case", range(len(SYSTEMS)))
@pytest.mark.parametrize("guaranteed", [True, False])
def test_ranges_contain_the_values_inside(case, guaranteed, seed, size):
    system, contact, held = SYSTEMS[case]
    rng = np.random.default_rng(seed)
    n = system.nv
    centre = rng.uniform(-0.5, 0.5, 2 * n)
    radius = size * rng.uniform(0.0, 1.0, 2 * n)
    problem = system.problem(centre[:n], centre[n:])
    find = range_finder(system, problem, contact, held) if guaranteed else SampledRanges(system, contact, held)
    assert find.guaranteed is guaranteed
    box = Interval.of(centre - radius, centre + radius)
    found, (gap, gap_velocity) = find(box), find.gaps(box)
    if found is None:  # some impulse of the cone might do nothing to the tip
        assert size > 0.01 and problem.friction[contact] > 0.0
        return
    room = 1e-12 if guaranteed else 1e-6  # near extrema, samples may see no slope
    for _ in range(8):
        x = rng.uniform(box.lo, box.hi)
        problem = system.problem(x[:n], x[n:])
        point = bouncing(problem, contact, held)
        rate = problem.normal_jacobian[contact] @ problem.velocity
        for value, enclosure in (
            (problem.gap[contact], gap),
            (rate, gap_velocity),
            (point.acceleration, found.gap_acceleration),
            (point.direction, found.direction),
            (point.cone, found.direction),
            (point.free, found.free),
            (point.free - found.middle * point.acceleration, found.slide),
        ):
            assert (enclosure.lo - room <= value).all() and (value <= enclosure.hi + room).all()
        others = np.delete(problem.gap, [contact, *held])
        assert found.others <= others.min(initial=np.inf) + room
        assert found.held <= point.held.min(initial=np.inf) + room


@pytest.mark.parametrize("case", range(len(SYSTEMS)))
def test_intervals_overestimate_by_second_order(case):
    """A tenth of the box: a hundredth of the width beyond that of the states inside (without friction at the tip)."""
    system, contact, held = SYSTEMS[case]
    n = system.nv
    rng = np.random.default_rng(3)
    centre = rng.uniform(-0.5, 0.5, 2 * n)
    problem = system.problem(centre[:n], centre[n:])
    find = range_finder(system, problem, contact, held)
    assert isinstance(find, IntervalRanges)
    excess = []
    for size in (1e-2, 1e-3):
        found = find(Interval.of(centre - size, centre + size)).gap_acceleration
        slopes = [
            bouncing(system.problem(*np.split(centre + size * 0.5 * step, 2)), contact, held).acceleration
            - bouncing(system.problem(*np.split(centre - size * 0.5 * step, 2)), contact, held).acceleration
            for step in np.eye(2 * n)
        ]
        excess.append(float(found.hi - found.lo) - 2 * np.abs(slopes).sum())
    assert excess[1] < excess[0] / 50


def test_unsupported_functions_fall_back_on_samples():
    x = sympy.Symbol("x")
    system = LagrangianSystem("odd", (x,), sympy.eye(1), sympy.sinh(x), [Constraint("wall", x)])
    assert isinstance(range_finder(system, system.problem([0.1], [0.0]), 0), SampledRanges)
