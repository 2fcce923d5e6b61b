"""When the belief closes a contact that still seems to sink."""

import numpy as np
import pytest

from hybrid_contact_ros.kernels.estimation.belief_step import decide_closed


@pytest.mark.parametrize(("gap", "rate", "stopped", "closes"), [
    (0.006, -1.0, -1.0, False),  # nothing has stopped it yet, however certain it is that something will
    (0.006, -0.15, 0.01, True),  # an impact has, and the base that comes late has it sink
    (0.006, -0.05, -1.0, True),
    (-0.001, -1.0, -1.0, True),
])  # fmt: skip
def test_a_contact_that_is_believed_closes_unless_it_is_still_arriving(gap, rate, stopped, closes):
    closed, evidence = np.zeros(1, np.uint8), np.zeros(1)
    probability = np.array([[0.99, 0.0]])
    decide_closed(0.6, 0.4, 0.1, np.array([gap]), np.array([rate]), np.array([stopped]), probability, closed, evidence)
    assert bool(closed[0]) is closes
    assert evidence[0] == pytest.approx(0.49 if closes else 0.0)
