"""Inertial units in other units or axes than the message says are told, and good ones never are."""

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from hybrid_contact_ros.mechanics.sensors import ImuMeasurement
from hybrid_contact_ros.mechanics.state import RobotState
from hybrid_contact_ros.messages.imu_doubts import ImuDoubts

DEGREES = 180.0 / np.pi


def said(
    seconds=3.0, force=lambda f: f, rate=lambda w: w, attitude=lambda q: q,
    turn=0.0, shake=0.02, tilt=0.0, hz=200.0, jitter=0.0, bias=0.0, with_base=True,
):  # fmt: skip
    """What is said of a unit whose true force, rates and attitude go through these functions. turn, bias: rad/s, shake:
    m/s², jitter: rad."""
    doubts, rng, found = ImuDoubts(with_base), np.random.default_rng(0), []
    for k in range(int(seconds * hz)):
        t = k / hz
        roll = tilt + (turn / 3.0) * np.sin(3.0 * t)
        q = np.array([0.0, 0.0, 0.3, np.sin(0.5 * roll), 0.0, 0.0, np.cos(0.5 * roll)])
        spin = np.array([turn * np.cos(3.0 * t), 0.0, 0.0])
        up = np.array([0.0, np.sin(roll), np.cos(roll)])
        stamp = 10**9 + round(1e9 * t)
        measured = force(9.81 * up) + shake * rng.normal(size=3), rate(spin + bias) + 0.002 * rng.normal(size=3)
        own = None
        if not with_base:
            seen = Rotation.from_quat(attitude(q[3:7])) * Rotation.from_rotvec(jitter * rng.normal(size=3))
            own = seen.as_quat() * (-1.0) ** (k if jitter else 0)  # both signs are the same attitude
        imu = ImuMeasurement(stamp, own, measured[1], measured[0], np.zeros(3), np.full((3, 3, 3), np.nan))
        v = np.concatenate((0.002 * rng.normal(size=3), spin + 0.002 * rng.normal(size=3)))
        found += doubts.add(RobotState(stamp, q, v, imu=imu))
    return found


@pytest.mark.parametrize(
    "given",
    [{}, {"tilt": 0.3}, {"turn": 0.8}, {"turn": 0.05}, {"shake": 3.0}, {"turn": 0.8, "hz": 30.0}, {"bias": 0.1}],
)
def test_a_good_unit_is_never_doubted(given):
    assert said(**given) == []
    assert said(**given, with_base=False) == []
    assert said(**given, with_base=False, jitter=0.01) == []


@pytest.mark.parametrize(
    ("given", "text"),
    [
        ({"force": lambda f: f / 9.81, "shake": 0.002}, "1.00 m/s² while standing: is it in g?"),
        ({"force": lambda f: 0.0 * f}, "was gravity taken away?"),
        ({"force": lambda f: 1000.0 * f / 9.81}, "is it in m/s²?"),
        ({"force": lambda f: -f}, "is its sign turned?"),
        ({"force": lambda f: f[[2, 0, 1]]}, "90° away from upwards"),
        ({"rate": lambda w: w * DEGREES, "turn": 0.8}, "is it in deg/s?"),
        ({"rate": lambda w: w[[2, 0, 1]], "turn": 0.8}, "about other axes"),
        ({"rate": lambda w: -w, "turn": 0.8}, "about other axes"),
    ],
)
def test_what_is_wrong_is_told_with_every_state_from_the_second_that_showed_it(given, text):
    found = said(**given)
    assert 150 <= len(found) <= 500 and all(text in each for each in found)


def test_without_a_base_of_its_own_size_and_sign_of_the_acceleration_are_told():
    assert "is it in g?" in said(force=lambda f: f / 9.81, shake=0.002, with_base=False)[0]
    assert "is its sign turned?" in said(force=lambda f: -f, shake=0.002, with_base=False)[0]


@pytest.mark.parametrize("turn", [0.05, 0.8])
@pytest.mark.parametrize("with_base", [True, False])
def test_degrees_are_told_of_a_base_that_hardly_turns_by_odometry_or_the_attitude_of_the_unit(turn, with_base):
    found = said(rate=lambda w: w * DEGREES, turn=turn, with_base=with_base, jitter=0.001)
    assert found and all("is it in deg/s?" in each for each in found)


@pytest.mark.parametrize("rate", [lambda w: -w, lambda w: w[[2, 0, 1]]])
def test_rates_of_another_sign_or_axis_than_the_attitude_of_the_unit_are_told(rate):
    found = said(rate=rate, turn=0.8, with_base=False)
    assert found and all("about other axes" in each for each in found)


def test_an_attitude_that_stays_while_the_unit_turns_is_told():
    found = said(attitude=lambda q: np.array([0.0, 0.0, 0.0, 1.0]), turn=0.8, with_base=False)
    assert found and all("is it filled?" in each for each in found)
    assert said(attitude=lambda q: np.array([0.0, 0.0, 0.0, 1.0]), with_base=False) == []  # it stands


def test_a_robot_that_walks_says_nothing_of_its_acceleration():
    assert said(force=lambda f: f / 9.81, shake=0.5) == []
