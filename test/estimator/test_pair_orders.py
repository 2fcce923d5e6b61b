"""Pairs of touchdowns whose order changes the outcome, in every prediction."""

import numpy as np
import pytest

from helpers.bodies import BALL, body, free
from hybrid_contact_ros.codes import Flag
from hybrid_contact_ros.config import EstimatorConfig
from hybrid_contact_ros.estimator import ContactEstimator
from hybrid_contact_ros.mechanics.model import RigidBodyModel
from hybrid_contact_ros.mechanics.state import RobotState
from hybrid_contact_ros.sensitivity.orders import order_outcomes

HALF = 1.0 / np.sqrt(200.0)  # m, the body's radius of gyration: legs there are decoupled, but for friction


def two_legs(place, friction, **more):
    return body([place, 0.0, -0.05, -place, 0.0, -0.05], contact={"friction": friction, **more})


def at_impact(estimator, state, time):
    """The contact problem when the first contact touches, by free fall."""
    v = state.v.copy()
    v[2] -= 9.81 * time
    return estimator.model.problem(RobotState(0, state.q, v, state.effort))


@pytest.mark.parametrize(
    ("place", "friction", "flag"),
    [
        (0.03, 0.0, Flag.HOLDS),  # cosine 0.69
        (0.1, 0.0, Flag.FAILS),  # cosine −0.33
        (HALF, 0.0, Flag.FAILS),  # cosine 0
        (HALF, 0.8, Flag.HOLDS),  # cosine 0, and friction
    ],
)
def test_flag_and_margin_are_those_of_the_two_orders(place, friction, flag):
    estimator = two_legs(place, friction)
    state = free(0, 0.06, (0.0, 0.0, -1.0))
    stability = estimator.update(state).stability
    assert stability.pair_order_sensitive.tolist() == [flag]
    expected = order_outcomes(at_impact(estimator, state, 0.0097), [0, 1]).margin
    assert stability.pair_order_margin[0] == pytest.approx(expected, abs=1e-6)


def test_restitution_counts():
    estimator = two_legs(0.1, 0.0, restitution=0.5)
    state = free(0, 0.06, (0.0, 0.0, -1.0))
    stability = estimator.update(state).stability
    found = order_outcomes(at_impact(estimator, state, 0.0097), [0, 1], max_impacts=6)
    assert stability.pair_order_sensitive.tolist() == [Flag.CUT if found.cut else Flag.HOLDS]
    assert stability.pair_order_margin[0] == pytest.approx(found.margin, abs=1e-6)
    assert found.margin > 0.02


def test_pairs_with_one_possible_order_fail_without_a_margin():
    estimator = two_legs(0.03, 0.5)
    resting = estimator.update(free(0, 0.05)).stability
    assert resting.pair_order_sensitive.tolist() == [Flag.FAILS]
    assert resting.pair_order_margin.tolist() == [0.0]
    tilted = free(0, 0.09, (0.0, 0.0, -0.5))
    tilted.q[3:7] = 0.0, np.sin(0.15), 0.0, np.cos(0.15)  # one leg lands long before the other
    apart = two_legs(0.1, 0.5).update(tilted).stability
    assert apart.pair_order_sensitive.tolist() == [Flag.FAILS]
    assert apart.pair_order_margin.tolist() == [0.0]


def test_closed_contacts_take_part():
    """A third leg that rests changes what the order of two landing legs does."""
    points = [-0.1, 0.0, -0.05, 0.1, 0.1, -0.05, 0.1, -0.1, -0.05]
    config = EstimatorConfig.from_mapping({"contacts": {"foot": {"link": "ball", "points": points, "friction": 0.0}}})
    estimator = ContactEstimator(RigidBodyModel.from_urdf(BALL, config), config)
    tilt = 0.02
    q = np.array([0.0, 0.0, 0.0, 0.0, -np.sin(tilt / 2), 0.0, np.cos(tilt / 2)])
    q[2] = -estimator.model.problem(RobotState(0, q, np.zeros(6))).gap[0]
    v = np.zeros(6)
    v[4] = 1.0
    v[:3] = -np.cross(v[3:], points[:3])  # turns about the resting leg
    state = RobotState(0, q, v, np.zeros(6))
    stability = estimator.update(state).stability
    assert stability.closed.tolist() == [True, False, False]
    pairs = list(zip(stability.pair_first.tolist(), stability.pair_second.tolist(), strict=True))
    assert pairs == [(0, 1), (0, 2), (1, 2)]
    assert stability.pair_order_margin[:2].tolist() == [0.0, 0.0]
    problem = estimator.model.problem(RobotState(0, q, v, np.zeros(6)))
    with_it, without = (order_outcomes(problem, [1, 2], closed=closed).margin for closed in ([0], []))
    assert stability.pair_order_margin[2] == pytest.approx(with_it, abs=0.01)
    assert abs(with_it - without) > 0.03


def test_pairs_beyond_the_bounded_work_are_cut():
    grid = [x for i in range(4) for j in range(3) for x in (0.05 * (i - 1.5), 0.05 * (j - 1), -0.05)]
    stability = body(grid).update(free(0, 0.06, (0.0, 0.0, -1.0))).stability
    cut = stability.pair_order_sensitive == Flag.CUT
    assert stability.pair_first.size == 66
    assert 0 < cut.sum() < 66
    np.testing.assert_array_equal(np.isnan(stability.pair_order_margin), cut)
