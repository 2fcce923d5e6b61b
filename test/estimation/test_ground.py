"""The ground that is learned from contact: where it is, how certain that is, and what it must not do."""

from dataclasses import replace

import numpy as np
import pytest

from helpers.bodies import body, free
from hybrid_contact_ros import ContactEstimator, EstimatorConfig, RigidBodyModel, RobotState
from hybrid_contact_ros.estimation.ground import ground_map
from hybrid_contact_ros.estimator import Parts
from hybrid_contact_ros.kernels.estimation.ground_map import (
    FOOTHOLDS,
    SLOPE_VARIANCE,
    STEP_VARIANCE,
    GroundSettings,
    add_foothold,
    fit,
    forget,
    keep_foothold,
    predict,
)
from hybrid_contact_ros.mechanics.example_data import example_urdf

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


@pytest.fixture
def go2():
    try:
        urdf = example_urdf("go2_description/urdf/go2.urdf")
    except FileNotFoundError as error:
        pytest.skip(str(error))
    feet = {name: {"link": f"{name}_foot", "radius": 0.02} for name in ("FL", "FR", "RL", "RR")}
    config = EstimatorConfig.from_mapping({"contacts": feet})
    return ContactEstimator(RigidBodyModel.from_urdf(urdf, config), config)


def posed(model, lift: float = 0.0):
    """Standing, with the front left foot raised by bending its knee by ``lift`` rad."""
    q = model.neutral()
    for k, name in enumerate(model.joint_names):
        q[7 + k] = {"thigh": 0.8, "calf": -1.5}.get(name.split("_")[1], 0.0)
        if name == "FL_calf_joint":
            q[7 + k] -= lift
    return q


def test_without_efforts_feet_that_are_still_tell_where_the_ground_is_and_one_that_creeps_does_not(go2):
    model = go2.model
    q = posed(model)
    q[2] -= model.problem(RobotState(0, q, np.zeros(model.nv))).gap.min() + 0.012  # the base is said to be too low
    for k in range(300):
        mode = go2.update(RobotState(k * STEP, q, np.zeros(model.nv)), Parts.MODE).mode
    np.testing.assert_allclose(mode.ground_offset, -0.012, atol=2e-3)
    assert mode.closed.all()
    speed = 0.3  # rad/s of the knee: the foot rises at about 3 to 6 cm/s
    column = 6 + model.joint_names.index("FL_calf_joint")
    learned = mode.ground_offset[0]
    for k in range(300, 800):
        bent = posed(model, 1e-3 * speed * (k - 300))
        bent[2] = q[2]
        v = np.zeros(model.nv)
        v[column] = -speed
        mode = go2.update(RobotState(k * STEP, bent, v), Parts.MODE).mode
    assert not mode.closed[0] and mode.closed[1:].all()
    assert abs(mode.ground_offset[0] - learned) < 5e-3


@pytest.mark.parametrize("efforts", [False, True])
def test_bursts_of_states_and_a_drifting_base_lift_no_foot_of_a_robot_that_stands(go2, efforts):
    """States of 40 ms, then 0.17 s without any, while the odometry rises by 1 cm/s."""
    model = go2.model
    q = posed(model)
    q[2] -= model.problem(RobotState(0, q, np.zeros(model.nv))).gap.min()
    effort = standing_efforts(model, q) if efforts else None
    for k in range(0, 6000, 2):
        if k % 210 < 40:
            here = q.copy()
            here[2] += 1e-5 * k
            mode = go2.update(RobotState(k * STEP, here, np.zeros(model.nv), effort), Parts.MODE).mode
            assert mode.closed.all()
    assert mode.ground_offset == pytest.approx(0.06, abs=0.01)


def test_a_foot_that_moved_in_a_pause_does_not_stand_where_it_was(go2):
    model = go2.model
    q = posed(model)
    q[2] -= model.problem(RobotState(0, q, np.zeros(model.nv))).gap.min()
    for k in range(300):
        go2.update(RobotState(k * STEP, q, np.zeros(model.nv)), Parts.MODE)
    bent = posed(model, 0.2)
    bent[2] = q[2]
    mode = go2.update(RobotState(500 * STEP, bent, np.zeros(model.nv)), Parts.MODE).mode
    assert not mode.closed[0] and mode.closed[1:].all()


