"""The ground that is learned from contact: where it is, how certain that is, and what it must not do."""

from dataclasses import replace

import numpy as np
import pytest

from helpers.bodies import body, free
from hybrid_contact_ros import ContactEstimator, EstimatorConfig, RigidBodyModel, RobotState
from hybrid_contact_ros.estimation.ground import ground_map
from hybrid_contact_ros.estimator import Parts
from hybrid_contact_ros.kernels.estimation.ground_heights import fit, predict
from hybrid_contact_ros.kernels.estimation.ground_map import (
    FOOTHOLDS,
    SLOPE_VARIANCE,
    STEP_VARIANCE,
    GroundSettings,
    add_foothold,
    forget,
    keep_foothold,
)

BOX = """<robot name="box"><link name="box"><inertial><mass value="8"/>
<inertia ixx="0.2" iyy="0.3" izz="0.4" ixy="0" ixz="0" iyz="0"/></inertial></link></robot>"""
POINTS = [x for sx in (0.25, -0.25) for sy in (0.15, -0.15) for x in (sx, sy, -0.2)]
STEP = 1_000_000  # ns


def box(offset: float = 0.0, learn: bool = True) -> ContactEstimator:
    config = EstimatorConfig.from_mapping(
        {
            "contacts": {"foot": {"link": "box", "points": POINTS}},
            "environments": {"ground": {"offset": offset}},
            "ground": {"learn": learn},
        }
    )
    return ContactEstimator(RigidBodyModel.from_urdf(BOX, config), config)


def stand(thing: ContactEstimator, height: float, n: int, noise: float = 0.0, seed: int = 0, at=(0.0, 0.0)):
    """The answers to ``n`` states of the box, which stands on feet ``height`` m over the origin's plane."""
    rng = np.random.default_rng(seed)
    found = []
    for k in range(n):
        z = 0.2 + height + noise * rng.normal()
        q = np.r_[at[0], at[1], z, 0.0, 0.0, 0.0, 1.0]
        v = 0.02 * rng.normal(size=6) if noise else np.zeros(6)
        found.append(thing.update(RobotState(k * STEP, q, v, np.zeros(6)), Parts.MODE).mode)
    return found


@pytest.mark.parametrize("height", [-0.03, -0.005, 0.0, 0.012, 0.05])
def test_the_offset_converges_to_the_ground_under_feet_that_bear_load(height):
    mode = stand(box(), height, 200)[-1]
    np.testing.assert_allclose(mode.ground_offset, height, atol=5e-4)
    np.testing.assert_allclose(mode.gap + mode.ground_offset, height, atol=1e-12)  # the measured gap
    assert mode.closed.all()


@pytest.mark.parametrize(("speed", "height", "found"), [(1.0, 0.05, 0.0), (0.1, 0.05, 0.05), (1.0, -0.02, -0.02)])
def test_what_moves_on_quickly_above_the_expected_ground_tells_nothing_of_it(speed, height, found):
    """A sole that seems to press at the apex of its swing is on no step; lower ground may be slid on."""
    thing = box()
    for k in range(200):
        q, v = np.r_[speed * 1e-9 * k * STEP, 0.0, 0.2 + height, 0.0, 0.0, 0.0, 1.0], np.r_[speed, np.zeros(5)]
        mode = thing.update(RobotState(k * STEP, q, v, np.zeros(6)), Parts.MODE).mode
    np.testing.assert_allclose(mode.ground_offset, found, atol=2e-3)


def test_under_noise_the_error_of_the_offset_agrees_with_its_stated_deviation():
    """NEES: the squared error over the stated variance is 1 on average for a consistent estimate; ours states more."""
    rng = np.random.default_rng(4)
    ratios = []
    for seed in range(12):
        height = rng.normal(scale=0.01)
        mode = stand(box(), height, 150, noise=0.001, seed=seed)[-1]
        # The noise is the base's, common to all feet: one number for all of them.
        ratios.append(np.mean(((mode.ground_offset - height) / mode.ground_sigma) ** 2))
    assert 0.05 < np.mean(ratios) < 2.0
    assert np.median(mode.ground_sigma) < 1e-3


