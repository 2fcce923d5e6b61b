"""Inertial units in other units or axes than the message says are told, and good ones never are."""

import numpy as np
import pytest

from hybrid_contact_ros.mechanics.sensors import ImuMeasurement
from hybrid_contact_ros.mechanics.state import RobotState
from hybrid_contact_ros.messages.imu_doubts import ImuDoubts

DEGREES = 180.0 / np.pi


def said(seconds=3.0, force=lambda f: f, rate=lambda w: w, turn=0.0, shake=0.02, tilt=0.0, hz=200.0, with_base=True):
    """What is said of a unit whose true force and rates go through these functions. turn: rad/s, shake: m/s²."""
    doubts, rng, found = ImuDoubts(with_base), np.random.default_rng(0), []
    for k in range(int(seconds * hz)):
        t = k / hz
        roll = tilt + (turn / 3.0) * np.sin(3.0 * t)
        q = np.array([0.0, 0.0, 0.3, np.sin(0.5 * roll), 0.0, 0.0, np.cos(0.5 * roll)])
        spin = np.array([turn * np.cos(3.0 * t), 0.0, 0.0])
        up = np.array([0.0, np.sin(roll), np.cos(roll)])
        stamp = 10**9 + round(1e9 * t)
        measured = force(9.81 * up) + shake * rng.normal(size=3), rate(spin) + 0.002 * rng.normal(size=3)
        imu = ImuMeasurement(
            stamp, None if with_base else q[3:7], measured[1], measured[0], np.zeros(3), np.full((3, 3, 3), np.nan)
        )
        v = np.concatenate((0.002 * rng.normal(size=3), spin + 0.002 * rng.normal(size=3)))
        found += doubts.add(RobotState(stamp, q, v, imu=imu))
    return found


@pytest.mark.parametrize(
    "given", [{}, {"tilt": 0.3}, {"turn": 0.8}, {"shake": 3.0}, {"hz": 30.0}, {"with_base": False}]
)
def test_a_good_unit_is_never_doubted(given):
    assert said(**given) == []


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


def test_without_a_base_of_its_own_size_and_sign_of_the_acceleration_alone_are_told():
    assert "is it in g?" in said(force=lambda f: f / 9.81, shake=0.002, with_base=False)[0]
    assert "is its sign turned?" in said(force=lambda f: -f, shake=0.002, with_base=False)[0]
    assert said(rate=lambda w: w * DEGREES, turn=0.8, with_base=False) == []


def test_a_robot_that_walks_says_nothing_of_its_acceleration():
    assert said(force=lambda f: f / 9.81, shake=0.5) == []