@pytest.mark.parametrize("period", [50, 30])
def test_a_foot_that_rose_between_two_states_far_apart_is_open_whatever_pressed_before(go2, period):
    """States at 20 and 33 Hz: the observed force of a state is that of the time since the state before."""
    model = go2.model
    q = posed(model)
    q[2] -= model.problem(RobotState(0, q, np.zeros(model.nv))).gap.min()
    effort = standing_efforts(model, q)
    for k in range(40):
        mode = go2.update(RobotState(k * period * STEP, q, np.zeros(model.nv), effort), Parts.MODE).mode
        assert mode.closed.all() or k < 3
    bent = posed(model, 0.25)
    bent[2] = q[2]
    v = np.zeros(model.nv)
    v[6 + model.joint_names.index("FL_calf_joint")] = -0.25 / (1e-3 * period)
    mode = go2.update(RobotState(40 * period * STEP, bent, v, effort), Parts.MODE).mode
    assert not mode.closed[0] and mode.gap[0] > 0.015 and mode.closed[1:].all()
    assert (mode.force_weight == 0.0).all()  # and the message says that forces are not used


def standing_efforts(model, q, feet=(0, 1, 2, 3)):
    """Torques (nv,) with which a robot at rest stands on these feet, with the smallest forces."""
    problem = model.problem(RobotState(0, q, np.zeros(model.nv)))
    jacobian = np.vstack([problem.normal_jacobian[[*feet]], *problem.tangent_jacobian[[*feet]].swapaxes(0, 1)])
    force = np.linalg.lstsq(jacobian[:, :6].T, problem.bias_force[:6], rcond=None)[0]
    effort = problem.bias_force - jacobian.T @ force
    assert (len(feet) < 4 or force[: len(feet)].min() > 0.0) and np.abs(effort[:6]).max() < 1e-9
    return effort


def test_a_robot_that_hangs_high_above_the_plane_learns_nothing_without_efforts(go2):
    model = go2.model
    q = posed(model)
    q[2] += 0.3 - model.problem(RobotState(0, q, np.zeros(model.nv))).gap.min()
    for k in range(300):
        mode = go2.update(RobotState(k * STEP, q, np.zeros(model.nv)), Parts.MODE).mode
    assert (mode.ground_offset == 0.0).all() and not mode.closed.any()


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


def over_still_feet(model, q, speed):
    """The velocity (nv,) of a base that moves forward at ``speed``, m/s, while all feet stay where they are."""
    problem = model.problem(RobotState(0, q, np.zeros(model.nv)))
    rows = np.vstack([problem.normal_jacobian, *problem.tangent_jacobian.swapaxes(0, 1)])
    base = np.r_[speed, np.zeros(5)]
    return np.r_[base, -np.linalg.solve(rows[:, 6:], rows[:, :6] @ base)]


@pytest.mark.parametrize(("bend", "height"), [(0.25, 0.03), (0.7, 0.11)])  # rad, m
def test_without_efforts_a_foot_stands_that_is_still_while_the_base_moves_on_and_not_at_the_apex_of_its_swing(
    go2, bend, height
):
    """One foot 39 or some 125 mm up, all still in the world, the base at 0.15 m/s: within 50 ms it gets 7.5 mm far."""
    model = go2.model
    q, v = posed(model, bend), np.zeros(model.nv)
    q[2] -= model.problem(RobotState(0, q, v)).gap.min()
    lifted = model.problem(RobotState(0, q, v)).gap[0]
    assert height < lifted < height + 0.03
    for k in range(250):
        v = over_still_feet(model, q, 0.15)
        mode = go2.update(RobotState(k * STEP, q, v), Parts.MODE).mode
        assert mode.closed[1:].all()
        if k == 50:
            assert not mode.closed[0]
        assert k > 130 or abs(mode.ground_offset[0]) < 2e-3
        q = q + 1e-3 * np.r_[v[:3], 0.0, 0.0, 0.0, 0.0, v[6:]]
    assert mode.closed[0] and mode.ground_offset[0] == pytest.approx(lifted, abs=4e-3)


def at_rest(go2, lifts, forward=0.0, states=150):
    """The modes of a robot at rest without efforts, its calves bent by ``lifts`` (4,), rad, and its feet ``forward``,
    rad, of the hips; the lowest foot is where the plane is configured."""
    model = go2.model
    q = posed(model)
    for k, name in enumerate(model.joint_names):
        leg = model.contact_names.index(name.split("_")[0])
        q[7 + k] -= lifts[leg] * name.endswith("calf_joint") + forward * name.endswith("thigh_joint")
    q[2] -= model.problem(RobotState(0, q, np.zeros(model.nv))).gap.min()
    return [go2.update(RobotState(k * STEP, q, np.zeros(model.nv)), Parts.MODE).mode for k in range(states)]


