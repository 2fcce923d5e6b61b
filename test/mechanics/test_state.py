"""RobotState names its faults."""

from __future__ import annotations

import numpy as np
import pytest

from hybrid_contact_ros.mechanics.state import RobotState


def test_a_good_state_has_no_fault():
    assert RobotState(0, np.zeros(3), np.zeros(2)).fault(3, 2) is None
    assert RobotState(0, np.zeros(3), np.zeros(2), np.zeros(2)).fault(3, 2) is None


@pytest.mark.parametrize(
    ("state", "says"),
    [
        (RobotState(0, np.zeros(2), np.zeros(2)), "q has shape (2,), the model needs (3,)"),
        (RobotState(0, np.zeros(3), np.zeros((2, 1))), "v has shape (2, 1), the model needs (2,)"),
        (RobotState(0, np.zeros(3), np.zeros(2), np.zeros(1)), "effort has shape (1,), the model needs (2,)"),
        (RobotState(0, np.array([0, np.nan, 0]), np.zeros(2)), "q[1] is nan, every entry must be finite"),
        (RobotState(0, np.zeros(3), np.array([0, -np.inf])), "v[1] is -inf, every entry must be finite"),
        (
            RobotState(0, np.zeros(3), np.zeros(2), np.array([np.nan, 0])),
            "effort[0] is nan, every entry must be finite",
        ),
    ],
)
def test_faults_are_named(state, says):
    assert state.fault(3, 2) == says
