"""Which parts a live node computes when its stream comes too fast, decided by counts alone."""

from __future__ import annotations

import pytest

from hybrid_contact_ros.config import EstimatorConfig
from hybrid_contact_ros.estimator import ContactEstimator, Parts
from hybrid_contact_ros.mechanics.model import RigidBodyModel
from hybrid_contact_ros.monitoring.budget import Budget
from hybrid_contact_ros.monitoring.cost import measure

MS = 1_000_000
COSTS = {Parts.STABILITY: 4.0, Parts.SEQUENCE: 2.0, Parts.MODE: 1.5}  # ms
CUBE = """<robot name="cube"><link name="cube"><inertial><mass value="2"/>
<inertia ixx="0.01" iyy="0.01" izz="0.01" ixy="0" ixz="0" iyz="0"/></inertial></link></robot>"""


DELAY = 3.0  # ms by which impact sets make a state wait, where they do


class Node:
    """A node that answers as fast as it can, with costs per part, on a stream of a given period. Where it is
    ``crowded``, its impact sets take the processor from the states."""

    def __init__(self, most: float = 0.25, kept: Parts = Parts.MODE, exact: bool = True, crowded: bool = True) -> None:
        self.crowded = crowded
        self.budget, self.exact = Budget(Parts.ALL, kept, most), exact
        self.now, self.lost = 1, 0
        self.history: list[Parts] = []

    def run(self, seconds: float, period_ms: float, busy: float = 1.0) -> Parts:
        end = self.now + seconds * 1e9
        while self.now < end:
            waited = busy * DELAY * MS * (self.crowded and bool(self.budget.parts & Parts.IMPACT))
            cost = busy * sum(ms for part, ms in COSTS.items() if part & self.budget.parts) * MS + waited
            states = max(1, int(-(-cost // (period_ms * MS))))  # that come until the next can be taken
            self.lost += states - 1
            self.now += int(states * period_ms * MS)
            self.budget.spent(self.now, int(cost), self.lost if self.exact else 0, self.exact, int(waited))
            self.history.append(self.budget.parts)
        return self.budget.parts


def test_a_stream_that_is_slow_enough_gets_everything():
    assert Node().run(20.0, 11.0) == Parts.ALL


@pytest.mark.parametrize(
    ("period_ms", "parts"),
    [
        (8.0, Parts.MODE | Parts.STABILITY | Parts.SEQUENCE),
        (4.0, Parts.MODE | Parts.SEQUENCE),
        (2.0, Parts.MODE),
        (0.5, Parts.MODE),
    ],
)
def test_parts_go_in_the_stated_order_until_the_stream_is_kept_up_with(period_ms, parts):
    node = Node()
    node.run(7.0, period_ms)
    order = list(dict.fromkeys(node.history))
    assert (
        order
        == [
            Parts.ALL,
            Parts.MODE | Parts.STABILITY | Parts.SEQUENCE,
            Parts.MODE | Parts.SEQUENCE,
            Parts.MODE,
        ][: len(order)]
    )
    assert order[-1] == parts


@pytest.mark.parametrize("period_ms", [4.0, 2.0, 0.5])
def test_sets_that_take_nothing_from_the_states_are_not_left_out(period_ms):
    node = Node(crowded=False)
    assert node.run(20.0, period_ms) & Parts.IMPACT
    assert node.budget.left_out[0] == "constraint_stability"
    order = list(dict.fromkeys(node.history))
    assert order[:2] == [Parts.ALL, Parts.MODE | Parts.IMPACT | Parts.SEQUENCE]


def test_sets_go_when_they_begin_to_crowd_and_are_the_first_to_return():
    node = Node(crowded=False)
    node.run(7.0, 2.0)
    assert node.budget.left_out == ("constraint_stability", "the sequence in contact_mode")
    node.crowded = True
    node.run(6.0, 0.5)
    assert node.budget.parts == Parts.MODE
    node.crowded = False
    node.run(8.0, 20.0)
    assert node.budget.parts & Parts.IMPACT
    assert node.run(90.0, 20.0) == Parts.ALL


def test_parts_return_when_the_stream_slows_down():
    node = Node()
    node.run(9.0, 2.0)
    assert node.budget.left_out == ("impact_set", "constraint_stability", "the sequence in contact_mode")
    assert node.run(90.0, 20.0) == Parts.ALL and node.budget.left_out == ()


def test_parts_return_though_some_states_are_lost_for_other_reasons():
    node = Node()
    node.run(9.0, 2.0)
    assert node.budget.parts == Parts.MODE
    for _ in range(4000):  # 17 % of a stream that the node could keep up with
        node.now += 10 * MS
        node.lost += 1 if node.now % (50 * MS) < 10 * MS else 0
        node.budget.spent(node.now, 7 * MS, node.lost, True)
    assert node.budget.parts == Parts.ALL


def test_trouble_of_less_than_a_second_costs_no_part():
    node = Node()
    for _ in range(20):  # 6 s each, of which 0.9 s lose every second state
        for k in range(3000):
            node.now += 2 * MS
            if k < 450 and k % 2:
                node.lost += 1
            else:
                node.budget.spent(node.now, 3 * MS if k < 450 else MS, node.lost, True)
            node.history.append(node.budget.parts)
    assert set(node.history) == {Parts.ALL}


def test_a_part_that_must_go_again_is_tried_less_and_less_often():
    node = Node()
    node.run(300.0, 8.0)
    tries = [a != b and b == Parts.ALL for a, b in zip(node.history, node.history[1:], strict=False)]
    assert 2 <= sum(tries) <= 10
    assert sum(p == Parts.ALL for p in node.history) < 0.05 * len(node.history)


def test_the_same_counts_give_the_same_decisions():
    first, second = Node(), Node()
    for node in (first, second):
        node.run(6.0, 3.0)
        node.run(9.0, 12.0)
        node.run(6.0, 1.0)
    assert first.history == second.history and len(set(first.history)) > 2


def test_losses_at_an_idle_node_cost_no_part():
    node = Node()
    for _ in range(4000):
        node.now += 2 * MS
        node.lost += 1
        node.budget.spent(node.now, 100_000, node.lost, True)
    assert node.budget.parts == Parts.ALL


def test_nothing_goes_where_it_was_switched_off_or_is_the_purpose_of_the_node():
    assert Node(most=1.0).run(9.0, 0.5) == Parts.ALL
    assert Node(kept=Parts.MODE | Parts.STABILITY).run(9.0, 0.5) == Parts.MODE | Parts.STABILITY


def test_without_exact_losses_a_node_that_never_rests_is_taken_to_lose():
    assert Node(exact=False).run(9.0, 0.01) == Parts.MODE


def test_what_a_state_costs_is_measured_with_all_contacts_closed_and_leaves_no_trace():
    points = [float(x) for corner in ((0.1, 0.1), (0.1, -0.1), (-0.1, 0.1), (-0.1, -0.1)) for x in (*corner, 0.0)]
    config = EstimatorConfig.from_mapping({"contacts": {"sole": {"link": "cube", "points": points}}})
    estimator = ContactEstimator(RigidBodyModel.from_urdf(CUBE, config), config)
    cost = measure(estimator, Parts.ALL, states=4)
    assert cost is not None
    assert cost.closed == 4 and 0.0 < cost.update <= cost.worst and cost.impact > 0.0
    assert estimator.stamp_ns is None
    assert measure(estimator, Parts.MODE, states=2).impact == 0.0


def test_a_robot_without_contacts_can_be_measured_too():
    config = EstimatorConfig(allow_no_contacts=True)
    assert measure(ContactEstimator(RigidBodyModel.from_urdf(CUBE, config), config), Parts.ALL).closed == 0
