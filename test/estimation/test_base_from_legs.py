"""The base from legs and an inertial unit: motions whose base is known, with feet that stand, lift, slip and fly."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from benchmarks.estimation_scores.faults import low_passed
from helpers.recordings import WALKER
from hybrid_contact_ros.config import EstimatorConfig, InputConfig
from hybrid_contact_ros.estimation.base_from_legs import BaseFromLegs
from hybrid_contact_ros.estimator import ContactEstimator, Parts
from hybrid_contact_ros.mechanics.model import RigidBodyModel
from hybrid_contact_ros.mechanics.sensors import ImuMeasurement
from hybrid_contact_ros.mechanics.state import RobotState, UnusableStateError
from hybrid_contact_ros.messages.definitions import blank
from hybrid_contact_ros.messages.intake import Intake
from hybrid_contact_ros.messages.refusals import REASONS

CONFIG = EstimatorConfig.from_mapping({"contacts": {side: {"link": f"{side}_foot"} for side in ("left", "right")}})
MODEL = RigidBodyModel.from_urdf(WALKER, CONFIG)
MS, START = 1_000_000, 10**9
TIME = 0.001 * np.arange(3000)


def imu(stamp: int, turn=(0, 0, 0, 1), spin=(0, 0, 0), force=(0, 0, 9.81)) -> ImuMeasurement:
    arrays = [None if x is None else np.asarray(x, dtype=np.float64) for x in (turn, spin, force)]
    return ImuMeasurement(stamp, *arrays, np.zeros(3), np.full((3, 3, 3), np.nan))


def followed(
    height, lift=None, accelerometer=True, turns=None, unit=1.0, zeros=0.0, late=0.0
) -> tuple[np.ndarray, np.ndarray]:
    """Height and world velocity that are found for a base of this height (n,), whose feet are ``lift`` (n, 2) m above
    the ground: the legs, 0.5 m long where q is 0, are as long as they must be. turns: of the unit, base to world; unit:
    m/s² that its accelerometer calls 1; zeros: m, by which joints are off; late: s, over which rates are low-passed."""
    lift = np.zeros((len(height), 2)) if lift is None else lift
    legs = BaseFromLegs(MODEL)
    speed = np.gradient(height, 0.001)
    force = np.gradient(speed, 0.001) + 9.81
    joints = lift - height[:, None] + 0.5 + zeros
    rates = np.gradient(joints, 0.001, axis=0)
    if late:
        rates = low_passed(rates, TIME, late)
    found, v = [], []
    for k in range(len(height)):
        stamp = START + k * MS
        turn = Rotation.identity() if turns is None else turns[k]
        up = turn.inv().apply([0.0, 0.0, force[k] / unit])
        made = legs.add(
            stamp, np.r_[np.zeros(7), joints[k]], np.r_[np.zeros(6), rates[k]],
            imu(stamp, turn.as_quat(), force=up if accelerometer else None),
        )  # fmt: skip
        found.append(made.numbers[2])
        v.append(turn.apply(made.numbers[7:10]))
    return np.array(found), np.array(v)


def test_rates_that_are_low_passed_make_no_late_base():
    height = 0.6 + 0.03 * np.sin(4 * np.pi * TIME)
    _, speed = followed(height, accelerometer=False, late=0.02)
    assert np.abs(speed[:, 2] - np.gradient(height, 0.001))[1000:].max() < 0.03  # 0.09 where they are believed


@pytest.mark.parametrize("accelerometer", [True, False])
def test_a_robot_that_squats_knows_its_height_and_velocity(accelerometer):
    height = 0.6 + 0.05 * np.sin(2 * np.pi * TIME)
    found, speed = followed(height, accelerometer=accelerometer)
    assert np.abs(found - height).max() < 0.001
    assert np.abs(speed[:, 2] - np.gradient(height, 0.001)).max() < (0.005 if accelerometer else 0.03)
    assert np.abs(speed[:, :2]).max() < 1e-9


def test_feet_that_lift_in_turn_move_neither_height_nor_velocity():
    height = np.full(TIME.size, 0.6)
    phase = 2 * np.pi * TIME / 0.5
    lift = 0.07 * np.clip(np.stack([np.sin(phase), -np.sin(phase)], axis=1), 0.0, None)
    found, speed = followed(height, lift)
    assert np.abs(found - 0.6).max() < 0.004
    assert np.abs(speed).max() < 0.1  # a foot moves at 0.88 m/s
    assert np.sqrt((speed**2).mean()) < 0.03


def test_joints_whose_zeros_are_off_do_not_lift_the_base_with_each_step():
    """One leg seems to be 30 mm shorter. While both stand the robot learns that; then the height does not jump to and
    fro by it."""
    t = TIME
    phase = 2 * np.pi * t / 0.5
    swing = 0.07 * np.clip(np.stack([np.sin(phase), -np.sin(phase)], axis=1), 0.0, None)
    found, _ = followed(np.full(t.size, 0.6), swing * (t > 1.0)[:, None], zeros=np.array([0.0, 0.03]))
    assert np.ptp(found[t > 1.0]) < 0.02


def test_a_landing_after_a_flight_gives_the_height_although_zeros_are_off():
    t = TIME[:2000]
    fall = np.sqrt(2 * 0.1 / 9.81)
    height = 0.6 + np.where((t > 1.5) & (t < 1.5 + fall), 0.1 - 0.5 * 9.81 * (t - 1.5) ** 2, 0.0)
    lift = (height - 0.6)[:, None] * np.ones(2)
    found, _ = followed(height, lift, zeros=np.array([0.0, 0.02]))
    assert np.abs(found[t > 1.5 + fall + 0.1] - 0.59).max() < 0.02


def test_a_velocity_that_no_foot_agrees_with_is_uncertain():
    """An impact shakes both legs: for a moment the feet that stand seem to move, against each other."""
    legs, sigmas = BaseFromLegs(MODEL), []
    for k in range(200):
        stamp = START + k * MS
        shaken = 0.4 if 150 <= k < 156 else 0.0
        made = legs.add(stamp, np.r_[np.zeros(7), -0.1, -0.1], np.r_[np.zeros(6), shaken, -shaken], imu(stamp))
        sigmas.append(np.sqrt(made.covariance[1, 2, 2]))
    assert max(sigmas[100:150]) < 0.03 and 0.12 < max(sigmas[150:156]) < 0.3 and sigmas[-1] < 0.05


def test_the_accelerometer_carries_the_base_off_the_ground_and_a_landing_finds_it():
    """A jump of 0.2 s with the legs drawn in by 5 cm. At its apex feet that do not move look like feet that stand."""
    t = TIME[:1000]
    flying = (t > 0.3) & (t < 0.5)
    height = 0.6 + np.where(flying, 0.981 * (t - 0.3) - 0.5 * 9.81 * (t - 0.3) ** 2, 0.0)
    drawn = 0.05 * np.clip(np.sin(np.pi * (t - 0.3) / 0.2), 0.0, None) * flying
    lift = (height - 0.6 + drawn)[:, None] * np.ones(2)
    found, _ = followed(height, lift)
    assert np.abs(found - height)[(t > 0.3) & (t < 0.35)].max() < 0.004  # it has risen by 0.037 m
    assert abs(found[-1] - 0.6) < 0.003


def test_an_accelerometer_in_g_is_not_taken_for_a_fall_without_end():
    """It reads 1 m/s² at rest. After a second it is not used any more, and the legs tell the rest."""
    height = 0.6 + 0.05 * np.sin(2 * np.pi * TIME)
    found, speed = followed(height, unit=9.81)
    later = TIME > 2.0
    assert np.abs(found - height)[later].max() < 0.002
    assert np.abs(speed[:, 2] - np.gradient(height, 0.001))[later].max() < 0.05


def test_what_pauses_begins_anew():
    legs = BaseFromLegs(MODEL)
    for stamp, length in ((START, 0.1), (START + 10**9, 0.2)):
        made = legs.add(stamp, np.r_[np.zeros(7), -length, -length], np.zeros(8), imu(stamp))
        assert made.numbers[2] == pytest.approx(0.5 + length)


def test_the_orientation_is_carried_on_to_the_joint_state():
    legs = BaseFromLegs(MODEL)
    made = legs.add(START + 10 * MS, np.zeros(9), np.zeros(8), imu(START, spin=(0, 0, 2.0)))
    assert made.numbers[3:7] == pytest.approx([0.0, 0.0, np.sin(0.01), np.cos(0.01)])


def test_without_orientation_or_rates_there_is_no_base():
    legs = BaseFromLegs(MODEL)
    assert legs.add(START, np.zeros(9), np.zeros(8), imu(START, turn=None)) is None
    assert legs.add(START, np.zeros(9), np.zeros(8), imu(START, spin=None)) is None


def header(ns: int):
    return blank("Header", stamp=blank("Time", sec=ns // 10**9, nanosec=ns % 10**9))


def joint_state(ns: int):
    names = ["right_knee", "left_knee"]
    return blank("JointState", header=header(ns), name=names, position=[-0.1, -0.1], velocity=[0.0, 0.0])


def measured(ns: int, w=1.0):
    return blank("Imu", header=header(ns), orientation=blank("Quaternion", w=w))


def test_states_need_no_odometry_where_the_base_comes_from_the_legs():
    streams = Intake(MODEL, InputConfig(base="imu"))
    assert streams.joint_state(joint_state(START), START) is None
    assert streams.faults == {"no_imu": 1} and REASONS["no_imu"] in streams.last_fault[1]
    streams.side_input("imu", measured(START + 1), START + 1)
    state = streams.joint_state(joint_state(START + MS), START + MS)
    assert state.q[:7] == pytest.approx([0.0, 0.0, 0.6, 0.0, 0.0, 0.0, 1.0]) and state.v.tolist() == [0.0] * 8
    assert state.base_covariance.shape == (2, 6, 6) and state.imu.stamp_ns == START + 1
    assert streams.joint_state(joint_state(START + 100 * MS), START) is None  # the measurement is too old
    assert streams.faults["no_imu"] == 2


def test_a_body_without_joints_cannot_stand_on_legs():
    urdf = WALKER[: WALKER.index('<link name="left_foot">')] + "</robot>"
    body = RigidBodyModel.from_urdf(urdf, EstimatorConfig(allow_no_contacts=True))
    with pytest.raises(ValueError, match="a body alone needs odometry"):
        Intake(body, InputConfig(base="imu"))


def test_a_state_with_an_inertial_measurement_gets_its_base_from_the_legs_whatever_stood_there():
    legs, same = BaseFromLegs(MODEL), BaseFromLegs(MODEL)
    for k in range(20):
        stamp, joints = START + k * MS, [0.1, 0.1 - 0.001 * k]
        state = RobotState(stamp, np.r_[np.full(7, np.nan), joints], np.r_[np.full(6, np.nan), 0, -1], imu=imu(stamp))
        made = legs.with_base(state)
        base = same.add(stamp, np.r_[np.zeros(7), joints], np.r_[np.zeros(6), 0, -1], imu(stamp))
        assert made.q.tolist() == [*base.numbers[:7], *joints]
        assert made.v[:6].tolist() == base.numbers[7:].tolist()
        assert made.base_covariance is base.covariance or (made.base_covariance == base.covariance).all()


@pytest.mark.parametrize(
    ("changes", "why"),
    [
        ({"imu": None}, "orientation and an angular velocity"),
        ({"imu": imu(START, spin=None)}, "orientation and an angular velocity"),
        ({"q": [0.0] * 9}, "q is a list"),
        ({"q": np.zeros(8)}, "q has shape"),
        ({"v": np.full(8, np.nan)}, "v.6. is nan"),
    ],
)
def test_a_state_that_has_no_base_of_its_legs_is_refused_by_name(changes, why):
    given = {"q": np.zeros(9), "v": np.zeros(8), "imu": imu(START), **changes}
    with pytest.raises(UnusableStateError, match=why):
        BaseFromLegs(MODEL).with_base(RobotState(START, **given))


def test_a_fall_is_told_by_the_accelerometer_and_has_no_foot_on_the_ground():
    """A robot that is dropped from 0.25 m with its legs still: nothing says how high it is, and no foot is near the
    ground until it lands. Then its height is that of its legs."""
    t = TIME[:500]
    fall = np.sqrt(2 * 0.25 / 9.81)
    height = 0.6 + np.where(t < fall, 0.25 - 0.5 * 9.81 * t**2, 0.0)
    lift = (height - 0.6)[:, None] * np.ones(2)  # straight legs
    found, _ = followed(height, lift)
    falls = (t > 0.07) & (t < fall - 0.01)  # the first sample is half a fall: by then it has fallen through the ground
    assert (found[falls] - 0.6 > 0.02).all()
    assert np.abs(found[t > fall + 0.02] - 0.6).max() < 0.005


def least_belief(window: float, lasting: int) -> float:
    """The least probability that a standing walker's left foot touches, whose rate is off by 0.3 m/s for ``lasting``
    ms. ``window``: of the velocities."""
    estimator, least = ContactEstimator(MODEL, CONFIG), 1.0
    for k in range(310):
        q, v = np.r_[0.0, 0.0, 0.6, 0.0, 0.0, 0.0, 1.0, -0.1, -0.1], np.zeros(8)
        v[6] = 0.3 * (300 <= k < 300 + lasting)
        mode = estimator.update(RobotState(START + k * MS, q, v, velocity_window=window), Parts.MODE).mode
        least = min(least, float(mode.probability[0])) if k >= 300 else 1.0
    return least


def test_shakes_tell_less_of_a_contact_the_longer_velocities_are_means_and_those_from_feet_are():
    """What differs from a mean over some milliseconds for less than that is no witness."""
    legs = BaseFromLegs(MODEL)
    state = RobotState(START, np.r_[np.zeros(7), -0.1, -0.1], np.zeros(8))
    window = legs.add(state.stamp_ns, state.q, state.v, imu(START)).below(state).velocity_window
    least = [least_belief(of, 2) for of in (0.0, window, 3.0 * window, 10.0 * window)]
    assert least == sorted(least) and least[0] < 0.2 < least[1] - 0.01 and least[3] > 0.5


@pytest.mark.parametrize("pulled", [0.1, -7.7])  # m/s²
def test_a_trunk_that_heavy_legs_pull_down_in_the_air_is_not_carried(pulled):
    """The specific force of a flight is none that points upwards, whatever size it has."""
    legs = BaseFromLegs(MODEL)
    carried = []
    for k in range(150):
        stamp = START + k * MS
        unit = imu(stamp)
        if k >= 100:
            unit = imu(stamp, force=(0.0, 0.0, pulled))
        legs.add(stamp, np.r_[np.zeros(7), -0.1, -0.1], np.zeros(8), unit)
        carried.append(legs._falling == 0.0)
    assert all(carried[:100]) and not any(carried[110:])


def test_a_foot_that_reaches_down_beside_one_that_stands_has_not_fallen_through_the_ground():
    """Over the edge of a step, while a swing pulls the trunk down for 40 ms: the base does not leap."""
    legs, heights = BaseFromLegs(MODEL), []
    for k in range(340):
        low, rate = 0.001 * max(k - 200, 0), float(k > 200)
        unit = imu(START + k * MS, force=(0.0, 0.0, 1.7 if k >= 300 else 9.81))
        made = legs.add(START + k * MS, np.r_[np.zeros(7), -0.1 - low, -0.1], np.r_[np.zeros(6), -rate, 0.0], unit)
        heights.append(made.numbers[2])
    assert np.abs(np.diff(heights)).max() < 0.02 and abs(heights[-1] - 0.6) < 0.1


def test_a_flight_is_as_well_known_as_the_stance_before_it():
    """Of a robot that stretches its legs, by 20 m/s² for 50 ms, and takes off. Feet that a base of unknown velocity
    might hold at rest would seem to stand all through its jump."""
    legs, found = BaseFromLegs(MODEL), []
    for k in range(480):
        t = 0.001 * min(max(k - 250, 0), 50)
        stretched, rate = 10.0 * t * t, 20.0 * t * (k <= 300)
        unit = imu(START + k * MS, force=(0.0, 0.0, 9.81 + 20.0 * (k > 250) if k <= 300 else 1e-4))
        q, v = np.r_[np.zeros(7), np.full(2, -0.1 - stretched)], np.r_[np.zeros(6), np.full(2, -rate)]
        made = legs.add(START + k * MS, q, v, unit)
        found.append(np.sqrt([made.covariance[0, 2, 2], made.covariance[1, 2, 2]]))
    height, speed = np.array(found)[360:].T
    assert (speed < 0.1).all() and (height < 0.03).all() and (np.diff(height) >= 0.0).all()
