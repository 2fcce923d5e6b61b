"""What is believed of the points of a sole, which share one force and one moment."""

from __future__ import annotations

import numpy as np
import pytest

from helpers.belief import Belief, evidence
from hybrid_contact_ros import EstimatorConfig, RigidBodyModel
from hybrid_contact_ros.estimation.ground import ground_map, ground_settings, stance_memory
from hybrid_contact_ros.kernels.estimation.belief_likelihoods import is_borne
from hybrid_contact_ros.kernels.estimation.felt_forces import is_unfelt_sole
from hybrid_contact_ros.kernels.estimation.footholds import sunk
from hybrid_contact_ros.kernels.estimation.ground_map import forget
from hybrid_contact_ros.kernels.estimation.landed_forces import force_memory
from hybrid_contact_ros.kernels.estimation.sole_loads import doubt_unfelt_soles, soles_are_known

SOLE = [0, 0, 0, 0]  # the first contact of the link of each
WARP = np.array([1.0, -1.0, -1.0, 1.0])  # forces that cancel on a rectangle


def covariance(resultant: float, warp: float) -> np.ndarray:
    """Of the forces of four corners: known to ``resultant`` N each but for the way in which they share it."""
    return resultant**2 * np.eye(4) + warp**2 * np.outer(WARP, WARP)


def test_a_point_is_borne_where_another_one_of_its_link_stood():
    stood = np.array([1, 0, 0, 0], np.uint8)
    told = evidence(4, stood=stood, link_of=[0, 0, 2, 2])
    assert [is_borne(i, told) for i in range(4)] == [False, True, False, False]


@pytest.mark.parametrize(("resultant", "known"), [(1.0, True), (20.0, False)])
def test_soles_are_known_by_their_resultant_and_not_by_how_their_points_share_it(resultant, known):
    link_of = np.array(SOLE)
    assert soles_are_known(link_of, 40.0, covariance(resultant, 500.0)) == known
    assert soles_are_known(np.arange(4), 40.0, covariance(resultant, 500.0))  # single feet are no soles


@pytest.mark.parametrize(("borne", "state", "believed"), [
    (4.0, {"rate": -0.07}, False),  # it comes down, and bears less than ``force_on``
    (6.0, {"rate": -0.07}, True),
    (4.0, {"gap": 0.01}, False),  # it is still above the ground
    (4.0, {"gap": 0.01, "struck": True}, True),  # an impact has stopped it, and the observer begins to say so
    (4.0, {}, True),
    (4.0, {"rate": -0.07, "was": 1}, True),
    (-20.0, {"gap": 0.01}, False),
])  # fmt: skip
def test_a_sole_that_comes_down_is_not_believed_in_before_it_bears_something(borne, state, believed):
    stopped = np.full(4, 0.002 if state.get("struck") else -1.0)
    force = np.array([30.0, -30.0, -30.0, 30.0]) + borne / 4.0  # how its points share that is no matter
    closed = np.array([state.get("was", 0), 0, 0, 0], np.uint8)
    gap, rate = np.full(4, state.get("gap", 0.0)), np.full(4, state.get("rate", 0.0))

    def doubted(link_of):
        probability = np.full((4, 2), 0.99)
        doubt_unfelt_soles(
            0.005, 0.05, 5.0, np.array(link_of), stopped, closed, gap, rate, force, covariance(0.3, 500.0),
            probability,
        )  # fmt: skip
        return probability

    assert (doubted(SOLE) == 0.99).all() == believed and (doubted(SOLE) < 0.1).all() != believed
    assert (doubted([0, 1, 2, 3]) == 0.99).all()  # single feet are no soles


def test_of_a_sole_that_stands_on_an_edge_the_other_edge_is_open_however_still_it_is():
    """Its corners at rest tell nothing: the edge that stands holds them. Its force does."""
    belief = Belief(4, links=["sole"] * 4)
    share, known = belief.settings.share, covariance(1.0, 500.0)
    state = {"link_of": SOLE, "covariance": known, "rate_sigmas": 1e-3, "touching": 1, "load": 0.0}
    flat, edge = np.full(4, share), np.array([2.2, 1.8, 0.0, 0.0]) * share
    stood = np.zeros(4, np.uint8)
    for force, closed in ((flat, [True] * 4), (edge, [True, True, False, False]), (flat, [True] * 4)):
        least = force - WARP * (WARP @ force) / 4.0  # the least force with this resultant
        for _ in range(100):
            p = belief.step(force=least, stood=stood, **state)[:, 0]
            stood = (p > 0.5).astype(np.uint8)
        assert stood.astype(bool).tolist() == closed, p


