"""What an update computes only once: the stacked Jacobian, and the factor of the mass matrix."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest

from helpers.bodies import GRAVITY, MASS, NO_DEADLINE, block, free, landing
from hybrid_contact_ros.codes import Validity
from hybrid_contact_ros.estimator import Parts
from hybrid_contact_ros.mechanics.problem import ContactProblem
from hybrid_contact_ros.modes import workspace


@pytest.mark.parametrize("effort_known", [True, False])
def test_an_update_stacks_j_and_factors_m_once(monkeypatch, effort_known):
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

    monkeypatch.setattr(ContactProblem, "jacobian", counted("J", ContactProblem.jacobian))
    monkeypatch.setattr(workspace, "contact_space", counted("M", workspace.contact_space))
    monkeypatch.setattr(workspace, "force_acceleration", counted("mode", workspace.force_acceleration))
    for name in ("solve", "inv", "cholesky", "eigh", "lstsq"):
        monkeypatch.setattr(np.linalg, name, counted("linalg", getattr(np.linalg, name)))
    if not effort_known:  # of a robot with joints: a single body needs none
        monkeypatch.setattr(thing._reader, "_passive", False)
        states = [type(s)(s.stamp_ns, s.q, s.v) for s in states]
    estimates = 0
    for state in states:
        answer = thing.update(state, Parts.ALL & ~Parts.IMPACT)
        estimates += bool(answer.mode.validity & Validity.FORCE_ESTIMATE)
    assert calls["J"] == calls["M"] == len(states) and calls["linalg"] == 0
    if effort_known:
        assert calls["mode"] > len(states) and estimates > 0
