"""The ground under the feet of a quadruped that stands, is lifted, or sways on them; most of it without efforts."""

import numpy as np
import pytest

from hybrid_contact_ros import ContactEstimator, EstimatorConfig, RigidBodyModel, RobotState
from hybrid_contact_ros.estimator import Parts
from hybrid_contact_ros.mechanics.example_data import example_urdf

STEP = 1_000_000  # ns
DIAGONAL = (0.25, 0.0, 0.0, 0.25)  # rad, by which calves are bent: two feet are 39 mm up


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


def raised(model, lifts, forward=0.0):
    """Standing, the calves bent by ``lifts`` (4,), rad, and the feet ``forward``, rad, of the hips; the lowest foot is
    where the plane is configured."""
    q = posed(model)
    for k, name in enumerate(model.joint_names):
        leg = model.contact_names.index(name.split("_")[0])
        q[7 + k] -= lifts[leg] * name.endswith("calf_joint") + forward * name.endswith("thigh_joint")
    q[2] -= model.problem(RobotState(0, q, np.zeros(model.nv))).gap.min()
    return q


def at_rest(go2, lifts, forward=0.0, states=150):
    """The modes of a robot at rest without efforts, :func:`raised`."""
    model = go2.model
    q = raised(model, lifts, forward)
    return [go2.update(RobotState(k * STEP, q, np.zeros(model.nv)), Parts.MODE).mode for k in range(states)]


def test_without_efforts_a_robot_at_rest_stands_on_as_many_feet_as_keep_it_from_falling_over(go2):
    """From the first state on it stands with two of its feet 39 mm higher than the others, on blocks that nobody knows
    of, or on one diagonal of them."""
    for lifts in ((0.25, 0.25, 0.0, 0.0), DIAGONAL):
        go2.reset()
        modes = at_rest(go2, lifts)
        assert modes[0].gap.max() > 0.03 and not modes[0].closed.all()
        assert modes[-1].closed.all()


def test_without_efforts_a_robot_that_swayed_as_it_landed_stands_once_it_has_been_at_rest_for_longer(go2):
    """On the blocks of above, its base moves 14 mm past its feet within 0.15 s, and then is at rest."""
    model = go2.model
    q = raised(model, DIAGONAL)
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
    q = raised(model, DIAGONAL)
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
    q, rest = raised(model, (0.25, 0.0, 0.0, 0.0), forward=0.2), np.zeros(model.nv)
    problem = model.problem(RobotState(0, q, rest))
    rows = np.vstack([np.vstack([problem.normal_jacobian[i], problem.tangent_jacobian[i]]) for i in (1, 2, 3)])
    forces = np.linalg.lstsq(rows[:, :6].T, problem.bias_force[:6], rcond=None)[0]
    effort = problem.bias_force - rows.T @ forces
    effort[:6] = 0.0
    closed = [
        go2.update(RobotState(round(1e9 * k / rate), q, rest, effort), Parts.MODE).mode.closed.tolist()
        for k in range(rate)
    ]
    assert all(each == [0, 1, 1, 1] for each in closed[rate // 5 :])


def lifted(model, q, speed):
    """The velocity (nv,) with which the first foot goes up at ``speed``, m/s, while all others stand."""
    problem = model.problem(RobotState(0, q, np.zeros(model.nv)))
    rows = np.vstack([problem.normal_jacobian, *problem.tangent_jacobian.swapaxes(0, 1)])
    return np.r_[np.zeros(6), np.linalg.solve(rows[:, 6:], np.r_[speed, np.zeros(len(rows) - 1)])]


@pytest.mark.parametrize("waits", [0.25, 0.4])  # s
def test_without_efforts_a_foot_that_rested_above_the_ground_and_falls_on_has_not_landed_until_it_does(go2, waits):
    """A crawl brings its foot down at 0.25 m/s, waits 5 mm above the ground, and goes on down at 0.1 m/s."""
    model, heights, modes = go2.model, [], []
    q = posed(model)
    q[2] -= model.problem(RobotState(0, q, np.zeros(model.nv))).gap.min()
    for speed, time in [(0.0, 0.3), (0.3, 0.1), (-0.25, 0.1), (0.0, waits), (-0.1, 0.05), (0.0, 0.1)]:
        for _ in range(round(1e3 * time)):
            v = lifted(model, q, speed)
            modes.append(go2.update(RobotState(len(modes) * STEP, q, v), Parts.MODE).mode)
            assert go2.held_up == ()  # a foot that hovers hangs from its own leg
            heights.append(model.problem(RobotState(0, q, v)).gap[0])
            q = q + 1e-3 * np.r_[v[:3], 0.0, 0.0, 0.0, 0.0, v[6:]]
    closed, lands = np.array([mode.closed[0] for mode in modes]), len(modes) - 100
    assert 4e-3 < heights[lands - 51] < 6e-3 and abs(heights[-1]) < 1e-3
    assert closed[100:290].all() and not closed[330:500].any()
    waited = lands - 51
    assert closed[waited] and abs(modes[waited].ground_offset[0] - heights[waited]) < 1e-3  # a step, it seems
    assert not closed[lands - 10 : lands].any()
    assert closed[lands + 10 :].all() and abs(modes[-1].ground_offset[0]) < 1e-3
    assert all(mode.closed[1:].all() for mode in modes)
