"""Friction and restitution that change with the state: derivatives against differences of ``simulate``."""

import numpy as np
import pytest

from hybrid_contact_ros import ContactProblem, simulate
from hybrid_contact_ros.orbits.flow import variational_flow

EXACT = {"rtol": 1e-11, "atol": 1e-13}
Q, V = np.array([0.0, 0.2]), np.array([2.0, -1.0])


class Puck:
    """A point over ground whose friction falls with the slip (Stribeck) and on the way, and restitution with speed."""

    contact_names = ("ground",)

    def __init__(self, bounces, smooth=True):
        self.bounces, self.smooth_coefficients = bounces, smooth

    def problem(self, q, v, time=0.0):
        mu = 0.2 + 0.3 * np.exp(-(v[0] ** 2)) + 0.05 * np.sin(q[0])
        e = 0.8 / (1.0 + 0.2 * abs(v[1])) if self.bounces else 0.0
        return ContactProblem(np.eye(2), v, [[0.0, 1.0]], [[[1.0, 0.0]]], [mu], [e], [q[1]], [-self.pull(time), 9.81])

    def pull(self, time):
        return 0.0


class Pulled(Puck):
    """A pull that grows makes it slip again."""

    def pull(self, time):
        return 8.0 * max(time - 0.9, 0.0) ** 2


CASES = {
    "bounces": (Puck(True), 0.7, ["touchdown"] * 4),
    "slides": (Puck(False), 0.4, ["touchdown"]),
    "stops and slips": (Pulled(False), 1.9, ["touchdown", "stick", "slip"]),
}


@pytest.mark.parametrize("name", CASES)
def test_derivative_takes_changing_coefficients_in(name):
    system, end, kinds = CASES[name]
    execution = simulate(system, Q, V, end, **EXACT)
    assert [event.kind.value for event in execution.events] == kinds
    flow = variational_flow(execution)
    assert flow.inadmissible is None
    exact = flow.matrix
    errors = []
    for step in (1e-3, 5e-4):
        found = []
        for h in step * np.eye(4):
            ends = [simulate(system, Q + s * h[:2], V + s * h[2:], end, **EXACT) for s in (1.0, -1.0)]
            assert {there.word for there in ends} == {execution.word}
            there, back = (np.concatenate((one.q[-1], one.v[-1])) for one in ends)
            found.append((there - back) / (2.0 * step))
        errors.append(float(np.abs(np.array(found).T - exact).max()))
    assert errors[1] < 1e-5 and (errors[1] < 1e-6 or np.log2(errors[0] / errors[1]) > 1.6), errors
    system.smooth_coefficients = False
    without = variational_flow(simulate(system, Q, V, end, **EXACT)).matrix
    system.smooth_coefficients = True
    assert np.abs(without - exact).max() > 1e-3