def test_a_world_that_is_shifted_makes_no_difference():
    here = stand(box(), 0.012, 120, noise=0.001)[-1]
    aside = stand(box(), 0.012, 120, noise=0.001, at=(3.0, -7.0))[-1]
    above = stand(box(offset=1.5), 1.512, 120, noise=0.001)[-1]
    for other in (aside, above):
        np.testing.assert_allclose(other.ground_offset, here.ground_offset, atol=1e-9)
        np.testing.assert_allclose(other.ground_sigma, here.ground_sigma, atol=1e-9)
        assert (other.status == here.status).all()


def flight(thing: ContactEstimator, jump: float = 0.0):
    """The box falls from 5 cm for 0.15 s and stays; at 0.06 s the learned heights jump."""
    found = []
    for k in range(150):
        t = 1e-3 * k
        fallen = min(0.5 * 9.81 * t * t, 0.05)
        moving = 0.5 * 9.81 * t * t < 0.05
        if k == 60 and jump:
            numbers = thing._engine.memory.footholds
            numbers.map_size[0] = 1
            numbers.map_place[0] = 0.0
            numbers.map_height[0], numbers.map_variance[0] = jump, 1e-8
        q = np.r_[0.0, 0.0, 0.25 - fallen, 0.0, 0.0, 0.0, 1.0]
        v = np.r_[0.0, 0.0, -9.81 * t if moving else 0.0, np.zeros(3)]
        found.append(thing.update(RobotState(k * STEP, q, v, np.zeros(6)), Parts.MODE).mode)
    return found


@pytest.mark.parametrize("jump", [0.03, -0.03])
def test_a_jump_of_the_estimate_flips_no_contact(jump):
    plain, jumped = flight(box()), flight(box(), jump)
    for k in range(60, 68):  # in the air, well before the ground that the map now claims
        assert (plain[k].status == jumped[k].status).all(), k


def test_feet_that_stand_stay_closed_when_the_map_jumps():
    thing = box()
    before = stand(thing, 0.004, 100)[-1]
    thing._engine.memory.footholds.map_height[:] += 0.05
    q = np.r_[0.0, 0.0, 0.204, 0.0, 0.0, 0.0, 1.0]
    for k in range(100, 130):
        mode = thing.update(RobotState(k * STEP, q, np.zeros(6), np.zeros(6)), Parts.MODE).mode
        assert mode.closed.all()
    np.testing.assert_allclose(mode.ground_offset, before.ground_offset, atol=1e-3)


def test_a_body_in_flight_learns_nothing():
    thing = box()
    rng = np.random.default_rng(0)
    for k in range(400):
        t = 1e-3 * k
        q = np.r_[0.3 * t, 0.0, 0.21 + 2.0 * t - 0.5 * 9.81 * t * t + 1e-3 * rng.normal(), 0.0, 0.0, 0.0, 1.0]
        v = np.r_[0.3, 0.0, 2.0 - 9.81 * t, np.zeros(3)]
        mode = thing.update(RobotState(k * STEP, q, v, np.zeros(6)), Parts.MODE).mode
        assert thing._engine.memory.footholds.map_size[0] == 0
        assert (mode.ground_offset == 0.0).all() and not mode.closed[k < 10 :].any()


def test_without_learning_gaps_and_deviations_are_as_measured():
    mode = stand(box(learn=False), 0.004, 60)[-1]
    assert (mode.ground_offset == 0.0).all() and (mode.ground_sigma == 0.0).all()
    np.testing.assert_allclose(mode.gap, 0.004, atol=1e-12)


def test_what_is_forgotten_is_forgotten():
    thing = box()
    first = stand(thing, 0.02, 80)
    thing.reset()
    again = stand(thing, 0.02, 80)
    for a, b in zip(first, again, strict=True):
        assert a.ground_offset.tobytes() == b.ground_offset.tobytes() and a.status.tobytes() == b.status.tobytes()