def test_without_efforts_a_robot_at_rest_stands_on_as_many_feet_as_keep_it_from_falling_over(go2):
    """From the first state on it stands with two of its feet 39 mm higher than the others, on blocks that nobody knows
    of, or on one diagonal of them."""
    for lifts in ((0.25, 0.25, 0.0, 0.0), (0.25, 0.0, 0.0, 0.25)):
        go2.reset()
        modes = at_rest(go2, lifts)
        assert modes[0].gap.max() > 0.03 and not modes[0].closed.all()
        assert modes[-1].closed.all()


def test_without_efforts_a_robot_that_swayed_as_it_landed_stands_once_it_has_been_at_rest_for_longer(go2):
    """On the blocks of above, its base moves 14 mm past its feet within 0.15 s, and then is at rest."""
    model = go2.model
    q = posed(model)
    for k, name in enumerate(model.joint_names):
        q[7 + k] -= 0.25 * (name in ("FL_calf_joint", "RR_calf_joint"))
    q[2] -= model.problem(RobotState(0, q, np.zeros(model.nv))).gap.min()
    for k in range(1000):
        v = over_still_feet(model, q, 0.093 if k < 150 else 0.0)
        mode = go2.update(RobotState(k * STEP, q, v), Parts.MODE).mode
        assert k != 300 or not mode.closed.all(), "it may be a walk yet"
        q = q + 1e-3 * np.r_[v[:3], 0.0, 0.0, 0.0, 0.0, v[6:]]
    assert mode.closed.all()


def test_without_efforts_a_foot_that_is_lifted_off_the_others_does_not_stand(go2):
    """Its centre of mass is above the other three: nothing says that the fourth one stands, 39 mm up."""
    modes = at_rest(go2, (0.25, 0.0, 0.0, 0.0), forward=0.2, states=400)
    assert modes[-1].closed.tolist() == [0, 1, 1, 1]


def test_without_efforts_noise_of_positions_does_not_keep_a_robot_from_standing(go2):
    """Blocks as above, at 1 kHz: of 1000 gaps with a noise of 1.5 mm some are 5 mm off."""
    model, rng = go2.model, np.random.default_rng(4)
    q = posed(model)
    for k, name in enumerate(model.joint_names):
        q[7 + k] -= 0.25 * (name in ("FL_calf_joint", "RR_calf_joint"))
    q[2] -= model.problem(RobotState(0, q, np.zeros(model.nv))).gap.min()
    right = []
    for k in range(1500):
        noisy = q + np.r_[1e-3 * rng.normal(size=3), np.zeros(4), 2e-3 * rng.normal(size=12)]
        v = np.r_[0.02 * rng.normal(size=3), 0.05 * rng.normal(size=15)]
        right.append(go2.update(RobotState(k * STEP, noisy, v), Parts.MODE).mode.closed.all())
    assert np.mean(right[500:]) > 0.99


@pytest.mark.parametrize("rate", [200, 333, 500, 1000])
def test_a_foot_that_is_held_still_in_the_air_stays_open_at_every_rate(go2, rate):
    """39 mm up, the other three bear the robot: nothing moves, and only gap and force tell it from one that stands."""
    model = go2.model
    q, rest = posed(model, 0.25), np.zeros(model.nv)
    for k, name in enumerate(model.joint_names):
        q[7 + k] -= 0.2 * name.endswith("thigh_joint")
    problem = model.problem(RobotState(0, q, rest))
    q[2] -= problem.gap.min()
    rows = np.vstack([np.vstack([problem.normal_jacobian[i], problem.tangent_jacobian[i]]) for i in (1, 2, 3)])
    forces = np.linalg.lstsq(rows[:, :6].T, problem.bias_force[:6], rcond=None)[0]
    effort = problem.bias_force - rows.T @ forces
    effort[:6] = 0.0
    closed = [
        go2.update(RobotState(round(1e9 * k / rate), q, rest, effort), Parts.MODE).mode.closed.tolist()
        for k in range(rate)
    ]
    assert all(each == [0, 1, 1, 1] for each in closed[rate // 5 :])


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
