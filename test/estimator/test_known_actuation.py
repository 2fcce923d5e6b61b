"""What is said of forces without effort, and by the momentum observer."""

from __future__ import annotations

import numpy as np
import pytest

from helpers.bodies import GRAVITY, MASS, arm, block, free
from hybrid_contact_ros.codes import EventKind, Flag, Validity


def test_without_effort_nothing_is_said_of_forces():
    thing, states = arm(effort_known=False)
    first = thing.update(states[0])
    assert first.mode.next_event[0] == EventKind.TOUCHDOWN and not first.mode.validity & Validity.EFFORT
    for state in states[1:]:
        answer = thing.update(state)
    assert answer.mode.closed.tolist() == [True, False]
    assert np.isnan(answer.mode.force_model[0]).all() and not answer.mode.force_model[1].any()
    assert answer.mode.force_valid.tolist() == [False, True] and not answer.mode.validity & Validity.FORCES
    assert np.isnan(answer.mode.force_estimate).all()
    assert not answer.mode.validity & Validity.EFFORT
    assert (answer.stability.constraint_stability == Flag.UNDECIDED).all()


def test_the_momentum_observer_finds_the_weight_at_rest_and_says_when_it_has_settled():
    weight = pytest.approx([0, 0, MASS * GRAVITY], abs=1e-3)
    thing = block()
    answers = [thing.update(free(i * 1_000_000, 0.05)) for i in range(200)]
    assert not answers[8].mode.validity & Validity.FORCE_ESTIMATE
    assert np.isnan(answers[8].mode.force_estimate).all()
    for settled in (answers[12], answers[-1]):  # 10 ms after a robot at rest is first seen, and from then on
        assert settled.mode.validity & Validity.FORCE_ESTIMATE
        assert settled.mode.force_estimate.sum(axis=0) == weight
    late = [thing.update(free(10**9 + i * 1_000_000, 0.05)) for i in range(13)]  # after a pause
    assert not late[0].mode.validity & Validity.FORCE_ESTIMATE
    assert late[-1].mode.validity & Validity.FORCE_ESTIMATE
    assert late[-1].mode.force_estimate.sum(axis=0) == weight


def test_a_gain_of_zero_switches_the_observer_off():
    thing = block(observer={"gain": 0.0})
    answers = [thing.update(free(i * 1_000_000, 0.05)) for i in range(100)]
    assert np.isnan(answers[-1].mode.force_estimate).all()
