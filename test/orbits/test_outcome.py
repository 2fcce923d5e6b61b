"""All pieces of the outcome of an execution, against the flow along one direction, which is derived apart."""

import numpy as np
import pytest
from scipy.integrate import solve_ivp

from helpers.landing_feet import CASES, EXACT
from hybrid_contact_ros import outcome_derivative, simulate
from hybrid_contact_ros.orbits.directional import directional_flow
from hybrid_contact_ros.sensitivity.saltation import Validity
from hybrid_contact_ros.systems.trotters import soft_trotter, soft_trotter_apex


@pytest.mark.parametrize("t, words", [(0.5, 2), (1.3, 4)])
def test_pieces_through_one_and_two_instants_agree_with_the_directional_flow(t, words):
    run = simulate(soft_trotter(), *soft_trotter_apex(), t, **EXACT)
    outcome = outcome_derivative(run)
    assert outcome.map.validity is Validity.VALID
    assert 2 <= len(outcome.map.pieces) <= words
    rng, seen = np.random.default_rng(0), set()
    for _ in range(6):
        z = rng.normal(size=8)
        piece = outcome.map.at(z)
        flow = directional_flow(run, z, rtol=1e-9, atol=1e-11)
        assert flow.end == t
        assert flow.orders == piece.word
        np.testing.assert_allclose(outcome.map.apply(z), flow.change, atol=1e-5 * np.abs(flow.change).max())
        seen.add(piece.word)
    assert len(seen) > 1


def earlier(system, q, v, span):
    """The state in flight from which (q, v) is reached."""
    n = len(q)

    def field(_, x):
        problem = system.problem(x[:n], x[n:])
        return np.concatenate((x[n:], np.linalg.solve(problem.mass, -problem.bias_force)))

    found = solve_ivp(field, (0.0, -span), np.concatenate((q, v)), method="DOP853", rtol=1e-12, atol=1e-14)
    return found.y[:n, -1], found.y[n:, -1]


def test_three_feet_have_six_pieces_which_differences_of_the_simulation_approach():
    system, q, v, _ = CASES["three feet"]
    q0, v0 = earlier(system, np.array(q, float), np.array(v, float), 0.03)
    run = simulate(system, q0, v0, 0.07, **EXACT)
    assert run.events[0].contacts == {0, 1, 2}
    outcome = outcome_derivative(run)
    assert {piece.word[0] for piece in outcome.map.pieces} == {
        (0, 1, 2), (0, 2, 1), (1, 0, 2), (1, 2, 0), (2, 0, 1), (2, 1, 0)
    }  # fmt: skip
    assert outcome.tangent.shape == (8, 2)  # the feet stand, and the load moves
    start, n = np.concatenate((run.q[-1], run.v[-1])), len(q0)
    rng = np.random.default_rng(1)
    for _ in range(3):
        z = rng.normal(size=8)
        z /= np.linalg.norm(z)
        errors = []
        for step in (1e-3, 1e-4):
            moved = simulate(system, q0 + step * z[:n], v0 + step * z[n:], 0.07, **EXACT)
            change = (np.concatenate((moved.q[-1], moved.v[-1])) - start) / step
            errors.append(np.abs(change - outcome.map.apply(z)).max())
        assert errors[1] < 0.15 * errors[0] and errors[1] < 0.05, errors
