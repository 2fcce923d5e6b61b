"""What an update computes only once: Pinocchio's algorithms, and three compiled calls."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pinocchio as pin
import pytest

from helpers.bodies import GRAVITY, MASS, NO_DEADLINE, block, free, landing
from hybrid_contact_ros.codes import Validity
from hybrid_contact_ros.estimator import Parts
from hybrid_contact_ros.mechanics.problem import ContactProblem


@pytest.mark.parametrize("effort_known", [True, False])
def test_an_update_runs_two_algorithms_of_pinocchio_and_three_kernels_once_each(monkeypatch, effort_known):
    """Also where the mode is solved twice, where the observer's forces are used, and where flags are wanted."""
    thing, states, calls = block(**NO_DEADLINE), landing(), Counter[str]()
    # Then it is pulled up until its contacts carry too little to count as closed: the mode is solved without them.
    last = states[-1].stamp_ns
    states += [free(last + i * 2_000_000, 0.05, force=(0, 0, 0.95 * MASS * GRAVITY)) for i in range(1, 40)]

    def counted(name, function):
        def call(*arguments):
            calls[name] += 1
            return function(*arguments)

        return call

    algorithms = [name for name, value in vars(pin).items() if type(value).__name__ == "function"]
    for name in algorithms:
        monkeypatch.setattr(pin, name, counted(name, getattr(pin, name)))
    thing.update(states[0])  # kernels are bound in their first call
    thing.reset()
    calls.clear()
    doors = {
        "problem": thing.model._contact_problem,
        "measure": thing._engine._measure,
        "update": thing._engine._update,
    }
    for name, bound in doors.items():
        monkeypatch.setattr(bound, "call", counted(name, bound.call))
    monkeypatch.setattr(ContactProblem, "jacobian", counted("J", ContactProblem.jacobian))
    for name in ("solve", "inv", "cholesky", "eigh", "lstsq"):
        monkeypatch.setattr(np.linalg, name, counted("linalg", getattr(np.linalg, name)))
    if not effort_known:  # of a robot with joints: a single body needs none
        monkeypatch.setattr(thing._engine, "_passive", False)
        states = [type(s)(s.stamp_ns, s.q, s.v) for s in states]
    estimates = 0
    for state in states:
        answer = thing.update(state, Parts.ALL & ~Parts.IMPACT)
        estimates += bool(answer.mode.validity & Validity.FORCE_ESTIMATE)
    once = ("crba", "nonLinearEffects", "problem", "measure", "update")
    assert calls == Counter({name: len(states) for name in once})
    if effort_known:
        assert estimates > 0
