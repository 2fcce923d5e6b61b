"""Bad input of the sensitivity functions: a sentence that says what was wrong, never an index error or endless work."""

import numpy as np
import pytest

from hybrid_contact_ros import ContactProblem, order_outcomes, saltation_matrix, simulate, variational_flow
from hybrid_contact_ros.systems.painleve_rod import painleve_rod

AT, FALLING = [0.0, 1.0, np.pi / 2], [0.0, -1.0, 0.0]
KINDS = ("touchdown", "liftoff", "slip", "stick", "reversal")


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    ("q", "v", "contacts", "modes"),
    [
        ([0.0, np.nan, 0.0], FALLING, 0, {}),
        (AT, [0.0, np.inf, 0.0], 0, {}),
        (AT, [0.0, -1.0], 0, {}),
        (AT, FALLING, 5, {}),
        (AT, FALLING, -1, {}),
        (AT, FALLING, 0.5, {}),
        (AT, FALLING, "a", {}),
        (AT, FALLING, 0, {"before": [7]}),
        (AT, FALLING, 0, {"after": [7]}),
    ],
)
def test_a_saltation_matrix_refuses_what_is_no_state_contact_or_mode(kind, q, v, contacts, modes):
    with pytest.raises(ValueError, match=r"."):
        saltation_matrix(painleve_rod(friction=0.5), q, v, kind, contacts, **modes)


def test_a_numpy_integer_is_a_contact():
    found = saltation_matrix(painleve_rod(friction=0.5), AT, FALLING, "touchdown", np.int64(0))
    assert found.contacts == {0}


@pytest.mark.parametrize(
    "wrong",
    [
        {"controls": lambda *_: np.full((3, 1), np.nan)},
        {"controls": lambda *_: np.zeros(3)},
        {"controls": lambda *_: np.zeros((7, 2))},
        {"rtol": 0.0},
        {"rtol": np.nan},
        {"atol": -1.0},
    ],
)
def test_a_flow_refuses_tolerances_and_controls_that_have_no_end(wrong):
    execution = simulate(painleve_rod(friction=1.0), q=[0.36, 1.03, 1.2], v=[0.2, 0.1, 0.3], t_final=0.1)
    with pytest.raises(ValueError, match=r"needed"):
        variational_flow(execution, **wrong)


def test_a_flow_names_what_a_touchdown_loses():
    execution = simulate(painleve_rod(friction=1.0), q=[0.36, 1.03, 1.2], v=[0.2, 0.1, 0.3], t_final=0.3)
    (touchdown, *_) = variational_flow(execution).saltations
    assert len(touchdown.lost) == len(touchdown.required()) - touchdown.rank() == 3


def test_orders_refuse_a_closed_contact_that_approaches_and_indices_that_are_none():
    ends = np.array([[1.0, 0.5], [1.0, -0.5]])
    bar = ContactProblem(np.eye(2), np.array([-1.0, 0.0]), ends, np.zeros((2, 1, 2)), np.zeros(2))
    with pytest.raises(ValueError, match=r"contact 1 is closed and approaches at 1 m/s"):
        order_outcomes(bar, [0], closed=[1])
    for wrong in (None, [0.5], "a"):
        with pytest.raises(ValueError, match=r"contacts"):
            order_outcomes(bar, wrong)
    assert len(order_outcomes(bar, [0.0, 1.0]).orders) == 2
