"""Reliable truncation (O Theorem 3) inside executions: a truncated execution goes where the other one goes."""

import numpy as np
import pytest
import sympy

from helpers.execution_systems import GRAVITY, bouncing_ball
from hybrid_contact_ros.simulation.execution import EventKind
from hybrid_contact_ros.simulation.options import Tolerances
from hybrid_contact_ros.simulation.simulate import simulate
from hybrid_contact_ros.systems.lagrangian import Constraint, LagrangianSystem

pytest.importorskip("hybrid_contact_ros.stability.truncation", reason="reliable truncation is not in this tree")


def test_truncated_ball_has_its_zeno_time_in_the_bounds():
    execution = simulate(bouncing_ball(0.5), [1.0], [0.0], 2.0, truncation=Tolerances(1e-3, 1e-2, 1e-2))
    ((lower, upper),) = execution.zeno_times
    assert lower - 1e-9 <= 3.0 * np.sqrt(2.0 / GRAVITY) <= upper + 1e-9
    assert execution.events[-1].kind is EventKind.TRUNCATION
    assert execution.word[-1] == "{ground}"


def test_truncated_ball_on_a_wave_slides_on_as_the_other_one_does():
    x, y = sympy.symbols("x y")
    wave = Constraint("wave", y - sympy.sin(x), restitution=0.5)
    system = LagrangianSystem("ball on a wave", [x, y], sympy.eye(2), GRAVITY * y, [wave])
    whole = simulate(system, [0.3, 1.5], [1.0, 0.0], 3.0)
    cut = simulate(system, [0.3, 1.5], [1.0, 0.0], 3.0, truncation=Tolerances(1e-2, 1e-2, 1e-2))
    assert cut.events[-1].kind is EventKind.TRUNCATION
    assert len(cut.events) < len(whole.events)
    ((lower, upper),) = cut.zeno_times
    assert lower - 1e-6 <= whole.zeno_times[0][0] <= upper + 1e-6
    np.testing.assert_allclose(cut.q[-1], whole.q[-1], atol=1e-3)
