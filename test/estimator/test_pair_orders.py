"""Pairs of touchdowns whose order changes the outcome, in every prediction."""

import numpy as np
import pytest

from helpers.bodies import BALL, body, free
from hybrid_contact_ros.codes import EventKind, Flag
from hybrid_contact_ros.config import EstimatorConfig
from hybrid_contact_ros.estimator import ContactEstimator
from hybrid_contact_ros.kernels.modes.records import mode_scratch
from hybrid_contact_ros.kernels.stability.chain_impact import LITTLE
from hybrid_contact_ros.kernels.stability.pair_orders import (
    BYTES,
    VECTORS,
    PairProblem,
    PairScratch,
    PairSettings,
    PairsOut,
    pair_orders,
)
from hybrid_contact_ros.mechanics.model import RigidBodyModel
from hybrid_contact_ros.mechanics.problem import ContactProblem
from hybrid_contact_ros.mechanics.state import RobotState
from hybrid_contact_ros.sensitivity.orders import order_outcomes

HALF = 1.0 / np.sqrt(200.0)  # m, the body's radius of gyration: legs there are decoupled, but for friction


def two_legs(place, friction, **more):
    return body([place, 0.0, -0.05, -place, 0.0, -0.05], contact={"friction": friction, **more})


def block_on_two_edges():
    """A uniform block of 1 kg in space, √2 times as high as wide, that falls flat on two of its points."""
    width, height = 0.4, np.sqrt(2.0) * 0.4
    inertia = (width**2 + height**2) / 12.0
    rows = [point_rows([side * width / 2, 0.0, -height / 2]) for side in (1, -1)]
    return ContactProblem(
        np.diag([1.0, 1.0, 1.0, inertia, inertia, inertia]), [0.0, 0.0, -1.0, 0.0, 0.0, 0.0],
        np.array([r[2] for r in rows]), np.array([r[:2] for r in rows]), [0.8, 0.8],
    )  # fmt: skip


def point_rows(place):
    """∂(velocity of a point)/∂(linear, angular velocity)."""
    x, y, z = place
    return np.array([[1, 0, 0, 0, z, -y], [0, 1, 0, -z, 0, x], [0, 0, 1, y, -x, 0]], dtype=float)


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


EARLIER = [-0.1, 0.0, -0.052, 0.1, 0.1, -0.05, 0.1, -0.1, -0.05]
"""Three legs of a body that falls flat: the first one lands 2 ms before the other two, within their bounds."""


def falling_on(points, **contact):
    """The stability of a body in free fall, and the contact problem when the last two of its legs land."""
    estimator = body(points, contact={"friction": 0.3, **contact})
    state = free(0, 0.06, (0.0, 0.0, -1.0))
    return estimator.update(state).stability, at_impact(estimator, state, 0.0097)


def margin_of(stability, i, j):
    return stability.pair_order_margin[(stability.pair_first == i) & (stability.pair_second == j)][0]


def test_a_foot_that_is_predicted_to_land_before_the_pair_has_landed():
    """The order of the last two is followed with the first one on the ground, and from the velocity that it leaves."""
    stability, problem = falling_on(EARLIER)
    landed = order_outcomes(problem, [0]).orders[0]
    assert landed.chain[-1].rests == {0}
    after = order_outcomes(problem.replace(velocity=landed.velocity), [1, 2], closed=[0])
    before = order_outcomes(problem, [1, 2], closed=[])
    assert margin_of(stability, 1, 2) == pytest.approx(after.margin, abs=1e-4)
    assert abs(after.margin - before.margin) > 0.02


def test_a_foot_that_lands_later_has_not_landed():
    points = [-0.1, 0.0, -0.048, *EARLIER[3:]]
    stability, problem = falling_on(points)
    assert margin_of(stability, 1, 2) == pytest.approx(order_outcomes(problem, [1, 2], closed=[]).margin, abs=1e-4)


def test_a_foot_that_has_bounced_is_struck_again_where_the_pair_throws_it_back():
    stability, problem = falling_on(EARLIER, restitution=0.4)
    found = {x.order: x for x in order_outcomes(problem, [0, 1, 2], max_impacts=6).orders}
    one, other = found[0, 1, 2], found[0, 2, 1]
    assert (one.word, other.word) == ("0→{} 1→{} 2→{} 0→{}", "0→{} 2→{} 1→{} 0→{}")
    bounced = order_outcomes(problem, [0]).orders[0].velocity

    def size(change):
        return np.sqrt(change @ problem.mass @ change)

    jump = max(size(one.velocity - bounced), size(other.velocity - bounced))
    assert margin_of(stability, 1, 2) == pytest.approx(size(one.velocity - other.velocity) / jump, abs=1e-3)


@pytest.mark.parametrize("fast", [1e-200, 1.0, 1e200])
@pytest.mark.parametrize("light", [1e-200, 1.0, 1e200])
def test_the_scales_of_masses_and_velocities_do_not_change_a_margin(fast, light):
    """The kernel alone: an estimator would refuse such states."""
    problem = block_on_two_edges()
    G = problem.jacobian() @ np.linalg.solve(problem.mass, problem.jacobian().T)
    m, n = 2, 6
    times = np.tile([[0.01, 0.0, 0.02]], (m, 1))
    scratch = PairScratch(
        *mode_scratch(n), np.zeros((m, 2)), np.zeros(m, np.int64), np.zeros(m, np.int64), np.zeros((n, n)),
        np.zeros((VECTORS, n)), np.zeros((BYTES, m), np.uint8),
    )  # fmt: skip
    out = PairsOut(np.zeros((2, 1), np.uint32), np.zeros(1), np.zeros(1, np.uint8))
    given = PairProblem(
        light * G, np.zeros(n), problem.friction, problem.restitution, fast * problem.jacobian() @ problem.velocity,
        np.zeros((m, 3)), np.zeros(m, np.uint8), np.full(m, EventKind.TOUCHDOWN, np.uint8), times,
    )  # fmt: skip
    assert pair_orders(PairSettings(2, LITTLE, 1e-8, 0.05), given, scratch, out) == 1
    assert out.margins[0] == pytest.approx(1.0 / np.sqrt(7.0), abs=1e-6)
    assert out.flags[0] == Flag.HOLDS


def test_pairs_beyond_the_bounded_work_are_cut():
    grid = [x for i in range(4) for j in range(3) for x in (0.05 * (i - 1.5), 0.05 * (j - 1), -0.05)]
    stability = body(grid).update(free(0, 0.06, (0.0, 0.0, -1.0))).stability
    cut = stability.pair_order_sensitive == Flag.CUT
    assert stability.pair_first.size == 66
    assert 0 < cut.sum() < 66
    np.testing.assert_array_equal(np.isnan(stability.pair_order_margin), cut)


def test_the_pairs_that_land_soonest_are_decided_first():
    grid = [x for i in range(4) for j in range(3) for x in (0.05 * (i - 1.5), 0.05 * (j - 1), -0.05 - 1e-4 * (i + j))]
    stability = body(grid).update(free(0, 0.06, (0.0, 0.0, -1.0))).stability
    decided = stability.pair_order_sensitive != Flag.CUT
    pairs = set(zip(stability.pair_first[decided].tolist(), stability.pair_second[decided].tolist(), strict=True))
    assert (8, 11) in pairs and (10, 11) in pairs  # 11 lands first, then 8 and 10
    assert (0, 1) not in pairs and (0, 3) not in pairs
