"""What the diagnostics are told of states that were answered (nodes/state_notes.py)."""

from types import SimpleNamespace

import numpy as np
import pytest

from helpers.recordings import WALKER
from hybrid_contact_ros.estimator import ContactEstimator, Parts
from hybrid_contact_ros.mechanics.model import RigidBodyModel
from hybrid_contact_ros.mechanics.state import RobotState
from hybrid_contact_ros.nodes.state_notes import StateNotes


@pytest.mark.parametrize(("period_ms", "efforts", "told"), [(50, True, True), (5, True, False), (50, False, False)])
def test_efforts_that_come_too_seldom_to_tell_forces_are_told_with_what_to_do(walker, period_ms, efforts, told):
    estimator = ContactEstimator(RigidBodyModel.from_urdf(WALKER, walker), walker)
    said = []
    monitor = SimpleNamespace(note=lambda kind, words: said.append((kind, words)), ground=lambda words: None)
    notes = StateNotes(estimator, walker, monitor)
    q = estimator.model.neutral()
    q[2] = 0.5
    effort = np.array([0.0, 0, 0, 0, 0, 0, -24.5, -24.5]) if efforts else None
    for k in range(1, 6):
        state = RobotState(k * period_ms * 10**6, q, np.zeros(8), effort)
        notes.take(state, estimator.update(state, Parts.MODE).mode)
    found = [words for kind, words in said if kind == "apart"]
    assert len(found) == (4 if told else 0)
    assert not told or found[0] == "50 ms; efforts tell of the ground alone, publish more than 40 Hz"