def test_learning_is_a_parameter():
    assert EstimatorConfig().ground.learn
    assert not replace(EstimatorConfig().ground, learn=False).learn


def test_points_of_a_link_far_above_its_lowest_ones_tell_nothing_of_the_ground():
    """The forces of a cube's corners cannot be told apart: all of them seem to bear a part of its weight."""
    corners = [x for i in (-1, 1) for j in (-1, 1) for k in (-1, 1) for x in (0.05 * i, 0.05 * j, 0.05 * k)]
    cube = body(corners)
    for k in range(400):
        mode = cube.update(free(k * 1_000_000, 0.05 + 0.001), Parts.MODE).mode
    np.testing.assert_allclose(mode.ground_offset, 0.001, atol=1e-3)
    assert mode.closed[::2].all() and not mode.closed[1::2].any()


def test_all_points_of_a_flat_sole_that_rests_on_a_slope_stand():
    """A slope of 4°, of which the configuration knows nothing: the upper points are 35 mm above the lower ones."""
    thing, half = box(), 0.5 * np.deg2rad(4.0)
    turn = np.array([0.0, np.sin(half), 0.0, np.cos(half)])
    lowest = thing.model.problem(RobotState(0, np.r_[0.0, 0.0, 0.0, turn], np.zeros(6))).gap.min()
    for k in range(300):
        state = RobotState(k * STEP, np.r_[0.0, 0.0, -lowest, turn], np.zeros(6), np.zeros(6))
        mode = thing.update(state, Parts.MODE).mode
    assert mode.closed.all() and np.ptp(mode.ground_offset) > 0.03


def test_a_plane_that_is_off_is_learned_as_a_plane_from_the_first_foothold():
    """Its first fit changes the variances that later heights are predicted with; the others are where it is."""
    settings = GroundSettings(
        True, False, 0.001, 0.001, 0.01, 0.0005, 0.0005, 0.12, 0.005, 0.001, 0.05, 0.012, 0.06, 1.0
    )
    known, entry, group = ground_map(), np.full(2, -1), np.zeros(2, np.int64)
    forget(settings, known)
    add_foothold(group, known, entry, 0, np.zeros(3), 0.05, 1e-8)
    fit(settings, group, known)
    height, variance = predict(settings, group, known, 1, np.array([0.4, 0.3, 0.0]), np.zeros(FOOTHOLDS))
    assert height == pytest.approx(0.05, abs=2e-3) and variance < 0.02**2


def test_between_two_fits_heights_are_predicted_from_the_places_of_the_last_one():
    """A foot that stands is some millimetres elsewhere in each noisy state, and near footholds at different heights
    have large weights."""
    settings = GroundSettings(
        True, False, 0.001, 0.001, 0.01, 0.0005, 0.0005, 0.12, 0.005, 0.001, 0.05, 0.012, 0.06, 1.0
    )
    known, entry, group = ground_map(), np.full(4, -1), np.zeros(4, np.int64)
    forget(settings, known)
    known.map_numbers[[STEP_VARIANCE, SLOPE_VARIANCE]] = 0.04**2, 0.36**2  # of a base that drifted
    rng, footholds = np.random.default_rng(3), 12
    for k in range(footholds):
        place = np.array([0.1 * (k // 4), 0.031 * (k % 4), 0.0])
        add_foothold(group, known, entry, k % 4, place, 0.01 * (k % 2), 1e-8)
    known.map_seen[:] = known.map_numbers[0]
    fit(settings, group, known)
    known.map_numbers[[STEP_VARIANCE, SLOPE_VARIANCE]] = 0.04**2, 0.36**2
    where = [np.array([0.15, 0.05, 0.0]), np.array([0.05, 0.12, 0.0])]
    before = [predict(settings, group, known, 0, x, np.zeros(FOOTHOLDS)) for x in where]
    for k in range(4):
        place = known.map_place[footholds - 1 - k] + 0.003 * rng.normal(size=3)
        keep_foothold(known, footholds - 1 - k, place, 0.01, 1e-8)
    assert [predict(settings, group, known, 0, x, np.zeros(FOOTHOLDS)) for x in where] == before