@pytest.mark.parametrize(("corners", "rank"), [(1, 3), (2, 5), (3, 6), (4, 6)])
def test_three_points_of_a_link_and_more_are_a_force_and_a_moment(corners, rank):
    urdf = """<robot name="block"><link name="block"><inertial><mass value="2"/>
    <inertia ixx="0.01" iyy="0.01" izz="0.01" ixy="0" ixz="0" iyz="0"/></inertial></link></robot>"""
    places = [(0.1, 0.1), (0.1, -0.1), (-0.1, 0.1), (-0.1, -0.1)][:corners]
    contacts = {"sole": {"link": "block", "points": [c for x, y in places for c in (x, y, -0.05)]}}
    config = EstimatorConfig.from_mapping({"contacts": contacts})
    assert RigidBodyModel.from_urdf(urdf, config).contact_rank == rank


@pytest.mark.parametrize(("borne", "state", "unfelt"), [
    (0.0, {"rate": 0.1, "stood": 1}, True),
    (0.0, {"rate": 0.0, "stood": 1}, False),  # it bears little before it rises
    (40.0, {"rate": 0.1, "stood": 1}, False),
    (4.0, {"rate": -0.1}, True),
    (4.0, {"rate": 0.1, "stood": 1, "weight": 0.2}, False),  # efforts that are not believed tell of no load
    (200.0, {"rate": -0.1}, False),
])  # fmt: skip
def test_a_sole_that_rises_and_bears_nothing_as_a_whole_is_held_by_no_load_of_its_points(borne, state, unfelt):
    """How its points share a force is not known, and a mode lays it to the one that is thought to be closed."""
    settings, memory = Belief(4).settings, force_memory(4)
    force = 300.0 * WARP + borne / 4.0
    told = evidence(4, link_of=SOLE, force=force, covariance=covariance(0.3, 500.0), **state)
    assert [is_unfelt_sole(i, settings, told, memory) for i in range(4)] == [unfelt] * 4
    single = evidence(4, force=force, covariance=covariance(0.3, 500.0), **state)
    assert not any(is_unfelt_sole(i, settings, single, memory) for i in range(4))


def test_a_sole_that_rises_unfelt_opens_although_a_mode_lays_a_load_to_one_of_its_points():
    """A G1 with wrong efforts lifted its soles by 12 mm and had one point closed, on which the mode stood."""
    belief = Belief(4, links=["sole"] * 4)
    state = {"link_of": SOLE, "covariance": covariance(0.3, 60.0), "rate_sigmas": 0.005, "surfaces": 0.0015}
    standing = np.ones(4, np.uint8)
    for _ in range(100):
        before = belief.step(force=np.full(4, 10.0), load=np.full(4, 10.0), stood=standing, **state)
    for k in range(60):
        after = belief.step(
            force=np.full(4, -2.0), load=np.array([-2.0, 12.0, -2.0, -2.0]), stood=np.array([0, 1, 0, 0], np.uint8),
            touching=np.array([0, 1, 0, 0], np.uint8), rate=0.1, gap=1e-4 * k, **state,
        )  # fmt: skip
    assert (before[:, 0] > 0.9).all() and (after[:, 0] < 0.1).all()


@pytest.mark.parametrize(("depths", "own"), [
    ((0.01, 0.01, 0.01, 0.01), 0.01),  # soft ground
    ((0.0, 0.03, 0.0, 0.03), 0.0),  # a sole that rocked over an edge
])  # fmt: skip
def test_ground_gives_way_under_a_sole_as_far_as_under_the_point_that_sank_least(depths, own):
    memory, known = stance_memory(4), ground_map()
    forget(ground_settings(EstimatorConfig().ground, 160.0, 4, False), known)
    memory.standing[:], memory.touched_height[:] = 1.0, np.array(depths)
    assert [sunk(i, 1, np.array(SOLE), memory, known) for i in range(4)] == pytest.approx([own] * 4)
    assert [sunk(i, 1, np.arange(4), memory, known) for i in range(4)] == pytest.approx(list(depths))
    memory.standing[1] = 0.0  # what does not stand tells nothing of it
    assert sunk(0, 1, np.array(SOLE), memory, known) == pytest.approx(min(np.delete(depths, 1)))
